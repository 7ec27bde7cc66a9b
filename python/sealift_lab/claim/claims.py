"""What the rows and reports of an experiment, and a machine, let one say, as claims."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from sealift_lab.claim.words import name_of
from sealift_lab.model.claim import Claim, Relation
from sealift_lab.model.results import Estimate, Results, Row, Verdict
from sealift_lab.model.run import PlannedExperiment, Surroundings
from sealift_lab.model.units import rate_unit, scale_of
from sealift_lab.model.values import Value


def experiment_claims(planned: PlannedExperiment, results: Results) -> list[Claim]:
    """What one experiment lets one say: what is wrong, who wins from where, then row by row."""
    sound = [row for row in results.rows if not row.wrong]
    return [
        *wrong_results(planned, results),
        *wins(planned, sound),
        *(comparison(planned, row) for row in sound if row.verdict),
        *(rate(planned, row) for row in sound),
        *skipped(planned, results),
    ]


def comparison(planned: PlannedExperiment, row: Row) -> Claim:
    """A row that has a verdict, against its reference."""
    assert row.verdict is not None, "a reference is compared with nothing"
    relation = RELATIONS[row.verdict]
    return _of_row(planned, row, relation, row.reference, row.ratio, reason=row.reason)


def rate(planned: PlannedExperiment, row: Row) -> Claim:
    """How many operations a second a row does, in a scale that reads well."""
    found = row.operations_per_s
    step, prefix = scale_of(found.value)
    unit = f"{prefix}{rate_unit(planned.operation)}"
    return _of_row(planned, row, Relation.RATE, "", found.scaled(1 / step), unit)


def fastest(planned: PlannedExperiment, rows: Sequence[Row]) -> Claim | None:
    """Who is fastest in one group, or that this is open; None for a single arm.

    An arm is fastest where every other one was shown to be slower. Arms are the same where they
    were shown to be alike; what the samples could not settle is inconclusive.

    Args:
        planned: Names the arms.
        rows: Of the group, nothing computed wrong.
    """
    first, *others = sorted(rows, key=lambda row: row.time.value)
    if not others:
        return None
    winners = [row for row in rows if row.is_winner]
    if winners == [first]:
        reference = (row for row in others if row.subject == first.reference)
        other = next(reference, others[0])
        ratio = first.ratio if other.subject == first.reference else None
        ratio = ratio or (other.ratio.inverse() if other.ratio else None)
        return _of_row(planned, first, Relation.FASTEST, other.subject, ratio)
    other = next((row for row in winners if row is not first), others[0])
    alike = [row.verdict for row in winners]
    if None in alike and {*alike} <= {None, Verdict.SAME}:
        ratio = first.ratio or other.ratio
        return _of_row(planned, first, Relation.SAME, other.subject, ratio)
    why = next((row.reason for row in (first, *others) if row.reason), UNTOLD)
    return _of_row(planned, first, Relation.INCONCLUSIVE, other.subject, None, reason=why)


def wins(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[Claim]:
    """From which value to which one arm alone wins all work, along the axis of the first chart.

    A single value is left to the rows.

    Args:
        planned: Its first chart says along which axis; numbers only.
        rows: Nothing computed wrong.
    """
    axis = planned.charts[0].x if planned.charts else planned.compare
    places = sorted({x for row in rows if isinstance(x := row.cell.get(axis), int | float)})
    if len(places) < PLACES_MIN or axis == planned.compare:
        return
    unit = "B" if axis.endswith("bytes") else axis.replace("_", " ")
    owners = ((_owner([row for row in rows if row.cell[axis] == x]), x) for x in places)
    for owner, group in groupby(owners, key=lambda pair: pair[0]):
        along = [x for _, x in group]
        if owner is not None and len(along) > 1:
            span = Estimate(along[0], along[0], along[-1])
            name = name_of(owner, planned.names)
            yield Claim(name, Relation.WINS_FROM, "", span, unit, experiment=planned.name)


def wrong_results(planned: PlannedExperiment, results: Results) -> Iterator[Claim]:
    """The arms that computed something wrong, each once."""
    for subject, wrong in _reasons(planned, results, "wrong").items():
        yield Claim(subject, Relation.WRONG, reason=wrong, experiment=planned.name)


def skipped(planned: PlannedExperiment, results: Results) -> Iterator[Claim]:
    """The arms that were measured nowhere, each once, with the reason in short."""
    measured = {name_of(row.subject, planned.names) for row in results.rows}
    for subject, why in _reasons(planned, results, "skipped").items():
        if subject not in measured:
            reason = short_reason(why)
            yield Claim(subject, Relation.ABSENT, reason=reason, experiment=planned.name)


def absent_devices(machine: Surroundings, names: Mapping[str, str]) -> list[Claim]:
    """The devices that a machine lacks; one with settings is no other device.

    Args:
        machine: Its devices.
        names: Of devices, for readers.
    """
    return [
        Claim(name_of(each.spec, names), Relation.ABSENT, reason=short_reason(each.reason or ""))
        for each in machine.devices
        if each.state == "absent" and each.spec == each.driver
    ]


def short_reason(reason: str) -> str:
    """A reason without the system's words for it and what to do about it."""
    return reason.partition(" (")[0].partition(";")[0].partition(", ")[0]


def _owner(rows: Sequence[Row]) -> Value | None:
    """The arm that alone wins every group; None where there is none, or nothing to win."""
    owners = set()
    for _, group in groupby(rows, key=lambda row: row.group):
        arms = [*group]
        winners = [row.subject for row in arms if row.is_winner]
        owners.add(winners[0] if len(winners) == 1 < len(arms) else None)
    return owners.pop() if len(owners) == 1 else None


def _reasons(planned: PlannedExperiment, results: Results, field: str) -> dict[str, str]:
    """The first reason of each arm that has one in this field of its reports."""
    reasons: dict[str, str] = {}
    for report in results.reports:
        if (reason := getattr(report, field)) and not report.is_left_out:
            reasons.setdefault(name_of(report.cell[planned.compare], planned.names), reason)
    return reasons


def _of_row(
    planned: PlannedExperiment,
    row: Row,
    relation: Relation,
    other: Value,
    figure: Estimate | None,
    unit: str = "x",
    *,
    reason: str = "",
) -> Claim:
    return Claim(
        name_of(row.subject, planned.names),
        relation,
        name_of(other, planned.names),
        figure,
        unit,
        conditions=row.work,
        reason=reason,
        experiment=row.experiment,
    )


RELATIONS = {verdict: Relation(verdict.value) for verdict in Verdict}
UNTOLD = "several were not told apart"
# Fewer places along an axis make no "from ... to ...".
PLACES_MIN = 3
