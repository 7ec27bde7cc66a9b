"""Lines through measurements: what batches cost, where a line bends, and where two cross."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from sealift_lab.judge.intervals import Vector
from sealift_lab.judge.verdicts import SHOWN, verdict
from sealift_lab.model.results import Estimate, Verdict


@dataclass(frozen=True)
class BatchTime:
    """The time of one batch: `messages` of `message_bytes` on average, in `batch_ns`."""

    messages: int
    message_bytes: float
    batch_ns: float


@dataclass(frozen=True)
class CostLine:
    """Predicted time = fixed cost + cost per message + cost per byte.

    Attributes:
        worst_share: By how much it is off the batch that it fits worst; 0.1 is 10 %.
    """

    setup_ns: float
    per_message_ns: float
    per_byte_ns: float
    worst_share: float = 0.0

    def batch_ns(self, messages: int, message_bytes: float) -> float:
        """Predicted time of a batch."""
        return self.setup_ns + messages * (self.per_message_ns + self.per_byte_ns * message_bytes)

    def through(self, point: BatchTime) -> "CostLine":
        """The same line, scaled so that it meets a measured batch."""
        factor = point.batch_ns / self.batch_ns(point.messages, point.message_bytes)
        return replace(
            self,
            setup_ns=factor * self.setup_ns,
            per_message_ns=factor * self.per_message_ns,
            per_byte_ns=factor * self.per_byte_ns,
        )


def fit(points: Sequence[BatchTime]) -> CostLine:
    """Fits the line by least squares of relative errors, none of its three parts below 0.

    Relative, so that batches of a microsecond count as much as those of a millisecond.
    """
    from scipy.optimize import nnls  # type: ignore[import-untyped]  # takes 0.4 s

    shares = np.array(
        [(1.0, each.messages, each.messages * each.message_bytes) for each in points]
    ) / np.array([[each.batch_ns] for each in points])
    # NNLS compares columns with each other, so they must be alike in size.
    scale = np.maximum(shares.max(axis=0), np.finfo(np.float64).tiny)
    parts, _ = nnls(shares / scale, np.ones(len(points)))
    worst = float(np.abs(shares / scale @ parts - 1).max())
    setup, message, byte = (parts / scale).tolist()
    return CostLine(setup, message, byte, worst)


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
    for place, value in line:
        if not (0 < place < np.inf and 0 < value < np.inf):
            raise ValueError(f"a line with {value} at {place}; right would be both above 0, finite")
    if (count := len({place for place, _ in line})) < PLACES_LEAST:
        raise ValueError(f"{count} places of a line; two segments need {PLACES_LEAST} or more")
    x, y = np.log(np.array(sorted(line), np.float64)).T
    # The segments may meet where each has two places or more of its own.
    inner = np.unique(x)[1:-1]
    steps = [np.linspace(low, high, STEPS, endpoint=False) for low, high in pairwise(inner)]
    tried = np.concatenate([*steps, inner[-1:]])
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


def _residual(x: Vector, y: Vector) -> Vector:
    """What a straight line through values leaves of them; one row of `y` a line."""
    apart = x - x.mean()
    mean = y.mean(axis=-1, keepdims=True)
    slope = ((y - mean) @ apart)[..., None] / (apart @ apart)
    residual: Vector = y - mean - slope * apart
    return residual


def verdicts_of_models(
    one_ns: Callable[[float], float],
    other_ns: Callable[[float], float],
    places: Sequence[float],
    error: float = 0.0,
) -> dict[float, Verdict]:
    """Judges one device against another at some places, by times that models give.

    Args:
        one_ns: Time of the one device at a place.
        other_ns: Time of the other one.
        places: Where they are compared.
        error: Share by which the worse of both models is off.
    """
    half = float(np.log1p(error))
    logs = {at: float(np.log(other_ns(at) / one_ns(at))) for at in sorted(places)}
    return {at: verdict(log, (log - half, log + half)) for at, log in logs.items()}


def stretches(verdicts: Mapping[float, Verdict]) -> list[tuple[Verdict, float, float]]:
    """Neighbouring places with one verdict: the verdict, the first place and the last."""
    by_verdict = groupby(sorted(verdicts), key=verdicts.__getitem__)
    parts = [(each, list(places)) for each, places in by_verdict]
    return [(each, places[0], places[-1]) for each, places in parts]


@dataclass(frozen=True)
class BreakEven:
    """How many messages a batch needs so that a device of exact times is done earlier.

    Attributes:
        messages: By the measured time; None for never.
        fewest: By the upper end of its interval.
        most: By the lower end; None for never.
    """

    messages: int | None
    fewest: int | None
    most: int | None


def break_even(message_ns: Callable[[int], float], time: Estimate, messages_most: int) -> BreakEven:
    """From how many messages a batch takes less a message than a device that was measured.

    The measured time stands for batches of every length; short ones cost a little more.

    Args:
        message_ns: Exact time a message in a batch of so many; it falls with their number.
        time: Measured, nanoseconds a message.
        messages_most: The longest batch that is tried; it stands for all longer ones.
    """

    def least(ns: float) -> int | None:
        # By doubling and then by halves.
        high = 1
        while message_ns(high) >= ns:
            if high >= messages_most:
                return None
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if message_ns(middle) >= ns else (low, middle)
        return high

    return BreakEven(*map(least, (time.value, time.high or time.value, time.low or time.value)))


# A place, and a value and a slope on each side that meet there.
PARAMETERS = 4
PLACES_LEAST = 6
# A line that goes flat where it was in proportion changes its slope by 1.
SLOPE_LEAST = 0.2
# Between two neighbouring places.
STEPS = 64
# Of the sum of squares: what sums of floats are off by, at most.
ROUNDING = 1e-12
