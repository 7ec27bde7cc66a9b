"""Whether a point of a table or a curve stands among its neighbours as in the document."""

from collections.abc import Iterator, Mapping

from sealift.lab.published.comparison import Kind

Place = tuple[float, ...]
"""A value for each axis of a table or a curve."""


def point_kind(at: Place, published: Mapping[Place, float], here: Mapping[Place, float]) -> Kind:
    """What a point of a table or a curve is judged as.

    Args:
        at: Its place.
        published: What was printed, by place.
        here: What a model gave, by place; of some places nothing is known.

    Returns:
        MODEL where each neighbour, along each axis, lies above or below it as published: there is
        a shape that it can have. Else NUMBER: its value is all there is to it.
    """
    stands = all(
        each in here and (here[at] > here[each]) == (published[at] > published[each])
        for each in _neighbours(at, published)
    )
    return Kind.MODEL if stands else Kind.NUMBER


def _neighbours(at: Place, places: Mapping[Place, float]) -> Iterator[Place]:
    """The next places before and behind it along each axis."""
    for axis in range(len(at)):
        line = sorted(each for each in places if _without(each, axis) == _without(at, axis))
        number = line.index(at)
        yield from line[max(0, number - 1) : number]
        yield from line[number + 1 : number + 2]


def _without(place: Place, axis: int) -> Place:
    return (*place[:axis], *place[axis + 1 :])
