"""Copies by threads, a line a copy function (document 004, plot B).

The document's two lengths by its thread counts, into a heap of each thread's own, and into a named
region as the document does. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift.lab.copying import (
    BUFFERS,
    COUNT,
    FUNCTION,
    FUNCTIONS,
    MEMORY,
    REGION,
    SIZE,
    STATE,
    copy_arm,
    copy_speed,
    known_threads,
    printed_copies,
)
from sealift.lab.crowding import LOAD
from sealift.lab.grid import with_load
from sealift.lab.published import Comparison
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_all(scope), scope)


def _all(scope: Scope) -> Iterator[Cell]:
    for memory, size_bytes in product(("heap", *scope.memories), LENGTHS):
        # A region is one for all threads, as there; the kernels' own copy is not made for that.
        is_shared = memory == REGION
        functions = [each for each in FUNCTIONS if not (is_shared and each == "ours")]
        for threads, function in product(known_threads(scope.threads), functions):
            yield {
                "memory": memory,
                "size_bytes": size_bytes,
                "threads": threads,
                "state": "hot",
                "buffers": "shared" if is_shared else "private",
                "function": function,
            }


def _published(found: Found) -> Sequence[Comparison]:
    return list(_beside(found))


def _beside(found: Found) -> Iterator[Comparison]:
    at = {"memory": REGION}
    for panel in ("B-left", "B-right"):
        for row, printed in printed_copies("004-plots-digitised", "004-B", at, panel=panel):
            yield printed.beside(copy_speed(found, row, **at), "into the region that was named")


LENGTHS = (65_536, 1_048_576)

EXPERIMENT = Experiment(
    name="copy-by-function",
    id="004-B",
    title="Copies by threads and function",
    why="Which copy gains how much from threads, at the document's two lengths?",
    axes=(MEMORY, SIZE, COUNT, STATE, BUFFERS, LOAD, FUNCTION),
    compare="function",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    published=_published,
    plots=tuple(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="function",
            title=f"Copies by threads and function, {title}",
            facet="size_bytes",
            where={"memory": memory},
            log_x=True,
            log_y=True,
        )
        for title, memory in (("a heap a thread", "heap"), ("the named region", REGION))
    ),
    weight=0.6,
)
