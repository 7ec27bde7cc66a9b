"""How often this very judge is wrong, and what it finds: comparisons whose truth is known.

`replay` draws them from A/A pairs that runs have kept, `certify` measures them anew, and
`certify_commands` sets the judge beside what people read off a command-line benchmark.
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
from sealift_lab.judge.verdicts import SURE, is_narrow, verdict
from sealift_lab.model.results import Estimate, Verdict


@dataclass(frozen=True)
class ErrorRates:
    """What came of comparisons of one kind; shares, 0..1.

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
    false: float
    same: float
    covered: float
    found: float
    missed: float
    blocks: float


@dataclass(frozen=True)
class Trial:
    """A comparison to be measured: two arms, the second one slower or not.

    Attributes:
        work: Which kind of work both do.
        is_slowed: Whether the second arm is slower by `SLOWER`; else they are equal, and prepared
            apart.
        number: Of the comparison, for seeds.
    """

    work: str
    is_slowed: bool
    number: int


Measure = Callable[[Trial, int], pl.DataFrame]
"""Measures a trial in one fresh process of that number: samples of one group, `BLOCKS` blocks."""


@dataclass(frozen=True)
class Certificate:
    """What was found of a machine.

    Attributes:
        rates: On an idle machine, and with the last core loaded. Slower code counts where the plant
            is as planted.
        plants: For each kind of work how many times as fast slower code was, over all comparisons.
        wrong_plants: The kinds of work where that is not `SLOWER`, by more than half a per cent.
    """

    rates: Sequence[ErrorRates]
    plants: Mapping[str, Estimate]
    wrong_plants: Sequence[str]


@dataclass(frozen=True)
class _Outcome:
    verdict: Verdict
    value: float
    is_covered: bool
    blocks: int


def replay(pools: Sequence[Vector], comparisons: int = 400, seed: int = 5) -> Iterator[ErrorRates]:
    """Draws comparisons from A/A pairs, for each design and distance between processes.

    Args:
        pools: From `pools`; noise of blocks.
        comparisons: How many of each.
        seed: Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    for (name, design), between in product(DESIGNS.items(), BETWEEN):
        equal, slowed = (
            [_draw(pools, design, between, slower, rng) for _ in range(comparisons)]
            for slower in (0.0, SLOWER)
        )
        yield _rates(f"{name}, processes differ by {100 * between:.1f} %", equal, slowed)


def pools(samples: Iterable[pl.DataFrame]) -> list[Vector]:
    """Centred A/A log ratios of each group of some runs that has `PAIRS` at least."""
    pairs = (group.clean_pairs for each in samples for group in groups_of(each).values())
    return [each - np.median(each) for each in pairs if len(each) >= PAIRS]


def certify(measure: Measure, works: Sequence[str], comparisons: int = 24) -> Certificate:
    """Measures equal code and slower code, idle and with the last core loaded.

    Args:
        measure: Measures one process of a trial; `Slowed` makes slower code.
        works: Kinds of work, which take turns.
        comparisons: How many of each of the four.
    """
    found: dict[tuple[bool, bool], list[tuple[str, _Outcome]]] = {}
    for is_loaded in (False, True):
        with _busy_core() if is_loaded else nullcontext():
            for is_slowed in (False, True):
                trials = [Trial(works[n % len(works)], is_slowed, n) for n in range(comparisons)]
                found[is_loaded, is_slowed] = [
                    (each.work, _measure(measure, each)) for each in trials
                ]
    slowed = [*found[False, True], *found[True, True]]
    plants = {work: _plant([each.value for of, each in slowed if of == work]) for work in works}
    wrong = [work for work, plant in plants.items() if not _is_as_planted(plant)]
    rates = [
        _rates(
            what,
            [each for _, each in found[is_loaded, False]],
            [each for work, each in found[is_loaded, True] if work not in wrong],
        )
        for is_loaded, what in ((False, "idle"), (True, "another core loaded"))
    ]
    return Certificate(rates, plants, wrong)


def certify_commands(
    one: Sequence[str], other: Sequence[str], comparisons: int = 20, runs: int = 10, seed: int = 1
) -> tuple[ErrorRates, ErrorRates]:
    """Times two commands, and judges them as this judge does and by means and their scatter.

    Each comparison has `runs` rounds of the one, the one again and the other, in drawn order. The
    one against itself shows false verdicts. All rounds of all comparisons decide which is slower.

    Returns:
        Rates of this judge, and of the ratio of means with its standard deviation, as hyperfine
        prints it, where 1 lies outside.
    """
    rng = np.random.default_rng(seed)
    commands = (one, one, other)
    took = np.empty((comparisons, runs, len(commands)))
    for at in np.ndindex(comparisons, runs):
        for place in rng.permutation(len(commands)):
            took[*at, place] = _seconds(commands[place])
    logs = np.log(took)
    # What is found is counted as if the other one were the slower one.
    sign = -1 if np.median(logs[..., 2] - logs[..., 0]) < 0 else 1

    def judged(place: int, sign: int = 1) -> list[_Outcome]:
        ratios = sign * (logs[..., 0] - logs[..., place])
        return [_outcome(Pool.from_blocks(each, np.zeros(runs, np.int64))) for each in ratios]

    def printed(place: int, sign: int = 1) -> list[_Outcome]:
        mean, deviation = took.mean(axis=1), took.std(axis=1, ddof=1)
        values = sign * np.log(mean[:, 0] / mean[:, place])
        reach = np.hypot(*(deviation / mean)[:, [0, place]].T)
        return [
            _Outcome(verdict(value, (value - half, value + half)), value, abs(value) <= half, runs)
            for value, half in zip(values.tolist(), reach.tolist(), strict=True)
        ]

    return (
        _rates("this judge", judged(1), judged(2, sign)),
        _rates("ratio of means", printed(1), printed(2, sign)),
    )


def _draw(
    pools: Sequence[Vector],
    design: tuple[int, Sequence[int]],
    between: float,
    slower: float,
    rng: np.random.Generator,
) -> _Outcome:
    blocks, stops = design
    shape = (stops[-1], blocks)
    x = rng.choice(pools[int(rng.integers(len(pools)))], shape) * rng.choice([-1, 1], shape)
    x += rng.normal(0, between, (stops[-1], 1)) - np.log1p(slower)
    process = np.arange(stops[-1]).repeat(blocks)
    return _until_narrow(lambda n: Pool.from_blocks(x[:n].ravel(), process[: n * blocks]), stops)


def _measure(measure: Measure, trial: Trial) -> _Outcome:
    taken: list[pl.DataFrame] = []

    def ratio(processes: int) -> Pool:
        new = range(len(taken), processes)
        taken.extend(measure(trial, each).with_columns(restart=pl.lit(each)) for each in new)
        (group,) = groups_of(pl.concat(taken)).values()
        if pool := group.ratio(1, 0):
            return pool
        raise ValueError(f"{trial}: no block has arms 0 and 1; right would be {BLOCKS} that do")

    return _until_narrow(ratio, STOPS)


def _until_narrow(ratio: Callable[[int], Pool], stops: Sequence[int]) -> _Outcome:
    """Adds processes until the interval is narrow, as a run does."""
    pools = map(ratio, stops)
    pool = next(pools)
    while not is_narrow(pool) and (more := next(pools, None)):
        pool = more
    return _outcome(pool)


def _outcome(pool: Pool) -> _Outcome:
    ends = pool.interval(SURE)
    is_covered = ends is not None and ends[0] <= 0 <= ends[1]
    return _Outcome(verdict(pool.value, ends), pool.value, is_covered, pool.blocks)


def _rates(what: str, equal: Sequence[_Outcome], slowed: Sequence[_Outcome]) -> ErrorRates:
    def share(of: Sequence[_Outcome], *verdicts: Verdict) -> float:
        return float(np.mean([each.verdict in verdicts for each in of])) if of else float("nan")

    return ErrorRates(
        what=what,
        comparisons=len(equal),
        false=share(equal, Verdict.FASTER, Verdict.SLOWER),
        same=share(equal, Verdict.SAME),
        covered=float(np.mean([each.is_covered for each in equal])),
        found=share(slowed, Verdict.SLOWER),
        missed=share(slowed, Verdict.SAME),
        blocks=float(np.mean([each.blocks for each in (*equal, *slowed)])),
    )


def _plant(values: Sequence[float]) -> Estimate:
    pool = Pool.from_blocks(np.array(values), np.arange(len(values)))
    ends = pool.over_processes(SURE) or (-np.inf, np.inf)
    low, value, high = np.exp([ends[0], pool.value, ends[1]]).tolist()
    return Estimate(value, low, high)


def _is_as_planted(plant: Estimate) -> bool:
    least, most = (1 / (1 + SLOWER + off) for off in (0.005, -0.005))
    return (plant.low or 0) <= most and (plant.high or 0) >= least


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


@contextmanager
def _busy_core() -> Iterator[None]:
    """Another process that copies memory on the last core; it ends with its parent."""
    busy = subprocess.Popen([sys.executable, "-c", COPIES, str(os.getpid())])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


SLOWER = 0.05
PAIRS = 25  # a group with fewer is no pool
BLOCKS, STOPS = 10, (8, 10, 12, 14)
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
