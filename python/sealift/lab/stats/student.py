"""Student's t over restarts: how well a few processes know what all of them would do.

A bootstrap of three or five values can't carry 95 %, let alone 99 %: it never leaves their range.
Student's distribution allows for how badly a few values know their own spread.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev


@dataclass(frozen=True)
class Student:
    """The centre of what restarts do, on the scale of logarithms.

    Attributes:
        anchor: What all logarithms are taken over, so that equal values stay exactly themselves.
        shift: Logarithm of the centre over `anchor`.
        error: Standard error of `shift`.
        freedom: Degrees of freedom of the error.
    """

    anchor: float
    shift: float
    error: float
    freedom: int

    @classmethod
    def of(cls, medians: Sequence[float]) -> "Student":
        """From the medians of two or more restarts.

        Raises:
            ValueError: If a median is not above 0.
        """
        anchor = medians[0]
        for median in medians:
            if not median > 0:
                raise ValueError(f"a restart with the median {median}: it must be above 0")
        logs = [math.log(median / anchor) for median in medians]
        return cls(anchor, fmean(logs), stdev(logs) / math.sqrt(len(logs)), len(logs) - 1)

    def over(self, other: "Student") -> "Student":
        """This centre over that of independent restarts, with Welch's degrees of freedom.

        They are rounded down, which makes the interval wider.
        """
        error = math.hypot(self.error, other.error)
        return Student(
            self.anchor / other.anchor, self.shift - other.shift, error, _welch(self, other)
        )

    def at_most(self, value: float) -> float:
        """The least one-sided level at which the centre may be at most `value`."""
        return self._above(self.shift - math.log(value / self.anchor))

    def at_least(self, value: float) -> float:
        """The least one-sided level at which the centre may be at least `value`."""
        return self._above(math.log(value / self.anchor) - self.shift)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The ends that leave half of what `confidence` lacks on each side."""
        reach = quantile((1 - confidence) / 2, self.freedom) * self.error
        return self.anchor * _exp(self.shift - reach), self.anchor * _exp(self.shift + reach)

    def _above(self, distance: float) -> float:
        if self.error:
            return above(distance / self.error, self.freedom)
        return 0.0 if distance > 0 else 1.0


def above(t: float, freedom: int) -> float:
    """The probability that Student's t is above `t`.

    The finite sums for whole degrees of freedom: Abramowitz and Stegun, Handbook of Mathematical
    Functions, 26.7.3 and 26.7.4.

    Args:
        t: Any number.
        freedom: Degrees of freedom; at least 1.
    """
    angle = math.atan2(abs(t), math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    within = math.sin(angle) * total
    if odd:
        within = (angle + within) * 2 / math.pi
    tail = max(0.0, 1 - within) / 2
    return tail if t >= 0 else 1 - tail


@lru_cache(maxsize=1 << 10)
def quantile(tail: float, freedom: int) -> float:
    """The t that Student's distribution exceeds with the probability `tail`.

    Args:
        tail: Above 0, at most a half.
        freedom: Degrees of freedom; at least 1.
    """
    low, high = 0.0, math.pi / 2
    # Halves the angle whose tangent t is; 60 halvings leave nothing of it.
    for _ in range(60):
        middle = (low + high) / 2
        if above(math.sqrt(freedom) * math.tan(middle), freedom) > tail:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _welch(one: Student, other: Student) -> int:
    least = min(one.freedom, other.freedom)
    squares = one.error**2, other.error**2
    spread = squares[0] ** 2 / one.freedom + squares[1] ** 2 / other.freedom
    return max(least, math.floor(sum(squares) ** 2 / spread)) if spread else least


def _exp(exponent: float) -> float:
    return math.exp(max(-EXPONENT_MAX, min(exponent, EXPONENT_MAX)))


# Two restarts that differ much have intervals that no float holds; a factor of 10**26 says as much.
EXPONENT_MAX = 60.0
