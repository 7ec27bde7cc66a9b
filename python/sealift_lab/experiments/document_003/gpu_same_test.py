"""The document's test on a GPU: keys of three lengths, seals, opens, and what a quarter is besides.

The other experiments on GPUs seal under AES-128, as their projections do. Here the same grids
(document 003, figures 7 to 10 and its tables of grids and generations) work the messages that the
CPU works: a third under keys of each length, half sealed and a quarter opened. The last quarter is
verified, as the text says, or opened and refused, as its log says. Both stand beside AES-128 sealed
in one group. Not part of a quick run; of a processor by OpenCL, one thread and all of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

from sealift_lab.experiments.document_003 import gpu_grids, messages, tables
from sealift_lab.experiments.document_003.gpus import cells, limits
from sealift_lab.experiments.document_003.gpus.cells import AS_PUBLISHED, OURS
from sealift_lab.experiments.document_003.gpus.limits import Grid
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import gcm, native
from sealift_lab.model import workload
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Axis, Chart, Scope
from sealift_lab.model.published import (
    Figure,
    Kind,
    Missing,
    Published,
    Scaled,
    Times,
    printed_claim,
)
from sealift_lab.model.results import Results
from sealift_lab.model.workload import FRESH_KEYS, SEAL_ONLY, Mix


@dataclass(frozen=True)
class Test:
    """Messages of 128 bytes: what a GPU does to them, and a CPU; a third for each key length."""

    operation: str
    mix: Mix
    key_bits: tuple[int, ...] = workload.KEY_BITS


def _cells(scope: Scope) -> Iterator[Cell]:
    """One thread and all of each first, then the grids of the figures."""
    if scope.quick:
        return
    device, cores = cells.device_of(scope), scope.cores
    units = cells.units_of(device, cores)
    one, whole = gpu_grids.one_and_all(device, units)
    for code, least in ((AS_PUBLISHED, one), (OURS, Grid(1, limits.LANES))):
        for count in sorted({1, cores}):
            yield from _tests(cells.cores_text(cells.BY_CODE[code], count), Grid(1, count), code)
        yield from chain.from_iterable(_tests(device, grid, code) for grid in (least, whole))
    if device == cells.PROCESSOR:
        return
    grids = (gpu_grids.one_block, gpu_grids.rounds, gpu_grids.document_grids)
    every = dict.fromkeys(chain.from_iterable(each(device, units) for each in grids))
    for grid in every.keys() - {one, whole}:
        yield from _tests(device, grid, AS_PUBLISHED)


def _tests(device: str, grid: Grid, code: str) -> Iterable[Cell]:
    is_device = cells.core_count(device) is None
    mode = cells.REPLICATED if code == AS_PUBLISHED and is_device else cells.PARTITIONED
    cell = cells.gpu_cell(device, grid, code, mode, cells.RESIDENT)
    return ({**cell, TEST.name: name} for name in TESTS)


def _arm(cell: Cell, context: Context) -> Arm:
    test, device = TESTS[str(cell[TEST.name])], str(cell["device"])
    message_bytes = int(cell["message_bytes"])
    if cores := cells.core_count(device):
        key_bits = tuple((bits, 1) for bits in test.key_bits)
        shapes = workload.combine(test.mix, ((message_bytes, 1),), key_bits=key_bits)
        name, count = str(cell[TEST.name]), cells.CORE_MESSAGES
        work = workload.Workload(f"003 {name}", shapes, FRESH_KEYS, count, context.seed)
        driver, _, _ = device.partition(", ")
        return gcm(driver, work, threads=cores, batch=count, context=context)
    grid = Grid(int(cell["thread_blocks"]), int(cell["threads_per_block"]))
    threads = 1 if cell["mode"] == cells.REPLICATED else grid.every
    least = min(cells.MESSAGES_MOST, limits.THREAD_MESSAGES * threads)
    return native(
        "gpu",
        context,
        device=cells.device_spec(device),
        code=cell["code"],
        mode=cell["mode"],
        data=cell["data"],
        grid=(grid.blocks, grid.threads),
        operation=test.operation,
        key_bits=test.key_bits,
        messages=-(-least // QUARTERS_OF_THIRDS) * QUARTERS_OF_THIRDS,
        message_bytes=message_bytes,
    )


def _published(results: Results) -> Iterator[Published]:
    units = gpu_grids.multiprocessors_in(results)
    device = cells.device_in(results)
    gpu: Cell = {**gpu_grids.REPLICATED_PUBLISHED, "device": device}
    for name in TESTS:
        of: Cell = {TEST.name: name}
        note = f"the published program, replicated; messages: {name}"
        if name != SEALED:
            yield from gpu_grids.grid_speeds(results, {**gpu, **of}, note)
            yield from gpu_grids.generation_speeds(results, {**gpu, **of}, note)
            yield from _breaks({**gpu, **of}, units, results, note)
            yield from _ratios({**gpu, **of}, of, units, results, name)
        yield _linear({**gpu, **of}, of, units, results, name)


def _breaks(where: Cell, units: int | None, results: Results, note: str) -> Iterator[Published]:
    for claim_id, axis, of, unit, at in (
        ("f7-break", "threads_per_block", limits.BLOCK_THREADS, CORES, {"thread_blocks": 1}),
        ("f8-break", "thread_blocks", units, UNITS, {"threads_per_block": limits.BLOCK_THREADS}),
    ):
        place: Cell = {**where, **at}
        here: Figure = Missing(results.why_missing(**place))
        if of is not None:
            here = gpu_grids.measured_break(results, axis, of, **place)
        figure, what = f"003-{claim_id[:2].upper()}", f"measured break / {unit}"
        yield printed_claim(figure, what, claim_id, Kind.SLOPE, here, note, value=1.0)


def _ratios(
    gpu: Cell, of: Cell, units: int | None, results: Results, name: str
) -> Iterator[Published]:
    """A core against a thread, and all cores against all of a GPU."""
    whole = {"thread_blocks": units or 0, "threads_per_block": limits.BLOCK_THREADS}
    one, every = _of_cores(of, results)
    for figure, what, claim_id, fast, slow in (
        ("003-F9", "one CPU core against one GPU core", "cpu-gpu-core", one, {**gpu, **ONE}),
        ("003-F10", "all of a GPU against all CPU cores", "gpu-cpu", {**gpu, **whole}, every),
    ):
        note = f"table code and the published program; messages: {name}"
        here = cells.of_a_gpu(results, Times(fast, slow), **gpu)
        yield printed_claim(figure, what, claim_id, Kind.RATIO, here, note)


def _linear(gpu: Cell, of: Cell, units: int | None, results: Results, name: str) -> Published:
    """Speed-up a thread of a GPU, over the speed-up a core of the CPU."""
    printed = {row["test"]: row for row in tables.GPUS if row["gpu"] == GPU}
    one, every = map(tables.mb_per_s, (printed["Thread = 1"], printed["Threads = cores"]))
    threads = limits.DOCUMENT_GPU.multiprocessors * limits.BLOCK_THREADS
    core, cores = (tables.mb_per_s(tables.cpu_row(cpu=CPU, test=test)) for test in CPU_TESTS)
    note = (
        f"speed-up a thread, all against one: a GPU's over the CPU's; messages: {name}; the "
        f"document's tables give {every / one / threads:.2f} on its {GPU} and "
        f"{cores / core / CPU_THREADS:.2f} on its {CPU}"
    )
    here = cells.of_a_gpu(results, _gains(gpu, of, units, results), **gpu)
    what = "our reading: more threads gain more of their number on a GPU than on a CPU"
    return printed_claim("003-F10", what, "gpu-linear", Kind.READING, here, note)


def _gains(gpu: Cell, of: Cell, units: int | None, results: Results) -> Figure:
    one, every = (next(results.select(**where), None) for where in _of_cores(of, results))
    speeds = [row.payload_mb_per_s for row in (one, every) if row and row.payload_mb_per_s]
    if units is None or one is None or every is None or one is every or len(speeds) < 2:
        return Missing("one thread and all threads of a GPU and of several cores are needed")
    of_cores = speeds[1].value / speeds[0].value / int(every.cell["threads_per_block"])
    whole = {"thread_blocks": units, "threads_per_block": limits.BLOCK_THREADS}
    gain = Times({**gpu, **whole}, {**gpu, **ONE})
    return Scaled(gain, 1 / (units * limits.BLOCK_THREADS) / of_cores)


def _of_cores(of: Cell, results: Results) -> tuple[Cell, Cell]:
    """Table code on one core and on the most cores that were measured."""
    where = {**of, "code": AS_PUBLISHED}
    names = (
        str(each.cell["device"]) for each in results.reports if of.items() <= each.cell.items()
    )
    counts = (cells.core_count(name) or 1 for name in names)
    driver = cells.BY_CODE[AS_PUBLISHED]
    one, every = (cells.cores_text(driver, count) for count in (1, max(counts, default=1)))
    return {**where, "device": one}, {**where, "device": every}


TEST = Axis("test", "messages")
SEALED = "AES-128, sealed"
VERIFIED, REFUSED = (f"three key lengths, a quarter {what}" for what in ("verified", "refused"))
TESTS: Mapping[str, Test] = {
    SEALED: Test("seal", SEAL_ONLY, (128,)),
    VERIFIED: Test("mixed, verified", messages.VERIFIED_MIX),
    REFUSED: Test("mixed, refused", messages.MIX),
}
# Messages of each key length are as many, and so are those of each quarter.
QUARTERS_OF_THIRDS = 12
ONE: Cell = {"thread_blocks": 1, "threads_per_block": 1}
CORES, UNITS = "cores of a multiprocessor", "multiprocessors"
GPU, CPU, CPU_THREADS = "RTX 4070 (2023)", "i7-12700H", 20
CPU_TESTS = ("Thread = 1", "Threads = cores")

_chart = partial(Chart, series=TEST.name, y="MB/s", log_x=True, log_y=True)
EXPERIMENT = cells.gpu_experiment(
    **texts(__package__, "gpu-same-test"),
    axes=(*cells.AXES, TEST),
    compare=TEST.name,
    cells=_cells,
    arm=_arm,
    published=lambda results: [*_published(results)],
    charts=(
        _chart(
            "threads_per_block",
            title="One block, the document's program",
            panels="device",
            where={"mode": cells.REPLICATED, "thread_blocks": 1},
        ),
        _chart(
            "thread_blocks",
            title=f"Blocks of {limits.BLOCK_THREADS} threads, the document's program",
            panels="device",
            where={"mode": cells.REPLICATED, "threads_per_block": limits.BLOCK_THREADS},
        ),
    ),
    weight=0.5,
)
