"""The median of a series of blocks, and what a series must be."""

import math
from collections import Counter
from collections.abc import Sequence


def median(values: Sequence[float], restarts: Sequence[int] | None = None) -> float:
    """The middle value, or the mean of the middle two.

    Args:
        values: One value a block.
        restarts: Which restart each block is of. Each restart weighs as much as the others, however
            many blocks it has, as in a draw of the bootstrap.

    Raises:
        ValueError: If there are no values, one is not finite, or `restarts` has another length.
    """
    if not values:
        raise ValueError("no blocks were measured, so there is no median; give the run more time")
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value} in a series of blocks: every value must be finite")
    check_restarts(values, restarts)
    low, high = _middle_two(values, [0] * len(values) if restarts is None else restarts)
    # A mean of two equal values could round away from them; a constant series stays constant.
    return low if low == high else low + (high - low) / 2


def by_restart(values: Sequence[float], restarts: Sequence[int]) -> list[list[float]]:
    """The values of each restart, in the order in which the restarts begin."""
    parts: dict[int, list[float]] = {}
    for value, restart in zip(values, restarts, strict=True):
        parts.setdefault(restart, []).append(value)
    return list(parts.values())


def check_times(times_ns: Sequence[float]) -> None:
    """Refuses what is no time.

    Raises:
        ValueError: If one is not above 0.
    """
    for value in times_ns:
        if not value > 0:
            raise ValueError(f"{value} ns an operation: a time must be above 0")


def check_restarts(values: Sequence[float], restarts: Sequence[int] | None) -> None:
    """Refuses labels that don't fit their series.

    Raises:
        ValueError: If there are more or fewer labels than values.
    """
    if restarts is not None and len(restarts) != len(values):
        raise ValueError(f"{len(restarts)} restarts are named for {len(values)} blocks")


def check_confidence(confidence: float) -> None:
    """Refuses what is no confidence.

    Raises:
        ValueError: If it is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")


def _middle_two(values: Sequence[float], restarts: Sequence[int]) -> tuple[float, float]:
    """The values that half of the weight lies at or below, and at or above."""
    blocks = Counter(restarts)
    whole = math.lcm(*blocks.values())
    weighted = [
        (value, whole // blocks[restart]) for value, restart in zip(values, restarts, strict=True)
    ]
    weighted.sort()
    return _half(weighted), _half(weighted[::-1])


def _half(weighted: Sequence[tuple[float, int]]) -> float:
    total, passed = sum(weight for _, weight in weighted), 0
    for value, weight in weighted:
        passed += weight
        if 2 * passed >= total:
            return value
    raise AssertionError("all of the weight is more than half of it")
