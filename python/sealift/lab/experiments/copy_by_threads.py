"""Copies by threads, a line a length (document 004, plot A).

Threads that have buffers of their own stand beside threads that all copy the same source to the
same destination, as the published tool has it, and beside the tool's own pool of workers, whose
queue is a good part of what it measures. All of them copy by the loop that compilers make of
the tool's.

Threads beyond the cores share them, which is told. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift.lab.copying import (
    AS_PUBLISHED,
    CALIBRATED,
    COUNT,
    FUNCTION,
    MEMORY,
    REGION,
    SIZE,
    SIZES,
    WAY,
    copy_arm,
    copy_speed,
    known_threads,
    printed_copies,
)
from sealift.lab.crowding import LOAD
from sealift.lab.grid import with_load
from sealift.lab.published import Comparison
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_all(scope), scope)


def _all(scope: Scope) -> Iterator[Cell]:
    memories = ("heap", *scope.memories)
    for memory, size_bytes, threads in product(memories, SIZES, known_threads(scope.threads)):
        for threading in THREADINGS if memory == "heap" else (SHARED,):
            yield {
                "memory": memory,
                "size_bytes": size_bytes,
                "threads": threads,
                "function": LOOP,
                "threading": threading,
            }


def _arm(cell: Cell, context: Context) -> Arm:
    threading = cell["threading"]
    way = AS_PUBLISHED if threading == POOL else CALIBRATED
    buffers = "shared" if threading == SHARED else "private"
    return copy_arm({**cell, WAY.name: way, "buffers": buffers}, context)


def _published(found: Found) -> Sequence[Comparison]:
    return [*_beside(found, "A-left", "heap", POOL), *_beside(found, "A-right", REGION, SHARED)]


def _beside(found: Found, panel: str, memory: str, threading: str) -> Iterator[Comparison]:
    at = {"memory": memory, "threading": threading}
    for row, printed in printed_copies("004-plots-digitised", "004-A", at, panel=panel):
        here = copy_speed(found, row, **at)
        yield printed.beside(here, f"{threading}, memory {memory}")


LOOP = "sse2"
PRIVATE, SHARED, POOL = "a buffer each", "one buffer for all", "the published pool"
THREADINGS = (PRIVATE, SHARED, POOL)

EXPERIMENT = Experiment(
    name="copy-by-threads",
    id="004-A",
    title="Copies by threads",
    why="How far do copies scale with threads, and how much of what was published is the "
    "tool's own pool and its one buffer for all?",
    axes=(MEMORY, SIZE, COUNT, FUNCTION, LOAD, Axis("threading", "what threads work on")),
    compare="threading",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=_published,
    plots=tuple(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="size_bytes",
            title=f"Copies by threads, {title}",
            where={"memory": memory, "threading": threading},
            log_x=True,
            log_y=True,
        )
        for title, memory, threading in (
            (POOL, "heap", POOL),
            (PRIVATE, "heap", PRIVATE),
            (SHARED, "heap", SHARED),
            ("into the named region", REGION, SHARED),
        )
    ),
    weight=1.2,
)
