"""Holds the copy that Sealift uses against the best of others, in runs of the lab.

Usage: python benches/copies.py RUN [RUN ...]

Each RUN is the folder of `sealift lab run copy-by-length copy-offsets memory-ceiling`. Prints a
line for each length, in the caches and from memory, and returns 1 where something is missed. Of
several runs every one has to hold; a miss is to be measured once more before it counts.

The others are the C library, `rep movsb`, and the loop of 16-byte registers that compilers make of
STREAM's copy and of mbw's.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from sealift_lab.claim.words import conditions, estimate_text
from sealift_lab.experiments.document_004.copy_experiments import share_of_ceiling
from sealift_lab.judge.rows import results, times
from sealift_lab.model.results import Estimate, Results
from sealift_lab.run.read_folder import Run


def main() -> int:
    """Judges every run that is named."""
    if not sys.argv[1:]:
        print("copies: no run is named; right would be `benches/copies.py RUN`", file=sys.stderr)
        return 2
    lines = [line for name in sys.argv[1:] for line in judge(Run(Path(name)))]
    print("\n".join(lines))
    return int(any(line.startswith((MISSED, UNSURE)) for line in lines))


def judge(run: Run) -> Iterator[str]:
    """What is required of the copy, a line each."""
    found = results(run)
    ratios = dict(ratios_of(run, found[BY_LENGTH])) if BY_LENGTH in found else {}
    if not ratios:
        yield f"{MISSED} no length was measured by {OURS} and by another copy"
        return
    for work, ratio in ratios.items():
        low, high = (ratio.value if end is None else end for end in (ratio.low, ratio.high))
        mark = MISSED if high < LEAST else HOLDS if low >= LEAST else UNSURE
        yield f"{mark} {work}: {estimate_text(ratio)} times the best other, at least {LEAST}"
    middle = median(each.value for each in ratios.values())
    mark = HOLDS if middle >= MEDIAN else MISSED
    yield f"{mark} median of {len(ratios)}: {middle:.3f}, at least {MEDIAN}"
    share = share_of_ceiling(found[CEILING], threads=2) if CEILING in found else None
    if share is not None:
        mark = HOLDS if share >= OF_CEILING else MISSED
        yield f"{mark} two threads: {share:.3f} of what memory moves, at least {OF_CEILING}"


def ratios_of(run: Run, found: Results) -> Iterator[tuple[str, Estimate]]:
    """For each kind of copy how many times as fast ours is as the best of the others."""
    planned = next(each for each in run.plan.experiments if each.name == BY_LENGTH)
    for ours in found.select(function=OURS, way="calibrated", memory="heap"):
        others = [row for row in found.select(**ours.work) if row.subject in OTHERS]
        sound = [row for row in others if not row.wrong]
        if sound and not ours.wrong:
            best = min(sound, key=lambda row: row.time.value)
            axes = ("size_bytes", "state", "threads")
            yield conditions(ours.work, planned, axes), times(run, ours, best)


BY_LENGTH, CEILING = "copy-by-length", "memory-ceiling"
OURS, OTHERS = "ours", ("glibc", "rep-movsb", "sse2")
HOLDS, MISSED, UNSURE = "holds ", "MISSED", "unsure"
MEDIAN, LEAST, OF_CEILING = 0.98, 0.9, 0.9

if __name__ == "__main__":
    sys.exit(main())
