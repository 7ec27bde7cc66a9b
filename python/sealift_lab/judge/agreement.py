"""Whether a figure of a run agrees with a published one, by what the published one is.

An interval counts as a whole: where it reaches over a limit, nothing is settled.
"""

import math
from collections.abc import Iterator

from sealift_lab.judge.verdicts import MARGIN, verdict
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Estimate, Origin, Relation, Verdict


def agreement(published: Published, here: Estimate | str) -> tuple[Relation, str]:
    """The relation of a figure of a run to a published one, with the reason where it needs one.

    Args:
        published: What was printed.
        here: The same of a run, in the unit of the print; or why the run doesn't have it.
    """
    kind = published.kind
    if kind in UNJUDGED:
        return Relation.UNTESTED, UNJUDGED[kind]
    if kind is Kind.ARITHMETIC:
        # What it is held against is printed, too.
        here = Estimate(published.value)
    if isinstance(here, str):
        return Relation.UNTESTED, here
    if here.low is None and here.reason:
        return Relation.INCONCLUSIVE, here.reason
    low, high = (here.value if end is None else end for end in (here.low, here.high))
    if kind in SHAPES and published.origin is Origin.MEASURED:
        return _shape(kind, here, low, high)
    for least, most, relation, reason in _regions(published):
        if least <= low and high <= most:
            return relation, reason
    return Relation.INCONCLUSIVE, "its interval reaches over a limit"


def _shape(kind: Kind, here: Estimate, low: float, high: float) -> tuple[Relation, str]:
    """By the judge's rule, as rows are: a difference under its margin is none."""
    if here.reason or low <= 0:
        return Relation.INCONCLUSIVE, here.reason or "its interval reaches to 0"
    below, _, _ = RELATIONS[kind]
    return {
        Verdict.FASTER: (Relation.HOLDS, ""),
        Verdict.SLOWER: (below, ""),
        Verdict.SAME: (Relation.DIFFERS, NO_EFFECT),
        Verdict.INCONCLUSIVE: (Relation.INCONCLUSIVE, "its interval reaches over 1"),
    }[verdict(math.log(here.value), (math.log(low), math.log(high)))]


def _regions(published: Published) -> Iterator[tuple[float, float, Relation, str]]:
    """From where to where which relation holds; the first that has the whole interval counts."""
    value, kind = published.value, published.kind
    below, inside, above = RELATIONS[kind]
    near, far = sorted(value * (1 + side * NEAR) for side in (-1, 1))
    least, most, is_clear = -math.inf, math.inf, False
    match kind:
        case Kind.RATIO:
            # Beyond these it lies on the other side of 1.
            least, most = (min(1.0, near), most) if value > 1 else (least, max(1.0, far))
            is_clear = near >= 1 + NEAR or far <= 1 - NEAR
        case Kind.SHAPE | Kind.READING:
            near = far = math.exp(MARGIN)
        case Kind.COUNT | Kind.ARITHMETIC:
            # Both are there: that is checked when they are made.
            near, far = published.low or 0.0, published.high or 0.0
            if kind is Kind.COUNT and not value:
                below = above = Relation.CONTRADICTED
        case Kind.VALUE if published.unit in TIMES:
            below, above = above, below
    yield near, far, inside, ""
    if kind is Kind.POINT:
        near, far = sorted((value / ALIKE, value * ALIKE))
        yield near, far, Relation.IN_SHAPE, ""
    if is_clear:
        # Less than the margin on either side of 1 is no side.
        yield math.exp(-MARGIN), math.exp(MARGIN), Relation.DIFFERS, NO_EFFECT
    if kind is Kind.RATIO:
        yield -math.inf, least, Relation.CONTRADICTED, ""
        yield most, math.inf, Relation.CONTRADICTED, ""
    yield least, near, below, ""
    yield far, most, above, ""
    if is_clear:
        # Last: what lies on one side of 1 as a whole was found above.
        yield 1 - NEAR, 1 + NEAR, Relation.DIFFERS, NO_EFFECT


# A tenth more or less is the same, on another machine and by a model.
NEAR = 0.10
# How far a point may be off whose table or curve has the document's shape there.
ALIKE = 1.5
NO_EFFECT = "no such effect here"
SHAPES = (Kind.SHAPE, Kind.READING)
# What holds for a figure below the print, near it and above it.
RELATIONS = {
    Kind.RATIO: (Relation.DIFFERS, Relation.REPRODUCED, Relation.DIFFERS),
    Kind.SHAPE: (Relation.CONTRADICTED, Relation.IN_SHAPE, Relation.IN_SHAPE),
    # No document claims what only a reading of it says.
    Kind.READING: (Relation.DIFFERS, Relation.HOLDS, Relation.HOLDS),
    Kind.SLOPE: (Relation.DIFFERS, Relation.REPRODUCED, Relation.DIFFERS),
    Kind.VALUE: (Relation.SLOWER, Relation.SAME, Relation.FASTER),
    Kind.COUNT: (Relation.DIFFERS, Relation.REPRODUCED, Relation.DIFFERS),
    Kind.NUMBER: (Relation.CONTRADICTED, Relation.REPRODUCED, Relation.CONTRADICTED),
    Kind.POINT: (Relation.CONTRADICTED, Relation.REPRODUCED, Relation.CONTRADICTED),
    Kind.LIMIT: (Relation.CONTRADICTED, Relation.SAME, Relation.CONTRADICTED),
    Kind.ARITHMETIC: (Relation.DIFFERS, Relation.REPRODUCED, Relation.DIFFERS),
}
UNJUDGED = {Kind.GIVEN: "given to the model", Kind.BEYOND: "beyond the model"}
# Units in which more is slower.
TIMES = {"ns", "µs", "us", "ms", "s", "min", "cycles", "cycles/B", "cycles a byte", "ns/B"}
