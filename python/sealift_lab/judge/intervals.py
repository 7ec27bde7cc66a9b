"""Estimates with exact intervals, the wider of one over blocks and one over processes.

Ratios are Hodges-Lehmann estimates and times are medians (times are skewed, ratios hardly), both of
logarithms. Code and data lie elsewhere in memory in each process, and that alone changes speed: so
many blocks of few processes know less than they seem to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

Vector = NDArray[np.float64]
Labels = NDArray[np.int64]
Kind = Literal["median", "hodges-lehmann"]
Ends = tuple[float, float]


@dataclass(frozen=True)
class Pool:
    """One value a block, ascending, of all processes together, and what they estimate.

    Each process weighs the same in a median. The centres are the estimates of processes.
    """

    value: float
    x: Vector
    centres: Mapping[int, float]
    kind: Kind

    @classmethod
    def from_blocks(cls, x: Vector, process: Labels, kind: Kind = "hodges-lehmann") -> "Pool":
        """Pools logarithms, one for each block, with the process that each was measured in."""
        if not len(x):
            raise ValueError("no blocks to estimate from; right would be one at least")
        labels, place, counts = np.unique(process, return_inverse=True, return_counts=True)
        centres = {int(each): _middle(x[process == each], kind) for each in labels}
        is_even = kind == "hodges-lehmann" or counts.min() == counts.max()
        value = _middle(x, kind) if is_even else _weighted_median(x, 1 / counts[place])
        return cls(value, np.sort(x), centres, kind)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.x)

    @property
    def processes(self) -> int:
        """In how many processes the blocks were measured."""
        return len(self.centres)

    def over_blocks(self, confidence: float) -> Ends | None:
        """The exact interval as if processes did not differ: Wilcoxon's, or the sign test's."""
        k = rank(self.blocks, confidence, self.kind)
        return _ordered(self.x, self.kind, k - 1, -k) if k else None

    def over_processes(self, confidence: float) -> Ends | None:
        """Student's t over the estimates of processes."""
        return _students([[*self.centres.values()]], confidence)

    def interval(self, confidence: float) -> Ends | None:
        """The wider of both, and never without the value."""
        blocks = self.over_blocks(confidence)
        return blocks and hull((self.value, self.value), blocks, self.over_processes(confidence))


@dataclass(frozen=True)
class Difference:
    """How many times as fast one arm is as another, of logarithms of times that don't pair.

    Unless both were measured in the same processes, two of each are the least that carries an
    interval.
    """

    one: Pool
    other: Pool
    is_paired: bool

    @property
    def value(self) -> float:
        """Logarithm of the ratio."""
        return self.other.value - self.one.value

    @property
    def blocks(self) -> int:
        """Blocks of the arm that has fewer."""
        return min(self.one.blocks, self.other.blocks)

    @property
    def processes(self) -> int:
        """Processes that both have; apart, those of the arm that has fewer."""
        both = self.one.centres.keys() & self.other.centres.keys()
        return len(both) if self.is_paired else min(self.one.processes, self.other.processes)

    def over_blocks(self, confidence: float) -> Ends | None:
        """Both intervals put together, each distance to an end squared (Zou and Donner's MOVER)."""
        one, other = self.one.over_blocks(confidence), self.other.over_blocks(confidence)
        if one is None or other is None:
            return None
        below = np.hypot(other[0] - self.other.value, one[1] - self.one.value)
        above = np.hypot(other[1] - self.other.value, one[0] - self.one.value)
        return self.value - float(below), self.value + float(above)

    def over_processes(self, confidence: float) -> Ends | None:
        """Student's t over the ratios of processes, or Welch's where they don't pair."""
        ones, others = self.one.centres, self.other.centres
        if self.is_paired:
            both = ones.keys() & others.keys()
            if len(both) > 1 or self._is_of_one_process:
                return _students([[others[label] - ones[label] for label in both]], confidence)
        return _students([[*ones.values()], [*others.values()]], confidence)

    def interval(self, confidence: float) -> Ends | None:
        """The wider of both, and never without the value."""
        blocks, processes = self.over_blocks(confidence), self.over_processes(confidence)
        if blocks is None or (processes is None and not self._is_of_one_process):
            return None
        return hull((self.value, self.value), blocks, processes)

    @property
    def _is_of_one_process(self) -> bool:
        labels = self.one.centres.keys()
        return self.is_paired and len(labels) == 1 and labels == self.other.centres.keys()


Estimated = Pool | Difference


@cache
def rank(n: int, confidence: float, kind: Kind = "hodges-lehmann") -> int:
    """Which of the ordered values bounds the interval, from 1; 0: n values can't carry it.

    Exact; above `EXACT_MOST` values Wilcoxon's statistic is normal.
    """
    tail = (1 - confidence) / 2
    if kind == "hodges-lehmann" and n > EXACT_MOST:
        spread = (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
        return int(n * (n + 1) / 4 + float(ndtri(tail)) * spread + 0.5)
    chance = np.ones(1)  # of each count of signs, or sum of signed ranks, value by value
    for each in range(1, n + 1):
        gap = np.zeros(1 if kind == "median" else each)
        chance = (np.concatenate([chance, gap]) + np.concatenate([gap, chance])) / 2
    return int(np.searchsorted(np.cumsum(chance), tail, side="right"))


@cache
def blocks_needed(confidence: float) -> int:
    """How many blocks carry an interval: 8 for 99 %, 6 for 95 %."""
    return next(n for n in range(1, EXACT_MOST) if rank(n, confidence))


def hull(*ends: Ends | None) -> Ends:
    """The least interval that holds all of some, one at least."""
    lows, highs = zip(*filter(None, ends), strict=True)
    return min(lows), max(highs)


def _middle(x: Vector, kind: Kind) -> float:
    many = len(x) if kind == "median" else len(x) * (len(x) + 1) // 2
    low, high = _ordered(np.sort(x), kind, (many - 1) // 2, many // 2)
    return (low + high) / 2


def _ordered(x: Vector, kind: Kind, *places: int) -> Ends:
    """Two of the values `x`, or of the means of two of them, by their places in ascending order."""
    n = len(x)
    if kind == "hodges-lehmann" and n > ALL_MEANS_MOST:
        low, high = (mean_at(x, place % (n * (n + 1) // 2)) for place in places)
        return low, high
    one, other = _pairs(n)
    means = x if kind == "median" else (x[one] + x[other]) / 2
    low, high = np.partition(means, places)[[*places]].tolist()
    return low, high


def mean_at(x: Vector, place: int) -> float:
    """The mean of two of ascending values at a place in their order, without storing all of them.

    Sums `x[i] + x[j]` with j from i on ascend in each row i. What lies on the wrong side of a pivot
    is cut from all rows, until few are left.
    """
    n = len(x)
    row = np.arange(n)
    low, high = row, np.full(n, n)
    while (high - low).sum() > 4 * n:
        rows = np.flatnonzero(low < high)
        middles = x[rows] + x[(low + high)[rows] // 2]
        pivot = _weighted_median(middles, (high - low)[rows].astype(np.float64))
        below, reached = _first_at(x, pivot), _first_at(x, float(np.nextafter(pivot, np.inf)))
        if place < (below - row).sum():
            high = np.minimum(high, below)
        elif place >= (reached - row).sum():
            low = np.maximum(low, reached)
        else:
            return pivot / 2
    left = np.concatenate([x[i] + x[low[i] : high[i]] for i in np.flatnonzero(low < high)])
    place -= int((low - row).sum())
    return float(np.partition(left, place)[place]) / 2


def _first_at(x: Vector, least: float) -> Labels:
    """For each i the first j from i on where `x[i] + x[j]` is at least so much, by halves."""
    low, high = np.arange(len(x)), np.full(len(x), len(x))
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_below = is_open & (x + x[np.minimum(middle, len(x) - 1)] < least)
        low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
    return low


def _weighted_median(x: Vector, weights: Vector) -> float:
    order = np.argsort(x)
    share = np.cumsum(weights[order]) / weights.sum()
    # Where half of the weight lies between two values, the median does, too.
    low, high = np.searchsorted(share, (0.5 - ROUNDING, 0.5 + ROUNDING))
    return float(x[order[low]] + x[order[high]]) / 2


def _students(samples: Sequence[Sequence[float]], confidence: float) -> Ends | None:
    """Of the mean of one sample, or of what the second mean is above the first: Welch's."""
    if min(map(len, samples)) < 2:
        return None
    parts = [float(np.var(each, ddof=1)) / len(each) for each in samples]
    rest = sum(part**2 / (len(each) - 1) for part, each in zip(parts, samples, strict=True))
    freedom = sum(parts) ** 2 / rest if rest else min(map(len, samples)) - 1
    value = float(np.mean(samples[-1])) - (float(np.mean(samples[0])) if samples[1:] else 0.0)
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * sum(parts) ** 0.5
    return value - reach, value + reach


def half(ends: Ends) -> float:
    """Half the width of an interval."""
    return (ends[1] - ends[0]) / 2


_pairs = lru_cache(8)(np.triu_indices)
# Its exact distribution has 20,101 values there; by the normal one a rank is off by 1 in 300.
EXACT_MOST = 200
# Beyond as many values means of two are selected, not laid out: there are 125,250 of them here.
ALL_MEANS_MOST = 500
ROUNDING = 1e-9
SURE, SHOWN = 0.99, 0.95
