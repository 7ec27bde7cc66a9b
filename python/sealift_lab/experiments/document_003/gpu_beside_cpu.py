"""A GPU beside cores of a CPU (document 003, figures 9 and 10), break-even and latency.

One core against one thread (or, of Sealift's kernel, one warp); all cores against all of a GPU with
data where they are worked; and from this machine's memory and back there, by messages at once,
beside 1, 2, 4 and 8 cores. The last is what a user gets: the engine and the device's driver, which
gather, copy, work and scatter a batch, and wait for it before the next. A batch of one message
gives its latency. Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift_lab.experiments.device_names import ADVICE
from sealift_lab.experiments.document_003 import printed
from sealift_lab.experiments.document_003.gpus import cells, figures, grids
from sealift_lab.experiments.document_003.gpus.cells import BY_CODE, HOST, cores_text
from sealift_lab.experiments.document_003.gpus.grids import BLOCK_THREADS, Grid
from sealift_lab.experiments.document_003.gpus.limits import GPUS, Gpu
from sealift_lab.experiments.document_003.gpus.machine_code import message_limit
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Figure, Missing, Rate, Times
from sealift_lab.model.published import Kind, Published, table
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _core_cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = cells.device_of(scope)
    for code, threads in THREADS.items():
        for name in (cores_text(BY_CODE[code], 1), _thread_text(device, threads)):
            yield cells.beside_cell(name, code, cells.RESIDENT)


def _thread_text(device: str, threads: int) -> str:
    return f"{device}, {'1 thread' if threads == 1 else '1 warp'}"


def _core_arm(cell: Cell, context: Context) -> Arm:
    name, threads = str(cell["device"]), THREADS[str(cell["code"])]
    device, *_ = name.split(", ")
    messages = CORE_MESSAGES if cells.core_count(name) else grids.THREAD_MESSAGES * threads
    return cells.beside_arm(cell, device, Grid(1, threads), context, messages=messages)


def _core_published(results: Results) -> Sequence[Published]:
    core, thread = CORE_ROWS[CPU], CORE_ROWS[DOCUMENT_GPU]
    of_core = {"device": cores_text(BY_CODE[cells.AS_PUBLISHED], 1)}
    of_gpu = {"device": figures.device_in(results, code=cells.AS_PUBLISHED)}
    return [
        printed.speed(
            "003-F9",
            "one thread of i7-12700H",
            core,
            Rate(of_core),
            f"table code on one core; {figures.WORKLOAD}",
        ),
        printed.speed(
            "003-F9",
            "one thread of RTX 4070",
            thread,
            figures.of_a_gpu(results, Rate(of_gpu), **of_gpu),
            f"the published program, one thread; {figures.WORKLOAD}",
        ),
        printed.claim(
            "003-F9",
            "one CPU core against one GPU core",
            "cpu-gpu-core",
            Kind.RATIO,
            figures.of_a_gpu(results, Times(of_core, of_gpu), **of_gpu),
            "table code against the published program; the document's own table gives "
            f"{printed.mb_per_s(core) / printed.mb_per_s(thread):.1f}",
            value=printed.claim_value("cpu-gpu-core"),
        ),
    ]


def _core_lines(_: Results) -> Sequence[Line]:
    def place(gpu: Gpu, threads: int) -> tuple[Cell, Grid]:
        return {"device": _thread_text(figures.published_name(gpu), threads)}, Grid(1, threads)

    rows = (
        figures.published_line("published", row, device=_thread_text(name, 1))
        for name, row in CORE_ROWS.items()
    )
    return [
        *figures.published_limits(lambda gpu: [place(gpu, 1)], "at most"),
        *figures.our_limits(lambda gpu: [place(gpu, cells.WARP)], series=OURS_AT_MOST),
        *rows,
    ]


def _cells(scope: Scope) -> Iterator[Cell]:
    """The document's question first, then batches in the order in which they tell of break-even."""
    if scope.quick:
        return
    device = cells.device_of(scope)
    units, every = cells.units_of(device, scope.cores), [scope.cores]
    each = cells.whole_shares(grids.THREAD_MESSAGES, scope.cores)
    resident = cells.whole_shares(FEWER if device == cells.PROCESSOR else MANY, scope.cores)
    yield from _group(cells.PUBLISHED_WAYS[0], each, units, every, device)
    yield from _group(cells.OUR_WAY, resident, units, every, device)
    for batch in BATCHES:
        counts = cells.core_counts(scope.cores, batch)
        yield from _group((cells.OURS, cells.PARTITIONED, HOST), batch, units, counts, device)


def _group(
    way: tuple[str, str, str], batch: int, units: int, counts: Sequence[int], device: str
) -> Iterator[Cell]:
    code, mode, data = way
    for name in (*(cores_text(BY_CODE[code], count) for count in counts), device):
        cell = cells.beside_cell(name, code, data)
        yield {**cell, "mode": mode, "units": units, "batch": batch}


def _arm(cell: Cell, context: Context) -> Arm:
    messages = int(cell["batch"])
    if cell["data"] == HOST:
        return cells.host_arm(cell, context, messages=messages)
    is_published = cell["code"] == cells.AS_PUBLISHED
    grid = Grid(int(cell["units"]), BLOCK_THREADS) if is_published else None
    return cells.beside_arm(cell, str(cell["device"]), grid, context, messages=messages)


def _published(results: Results) -> Sequence[Published]:
    gpu, cores, vendor = map(printed.mb_per_s, (ALL_ROWS[DOCUMENT_GPU], *CPU_ROWS))
    device: Cell = {"device": figures.device_in(results)}
    alone: Cell = {"batch": 1, "data": HOST}
    latency = Times({**alone, "device": ONE_CORE}, {**alone, **device})
    return [
        printed.claim(
            "003-F10",
            "all of a GPU against all CPU cores",
            "gpu-cpu",
            Kind.RATIO,
            figures.of_a_gpu(results, _against_cores(results), **device),
            "the published program on all of the GPU against table code on all cores; the "
            f"document's own tables give {gpu / cores:.1f}, and {gpu / vendor:.1f} against the "
            f"vendor's library; {figures.WORKLOAD}",
            value=printed.claim_value("gpu-cpu"),
        ),
        printed.claim(
            "003-F10",
            "a CPU core takes less for one message than a GPU",
            "latency",
            Kind.SHAPE,
            figures.of_a_gpu(results, latency, **device),
            f"one message, handed over and waited for before the next, {HOST}; {figures.WORKLOAD}",
        ),
    ]


def _against_cores(results: Results) -> Figure:
    """The device against all cores, by the published program."""
    where = {"code": cells.AS_PUBLISHED}
    rows = results.select(**where)
    cores = [row.cell for row in rows if cells.core_count(str(row.cell["device"]))]
    if not cores:
        return Missing(f"no cores beside it: {results.why_missing(**where)}")
    return Times({**cores[0], "device": figures.device_in(results)}, cores[0])


def _lines(_: Results) -> Sequence[Line]:
    return [*_resident_lines(), *_batch_lines()]


def _resident_lines() -> Iterator[Line]:
    """MB/s by device, with data where they are worked."""

    def whole(gpu: Gpu) -> tuple[Cell, Grid]:
        return {"device": figures.published_name(gpu)}, Grid(gpu.multiprocessors, BLOCK_THREADS)

    yield from figures.published_limits(lambda gpu: [whole(gpu)], "at most")
    for gpu in GPUS:
        limit = message_limit(gpu, grids.MESSAGES).bytes_per_s / grids.MEGABYTE
        at = {**figures.OUR_WAY, "device": figures.published_name(gpu)}
        yield Line(OURS_AT_MOST, "MB/s", limit, Origin.PROJECTED, at)
    for row in (*CPU_ROWS, *ALL_ROWS.values()):
        device = row.get("cpu") or row["gpu"]
        yield figures.published_line(f"published, {row['test']}", row, device=device)


def _batch_lines() -> Iterator[Line]:
    """Nanoseconds a message by messages at once, and those of published speeds of cores."""
    for gpu in GPUS:
        for batch in sorted(BATCHES):
            at: Cell = {"data": HOST, "batch": batch}
            ns = grids.message_ns(gpu, batch)
            yield Line(f"{gpu.name} at least", "time", ns, Origin.PROJECTED, at)
    for row in CPU_ROWS:
        ns = 1e9 * grids.MESSAGES.text_bytes / (grids.MEGABYTE * printed.mb_per_s(row))
        series = f"published: {row['cpu']}, {row['test']}"
        yield Line(series, "time", ns, Origin.PUBLISHED, {"data": HOST})


def _gpu_rows(test: str) -> Mapping[str, printed.Row]:
    rows = table("003-T5-gpu-generations")
    return {row["gpu"]: row for row in rows if row["test"] == test}


# By code the threads that stand for one core.
THREADS = {cells.AS_PUBLISHED: 1, cells.OURS: cells.WARP}
CORE_MESSAGES = 1_024
CPU, DOCUMENT_GPU = "i7-12700H", "RTX 4070 (2023)"
ONE, EVERY = "Thread = 1", "Threads = cores"
CPU_ONE, *CPU_ROWS = (printed.cpu_row(cpu=CPU, test=test) for test in (ONE, EVERY, f"{EVERY}, IPP"))
CORE_ROWS = {CPU: CPU_ONE, **_gpu_rows(ONE)}
ALL_ROWS = _gpu_rows(EVERY)
UNITS, BATCH = Axis("units", "multiprocessors, or cores"), Axis("batch", "messages at once")
FEWER, MANY = 4_096, 1 << 18
# Latency, then halves of what is left between, so that a budget that ends early leaves the least
# open; last what takes longest.
BATCHES = (1, 65_536, 4_096, 1_024, 16_384, 256, 262_144)
OURS_AT_MOST = "at most, Sealift's kernel"
ONE_CORE = cores_text("cpu", 1)

ONE_EACH = Experiment(
    name="gpu-core-beside-cpu",
    id="003-F9",
    title="One CPU core beside one thread of a GPU",
    question="How many times as fast is a core of a processor as one of a GPU?",
    axes=(cells.MESSAGE, cells.DATA, cells.CODE, cells.DEVICE),
    compare="device",
    cells=_core_cells,
    arm=_core_arm,
    published=_core_published,
    charts=(
        Chart("device", "code", "MB/s", "One core, and one thread or warp of a GPU", log_y=True),
    ),
    lines=_core_lines,
    names=figures.NAMES,
    weight=0.2,
    check_available=cells.check_device,
    notes=figures.gpu_notes(
        "The document's program runs in one thread, Sealift's kernel in one warp of 32, which is "
        "the least that it takes."
    ),
)
ALL_OF_EACH = Experiment(
    name="gpu-beside-cpu",
    id="003-F10",
    title="All CPU cores beside all of a GPU",
    question="How many times as fast is a GPU as all cores, from how many messages at once is it "
    "worth the copies there and back, and how long does one message alone take?",
    axes=(cells.MESSAGE, cells.DATA, cells.CODE, cells.MODE, UNITS, BATCH, cells.DEVICE),
    compare="device",
    cells=_cells,
    arm=_arm,
    published=_published,
    charts=(
        Chart(
            "batch",
            "device",
            "time",
            "Time a message by messages at once, host to host",
            where={"data": HOST},
            log_x=True,
            log_y=True,
        ),
        Chart(
            "device",
            "code",
            "MB/s",
            "All cores, and all of a GPU, data where they are worked",
            where={"data": cells.RESIDENT},
            log_y=True,
        ),
    ),
    lines=_lines,
    preferred={"data": HOST, "batch": 4_096},
    names=figures.NAMES,
    advice=ADVICE,
    weight=0.8,
    check_available=cells.check_device,
    is_optional_from=3,
    notes=figures.gpu_notes(
        "*Host to host*: the engine gathers, copies, works and scatters a batch, and the next one "
        "begins when it is back. Projected times take the longest of copy there, work and copy "
        "back; what the host does and what starts copies and kernels is not in them, so that small "
        "batches take much longer than projected."
    ),
)
