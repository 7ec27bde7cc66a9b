"""What a figure is made of: points, what is written on it, which axes are logarithmic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sealift.lab.result import Origin
from sealift.lab.values import Value

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one, as JSON has it."""


@dataclass(frozen=True)
class Point:
    """One value in a figure.

    Attributes:
        x: Where it stands; None for a value that holds everywhere: a line across.
        y: The value.
        low: Lower end of its interval; None where none is known.
        high: Upper end.
        series: Which line it belongs to.
        origin: Where it comes from.
    """

    x: Value | None
    y: float
    low: float | None
    high: float | None
    series: str
    origin: Origin = Origin.MEASURED


@dataclass(frozen=True)
class Labels:
    """What is written on a figure.

    Attributes:
        title: What it shows.
        x: Name of the axis that is varied.
        y: Name and unit of what was measured.
        series: What the lines are; empty where there is one line that needs no name.
        x_is_size: Whether x counts bytes, so that 1024 reads 1 KiB.
        interval: What the ends of a value are.
    """

    title: str
    x: str
    y: str
    series: str
    x_is_size: bool = False
    interval: str = "95 % interval"


@dataclass(frozen=True)
class Scales:
    """Which axes are logarithmic."""

    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Chart:
    """A figure of what is no row: of what was computed.

    Attributes:
        points: What is drawn.
        labels: What is written on it.
        scales: Which axes are logarithmic.
    """

    points: Sequence[Point]
    labels: Labels
    scales: Scales


def series_of(points: Sequence[Point]) -> list[str]:
    """The series of some points, each once, in their order."""
    return list(dict.fromkeys(point.series for point in points))


def is_numeric(points: Sequence[Point]) -> bool:
    """Whether all places are numbers."""
    return all(is_number(point.x) for point in points if point.x is not None)


def is_number(value: object) -> bool:
    """Whether a place is a number, and no name."""
    return isinstance(value, int | float)


# Where a legend splits its labels, what stands behind it is another line.
LEGEND_PART = "\n"
