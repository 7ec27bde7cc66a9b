"""What to make of a run in which nothing was timed: how it was computed, and how far it agrees."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sealift.lab.published import UNJUDGED, Comparison, Match
from sealift.lab.report.markup import Html, tag
from sealift.lab.report.material import Material
from sealift.lab.report.words import counted, unique
from sealift.lab.result import Origin


def tiles(material: Material) -> Html:
    """Four figures: what was computed, how far it agrees, what it was given, and the seed."""
    every = [each for shown in material.shown for each in shown.comparisons]
    made = (_cells(material), agreement(every), _given(every), _seed(material))
    return tag("section", *made, class_="tiles", aria_label="What this run stands on")


def method(material: Material) -> Iterator[str]:
    """How computed figures of the run come about, each sentence once."""
    if not any(shown.computed for shown in material.shown):
        return
    yield COMPUTED
    yield from unique(each for shown in material.shown for each in shown.stands_on)


def _cells(material: Material) -> Html:
    counts: Counter[Origin] = Counter()
    for shown in material.shown:
        counts[shown.experiment.origin] += len(shown.computed)
    told = [f"{count:,} {origin.value}" for origin, count in counts.items() if count]
    note = f"{', '.join(told) or 'none'}; none measured, and no clock of this machine shows in them"
    return _tile("cells", "Cells computed", f"{counts.total():,}", note)


def agreement(every: Sequence[Comparison]) -> Html:
    """How much of what was published comes out, without what numbers were fitted to."""
    name = "Published figures that come out"
    judged = [each for each in every if each.kind not in UNJUDGED and each.here]
    if not judged:
        return _tile("agreement", name, "none", "nothing of it stands beside what was published")
    free = [each for each in judged if not each.is_fitted_to]
    agreeing = [each for each in free if each.match in AGREEING]
    counts = Counter(each.match.value for each in free if each.match not in AGREEING)
    told = ["numbers within a tenth, claims and curves in shape"] if free else []
    told += [f"{count:,} {said}" for said, count in counts.items()]
    told += _fitted_to([each for each in judged if each.is_fitted_to])
    if not free:
        return _tile("agreement", name, "none", "; ".join(told))
    colour = "good" if len(agreeing) == len(free) else "plain"
    return _tile("agreement", name, f"{len(agreeing):,} of {len(free):,}", "; ".join(told), colour)


def _fitted_to(every: Sequence[Comparison]) -> list[str]:
    """What comes out of tables that numbers were fitted to, which tells of the fit."""
    if not every:
        return []
    agreeing = sum(each.match in AGREEING for each in every)
    told = (
        f"{agreeing:,} of {len(every):,} cells of tables that numbers were fitted to come out too"
    )
    return [f"{told}: that is the fit, and counted apart"]


def _given(every: Sequence[Comparison]) -> Html:
    count = sum(each.match is Match.GIVEN for each in every)
    note = "published figures that a model was fitted to or given; no result of it, counted apart"
    return _tile("given", "Given to the model", f"{count:,}" if count else "none", note)


def _seed(material: Material) -> Html:
    planned = material.run.plan.experiments
    told = counted(len(planned), "experiment", "experiments")
    note = f"of all that is drawn, in {told}; the method below says where nothing is"
    return _tile("seed", "Seed", f"{material.run.plan.seed:,}", note)


def _tile(place: str, name: str, value: str, note: str, colour: str = "plain") -> Html:
    inside = (
        tag("h2", name),
        tag("p", value, class_="value"),
        tag("p", note, class_="muted"),
    )
    return tag("div", *inside, class_=f"tile {colour}", id=f"tile-{place}")


AGREEING = (Match.REPRODUCED, Match.HOLDS, Match.IN_SHAPE)
COMPUTED = (
    "What is computed is not timed: each cell is computed once, and comes out the same on every "
    "machine with the same version and seed."
)
