"""A published figure beside the same of a run: by its kind it becomes a claim."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sealift_lab.claim.evaluate import Ratio, evaluate
from sealift_lab.judge.verdicts import MARGIN, verdict
from sealift_lab.model.claim import Claim, Relation
from sealift_lab.model.published import Kind, Ledger, Published
from sealift_lab.model.results import Estimate, Origin, Results, Verdict


class Outcome(StrEnum):
    """What is counted of published figures; only independent evidence counts as reproduced."""

    REPRODUCED = "reproduced"
    NOT_INDEPENDENT = "agree, not independent"
    CONTRADICTED = "contradicted"
    DIFFERS = "differ"
    OTHER_MACHINE = "values of other machines"
    INCONCLUSIVE = "not settled"
    UNTESTED = "not tested"


@dataclass(frozen=True)
class Count:
    """How many published figures of one document have which outcome, within one ledger.

    Attributes:
        document: Its number, as `003`.
        ledger: Where they are counted; ledgers are never added up.
        outcomes: How many there are of each.
    """

    document: str
    ledger: Ledger
    outcomes: Mapping[Outcome, int]


Pair = tuple[Published, Claim]


def compare_published(
    figures: Sequence[Published], results: Results, ratio: Ratio, experiment: str
) -> list[Pair]:
    """Each published figure of an experiment with the claim that follows from a run."""
    return [
        (each, published_claim(each, evaluate(each.here, results, ratio), experiment))
        for each in figures
    ]


def published_claim(published: Published, here: Estimate | str, experiment: str = "") -> Claim:
    """The claim on one published figure.

    Args:
        published: As printed.
        here: The same from a run, in the same unit, or why there is none.
        experiment: Name of the experiment.
    """
    relation, reason = _relation(published, here)
    return Claim(
        published.what,
        relation,
        published.figure,
        None if isinstance(here, str) else here,
        published.unit,
        published.ledger,
        reason=reason,
        experiment=experiment,
        published=published.value,
        is_independent=not published.is_fitted and published.kind not in NO_EVIDENCE,
    )


def outcome(claim: Claim) -> Outcome:
    """As what a claim on a published figure is counted."""
    if claim.relation in AGREES:
        return Outcome.REPRODUCED if claim.is_independent else Outcome.NOT_INDEPENDENT
    if claim.relation is Relation.SAME and not claim.is_independent:
        return Outcome.NOT_INDEPENDENT
    return OUTCOMES.get(claim.relation, Outcome.OTHER_MACHINE)


def count(pairs: Sequence[Pair]) -> list[Count]:
    """Counts by document and ledger, in the order of documents and of ledgers."""
    counts: dict[tuple[str, Ledger], Counter[Outcome]] = {}
    for published, claim in pairs:
        document = published.figure.partition("-")[0]
        counts.setdefault((document, claim.ledger), Counter())[outcome(claim)] += 1
    order = sorted(counts, key=lambda key: (key[0], list(Ledger).index(key[1])))
    return [Count(*key, {o: n for o in Outcome if (n := counts[key][o])}) for key in order]


def _relation(published: Published, here: Estimate | str) -> tuple[Relation, str]:
    if published.kind in UNJUDGED:
        return Relation.UNTESTED, UNJUDGED[published.kind]
    if published.kind is Kind.ARITHMETIC:
        low, high = _span(published)
        agrees = low <= published.value <= high
        return Relation.REPRODUCED if agrees else Relation.CONTRADICTED, ""
    if isinstance(here, str):
        return Relation.UNTESTED, here
    if here.low is None and here.reason:
        return Relation.INCONCLUSIVE, here.reason
    low = here.value if here.low is None else here.low
    high = here.value if here.high is None else here.high
    if published.kind in SHAPES and published.origin is Origin.MEASURED:
        return _shape(published, here, low, high)
    for least, most, relation, reason in _regions(published):
        if least <= low and high <= most:
            return relation, reason
    return Relation.INCONCLUSIVE, "its interval reaches over a limit"


def _shape(published: Published, here: Estimate, low: float, high: float) -> tuple[Relation, str]:
    """By the judge's rule, as rows are: a difference under its margin is none."""
    if here.reason:
        return Relation.INCONCLUSIVE, here.reason
    if low <= 0:
        return Relation.INCONCLUSIVE, "its interval reaches to 0"
    match verdict(math.log(here.value), (math.log(low), math.log(high))):
        case Verdict.FASTER:
            return Relation.HOLDS, ""
        case Verdict.SLOWER if published.kind is Kind.READING:
            return Relation.DIFFERS, ""
        case Verdict.SLOWER:
            return Relation.CONTRADICTED, ""
        case Verdict.SAME:
            return Relation.DIFFERS, NO_EFFECT
    return Relation.INCONCLUSIVE, "its interval reaches over 1"


Region = tuple[float, float, Relation, str]


def _regions(published: Published) -> Iterator[Region]:
    """From where to where which relation holds; the first that has the whole interval counts."""
    near, far = sorted(published.value * (1 + side * NEAR) for side in (-1, 1))
    match published.kind:
        case Kind.SHAPE | Kind.READING as kind:
            margin = math.exp(MARGIN)
            # No document claims what only a reading of it says.
            ends = READ if kind is Kind.READING else SHAPED
            yield from _outside(margin, margin, *ends)
        case Kind.RATIO:
            yield from _ratio(published.value, near, far)
        case Kind.SLOPE:
            yield near, far, Relation.REPRODUCED, ""
            yield from _outside(near, far, Relation.DIFFERS, Relation.DIFFERS)
        case Kind.VALUE:
            yield near, far, Relation.SAME, ""
            ends = (Relation.SLOWER, Relation.FASTER)
            yield from _outside(near, far, *(ends[::-1] if published.unit in TIMES else ends))
        case Kind.COUNT:
            low, high = _span(published)
            yield low, high, Relation.REPRODUCED, ""
            beyond = Relation.DIFFERS if published.value else Relation.CONTRADICTED
            yield from _outside(low, high, beyond, beyond)
        case _:
            yield from _number(published, near, far)


def _ratio(value: float, near: float, far: float) -> Iterator[Region]:
    """On the other side of 1 it is contradicted; about 1 there is no such effect."""
    yield near, far, Relation.REPRODUCED, ""
    if near >= 1 + NEAR or far <= 1 - NEAR:
        # Less than the margin on either side of 1 is no side.
        yield math.exp(-MARGIN), math.exp(MARGIN), Relation.DIFFERS, NO_EFFECT
    if value > 1:
        side = min(1.0, near)
        yield -math.inf, side, Relation.CONTRADICTED, ""
        yield side, near, Relation.DIFFERS, ""
        yield far, math.inf, Relation.DIFFERS, ""
    else:
        side = max(1.0, far)
        yield side, math.inf, Relation.CONTRADICTED, ""
        yield far, side, Relation.DIFFERS, ""
        yield -math.inf, near, Relation.DIFFERS, ""
    if near >= 1 + NEAR or far <= 1 - NEAR:
        # Last: what lies on one side of 1 as a whole was found above.
        yield 1 - NEAR, 1 + NEAR, Relation.DIFFERS, NO_EFFECT


def _number(published: Published, near: float, far: float) -> Iterator[Region]:
    """What a model gives: the same number is expected, of a point at least its place."""
    is_limit = published.kind is Kind.LIMIT
    yield near, far, Relation.SAME if is_limit else Relation.REPRODUCED, ""
    if published.kind is Kind.POINT:
        near, far = sorted((published.value / ALIKE, published.value * ALIKE))
        yield near, far, Relation.IN_SHAPE, ""
    yield from _outside(near, far, Relation.CONTRADICTED, Relation.CONTRADICTED)


def _span(published: Published) -> tuple[float, float]:
    """Of a count or of arithmetic: what rounds to the print, or follows from other prints."""
    low, high = published.low, published.high
    assert low is not None, "checked when it was made"
    assert high is not None, "checked when it was made"
    return low, high


def _outside(low: float, high: float, below: Relation, above: Relation) -> Iterator[Region]:
    yield -math.inf, low, below, ""
    yield high, math.inf, above, ""


# A tenth more or less is the same, on another machine and by a model.
NEAR = 0.10
# How far a point may be off whose table or curve has the document's shape there.
ALIKE = 1.5
NO_EFFECT = "no such effect here"
SHAPES = (Kind.SHAPE, Kind.READING)
SHAPED = (Relation.CONTRADICTED, Relation.IN_SHAPE)
READ = (Relation.DIFFERS, Relation.HOLDS)
UNJUDGED = {Kind.GIVEN: "given to the model", Kind.BEYOND: "beyond the model"}
# Agreement of these is no evidence: projected, put in, read into a sentence, or print alone.
NO_EVIDENCE = (Kind.LIMIT, Kind.GIVEN, Kind.BEYOND, Kind.READING, Kind.ARITHMETIC)
AGREES = (Relation.REPRODUCED, Relation.IN_SHAPE, Relation.HOLDS)
OUTCOMES = {
    Relation.CONTRADICTED: Outcome.CONTRADICTED,
    Relation.DIFFERS: Outcome.DIFFERS,
    Relation.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Relation.UNTESTED: Outcome.UNTESTED,
}
# Units in which more is slower.
TIMES = {"ns", "µs", "us", "ms", "s", "min", "cycles", "cycles/B", "cycles a byte", "ns/B"}
