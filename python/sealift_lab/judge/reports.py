"""Reports of arms, merged over processes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from sealift_lab.judge.blocks import Place
from sealift_lab.model.results import ArmReport
from sealift_lab.model.run import PlannedExperiment, ReportLine
from sealift_lab.model.values import Value

Lines = Mapping[Place, Sequence[ReportLine]]
"""The reports of each arm in the order of time."""


def by_place(reports: Iterable[ReportLine]) -> Lines:
    """Puts the reports of each arm together."""
    return {place: tuple(of) for place, of in groupby(sorted(reports, key=_place), key=_place)}


def first_wrong(lines: Sequence[ReportLine]) -> str:
    """The first thing that an arm computed wrong, or ""."""
    return next((line.wrong for line in lines if line.wrong), "")


def merge_reports(
    planned: PlannedExperiment, lines: Lines, measured: Collection[Place]
) -> tuple[ArmReport, ...]:
    """A report of each planned arm, and of those that the time had no room for.

    An experiment of which nothing is known while others were begun was left out.
    """
    begun = {name for name, *_ in (*lines, *measured)}
    is_left_out = bool(begun) and planned.name not in begun
    reports = []
    for group, cells in enumerate(planned.groups):
        for arm, cell in enumerate(cells):
            place = (planned.name, group, arm)
            of = lines.get(place, ())
            skipped = "" if place in measured else _why_not(of)
            reports.append(
                ArmReport(planned.name, cell, _facts(of), skipped, first_wrong(of), is_left_out)
            )
    rest = (cell for cells in planned.left_out for cell in cells)
    left_out = [ArmReport(planned.name, cell, {}, LEFT_OUT, is_left_out=True) for cell in rest]
    return (*reports, *left_out)


def _place(line: ReportLine) -> Place:
    return line.experiment, line.group, line.arm


def _why_not(lines: Sequence[ReportLine]) -> str:
    if not lines:
        return NOT_REACHED
    return next((line.skipped for line in reversed(lines) if line.skipped), "")


def _facts(lines: Sequence[ReportLine]) -> Mapping[str, Value]:
    """Counts are added up; of the rest the last one holds."""
    facts: dict[str, Value] = {}
    for name, value in (item for line in lines for item in line.facts.items()):
        before = facts.get(name)
        if isinstance(value, int) and isinstance(before, int):
            value += before
        facts[name] = value
    return facts


NOT_REACHED = "the run ended before this was measured"
LEFT_OUT = "not run: the time that was given had no room for it"
