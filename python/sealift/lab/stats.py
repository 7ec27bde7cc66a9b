"""The statistics of the bench: medians over blocks, paired ratios, a noise floor, verdicts.

A series holds one value a block. Every arm is sampled once a block, so that two series are
compared block by block and a slow minute of the machine hits both sides alike. The standard
library only, and seeded: the same samples give the same answer.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

SHOWN_CONFIDENCE = 0.95
VERDICT_CONFIDENCE = 0.99


class Verdict(StrEnum):
    """What may be said about the speed of an arm against another."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNSURE = "UNSURE"


class Trust(StrEnum):
    """How far the noise floor of a comparison lets it be trusted."""

    GOOD = "good"
    CAUTION = "caution"
    RANGES_ONLY = "ranges only"


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


@dataclass(frozen=True)
class Flags:
    """What the system did to one sample.

    Attributes:
        ns: How long it took by the wall clock, in nanoseconds.
        involuntary_switches: Times the scheduler took a measuring thread off its core. What else
            ran there also took its place in the caches.
        cpu_share: Thread CPU time over wall time, the least of the sample's threads; 0..1. What is
            missing is the time in which something else ran on the core: other threads, interrupts,
            and, where the kernel accounts for it, other virtual machines.
        steal_ns: Time the hypervisor took from all of the machine's cores together, in
            nanoseconds, but in steps of 10 ms.
    """

    ns: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int

    @property
    def clean(self) -> bool:
        """Whether each of the three cost the sample under 1 % of its time.

        One switch is taken to cost 50 us, so a sample of under 5 ms may have none, and one of
        10 ms two: even an idle machine has several in a second, and without this long samples
        would never be clean. Steal is counted from its second step on, because one step, of any
        core and begun at any time, says nothing about a sample shorter than itself.
        """
        spare_ns = (1 - CPU_SHARE_MIN) * self.ns
        return (
            self.involuntary_switches * SWITCH_NS <= spare_ns
            and self.cpu_share >= CPU_SHARE_MIN
            and self.steal_ns - STEAL_STEP_NS <= spare_ns
        )


@dataclass(frozen=True)
class Kept:
    """Which blocks of a series an estimate stands on.

    Attributes:
        blocks: Indices of the blocks used, ascending.
        clean_share: Share of all blocks that were clean; 0..1.
        busy: Under half were clean, so all blocks are used and the machine counts as busy.
    """

    blocks: tuple[int, ...]
    clean_share: float
    busy: bool


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two.

    Raises:
        ValueError: If there are no values, or one is not finite.
    """
    ordered = _ordered(values)
    return _at_ranks(ordered, (len(ordered) - 1) // 2, len(ordered) // 2)


def median_interval(
    values: Sequence[float], *, confidence: float = SHOWN_CONFIDENCE, seed: int = 0
) -> Interval:
    """Median of a series of blocks with its percentile bootstrap interval (2,000 draws).

    Args:
        values: One value a block.
        confidence: Nominal coverage; above 0 and below 1.
        seed: Of the draws.

    Returns:
        The interval, in the unit of `values`. One block gives an interval of no width, which
        says nothing: `verdict` refuses to conclude from too few blocks.

    Raises:
        ValueError: If there are no values, one is not finite, or `confidence` is out of range.
    """
    _check_confidence(confidence)
    ordered = _ordered(values)
    draws = sorted(_at_ranks(ordered, low, high) for low, high in _rank_draws(len(ordered), seed))
    cut = math.floor(len(draws) * (1 - confidence) / 2)
    return Interval(median(ordered), draws[cut], draws[-1 - cut], confidence, len(ordered))


def speed_ratio(
    arm_ns: Sequence[float],
    reference_ns: Sequence[float],
    *,
    confidence: float = SHOWN_CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """How many times as fast an arm is as a reference, paired block by block.

    Args:
        arm_ns: Nanoseconds a message of the arm, one value a block.
        reference_ns: The same of the reference, from the same blocks in the same order.
        confidence: Nominal coverage of the interval.
        seed: Of the draws.

    Returns:
        Median and interval of reference / arm; above 1 the arm is faster.

    Raises:
        ValueError: If the series differ in length, are empty, or hold a time that is not above 0.
    """
    if len(arm_ns) != len(reference_ns):
        raise ValueError(
            f"paired series need the same blocks: {len(arm_ns)} of the arm "
            f"against {len(reference_ns)} of the reference"
        )
    for value in (*arm_ns, *reference_ns):
        if not value > 0:
            raise ValueError(f"{value} ns a message: a time must be above 0")
    ratios = [reference / arm for arm, reference in zip(arm_ns, reference_ns, strict=True)]
    return median_interval(ratios, confidence=confidence, seed=seed)


def noise_floor(first_ns: Sequence[float], again_ns: Sequence[float], *, seed: int = 0) -> float:
    """How far apart two arms of the same code look: the A/A noise floor.

    Args:
        first_ns: Nanoseconds a message of the doubled arm, one value a block.
        again_ns: Its second run in the same blocks.
        seed: Of the draws.

    Returns:
        The larger distance from 1 of the 99 % interval of the A/A ratio, as a share:
        0.02 means that 2 % between two arms is noise.
    """
    ratio = speed_ratio(again_ns, first_ns, confidence=VERDICT_CONFIDENCE, seed=seed)
    return max(ratio.high, 1 / ratio.low) - 1


def trust(noise_floor_share: float) -> Trust:
    """What a noise floor allows: over 3 % caution, over 10 % ranges and no verdicts."""
    if noise_floor_share > RANGES_ONLY_FLOOR:
        return Trust.RANGES_ONLY
    return Trust.CAUTION if noise_floor_share > CAUTION_FLOOR else Trust.GOOD


def verdict(ratio: Interval, noise_floor_share: float) -> Verdict:
    """Judges a speed ratio by its interval and the noise floor.

    FASTER or SLOWER when the whole interval lies beyond the noise floor, SAME when it lies
    inside, UNSURE otherwise, when the floor is over 10 %, or when there are too few blocks for
    the interval to reach its confidence.

    Args:
        ratio: From `speed_ratio`, at the confidence that `verdict_confidence` gives.
        noise_floor_share: From `noise_floor` over the same blocks.
    """
    few = ratio.blocks < blocks_needed(ratio.confidence)
    if few or trust(noise_floor_share) is Trust.RANGES_ONLY:
        return Verdict.UNSURE
    inside_high = 1 + noise_floor_share
    inside_low = 1 / inside_high
    if ratio.low > inside_high:
        return Verdict.FASTER
    if ratio.high < inside_low:
        return Verdict.SLOWER
    if inside_low <= ratio.low and ratio.high <= inside_high:
        return Verdict.SAME
    return Verdict.UNSURE


def verdict_confidence(comparisons: int) -> float:
    """Confidence of each of several comparisons, so that together they keep 99 % (Bonferroni)."""
    return 1 - (1 - VERDICT_CONFIDENCE) / max(1, comparisons)


def blocks_needed(confidence: float) -> int:
    """Least number of blocks whose whole range covers the median with `confidence`.

    All of n values lie on one side of the true median with probability 2**(1 - n), so fewer
    blocks can't carry such an interval whatever the bootstrap prints: 8 for 99 %.
    """
    _check_confidence(confidence)
    return 1 + math.ceil(-math.log2(1 - confidence))


def winners(
    arms_ns: Sequence[Sequence[float]], noise_floor_share: float, *, seed: int = 0
) -> tuple[int, ...]:
    """The arms that are not SLOWER than the best one, by index, ascending.

    Args:
        arms_ns: For each arm its nanoseconds a message, one value a block, blocks aligned.
        noise_floor_share: From `noise_floor` over the same blocks.
        seed: Of the draws.

    Returns:
        Every arm when the noise allows no verdict; never empty.

    Raises:
        ValueError: If there are no arms, or their series are empty or of different length.
    """
    if not arms_ns:
        raise ValueError("no arms to compare; a winner needs at least one")
    best = min(range(len(arms_ns)), key=lambda arm: median(arms_ns[arm]))
    confidence = verdict_confidence(len(arms_ns) - 1)

    def slower(arm: int) -> bool:
        ratio = speed_ratio(arms_ns[arm], arms_ns[best], confidence=confidence, seed=seed)
        return verdict(ratio, noise_floor_share) is Verdict.SLOWER

    return tuple(arm for arm in range(len(arms_ns)) if not slower(arm))


def keep_clean(flags: Sequence[bool]) -> Kept:
    """Picks the blocks to estimate from: the clean ones, or all when under half are clean.

    Args:
        flags: For each block whether every sample it contributes was clean.

    Raises:
        ValueError: If there are no blocks.
    """
    if not flags:
        raise ValueError("no blocks were measured; give the run more time")
    clean = tuple(index for index, is_clean in enumerate(flags) if is_clean)
    share = len(clean) / len(flags)
    busy = share < CLEAN_SHARE_MIN
    return Kept(tuple(range(len(flags))) if busy else clean, share, busy)


@lru_cache(maxsize=64)
def _rank_draws(blocks: int, seed: int) -> tuple[tuple[int, int], ...]:
    # IMPLEMENTATION NOTE: the median of a resample depends only on which ranks were drawn, so
    # the draws are made once for a number of blocks and serve every series of that length.
    generator = random.Random(f"{seed}/{blocks}")
    ranks = range(blocks)
    low, high = (blocks - 1) // 2, blocks // 2

    def middle() -> tuple[int, int]:
        drawn = sorted(generator.choices(ranks, k=blocks))
        return drawn[low], drawn[high]

    return tuple(middle() for _ in range(DRAWS))


def _at_ranks(ordered: Sequence[float], low: int, high: int) -> float:
    # A mean of two equal values could round away from them; a constant series stays constant.
    if ordered[low] == ordered[high]:
        return ordered[low]
    return ordered[low] + (ordered[high] - ordered[low]) / 2


def _ordered(values: Sequence[float]) -> list[float]:
    if not values:
        raise ValueError("no blocks were measured, so there is no median; give the run more time")
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value} in a series of blocks: every value must be finite")
    return sorted(values)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")


DRAWS = 2_000
CPU_SHARE_MIN = 0.99
# The time to fill a second-level cache of a mebibyte again at 20 GB/s.
SWITCH_NS = 50_000
# /proc/stat counts in hundredths of a second, whatever the kernel's own tick.
STEAL_STEP_NS = 10_000_000
CLEAN_SHARE_MIN = 0.5
CAUTION_FLOOR = 0.03
RANGES_ONLY_FLOOR = 0.10
