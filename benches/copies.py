"""Holds the copy that Sealift uses against the best of others, in runs of the lab.

Usage: python benches/copies.py [--seconds 240] --out FOLDER
       python benches/copies.py --of FOLDER/run [FOLDER/another ...]

Without --of it measures: `sealift lab run` of copies by length and by offset, the published example
and the ceiling of memory, into FOLDER/copies. Then it prints what is asked of the copy, a line
each, and returns 1 where something is missed. Of several runs the ratios are averaged: a miss is to
be repeated once before it counts.

The others are the C library, `rep movsb`, and the loop of 16-byte registers that compilers make of
STREAM's copy and of mbw's.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sealift.exit_code import ExitCode
from sealift.lab import store
from sealift.lab.experiments.copy_offsets import EXPERIMENT as BY_OFFSET
from sealift.lab.experiments.memory_ceiling import EXPERIMENT as CEILING
from sealift.lab.experiments.memory_ceiling import LENGTHS as CEILING_BYTES
from sealift.lab.experiments.memory_ceiling import share_of_ceiling
from sealift.lab.result import Found, Row
from sealift.lab.summary import summarise
from sealift.lab.vega import format_bytes

Cell = tuple[int, str]


def main() -> int:
    """Measures where it is to, and judges."""
    options = _options()
    runs = options.of or [_measured(options.out, options.seconds)]
    found = [summarise(store.read(run)) for run in runs]
    said = [*_against_the_best(found), *_against_the_ceiling(found), *_sentences(found[-1])]
    print("\n".join(said))
    return 1 if any(line.startswith(("MISSED", UNSURE)) for line in said) else 0


def _against_the_best(runs: Sequence[Mapping[str, Found]]) -> Iterator[str]:
    """How many times as fast as the best of the others, cell by cell."""
    shares: dict[Cell, list[float]] = {}
    floors: dict[Cell, list[float]] = {}
    for found in runs:
        for cell, rows in _cells(found["copy-by-length"].rows).items():
            best = min(rows[name].ns_per_operation.median for name in OTHERS if name in rows)
            shares.setdefault(cell, []).append(best / rows[OURS].ns_per_operation.median)
            floors.setdefault(cell, []).append(rows[OURS].noise_floor)
    for (size_bytes, state), several in sorted(shares.items()):
        floor = max(floors[size_bytes, state])
        share = statistics.mean(several)
        # Below it by less than the noise: neither.
        told = UNSURE if LEAST - floor <= share < LEAST else _verdict(share >= LEAST)
        yield (
            f"{told} {format_bytes(size_bytes)} {state}: {share:.3f} times as fast as the best of "
            f"the others, at least {LEAST}; noise floor {100 * floor:.1f} %"
        )
    if shares:
        middle = statistics.median(map(statistics.mean, shares.values()))
        told = _verdict(middle >= MEDIAN)
        yield f"{told} median of {len(shares)} cells: {middle:.3f}, at least {MEDIAN}"
    else:
        yield f"MISSED no cell of {OURS} and another was measured: take more --seconds"


def _against_the_ceiling(runs: Sequence[Mapping[str, Found]]) -> Iterator[str]:
    """What of the traffic that memory moves two threads of it reach."""
    ceilings = [found[CEILING.name] for found in runs if CEILING.name in found]
    shares = [each for found in ceilings if (each := share_of_ceiling(found, threads=2))]
    if shares:
        middle = statistics.mean(shares)
        told = _verdict(middle >= OF_CEILING)
        yield (
            f"{told} two threads, {format_bytes(CEILING_BYTES[0])} and more: {middle:.3f} of what "
            f"memory moves, at least {OF_CEILING}"
        )


def _cells(rows: Sequence[Row]) -> dict[Cell, dict[str, Row]]:
    cells: dict[Cell, dict[str, Row]] = {}
    for row in rows:
        if row.cell["way"] == "calibrated" and row.cell["memory"] == "heap" and not row.wrong:
            cell = int(row.cell["size_bytes"]), str(row.cell["state"])
            cells.setdefault(cell, {})[str(row.subject)] = row
    return {cell: each for cell, each in cells.items() if OURS in each and set(OTHERS) & set(each)}


def _sentences(found: Mapping[str, Found]) -> Iterator[str]:
    for experiment in (BY_OFFSET, CEILING):
        if experiment.name in found and (said := experiment.says(found[experiment.name])):
            yield said


def _verdict(holds: bool) -> str:  # noqa: FBT001 (what it is called for)
    return "holds " if holds else "MISSED"


def _measured(out: Path, seconds: int) -> Path:
    folder = out / "copies"
    command = ["sealift", "lab", "run", *EXPERIMENTS, "--budget", str(seconds)]
    command += ["--out", str(folder)]
    ran = subprocess.run([sys.executable, "-m", *command], check=False)
    # Where a part failed, which the run has said, the others are judged.
    if ran.returncode not in (0, ExitCode.PART_FAILED):
        sys.exit(ran.returncode)
    return folder


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=240, help="of measuring")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="a folder of results")
    parser.add_argument("--of", type=Path, nargs="+", help="runs that were measured before")
    return parser.parse_args()


OURS, UNSURE = "ours", "unsure"
OTHERS = ("glibc", "rep-movsb", "sse2")
EXPERIMENTS = ("copy-by-length", "copy-offsets", "copy-example", "memory-ceiling")
MEDIAN, LEAST, OF_CEILING = 0.98, 0.9, 0.9

if __name__ == "__main__":
    sys.exit(main())
