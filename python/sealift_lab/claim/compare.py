"""A run beside an earlier one, cell by cell, as claims."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sealift_lab.claim.claims import RELATIONS
from sealift_lab.claim.declared import plans
from sealift_lab.claim.words import conditions, varied_axes
from sealift_lab.judge.runs import Change, changes
from sealift_lab.model.claim import Claim
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.run.folder import Run


@dataclass(frozen=True)
class Compared:
    """Two runs beside each other.

    Attributes:
        pairs: Each cell that both measured, with its claim.
        notes: What only one of them has.
    """

    pairs: Sequence[tuple[Change, Claim]]
    notes: Sequence[str]


def compare(before: Run, now: Run) -> Compared:
    """Compares cells that are equal in all axes, those of the later run in its order.

    A difference is a reason to look, or to measure both once more, taking turns: two runs differ in
    more than the code.

    Args:
        before: What is compared with.
        now: What is judged.
    """
    planned = {each.name: each for each in plans(now)}
    pairs = [(each, _claim(planned[each.experiment], each)) for each in changes(before, now)]
    return Compared(pairs, [*_notes(before, now)])


def _claim(planned: PlannedExperiment, change: Change) -> Claim:
    found = change.comparison
    return Claim(
        conditions(change.cell, planned, varied_axes(planned)) or planned.title,
        RELATIONS[found.verdict],
        "before",
        found.ratio,
        "x",
        conditions=change.cell,
        reason=found.ratio.reason,
        experiment=planned.name,
    )


def _notes(before: Run, now: Run) -> Iterator[str]:
    earlier, later = _cells(before), _cells(now)
    for name, only in (("later", later - earlier), ("earlier", earlier - later)):
        if only:
            of = ", ".join(
                f"{many:,} of {each}" for each, many in Counter(n for n, _ in only).items()
            )
            yield f"not compared, because only the {name} run has them: {of}"


def _cells(run: Run) -> set[tuple[str, frozenset[tuple[str, object]]]]:
    """The cells that were measured."""
    planned = {each.name: each for each in run.plan.experiments}
    places = run.samples.select("experiment", "group", "arm").unique().iter_rows()
    return {(n, frozenset(planned[n].groups[group][arm].items())) for n, group, arm in places}
