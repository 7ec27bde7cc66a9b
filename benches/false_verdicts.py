"""How often the lab's verdicts are false, and whether it finds a difference that is there.

Usage: python benches/false_verdicts.py [--out FOLDER] [--seed N] [--sample-ms MS]
                                        [--only NAMES] [--quick]

Compares arms whose truth is known, one comparison after the other, each as a quick run would
measure it: in a process of its own, prepared anew, with the blocks of a quick run. Samples are
about as long as --sample-ms says; a quick run of everything has some of 3 to 8 ms, one of a single
piece of work longer ones than are usual here.

- 200 times the same device on the same work, prepared twice: FASTER and SLOWER are false.
- The same 200 times with another core busy copying memory.
- 50 times a device and the same with 5 % planted on top of each batch: SLOWER finds it.

Prints a table; with --out also writes false-verdicts-<MS>-ms.json into the folder, from which
tools/statistics_table.py fills docs/statistics.md. Ends with 1 when a bound is missed. --quick does
a few of each, which proves nothing and is never called missed.
"""

import argparse
import json
import multiprocessing
import os
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.grid import MANY_KEYS, Work, crypto_arm, crypto_cells, sized, stated
from sealift.lab.measure import PACED_SHARE, Block, Task, measure
from sealift.lab.runner.planning import BLOCKS, taken_s
from sealift.lab.spec import Context, Skip, WrongResultError
from sealift.lab.stats import VERDICT_CONFIDENCE, Verdict, blocks_needed
from sealift.lab.summary import Group, rows
from sealift.lab.units import format_share
from sealift.lab.workload import FRESH_KEYS, ONE_KEY


@dataclass(frozen=True)
class Condition:
    """Comparisons of one kind.

    Attributes:
        name: On the command line of a comparison, and in the results.
        what: What is compared, for people.
        comparisons: How many.
        second: The second arm's device, with the first one's in the place of `{}`.
        counted: The verdicts that are counted.
        bound: Which counts are as they should be.
        loaded: Whether another core is kept busy.
    """

    name: str
    what: str
    comparisons: int
    second: str
    counted: tuple[Verdict, ...]
    bound: range
    loaded: bool = False

    @property
    def wanted(self) -> str:
        """The bound, for people."""
        if self.bound.start:
            return f"at least {self.bound.start} {self.counted[0]}"
        return f"at most {self.bound.stop - 1} {' or '.join(self.counted)}"


@dataclass(frozen=True)
class Comparison:
    """What one comparison found.

    Attributes:
        work: The messages, in words.
        device: The first arm's.
        verdict: On the second arm.
        times_reference: Its speed against the first arm's: median, low and high end at 95 %.
        noise_floor: A/A, as a share.
        clean_share: Of the second arm's samples.
        sample_ms: Mean length of a sample.
    """

    work: str
    device: str
    verdict: str
    times_reference: Sequence[float]
    noise_floor: float
    clean_share: float
    sample_ms: float


def main() -> int:
    """Compares, prints, writes what is asked for, and says whether the bounds are met."""
    arguments = _arguments()
    if arguments.one is not None:
        return _one(arguments.one, arguments.seed, arguments.sample_ms)
    try:
        _check(arguments)
        here = machine.describe()
        if isinstance(here.load_1min.value, float) and here.load_1min.value > IDLE_LOAD_MAX:
            print(
                f"the load is {here.load_1min.value:g}, so these will not be figures of an idle "
                "machine; end what else runs",
                file=sys.stderr,
            )
        conditions = [each for each in CONDITIONS if each.name in arguments.only]
        found = {each.name: list(_compared(each, arguments)) for each in conditions}
    except KeyboardInterrupt:
        print("\nfalse_verdicts: interrupted; nothing is kept, begin again", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except _RefusedError as error:
        print(f"\nfalse_verdicts: {error}", file=sys.stderr)
        return error.code
    results = [_result(each, found[each.name]) for each in conditions]
    print(_table(results))
    if arguments.out is not None:
        _write(arguments, here, results, found)
    missed = [result for result in results if not (arguments.quick or result["met"])]
    for result in missed:
        print(
            f"missed: {result['what']}: {result['counted']} of {result['comparisons']}, "
            f"and the bound is {result['wanted']}",
            file=sys.stderr,
        )
    return MISSED if missed else 0


class _RefusedError(Exception):
    """What can't be done, and the exit code for it."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def _check(arguments: argparse.Namespace) -> None:
    """Refuses before anything is measured."""
    out: Path | None = arguments.out
    if len(os.sched_getaffinity(0)) < 2:
        raise _RefusedError(
            "one core only, and a busy one beside the measuring one is needed; "
            "allow this process two cores",
            ExitCode.NOTHING_RAN,
        )
    try:
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            trial = out / f"{_results(arguments)}.trial"
            trial.touch()
            trial.unlink()
    except OSError as error:
        raise _RefusedError(
            f"{out}: {error.strerror}; name a folder that can be written", ExitCode.USAGE
        ) from error


def _compared(condition: Condition, arguments: argparse.Namespace) -> Iterator[Comparison]:
    """All comparisons of a condition, each in a process of its own."""
    comparisons = QUICK_COMPARISONS if arguments.quick else condition.comparisons
    progress = _Progress(condition, comparisons)
    with _busy_core() if condition.loaded else _nothing():
        for number in range(comparisons):
            found = _in_a_process(condition, number, arguments)
            progress.tell(found)
            yield found


def _in_a_process(condition: Condition, number: int, arguments: argparse.Namespace) -> Comparison:
    one = f"{condition.name}/{number}"
    same = ["--seed", str(arguments.seed), "--sample-ms", f"{arguments.sample_ms:g}"]
    ran = subprocess.run(
        [sys.executable, __file__, "--one", one, *same],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["without a word"])[-1]
        raise _RefusedError(f"comparison {one} ended with {ran.returncode}: {last}", ran.returncode)
    return Comparison(**json.loads(ran.stdout))


def _one(one: str, seed: int, sample_ms: float) -> int:
    """One comparison, told as JSON."""
    name, _, number = one.partition("/")
    condition = {each.name: each for each in CONDITIONS}[name]
    try:
        found = compare(condition, int(number), seed, sample_ms)
    except Skip as skip:
        print(skip, file=sys.stderr)
        return ExitCode.NOTHING_RAN
    except WrongResultError as error:
        print(error, file=sys.stderr)
        return ExitCode.WRONG_RESULT
    print(json.dumps(asdict(found), allow_nan=False))
    return 0


def compare(condition: Condition, number: int, seed: int, sample_ms: float) -> Comparison:
    """Measures two arms as a quick run would, and judges the second.

    Args:
        condition: What is compared.
        number: Which comparison of the condition; decides work and device.
        seed: Of all comparisons.
        sample_ms: How long a sample is to be.

    Raises:
        Skip: If a device is not there.
        WrongResultError: If one computes something wrong.
    """
    device, work = DEVICES[number % len(DEVICES)], WORKS[number // len(DEVICES) % len(WORKS)]
    context = Context(seed=random.Random(f"{seed}/{number}").getrandbits(32), folder=Path())
    cells = [
        next(iter(crypto_cells([work], devices=[each])))
        for each in (device, condition.second.format(device))
    ]
    arms = [crypto_arm(cell, context) for cell in cells]
    samples = BLOCKS * (len(arms) + 1)
    kept = _Kept()
    task = Task(
        arms=[arms],
        done=[0],
        blocks=BLOCKS,
        seconds=samples * taken_s(sample_ms / 1_000) / PACED_SHARE,
        blocks_least=blocks_needed(VERDICT_CONFIDENCE),
        seed=f"{seed}/{condition.name}/{number}",
    )
    measure(task, kept)
    named = [{"arm": "first"}, {"arm": "second"}]
    _, row = rows(Group("false-verdicts", "arm", named, kept.blocks))
    assert row.ratio is not None, "both arms stand in every block"
    assert row.verdict is not None, "both arms stand in every block"
    return Comparison(
        work=f"{work.workload}, {work.size_bytes} B, keys {work.keys}",
        device=device,
        verdict=row.verdict.value,
        times_reference=(row.ratio.median, row.ratio.low, row.ratio.high),
        noise_floor=row.noise_floor,
        clean_share=row.clean_share,
        sample_ms=fmean(each.ns for _, block in kept.blocks for each in block.taken) / 1e6,
    )


@dataclass
class _Kept:
    """Listens to the loop."""

    blocks: list[tuple[int, Block]] = field(default_factory=list)

    def block(self, group: int, block: int, samples: Block) -> None:
        assert (group, block) == (0, len(self.blocks))
        self.blocks.append((0, samples))

    def wrong(self, group: int, arm: int, what: str) -> None:
        raise WrongResultError(f"arm {arm} of group {group}: {what}")


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _busy_core() -> Iterator[None]:
    """Another process that copies memory, on the last core; arms keep to the first ones."""
    busy = multiprocessing.get_context("spawn").Process(
        target=_copy_while, args=(os.getpid(),), daemon=True
    )
    busy.start()
    try:
        yield
    finally:
        busy.kill()
        busy.join()


def _copy_while(parent: int) -> None:
    """Ends by itself when its parent was killed."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    source = bytearray(COPIED_BYTES)
    target = bytearray(COPIED_BYTES)
    while os.getppid() == parent:
        target[:] = source


class _Progress:
    """Tells on standard error how far it has come."""

    def __init__(self, condition: Condition, comparisons: int) -> None:
        self._condition = condition
        self._comparisons = comparisons
        self._start_s = time.monotonic()
        self._done = self._counted = 0

    def tell(self, found: Comparison) -> None:
        self._done += 1
        self._counted += found.verdict in self._condition.counted
        last = self._done == self._comparisons
        if not (sys.stderr.isatty() or last or self._done % TOLD_EACH == 0):
            return
        left_s = (time.monotonic() - self._start_s) / self._done * (self._comparisons - self._done)
        text = (
            f"{self._condition.what}: {self._done} of {self._comparisons}, "
            f"{self._counted} {' or '.join(self._condition.counted)}, {left_s:,.0f} s left"
        )
        start, end = ("\r", "\n" if last else "") if sys.stderr.isatty() else ("", "\n")
        print(f"{start}{text:<100}", end=end, file=sys.stderr, flush=True)


def _result(condition: Condition, found: Sequence[Comparison]) -> dict[str, Any]:
    """What a line of the table and of the document says."""
    verdicts = {each.value: sum(one.verdict == each for one in found) for each in Verdict}
    counted = sum(verdicts[each.value] for each in condition.counted)
    ratios = sorted(one.times_reference[0] for one in found)
    spared = len(ratios) // 40
    return {
        "name": condition.name,
        "what": condition.what,
        "comparisons": len(found),
        "verdicts": verdicts,
        "counted": counted,
        "wanted": condition.wanted,
        "met": len(found) == condition.comparisons and counted in condition.bound,
        "ratios_95": [ratios[spared], ratios[-1 - spared]],
        "clean_share": fmean(one.clean_share for one in found),
        "noise_floor": fmean(one.noise_floor for one in found),
        "sample_ms": fmean(one.sample_ms for one in found),
    }


def _table(results: Sequence[Mapping[str, Any]]) -> str:
    lines = [("compared", "times", *Verdict, "clean", "noise floor", "bound")]
    lines += [
        (
            result["what"],
            str(result["comparisons"]),
            *(str(result["verdicts"][each.value]) for each in Verdict),
            format_share(result["clean_share"]),
            format_share(min(1.0, result["noise_floor"])),
            f"{result['wanted']}: {'met' if result['met'] else 'not shown'}",
        )
        for result in results
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _write(
    arguments: argparse.Namespace,
    here: machine.Machine,
    results: Sequence[Mapping[str, Any]],
    found: Mapping[str, Sequence[Comparison]],
) -> None:
    document = {
        "schema": "sealift-false-verdicts/1",
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "command": shlex.join(["python", "benches/false_verdicts.py", *sys.argv[1:]]),
        "quick": arguments.quick,
        "seed": arguments.seed,
        "blocks": BLOCKS,
        "machine": here.as_dict(),
        "results": results,
        "comparisons": {name: [asdict(one) for one in all_] for name, all_ in found.items()},
    }
    text = json.dumps(document, indent=1, allow_nan=False)
    (arguments.out / _results(arguments)).write_text(f"{text}\n", encoding="utf-8")


def _results(arguments: argparse.Namespace) -> str:
    return f"false-verdicts-{arguments.sample_ms:g}-ms.json"


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=_folder, metavar="FOLDER", help="folder for the results")
    parser.add_argument("--seed", type=_seed, default=1, help="of messages and order")
    parser.add_argument(
        "--sample-ms", type=_sample_ms, default=SAMPLE_MS, metavar="MS", help="length of a sample"
    )
    parser.add_argument(
        "--only",
        type=_names,
        default=[each.name for each in CONDITIONS],
        metavar="NAMES",
        help="conditions to measure, as in idle,planted; all of them when left out",
    )
    parser.add_argument("--quick", action="store_true", help="a few of each, to try it out")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("'' is no folder; name one")
    return Path(text)


def _names(text: str) -> list[str]:
    known = [each.name for each in CONDITIONS]
    names = text.split(",")
    if wrong := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is no condition: {', '.join(known)} are")
    return names


def _sample_ms(text: str) -> float:
    try:
        sample_ms = float(text)
    except ValueError:
        sample_ms = 0.0
    if not 2 <= sample_ms <= 250:
        raise argparse.ArgumentTypeError(f"{text!r} is no length of a sample: 2 to 250 ms are")
    return sample_ms


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 2**64):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {2**64 - 1:,}")
    return int(text)


MISSED = 1
SAMPLE_MS = 18.0
QUICK_COMPARISONS = 3
TOLD_EACH = 25
# A build that has just ended, or less.
IDLE_LOAD_MAX = 1.0
# More than a last-level cache holds of it.
COPIED_BYTES = 64 << 20
DEVICES = ("library", "cpu")
WORKS: tuple[Work, ...] = (
    sized(16, MANY_KEYS),
    sized(128, MANY_KEYS),
    stated(MANY_KEYS),
    sized(128, FRESH_KEYS),
    sized(1_024, ONE_KEY),
    sized(16_384, MANY_KEYS),
)
DIFFERENT = (Verdict.FASTER, Verdict.SLOWER)
CONDITIONS = (
    Condition("idle", "the same device twice", 200, "{}", DIFFERENT, range(11)),
    Condition(
        "loaded", "the same, another core busy", 200, "{}", DIFFERENT, range(21), loaded=True
    ),
    Condition(
        "planted",
        "a planted 5 % slowdown",
        50,
        "slowed:percent=5({})",
        (Verdict.SLOWER,),
        range(45, 51),
    ),
)

if __name__ == "__main__":
    sys.exit(main())
