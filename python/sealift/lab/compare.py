"""Sets a run beside an earlier one, or beside what was published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealift.lab import registry, summary
from sealift.lab.published import Comparison
from sealift.lab.record import Record
from sealift.lab.result import Found
from sealift.lab.stats import (
    SHOWN_CONFIDENCE,
    VERDICT_CONFIDENCE,
    Interval,
    Verdict,
    run_ratio,
    verdict,
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
        verdict: On the ratio at the 99 % level, against the larger noise floor of the two.
    """

    experiment: str
    cell: Cell
    before_ns: Interval
    now_ns: Interval
    ratio: Interval
    verdict: Verdict

    @property
    def record(self) -> Record:
        """As columns; numbers keep four significant digits."""
        return {
            "experiment": self.experiment,
            **self.cell,
            **_three("before_ns", self.before_ns),
            **_three("now_ns", self.now_ns),
            **_three("times_as_fast", self.ratio),
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
    changes = [_change(earlier[key], later[key]) for key in later if key in earlier]
    return Compared(tuple(changes), tuple(_notes(earlier, later)))


def against_published(run: Run, found: Mapping[str, Found]) -> Iterator[Comparison]:
    """What was published beside what the run found.

    Args:
        run: Whose experiments are looked up.
        found: From `summarise(run)`.

    Raises:
        ValueError: If an experiment of the run is not there any more.
    """
    for planned in run.plan.experiments:
        file = None if planned.file is None else Path(planned.file)
        yield from registry.find(planned.name, file).published(found[planned.name])


def published_record(comparison: Comparison) -> Record:
    """A published figure beside what was found, as columns."""
    return {
        "figure": comparison.figure,
        "what": comparison.what,
        "published": comparison.published,
        **_three("here", comparison.here),
        "unit": comparison.unit,
        **_three("times_published", comparison.ratio),
        "match": comparison.match.value,
        "note": comparison.note,
        "source": comparison.source,
    }


def changes_text(changes: Sequence[Change]) -> str:
    """Changes as a table: what varies, both medians, the ratio with its interval, the verdict."""
    axes = dict.fromkeys(name for change in changes for name in change.cell)
    varied = [name for name in axes if len({change.cell.get(name) for change in changes}) > 1]
    head = ["experiment", *varied, "before ns", "now ns", "times as fast", "verdict"]
    rows = [
        [
            change.experiment,
            *(_axis_text(name, change.cell.get(name)) for name in varied),
            format_measure(change.before_ns.median),
            format_measure(change.now_ns.median),
            times_text(change.ratio),
            change.verdict.value,
        ]
        for change in changes
    ]
    return aligned([head, *rows])


def published_text(comparisons: Sequence[Comparison]) -> str:
    """Published figures beside what was found, as a table."""
    head = ["figure", "published", "unit", "here", "here / published", "match", "what", "with what"]
    rows = [
        [
            each.figure,
            format_measure(each.published),
            each.unit,
            "" if each.here is None else times_text(each.here),
            "" if each.ratio is None else times_text(each.ratio),
            each.match.value,
            each.what,
            each.note,
        ]
        for each in comparisons
    ]
    return aligned([head, *rows])


@dataclass(frozen=True)
class _Arm:
    experiment: str
    cell: Cell
    ns: Interval
    series: Series
    noise_floor: float


_Key = tuple[str, frozenset[tuple[str, object]]]


def _measured(run: Run) -> dict[_Key, _Arm]:
    """Every arm that was measured and computed nothing wrong."""
    arms: dict[_Key, _Arm] = {}
    for planned in run.plan.experiments:
        for group in summary.groups(run, planned.name):
            rows = summary.rows(group)
            for row, series in zip(rows, summary.series(group), strict=True):
                if not row.wrong:
                    key = (planned.name, frozenset(row.cell.items()))
                    arms[key] = _Arm(
                        planned.name, row.cell, row.ns_per_operation, series, row.noise_floor
                    )
    return arms


def _change(before: _Arm, now: _Arm) -> Change:
    floor = max(before.noise_floor, now.noise_floor)
    judged = _ratio(before.series, now.series, VERDICT_CONFIDENCE)
    return Change(
        experiment=now.experiment,
        cell=now.cell,
        before_ns=before.ns,
        now_ns=now.ns,
        ratio=_ratio(before.series, now.series, SHOWN_CONFIDENCE),
        verdict=verdict(judged, floor),
    )


def _ratio(before: Series, now: Series, confidence: float) -> Interval:
    return run_ratio(
        now.ns,
        before.ns,
        confidence=confidence,
        now_restarts=now.restarts,
        before_restarts=before.restarts,
    )


def _three(name: str, interval: Interval | None) -> dict[str, Value | None]:
    ends = {name: "median", f"{name}_low95": "low", f"{name}_high95": "high"}
    if interval is None:
        return dict.fromkeys(ends)
    return {column: float(plain_measure(getattr(interval, end))) for column, end in ends.items()}


def _axis_text(name: str, value: Value | None) -> str:
    return "" if value is None else value_text(name, value)


def _notes(earlier: Mapping[_Key, _Arm], later: Mapping[_Key, _Arm]) -> Iterator[str]:
    for name, these, those in (("later", later, earlier), ("earlier", earlier, later)):
        alone = [arm for key, arm in these.items() if key not in those]
        if alone:
            of = _counts([arm.experiment for arm in alone])
            yield f"not compared, because only the {name} run has them: {of}"


def _counts(names: Sequence[str]) -> str:
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    rows = {1: "1 row"}
    return ", ".join(
        f"{rows.get(count, f'{count:,} rows')} of {name}" for name, count in counts.items()
    )
