"""What the experiments on GPUs share: cells, arms, names, notes, charts and lines."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial

from sealift_lab.experiments.document_003 import messages, tables
from sealift_lab.experiments.document_003.gpus import limits
from sealift_lab.experiments.document_003.gpus.limits import LANES, TEXT_BYTES, Gpu, Grid
from sealift_lab.machine.sensors import GPU_DRIVERS, PROCESSOR_SPEC
from sealift_lab.measure.crypto import sized, workload_of
from sealift_lab.measure.native import gcm, multiprocessors, native
from sealift_lab.model.arm import Arm, Cell, Context, Sample, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.published import Figure, Missing
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.workload import FRESH_KEYS


def device_of(scope: Scope) -> str:
    """The device that is measured: the first GPU, or this processor where there is none."""
    gpus = (spec for spec in scope.devices if spec.partition(":")[0] in GPU_DRIVERS)
    return next(gpus, PROCESSOR)


def device_spec(device: Value) -> str:
    """The name under which a device of a cell is opened; OpenCL's first stands for a processor."""
    name = str(device).partition(", ")[0]
    return PROCESSOR_SPEC if name == PROCESSOR else name


@cache
def units_of(device: str, cores: int) -> int:
    """Blocks that a device works at the same time: multiprocessors, or cores of a processor."""
    return cores if device == PROCESSOR else multiprocessors(device)


def gpu_cell(device: str, grid: Grid, *way: str) -> Cell:
    """A cell with the axes `AXES`; a way is code, mode and data."""
    values: tuple[Value, ...] = (device, *way, TEXT_BYTES, grid.blocks, grid.threads)
    return {axis.name: value for axis, value in zip(AXES, values, strict=True)}


def grid_of(cell: Cell) -> Grid | None:
    """The grid of a cell, one core's or all of a device; None for that of Sealift's driver."""
    if "thread_blocks" in cell:
        return Grid(int(cell["thread_blocks"]), int(cell["threads_per_block"]))
    if "units" not in cell:
        return Grid(1, CORE_THREADS[str(cell["code"])])
    return Grid(int(cell["units"]), limits.BLOCK_THREADS) if cell["code"] == AS_PUBLISHED else None


def is_worked(code: str, grid: Grid) -> bool:
    """Whether code runs in a grid; Sealift's kernel takes whole warps, and no large blocks."""
    return code != OURS or LANES <= grid.threads <= OURS_MOST


def check_device(cell: Cell, _: Context) -> str:
    """Raises Skip where a cell's device is not there; a sentence where another stands for it."""
    device = str(cell["device"])
    if core_count(device) is None:
        multiprocessors(device_spec(device))
    return SUBSTITUTE if device.startswith(PROCESSOR) else ""


def gpu_arm(cell: Cell, context: Context) -> Arm:
    """Cores or a device on messages with a key each, all of them checked; raises as native arms.

    Host to host, the engine gets batches as from a user, one after the other: each is gathered,
    copied, worked, copied back and scattered before the next begins. Else a device works messages
    in its own memory again and again.
    """
    name, batch = str(cell["device"]), int(cell.get("batch", CORE_MESSAGES))
    if match := CORES.fullmatch(name):
        return _engine_arm(match[1], int(match[2]), batch, context)
    if cell["data"] == HOST:
        laid_out = LAID_OUT.fullmatch(name)
        threads = int(laid_out[1]) if laid_out else 1
        return WaitingArm(_engine_arm(device_spec(name), threads, batch, context))
    grid, mode = grid_of(cell), str(cell.get("mode", PARTITIONED))
    threads = 1 if mode == REPLICATED or grid is None else grid.every
    return native(
        "gpu",
        context,
        device=device_spec(name),
        code=cell["code"],
        mode=mode,
        data=cell["data"],
        grid=None if grid is None else (grid.blocks, grid.threads),
        messages=int(cell.get("batch", min(MESSAGES_MOST, limits.THREAD_MESSAGES * threads))),
        message_bytes=cell["message_bytes"],
    )


@dataclass(frozen=True)
class WaitingArm:
    """An arm whose thread waits for a device: off the core, which is no sign of other load."""

    arm: Arm

    def sample(self, seconds: float) -> Sample:
        """As the arm's."""
        sample = self.arm.sample(seconds)
        return replace(sample, involuntary_switches=0, cpu_share=1.0, clock_ghz=None)

    def report(self) -> Mapping[str, Value]:
        """As the arm's."""
        return self.arm.report()


def _engine_arm(device: str, threads: int, messages: int, context: Context) -> Arm:
    """A device of the engine with `messages` at once, which its threads share."""
    each, rest = divmod(messages, threads)
    assert not rest, f"{messages} messages can't be shared out over {threads} threads"
    cell = {**asdict(sized(TEXT_BYTES, FRESH_KEYS)), "batch": each}
    workload = workload_of(cell, context.seed)
    return gcm(device, workload, threads=threads, batch=each, context=context)


def cores_text(driver: str, cores: int) -> str:
    """A number of cores as the value of a cell: `cpu, 1 core`."""
    return f"{driver}, {cores} core{'s' * (cores > 1)}"


def laid_out_text(device: str, cores: int) -> str:
    """A device to which as many threads, each on a core of its own, give their batches."""
    return f"{device}, laid out by {cores} cores"


def core_count(device: str) -> int | None:
    """How many cores a value of a cell names; None where it names a device."""
    match = CORES.fullmatch(device)
    return int(match[2]) if match else None


def of_a_gpu(results: Results, figure: Figure, **where: Value) -> Figure:
    """A figure of a GPU; missing where the rows that it stands on are of a processor."""
    devices = (str(row.cell["device"]) for row in results.select(**where))
    is_processor = any(device.startswith(PROCESSOR) for device in devices)
    return Missing(f"measured by {PROCESSOR} alone, which is no GPU") if is_processor else figure


def device_in(results: Results, **where: Value) -> str:
    """The device beside cores among cells with these values; a processor where there is none."""
    fitting = (each.cell for each in results.reports if where.items() <= each.cell.items())
    names = (str(cell["device"]) for cell in fitting)
    return next((name for name in names if core_count(name) is None), PROCESSOR)


def limit_line(gpu: Gpu, code: str, grid: Grid, series: str, at: Cell) -> Line:
    """The projected limit of code in a grid, in MB/s."""
    speed = (limits.ours if code == OURS else limits.replicated)(gpu, grid)
    place = {"code": code, "data": RESIDENT, **at}
    return Line(series, "MB/s", speed / MEGABYTE, Origin.PROJECTED, place)


def published_line(series: str, row: tables.Row, at: Cell) -> Line:
    """The speed of a row of a published table, in MB/s."""
    return Line(series, "MB/s", tables.mb_per_s(row), Origin.PUBLISHED, {**PUBLISHED_WAY, **at})


def published_name(gpu: Gpu) -> str:
    """A GPU's name as the document prints it, or its own."""
    printed = (row["gpu"] for row in tables.GPUS if row["gpu"].startswith(gpu.name))
    return next(printed, gpu.name)


def code_charts(x: str, what: str, panels: str = "device") -> tuple[Chart, Chart]:
    """Payload along an axis: of the document's program, and of Sealift's kernel."""
    chart = partial(Chart, x, y="MB/s", panels=panels, log_x=True, log_y=True)
    return (
        chart("mode", title=f"{what}, the document's program", where={"code": AS_PUBLISHED}),
        chart("data", title=f"{what}, Sealift's kernel", where={"code": OURS}),
    )


DEVICE, CODE, MODE = Axis("device", "device"), Axis("code", "code"), Axis("mode", "mode")
DATA, MESSAGE = Axis("data", "data"), Axis("message_bytes", "message, bytes")
BLOCKS = Axis("thread_blocks", "thread blocks")
THREADS = Axis("threads_per_block", "threads of a block")
AXES = (DEVICE, CODE, MODE, DATA, MESSAGE, BLOCKS, THREADS)
# Always called so, because it is no GPU.
PROCESSOR = "OpenCL on this processor"
SUBSTITUTE = f"{PROCESSOR} stands for a GPU: it shows that the code works, not how fast a GPU is"
AS_PUBLISHED, OURS = "as published", "ours"
REPLICATED, PARTITIONED = "replicated", "partitioned"
RESIDENT, TRANSFERS = "resident", "with transfers"
# In this machine's memory, from where the engine and the device's driver take them.
HOST = "host to host"
PUBLISHED_WAY: Cell = {"code": AS_PUBLISHED, "data": RESIDENT}
# By code the device of cores that does the same: table code for "ordinary calculations".
BY_CODE = {AS_PUBLISHED: "table", OURS: "cpu"}
# By code the threads that stand for one core, the least that each takes.
CORE_THREADS = {AS_PUBLISHED: 1, OURS: LANES}
CORES = re.compile(r"(\w+), (\d+) cores?")
LAID_OUT = re.compile(r".+, laid out by (\d+) cores")
CORE_MESSAGES, CORE_COUNTS = 1_024, (1, 2, 4, 8)
# Where each is worked once: threads of large grids have fewer, and their tables tell more.
MESSAGES_MOST = 1 << 18
# Of Sealift's kernels: as many threads of a block as registers leave room for.
OURS_MOST = 384
MEGABYTE = 10**6
# Beside published speeds of GPUs.
WORKLOAD = (
    "AES-128, sealing only; the document mixes keys of 128, 192 and 256 bits, and seals, opens and "
    "verifies"
)
DEVICE_NAMES: Mapping[Value, str] = {
    **{gpu: messages.NAMES[gpu] for gpu in ("cuda", "opencl")},
    PROCESSOR: f"{PROCESSOR} (no GPU, for tests only)",
}
NAMES: Mapping[Value, str] = {
    **messages.NAMES,
    **{
        cores_text(driver, count): cores_text(messages.NAMES[driver], count)
        for driver in BY_CODE.values()
        for count in CORE_COUNTS
    },
    **{
        laid_out_text(str(device), count): laid_out_text(name, count)
        for device, name in DEVICE_NAMES.items()
        for count in CORE_COUNTS
    },
    **DEVICE_NAMES,
    AS_PUBLISHED: "the document's program",
    OURS: "Sealift's kernel",
}
gpu_experiment = partial(Experiment, arm=gpu_arm, names=NAMES, check_available=check_device)
