"""The bootstrap of a median, worked out instead of drawn.

A bootstrap draws blocks anew, with replacement, and looks at the median of each draw. Whether the
median of a draw lies at or below a value depends only on how many of its blocks do, and that number
is binomial. So the distribution that 2,000 draws approximate is a sum of probabilities, and a seed
is not needed.

Of an even number of blocks the median lies between the middle two. Each bound takes the one of the
two that makes it wider, so that it holds for whatever lies between them.

With several restarts the draw has two steps: restarts are drawn with replacement, and then blocks
within each. That counts what differs from one process to the next, such as where memory lies.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise


class Medians:
    """The medians of all draws of a series: which values they take, and how often."""

    def __init__(self, values: Sequence[float], restarts: Sequence[int] | None = None) -> None:
        """Sorts a series.

        Args:
            values: One value a block; at least one, all finite.
            restarts: Of each block, by any number; all of one restart when left out.
        """
        labels = [0] * len(values) if restarts is None else restarts
        names = {name: place for place, name in enumerate(dict.fromkeys(labels))}
        pairs = sorted(zip(values, (names[label] for label in labels), strict=True))
        self._values = [value for value, _ in pairs]
        # How many blocks of each restart are among the first 0, 1, 2, ... values.
        self._passed = [[0] * len(names)]
        for _, restart in pairs:
            self._passed.append([n + (at == restart) for at, n in enumerate(self._passed[-1])])

    def at_most(self, value: float) -> float:
        """The probability that the median of a draw is at most `value`, or a little more."""
        return self._lower(bisect_right(self._values, value))

    def at_least(self, value: float) -> float:
        """The probability that the median of a draw is at least `value`, or a little more."""
        return 1.0 - self._upper(bisect_left(self._values, value))

    def interval(self, confidence: float) -> tuple[float, float]:
        """The ends that leave half of what `confidence` lacks on each side."""
        tail = (1.0 - confidence) / 2
        places = range(len(self._values))
        low = bisect_right(places, tail, key=lambda at: self._lower(at + 1))
        high = bisect_left(places, -tail, key=lambda at: self._upper(at) - 1.0) - 1
        return self._values[low], self._values[high]

    def low_weights(self) -> list[tuple[float, float]]:
        """The lower middle values of draws, each with its probability."""
        return self._weights([self._lower(at) for at in range(len(self._passed))])

    def high_weights(self) -> list[tuple[float, float]]:
        """The upper middle values of draws, each with its probability."""
        return self._weights([self._upper(at) for at in range(len(self._passed))])

    def _weights(self, reached: Sequence[float]) -> list[tuple[float, float]]:
        rises = (after - before for before, after in pairwise(reached))
        return list(zip(self._values, rises, strict=True))

    def _lower(self, place: int) -> float:
        """The probability that the lower middle value of a draw is among the first values."""
        return self._reached(place)[0]

    def _upper(self, place: int) -> float:
        return self._reached(place)[1]

    def _reached(self, place: int) -> tuple[float, float]:
        counts = zip(self._passed[place], self._passed[-1], strict=True)
        return _reached(tuple(sorted(counts)))


class Quotients:
    """The median of a draw of one series over that of a draw of another: how often which."""

    def __init__(self, over: Medians, under: Medians) -> None:
        """Pairs every median of the one with every median of the other."""
        self._low = _Steps.of(_quotients(over.low_weights(), under.high_weights()))
        self._high = _Steps.of(_quotients(over.high_weights(), under.low_weights()))

    def at_most(self, value: float) -> float:
        """The probability that the quotient of a draw is at most `value`, or a little more."""
        return self._low.sums[bisect_right(self._low.values, value)]

    def at_least(self, value: float) -> float:
        """The probability that the quotient of a draw is at least `value`, or a little more."""
        return 1.0 - self._high.sums[bisect_left(self._high.values, value)]

    def interval(self, confidence: float) -> tuple[float, float]:
        """The ends that leave half of what `confidence` lacks on each side."""
        tail = (1.0 - confidence) / 2
        low = bisect_right(self._low.sums, tail) - 1
        high = bisect_left(self._high.sums, -tail, key=lambda total: total - 1.0) - 1
        return (
            self._low.values[min(low, len(self._low.values) - 1)],
            self._high.values[min(high, len(self._high.values) - 1)],
        )


class _Steps:
    """Sorted values, and the probability of the first 0, 1, 2, ... of them."""

    def __init__(self, values: Sequence[float], sums: Sequence[float]) -> None:
        self.values = values
        self.sums = sums

    @classmethod
    def of(cls, weighted: Iterable[tuple[float, float]]) -> "_Steps":
        ordered = sorted(weighted)
        sums = accumulate((weight for _, weight in ordered), initial=0.0)
        return cls([value for value, _ in ordered], [min(1.0, total) for total in sums])


def _quotients(
    over: Sequence[tuple[float, float]], under: Sequence[tuple[float, float]]
) -> Iterable[tuple[float, float]]:
    return (
        (value / other, weight * share)
        for value, weight in over
        if weight > 0
        for other, share in under
        if share > 0
    )


@lru_cache(maxsize=1 << 16)
def _reached(counts: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    """The probabilities that the middle two of a draw are among the values passed.

    IMPLEMENTATION NOTE: depends on ranks alone, so that series of one length share it: of 300
    series of 30 blocks all but the first few find every answer here.

    Args:
        counts: For each restart how many of its values were passed, and how many it has.

    Returns:
        Of the lower one and of the upper one; of an odd number of blocks they are the same.
    """
    restarts = len(counts)
    # Restarts may differ in blocks; each that is drawn gives as many as they have on average.
    size = max(1, round(sum(total for _, total in counts) / restarts))
    each = [_binomial(size, passed / total) for passed, total in counts]
    one = [math.fsum(column) / restarts for column in zip(*each, strict=True)]
    both = [1.0]
    for _ in counts:
        both = _sum_of(both, one)
    drawn = restarts * size
    lower, upper = (drawn + 1) // 2, drawn // 2 + 1
    return min(1.0, math.fsum(both[lower:])), min(1.0, math.fsum(both[upper:]))


def _sum_of(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """How the sum of two independent numbers is distributed."""
    result = [0.0] * (len(first) + len(second) - 1)
    for at, weight in enumerate(first):
        if weight:
            for place, other in enumerate(second, at):
                result[place] += weight * other
    return result


@lru_cache(maxsize=1 << 14)
def _binomial(trials: int, chance: float) -> tuple[float, ...]:
    if chance in (0.0, 1.0):
        hit = trials if chance else 0
        return tuple(float(number == hit) for number in range(trials + 1))
    yes, no = math.log(chance), math.log1p(-chance)
    whole = math.lgamma(trials + 1)
    return tuple(
        math.exp(
            whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * yes + (trials - k) * no
        )
        for k in range(trials + 1)
    )
