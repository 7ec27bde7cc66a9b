"""How often this very judge is wrong, and what it finds: comparisons whose truth is known.

`resample` draws them from A/A pairs that runs have stored, and `certify` measures them anew.
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
from itertools import chain, product

import numpy as np
import polars as pl

from sealift_lab.judge.blocks import groups_of
from sealift_lab.judge.intervals import SURE, Pool, Vector
from sealift_lab.judge.rows import is_done
from sealift_lab.judge.trial import SLOWER, Trial
from sealift_lab.judge.verdicts import is_narrow, verdict
from sealift_lab.measure.plan import BLOCKS, PROCESSES
from sealift_lab.model.results import Estimate, Results, Verdict

Measure = Callable[[Trial], pl.DataFrame]
"""Measures one process of a trial, as `measure_trial` does."""
Score = dict[str, object]
"""A comparison's verdict and log ratio, and whether its 99 % interval holds 1."""


@dataclass(frozen=True)
class Plant:
    """How many times as fast slower code was on one kind of work, over all comparisons, at 99 %.

    It is right if all of the interval is within half a per cent of `SLOWER`; None is too wide.
    """

    work: str
    times: Estimate
    is_right: bool | None


def resample(pools: Sequence[Vector], comparisons: int = 400, seed: int = 5) -> pl.DataFrame:
    """Draws comparisons from `pools`, for each design and distance between processes."""
    rng = np.random.default_rng(seed)

    def draw(blocks: int, stops: Sequence[int], between: float, slower: float) -> Score:
        shape = (stops[-1], blocks)
        x = rng.choice(pools[int(rng.integers(len(pools)))], shape) * rng.choice([-1, 1], shape)
        x += rng.normal(0, between, (stops[-1], 1)) - np.log1p(slower)
        process = np.arange(stops[-1]).repeat(blocks)
        # Adds processes until the interval is narrow, as a run does.
        for stop in stops:
            pool = Pool.from_blocks(x[:stop].ravel(), process[: stop * blocks])
            if is_narrow(pool):
                break
        return _score(pool)

    every = product(DESIGNS.items(), BETWEEN, (0.0, SLOWER), range(comparisons))
    return rates(
        {"what": f"{name}, processes differ by {100 * between:.1f} %", "is_slowed": slower > 0}
        | draw(*design, between, slower)
        for (name, design), between, slower, _ in every
    )


def pools(samples: Iterable[pl.DataFrame]) -> list[Vector]:
    """Centred A/A log ratios, noise of blocks, of each group of runs that has `PAIRS` at least."""
    pairs = (group.clean_pairs for each in samples for group in groups_of(each).values())
    return [each - np.median(each) for each in pairs if len(each) >= PAIRS]


def certify(
    measure: Measure,
    works: Sequence[str],
    comparisons: int,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[pl.DataFrame, list[Plant]]:
    """Measures equal code and slower code, idle and with the last core loaded, in turn.

    Kinds of work are measured beside each other. Slower code doesn't count on those where it was
    not slower by `SLOWER`. Progress is how many comparisons of equal code are done, of twice as
    many as `comparisons`.
    """
    found: list[Score] = []
    for first in range(0, comparisons, len(works)):
        for what, load in (("idle", nullcontext), ("another core loaded", _busy_core)):
            with load():
                compared = _compare(measure, works[: comparisons - first], first)
                found += [{"what": what} | score for score in compared]
            progress(len(found) // 2)
    plants = [_plant(work, found) for work in works[:comparisons]]
    wrong = {plant.work for plant in plants if plant.is_right is False}
    return rates(
        each for each in found if not (each["is_slowed"] and each["work"] in wrong)
    ), plants


def certify_commands(
    one: Sequence[str], other: Sequence[str], comparisons: int = 20, runs: int = 10, seed: int = 1
) -> pl.DataFrame:
    """Times two commands, and judges them as this judge does and as hyperfine prints them.

    Each comparison has `runs` rounds of the one, the one again and the other, in drawn order. The
    one against itself shows false verdicts. All rounds of all comparisons decide which is slower.
    Beside this judge stands the ratio of means with its standard deviation: "1.08 ± 0.05 times
    faster" claims a difference where 1 lies outside, however small, and never equality.
    """
    rng = np.random.default_rng(seed)
    commands = (one, one, other)
    took = np.empty((comparisons, runs, len(commands)))
    for at in np.ndindex(comparisons, runs):
        for place in rng.permutation(len(commands)):
            start = time.perf_counter()
            subprocess.run(commands[place], check=True, stdout=subprocess.DEVNULL)
            took[*at, place] = time.perf_counter() - start
    # What is found is counted as if the other one were the slower one.
    slowed = (0, 2) if np.median(np.log(took[..., 2] / took[..., 0])) >= 0 else (2, 0)

    def judge(pair: Vector) -> Score:
        ratios = np.log(pair[:, 0] / pair[:, 1])
        return _score(Pool.from_blocks(ratios, np.zeros(runs, np.int64)))

    def read(pair: Vector) -> Score:
        mean, share = pair.mean(axis=0), pair.std(axis=0, ddof=1) / pair.mean(axis=0)
        is_covered = bool(mean.max() / mean.min() * (1 - np.hypot(*share)) <= 1)
        claim = Verdict.FASTER if mean[0] > mean[1] else Verdict.SLOWER
        told = Verdict.INCONCLUSIVE if is_covered else claim
        return {"verdict": told, "is_covered": is_covered, "blocks": runs}

    return rates(
        {"what": what, "is_slowed": places is slowed} | of(times[:, places])
        for what, of in (("this judge", judge), ("ratio of means", read))
        for places in ((0, 1), slowed)
        for times in took
    )


def agreement(
    one: Mapping[str, Results], other: Mapping[str, Results]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sets judged runs of one plan beside each other.

    Returns:
        By experiment the number of `rows` that both judged; the share with the `same` verdict, and
        of those that one run alone settles (`open`); how many `contradict` each other; the share of
        95 % intervals that hold the other run's figure (`covered`; 83 % would be right, because
        that scatters, too) and that have something in common (`overlap`; 99 %). Then the rows that
        contradict each other.
    """
    verdict, value, low, high = (pl.col(name) for name in ("verdict", "value", "low", "high"))
    again, value_again = pl.col("verdict_again"), pl.col("value_again")
    same, unsettled = verdict == again, pl.lit(Verdict.INCONCLUSIVE.value)
    is_open = ~same & ((verdict == unsettled) | (again == unsettled))
    covered = (value.is_between("low_again", "high_again"), value_again.is_between(low, high))
    pairs = _spans(one).join(_spans(other), on=KEY, suffix="_again", maintain_order="left")
    summary = pairs.group_by("experiment", maintain_order=True).agg(
        rows=pl.len(),
        same=same.mean(),
        open=is_open.mean(),
        contradict=(~same & ~is_open).sum(),
        covered=(covered[0].mean() + covered[1].mean()) / 2,
        overlap=((low <= pl.col("high_again")) & (pl.col("low_again") <= high)).mean(),
    )
    return summary, pairs.filter(~same & ~is_open)


def rates(scores: Iterable[Score]) -> pl.DataFrame:
    """What came of comparisons, by `what` they were: shares, 0..1, or null where none was made.

    Of equal code: called faster or slower (`false`), called the `same`, and 99 % intervals that
    hold 1 (`covered`). Of slower code: called slower (`found`), and called the same (`missed`).
    Beside them how many there were of each, and how many blocks one took.
    """
    slowed, told = pl.col("is_slowed"), pl.col("verdict")
    different = told.is_in([Verdict.FASTER.value, Verdict.SLOWER.value])
    return (
        pl.DataFrame([{**each, "verdict": str(each["verdict"])} for each in scores])
        .group_by("what", maintain_order=True)
        .agg(
            comparisons=(~slowed).sum(),
            false=different.filter(~slowed).mean(),
            same=(told == Verdict.SAME.value).filter(~slowed).mean(),
            covered=pl.col("is_covered").filter(~slowed).mean(),
            found=(told == Verdict.SLOWER.value).filter(slowed).mean(),
            missed=(told == Verdict.SAME.value).filter(slowed).mean(),
            blocks=pl.mean("blocks"),
        )
    )


def _compare(measure: Measure, works: Sequence[str], number: int) -> Iterator[Score]:
    """A comparison on each kind of work: what came of equal code, and of slower code."""
    taken: list[pl.DataFrame] = []
    for processes in STOPS:
        taken += [measure(Trial(works, number, each)) for each in range(len(taken), processes)]
        groups = groups_of(pl.concat(taken, how="vertical_relaxed"))
        is_last = processes == STOPS[-1]
        done = [work for work in works if is_last or is_done(groups[work, 0], PROCESSES)]
        for work, arm in product(done, (1, 2)):
            if pool := groups[work, 0].ratio(arm, 0):
                yield {"work": work, "is_slowed": arm == 2} | _score(pool)
        if not (works := [work for work in works if work not in done]):
            return


def _score(pool: Pool) -> Score:
    ends = pool.interval(SURE)
    is_covered = ends is not None and ends[0] <= 0 <= ends[1]
    told = verdict(pool.value, ends)
    return {"verdict": told, "value": pool.value, "is_covered": is_covered, "blocks": pool.blocks}


def _plant(work: str, found: Sequence[Score]) -> Plant:
    values = np.array(
        [each["value"] for each in found if each["is_slowed"] and each["work"] == work]
    )
    pool = Pool.from_blocks(values, np.arange(len(values)))
    value, ends = float(np.exp(pool.value)), pool.over_processes(SURE)
    if ends is None:
        return Plant(work, Estimate(value), None)
    low, high = np.exp(ends).tolist()
    least, most = (1 / (1 + SLOWER + off) for off in (0.005, -0.005))
    is_right, is_wrong = least <= low and high <= most, high < least or most < low
    return Plant(work, Estimate(value, low, high), is_right if is_right or is_wrong else None)


def _spans(found: Mapping[str, Results]) -> pl.DataFrame:
    """Ratios with their verdicts; equal cells of two runs have equal text."""
    lines = []
    for row in chain(*(each.rows for each in found.values())):
        if row.verdict and (ratio := row.ratio):
            cell = ", ".join(f"{name}={value}" for name, value in row.cell.items())
            of = row.experiment, f"{row.reference}", cell, row.verdict.value
            lines.append((*of, ratio.value, ratio.low, ratio.high))
    schema = dict.fromkeys([*KEY, "verdict"], pl.String) | dict.fromkeys(ENDS, pl.Float64)
    return pl.DataFrame(lines, schema=schema, orient="row")


@contextmanager
def _busy_core() -> Iterator[None]:
    """Another process that copies memory on the last core; it ends with its parent."""
    busy = subprocess.Popen([sys.executable, "-c", COPIES, str(os.getpid())])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


KEY, ENDS = ("experiment", "reference", "cell"), ("value", "low", "high")
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
