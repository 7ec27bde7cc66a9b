"""Copies into memory of every kind: what document 004 compared as heap, shared memory and device.

Once it was touched, the kind of memory should not matter; reserved huge pages are measured where
root has reserved some, and a device's memory where a region was named. Not part of a quick run.
"""

from collections.abc import Iterator
from itertools import product

from sealift.lab.copying import COUNT, FUNCTION, MEMORY, SIZE, STATE, copy_arm
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for size_bytes, state in product(LENGTHS, ("hot", "cold")):
        for memory in (*MEMORIES, *scope.memories):
            yield {
                "size_bytes": size_bytes,
                "threads": 1,
                "state": state,
                "function": "glibc",
                "memory": memory,
            }


LENGTHS = (65_536, 4_194_304)
MEMORIES = ("heap", "pages", "huge-pages", "memfd", "shm", "file", "hugetlb")

EXPERIMENT = Experiment(
    name="copy-by-memory",
    title="Copies into memory of every kind",
    why="Does it matter for a copy what kind of memory it writes to?",
    axes=(SIZE, COUNT, STATE, FUNCTION, MEMORY),
    compare="memory",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    plots=(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="memory",
            title="Copies into memory of every kind",
            facet="state",
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.2,
)
