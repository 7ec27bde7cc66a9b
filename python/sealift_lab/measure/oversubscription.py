"""Whether the threads of a cell share cores: the axis `load`, which the judge looks at."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from sealift_lab.model.experiment import Axis, Scope
from sealift_lab.model.values import Cell


class Load(StrEnum):
    """How many threads there are for the cores."""

    BELOW = "fewer threads than cores"
    ALL = "a thread a core"
    OVER = "more threads than cores"


LOAD = Axis("load", "threads and cores")
"""An axis for experiments whose threads may share cores; its values are those of `Load`."""


def load_of(threads: int, cores: int) -> Load:
    """The load of as many threads on as many cores."""
    if threads == cores:
        return Load.ALL
    return Load.BELOW if threads < cores else Load.OVER


def with_load(cells: Iterable[Cell], scope: Scope) -> Iterator[Cell]:
    """The same cells with the axis `LOAD`, by their axis `threads`."""
    for cell in cells:
        yield {**cell, LOAD.name: load_of(int(cell["threads"]), scope.cores).value}
