"""Document 004's sentences (004-X1) as figures of a run, or the reason why they can't be judged."""

from collections.abc import Collection, Iterator
from functools import partial
from itertools import product

from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import REGION, SHARED_MEMORY
from sealift_lab.measure.crypto import LOAD, Load
from sealift_lab.model.arm import Cell
from sealift_lab.model.published import (
    Figure,
    Kind,
    Missing,
    Number,
    Published,
    Scaled,
    Times,
    printed_claim,
    table,
)
from sealift_lab.model.results import Results


def escape_gap(results: Results, at: Cell) -> Iterator[Published]:
    """`escape-gap`: the heap over the region at the document's most threads, and as it printed."""
    for size_bytes in (65_536, 1_048_576):
        work: Cell = {**at, "size_bytes": size_bytes, "threads": copies.THREADS[-1]}
        times: Figure = Times({**work, "memory": "heap"}, {**work, "memory": REGION})
        if not any(results.select(memory=REGION)):
            times = Missing(copies.NO_REGION)
        what = f"the heap over the region, {copies.THREADS[-1]} threads, {size_bytes:,} B"
        yield _claim(what, "escape-gap", Kind.RATIO, times)
    low, high = _printed_gap()
    note = (
        f"by its plot A: {low:.0f} times at the most threads that both panels show for a length "
        f"over 4 KiB, {high:.0f} times the best of the heap over the best of ESCAPE"
    )
    what = "the heap over ESCAPE, as its own plot A has them"
    figure = Number((low + high) / 2, low, high)
    yield _claim(what, "escape-gap", Kind.ARITHMETIC, figure, note, low=low, high=high)


def _printed_gap() -> tuple[float, float]:
    panels = {
        panel: {
            (int(row["bytes"]), int(row["threads"])): float(row["throughput_gb_s"])
            for row in table("004-plots-digitised")
            if row["panel"] == panel
        }
        for panel in ("A-left", "A-right")
    }
    heap, escape = panels["A-left"], panels["A-right"]
    both = [(threads, size) for size, threads in heap.keys() & escape.keys() if size > SHORT_BYTES]
    most = max(threads for threads, _ in both)
    gaps = [heap[size, n] / escape[size, n] for n, size in both if n == most]
    return min(gaps), max(heap.values()) / max(escape.values())


def heap_limit(in_caches: Cell, from_memory: Cell, limit: Cell, units: int) -> Iterator[Published]:
    """`heap-limit`: one thread's copies over the most that memory moves, by payload.

    `limit` is the cell of the most traffic, which is `units` times its payload.
    """
    for cell, what in (
        (in_caches, "as the tool has it, within the caches"),
        (from_memory, "our reading: from memory"),
    ):
        share = int(cell["size_bytes"]) / (int(limit["size_bytes"]) * units)
        figure = Scaled(Times(cell, limit), share)
        note = f"{cell['kernel']} over {limit['kernel']}, {limit['threads']} threads"
        what = f"writing to the heap by one thread over the memory limit measured here: {what}"
        # What the caches hold passes the limit of memory by construction.
        yield _claim(what, "heap-limit", Kind.READING, figure, note)


def thread_knee(results: Results, at: Cell) -> Iterator[Published]:
    """`thread-knee`: mapped copies gain by threads up to 8, and little beyond."""
    memories = (SHARED_MEMORY, REGION) if any(results.select(memory=REGION)) else (SHARED_MEMORY,)
    loads = {
        int(row.cell["threads"])
        for load in (Load.BELOW, Load.ALL)
        for row in results.select(**{LOAD.name: load.value})
    }
    cores = max(loads, default=1)
    # More threads than cores show what sharing a core costs, not what memory allows.
    most = max(n for n in copies.THREADS if n <= min(KNEE, max(cores, 2)))
    for memory in memories:
        work: Cell = {**at, "memory": memory, "size_bytes": 65_536}
        by = {threads: {**work, "threads": threads} for threads in copies.THREADS}
        name = copies.MEMORIES[memory]
        gain: Figure = Times(by[most], by[1])
        if cores < 2:
            gain = Missing("it needs two cores at least")
        what = f"{most} threads over 1, {name}, 64 KiB"
        yield _claim(what, "thread-knee", Kind.SHAPE, gain, value=1.0)
        beyond: Figure = Times(by[copies.THREADS[-1]], by[KNEE])
        if cores < 2 * KNEE:
            beyond = Missing(
                f"no more than {cores} threads have a core here, and a knee at {KNEE} threads "
                f"can't be told from the cores' own below {2 * KNEE} cores"
            )
        what = f"{copies.THREADS[-1]} threads over {KNEE}, {name}, 64 KiB: no more than a tenth"
        of: tuple[Kind, Figure, str] = (Kind.COUNT, beyond, "holds up to 1.1")
        yield _claim(what, "thread-knee", *of, value=1.0, low=0.0, high=1.1)


def winners(
    name: str, at: Cell, functions: Collection[str] = tuple(copies.PUBLISHED_FUNCTIONS)
) -> Iterator[Published]:
    """`winner`: the fastest of some functions over each other one, by length, on the heap.

    `name` is that of a table, and `at` are values of the cells here beside length and function.
    """
    rows = [r for r in table(name) if r["experiment"] == copies.PLACES["heap"]]
    speeds = {(int(r["bytes"]), r["copy_function"]): float(r["throughput_gb_s"]) for r in rows}
    for size_bytes in dict.fromkeys(size for size, _ in speeds if size in copies.SIZES):
        of = {each: speeds[size_bytes, each] for each in functions}
        first = max(of, key=of.__getitem__)
        for second in filter(first.__ne__, of):
            one, other = (
                {**at, "size_bytes": size_bytes, "function": copies.PUBLISHED_FUNCTIONS[each]}
                for each in (first, second)
            )
            what = f"winner at {size_bytes:,} B, {at['way']}: {first} over {second}"
            ratio = of[first] / of[second]
            note = f"{of[first]:g}/{of[second]:g} GB/s there"
            # Who wins is claimed, not by how much. Less than the judge's margin is no winner there,
            # either.
            kind = Kind.SHAPE if ratio > NO_WINNER else Kind.SLOPE
            yield _claim(what, "winner", kind, Times(one, other), note, value=ratio)


def only_without_mmap(at: Cell) -> Iterator[Published]:
    """`only-without-mmap`: the heap is faster to write to than what is mapped."""
    sizes, memories = (65_536, 4_194_304), (SHARED_MEMORY, "file")
    for size_bytes, state, memory in product(sizes, ("hot", "cold"), memories):
        work: Cell = {**at, "size_bytes": size_bytes, "state": state}
        times = Times({**work, "memory": "heap"}, {**work, "memory": memory})
        what = f"the heap over {copies.MEMORIES[memory]}, {size_bytes:,} B, {state}"
        yield _claim(what, "only-without-mmap", Kind.SHAPE, times)


def eviction(at: Cell, mapped: str, evicted: str, shootdown: str) -> Iterator[Published]:
    """`eviction`: what it costs that mapped pages are taken away, and which cause costs more."""
    reading = partial(_claim, claim_id="eviction", kind=Kind.READING)
    cells = {cause: {**at, "cause": cause} for cause in (mapped, evicted, shootdown)}
    what = "our reading: a copy to a mapping over one whose pages are taken away meanwhile"
    yield reading(what, here=Times(cells[mapped], cells[evicted]))
    what = "our reading: a copy beside TLB shootdowns over one whose pages are taken away meanwhile"
    yield reading(what, here=Times(cells[shootdown], cells[evicted]))


_claim = partial(printed_claim, "004-X1")
KNEE = 8
"""Threads beyond which more don't help, as printed."""
NO_WINNER = 1.025
# What queues cost hides what memory is.
SHORT_BYTES = 4_096
