"""How often this very judge is wrong, and what it finds: comparisons whose truth is known.

`replay` draws them from A/A pairs that runs have stored, and `certify` measures them anew.
`certify_commands` sets the judge beside what a command-line benchmark prints, and `agreement` sets
two runs of one plan beside each other.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from sealift_lab.judge.blocks import groups_of
from sealift_lab.judge.intervals import Pool, Vector
from sealift_lab.judge.judge import PROCESSES, cell_key, is_done
from sealift_lab.judge.trial import BLOCKS, SLOWER, Trial
from sealift_lab.judge.verdicts import SURE, is_narrow, verdict
from sealift_lab.model.results import Estimate, Results, Row, Verdict


@dataclass(frozen=True)
class ErrorRates:
    """What came of comparisons of one kind; shares, 0..1, or None where nothing was compared.

    Attributes:
        what: How they were measured.
        comparisons: How many of equal code, and as many of slower code.
        false: Equal code called FASTER or SLOWER.
        same: Equal code called SAME.
        covered: 99 % intervals that hold 1 for equal code.
        found: Slower code called SLOWER.
        missed: Slower code called SAME.
        blocks: How many a comparison took on average.
    """

    what: str
    comparisons: int
    false: float | None
    same: float | None
    covered: float | None
    found: float | None
    missed: float | None
    blocks: float


@dataclass(frozen=True)
class Plant:
    """How slow the slower code was on one kind of work, over all its comparisons.

    Attributes:
        times: Times as fast as the other, with a 99 % interval.
        is_right: Whether all of the interval is within half a per cent of `SLOWER`; None where it
            is too wide to say.
    """

    work: str
    times: Estimate
    is_right: bool | None


@dataclass(frozen=True)
class Certificate:
    """What was found of a machine.

    Attributes:
        rates: On an idle machine, and with the last core loaded. Slower code doesn't count on work
            where it was not slower by `SLOWER`.
    """

    rates: Sequence[ErrorRates]
    plants: Sequence[Plant]


@dataclass(frozen=True)
class Agreement:
    """Rows of an experiment that two runs of one plan have judged.

    Attributes:
        same: Share with the same verdict.
        open: Share where one run settles nothing, and the other one does.
        contradictions: The rows of both runs where the verdicts are different ones.
        covered: Share of 95 % intervals that hold the other run's figure. 83 % would be right:
            that figure scatters, too.
        overlapping: Share of rows whose 95 % intervals have something in common; 99 % would be
            right.
    """

    experiment: str
    rows: int
    same: float
    open: float
    contradictions: Sequence[tuple[Row, Row]]
    covered: float | None
    overlapping: float | None


@dataclass(frozen=True)
class _Outcome:
    verdict: Verdict
    value: float
    is_covered: bool
    blocks: int

    @classmethod
    def of(cls, pool: Pool) -> "_Outcome":
        ends = pool.interval(SURE)
        is_covered = ends is not None and ends[0] <= 0 <= ends[1]
        return cls(verdict(pool.value, ends), pool.value, is_covered, pool.blocks)


def replay(pools: Sequence[Vector], comparisons: int = 400, seed: int = 5) -> Iterator[ErrorRates]:
    """Draws comparisons from `pools`, for each design and distance between processes."""
    rng = np.random.default_rng(seed)

    def draw(blocks: int, stops: Sequence[int], between: float, slower: float) -> _Outcome:
        shape = (stops[-1], blocks)
        x = rng.choice(pools[int(rng.integers(len(pools)))], shape) * rng.choice([-1, 1], shape)
        x += rng.normal(0, between, (stops[-1], 1)) - np.log1p(slower)
        process = np.arange(stops[-1]).repeat(blocks)
        upto = (Pool.from_blocks(x[:n].ravel(), process[: n * blocks]) for n in stops)
        # Adds processes until the interval is narrow, as a run does.
        for pool in upto:
            if is_narrow(pool):
                break
        return _Outcome.of(pool)

    for (name, design), between in product(DESIGNS.items(), BETWEEN):
        equal, slowed = (
            [draw(*design, between, slower) for _ in range(comparisons)] for slower in (0.0, SLOWER)
        )
        yield _rates(f"{name}, processes differ by {100 * between:.1f} %", equal, slowed)


def pools(samples: Iterable[pl.DataFrame]) -> list[Vector]:
    """Centred A/A log ratios, noise of blocks, of each group of runs that has `PAIRS` at least."""
    pairs = (group.clean_pairs for each in samples for group in groups_of(each).values())
    return [each - np.median(each) for each in pairs if len(each) >= PAIRS]


def certify(
    measure: Callable[[Trial], pl.DataFrame],
    works: Sequence[str],
    comparisons: int,
    progress: Callable[[int], object] = lambda _: None,
) -> Certificate:
    """Measures equal code and slower code, idle and with the last core loaded, in turn.

    Args:
        measure: Measures one process of a trial, as `measure_trial` does.
        works: Kinds of work, which are measured beside each other.
        comparisons: How many of each of the four.
        progress: Called with how many comparisons of equal code are done, of twice as many.
    """
    found: dict[bool, list[tuple[str, _Outcome, _Outcome]]] = {False: [], True: []}
    for first in range(0, comparisons, len(works)):
        for is_loaded, outcomes in found.items():
            with _busy_core() if is_loaded else nullcontext():
                outcomes += _compare(measure, works[: comparisons - first], first)
            progress(sum(map(len, found.values())))
    values: dict[str, list[float]] = {work: [] for work in works}
    for work, _, slowed in (*found[False], *found[True]):
        values[work].append(slowed.value)
    plants = [_plant(work, of) for work, of in values.items() if of]
    wrong = {plant.work for plant in plants if plant.is_right is False}
    rates = [
        _rates(
            "another core loaded" if is_loaded else "idle",
            [equal for _, equal, _ in outcomes],
            [slowed for work, _, slowed in outcomes if work not in wrong],
        )
        for is_loaded, outcomes in found.items()
    ]
    return Certificate(rates, plants)


def certify_commands(
    one: Sequence[str], other: Sequence[str], comparisons: int = 20, runs: int = 10, seed: int = 1
) -> tuple[ErrorRates, ErrorRates]:
    """Times two commands, and judges them as this judge does and as hyperfine prints them.

    Each comparison has `runs` rounds of the one, the one again and the other, in drawn order. The
    one against itself shows false verdicts. All rounds of all comparisons decide which is slower.

    Returns:
        Rates of this judge, and of the ratio of means with its standard deviation: "1.08 ± 0.05
        times faster" claims a difference where 1 lies outside, however small, and never equality.
    """
    rng = np.random.default_rng(seed)
    commands = (one, one, other)
    took = np.empty((comparisons, runs, len(commands)))
    for at in np.ndindex(comparisons, runs):
        for place in rng.permutation(len(commands)):
            start = time.perf_counter()
            subprocess.run(commands[place], check=True, stdout=subprocess.DEVNULL)
            took[*at, place] = time.perf_counter() - start
    logs = np.log(took)
    # What is found is counted as if the other one were the slower one.
    sign = -1 if np.median(logs[..., 2] - logs[..., 0]) < 0 else 1

    def judged(place: int, sign: int = 1) -> list[_Outcome]:
        ratios = sign * (logs[..., 0] - logs[..., place])
        return [_Outcome.of(Pool.from_blocks(each, np.zeros(runs, np.int64))) for each in ratios]

    def printed(place: int, sign: int = 1) -> list[_Outcome]:
        outcomes = []
        for times in took[..., [0, place]]:
            mean, share = times.mean(axis=0), times.std(axis=0, ddof=1) / times.mean(axis=0)
            ratio, value = mean.max() / mean.min(), sign * float(np.log(mean[0] / mean[1]))
            is_covered = bool(ratio * (1 - np.hypot(*share)) <= 1)
            told = Verdict.FASTER if value > 0 else Verdict.SLOWER
            told = Verdict.INCONCLUSIVE if is_covered else told
            outcomes.append(_Outcome(told, value, is_covered, runs))
        return outcomes

    return (
        _rates("this judge", judged(1), judged(2, sign)),
        _rates("ratio of means", printed(1), printed(2, sign)),
    )


def agreement(one: Mapping[str, Results], other: Mapping[str, Results]) -> Iterator[Agreement]:
    """Sets judged runs beside each other, by experiment, where both judged the same cells."""
    for name in (each for each in one if each in other):
        twins = {(cell_key(row.cell), row.reference): row for row in other[name].rows}
        rows = [(row, twins.get((cell_key(row.cell), row.reference))) for row in one[name].rows]
        pairs = [(row, twin) for row, twin in rows if twin and row.verdict and twin.verdict]
        if not pairs:
            continue
        verdicts = [{row.verdict, twin.verdict} for row, twin in pairs]
        is_open = [len(each) == 2 and Verdict.INCONCLUSIVE in each for each in verdicts]
        is_same = [len(each) == 1 for each in verdicts]
        contradictions = [
            pair
            for pair, same, open_ in zip(pairs, is_same, is_open, strict=True)
            if not (same or open_)
        ]
        spans = [(a, b) for row, twin in pairs if (a := _span(row)) and (b := _span(twin))]
        both_ways = [*spans, *((b, a) for a, b in spans)]
        yield Agreement(
            experiment=name,
            rows=len(pairs),
            same=float(np.mean(is_same)),
            open=float(np.mean(is_open)),
            contradictions=contradictions,
            covered=_mean([low <= value <= high for (low, _, high), (_, value, _) in both_ways]),
            overlapping=_mean([a[0] <= b[2] and b[0] <= a[2] for a, b in spans]),
        )


def _span(row: Row) -> tuple[float, float, float] | None:
    """A row's ratio between the ends of its interval."""
    of = row.ratio
    return (of.low, of.value, of.high) if of and of.low and of.high else None


def _compare(
    measure: Callable[[Trial], pl.DataFrame], works: Sequence[str], number: int
) -> Iterator[tuple[str, _Outcome, _Outcome]]:
    """A comparison on each kind of work: what came of equal code, and of slower code."""
    taken: list[pl.DataFrame] = []
    for processes in STOPS:
        taken += [measure(Trial(works, number, each)) for each in range(len(taken), processes)]
        groups = groups_of(pl.concat(taken, how="vertical_relaxed"))
        is_last = processes == STOPS[-1]
        done = [work for work in works if is_last or is_done(groups[work, 0], PROCESSES)]
        for work in done:
            equal, slowed = (groups[work, 0].ratio(arm, 0) for arm in (1, 2))
            if equal and slowed:
                yield work, _Outcome.of(equal), _Outcome.of(slowed)
        if not (works := [work for work in works if work not in done]):
            return


def _rates(what: str, equal: Sequence[_Outcome], slowed: Sequence[_Outcome]) -> ErrorRates:
    def share(of: Sequence[_Outcome], *verdicts: Verdict) -> float | None:
        return _mean([each.verdict in verdicts for each in of])

    return ErrorRates(
        what=what,
        comparisons=len(equal),
        false=share(equal, Verdict.FASTER, Verdict.SLOWER),
        same=share(equal, Verdict.SAME),
        covered=_mean([each.is_covered for each in equal]),
        found=share(slowed, Verdict.SLOWER),
        missed=share(slowed, Verdict.SAME),
        blocks=float(np.mean([each.blocks for each in (*equal, *slowed)])),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _plant(work: str, values: Sequence[float]) -> Plant:
    pool = Pool.from_blocks(np.array(values), np.arange(len(values)))
    value, ends = float(np.exp(pool.value)), pool.over_processes(SURE)
    if ends is None:
        return Plant(work, Estimate(value), None)
    low, high = np.exp(ends).tolist()
    least, most = (1 / (1 + SLOWER + off) for off in (0.005, -0.005))
    is_right, is_wrong = least <= low and high <= most, high < least or most < low
    return Plant(work, Estimate(value, low, high), is_right if is_right or is_wrong else None)


@contextmanager
def _busy_core() -> Iterator[None]:
    """Another process that copies memory on the last core; it ends with its parent."""
    busy = subprocess.Popen([sys.executable, "-c", COPIES, str(os.getpid())])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


PAIRS = 25  # a group with fewer is no pool
STOPS = (PROCESSES, 10, 12, 14)
DESIGNS: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "1 process of 60 blocks": (60, (1,)),
    "5 processes of 12 blocks": (12, (5,)),
    "8 to 14 processes of 10 blocks": (BLOCKS, STOPS),
}
# Not at all; equal code prepared apart; other code, usual and much.
BETWEEN = (0.0, 0.006, 0.013, 0.03)
# More than a last-level cache holds.
COPIES = """
import os, sys
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
source, target = bytearray(64 << 20), bytearray(64 << 20)
while os.getppid() == int(sys.argv[1]):
    target[:] = source
"""
