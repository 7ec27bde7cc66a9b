"""Copies by threads: document 004, plots A (a line a length) and B (a line a copy function)."""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import AS_PUBLISHED, CALIBRATED, REGION
from sealift_lab.measure.oversubscription import LOAD, with_load
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.published import Published
from sealift_lab.model.results import Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _length_cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_lengths(scope), scope)


def _lengths(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or copies.THREADS
    for memory, size_bytes, count in product(("heap", *scope.memories), copies.SIZES, threads):
        at: Cell = {"memory": memory, "size_bytes": size_bytes, "threads": count}
        for threading in THREADINGS if memory == "heap" else (SHARED,):
            yield {**at, "function": "sse2", "threading": threading}


def _length_arm(cell: Cell, context: Context) -> Arm:
    threading = cell["threading"]
    way = AS_PUBLISHED if threading == POOL else CALIBRATED
    buffers = "shared" if threading == SHARED else "private"
    return copies.copy_arm({**cell, "way": way, "buffers": buffers}, context)


def _length_published(_: Results) -> Sequence[Published]:
    return [
        each
        for panel, memory, threading in (("A-left", "heap", POOL), ("A-right", REGION, SHARED))
        for each in copies.published_copies(
            copies.PLOTS,
            "004-A",
            {"memory": memory, "threading": threading},
            f"{threading}, memory {memory}",
            panel=panel,
        )
    ]


def _function_cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_functions(scope), scope)


def _functions(scope: Scope) -> Iterator[Cell]:
    for memory, size_bytes in product(("heap", *scope.memories), LENGTHS):
        # A region is one for all threads, as there; Sealift's copy is not made for that.
        is_shared = memory == REGION
        functions = [each for each in copies.FUNCTIONS if not (is_shared and each == "ours")]
        buffers = "shared" if is_shared else "private"
        at: Cell = {"memory": memory, "size_bytes": size_bytes, "state": "hot", "buffers": buffers}
        for threads, function in product(scope.threads or copies.THREADS, functions):
            yield {**at, "threads": threads, "function": function}


def _function_published(_: Results) -> Sequence[Published]:
    at, note = {"memory": REGION}, "into the region that was named"
    return [
        each
        for panel in ("B-left", "B-right")
        for each in copies.published_copies(copies.PLOTS, "004-B", at, note, panel=panel)
    ]


LENGTHS = (65_536, 1_048_576)
PRIVATE, SHARED, POOL = "a buffer each", "one buffer for all", "the published pool"
THREADINGS = (PRIVATE, SHARED, POOL)
THREADING = Axis("threading", "buffers and queue of threads")

BY_LENGTH = Experiment(
    name="copy-by-threads",
    id="004-A",
    title="Copies by threads",
    question="How far do copies scale with threads, and how much of the published figures is the "
    "tool's own pool and its one buffer for all?",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.FUNCTION, LOAD, THREADING),
    compare="threading",
    cells=_length_cells,
    arm=_length_arm,
    operation="copy",
    published=_length_published,
    charts=tuple(
        copies.curves("threads", "size_bytes", f"Copies by threads, {title}", where)
        for title, where in (
            *((each, {"memory": "heap", "threading": each}) for each in (POOL, PRIVATE, SHARED)),
            ("into the named region", {"memory": REGION, "threading": SHARED}),
        )
    ),
    preferred={"memory": "heap", "size_bytes": 65_536, "threads": 8},
    names=copies.FUNCTIONS,
    weight=1.2,
    notes="All threads copy by the loop that compilers make of the tool's: with a buffer each, "
    "with one source and one destination for all as the tool has it, and through the tool's pool, "
    "whose queue is a good part of what it measures. Threads beyond the cores share them.",
)
BY_FUNCTION = Experiment(
    name="copy-by-function",
    id="004-B",
    title="Copies by threads and function",
    question="Which copy gains how much from threads, at the document's two lengths?",
    axes=(
        *(copies.MEMORY, copies.SIZE, copies.COUNT, copies.STATE, copies.BUFFERS),
        LOAD,
        copies.FUNCTION,
    ),
    compare="function",
    cells=_function_cells,
    arm=copies.copy_arm,
    operation="copy",
    published=_function_published,
    charts=tuple(
        copies.curves(
            "threads",
            "function",
            f"Copies by threads and function, {title}",
            {"memory": memory},
            panels="size_bytes",
        )
        for title, memory in (("a heap a thread", "heap"), ("the named region", REGION))
    ),
    preferred={"memory": "heap", "size_bytes": 65_536, "threads": 8},
    names=copies.FUNCTIONS,
    weight=0.6,
)
