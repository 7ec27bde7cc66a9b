"""A GPU beside cores of a CPU (document 003, figures 9 and 10), break-even and latency.

One core against one thread (or, of Sealift's kernel, one warp); all cores against all of a GPU with
data where they are worked; and from this machine's memory and back there, by messages at once,
beside 1, 2, 4 and 8 cores. The last is what a user gets: the engine and the device's driver, which
gather, copy, work and scatter a batch, and wait for it before the next; from one thread, and from
as many as there are cores beside it, each with its part of the messages. A batch of one message
gives its latency. Not part of a quick run.
"""

from collections.abc import Iterator
from functools import partial

from sealift_lab.experiments.combinations import grid
from sealift_lab.experiments.document_003 import messages, tables
from sealift_lab.experiments.document_003.gpus import cells, limits
from sealift_lab.experiments.document_003.gpus.cells import AS_PUBLISHED, HOST, OURS, RESIDENT
from sealift_lab.experiments.document_003.gpus.limits import GPUS, Grid
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart, Line, Scope
from sealift_lab.model.published import Figure, Kind, Missing, Published, Rate, Times, printed_claim
from sealift_lab.model.results import Origin, Results


def _core_cells(scope: Scope) -> Iterator[Cell]:
    device = cells.device_of(scope)
    for code, driver in cells.BY_CODE.items():
        devices = (cells.cores_text(driver, 1), _core_text(device, code))
        yield from grid(scope, {"code": code, **RESIDENT_MESSAGES}, device=devices)


def _cells(scope: Scope) -> Iterator[Cell]:
    """The document's question first, then batches in the order in which they tell of break-even."""
    if scope.quick:
        return
    device, cores = cells.device_of(scope), scope.cores
    units, most = cells.units_of(device, cores), FEWER if device == cells.PROCESSOR else MANY
    # Of which every core has as many.
    each, resident = (-(-n // cores) * cores for n in (limits.THREAD_MESSAGES, most))
    for code, mode, data, batch, counts in (
        (AS_PUBLISHED, cells.REPLICATED, RESIDENT, each, [cores]),
        (OURS, cells.PARTITIONED, RESIDENT, resident, [cores]),
        *((OURS, cells.PARTITIONED, HOST, batch, cells.CORE_COUNTS) for batch in BATCHES),
    ):
        at: Cell = {"code": code, "mode": mode, "data": data, "units": units, "batch": batch}
        counts = [count for count in counts if count <= min(cores, batch)]
        devices = [*(cells.cores_text(cells.BY_CODE[code], count) for count in counts), device]
        # The more threads lay messages out, the faster they come.
        if data == HOST and len(counts) > 1:
            devices.append(cells.laid_out_text(device, counts[-1]))
        yield from grid(scope, {**RESIDENT_MESSAGES, **at}, device=devices)


def _core_text(device: str, code: str) -> str:
    return f"{device}, {'1 thread' if code == AS_PUBLISHED else '1 warp'}"


def _core_published(results: Results) -> Iterator[Published]:
    core, thread = CORE_ROWS[CPU], CORE_ROWS[GPU]
    of_core = {"device": cells.cores_text(cells.BY_CODE[AS_PUBLISHED], 1)}
    of_gpu = {"device": cells.device_in(results, code=AS_PUBLISHED)}
    speed, what = partial(tables.speed, "003-F9"), "one thread of i7-12700H"
    yield speed(what, core, Rate(of_core), f"table code on one core; {cells.WORKLOAD}")
    what, note = "one thread of RTX 4070", f"the published program, one thread; {cells.WORKLOAD}"
    yield speed(what, thread, cells.of_a_gpu(results, Rate(of_gpu), **of_gpu), note)
    what = "one CPU core against one GPU core"
    own = tables.mb_per_s(core) / tables.mb_per_s(thread)
    note = f"table code against the published program; the document's own table gives {own:.1f}"
    here = cells.of_a_gpu(results, Times(of_core, of_gpu), **of_gpu)
    yield printed_claim("003-F9", what, "cpu-gpu-core", Kind.RATIO, here, note)


def _published(results: Results) -> Iterator[Published]:
    gpu, cores, vendor = map(tables.mb_per_s, (ALL_ROWS[GPU], *CPU_ROWS))
    device: Cell = {"device": cells.device_in(results)}
    alone: Cell = {"batch": 1, "data": HOST}
    latency = Times({**alone, "device": cells.cores_text("cpu", 1)}, {**alone, **device})
    where = {"code": AS_PUBLISHED}
    published = (row.cell for row in results.select(**where))
    every = next((cell for cell in published if cells.core_count(str(cell["device"]))), None)
    here: Figure = Missing(f"no cores beside it: {results.why_missing(**where)}")
    if every is not None:
        here = Times({**every, **device}, every)
    what, here = "all of a GPU against all CPU cores", cells.of_a_gpu(results, here, **device)
    own = f"own tables give {gpu / cores:.1f}, and {gpu / vendor:.1f} against the vendor's library"
    note = "the published program on all of the GPU against table code on all cores; the document's"
    note = f"{note} {own}; {cells.WORKLOAD}"
    yield printed_claim("003-F10", what, "gpu-cpu", Kind.RATIO, here, note)
    what = "a CPU core takes less for one message than a GPU"
    here = cells.of_a_gpu(results, latency, **device)
    note = f"one message, handed over and waited for before the next, {HOST}; {cells.WORKLOAD}"
    yield printed_claim("003-F10", what, "latency", Kind.SHAPE, here, note)


def _core_lines(_: Results) -> Iterator[Line]:
    for code, threads in cells.CORE_THREADS.items():
        for gpu in GPUS:
            at = {"device": _core_text(cells.published_name(gpu), code)}
            yield cells.limit_line(gpu, code, Grid(1, threads), LIMIT_SERIES[code], at)
    for name, row in CORE_ROWS.items():
        yield cells.published_line("published", row, {"device": _core_text(name, AS_PUBLISHED)})


def _lines(_: Results) -> Iterator[Line]:
    """MB/s by device with data where they are worked; then ns a message by messages at once."""
    for code, series in LIMIT_SERIES.items():
        for gpu in GPUS:
            grid = Grid(gpu.multiprocessors, limits.BLOCK_THREADS)
            at: Cell = {"device": cells.published_name(gpu)}
            yield cells.limit_line(gpu, code, grid, series, at)
    for row in (*CPU_ROWS, *ALL_ROWS.values()):
        at = {"device": row.get("cpu") or row["gpu"]}
        yield cells.published_line(f"published, {row['test']}", row, at)
    for gpu in GPUS:
        for batch in sorted(BATCHES):
            at, ns = {"data": HOST, "batch": batch}, limits.message_ns(gpu, batch)
            yield Line(f"{gpu.name} at least", "time", ns, Origin.PROJECTED, at)
    for row in CPU_ROWS:
        ns = 1e9 * limits.TEXT_BYTES / (cells.MEGABYTE * tables.mb_per_s(row))
        series = f"published: {row['cpu']}, {row['test']}"
        yield Line(series, "time", ns, Origin.PUBLISHED, {"data": HOST})


CPU, GPU = "i7-12700H", "RTX 4070 (2023)"
ONE, EVERY = "Thread = 1", "Threads = cores"
CPU_ONE, *CPU_ROWS = (tables.cpu_row(cpu=CPU, test=test) for test in (ONE, EVERY, f"{EVERY}, IPP"))
GPU_ONE, ALL_ROWS = (
    {row["gpu"]: row for row in tables.GPUS if row["test"] == test} for test in (ONE, EVERY)
)
CORE_ROWS = {CPU: CPU_ONE, **GPU_ONE}
LIMIT_SERIES = {AS_PUBLISHED: "at most", OURS: "at most, Sealift's kernel"}
RESIDENT_MESSAGES: Cell = {"data": RESIDENT, "message_bytes": limits.TEXT_BYTES}
UNITS, BATCH = Axis("units", "multiprocessors, or cores"), Axis("batch", "messages at once")
FEWER, MANY = 4_096, 1 << 18
# Latency, then halves of what is left between, so that a budget that ends early leaves the least
# open; last what takes longest.
BATCHES = (1, 65_536, 4_096, 1_024, 16_384, 256, 262_144)
BY_BATCH = "Time a message by messages at once, host to host"
BY_DEVICE = "All cores, and all of a GPU, data where they are worked"

ONE_EACH = cells.gpu_experiment(
    **texts(__package__, "gpu-core-beside-cpu"),
    id="003-F9",
    axes=(cells.MESSAGE, cells.DATA, cells.CODE, cells.DEVICE),
    compare="device",
    cells=_core_cells,
    published=lambda results: [*_core_published(results)],
    charts=(
        Chart("device", "code", "MB/s", "One core, and one thread or warp of a GPU", log_y=True),
    ),
    lines=lambda results: [*_core_lines(results)],
    weight=0.2,
)
ALL_OF_EACH = cells.gpu_experiment(
    **texts(__package__, "gpu-beside-cpu"),
    id="003-F10",
    axes=(cells.MESSAGE, cells.DATA, cells.CODE, cells.MODE, UNITS, BATCH, cells.DEVICE),
    compare="device",
    cells=_cells,
    published=lambda results: [*_published(results)],
    charts=(
        Chart("batch", "device", "time", BY_BATCH, "", {"data": HOST}, log_x=True, log_y=True),
        Chart("device", "code", "MB/s", BY_DEVICE, "", {"data": RESIDENT}, log_y=True),
    ),
    lines=lambda results: [*_lines(results)],
    preferred={"data": HOST, "batch": 4_096},
    advice=messages.ADVICE,
    weight=0.8,
)
