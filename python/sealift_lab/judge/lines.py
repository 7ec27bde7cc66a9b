"""Lines through measurements: what batches cost, where a line bends, and where two cross."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from sealift_lab.judge.intervals import SHOWN
from sealift_lab.judge.verdicts import verdict
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

    It is off the batch that it fits worst by `worst_share`; 0.1 is 10 %.
    """

    setup_ns: float
    per_message_ns: float
    per_byte_ns: float
    worst_share: float = 0.0

    def batch_ns(self, messages: int, message_bytes: float) -> float:
        """Predicted time of a batch."""
        return self.setup_ns + messages * (self.per_message_ns + self.per_byte_ns * message_bytes)


def fit(points: Sequence[BatchTime]) -> CostLine:
    """Fits the line by least squares of relative errors, none of its three parts below 0.

    Relative, so that batches of a microsecond count as much as those of a millisecond.
    """
    from scipy.optimize import nnls  # type: ignore[import-untyped]  # takes 0.4 s

    of = [(each.messages, each.message_bytes, each.batch_ns) for each in points]
    shares = np.array([(1 / ns, n / ns, n * size / ns) for n, size, ns in of])
    # NNLS compares columns with each other, so they must be alike in size.
    scale = np.maximum(shares.max(axis=0), np.finfo(np.float64).tiny)
    parts, _ = nnls(shares / scale, np.ones(len(points)))
    setup, message, byte = (parts / scale).tolist()
    return CostLine(setup, message, byte, float(np.abs(shares / scale @ parts - 1).max()))


def breakpoint_of(
    line: Sequence[tuple[float, float]], *, confidence: float = SHOWN
) -> Estimate | None:
    """Where two segments meet that are fitted to a line by least squares in logarithms of both.

    In logarithms what grows in proportion has a slope of 1 and errors are shares. The interval
    holds every place where the segments could meet and fit hardly worse: by as much as Student's
    t allows, with as many degrees of freedom as there are places over the fit's four numbers; it
    ends at the line's own end where that is a place away. None where one straight line does as
    well, or the slopes differ by less than `SLOPE_LEAST`.
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

    def fitted(turn: float) -> tuple[float, float]:
        """The sum of squares, and by how much the slope changes at the turn."""
        terms = np.column_stack([np.ones_like(x), x, np.maximum(0.0, x - turn)])
        parts, *_ = np.linalg.lstsq(terms, y, rcond=None)
        residual = y - terms @ parts
        return float(residual @ residual), float(parts[2])

    squares, change = np.array([fitted(turn) for turn in tried]).T
    straight, _ = fitted(x[-1])
    rounding, least = ROUNDING * float(y @ y), float(squares.min())
    best = int(np.argmax(squares <= least + rounding))  # of places that fit alike the first
    freedom = len(x) - PARAMETERS
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) ** 2 / freedom
    if straight - least <= reach * least + rounding or abs(change[best]) < SLOPE_LEAST:
        return None
    fitting = np.flatnonzero(squares <= least * (1 + reach) + rounding)
    low = x[0] if fitting[0] == 0 else tried[fitting[0]]
    high = x[-1] if fitting[-1] == len(tried) - 1 else tried[fitting[-1]]
    return Estimate(*np.exp([tried[best], low, high]).tolist())


def stretches(
    one_ns: Callable[[float], float],
    other_ns: Callable[[float], float],
    places: Sequence[float],
    error: float = 0.0,
) -> list[tuple[Verdict, float, float]]:
    """Judges one device against another at places, by times that models give.

    The worse of both models is off by the share `error`.

    Returns:
        Neighbouring places with one verdict: the verdict, the first place and the last.
    """
    half = float(np.log1p(error))
    logs = {at: float(np.log(other_ns(at) / one_ns(at))) for at in sorted(places)}
    by_verdict = groupby(logs, lambda at: verdict(logs[at], (logs[at] - half, logs[at] + half)))
    return [(each, (of := [*same])[0], of[-1]) for each, same in by_verdict]


@dataclass(frozen=True)
class BreakEven:
    """How many messages a batch needs so that a device of exact times is done earlier, or None.

    Fewest are those by the upper end of the measured time.
    """

    messages: int | None
    fewest: int | None
    most: int | None


def break_even(message_ns: Callable[[int], float], time: Estimate, most: int) -> BreakEven:
    """From how many messages a batch takes less a message than a device that was measured.

    The measured time stands for batches of every length; short ones cost a little more. Exact is
    the time a message in a batch of so many, which falls with their number, up to the longest one.
    """

    def least(ns: float) -> int | None:
        # By doubling and then by halves.
        high = 1
        while message_ns(high) >= ns:
            if high >= most:
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
