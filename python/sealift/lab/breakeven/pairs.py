"""Two devices beside each other: which takes less at which sizes, and where their lines meet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sealift.lab.breakeven.lines import Line, Spot
from sealift.lab.breakeven.meeting import meetings
from sealift.lab.stats import Verdict, smallest_difference


@dataclass(frozen=True)
class Pair:
    """Two devices that were both seen at some sizes.

    Attributes:
        one: The first; measured here where only one of them was.
        other: The second.
    """

    one: Line
    other: Line

    @property
    def sizes(self) -> list[float]:
        """Those at which both were seen, ascending."""
        return [size for size in self.one.by_size if size in self.other.by_size]

    @cached_property
    def earlier(self) -> dict[float, str | None]:
        """By size which device was shown to take less; None where that isn't settled."""
        return {size: self._earlier(size) for size in self.sizes}

    @property
    def meetings(self) -> list[tuple[float, float]]:
        """Where the lines of the medians cross: sizes and nanoseconds a message."""
        return meetings(*([(s.size_bytes, s.ns.median) for s in each.spots] for each in self._both))

    def times(self, size_bytes: float) -> float:
        """How many times as long as the first the second takes, by medians."""
        one, other = (each.by_size[size_bytes].ns.median for each in self._both)
        return other / one

    @property
    def _both(self) -> tuple[Line, Line]:
        return self.one, self.other

    def _earlier(self, size_bytes: float) -> str | None:
        one, other = (each.by_size[size_bytes] for each in self._both)
        if _takes_less(one, other):
            return self.one.device
        return self.other.device if _takes_less(other, one) else None


def pairs(lines: Sequence[Line]) -> Iterator[Pair]:
    """Every two lines that share a size."""
    for one, other in combinations(lines, 2):
        pair = Pair(one, other)
        if pair.sizes:
            yield pair


def _takes_less(spot: Spot, other: Spot) -> bool:
    """Of two that were measured as the verdict says; a card's times have no noise of their own."""
    if (said := _said(spot, other)) is not None:
        return said is Verdict.FASTER
    if (said := _said(other, spot)) is not None:
        return said is Verdict.SLOWER
    return spot.ns.high * (1 + _noise(spot, other)) < other.ns.low


def _said(spot: Spot, against: Spot) -> Verdict | None:
    """The verdict on one that was judged against the other; None where it wasn't."""
    if spot.row is None or against.row is None or spot.row.reference != against.row.subject:
        return None
    return spot.row.verdict


def _noise(*spots: Spot) -> float:
    return max((smallest_difference(s.row.noise_floor) for s in spots if s.row), default=0.0)
