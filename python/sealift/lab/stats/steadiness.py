"""Whether a series is warm and steady: where to cut its beginning, and whether the rest drifts."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import NormalDist, quantiles

from sealift.lab.stats.intervals import VERDICT_CONFIDENCE, Interval
from sealift.lab.stats.series import check_times, median
from sealift.lab.stats.verdicts import smallest_difference


def warm_up_blocks(times_ns: Sequence[float], noise_floor_share: float) -> int:
    """How many blocks at the start of one process were still warming up.

    MSER-5: of all cuts up to the middle that fall between batches of five blocks, the one after
    which the mean of the rest is known best. A batch counts with its median, because a neighbour's
    burst is no warm-up. What is cut off ends with a batch that differs from the rest by more than a
    verdict would call a difference, and by more than the middle half of the rest is wide, so that a
    warm series keeps its blocks.

    Args:
        times_ns: Nanoseconds an operation, one value a block, in the order of time.
        noise_floor_share: From `noise_floor`.

    Returns:
        0 to half of the blocks.

    Raises:
        ValueError: If a time is not above 0.
    """
    check_times(times_ns)
    size = min(BATCH_BLOCKS, len(times_ns) // BATCHES_MIN)
    if not size:
        return 0
    batches = [median(times_ns[at : at + size]) for at in range(0, len(times_ns) - size + 1, size)]
    best = min(range(len(batches) // 2 + 1), key=lambda first: _mser(batches[first:]))
    low_ns, rest_ns, high_ns = quantiles(times_ns[best * size :])
    most_ns = max(rest_ns * smallest_difference(noise_floor_share), high_ns - low_ns)
    cold = [at for at in range(best) if abs(batches[at] - rest_ns) > most_ns]
    return (cold[-1] + 1) * size if cold else 0


def drift(
    times_ns: Sequence[float],
    *,
    places: Sequence[int] | None = None,
    restarts: Sequence[int] | None = None,
) -> Interval:
    """How many times as long an operation took at the end of a process as at its start.

    The median slope between any two blocks (Theil and Sen) over the logarithms of the times, with
    the 99 % interval that Kendall's statistic gives; restarts are pooled, and only blocks of one
    restart are compared.

    Args:
        times_ns: Nanoseconds an operation, one value a block.
        places: Where each block stands in the order of time; 0, 1, 2, ... when left out.
        restarts: Which restart each block is of; one restart when left out.

    Returns:
        1.05 means 5 % slower at the end. No two blocks give 1, with an interval of no width.

    Raises:
        ValueError: If a time is not above 0.
    """
    check_times(times_ns)
    processes = list(_processes(times_ns, places, restarts))
    slopes = sorted(slope for process in processes for slope in _slopes(process))
    if not slopes:
        return Interval(1.0, 1.0, 1.0, VERDICT_CONFIDENCE, len(times_ns))
    variance = sum(blocks * (blocks - 1) * (2 * blocks + 5) / 18 for blocks in map(len, processes))
    reach = NormalDist().inv_cdf((1 + VERDICT_CONFIDENCE) / 2) * math.sqrt(variance)
    low = max(0, math.floor((len(slopes) - reach) / 2))
    length = max(process[-1][0] - process[0][0] for process in processes)
    ends = (median(slopes), slopes[low], slopes[-1 - low])
    middle, least, most = (math.exp(slope * length) for slope in ends)
    return Interval(middle, least, most, VERDICT_CONFIDENCE, len(times_ns))


def is_steady(drifted: Interval, noise_floor_share: float) -> bool:
    """Whether a drift may be none: its interval reaches to less than a verdict calls a difference.

    Args:
        drifted: From `drift`.
        noise_floor_share: From `noise_floor`.
    """
    most = 1 + smallest_difference(noise_floor_share)
    return drifted.low <= most and drifted.high >= 1 / most


def _mser(batches: Sequence[float]) -> float:
    mean = math.fsum(batches) / len(batches)
    return math.fsum((batch - mean) ** 2 for batch in batches) / len(batches) ** 2


def _processes(
    times_ns: Sequence[float], places: Sequence[int] | None, restarts: Sequence[int] | None
) -> Iterator[list[tuple[int, float]]]:
    """For each restart its blocks: place and logarithm of the time, in the order of time."""
    at = range(len(times_ns)) if places is None else places
    labels = [0] * len(times_ns) if restarts is None else restarts
    points: dict[int, list[tuple[int, float]]] = {}
    for place, label, time_ns in zip(at, labels, times_ns, strict=True):
        points.setdefault(label, []).append((place, math.log(time_ns)))
    return (sorted(process) for process in points.values())


def _slopes(process: Sequence[tuple[int, float]]) -> Iterator[float]:
    return (
        (after - before) / (end - start)
        for (start, before), (end, after) in combinations(process, 2)
    )


BATCH_BLOCKS = 5
# Fewer batches would leave one or two behind the latest cut, whose spread says nothing.
BATCHES_MIN = 4
