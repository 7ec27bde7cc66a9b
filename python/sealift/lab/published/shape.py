"""Whether a point of a table or a curve stands among its neighbours as in the document."""

from collections.abc import Iterator, Mapping

from sealift.lab.published.comparison import Kind
from sealift.lab.stats import Interval

Place = tuple[float, ...]
"""A value for each axis of a table or a curve."""
Here = float | Interval
"""What a model gave: a number, or the ends of what it gave with several seeds."""


def point_kind(at: Place, published: Mapping[Place, float], here: Mapping[Place, Here]) -> Kind:
    """What a point of a table or a curve is judged as.

    Args:
        at: Its place.
        published: What was printed, by place.
        here: What a model gave, by place; of some places nothing is known.

    Returns:
        MODEL where each neighbour, along each axis, lies above or below it, or level with it, as
        published: there is a shape that it can have. NUMBER where one of them does otherwise with
        every seed: its value is all there is to it. Else OPEN: of a neighbour nothing is known, or
        seeds don't agree.
    """
    is_open = False
    for each in _neighbours(at, published):
        order = _order(here[at], here[each]) if {at, each} <= here.keys() else None
        wanted = _order(published[at], published[each])
        if order is None:
            # What was printed alike may be so here for all that seeds tell.
            is_open |= wanted != 0 or each not in here
        elif order != wanted:
            return Kind.NUMBER
    return Kind.OPEN if is_open else Kind.MODEL


def _order(one: Here, other: Here) -> int | None:
    """1 where the one is more, -1 where it is less, 0 where level; None if seeds differ."""
    (least, most), (other_least, other_most) = _ends(one), _ends(other)
    if least > other_most:
        return 1
    if most < other_least:
        return -1
    return 0 if least == most == other_least == other_most else None


def _ends(value: Here) -> tuple[float, float]:
    return (value.low, value.high) if isinstance(value, Interval) else (value, value)


def _neighbours(at: Place, places: Mapping[Place, float]) -> Iterator[Place]:
    """The next places before and behind it along each axis."""
    for axis in range(len(at)):
        line = sorted(each for each in places if _without(each, axis) == _without(at, axis))
        number = line.index(at)
        yield from line[max(0, number - 1) : number]
        yield from line[number + 1 : number + 2]


def _without(place: Place, axis: int) -> Place:
    return (*place[:axis], *place[axis + 1 :])
