"""Cells as combinations of values."""

from collections.abc import Iterable, Iterator
from itertools import product

from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Scope


def grid(scope: Scope, where: Cell, **axes: Iterable[Value]) -> Iterator[Cell]:
    """Every combination of values of these axes beside those of `where`; none in a quick run."""
    for values in product(*axes.values()) if not scope.quick else ():
        yield {**where, **dict(zip(axes, values, strict=True))}
