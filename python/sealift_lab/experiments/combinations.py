"""Axes by their titles, and cells as combinations of values."""

from collections.abc import Iterable, Iterator
from itertools import product

from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, Scope


def axes(**titles: str) -> tuple[Axis, ...]:
    """Axes without values, for experiments that have cells."""
    return tuple(Axis(name, title) for name, title in titles.items())


def grid(scope: Scope, where: Cell, **axes: Iterable[Value]) -> Iterator[Cell]:
    """Every combination of values of these axes beside those of `where`; none in a quick run."""
    for values in product(*axes.values()) if not scope.quick else ():
        yield {**where, **dict(zip(axes, values, strict=True))}
