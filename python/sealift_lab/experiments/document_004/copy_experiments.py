"""Document 004's comparisons of copies: by length, threads, function, memory, offset and cause.

Plots A, B and C, the causes (004-T), the example run and its file (004-R1, 004-R2), the limit of
memory (004-M), and two factors that the document did not vary: the kind of memory, and where the
destination lies.

Payload is the bytes that a program wanted. Traffic is the bytes that memory moved: a read moves the
payload once, a store past the caches once, a store through them twice, because its line is read
before it is written.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from sealift_lab.experiments.combinations import grid
from sealift_lab.experiments.document_004 import claims, copies
from sealift_lab.experiments.document_004.copies import (
    AS_PUBLISHED,
    CALIBRATED,
    READ_REGION,
    READ_SHARED,
    REGION,
    SHARED_MEMORY,
    curves,
)
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import LOAD, one_and_all, with_load
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.published import (
    Kind,
    Published,
    Rate,
    Scaled,
    Times,
    printed_claim,
    table_row,
)
from sealift_lab.model.results import Origin, Results, Row

_experiment = partial(
    Experiment,
    arm=copies.copy_arm,
    operation="copy",
    names={**copies.FUNCTIONS, **copies.MEMORIES},
    lines_of=("memory-ceiling",),
)


def _offset_cells(scope: Scope) -> Iterator[Cell]:
    sizes = (QUICK_BYTES,) if scope.quick else (4_096, QUICK_BYTES, 524_288, 1_048_576)
    offsets = (0, NONCE_BYTES) if scope.quick else (0, 1, 8, NONCE_BYTES, 15, 16)
    for size_bytes, offset, function in product(sizes, offsets, ("glibc", "ours")):
        yield {"size_bytes": size_bytes, "offset": offset, "state": "hot", "function": function}


QUICK_BYTES, NONCE_BYTES = 65_536, 12
OFFSET = Axis("offset", "destination minus source, modulo 4,096 bytes")

OFFSETS = _experiment(
    **texts(__package__, "copy-offsets"),
    id="004-C-offsets",
    axes=(copies.SIZE, OFFSET, copies.STATE, copies.FUNCTION),
    compare="function",
    cells=_offset_cells,
    charts=(
        Chart("offset", "function", "MB/s", "Copies by offset", panels="size_bytes", log_y=True),
    ),
    preferred={"size_bytes": QUICK_BYTES, "offset": NONCE_BYTES},
    weight=0.25,
)


def _length_cells(scope: Scope) -> Iterator[Cell]:
    published, of_heap = copies.PUBLISHED_FUNCTIONS.values(), ("heap",)
    mapped = (SHARED_MEMORY, READ_SHARED, *_regions(scope))
    works: Sequence[tuple[Cell, Sequence[str], Collection[Value]]] = (
        (IN_CACHES, of_heap, copies.FUNCTIONS),
        (FROM_MEMORY, of_heap, copies.FUNCTIONS),
        (PUBLISHED_WAY, of_heap, published),
        (IN_CACHES, mapped, copies.COMPARED),
        (PUBLISHED_WAY, mapped, published),
        ({**PUBLISHED_WAY, "way": HUNDRED_RUNS}, ("heap", *mapped), published),
        # The other panel of plot C.
        ({**PUBLISHED_WAY, "threads": 8}, () if scope.threads else mapped, published),
    )
    for threads, (where, memories, functions) in product(scope.threads or (1,), works):
        for memory, size_bytes in product(memories, copies.SIZES):
            at = {"threads": threads, **where, "memory": memory, "size_bytes": size_bytes}
            is_mapped_there = memory not in SHARED_KINDS or size_bytes <= copies.SHARED_BYTES
            if is_mapped_there or where["way"] == CALIBRATED:
                yield from grid(scope, at, function=functions)


def _regions(scope: Scope) -> tuple[str, ...]:
    """The named region, written and read; nothing where none was named."""
    return (REGION, READ_REGION) if REGION in scope.memories else ()


def _length_published(_: Results) -> list[Published]:
    return [
        *_tool_file(RUNS_OF_100, "004-C", HUNDRED_RUNS, series=True),
        *_plots(
            ("C-left", IN_REGION, NAMED),
            ("C-right", {**PUBLISHED_WAY, "memory": REGION}, f"the published pool, {NAMED}"),
        ),
        *_tool_file("004-hal-results-5-runs", "004-R2", AS_PUBLISHED),
        *claims.winners(RUNS_OF_100, {**IN_CACHES, "threads": 1}, ("glibc_memcpy", "naive_memcpy")),
    ]


def _tool_file(name: str, figure: str, way: str, *, series: bool = False) -> Iterator[Published]:
    """A file of the tool's authors, experiment by experiment, beside the published way here.

    Reading from the heap is the same copy as writing to it, so both stand beside one cell.
    """
    for memory, place in copies.PLACES.items():
        here = "heap" if memory == copies.READ_HEAP else memory
        at: Cell = {**PUBLISHED_WAY, "memory": here, "way": way}
        yield from copies.published_copies(
            name, figure, at, way, experiment=place, is_drawn=series and here == memory
        )


def _plots(*panels: tuple[str, Cell, str]) -> list[Published]:
    """Panels of the plots A, B and C, each beside cells here and with their condition."""
    return [
        each
        for panel, at, note in panels
        for each in copies.published_copies(
            PLOTS, f"004-{panel[0] if panel[1] == '-' else 'A'}", at, note, panel=panel
        )
    ]


def _store_cost(results: Results) -> str:
    """Stores what Sealift's copy takes from memory, by length, for the engine's cost model.

    Returns:
        The place, or why it isn't stored, in a sentence; "" where nothing was measured.
    """
    from sealift.errors import InputError
    from sealift_lab._lab import keep_copy_cost

    if not results.rows:
        return ""
    times = []
    for size_bytes in copies.SIZES:
        where = {**FROM_MEMORY, "threads": 1, "function": "ours", "size_bytes": size_bytes}
        row = next(results.select(**where), None)
        if row is None or row.wrong or row.blocks < STORED_BLOCKS:
            return (
                f"{NOT_STORED}: {STORED_BLOCKS} right blocks are needed of {size_bytes:,} bytes "
                "from memory by one thread"
            )
        times.append((size_bytes, row.time.value))
    try:
        file = keep_copy_cost(times)
    except (InputError, OSError) as error:
        return f"{NOT_STORED}: {error}"
    return f"costs of copies here are stored in {file}, for cards whose descriptions leave them out"


HUNDRED_RUNS, RUNS_OF_100 = f"{AS_PUBLISHED}, 100 runs", "004-hal-results-100-runs"
SHARED_KINDS = (SHARED_MEMORY, READ_SHARED)
PUBLISHED_WAY: Cell = {"memory": "heap", "state": "hot", "way": AS_PUBLISHED}
IN_REGION: Cell = {"memory": REGION, "state": "hot", "way": CALIBRATED}
# Payload that is handed over comes from memory, or is about to go there.
FROM_MEMORY: Cell = {"memory": "heap", "state": "cold", "way": CALIBRATED}
IN_CACHES: Cell = {"memory": "heap", "state": "hot", "way": CALIBRATED}
PLOTS, NAMED = "004-plots-digitised", "into the region that was named"
# One that was disturbed doesn't matter then.
STORED_BLOCKS = 3
NOT_STORED = "costs of copies here are not stored for cards"

CHARTS_BY_LENGTH: Mapping[str, Cell] = {
    "Copies by length, within the caches": {"state": "hot", "way": CALIBRATED},
    "Copies by length, from memory": {"state": "cold"},
    "Copies by length, measured as published": {"way": HUNDRED_RUNS},
    "Copies by length, by the published pool": {"way": AS_PUBLISHED, "threads": 8},
}

BY_LENGTH = _experiment(
    **texts(__package__, "copy-by-length"),
    id="004-C",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.STATE, copies.WAY, copies.FUNCTION),
    compare="function",
    cells=_length_cells,
    published=_length_published,
    on_finish=_store_cost,
    charts=tuple(
        curves("size_bytes", "function", title=title, where=where, panels="memory")
        for title, where in CHARTS_BY_LENGTH.items()
    ),
    preferred={"size_bytes": 65_536, **IN_CACHES},
)


def _thread_cells(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or copies.THREADS
    memories = ("heap", SHARED_MEMORY, READ_SHARED, *_regions(scope))
    sizes = (*LENGTHS, *(each for each in copies.SIZES if each not in LENGTHS))
    for size_bytes, memory in product(sizes, memories):
        if memory in SHARED_KINDS and size_bytes not in SHARED_LENGTHS:
            continue
        ways = THREADINGS if memory == "heap" else (SHARED, POOL)
        at: Cell = {"memory": memory, "size_bytes": size_bytes, "function": "sse2"}
        yield from with_load(grid(scope, at, threads=threads, threading=ways), scope)


def _function_cells(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or copies.THREADS
    # One buffer for all threads, as there; Sealift's copy is not made for that.
    shared = [each for each in copies.FUNCTIONS if each != "ours"]
    for buffers, memories, functions in (
        ("private", ("heap",), copies.FUNCTIONS),
        ("shared", _regions(scope), shared),
        ("shared", SHARED_KINDS, copies.COMPARED),
    ):
        for memory, size_bytes in product(memories, LENGTHS):
            at: Cell = {"memory": memory, "size_bytes": size_bytes, "buffers": buffers}
            cells = grid(scope, {**at, "state": "hot"}, threads=threads, function=functions)
            yield from with_load(cells, scope)


def _threads_published(results: Results) -> list[Published]:
    pool: Cell = {"threading": POOL}
    later = "the tool as it was later, when it no longer opened its memory by O_SYNC"
    return [
        *_plots(
            ("A-left", {**pool, "memory": "heap"}, f"{POOL}, memory heap"),
            ("A-right", {**pool, "memory": REGION}, f"{POOL}, {NAMED}"),
            ("48cpu-write", {**pool, "memory": REGION}, f"{POOL}, {NAMED}; {later}"),
            ("48cpu-read", {**pool, "memory": READ_REGION}, f"{POOL}, {NAMED}, read; {later}"),
        ),
        *claims.escape_gap(results, pool),
        *claims.thread_knee(results, {"threading": SHARED}),
    ]


SHARED_LENGTHS = (4_096, 65_536, 1_048_576)
LENGTHS = (65_536, 1_048_576)
PRIVATE, SHARED, POOL = "a buffer each", "one buffer for all", "the published pool"
THREADING = Axis("threading", "buffers and queue of threads")
THREADINGS: Mapping[str, Cell] = {
    PRIVATE: {},
    SHARED: {"buffers": "shared"},
    POOL: {"way": AS_PUBLISHED},
}

BY_THREADS = _experiment(
    **texts(__package__, "copy-by-threads"),
    id="004-A",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.FUNCTION, LOAD, THREADING),
    compare="threading",
    cells=_thread_cells,
    arm=copies.arm_by("threading", THREADINGS),
    published=_threads_published,
    charts=tuple(
        curves("threads", "size_bytes", title="Copies by threads", where=where, panels=panels)
        for where, panels in (
            ({"memory": "heap"}, THREADING.name),
            ({THREADING.name: POOL}, copies.MEMORY.name),
        )
    ),
    preferred={"memory": "heap", "size_bytes": 65_536, "threads": 8},
    weight=1.2,
)
BY_FUNCTION = _experiment(
    **texts(__package__, "copy-by-function"),
    id="004-B",
    axes=(
        *(copies.MEMORY, copies.SIZE, copies.COUNT, copies.STATE, copies.BUFFERS),
        *(LOAD, copies.FUNCTION),
    ),
    compare="function",
    cells=_function_cells,
    published=lambda _: _plots(
        ("B-left", {"memory": REGION}, NAMED), ("B-right", {"memory": REGION}, NAMED)
    ),
    charts=tuple(
        curves(
            "threads",
            "function",
            title="Copies by threads and function",
            where={"size_bytes": size_bytes},
            panels="memory",
        )
        for size_bytes in LENGTHS
    ),
    preferred={"memory": "heap", "size_bytes": 65_536, "threads": 8},
    weight=0.6,
)


def _ceiling_published(results: Results) -> list[Published]:
    best = _best(results)
    first: Cell = {"size_bytes": CEILING_BYTES[0], "threads": 1, "kernel": READING}
    cell = best.cell if best else first
    what = "local memory bandwidth limit, reckoned there, traffic measured here"
    units = EXACT_UNITS[str(cell["kernel"])]
    here, note = Scaled(Rate(cell), units), f"{cell['kernel']}, {cell['threads']} threads"
    printed = float(table_row("004-X1-claims", claim_id="mem-limit")["value"]) * copies.MB_PER_GB
    of = ("mem-limit", Kind.VALUE, here, note)
    limit = printed_claim("004-M", what, *of, value=printed, unit="MB/s")
    one: Cell = {"threads": 1, "kernel": IN_CACHES_KERNEL, "size_bytes": HOT_BYTES}
    cold: Cell = {"threads": 1, "kernel": COPYING, "size_bytes": CEILING_BYTES[0]}
    return [limit, *claims.heap_limit(one, cold, cell, units)]


def _ceiling_lines(results: Results) -> list[Line]:
    """The document's line in every plot, and what memory moves here at most."""
    claim = table_row("004-X1-claims", claim_id="mem-limit")
    printed = float(claim["value"]) * copies.MB_PER_GB
    lines = [Line("memory limit, 2.933 x 8 GB/s", "MB/s", printed, Origin.PUBLISHED)]
    if best := _best(results):
        lines.append(Line("most that memory moves", "MB/s", _traffic(best), Origin.MEASURED))
    return lines


def _best(results: Results) -> Row | None:
    exact = (row for row in results.rows if row.cell["kernel"] in EXACT_UNITS and not row.wrong)
    return max(exact, key=_traffic, default=None)


def _traffic(row: Row) -> float:
    """MB/s that memory moves."""
    speed = row.payload_mb_per_s
    return EXACT_UNITS[str(row.cell["kernel"])] * speed.value if speed else 0.0


def _ceiling_cells(scope: Scope) -> Iterator[Cell]:
    threads = one_and_all(scope)
    first, second = ({"size_bytes": size_bytes} for size_bytes in CEILING_BYTES)
    yield from grid(scope, first, threads=threads, kernel=KERNELS)
    yield from grid(scope, {"size_bytes": HOT_BYTES}, threads=threads, kernel=HOT_KERNELS)
    yield from grid(scope, second, threads=threads, kernel=KERNELS)


CEILING_BYTES = (4 << 20, 16 << 20)
HOT_BYTES = 65_536
READING = "read, 64-byte registers"
COPYING, IN_CACHES_KERNEL = "copy by the C library", "copy within the caches, 16-byte registers"
KERNELS: Mapping[str, Cell] = {
    READING: {"operation": "read", "function": "avx512"},
    "read, words": {"operation": "read", "function": "words"},
    "write past the caches": {"operation": "write", "function": "non-temporal"},
    "write, 64-byte registers": {"operation": "write", "function": "avx512"},
    "fill by the C library": {"operation": "fill", "function": "glibc"},
    "copy past the caches": {"operation": "copy", "function": "non-temporal"},
    "copy, 16-byte registers": {"operation": "copy", "function": "sse2"},
    COPYING: {"operation": "copy", "function": "glibc"},
    "copy by Sealift": {"operation": "copy", "function": "ours"},
}
HOT_KERNELS: Mapping[str, Cell] = {
    IN_CACHES_KERNEL: {"operation": "copy", "function": "sse2", "state": "hot"},
}
# How often memory moves the payload, where that is known: not of stores through the caches, whose
# read processors may leave out.
EXACT_UNITS = {READING: 1, "read, words": 1, "write past the caches": 1, "copy past the caches": 2}

CEILING = Experiment(
    **texts(__package__, "memory-ceiling"),
    id="004-M",
    axes=(copies.SIZE, copies.COUNT, Axis("kernel", "kernel")),
    compare="kernel",
    cells=_ceiling_cells,
    arm=copies.arm_by("kernel", {**KERNELS, **HOT_KERNELS}, {"state": "cold"}),
    operation="block",
    published=_ceiling_published,
    lines=_ceiling_lines,
    charts=(Chart("threads", "kernel", "MB/s", "Memory: payload by threads", panels="size_bytes"),),
    preferred={"size_bytes": CEILING_BYTES[1], "threads": 1},
    weight=0.4,
)


def _cause_cells(scope: Scope) -> Iterator[Cell]:
    causes = [each for each in CAUSES if each != REGION or REGION in scope.memories]
    # A core is left for the thread beside.
    threads = scope.threads or sorted({1, max(1, scope.cores - 1)})
    cells = grid(scope, {}, size_bytes=LENGTHS, threads=threads, cause=causes)
    return with_load(cells, scope)


def _cause_published(results: Results) -> list[Published]:
    threads = max((int(row.cell["threads"]) for row in results.rows), default=1)
    at: dict[str, Value] = {"size_bytes": LENGTHS[0], "threads": threads}
    what = "a copy after a first touch over one beside TLB shootdowns"
    times = Times({**at, "cause": FIRST_TOUCH}, {**at, "cause": SHOOTDOWN})
    note = "our reading; printed is a cause, not a figure"
    shootdown = printed_claim("004-T", what, "shootdown", Kind.READING, times, note)
    return [shootdown, *claims.eviction(at, MAPPED, EVICTION, SHOOTDOWN)]


SHOOTDOWN, FIRST_TOUCH = "beside TLB shootdowns", "first touch"
MAPPED, EVICTION = "mapped shared memory", "mapped shared memory whose pages are taken away"
CAUSES: Mapping[str, Cell] = {
    "alone": {},
    "beside a spinning thread": {"beside": "spinner"},
    SHOOTDOWN: {"beside": "protector"},
    "huge pages": {"memory": "huge-pages"},
    FIRST_TOUCH: {"function": "first-touch"},
    "pages made ready": {"function": "populated"},
    MAPPED: {"memory": SHARED_MEMORY},
    EVICTION: {"memory": SHARED_MEMORY, "beside": "evictor"},
    "one buffer for all threads": {"buffers": "shared"},
    "the published queue": {"way": HUNDRED_RUNS, "queue": "yes"},
    "the published way without it": {"way": HUNDRED_RUNS, "queue": "no"},
    REGION: {"memory": REGION},
}

WHY_THREADS = Experiment(
    **texts(__package__, "why-threads"),
    id="004-T",
    axes=(copies.SIZE, copies.COUNT, LOAD, Axis("cause", "possible cause of slowness")),
    compare="cause",
    cells=_cause_cells,
    arm=copies.arm_by("cause", CAUSES, {"memory": "pages", "function": "glibc"}),
    operation="copy",
    published=_cause_published,
    lines_of=("memory-ceiling",),
    charts=(
        Chart("threads", "cause", "MB/s", "Copies with one cause each", "size_bytes", log_y=True),
    ),
    preferred={"size_bytes": LENGTHS[1], "threads": 1},
    weight=0.3,
)


def _example_published(_: Results) -> Iterator[Published]:
    table = partial(copies.published_copies, TERMINAL, "004-R1")
    many, hot = ({"memory": "heap", "way": way} for way in (MANY_RUNS, HOT))
    # Reading from the heap is the same copy as writing to it.
    yield from (*table(many, MANY_RUNS), *table(hot, HOT, is_drawn=False))
    head = partial(copies.published_copies, "004-R2-csv-head", "004-R2", is_drawn=False)
    yield from head(many, MANY_RUNS)
    for at in (many, hot):
        yield from claims.winners(TERMINAL, {**at, "threads": 1})


TERMINAL, EXAMPLE_BYTES = "004-R1-terminal-example", (16, 256, 65_536, 1_048_576)
FEW_RUNS, MANY_RUNS = f"{AS_PUBLISHED}, 5 runs", f"{AS_PUBLISHED}, 1000 runs"
HOT = f"{CALIBRATED}, hot"

EXAMPLE = _experiment(
    **texts(__package__, "copy-example"),
    id="004-R1",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.FUNCTION, copies.WAY),
    compare="way",
    cells=lambda scope: grid(
        scope,
        {"memory": "heap", "threads": 1},
        size_bytes=EXAMPLE_BYTES,
        function=copies.PUBLISHED_FUNCTIONS.values(),
        way=(HOT, f"{CALIBRATED}, cold", FEW_RUNS, MANY_RUNS),
    ),
    published=lambda results: [*_example_published(results)],
    charts=(
        curves("size_bytes", "way", title="One copy, measured in four ways", panels="function"),
    ),
    preferred={"size_bytes": 65_536, "function": "glibc"},
    weight=0.3,
)


MEMORIES = (
    *("heap", "pages", "huge-pages", "memfd", "shm", "file", "hugetlb"),
    *(READ_SHARED, f"{copies.READ}memfd", f"{copies.READ}file"),
)
BY_MEMORY = _experiment(
    **texts(__package__, "copy-by-memory"),
    id="004-X1",
    axes=(copies.SIZE, copies.COUNT, copies.STATE, copies.FUNCTION, copies.MEMORY),
    compare="memory",
    cells=lambda scope: grid(
        scope,
        {"threads": 1, "function": "glibc"},
        size_bytes=(65_536, 4_194_304),
        state=("hot", "cold"),
        memory=(*MEMORIES, *_regions(scope)),
    ),
    published=lambda _: [*claims.only_without_mmap({"threads": 1, "function": "glibc"})],
    charts=(
        curves("size_bytes", "memory", title="Copies into every kind of memory", panels="state"),
    ),
    preferred={"size_bytes": 65_536, "state": "hot"},
    weight=0.4,
)
