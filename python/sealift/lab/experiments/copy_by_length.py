"""Copies by length (document 004, plot C).

Eight functions copy document 004's nine lengths, within the caches and from memory. The published
tool's own way stands beside them, with its five runs, for the three functions that stand for its
own. What Sealift's copy takes from memory is left for the engine. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift.lab.copying import (
    AS_PUBLISHED,
    CALIBRATED,
    COUNT,
    FUNCTION,
    FUNCTIONS,
    MEMORY,
    PUBLISHED_FUNCTIONS,
    REGION,
    SIZE,
    SIZES,
    STATE,
    WAY,
    copy_arm,
    copy_speed,
    keep_cost,
    printed_copies,
)
from sealift.lab.published import Comparison
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for threads in scope.threads or (1,):
        for size_bytes, state in product(SIZES, ("hot", "cold")):
            yield from _group(size_bytes, threads, "heap", state, CALIBRATED, FUNCTIONS)
        for size_bytes in SIZES:
            published = tuple(PUBLISHED_FUNCTIONS.values())
            yield from _group(size_bytes, threads, "heap", "hot", AS_PUBLISHED, published)
            if REGION in scope.memories:
                yield from _group(size_bytes, threads, REGION, "hot", CALIBRATED, FUNCTIONS)


def _group(
    size_bytes: int, threads: int, memory: str, state: str, way: str, functions: Sequence[str]
) -> Iterator[Cell]:
    for function in functions:
        yield {
            "memory": memory,
            "size_bytes": size_bytes,
            "threads": threads,
            "state": state,
            "way": way,
            "function": function,
        }


def _published(found: Found) -> Sequence[Comparison]:
    return [*_heap(found), *_escape(found)]


def _heap(found: Found) -> Iterator[Comparison]:
    at = {"memory": "heap", "state": "hot", "way": AS_PUBLISHED}
    told = "the tool's authors' own file, 100 runs; here the published way, 5 runs, into the heap"
    rows = printed_copies(AUTHORS, "004-C", at, experiment="App writes to host-heap")
    for row, printed in rows:
        yield printed.beside(copy_speed(found, row, **at), told)


def _escape(found: Found) -> Iterator[Comparison]:
    at = {"memory": REGION, "state": "hot", "way": CALIBRATED}
    for panel in ("C-left", "C-right"):
        for row, printed in printed_copies(PLOTS, "004-C", at, panel=panel):
            yield printed.beside(copy_speed(found, row, **at), "into the region that was named")


AUTHORS, PLOTS = "004-hal-results-100-runs", "004-plots-digitised"

EXPERIMENT = Experiment(
    name="copy-by-length",
    id="004-C",
    title="Copies by length",
    why="Which copy is the fastest at which length, within the caches and from memory, and how far "
    "is the published way of measuring from that?",
    axes=(MEMORY, SIZE, COUNT, STATE, WAY, FUNCTION),
    compare="function",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    published=_published,
    keeps=keep_cost,
    plots=tuple(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="function",
            title=title,
            where={"memory": memory, "state": state, "way": way},
            log_x=True,
            log_y=True,
        )
        for title, memory, state, way in (
            ("Copies by length, within the caches", "heap", "hot", CALIBRATED),
            ("Copies by length, from memory", "heap", "cold", CALIBRATED),
            ("Copies by length, measured as published", "heap", "hot", AS_PUBLISHED),
            ("Copies by length into the named region", REGION, "hot", CALIBRATED),
        )
    ),
    weight=1.0,
)
