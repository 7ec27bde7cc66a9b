"""Document 004's sentences (004-X1) as figures of a run, or the reason why they can't be judged."""

from collections.abc import Iterator
from functools import partial

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
    table,
    table_row,
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
        yield _claim("escape-gap", what, Kind.RATIO, times, value=100.0)
    low, high = _printed_gap()
    note = (
        f"by its plot A: {low:.0f} times at the most threads that both panels show for a length "
        f"over 4 KiB, {high:.0f} times the best of the heap over the best of ESCAPE"
    )
    what = "the heap over ESCAPE, as its own plot A has them"
    figure = Number((low + high) / 2, low, high)
    yield _claim("escape-gap", what, Kind.ARITHMETIC, figure, note, 100.0, low, high)


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
        yield _claim("heap-limit", what, Kind.READING, figure, note)


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
        yield _claim("thread-knee", f"{most} threads over 1, {name}, 64 KiB", Kind.SHAPE, gain)
        beyond: Figure = Times(by[copies.THREADS[-1]], by[KNEE])
        if cores < 2 * KNEE:
            beyond = Missing(
                f"no more than {cores} threads have a core here, and a knee at {KNEE} threads "
                f"can't be told from the cores' own below {2 * KNEE} cores"
            )
        what = f"{copies.THREADS[-1]} threads over {KNEE}, {name}, 64 KiB: no more than a tenth"
        note = "holds up to 1.1"
        yield _claim("thread-knee", what, Kind.COUNT, beyond, note, 1.0, 0.0, 1.1)


def winner_of_example(at: Cell) -> Iterator[Published]:
    """`winner`: who wins at the two lengths of the printed example."""
    printed = {
        (int(row["bytes"]), row["copy_function"]): float(row["throughput_gb_s"])
        for row in table("004-R1-terminal-example")
        if row["experiment"] == copies.PLACES["heap"]
    }
    for size_bytes, first, second in (
        (16, "naive_memcpy", "glibc_memcpy"),
        (256, "glibc_memcpy", "naive_memcpy"),
        (256, "glibc_memcpy", "apex_memcpy"),
    ):
        one, other = printed[size_bytes, first], printed[size_bytes, second]
        yield _winner({**at, "size_bytes": size_bytes}, (first, one), (second, other))


def winner_by_length(_: Results, at: Cell) -> Iterator[Published]:
    """`winner`: who of the first two wins at which length, by the authors' file of 100 runs."""
    rows = [r for r in table(FILE) if r["experiment"] == copies.PLACES["heap"]]
    speeds = {(int(r["bytes"]), r["copy_function"]): float(r["throughput_gb_s"]) for r in rows}
    for size_bytes in copies.SIZES:
        pair = ((name, speeds[size_bytes, name]) for name in ("glibc_memcpy", "naive_memcpy"))
        second, first = sorted(pair, key=lambda each: each[1])
        yield _winner({**at, "size_bytes": size_bytes, "threads": 1}, first, second)


def _winner(at: Cell, first: tuple[str, float], second: tuple[str, float]) -> Published:
    one, other = ({**at, "function": copies.PUBLISHED_FUNCTIONS[n]} for n, _ in (first, second))
    what = f"winner at {at['size_bytes']:,} B, {at['way']}: {first[0]} over {second[0]}"
    ratio = first[1] / second[1]
    note = f"{first[1]:g}/{second[1]:g} GB/s there"
    # Who wins is claimed, not by how much. Less than the judge's margin is no winner there, either.
    kind = Kind.SHAPE if ratio > NO_WINNER else Kind.SLOPE
    return _claim("winner", what, kind, Times(one, other), note, ratio)


def only_without_mmap(at: Cell) -> Iterator[Published]:
    """`only-without-mmap`: the heap is faster to write to than what is mapped."""
    for size_bytes, state, memory in (
        (size_bytes, state, memory)
        for size_bytes in (65_536, 4_194_304)
        for state in ("hot", "cold")
        for memory in (SHARED_MEMORY, "file")
    ):
        work: Cell = {**at, "size_bytes": size_bytes, "state": state}
        times = Times({**work, "memory": "heap"}, {**work, "memory": memory})
        what = f"the heap over {copies.MEMORIES[memory]}, {size_bytes:,} B, {state}"
        yield _claim("only-without-mmap", what, Kind.SHAPE, times)


def eviction(at: Cell, mapped: str, evicted: str, shootdown: str) -> Iterator[Published]:
    """`eviction`: what it costs that mapped pages are taken away, and which cause costs more."""
    reading = partial(_claim, "eviction", kind=Kind.READING)
    cells = {cause: {**at, "cause": cause} for cause in (mapped, evicted, shootdown)}
    what = "our reading: a copy to a mapping over one whose pages are taken away meanwhile"
    yield reading(what, here=Times(cells[mapped], cells[evicted]))
    what = "our reading: a copy beside TLB shootdowns over one whose pages are taken away meanwhile"
    yield reading(what, here=Times(cells[shootdown], cells[evicted]))


def _claim(
    claim_id: str,
    what: str,
    kind: Kind,
    here: Figure,
    note: str = "",
    value: float = 1.0,
    low: float | None = None,
    high: float | None = None,
) -> Published:
    claim = table_row("004-X1-claims", claim_id=claim_id)
    note = "; ".join(filter(None, [note, f"printed: {claim['as_printed']}"]))
    source = claim["source"]
    return Published("004-X1", what, value, "x", source, kind, here, note, low=low, high=high)


FILE = "004-hal-results-100-runs"
KNEE = 8
"""Threads beyond which more don't help, as printed."""
NO_WINNER = 1.025
# What queues cost hides what memory is.
SHORT_BYTES = 4_096
