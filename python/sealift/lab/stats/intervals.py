"""Medians with their intervals: of a series, of a paired ratio, of a ratio between two runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sealift.lab.stats.bootstrap import Medians

SHOWN_CONFIDENCE = 0.95
VERDICT_CONFIDENCE = 0.99


@dataclass(frozen=True)
class Interval:
    """A median with its bootstrap interval, in the unit of the series it came from.

    Attributes:
        median: Of the series itself, not of the draws.
        low: Lower end.
        high: Upper end.
        confidence: Nominal, for example 0.95.
        blocks: How many values the series had.
    """

    median: float
    low: float
    high: float
    confidence: float
    blocks: int

    def inverse(self) -> "Interval":
        """The interval of the ratio seen from the other arm."""
        return Interval(1 / self.median, 1 / self.high, 1 / self.low, self.confidence, self.blocks)

    def scaled(self, factor: float) -> "Interval":
        """The same in another unit.

        Args:
            factor: Above 0.
        """
        low, high = self.low * factor, self.high * factor
        return Interval(self.median * factor, low, high, self.confidence, self.blocks)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two.

    Raises:
        ValueError: If there are no values, or one is not finite.
    """
    if not values:
        raise ValueError("no blocks were measured, so there is no median; give the run more time")
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value} in a series of blocks: every value must be finite")
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    # A mean of two equal values could round away from them; a constant series stays constant.
    return low if low == high else low + (high - low) / 2


def median_interval(
    values: Sequence[float],
    *,
    confidence: float = SHOWN_CONFIDENCE,
    restarts: Sequence[int] | None = None,
) -> Interval:
    """Median of a series of blocks with its percentile bootstrap interval.

    Args:
        values: One value a block.
        confidence: Nominal coverage; above 0 and below 1.
        restarts: Which restart each block is of; one restart when left out. With several the
            bootstrap draws restarts and then blocks within them.

    Returns:
        The interval, in the unit of `values`. One block gives an interval of no width, which
        says nothing: `verdict` refuses to conclude from too few blocks.

    Raises:
        ValueError: If there are no values, one is not finite, `confidence` is out of range, or
            `restarts` has another length.
    """
    check_confidence(confidence)
    check_restarts(values, restarts)
    middle = median(values)
    low, high = Medians(values, restarts).interval(confidence)
    return Interval(middle, min(low, middle), max(high, middle), confidence, len(values))


def speed_ratio(
    arm_ns: Sequence[float],
    reference_ns: Sequence[float],
    *,
    confidence: float = SHOWN_CONFIDENCE,
    restarts: Sequence[int] | None = None,
) -> Interval:
    """How many times as fast an arm is as a reference, paired block by block.

    Args:
        arm_ns: Nanoseconds an operation of the arm, one value a block.
        reference_ns: The same of the reference, from the same blocks in the same order.
        confidence: Nominal coverage of the interval.
        restarts: Which restart each block is of; one restart when left out.

    Returns:
        Median and interval of reference / arm; above 1 the arm is faster.

    Raises:
        ValueError: If the series differ in length, are empty, or hold a time that is not above 0.
    """
    ratios = paired_ratios(arm_ns, reference_ns)
    return median_interval(ratios, confidence=confidence, restarts=restarts)


def run_ratio(
    now_ns: Sequence[float],
    before_ns: Sequence[float],
    *,
    confidence: float = SHOWN_CONFIDENCE,
    now_restarts: Sequence[int] | None = None,
    before_restarts: Sequence[int] | None = None,
) -> Interval:
    """How many times as fast an arm was in one run as in another, whose blocks don't pair.

    Args:
        now_ns: Nanoseconds an operation in the one run, one value a block.
        before_ns: The same in the other run.
        confidence: Nominal coverage of the interval.
        now_restarts: Which restart each block of `now_ns` is of.
        before_restarts: Which restart each block of `before_ns` is of.

    Returns:
        The median of `before_ns` over that of `now_ns` with the bootstrap interval of this ratio;
        above 1 it became faster. `blocks` counts the shorter series.

    Raises:
        ValueError: If a series is empty or holds a time that is not above 0.
    """
    check_confidence(confidence)
    for times, restarts in ((now_ns, now_restarts), (before_ns, before_restarts)):
        check_times(times)
        check_restarts(times, restarts)
    middle = median(before_ns) / median(now_ns)
    ratios = sorted(
        (then / now, weight * other)
        for now, weight in Medians(now_ns, now_restarts).weights()
        for then, other in Medians(before_ns, before_restarts).weights()
    )
    tail = (1 - confidence) / 2
    low, high = _first_over(tail, ratios), _first_over(tail, ratios[::-1])
    blocks = min(len(now_ns), len(before_ns))
    return Interval(middle, min(low, middle), max(high, middle), confidence, blocks)


def paired_ratios(arm_ns: Sequence[float], reference_ns: Sequence[float]) -> list[float]:
    """Reference over arm, block by block.

    Raises:
        ValueError: If the series differ in length or hold a time that is not above 0.
    """
    if len(arm_ns) != len(reference_ns):
        raise ValueError(
            f"paired series need the same blocks: {len(arm_ns)} of the arm "
            f"against {len(reference_ns)} of the reference"
        )
    check_times((*arm_ns, *reference_ns))
    return [reference / arm for arm, reference in zip(arm_ns, reference_ns, strict=True)]


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


def _first_over(tail: float, weighted: Sequence[tuple[float, float]]) -> float:
    passed = 0.0
    for value, weight in weighted:
        passed += weight
        if passed > tail:
            return value
    return weighted[-1][0]
