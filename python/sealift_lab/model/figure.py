"""How a figure is had from a run: small expressions, evaluated by `claim`."""

from dataclasses import dataclass
from typing import Literal

from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class Rate:
    """Operations, or payload, a second of the row that fits.

    Attributes:
        where: Values of its cell; they must leave one row.
        of: `"MB"`: payload in 10**6 bytes a second; `"operations"`: operations a second.
    """

    where: Cell
    of: Literal["MB", "operations"] = "MB"


@dataclass(frozen=True)
class Time:
    """Nanoseconds an operation of the row that fits."""

    where: Cell


@dataclass(frozen=True)
class Times:
    """How many times as many operations a second one row does as another.

    Paired by block where both stand in one group; else by process.

    Attributes:
        where: Values of the cell of the faster one, as the document claims.
        other: Values of the cell of the other one.
    """

    where: Cell
    other: Cell


@dataclass(frozen=True)
class Fact:
    """What an arm computed or counted.

    Attributes:
        where: Values of its cell; they must leave one.
        name: Of the fact, with its unit. `NAME, least` and `NAME, most` beside it
            are the ends of its range over seeds.
    """

    where: Cell
    name: str


@dataclass(frozen=True)
class Number:
    """A figure that is computed when the published figures are listed, from print or from a model.

    Attributes:
        value: The figure.
        low: Lower end of what rounding or seeds leave open; None for none.
        high: Upper end; None with `low`.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Scaled:
    """Another figure in another unit."""

    figure: "Figure"
    factor: float


@dataclass(frozen=True)
class Sum:
    """Figures one after another that were measured apart."""

    figures: tuple["Figure", ...]


@dataclass(frozen=True)
class Missing:
    """No figure, and why."""

    reason: str


Figure = Rate | Time | Times | Fact | Number | Scaled | Sum | Missing
