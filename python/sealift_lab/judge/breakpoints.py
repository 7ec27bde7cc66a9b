"""Where a line bends: two segments that meet, fitted to it, and an interval for the place."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from sealift_lab.judge.intervals import Vector
from sealift_lab.judge.verdicts import SHOWN


@dataclass(frozen=True)
class Breakpoint:
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


def breakpoint_of(
    line: Sequence[tuple[float, float]], *, confidence: float = SHOWN
) -> Breakpoint | None:
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
    _check(line)
    x, y = np.log(np.array(sorted(line), np.float64)).T
    tried = _places(x)
    turns = np.maximum(0.0, x - tried[:, None])  # what a change of slope by 1 adds behind each
    straight, bent = _residual(x, y), _residual(x, turns)
    change = bent @ straight / (bent * bent).sum(axis=1)
    squares = np.maximum(0.0, straight @ straight - change * (bent @ straight))
    rounding, least = ROUNDING * float(y @ y), float(squares.min())
    best = int(np.argmax(squares <= least + rounding))  # of places that fit alike the first
    freedom = len(x) - PARAMETERS
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) ** 2 / freedom
    explained = float(straight @ straight) - least
    if explained <= reach * least + rounding or abs(change[best]) < SLOPE_LEAST:
        return None
    fitting = np.flatnonzero(squares <= least * (1 + reach) + rounding)
    before = float(np.polyfit(x, y - change[best] * turns[best], 1)[0])
    low = x[0] if fitting[0] == 0 else tried[fitting[0]]
    high = x[-1] if fitting[-1] == len(tried) - 1 else tried[fitting[-1]]
    at, low, high = np.exp([tried[best], low, high]).tolist()
    return Breakpoint(at, low, high, before, before + float(change[best]), len(x))


def _check(line: Sequence[tuple[float, float]]) -> None:
    for place, value in line:
        if not (0 < place < np.inf and 0 < value < np.inf):
            raise ValueError(f"a line with {value} at {place}; right would be both above 0, finite")
    if (count := len({place for place, _ in line})) < PLACES_LEAST:
        raise ValueError(f"{count} places of a line; two segments need {PLACES_LEAST} or more")


def _places(x: Vector) -> Vector:
    """Where the segments may meet: each has two places or more of its own."""
    inner = np.unique(x)[1:-1]
    steps = [np.linspace(low, high, STEPS, endpoint=False) for low, high in pairwise(inner)]
    return np.concatenate([*steps, inner[-1:]])


def _residual(x: Vector, y: Vector) -> Vector:
    """What a straight line through values leaves of them; one row of `y` a line."""
    apart = x - x.mean()
    mean = y.mean(axis=-1, keepdims=True)
    slope = ((y - mean) @ apart)[..., None] / (apart @ apart)
    residual: Vector = y - mean - slope * apart
    return residual


# A place, and a value and a slope on each side that meet there.
PARAMETERS = 4
PLACES_LEAST = 6
# A line that goes flat where it was in proportion changes its slope by 1.
SLOPE_LEAST = 0.2
# Between two neighbouring places.
STEPS = 64
# Of the sum of squares: what sums of floats are off by, at most.
ROUNDING = 1e-12
