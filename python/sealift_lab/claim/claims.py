"""What rows, reports, a machine and an earlier run let one say, as claims; and a line of each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from sealift_lab.claim.declared import plans
from sealift_lab.claim.replication import Pair, Replication, count
from sealift_lab.claim.words import conditions, name_of, sentence, value_text, varied_axes
from sealift_lab.judge.rows import Change, changes
from sealift_lab.model.arm import Value
from sealift_lab.model.results import (
    Claim,
    Estimate,
    Ledger,
    Origin,
    Relation,
    Results,
    Row,
    Verdict,
)
from sealift_lab.model.run import PlannedExperiment, Surroundings
from sealift_lab.model.units import counted, format_number, rate_unit, scale_of
from sealift_lab.run.read_folder import Run


def experiment_claims(planned: PlannedExperiment, results: Results) -> list[Claim]:
    """What one experiment lets one say: what is wrong, who wins from where, then row by row.

    Last come the arms that were measured nowhere, each once, with the reason in short.
    """
    name, sound = planned.name, [row for row in results.rows if not row.wrong]
    measured = {value_text(planned.compare, row.subject, planned) for row in results.rows}
    wrong, skipped = (_reasons(planned, results, field) for field in ("wrong", "skipped"))
    return [
        *(Claim(arm, Relation.WRONG, reason=why, experiment=name) for arm, why in wrong.items()),
        *_wins(planned, sound),
        *(
            _of_row(planned, row, RELATIONS[row.verdict], row.reference, row.ratio, "x", row.reason)
            for row in sound
            if row.verdict
        ),
        *(rate(planned, row) for row in sound),
        *(
            Claim(arm, Relation.ABSENT, reason=short_reason(why), experiment=name)
            for arm, why in skipped.items()
            if arm not in measured
        ),
    ]


def rate(planned: PlannedExperiment, row: Row) -> Claim:
    """How many operations a second a row does, in a scale that reads well."""
    found = row.operations_per_s
    step, prefix = scale_of(found.value)
    unit = f"{prefix}{rate_unit(planned.operation)}"
    return _of_row(planned, row, Relation.RATE, "", found.scaled(1 / step), unit)


def fastest(planned: PlannedExperiment, rows: Sequence[Row]) -> Claim | None:
    """Which arm of a group is fastest, or that this is open; None for a single arm.

    An arm is fastest where every other one was shown to be slower. Arms are the same where they
    were shown to be alike; what the samples could not settle is inconclusive.
    """
    first, *others = sorted(rows, key=lambda row: row.time.value)
    if not others:
        return None
    winners = [row for row in rows if row.is_winner]
    if winners == [first]:
        other = next((row for row in others if row.subject == first.reference), others[0])
        ratio = first.ratio if other.subject == first.reference else None
        ratio = ratio or (other.ratio.inverse() if other.ratio else None)
        return _of_row(planned, first, Relation.FASTEST, other.subject, ratio)
    other = next((row for row in winners if row is not first), others[0])
    verdicts = {row.verdict for row in winners}
    if None in verdicts and verdicts <= {None, Verdict.SAME}:
        ratio = first.ratio or other.ratio
        return _of_row(planned, first, Relation.SAME, other.subject, ratio)
    why = next((row.reason for row in (first, *others) if row.reason), NOT_TOLD_APART)
    return _of_row(planned, first, Relation.INCONCLUSIVE, other.subject, None, reason=why)


def absent_devices(machine: Surroundings, planned: Iterable[PlannedExperiment]) -> list[Claim]:
    """The devices that a machine lacks; one with settings is no other device."""
    names = {key: name for each in planned for key, name in each.names.items()}
    return [
        Claim(name_of(each.spec, names), Relation.ABSENT, reason=short_reason(each.reason or ""))
        for each in machine.devices
        if each.state == "absent" and each.spec == each.driver
    ]


def short_reason(reason: str) -> str:
    """A reason without the system's words for it and what to do about it."""
    return reason.partition(" (")[0].partition(";")[0].partition(", ")[0]


def compare(before: Run, now: Run) -> tuple[list[tuple[Change, Claim]], list[str]]:
    """Compares cells of two runs that are equal in all axes; and what only one of the runs has.

    A difference is a reason to look, or to measure both once more, taking turns: two runs differ in
    more than the code.
    """
    axes = {each.name: (each, varied_axes(each)) for each in plans(now)}
    pairs = []
    for change in changes(before, now):
        planned, varied = axes[change.experiment]
        subject = conditions(change.cell, planned, varied) or planned.title
        ratio, relation = change.comparison.ratio, RELATIONS[change.comparison.verdict]
        of = (Ledger.MEASURED, change.cell, ratio.reason, change.experiment)
        pairs.append((change, Claim(subject, relation, "before", ratio, "x", *of)))
    earlier, later, notes = _cells(before), _cells(now), []
    for name, only in (("later", later - earlier), ("earlier", earlier - later)):
        if only:
            counts = Counter(experiment for experiment, _ in only).items()
            of_each = ", ".join(f"{many:,} of {each}" for each, many in counts)
            notes.append(f"not compared, because only the {name} run has them: {of_each}")
    return pairs, notes


def finding(planned: PlannedExperiment, results: Results, published: Sequence[Pair] = ()) -> str:
    """What one experiment found, in a line: who wins where, and how verdicts are counted."""
    parts = [*_parts(planned, results, published)] or ["Nothing was measured"]
    return f"{'. '.join(part[0].upper() + part[1:] for part in parts)}."


def _parts(
    planned: PlannedExperiment, results: Results, published: Sequence[Pair]
) -> Iterator[str]:
    claims = experiment_claims(planned, results)

    def of(*relations: Relation) -> list[Claim]:
        return [claim for claim in claims if claim.relation in relations]

    yield from map(sentence, [*of(Relation.WRONG), *of(Relation.WINS_FROM)[:WINS_MOST]])
    if compared := of(*RELATIONS.values()):
        ratios: dict[tuple[str, str], list[float]] = {}
        for claim in compared:
            if claim.figure and claim.relation is not Relation.INCONCLUSIVE:
                ratios.setdefault((claim.subject, claim.other), []).append(claim.figure.value)
        for (subject, other), values in ratios.items() if len(ratios) <= SPANS_MOST else ():
            ends = dict.fromkeys(format_number(each) for each in (min(values), max(values)))
            yield f"{subject}: {' to '.join(ends)}× {other}"
        yield _counted(Counter(claim.relation.value for claim in compared), "comparison")
    elif measured := of(Relation.RATE):
        yield f"{len(measured)} measured, nothing compared"
    elif not planned.is_timed and any(each.facts for each in results.reports):
        is_measured = planned.origin is Origin.MEASURED
        yield "Measured once" if is_measured else f"{planned.origin.capitalize()}, not measured"
    for (_, ledger), outcomes in count(published).items():
        if [*outcomes] == [Replication.UNTESTED]:
            yield f"{counted(sum(outcomes.values()), 'published figure')}, nothing to compare with"
        else:
            yield _counted(outcomes, "published figure", f", {ledger}")
    if absent := [claim.subject for claim in of(Relation.ABSENT)]:
        more = f" and {len(absent) - NAMES_MOST} more" if len(absent) > NAMES_MOST else ""
        yield f"Not measured: {', '.join(absent[:NAMES_MOST])}{more}"
    if left_out := len(planned.left_out):
        yield f"{left_out} of {left_out + len(planned.groups)} groups had no time"


def _wins(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[Claim]:
    """From which number to which one arm alone wins all work, along the axis of the first chart.

    A single value is left to the rows.
    """
    axis = planned.charts[0].x if planned.charts else planned.compare
    winners: dict[float, set[Value | None]] = {}
    for _, group in groupby(rows, key=lambda row: row.group):
        arms = [*group]
        won = [row.subject for row in arms if row.is_winner]
        if isinstance(x := arms[0].cell.get(axis), int | float):
            winners.setdefault(x, set()).add(won[0] if len(won) == 1 < len(arms) else None)
    if len(winners) < PLACES_MIN or axis == planned.compare:
        return
    unit = "B" if axis.endswith("bytes") else axis.replace("_", " ")
    for owners, places in groupby(sorted(winners), key=winners.__getitem__):
        along = [*places]
        if len(owners) == 1 and len(along) > 1 and (owner := next(iter(owners))) is not None:
            span = Estimate(along[0], along[0], along[-1])
            name = value_text(planned.compare, owner, planned)
            yield Claim(name, Relation.WINS_FROM, "", span, unit, experiment=planned.name)


def _counted(counts: Mapping[str, int], noun: str, more: str = "") -> str:
    """`25 comparisons: 20 faster, 5 same`; of one kind `25 comparisons: all faster`."""
    total = sum(counts.values())
    head = f"{counted(total, noun)}{more}"
    if len(counts) == 1:
        return f"{head}: {'all ' if total > 1 else ''}{next(iter(counts))}"
    return f"{head}: {', '.join(f'{many:,} {name}' for name, many in counts.items())}"


def _reasons(planned: PlannedExperiment, results: Results, field: str) -> dict[str, str]:
    """The first reason of each arm that has one in this field of its reports."""
    reasons: dict[str, str] = {}
    for report in results.reports:
        if (reason := getattr(report, field)) and not report.is_left_out:
            arm = value_text(planned.compare, report.cell[planned.compare], planned)
            reasons.setdefault(arm, reason)
    return reasons


def _cells(run: Run) -> set[tuple[str, frozenset[tuple[str, Value]]]]:
    """The cells that were measured."""
    planned = {each.name: each for each in run.plan.experiments}
    places = run.samples.select("experiment", "group", "arm").unique().iter_rows()
    return {(n, frozenset(planned[n].groups[group][arm].items())) for n, group, arm in places}


def _of_row(
    planned: PlannedExperiment,
    row: Row,
    relation: Relation,
    other: Value,
    figure: Estimate | None,
    unit: str = "x",
    reason: str = "",
) -> Claim:
    subject, beside = (value_text(planned.compare, each, planned) for each in (row.subject, other))
    of = (Ledger.MEASURED, row.work, reason, row.experiment)
    return Claim(subject, relation, beside, figure, unit, *of)


RELATIONS = {verdict: Relation(verdict.value) for verdict in Verdict}
NOT_TOLD_APART = "several were not told apart"
# Fewer places along an axis make no "from ... to ...".
PLACES_MIN = 3
WINS_MOST, SPANS_MOST, NAMES_MOST = 2, 2, 4
