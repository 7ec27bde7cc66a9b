"""Document 004's comparisons of copies: by length, threads, function, memory, offset and cause.

Plots A, B and C, the causes (004-T), the example run and its file (004-R1, 004-R2), the limit of
memory (004-M), and two factors that the document did not vary: the kind of memory, and where the
destination lies.

Payload is the bytes that a program wanted. Traffic is the bytes that memory moved: a read moves the
payload once, a store past the caches once, a store through them twice, because its line is read
before it is written.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import product

from sealift_lab.experiments.combinations import grid
from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import AS_PUBLISHED, CALIBRATED, REGION, curves
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import LOAD, one_and_all, with_load
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.published import Kind, Published, Rate, Scaled, Times, table_row
from sealift_lab.model.results import Results, Row

_experiment = partial(Experiment, arm=copies.copy_arm, operation="copy", names=copies.FUNCTIONS)


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
    published = copies.PUBLISHED_FUNCTIONS.values()
    for threads in scope.threads or (1,):
        for size_bytes, where in product(copies.SIZES, (IN_CACHES, FROM_MEMORY)):
            at = {**where, "size_bytes": size_bytes, "threads": threads}
            yield from grid(scope, at, function=copies.FUNCTIONS)
        for size_bytes in copies.SIZES:
            at = {**PUBLISHED_WAY, "size_bytes": size_bytes, "threads": threads}
            yield from grid(scope, at, function=published)
            if REGION in scope.memories:
                yield from grid(scope, {**at, **IN_REGION}, function=copies.FUNCTIONS)


def _length_published(_: Results) -> list[Published]:
    note = "the published way, 5 runs; the tool's authors' own file has 100"
    table, heap = "004-hal-results-100-runs", "App writes to host-heap"
    return [
        *copies.published_copies(table, "004-C", PUBLISHED_WAY, note, experiment=heap),
        *_plots(("C-left", IN_REGION, NAMED), ("C-right", IN_REGION, NAMED)),
        # The others stand beside the example.
        *_tool_file(PUBLISHED_WAY, PUBLISHED_WAY, {*copies.SIZES}.difference(EXAMPLE_BYTES)),
    ]


def _plots(*panels: tuple[str, Cell, str]) -> list[Published]:
    """Panels of the plots A, B and C, each beside cells here and with their condition."""
    return [
        each
        for panel, at, note in panels
        for each in copies.published_copies(PLOTS, f"004-{panel[0]}", at, note, panel=panel)
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


PUBLISHED_WAY: Cell = {"memory": "heap", "state": "hot", "way": AS_PUBLISHED}
IN_REGION: Cell = {"memory": REGION, "state": "hot", "way": CALIBRATED}
# Payload that is handed over comes from memory, or is about to go there.
FROM_MEMORY: Cell = {"memory": "heap", "state": "cold", "way": CALIBRATED}
IN_CACHES: Cell = {"memory": "heap", "state": "hot", "way": CALIBRATED}
PLOTS, NAMED = "004-plots-digitised", "into the region that was named"
# One that was disturbed doesn't matter then.
STORED_BLOCKS = 3
NOT_STORED = "costs of copies here are not stored for cards"

BY_LENGTH = _experiment(
    **texts(__package__, "copy-by-length"),
    id="004-C",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.STATE, copies.WAY, copies.FUNCTION),
    compare="function",
    cells=_length_cells,
    published=_length_published,
    on_finish=_store_cost,
    charts=tuple(
        curves("size_bytes", "function", title=f"Copies by length, {title}", where=where)
        for title, where in (
            ("within the caches", IN_CACHES),
            ("from memory", FROM_MEMORY),
            ("measured as published", PUBLISHED_WAY),
            ("into the named region", IN_REGION),
        )
    ),
    preferred={"size_bytes": 65_536, **IN_CACHES},
)


def _thread_cells(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or copies.THREADS
    for memory in ("heap", *scope.memories):
        at: Cell = {"memory": memory, "function": "sse2"}
        ways = THREADINGS if memory == "heap" else (SHARED,)
        cells = grid(scope, at, size_bytes=copies.SIZES, threads=threads, threading=ways)
        yield from with_load(cells, scope)


def _function_cells(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or copies.THREADS
    for memory, size_bytes in product(("heap", *scope.memories), LENGTHS):
        at: Cell = {"memory": memory, "size_bytes": size_bytes, "state": "hot"}
        functions, buffers = [*copies.FUNCTIONS], "private"
        if memory == REGION:
            # One for all threads, as there; Sealift's copy is not made for that.
            functions, buffers = [each for each in functions if each != "ours"], "shared"
        cells = grid(scope, {**at, "buffers": buffers}, threads=threads, function=functions)
        yield from with_load(cells, scope)


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
    published=lambda _: _plots(
        ("A-left", {"memory": "heap", "threading": POOL}, f"{POOL}, memory heap"),
        ("A-right", {"memory": REGION, "threading": SHARED}, f"{SHARED}, memory {REGION}"),
    ),
    charts=tuple(
        curves("threads", "size_bytes", title=f"Copies by threads, {title}", where=where)
        for title, where in (
            *((each, {"memory": "heap", "threading": each}) for each in (POOL, PRIVATE, SHARED)),
            ("into the named region", {"memory": REGION, "threading": SHARED}),
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
        curves("threads", "function", title=title, where={"memory": memory}, panels="size_bytes")
        for title, memory in (
            ("Copies by threads and function, a heap a thread", "heap"),
            ("Copies by threads and function, the named region", REGION),
        )
    ),
    preferred={"memory": "heap", "size_bytes": 65_536, "threads": 8},
    weight=0.6,
)


def share_of_ceiling(results: Results, threads: int) -> float | None:
    """The least share of the most traffic that Sealift's copy moves, over its lengths."""
    rows = [row for row in results.select(threads=threads) if not row.wrong]
    own = [_traffic(row) for row in rows if row.cell["kernel"] == OUR_KERNEL]
    most = max((_traffic(row) for row in rows if row.cell["kernel"] != OUR_KERNEL), default=0.0)
    return min(1.0, min(own) / most) if own and most else None


def _ceiling_published(results: Results) -> list[Published]:
    claim = table_row("004-X1-claims", claim_id="mem-limit")
    exact = (row for row in results.rows if row.cell["kernel"] in EXACT_UNITS and not row.wrong)
    best = max(exact, key=_traffic, default=None)
    first: Cell = {"size_bytes": CEILING_BYTES[0], "threads": 1, "kernel": READING}
    cell = best.cell if best else first
    what = "local memory bandwidth limit, reckoned there, traffic measured here"
    value, source = float(claim["value"]) * copies.MB_PER_GB, claim["source"]
    traffic = Scaled(Rate(cell), EXACT_UNITS[str(cell["kernel"])])
    note = f"{cell['kernel']}, {cell['threads']} threads; printed {claim['as_printed']}"
    return [Published("004-M", what, value, "MB/s", source, Kind.VALUE, traffic, note)]


def _traffic(row: Row) -> float:
    """MB/s that memory moves; 0 where that isn't known."""
    speed, units = row.payload_mb_per_s, TRAFFIC_UNITS.get(str(row.cell["kernel"]), 0)
    return units * speed.value if speed else 0.0


CEILING_BYTES = (4 << 20, 16 << 20)
READING, OUR_KERNEL = "read, 64-byte registers", "copy by Sealift"
KERNELS: Mapping[str, Cell] = {
    READING: {"operation": "read", "function": "avx512"},
    "read, words": {"operation": "read", "function": "words"},
    "write past the caches": {"operation": "write", "function": "non-temporal"},
    "write, 64-byte registers": {"operation": "write", "function": "avx512"},
    "fill by the C library": {"operation": "fill", "function": "glibc"},
    "copy past the caches": {"operation": "copy", "function": "non-temporal"},
    "copy, 16-byte registers": {"operation": "copy", "function": "sse2"},
    "copy by the C library": {"operation": "copy", "function": "glibc"},
    OUR_KERNEL: {"operation": "copy", "function": "ours"},
}
# How often memory moves the payload, where that is known: not of stores through the caches, whose
# read processors may leave out.
EXACT_UNITS = {READING: 1, "read, words": 1, "write past the caches": 1, "copy past the caches": 2}
# Sealift's copy may be the C library's: the least.
TRAFFIC_UNITS = {**EXACT_UNITS, OUR_KERNEL: 2}

CEILING = Experiment(
    **texts(__package__, "memory-ceiling"),
    id="004-M",
    axes=(copies.SIZE, copies.COUNT, Axis("kernel", "kernel")),
    compare="kernel",
    cells=lambda scope: grid(
        scope, {}, size_bytes=CEILING_BYTES, threads=one_and_all(scope), kernel=KERNELS
    ),
    arm=copies.arm_by("kernel", KERNELS, {"state": "cold"}),
    operation="block",
    published=_ceiling_published,
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
    claim = table_row("004-X1-claims", claim_id="shootdown")
    threads = max((int(row.cell["threads"]) for row in results.rows), default=1)
    at: dict[str, Value] = {"size_bytes": LENGTHS[0], "threads": threads}
    what = "a copy after a first touch over one beside TLB shootdowns"
    times = Times({**at, "cause": FIRST_TOUCH}, {**at, "cause": SHOOTDOWN})
    note = f"our reading; printed is a cause, not a figure: {claim['as_printed']}"
    return [Published("004-T", what, 1.0, "x", claim["source"], Kind.READING, times, note)]


SHOOTDOWN, FIRST_TOUCH = "beside TLB shootdowns", "first touch"
HUNDRED_RUNS = f"{AS_PUBLISHED}, 100 runs"
CAUSES: Mapping[str, Cell] = {
    "alone": {},
    "beside a spinning thread": {"beside": "spinner"},
    SHOOTDOWN: {"beside": "protector"},
    "huge pages": {"memory": "huge-pages"},
    FIRST_TOUCH: {"function": "first-touch"},
    "pages made ready": {"function": "populated"},
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
    charts=(
        Chart("threads", "cause", "MB/s", "Copies with one cause each", "size_bytes", log_y=True),
    ),
    preferred={"size_bytes": LENGTHS[1], "threads": 1},
    weight=0.3,
)


def _example_published(_: Results) -> list[Published]:
    table = partial(copies.published_copies, "004-R1-terminal-example", "004-R1")
    many, hot, few = ({"memory": "heap", "way": way} for way in (MANY_RUNS, HOT, FEW_RUNS))
    # Reading from the heap is the same copy as writing to it.
    example = (*table(many, MANY_RUNS), *table(hot, HOT, is_drawn=False))
    return [*example, *_tool_file(many, few, EXAMPLE_BYTES)]


def _tool_file(many_runs: Cell, few_runs: Cell, sizes: Collection[int]) -> Iterator[Published]:
    """The heap's rows of the tool's file, of 1,000 runs and of 5, beside cells of one way each."""
    for name, at in (("004-R2-csv-head", many_runs), ("004-hal-results-5-runs", few_runs)):
        file = partial(copies.published_copies, name, "004-R2", at, str(at["way"]), is_drawn=False)
        for direction in ("writes to", "reads from"):
            yield from file(sizes=sizes, experiment=f"App {direction} host-heap")


EXAMPLE_BYTES = (16, 256, 65_536, 1_048_576)
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
    published=_example_published,
    charts=(
        curves("size_bytes", "way", title="One copy, measured in four ways", panels="function"),
    ),
    preferred={"size_bytes": 65_536, "function": "glibc"},
    weight=0.3,
)


MEMORIES = ("heap", "pages", "huge-pages", "memfd", "shm", "file", "hugetlb")
BY_MEMORY = _experiment(
    **texts(__package__, "copy-by-memory"),
    axes=(copies.SIZE, copies.COUNT, copies.STATE, copies.FUNCTION, copies.MEMORY),
    compare="memory",
    cells=lambda scope: grid(
        scope,
        {"threads": 1, "function": "glibc"},
        size_bytes=(65_536, 4_194_304),
        state=("hot", "cold"),
        memory=(*MEMORIES, *scope.memories),
    ),
    charts=(
        curves("size_bytes", "memory", title="Copies into every kind of memory", panels="state"),
    ),
    preferred={"size_bytes": 65_536, "state": "hot"},
    weight=0.2,
)
