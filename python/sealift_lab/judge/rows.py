"""The one judge of a run: rows with verdicts and winners, reports, and when to stop measuring.

Rows are measured until their intervals are narrow, never until a verdict is had.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from typing import Protocol

import numpy as np
import polars as pl

from sealift_lab.judge.blocks import Group, Place, groups_of
from sealift_lab.judge.intervals import SURE, Difference, Pool, Vector, half
from sealift_lab.judge.verdicts import Comparison, compare, estimate, is_narrow
from sealift_lab.measure.plan import PROCESSES
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.results import ArmReport, Estimate, Results, Row, Verdict
from sealift_lab.model.run import Plan, PlannedExperiment, ReportLine


class RunFiles(Protocol):
    """What is judged of a run."""

    @property
    def plan(self) -> Plan:
        """What was ordered."""

    @property
    def samples(self) -> pl.DataFrame:
        """A row for each line of samples.jsonl, of complete blocks only."""

    @property
    def reports(self) -> Sequence[ReportLine]:
        """The lines of verify.jsonl."""


@dataclass(frozen=True)
class Gauge:
    """How many A/A pairs there are, their scatter, and the share that nothing disturbed."""

    pairs: int
    noise: float
    clean_share: float


@dataclass(frozen=True)
class Change:
    """One cell in two runs: nanoseconds an operation, and above 1 where it became faster."""

    experiment: str
    cell: Cell
    before: Estimate
    now: Estimate
    comparison: Comparison


def results(run: RunFiles) -> dict[str, Results]:
    """Judges a run, whole or in part: for each planned experiment its rows and reports."""
    groups, lines = groups_of_run(run), _by_place(run.reports)
    wrong = _wrong(lines)
    measured = {(*place, arm) for place, group in groups.items() for arm in group.arms}
    begun = {name for name, *_ in (*lines, *measured)}
    found = {}
    for planned in run.plan.experiments:
        name, rows, reports = planned.name, list[Row](), list[ArmReport]()
        # Where others were begun and nothing is known of this one, there was no time for it.
        is_left_out = bool(begun) and name not in begun
        for number, cells in enumerate(planned.groups):
            if group := groups.get((name, number)):
                rows += _rows(planned, number, group, wrong)
            for arm, cell in enumerate(cells):
                of = lines.get(place := (name, number, arm), ())
                skipped = next((line.skipped for line in reversed(of) if line.skipped), "")
                why = "" if place in measured else skipped if of else NOT_REACHED
                about = (_facts(of), why, wrong.get(place, ""), is_left_out)
                reports.append(ArmReport(name, cell, *about))
        for cell in chain(*planned.left_out):
            reports.append(ArmReport(name, cell, {}, LEFT_OUT, is_left_out=True))
        found[name] = Results(tuple(rows), tuple(reports))
    return found


def narrow(
    samples: pl.DataFrame, planned: PlannedExperiment | None = None, *, processes: int = 0
) -> dict[int, bool]:
    """Whether every interval of each group of one experiment is narrow enough to stop.

    Ratios near 1 need a half-width of 1.5 %, those beyond a tenth of their logarithm. A group of
    one arm needs its time within 5 %. Each needs `PROCESSES`, or as many as are given: 1 where a
    figure speaks of that one only.
    """
    least = processes or PROCESSES
    groups = groups_of(samples, [planned] if planned else [], is_one_process=least == 1)
    return {number: is_done(group, least) for (_, number), group in groups.items()}


def is_done(group: Group, processes: int) -> bool:
    """The same of one group."""
    if len(np.unique(group.process)) < processes:
        return False
    # An arm that computed something wrong has no samples from then on.
    first, *others = (arm for arm, each in group.arms.items() if not np.isnan(each.log_ns[-1]))
    if not others:
        ends = group.times(first).interval(SURE)
        return ends is not None and half(ends) <= NARROW_TIME
    ratios = (group.ratio(arm, first) for arm in others)
    return all(ratio is not None and is_narrow(ratio) for ratio in ratios)


def times(run: RunFiles, one: Row, other: Row) -> Estimate:
    """How many times as fast one row is as another of the same run, of any group."""
    return compare_rows(run, one, other).ratio


def compare_rows(run: RunFiles, one: Row, other: Row) -> Comparison:
    """Judges one row against another of the same run.

    Paired by block within a group, by process between groups of an experiment. Processes of two
    experiments have nothing in common.
    """
    group = groups_of_run(run, one)[one.experiment, one.group]
    share = min(one.clean_share, other.clean_share)
    is_paired = one.experiment == other.experiment
    if is_paired and one.group == other.group and (ratio := group.ratio(one.arm, other.arm)):
        return compare(ratio, share)
    beside = groups_of_run(run, other)[other.experiment, other.group]
    pools = group.times(one.arm), beside.times(other.arm)
    return compare(Difference(*pools, is_paired=is_paired), share)


def changes(before: RunFiles, now: RunFiles) -> tuple[Change, ...]:
    """Compares cells that both runs measured, in the order of the later one.

    Runs differ in more than the code: neighbours on the machine, its clock, places in memory. Two
    processes of each are the least that has an interval.
    """
    earlier, found = _times(before), []
    for key, (cell, new) in _times(now).items():
        if key in earlier:
            _, old = earlier[key]
            comparison = compare(Difference(new, old, is_paired=False))
            found.append(Change(key[0], cell, estimate(old), estimate(new), comparison))
    return tuple(found)


def cell_key(cell: Cell) -> frozenset[tuple[str, Value]]:
    """What makes cells of two runs the same: all axes but the load, which not every run has.

    The load follows from threads and cores.
    """
    return frozenset({**cell, "load": ""}.items())


def gauge(samples: pl.DataFrame) -> Gauge | None:
    """How far equal code differs from itself within a block; None without two pairs of a group."""
    groups = groups_of(samples).values()
    each = [x - np.median(x) for group in groups if len(x := group.clean_pairs) > 1]
    if not each:
        return None
    is_clean = np.concatenate([group.is_aa_clean for group in groups])
    pairs = np.concatenate(each)
    return Gauge(len(pairs), _scatter(pairs), float(is_clean.mean()))


def groups_of_run(run: RunFiles, row: Row | None = None) -> dict[tuple[str, int], Group]:
    """The measured groups of a run, or that of a row alone."""
    samples = run.samples
    if row:
        samples = samples.filter(experiment=row.experiment, group=row.group)
    return groups_of(samples, run.plan.experiments, is_one_process=run.plan.processes == 1)


def _rows(
    planned: PlannedExperiment, number: int, group: Group, wrong: Mapping[Place, str]
) -> Iterator[Row]:
    cells, pairs = planned.groups[number], group.clean_pairs
    why = {arm: wrong.get((planned.name, number, arm), "") for arm in group.arms}
    right = [arm for arm in group.arms if not why[arm]]
    # When every arm is wrong nothing is compared, and rows still name one.
    reference = group.reference if group.reference in right or not right else right[0]
    pools = {arm: group.times(arm) for arm in group.arms}
    best = min(right, key=lambda arm: pools[arm].value, default=reference)
    for arm, each in group.arms.items():
        judged = _compare_arms(group, arm, reference) if arm in right else None
        beaten = _compare_arms(group, arm, best) if arm in right else None
        there = ~np.isnan(each.log_ns)
        yield Row(
            experiment=planned.name,
            group=number,
            arm=arm,
            cell=cells[arm],
            compare=planned.compare,
            time=estimate(pools[arm]),
            payload_bytes=each.payload_bytes,
            reference=cells[reference][planned.compare],
            ratio=judged.ratio if judged else None,
            verdict=judged.verdict if judged else None,
            reason=judged.ratio.reason if judged else "",
            is_winner=arm in right and not (beaten and beaten.verdict is Verdict.SLOWER),
            blocks=int(np.count_nonzero(there)),
            processes=len(np.unique(group.process[there])),
            noise=_scatter(pairs) if len(pairs) > 1 else None,
            clean_share=each.clean_share,
            wrong=why[arm],
            origin=planned.origin,
        )


def _compare_arms(group: Group, arm: int, other: int) -> Comparison | None:
    ratio = None if arm == other else group.ratio(arm, other)
    share = min(group.arms[each].clean_share for each in (arm, other))
    return compare(ratio, share) if ratio else None


def _times(run: RunFiles) -> dict[tuple[str, object], tuple[Cell, Pool]]:
    planned = {each.name: each for each in run.plan.experiments}
    wrong = _wrong(_by_place(run.reports))
    return {
        (name, cell_key(cell)): (cell, group.times(arm))
        for (name, number), group in groups_of_run(run).items()
        for arm in group.arms
        for cell in [planned[name].groups[number][arm]]
        if (name, number, arm) not in wrong
    }


def _scatter(pairs: Vector) -> float:
    return float(np.expm1(1.4826 * np.median(np.abs(pairs - np.median(pairs)))))


def _by_place(reports: Iterable[ReportLine]) -> dict[Place, Sequence[ReportLine]]:
    """The reports of each arm together, in the order of time."""
    place = attrgetter("experiment", "group", "arm")
    return {each: tuple(of) for each, of in groupby(sorted(reports, key=place), key=place)}


def _wrong(lines: Mapping[Place, Sequence[ReportLine]]) -> dict[Place, str]:
    """The first thing that arms computed wrong, of those that did."""
    return {place: line.wrong for place, of in lines.items() for line in reversed(of) if line.wrong}


def _facts(lines: Sequence[ReportLine]) -> Mapping[str, Value]:
    """Counts are added up; of the rest the last one holds."""
    facts: dict[str, Value] = {}
    for name, value in (item for line in lines for item in line.facts.items()):
        before = facts.get(name)
        if isinstance(value, int) and isinstance(before, int):
            value += before
        facts[name] = value
    return facts


# A time has no partner that drifts with it.
NARROW_TIME = 0.05
NOT_REACHED = "the run ended before this was measured"
LEFT_OUT = "not run: the time that was given had no room for it"
