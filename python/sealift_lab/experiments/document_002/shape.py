"""Whether a point of a table stands among its neighbours as in the document."""

from collections.abc import Iterator, Mapping

from sealift_lab.experiments.document_002.board import Spot
from sealift_lab.model.published import Kind


def point_kind(
    spot: Spot, published: Mapping[Spot, float], here: Mapping[Spot, tuple[float, float]]
) -> Kind:
    """How a point of a table is judged.

    Args:
        spot: The point.
        published: Printed values.
        here: The least and the most that seeds gave, for the spots that were computed.

    Returns:
        NUMBER where a neighbour along an axis lies, with every seed, otherwise above or below it
        than was published: the point has no shape to reproduce. Else POINT.
    """
    for other in _neighbours(spot, published):
        if {spot, other} <= here.keys():
            order = _order(here[spot], here[other])
            one, another = published[spot], published[other]
            if order not in (None, _order((one, one), (another, another))):
                return Kind.NUMBER
    return Kind.POINT


def _order(one: tuple[float, float], other: tuple[float, float]) -> int | None:
    """1 where the one is more, -1 where it is less, 0 where they are equal; None where open."""
    if one[0] > other[1]:
        return 1
    if one[1] < other[0]:
        return -1
    return 0 if one == other and one[0] == one[1] else None


def _neighbours(spot: Spot, spots: Mapping[Spot, float]) -> Iterator[Spot]:
    """The next spots before and behind one, along each axis."""
    by_threads = [each for each in spots if each.buffer_bytes == spot.buffer_bytes]
    by_size = [each for each in spots if each.threads == spot.threads]
    for line in (
        sorted(by_threads, key=lambda each: each.threads),
        sorted(by_size, key=lambda each: each.buffer_bytes),
    ):
        at = line.index(spot)
        yield from line[max(0, at - 1) : at]
        yield from line[at + 1 : at + 2]
