"""The cells of GPU experiments, and their arms: a grid on a device, or cores beside it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from sealift_lab.experiments.document_003.gpus.grids import MESSAGES, THREAD_MESSAGES, Grid
from sealift_lab.measure.crypto import sized, workload_of
from sealift_lab.measure.native import gcm, gpu, multiprocessors
from sealift_lab.model.experiment import Axis, Scope
from sealift_lab.model.sample import Arm, Context, Sample
from sealift_lab.model.values import Cell, Value
from sealift_lab.model.workload import FRESH_KEYS


def device_of(scope: Scope) -> str:
    """The device that is measured: a GPU, or this processor where there is none."""
    return next((name for name in ("cuda", "opencl") if name in scope.devices), PROCESSOR)


def device_spec(device: str) -> str:
    """The name under which a device of a cell is opened; OpenCL's first stands for a processor."""
    return "opencl:0" if device == PROCESSOR else device


@lru_cache(maxsize=8)
def units_of(device: str, cores: int) -> int:
    """Blocks that a device works at the same time: multiprocessors, or cores of a processor."""
    return cores if device == PROCESSOR else multiprocessors(device)


def gpu_cell(device: str, grid: Grid, code: str, mode: str, data: str) -> Cell:
    """A cell with the axes `AXES`."""
    return {
        "device": device,
        "code": code,
        "mode": mode,
        "data": data,
        "message_bytes": MESSAGES.text_bytes,
        "thread_blocks": grid.blocks,
        "threads_per_block": grid.threads,
    }


def grid_of(cell: Cell) -> Grid:
    """The grid of a cell."""
    return Grid(int(cell["thread_blocks"]), int(cell["threads_per_block"]))


def check_device(cell: Cell, _: Context) -> object:
    """Finds out whether a cell's device is there; cores always are.

    Raises:
        Skip: If it is not, with what would bring it.
    """
    device = str(cell["device"])
    return core_count(device) or multiprocessors(device_spec(device.split(", ")[0]))


def gpu_arm(cell: Cell, context: Context) -> Arm:
    """Messages in a device's memory, in the cell's own grid; raises as `grid_arm`."""
    return grid_arm(cell, grid_of(cell), context)


def grid_arm(cell: Cell, grid: Grid | None, context: Context, *, messages: int = 0) -> Arm:
    """Messages in a device's memory that are sealed again and again, each of them checked.

    Args:
        cell: Without the axes of a grid.
        grid: None for the grid that Sealift's driver takes.
        context: For the seed of keys, nonces and texts.
        messages: How many; 0 for `THREAD_MESSAGES` of each thread.

    Raises:
        Skip: If there is no such device, with what would bring it.
        WrongResultError: If it computes something wrong.
    """
    is_replicated = cell["mode"] == REPLICATED
    threads = 1 if is_replicated or grid is None else grid.every
    return gpu(
        device_spec(str(cell["device"])),
        code=str(cell["code"]),
        mode=str(cell["mode"]),
        data=str(cell["data"]),
        grid=None if grid is None else (grid.blocks, grid.threads),
        messages=messages or min(MESSAGES_MOST, THREAD_MESSAGES * threads),
        message_bytes=int(cell["message_bytes"]),
        context=context,
    )


def beside_cell(device: str, code: str, data: str) -> dict[str, Value]:
    """The part that cells of cores and of devices have in common."""
    size_bytes = MESSAGES.text_bytes
    return {"code": code, "data": data, "message_bytes": size_bytes, "device": device}


def beside_arm(
    cell: Cell, device: str, grid: Grid | None, context: Context, *, messages: int
) -> Arm:
    """The cores that a cell names, or a device on messages in its own memory; as `grid_arm`.

    Each message has a key of its own; cores share `messages` out.
    """
    if match := CORES.fullmatch(str(cell["device"])):
        return _engine_arm(match[1], int(match[2]), messages, context)
    on_device = {"mode": PARTITIONED, **cell, "device": device}
    return grid_arm(on_device, grid, context, messages=messages)


def host_arm(cell: Cell, context: Context, *, messages: int) -> Arm:
    """Cores, or a device through its driver, on messages in this machine's memory.

    The engine gets batches as from a user, one after the other: each is gathered, copied, worked,
    copied back and scattered before the next begins.
    """
    device = str(cell["device"])
    if match := CORES.fullmatch(device):
        return _engine_arm(match[1], int(match[2]), messages, context)
    return WaitingArm(_engine_arm(device_spec(device), 1, messages, context))


class WaitingArm:
    """An arm whose thread waits for a device; implements `Arm`.

    Its thread is off the core meanwhile: that is no sign of other load.
    """

    def __init__(self, arm: Arm) -> None:
        """Wraps an arm."""
        self._arm = arm

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`; raises as the arm does."""
        sample = self._arm.sample(seconds)
        return replace(sample, involuntary_switches=0, cpu_share=1.0, clock_ghz=None)

    def report(self) -> Mapping[str, Value]:
        """The arm's report."""
        return self._arm.report()


def cores_text(driver: str, cores: int) -> str:
    """A number of cores as the value of a cell: `cpu, 1 core`."""
    return f"{driver}, {cores} core{'s' * (cores > 1)}"


def core_count(device: str) -> int | None:
    """How many cores a value of a cell names; None where it names a device."""
    match = CORES.fullmatch(device)
    return int(match[2]) if match else None


def core_counts(cores: int, messages: int) -> list[int]:
    """1, 2, 4 and 8 cores, as far as there are so many and each has a message of its own."""
    return [count for count in (1, 2, 4, 8) if count <= min(cores, messages)]


def whole_shares(messages: int, cores: int) -> int:
    """The least number of messages from `messages` on of which every core has as many."""
    return -(-messages // cores) * cores


def _engine_arm(device: str, threads: int, messages: int, context: Context) -> Arm:
    """A device of the engine with `messages` at once, which its threads share."""
    each, rest = divmod(messages, threads)
    assert not rest, f"{messages} messages can't be shared out over {threads} threads"
    cell = {**sized(MESSAGES.text_bytes, FRESH_KEYS).cell, "batch": each}
    workload = workload_of(cell, context.seed)
    return gcm(device, workload, threads=threads, batch=each, context=context)


DEVICE, CODE, MODE = Axis("device", "device"), Axis("code", "code"), Axis("mode", "mode")
DATA, MESSAGE = Axis("data", "data"), Axis("message_bytes", "message, bytes")
BLOCKS = Axis("thread_blocks", "thread blocks")
THREADS = Axis("threads_per_block", "threads of a block")
AXES = (DEVICE, CODE, MODE, DATA, MESSAGE, BLOCKS, THREADS)
# Always called so, because it is no GPU.
PROCESSOR = "OpenCL on this processor"
AS_PUBLISHED, OURS = "as published", "ours"
REPLICATED, PARTITIONED = "replicated", "partitioned"
RESIDENT, TRANSFERS = "resident", "with transfers"
# In this machine's memory, from where the engine and the device's driver take them.
HOST = "host to host"
# The published program in its mode, and with each message worked once.
PUBLISHED_WAYS = ((AS_PUBLISHED, REPLICATED, RESIDENT), (AS_PUBLISHED, PARTITIONED, RESIDENT))
OUR_WAY = (OURS, PARTITIONED, RESIDENT)
# By code the device of cores that does the same: table code for "ordinary calculations".
BY_CODE = {AS_PUBLISHED: "table", OURS: "cpu"}
CORES = re.compile(r"(\w+), (\d+) cores?")
# Where each is worked once: threads of large grids have fewer, and their tables tell more.
MESSAGES_MOST = 1 << 18
# Of Sealift's kernels: a warp at least, and as many threads as registers leave room for.
WARP, OURS_MOST = 32, 384
