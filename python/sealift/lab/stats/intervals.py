"""Medians with their intervals: of a series, of a paired ratio, of a ratio between two runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sealift.lab.stats.estimates import Estimate, of_runs, of_series
from sealift.lab.stats.series import check_confidence, check_times

SHOWN_CONFIDENCE = 0.95
VERDICT_CONFIDENCE = 0.99


@dataclass(frozen=True)
class Interval:
    """A median with its interval, in the unit of the series it came from.

    Attributes:
        median: Of the series itself, not of the draws.
        low: Lower end.
        high: Upper end.
        confidence: Nominal, for example 0.95; 1 where the ends are those of all there is.
        blocks: How many values the series had.
    """

    median: float
    low: float
    high: float
    confidence: float
    blocks: int

    @property
    def is_range(self) -> bool:
        """Whether its ends are the least and the most of all there is, and estimate nothing."""
        return self.confidence == 1

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


def median_interval(
    values: Sequence[float],
    *,
    confidence: float = SHOWN_CONFIDENCE,
    restarts: Sequence[int] | None = None,
) -> Interval:
    """Median of a series of blocks with its interval: a percentile bootstrap, and Student's t.

    Args:
        values: One value a block.
        confidence: Nominal coverage; above 0 and below 1.
        restarts: Which restart each block is of; one restart when left out. With several the
            bootstrap draws restarts and then blocks within them, each restart weighs the same, and
            the interval holds that of Student's t over the logarithms of the restarts' medians.

    Returns:
        The interval, in the unit of `values`. One block gives an interval of no width, which
        says nothing: `verdict` refuses to conclude from too few blocks.

    Raises:
        ValueError: If there are no values, one is not finite, `confidence` is out of range,
            `restarts` has another length, or the median of one of several is not above 0.
    """
    check_confidence(confidence)
    return _interval(of_series(values, restarts), confidence)


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
        The median of `before_ns` over that of `now_ns` with the bootstrap interval of this ratio
        and, where both have restarts, Welch's; above 1 it became faster. `blocks` counts the
        shorter series.

    Raises:
        ValueError: If a series is empty or holds a time that is not above 0.
    """
    check_confidence(confidence)
    estimate = of_runs(
        now_ns, before_ns, now_restarts=now_restarts, before_restarts=before_restarts
    )
    return _interval(estimate, confidence)


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


def _interval(estimate: Estimate, confidence: float) -> Interval:
    low, high = estimate.interval(confidence)
    return Interval(estimate.median, low, high, confidence, estimate.blocks)
