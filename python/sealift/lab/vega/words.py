"""A figure and its values in words."""

from collections.abc import Sequence

from sealift.lab.units import format_measure
from sealift.lab.values import Value
from sealift.lab.vega.figure import LEGEND_PART, Labels, Point, is_numeric


def describe(points: Sequence[Point], labels: Labels) -> str:
    """The figure in words, for those who can't see it."""
    kind = "Lines" if is_numeric(points) else "Points"
    if kind == "Points" and any(point.low is not None for point in points):
        kind = "Points with intervals"
    own: dict[str, list[Point]] = {}
    for point in points:
        own.setdefault(point.series, []).append(point)
    shown = "; ".join(_described(name, those, labels) for name, those in own.items())
    return f"{labels.title}. {kind}: {labels.y}, by {labels.x}. {shown}."


def format_bytes(size: float) -> str:
    """A size as figures label it: `512 B`, `16 KiB`, `1 MiB`."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit:,.0f} {name}"
    return f"{size:,.6g} B"


def shown(value: float | None) -> str:
    """A figure of either sign with four significant digits."""
    if value is None:
        return "not known"
    return f"-{format_measure(-value)}" if value < 0 else format_measure(value)


def place_of(x: Value | None, labels: Labels) -> str:
    """A place on the axis, as words have it."""
    if x is None:
        return "every place"
    if labels.x_is_size and isinstance(x, int | float):
        return format_bytes(x)
    return f"{x:,}" if isinstance(x, int) else str(x)


def _described(series: str, own: Sequence[Point], labels: Labels) -> str:
    least, most = min(own, key=lambda point: point.y), max(own, key=lambda point: point.y)
    name = series.replace(LEGEND_PART, " ") or "values"
    if least is most:
        return f"{name}: {shown(most.y)} at {place_of(most.x, labels)}"
    return (
        f"{name}: from {shown(least.y)} at {place_of(least.x, labels)} "
        f"to {shown(most.y)} at {place_of(most.x, labels)}"
    )
