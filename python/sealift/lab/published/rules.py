"""What a published figure claims and by what it is judged, in words: for page and terminal."""

from collections.abc import Callable, Collection, Iterator

from sealift.lab.published.comparison import (
    ALIKE,
    IN_WORDS,
    MODELLED,
    NEAR,
    Comparison,
    Kind,
)
from sealift.lab.result import Origin
from sealift.lab.stats import least_told


def claimed(each: Comparison, shown: Callable[[float], str]) -> str:
    """What a document prints: a value, `above 1`, `1.050, so above 1`, or "" for words alone.

    Args:
        each: The figure.
        shown: A value in digits.
    """
    if each.unit == IN_WORDS:
        return ""
    if each.kind not in ONE_SIDED:
        return shown(each.published)
    return "above 1" if each.published == 1 else f"{shown(each.published)}, so above 1"


def rules(comparisons: Collection[Comparison]) -> Iterator[str]:
    """By what these figures are judged, a sentence for each kind of rule."""
    kinds = {each.kind for each in comparisons}
    computed = [each for each in comparisons if each.origin is not Origin.MEASURED]
    if len(computed) < len(comparisons):
        yield MEASURED
    if kinds & {*MODELLED} - {Kind.LIMIT}:
        yield NUMBERS
    if Kind.LIMIT in kinds:
        yield LIMITS
    if kinds & {Kind.MODEL, Kind.OPEN}:
        yield POINTS
    if any(each.kind is Kind.SHAPE for each in computed):
        yield SHAPES
    if kinds & {Kind.GIVEN, Kind.BEYOND}:
        yield APART
    if any(each.here and each.here.low < each.here.high for each in computed):
        yield SEEDS


ONE_SIDED = (Kind.SHAPE, Kind.READING)
MEASURED = (
    "Absolute values come from other machines, so that nobody expects the same ones here; ratios "
    "should hold. A verdict needs the whole interval, and a margin for noise, on one side of its "
    "limits: a tenth more or less than was published, and for ratios and shapes 1. Counts are "
    "judged by the rounding of their print."
)
NUMBERS = (
    "A number that a model gives for the document's own machine is reproduced within "
    f"{100 * NEAR:.0f} % of what was published, and contradicted beyond."
)
LIMITS = (
    f"A limit that is projected is alike within {100 * NEAR:.0f} % of what was published, and "
    "contradicted beyond; nothing was measured of it, so that it reproduces nothing."
)
POINTS = (
    "A point of a table or a curve that is further off, by no more than "
    f"{100 * (ALIKE - 1):.0f} % of the smaller value, is reproduced in shape where each of its "
    "neighbours lies above or below it, or level with it, as published, with every seed; where "
    "seeds don't tell how they stand, it is not settled."
)
SHAPES = (
    "That something is more than something else is reproduced in shape where a model has it so by "
    f"more than {100 * least_told(0.0):.0f} %, and contradicted elsewhere."
)
APART = (
    "What was given to a model, fitted or as it was printed, is no result of it, and neither is "
    "what it leaves out: both are counted apart."
)
SEEDS = "Brackets of what is simulated reach from the least to the most that several seeds gave."
