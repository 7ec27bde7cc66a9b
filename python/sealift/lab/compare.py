"""Sets a run beside an earlier one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift.lab import summary
from sealift.lab.record import Record, interval_columns
from sealift.lab.result import Row
from sealift.lab.stats import (
    Estimate,
    Interval,
    Trust,
    Verdict,
    judged,
    of_runs,
    restart_range,
    run_ratio,
    smallest_difference,
)
from sealift.lab.store import Run
from sealift.lab.summary import Series
from sealift.lab.table import aligned, times_text, value_text
from sealift.lab.units import format_measure, plain_measure
from sealift.lab.values import Cell, Value


@dataclass(frozen=True)
class Change:
    """One cell in two runs.

    Attributes:
        experiment: Name of the experiment.
        cell: Its axes with their values, the same in both.
        before_ns: Nanoseconds an operation in the earlier run, 95 % interval.
        now_ns: The same in the later one.
        ratio: Times as fast in the later run, 95 % interval. The runs' blocks don't pair, so it is
            wider than a ratio within a run.
        least_difference: Share below which a difference between these two runs is called none.
        may_be_judged: Neither run measured it in one restart, was disturbed, or has a noise floor
            over 10 %.
        verdict: On the ratio, all verdicts of the comparison together at the 99 % level; UNSURE
            where it may not be judged.
    """

    experiment: str
    cell: Cell
    before_ns: Interval
    now_ns: Interval
    ratio: Interval
    least_difference: float
    may_be_judged: bool
    verdict: Verdict

    @property
    def record(self) -> Record:
        """As columns; numbers keep four significant digits."""
        return {
            "experiment": self.experiment,
            **self.cell,
            **interval_columns("before_ns", self.before_ns),
            **interval_columns("now_ns", self.now_ns),
            **interval_columns("times_as_fast", self.ratio),
            "least_difference_share": float(plain_measure(self.least_difference)),
            "verdict": self.verdict.value,
        }


@dataclass(frozen=True)
class Compared:
    """Two runs beside each other.

    Attributes:
        changes: Of the cells that both measured.
        notes: What was not compared, and why.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def compare(before: Run, now: Run) -> Compared:
    """Compares cells that are equal in all axes, those of the later run in its order.

    Two runs differ in more than the code: the neighbours on the machine, its clock, the places in
    memory. What is found is a reason to look, or to measure both once more, taking turns.

    Args:
        before: What is compared with.
        now: What is judged.
    """
    earlier, later = _measured(before), _measured(now)
    pairs = [(earlier[key], later[key]) for key in later if key in earlier]
    said = judged([(_estimate(*pair), _least_difference(*pair)) for pair in pairs])
    changes = [_change(*pair, verdict) for pair, verdict in zip(pairs, said, strict=True)]
    return Compared(tuple(changes), (*_notes(earlier, later), *_unsure(pairs)))


def changes_text(changes: Sequence[Change]) -> str:
    """Changes as a table: what varies, both medians, ratio, least difference, verdict."""
    axes = dict.fromkeys(name for change in changes for name in change.cell)
    varied = [name for name in axes if len({change.cell.get(name) for change in changes}) > 1]
    head = ["experiment", *varied, "before ns", "now ns", "times as fast", "least", "verdict"]
    rows = [
        [
            change.experiment,
            *(_axis_text(name, change.cell.get(name)) for name in varied),
            format_measure(change.before_ns.median),
            format_measure(change.now_ns.median),
            times_text(change.ratio),
            f"{100 * change.least_difference:.1f} %",
            change.verdict.value,
        ]
        for change in changes
    ]
    return aligned([head, *rows])


@dataclass(frozen=True)
class _Arm:
    row: Row
    series: Series

    @property
    def restarts(self) -> int:
        return len(set(self.series.restarts))

    @property
    def may_be_judged(self) -> bool:
        row = self.row
        return (
            self.restarts > 1
            and row.steady
            and not row.machine_busy
            and row.trust is not Trust.LOUD
        )


_Key = tuple[str, frozenset[tuple[str, object]]]


def _measured(run: Run) -> dict[_Key, _Arm]:
    """Every arm that was measured and computed nothing wrong."""
    groups = [each for one in run.plan.experiments for each in summary.groups(run, one.name)]
    rows = summary.beside_others([row for group in groups for row in summary.rows(group)])
    every = [series for group in groups for series in summary.series(group)]
    return {
        (row.experiment, frozenset(row.cell.items())): _Arm(row, series)
        for row, series in zip(rows, every, strict=True)
        if not row.wrong
    }


def _change(before: _Arm, now: _Arm, verdict: Verdict) -> Change:
    may_be_judged = before.may_be_judged and now.may_be_judged
    return Change(
        experiment=now.row.experiment,
        cell=now.row.cell,
        before_ns=before.row.ns_per_operation,
        now_ns=now.row.ns_per_operation,
        ratio=run_ratio(
            now.series.ns,
            before.series.ns,
            now_restarts=now.series.restarts,
            before_restarts=before.series.restarts,
        ),
        least_difference=_least_difference(before, now),
        may_be_judged=may_be_judged,
        verdict=verdict if may_be_judged else Verdict.UNSURE,
    )


def _estimate(before: _Arm, now: _Arm) -> Estimate:
    return of_runs(
        now.series.ns,
        before.series.ns,
        now_restarts=now.series.restarts,
        before_restarts=before.series.restarts,
    )


def _least_difference(before: _Arm, now: _Arm) -> float:
    """What two runs may differ by without a cause in the code.

    At least what a verdict within a run calls a difference, and what restarts of one run differ by.
    That first minimum is for arms in one process: without restarts in both it counts twice.
    """
    arms = (before, now)
    least = smallest_difference(0.0) * (1 if min(arm.restarts for arm in arms) > 1 else 2)
    ranges = [restart_range(arm.series.ns, arm.series.restarts) for arm in arms]
    return max(least, *ranges, *(arm.row.noise_floor for arm in arms))


def _axis_text(name: str, value: Value | None) -> str:
    return "" if value is None else value_text(name, value)


def _notes(earlier: Mapping[_Key, _Arm], later: Mapping[_Key, _Arm]) -> Iterator[str]:
    for name, these, those in (("later", later, earlier), ("earlier", earlier, later)):
        alone = [arm for key, arm in these.items() if key not in those]
        if alone:
            of = _counts([arm.row.experiment for arm in alone])
            yield f"not compared, because only the {name} run has them: {of}"


def _unsure(pairs: Sequence[tuple[_Arm, _Arm]]) -> Iterator[str]:
    """Why rows can't have a verdict, whatever their times say."""
    single = sum(min(before.restarts, now.restarts) < 2 for before, now in pairs)
    if single:
        yield (
            f"{_rows(single)} can't be judged, because a run measured them in one process: measure "
            "both runs without --quick and with time for more restarts than one (--budget)"
        )
    restarted = [pair for pair in pairs if all(arm.restarts > 1 for arm in pair)]
    disturbed = sum(not all(arm.may_be_judged for arm in pair) for pair in restarted)
    if disturbed:
        yield (
            f"{_rows(disturbed)} can't be judged, because a run found the machine busy, times not "
            "steady, or a noise floor over 10 %: measure both runs on a quieter machine"
        )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _counts(names: Sequence[str]) -> str:
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(f"{_rows(count)} of {name}" for name, count in counts.items())
