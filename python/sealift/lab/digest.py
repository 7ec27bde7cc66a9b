"""What a run found, in a line for each experiment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift.lab import recall
from sealift.lab.finding import Finding, Kind, findings
from sealift.lab.gpus.shown import not_measured, titled
from sealift.lab.published import Match
from sealift.lab.result import Found, Row
from sealift.lab.stats import Verdict
from sealift.lab.store import PlannedExperiment, Run
from sealift.lab.table import value_text
from sealift.lab.units import format_measure, format_range, rate_unit
from sealift.lab.unsettled import alike_within, ratios_text, why_open


@dataclass(frozen=True)
class Digest:
    """One experiment of a run.

    Attributes:
        name: Of the experiment.
        id: The document's name for it, or "".
        said: What it found, in words.
    """

    name: str
    id: str
    said: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.name} ({self.id}): {self.said}" if self.id else f"{self.name}: {self.said}"


def digest(run: Run, found: Mapping[str, Found]) -> list[Digest]:
    """What each experiment of a run found.

    Args:
        run: Its plan names the experiments.
        found: From `summarise(run)`.
    """
    return [
        Digest(each.name, each.id, "; ".join(_parts(run, each, found[each.name])))
        for each in run.plan.experiments
    ]


def headline(run: Run, found: Mapping[str, Found]) -> str:
    """The answer of a run that asks where to encrypt nothing: what its first experiment found.

    A sentence of an experiment's own goes before the counts of those that have none. A run without
    experiments may have checked devices.
    """
    if not run.plan.experiments:
        return conformance(run) or "Nothing was measured."
    told = (_told(each, found[each.name]) for each in run.plan.experiments)
    first = run.plan.experiments[0]
    title = titled(first.title or first.name, found[first.name])
    counted = f"{title}: {_best(first, found[first.name])}."
    return next(filter(None, told), counted)


def _told(planned: PlannedExperiment, found: Found) -> str:
    """An experiment's sentence; of GPUs that were not measured that, before what is projected."""
    sentence = recall.sentence(planned, found)
    is_of_gpus = planned.name.startswith("gpu-")
    return (is_of_gpus and sentence and not_measured(found)) or sentence


def conformance(run: Run) -> str:
    """How many checks of the suite for devices passed and failed, in a sentence; "" for none."""
    by_device: dict[str, list[bool]] = {}
    for each in run.checks:
        by_device.setdefault(each.device, []).append(each.passed)
    told = "; ".join(
        f"{device} {sum(passed):,} checks passed, {passed.count(False) or 'none'} failed"
        for device, passed in by_device.items()
    )
    return told and f"Conformance: {told}."


def _parts(run: Run, planned: PlannedExperiment, found: Found) -> Iterator[str]:
    for each in found.verified:
        if each.wrong:
            yield f"WRONG RESULT of {each.cell[planned.compare]}: {each.wrong}"
            break
    if not found.rows and (planned.is_timed or not _is_computed(found)):
        yield f"not measured: {_why_not(found)}"
        return
    if told := recall.sentence(planned, found):
        yield told.removesuffix(".")
    if not planned.is_timed:
        yield f"{planned.origin.value}, not measured"
        yield from _published(run, planned, found)
        return
    yield from _found(planned, [row for row in found.rows if not row.wrong])
    skipped = dict.fromkeys(
        f"{each.cell[planned.compare]}"
        for each in found.verified
        if each.skipped and not each.left_out
    )
    if skipped:
        yield f"not measured: {', '.join(skipped)}"
    if planned.left_out:
        groups = len(planned.left_out) + len(planned.groups)
        yield (
            f"not run, budget: {len(planned.left_out)} of {groups} groups, for which --budget "
            f"{planned.budget_for_all_s} would have room"
        )
    yield from _published(run, planned, found)


def _published(run: Run, planned: PlannedExperiment, found: Found) -> Iterator[str]:
    published = recall.published(run, planned, found)
    counts = Counter(comparison.match for comparison in published.comparisons)
    if counts:
        told = ", ".join(f"{counts[match]} {match}" for match in Match if counts[match])
        yield f"published figures: {told}"
    if published.doubt:
        yield published.doubt


def _is_computed(found: Found) -> bool:
    return any(each.facts for each in found.verified)


def _best(planned: PlannedExperiment, found: Found) -> str:
    rows = [row for row in found.rows if not row.wrong]
    if not planned.is_timed and _is_computed(found):
        return f"{planned.origin.value}, not measured"
    if not rows:
        return f"not measured: {_why_not(found)}"
    if _is_counted(rows) or all(each.kind is Kind.ALONE for each in findings(rows)):
        return "measured, not compared"
    return "; ".join(_fastest(planned, rows))


def _why_not(found: Found) -> str:
    reasons = dict.fromkeys(
        each.skipped or each.wrong for each in found.verified if each.skipped or each.wrong
    )
    return "; ".join(reasons) or "no block of it was completed"


def _found(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    if rows and _is_counted(rows):
        yield ", ".join(_figures(planned, rows))
    else:
        yield from _fastest(planned, rows)


def _is_counted(rows: Sequence[Row]) -> bool:
    """Who is faster is asked of devices and other things with names; not of numbers of threads."""
    return all(not isinstance(row.subject, str) for row in rows)


def _figures(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    """Each row with what tells it from the others, its speed, and the interval of that."""
    telling = [name for name in rows[0].cell if len({row.cell[name] for row in rows}) > 1]
    for row in rows:
        place = " ".join(f"{name} {value_text(name, row.cell[name])}" for name in telling)
        speed, unit = row.payload_mb_per_s, "MB/s"
        if speed is None:
            speed, unit = row.operations_per_s, rate_unit(planned.operation)
        ends = format_range(speed.low, speed.high)
        yield f"{place}: {format_measure(speed.median)} {ends} {unit}".removeprefix(": ")


def _fastest(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    compared = [each for each in findings(rows) if each.kind is not Kind.ALONE]
    if not compared:
        yield f"{len(rows):,} {'cell' if len(rows) == 1 else 'cells'} measured"
        return
    total = f"{len(compared):,} {'comparison' if len(compared) == 1 else 'comparisons'}"
    won: dict[str, list[Finding]] = {}
    for each in compared:
        if each.winner:
            won.setdefault(each.winner, []).append(each)
    for winner, those in sorted(won.items(), key=lambda item: -len(item[1])):
        others = {each.devices[1] for each in those}
        over = next(iter(others)) if len(others) == 1 else "the next one compared with it"
        yield (
            f"{winner} is the fastest {planned.compare} in {len(those):,} of {total}, "
            f"{_times(those)} times as fast as {over}"
        )
    many = len({row.subject for row in rows}) > TOLD_MOST
    if lost := [each for each in compared if not each.winner]:
        reasons = ", ".join(_reasons(lost, ratios=not many))
        yield f"no winner in {len(lost):,} of {total}: {reasons}"
    if many:
        yield from _beside(compared)


def _reasons(lost: Sequence[Finding], *, ratios: bool) -> Iterator[str]:
    """Why nobody won, how often, and the ratios there are: `alike in 2 (cpu ...)`."""
    by_reason: dict[str, list[Finding]] = {}
    for each in lost:
        by_reason.setdefault(_reason(each), []).append(each)
    for reason, those in by_reason.items():
        told = f"{reason or alike_within(those)} in {len(those):,}"
        yield f"{told} ({ratios_text(those)})" if ratios else told


def _beside(compared: Sequence[Finding]) -> Iterator[str]:
    """How often each of many was faster or slower than what all are judged against."""
    by_reference: dict[str, dict[str, Counter[Verdict]]] = {}
    for row in (row for each in compared for row in each.rows):
        if verdict := row.verdict:
            subjects = by_reference.setdefault(str(row.reference), {})
            subjects.setdefault(str(row.subject), Counter())[verdict] += 1
    for reference, subjects in by_reference.items():
        told = [
            f"{name} {said}" for name, counts in subjects.items() if (said := _verdicts(counts))
        ]
        if told:
            yield f"judged against {reference}: {', '.join(told)}"


def _verdicts(counts: Counter[Verdict]) -> str:
    """`faster in 2 and slower in 1 of 9`; "" where none was either."""
    told = [f"{each.lower()} in {counts[each]:,}" for each in TOLD_VERDICTS if counts[each]]
    return f"{' and '.join(told)} of {counts.total():,}" if told else ""


def _reason(finding: Finding) -> str:
    """Why nobody won; "" where they are alike, which is told of all of them together."""
    return "" if finding.kind is Kind.SAME else why_open(finding)


def _times(won: Sequence[Finding]) -> str:
    medians = sorted(each.ratio.median for each in won if each.ratio)
    ends = dict.fromkeys(map(format_measure, (medians[0], medians[-1])))
    return " to ".join(ends)


# With more beside each other counts say more than their ratios.
TOLD_MOST = 4
TOLD_VERDICTS = (Verdict.FASTER, Verdict.SLOWER)
