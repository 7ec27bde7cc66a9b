"""Rows, computed cells and published figures as plain tables: for terminal, page and documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealift_lab.claim.answer import command_text, machine_text
from sealift_lab.claim.replication import (
    LEAST,
    MOST,
    WHY_NONE,
    Pair,
    Replication,
    count,
    fact,
    replication,
)
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
from sealift_lab.judge.rows import Change
from sealift_lab.model.arm import Value
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import ArmReport, Claim, Ledger, Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_measure, format_ns, format_range, rate_unit
from sealift_lab.run.read_folder import Run


@dataclass(frozen=True)
class Table:
    """Texts in columns with titles; a verdict marks each row.

    Attributes:
        numbers: Columns that are set to the right.
        spare: Columns that a narrow terminal leaves out, the least wanted first.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    marks: Sequence[str] = ()
    spare: Sequence[int] = ()


def experiment_table(planned: PlannedExperiment, results: Results) -> Table:
    """What was measured or computed of an experiment."""
    is_measured = planned.is_timed and results.rows
    return (rows_table if is_measured else computed_table)(planned, results)


def rows_table(planned: PlannedExperiment, results: Results) -> Table:
    """What was measured, a line for each arm: what varies, time, speed, ratio, verdict, facts."""
    axes = varied_axes(planned) or [planned.compare]
    facts = {tuple(each.cell.items()): each for each in results.reports}
    has_payload = any(row.payload_bytes for row in results.rows)
    firsts = {group[0][planned.compare] for group in planned.groups}
    reference = name_of(firsts.pop(), planned.names) if len(firsts) == 1 else "the first"
    columns = [axis_title(planned, name) for name in axes]
    columns += ["time", "MB/s" if has_payload else rate_unit(planned.operation)]
    columns += [f"times {reference}", "verdict", *planned.columns.values()]
    verdicts = [
        ("wrong result", row.wrong) if row.wrong else (row.verdict or "", row.reason)
        for row in results.rows
    ]
    rows = [
        [
            *(_cell_text(planned, name, row.cell[name]) for name in axes),
            format_ns(row.time.value),
            format_measure((row.payload_mb_per_s or row.operations_per_s).value),
            estimate_text(row.ratio),
            ": ".join(filter(None, verdict)),
            *(_fact_text(facts[*row.cell.items(),], name) for name in planned.columns),
        ]
        for row, verdict in zip(results.rows, verdicts, strict=True)
    ]
    marks = ["wrong" if row.wrong else row.verdict or "" for row in results.rows]
    time, verdict = len(axes), len(axes) + 3
    # The speed says what the time does.
    spare = [*reversed(range(verdict + 1, len(columns))), time]
    return Table(columns, rows, range(time, verdict), marks, spare)


def computed_table(planned: PlannedExperiment, results: Results) -> Table:
    """What was computed, a line for each cell: what varies, then the facts it declares."""
    reports = [each for each in results.reports if each.facts]
    axes = varied_axes(planned) or [planned.compare]
    facts = planned.columns or {name: name for name in _fact_names(reports)}
    rows = [
        [
            *(_cell_text(planned, name, each.cell[name]) for name in axes),
            *(_fact_text(each, name) for name in facts),
        ]
        for each in reports
    ]
    numbers = [
        len(axes) + place
        for place, name in enumerate(facts)
        if not any(isinstance(each.facts.get(name), str) for each in reports)
    ]
    columns = [*(axis_title(planned, name) for name in axes), *facts.values()]
    spare = [*reversed(range(len(axes) + 1, len(columns)))]
    return Table(columns, rows, numbers, spare=spare)


def published_table(pairs: Sequence[Pair]) -> Table:
    """Published figures beside those of a run, with what follows."""
    rows = [
        [
            published.figure,
            published.what,
            _print_text(published),
            estimate_text(claim.figure),
            relation_words(claim),
            "; ".join(dict.fromkeys(filter(None, (published.note, claim.reason)))),
        ]
        for published, claim in pairs
    ]
    marks = [replication(claim).value for _, claim in pairs]
    columns = ("figure", "what", "published", "here", "verdict", "note")
    return Table(columns, rows, (2, 3), marks, spare=(5,))


def counts_table(counts: Mapping[tuple[str, Ledger], Mapping[str, int]]) -> Table:
    """How many figures of each document, in each ledger, have which outcome."""
    shown = [each.value for each in Replication if any(each in found for found in counts.values())]
    rows = [
        [
            f"{document}, {IN_SHORT[ledger]}",
            f"{sum(found.values()):,}",
            *(_count(found.get(each, 0)) for each in shown),
        ]
        for (document, ledger), found in counts.items()
    ]
    return Table(("document", "figures", *shown), rows, range(1, 2 + len(shown)))


def summary_table(pairs: Sequence[Pair]) -> Table:
    """The same in few columns, without arithmetic on what is printed."""
    rows = [
        [
            f"{document}, {IN_SHORT[ledger]}",
            *(_count(sum(found.get(each, 0) for each in of)) for of in SUMMARY.values()),
        ]
        for (document, ledger), found in count(pairs).items()
        if ledger is not Ledger.ARITHMETIC
    ]
    return Table(("document", *SUMMARY), rows, range(1, 1 + len(SUMMARY)))


def _count(number: int) -> str:
    return f"{number:,}" if number else "–"


def different_figures(pairs: Sequence[Pair]) -> list[str]:
    """The published figures with something different or contradicted, arithmetic left out."""
    return sorted(
        {
            published.figure
            for published, claim in pairs
            if claim.ledger is not Ledger.ARITHMETIC and replication(claim) in DIFFERENT
        }
    )


def changes_table(pairs: Sequence[tuple[Change, Claim]]) -> Table:
    """Cells of two runs: what varies, both times, times as fast, verdict."""
    rows = [
        [
            claim.experiment,
            claim.subject,
            format_ns(change.before.value),
            format_ns(change.now.value),
            estimate_text(claim.figure),
            ": ".join(filter(None, (claim.relation, claim.reason))),
        ]
        for change, claim in pairs
    ]
    marks = [claim.relation.value for _, claim in pairs]
    columns = ("experiment", "of", "before", "now", "times as fast", "verdict")
    return Table(columns, rows, (2, 3, 4), marks, spare=(2, 3))


def markdown(table: Table) -> str:
    """A table as Markdown."""
    rule = ["---:" if at in table.numbers else "---" for at in range(len(table.columns))]
    lines = [
        [cell.replace("|", "\\|").replace("\n", " ") for cell in line]
        for line in (table.columns, rule, *table.rows)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def source_markdown(run: Run, link: str) -> str:
    """Where and when figures were measured, and by which command, with a link to the run."""
    return (
        f"Measured {run.plan.created[:10]}, {machine_text(run.machine)}; medians with 95 % "
        f"intervals: `{command_text(run)}`, [all rows]({link})."
    )


def _cell_text(planned: PlannedExperiment, axis: str, value: Value) -> str:
    is_unnamed = planned.names.get(str(value)) == ""
    return str(value) if is_unnamed else tick_text(axis, value, planned.names)


def _fact_names(reports: Sequence[ArmReport]) -> list[str]:
    """The names of facts, without the ends of their ranges and the reasons for what is missing."""
    names = dict.fromkeys(name for each in reports for name in each.facts)
    return [name for name in names if not name.endswith((LEAST, MOST, WHY_NONE))]


def _fact_text(report: ArmReport, name: str) -> str:
    found = fact(report, name)
    if isinstance(found, str):
        return "" if found == f"it has no {name}" else found
    return f"{format_signed(found.value)} {format_range(found)}".rstrip()


def _print_text(published: Published) -> str:
    """What a document prints: `12.5 MB/s`, `above 1`, `1.05, so above 1`."""
    value, unit = published.value, published.unit
    if unit == IN_WORDS:
        return unit
    if published.kind not in ONE_SIDED:
        return f"{format_printed(value)} {unit}".rstrip()
    return "above 1" if value == 1 else f"{format_printed(value)}, so above 1"


DIFFERENT = (Replication.DIFFERS, Replication.CONTRADICTED)
SUMMARY: Mapping[str, Sequence[Replication]] = {
    "agreed": (Replication.REPRODUCED,),
    "agreed, not\nindependent": (Replication.NOT_INDEPENDENT,),
    "different": (Replication.DIFFERS,),
    "contra-\ndicted": (Replication.CONTRADICTED,),
    "not\nsettled": (Replication.INCONCLUSIVE,),
    "not\njudged": (Replication.OTHER_MACHINE, Replication.NO_RESULT),
    "not\nhere": (Replication.UNTESTED,),
}
IN_SHORT = {
    Ledger.MEASURED: "measured",
    Ledger.MODELLED: "modelled",
    Ledger.ARITHMETIC: "its own arithmetic",
}
# Stands in the place of a unit where a document prints no number.
IN_WORDS = "in words"
ONE_SIDED = (Kind.SHAPE, Kind.READING)
