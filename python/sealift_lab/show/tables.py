"""Rows, computed cells and published figures as plain tables: for terminal, page and documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift_lab.claim.compare import Compared
from sealift_lab.claim.evaluate import LEAST, MOST, WHY_NONE, fact
from sealift_lab.claim.published import Count, Outcome, Pair, outcome
from sealift_lab.claim.words import (
    axis_title,
    estimate_text,
    format_printed,
    format_signed,
    name_of,
    relation_words,
    tick_text,
    varied_axes,
)
from sealift_lab.model.published import Kind
from sealift_lab.model.results import ArmReport, Estimate, Results, Row
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_measure, format_ns, format_range, rate_unit
from sealift_lab.model.values import Value


@dataclass(frozen=True)
class Table:
    """Columns side by side.

    Attributes:
        columns: Titles.
        rows: Texts, as many as columns.
        numbers: Places of the columns that are set to the right.
        marks: Of each row its verdict in one word, or "": what styles it.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    marks: Sequence[str] = ()


def rows_table(planned: PlannedExperiment, results: Results) -> Table:
    """What was measured, a line for each arm: what varies, time, speed, ratio, verdict."""
    axes = varied_axes(planned) or [planned.compare]
    has_payload = any(row.payload_bytes for row in results.rows)
    speed = "MB/s" if has_payload else rate_unit(planned.operation)
    columns = [axis_title(planned, name) for name in axes]
    columns += ["time", speed, f"times {_reference(planned)}", "verdict"]
    rows = [
        [
            *(_cell(planned, name, row.cell[name]) for name in axes),
            format_ns(row.time.value),
            format_measure((row.payload_mb_per_s or row.operations_per_s).value),
            estimate_text(row.ratio),
            _verdict(row),
        ]
        for row in results.rows
    ]
    numbers = range(len(axes), len(axes) + 3)
    return Table(columns, rows, numbers, [_mark(row) for row in results.rows])


def computed_table(planned: PlannedExperiment, results: Results) -> Table:
    """What was computed, a line for each cell: what varies, then the facts it declares."""
    reports = [each for each in results.reports if each.facts]
    axes = varied_axes(planned) or [planned.compare]
    facts = planned.columns or {name: name for name in _facts(reports)}
    rows = [
        [
            *(_cell(planned, name, each.cell[name]) for name in axes),
            *(_fact_text(each, name) for name in facts),
        ]
        for each in reports
    ]
    numbers = [
        len(axes) + place
        for place, name in enumerate(facts)
        if not any(isinstance(each.facts.get(name), str) for each in reports)
    ]
    return Table([*(axis_title(planned, n) for n in axes), *facts.values()], rows, numbers)


def published_table(pairs: Sequence[Pair]) -> Table:
    """Published figures beside those of a run, with what follows."""
    rows = [
        [
            published.figure,
            published.what,
            _claimed(published.kind, published.value, published.unit),
            estimate_text(claim.figure),
            relation_words(claim),
            "; ".join(dict.fromkeys(filter(None, (published.note, claim.reason)))),
        ]
        for published, claim in pairs
    ]
    marks = [outcome(claim).value for _, claim in pairs]
    return Table(("figure", "what", "published", "here", "verdict", "note"), rows, (2, 3), marks)


def counts_table(counts: Sequence[Count]) -> Table:
    """How many figures of each document, in each ledger, have which outcome."""
    shown = [each for each in Outcome if any(count.outcomes.get(each) for count in counts)]
    rows = [
        [
            f"{count.document}, {count.ledger}",
            f"{sum(count.outcomes.values()):,}",
            *(f"{count.outcomes.get(each, 0) or '–'}" for each in shown),
        ]
        for count in counts
    ]
    columns = ("document", "figures", *(each.value for each in shown))
    return Table(columns, rows, range(1, len(columns)))


def changes_table(compared: Compared) -> Table:
    """Cells of two runs: what varies, both times, times as fast, verdict."""
    rows = [
        [
            claim.experiment,
            claim.subject,
            format_ns(change.before.value),
            format_ns(change.now.value),
            estimate_text(claim.figure),
            ": ".join(filter(None, (claim.relation.value, claim.reason))),
        ]
        for change, claim in compared.pairs
    ]
    marks = [claim.relation.value for _, claim in compared.pairs]
    columns = ("experiment", "of", "before", "now", "times as fast", "verdict")
    return Table(columns, rows, (2, 3, 4), marks)


def pivot_table(points: Iterable[tuple[str, str, Estimate]], title: str, unit: str) -> Table:
    """A chart as a table: a line for each place along it, a column for each series.

    Args:
        points: Place, series and figure of each.
        title: Of the places.
        unit: Of the figures.
    """
    lines: dict[str, dict[str, Estimate]] = {}
    for place, series, figure in points:
        lines.setdefault(place, {})[series] = figure
    names = list(dict.fromkeys(name for line in lines.values() for name in line))
    rows = [
        [place, *(_measured(line.get(name)) for name in names)] for place, line in lines.items()
    ]
    columns = (title, *(f"{name}, {unit}" for name in names))
    return Table(columns, rows, range(1, len(columns)))


def markdown(table: Table) -> str:
    """A table as Markdown."""
    rule = ["---:" if at in table.numbers else "---" for at in range(len(table.columns))]
    lines = [table.columns, rule, *table.rows]
    return "\n".join(f"| {' | '.join(_escaped(line))} |" for line in lines)


def _escaped(cells: Iterable[str]) -> list[str]:
    return [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]


def _measured(figure: Estimate | None) -> str:
    if figure is None:
        return ""
    return f"{format_signed(figure.value)} {format_range(figure)}".rstrip()


def _cell(planned: PlannedExperiment, axis: str, value: Value) -> str:
    if planned.names.get(str(value)) == "":
        return str(value)
    return tick_text(axis, value, planned.names)


def _reference(planned: PlannedExperiment) -> str:
    first = {group[0][planned.compare] for group in planned.groups}
    return name_of(first.pop(), planned.names) if len(first) == 1 else "the first"


def _verdict(row: Row) -> str:
    if row.wrong:
        return f"wrong result: {row.wrong}"
    text = row.verdict.value if row.verdict else ""
    return f"{text}: {row.reason}" if row.reason else text


def _mark(row: Row) -> str:
    return "wrong" if row.wrong else row.verdict.value if row.verdict else ""


def _facts(reports: Sequence[ArmReport]) -> list[str]:
    """The names of facts, without the ends of their ranges and the reasons for what is missing."""
    names = dict.fromkeys(name for each in reports for name in each.facts)
    ends = (LEAST, MOST, WHY_NONE)
    return [name for name in names if not any(name.endswith(end) for end in ends)]


def _fact_text(report: ArmReport, name: str) -> str:
    found = fact(report, name)
    if isinstance(found, str):
        return "" if found == f"it has no {name}" else found
    return _measured(found)


def _claimed(kind: Kind, value: float, unit: str) -> str:
    """What a document prints: `12.5 MB/s`, `above 1`, `1.05, so above 1`."""
    if unit == IN_WORDS:
        return unit
    if kind not in ONE_SIDED:
        return f"{format_printed(value)} {unit}".rstrip()
    return "above 1" if value == 1 else f"{format_printed(value)}, so above 1"


# Stands in the place of a unit where a document prints no number.
IN_WORDS = "in words"
ONE_SIDED = (Kind.SHAPE, Kind.READING)
