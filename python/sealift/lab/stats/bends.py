"""Where a line bends: two straight segments that meet, with an interval for the place."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sealift.lab.stats.intervals import SHOWN_CONFIDENCE
from sealift.lab.stats.series import check_confidence
from sealift.lab.stats.student import quantile

Vector = Sequence[float]


@dataclass(frozen=True)
class Bend:
    """Where two segments meet.

    Attributes:
        at: The place that fits best.
        low: Lower end of its interval; the first place where it reaches the second.
        high: Upper end; the last place where it reaches the last but one.
        before: Slope of the first segment, in logarithms of both: 1 is in proportion, 0 is flat.
        after: Slope of the second.
        points: How many places the line has.
    """

    at: float
    low: float
    high: float
    before: float
    after: float
    points: int


def bend(
    line: Sequence[tuple[float, float]], *, confidence: float = SHOWN_CONFIDENCE
) -> Bend | None:
    """Two segments that meet, fitted to a line by least squares in logarithms of both.

    In logarithms what grows in proportion has a slope of 1 and errors are shares. The interval
    holds every place where the segments could meet and fit hardly worse: by as much as Student's
    t allows, with as many degrees of freedom as there are places over the fit's four numbers.

    Args:
        line: Places and values, all above 0, in any order.
        confidence: Nominal coverage of the interval.

    Returns:
        None where one straight line does as well, or the slopes differ by less than `SLOPE_LEAST`.

    Raises:
        ValueError: If there are fewer than `PLACES_LEAST` different places, or one is not above 0.
    """
    check_confidence(confidence)
    _check(line)
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in sorted(line)), strict=True)
    freedom = len(xs) - PARAMETERS
    reach = quantile((1 - confidence) / 2, freedom) ** 2 / freedom
    straight = _rest(ys, xs)
    tried = [(_squares(straight, xs, place), place) for place in _places(xs)]
    # Of places that fit alike but for rounding the first.
    rounding = ROUNDING * _dot(ys, ys)
    least = min(squares for squares, _ in tried)
    best = next(place for squares, place in tried if squares <= least + rounding)
    before, after = _slopes(xs, ys, best)
    explained = _dot(straight, straight) - least
    if explained <= reach * least + rounding or abs(before - after) < SLOPE_LEAST:
        return None
    fitting = [place for squares, place in tried if squares <= least * (1 + reach) + rounding]
    known = [place for _, place in tried]
    low = xs[0] if fitting[0] == known[0] else fitting[0]
    high = xs[-1] if fitting[-1] == known[-1] else fitting[-1]
    return Bend(math.exp(best), math.exp(low), math.exp(high), before, after, len(xs))


def _check(line: Sequence[tuple[float, float]]) -> None:
    for place, value in line:
        if not (0 < place < math.inf and 0 < value < math.inf):
            raise ValueError(f"a line with {value} at {place}: both must be above 0 and finite")
    if (count := len({place for place, _ in line})) < PLACES_LEAST:
        raise ValueError(f"{count} places of a line; two segments need {PLACES_LEAST} or more")


def _places(xs: Vector) -> Iterator[float]:
    """Where the segments may meet: each has two places or more of its own."""
    inner = sorted(set(xs))[1:-1]
    for low, high in pairwise(inner):
        yield from (low + (high - low) * step / STEPS for step in range(STEPS))
    yield inner[-1]


def _squares(straight: Vector, xs: Vector, place: float) -> float:
    """What is left of a line, squared, when it may bend at a place."""
    turn = _rest(_turn(xs, place), xs)
    return max(0.0, _dot(straight, straight) - _dot(straight, turn) ** 2 / _dot(turn, turn))


def _slopes(xs: Vector, ys: Vector, place: float) -> tuple[float, float]:
    turn = _turn(xs, place)
    left = _rest(turn, xs)
    change = _dot(_rest(ys, xs), left) / _dot(left, left)
    before = _slope(xs, [y - change * each for y, each in zip(ys, turn, strict=True)])
    return before, before + change


def _turn(xs: Vector, place: float) -> list[float]:
    """What a change of slope by 1 adds behind a place."""
    return [max(0.0, x - place) for x in xs]


def _rest(values: Vector, xs: Vector) -> list[float]:
    """What a straight line through values leaves of them."""
    slope, x_mean, mean = _slope(xs, values), _mean(xs), _mean(values)
    return [y - mean - slope * (x - x_mean) for x, y in zip(xs, values, strict=True)]


def _slope(xs: Vector, ys: Vector) -> float:
    mean = _mean(xs)
    apart = [x - mean for x in xs]
    return _dot(apart, ys) / _dot(apart, apart)


def _mean(values: Vector) -> float:
    return math.fsum(values) / len(values)


def _dot(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


# A place, and a value and a slope on each side that meet there.
PARAMETERS = 4
PLACES_LEAST = 6
# A line that goes flat where it was in proportion changes its slope by 1.
SLOPE_LEAST = 0.2
# Between two neighbouring places.
STEPS = 64
# Of the sum of squares: what sums of floats are off by, at most.
ROUNDING = 1e-12
