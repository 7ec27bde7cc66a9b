"""Where two lines of a figure meet whose axes are both logarithmic."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

Place = tuple[float, float]
"""A size and a time, both above 0."""


def meetings(one: Sequence[Place], other: Sequence[Place]) -> list[Place]:
    """Where one line comes to lie below the other that lay below it before, ascending.

    Between their places both lines are straight, as they are drawn: in logarithms. Lines that touch
    without changing sides don't meet.

    Args:
        one: Its places, in any order.
        other: Those of the other line.
    """
    first, second = dict(sorted(one)), dict(sorted(other))
    low = max(min(first, default=math.inf), min(second, default=math.inf))
    high = min(max(first, default=0.0), max(second, default=0.0))
    sizes = [size for size in sorted(first.keys() | second.keys()) if low <= size <= high]
    apart = [(size, _difference(_at(first, size), _at(second, size))) for size in sizes]
    # Where they are equal neither lies below, so only what lies around it tells.
    sides = [(size, difference) for size, difference in apart if difference]
    return [
        (size, _at(first, size))
        for before, after in pairwise(sides)
        if (before[1] < 0) != (after[1] < 0)
        for size in [_zero(apart, before[0], after[0])]
    ]


def _at(line: Mapping[float, float], size: float) -> float:
    """The time at a size, straight in logarithms between the places beside it."""
    if size in line:
        return line[size]
    (low, before), (high, after) = next(
        (left, right) for left, right in pairwise(line.items()) if left[0] < size < right[0]
    )
    share = math.log(size / low) / math.log(high / low)
    return math.exp(math.log(before) + share * math.log(after / before))


def _difference(one: float, other: float) -> float:
    """Of logarithms; 0 where only rounding tells them apart."""
    return 0.0 if math.isclose(one, other) else math.log(one / other)


def _zero(apart: Sequence[Place], begin: float, end: float) -> float:
    """The size between two at which the difference is 0; the middle of a stretch of it."""
    there = [(size, difference) for size, difference in apart if begin <= size <= end]
    if equal := [size for size, difference in there if not difference]:
        return math.sqrt(equal[0] * equal[-1])
    (low, before), (high, after) = there
    return math.exp(math.log(low) + math.log(high / low) * before / (before - after))
