"""What cells of GPUs' experiments have, and how an arm is made of one."""

from functools import lru_cache

from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.work import Messages
from sealift.lab.native import gpu, gpu_types, multiprocessors
from sealift.lab.spec import Arm, Axis, Context, Scope
from sealift.lab.values import Cell, Value


def device_of(scope: Scope) -> str:
    """The device that an experiment measures: a GPU, or where there is none this processor."""
    return next((name for name in DRIVERS if name in scope.devices), PROCESSOR)


def spec_of(device: str) -> str:
    """What opens a device of a cell; where there is no GPU OpenCL's first is a processor."""
    return "opencl:0" if device == PROCESSOR else device


@lru_cache(maxsize=8)
def units_of(device: str, cores: int) -> int:
    """How many blocks a device works at the same time: multiprocessors, or cores.

    Args:
        device: As in a cell. A processor is not asked, which would take a compiler into this
            process.
        cores: Of this machine.
    """
    return cores if device == PROCESSOR else multiprocessors(device)


def gpu_cell(device: str, grid: Grid, code: str, mode: str, data: str) -> Cell:
    """A cell of a grid on a device."""
    return {
        DEVICE.name: device,
        CODE.name: code,
        MODE.name: mode,
        DATA.name: data,
        MESSAGE.name: MESSAGES.text_bytes,
        BLOCKS.name: grid.blocks,
        THREADS.name: grid.threads,
    }


def gpu_arm(cell: Cell, context: Context) -> Arm:
    """Messages in a device's memory that are worked again and again, each of them checked.

    Raises:
        Skip: If there is no such device, with what would bring it.
        WrongResultError: If it computes something wrong.
    """
    return grid_arm(cell, grid_of(cell), context)


def gpu_there(cell: Cell, _: Context) -> object:
    """Finds out whether there is a cell's device, which its driver's compiler is not needed for.

    Raises:
        Skip: If there is none, with what would bring it.
    """
    return multiprocessors(spec_of(str(cell[DEVICE.name]).split(", ")[0]))


def grid_arm(cell: Cell, grid: Grid | None, context: Context, *, messages: int = 0) -> Arm:
    """The same in a grid, or in the one that Sealift's driver takes.

    Args:
        cell: Has all axes but those of the grid.
        grid: None for the driver's.
        context: For the seed of keys, nonces and texts.
        messages: How many; as many for each thread as for any when left out.

    Raises:
        Skip: If there is no such device, with what would bring it.
        WrongResultError: If it computes something wrong.
    """
    is_replicated = cell[MODE.name] == REPLICATED
    threads = 1 if is_replicated or grid is None else grid.every
    return gpu(
        spec_of(str(cell[DEVICE.name])),
        code=str(cell[CODE.name]),
        mode=str(cell[MODE.name]),
        data=str(cell[DATA.name]),
        grid=None if grid is None else (grid.blocks, grid.threads),
        messages=messages or min(MESSAGES_MOST, THREAD_MESSAGES * threads),
        message_bytes=int(cell[MESSAGE.name]),
        context=context,
    )


def types_arm(cell: Cell, _: Context) -> Arm:
    """Products of small matrices of a data type.

    Raises:
        Skip: If there is no such device, with what would bring it.
        WrongResultError: If it computes something wrong.
    """
    grid = grid_of(cell)
    device, of = spec_of(str(cell[DEVICE.name])), str(cell[TYPE.name])
    return gpu_types(device, of, grid=(grid.blocks, grid.threads))


def grid_of(cell: Cell) -> Grid:
    """The grid of a cell."""
    return Grid(int(cell[BLOCKS.name]), int(cell[THREADS.name]))


def ways(*data: Value) -> tuple[tuple[str, str, str], ...]:
    """Code, mode and data: the published program in its mode and honestly, and Sealift's kernel."""
    published = ((AS_PUBLISHED, mode, RESIDENT) for mode in (REPLICATED, PARTITIONED))
    return (*published, *((OURS, PARTITIONED, str(each)) for each in data))


DEVICE, CODE, MODE = Axis("device", "device"), Axis("code", "code"), Axis("mode", "mode")
DATA, MESSAGE = Axis("data", "data"), Axis("message_bytes", "message, bytes")
BLOCKS = Axis("thread_blocks", "thread blocks")
THREADS = Axis("threads_per_block", "threads of a block")
TYPE = Axis("type", "data type")
AXES = (DEVICE, CODE, MODE, DATA, MESSAGE, BLOCKS, THREADS)
# In rows, titles and sentences it is always called so: it is no GPU.
PROCESSOR = "OpenCL on this processor"
# Why nothing that was published of a GPU stands beside it.
ALONE = f"measured by {PROCESSOR} alone, which is no GPU"
DRIVERS = ("cuda", "opencl")
AS_PUBLISHED, OURS = "as published", "ours"
REPLICATED, PARTITIONED = "replicated", "partitioned"
RESIDENT, TRANSFERS = "resident", "with transfers"
# In this machine's memory, from where the engine and the device's driver take them.
HOST = "host to host"
# As long as document 003 states them. It mixes keys of 128, 192 and 256 bits, and seals, opens and
# verifies; here all have keys of 128 bits of their own, and are sealed.
MESSAGES = Messages(key_bits=128, text_bytes=128)
WORKLOAD = (
    "AES-128, sealing only; the document mixes keys of 128, 192 and 256 bits, and seals, opens and "
    "verifies"
)
# Of each thread where all of them work the same ones. The tables that a launch makes anew take as
# many instructions as one or two messages: with so many, a fortieth of all.
THREAD_MESSAGES = 64
# Where each is worked once: threads of large grids have fewer, and their tables tell more.
MESSAGES_MOST = 1 << 18
# A block of the document's grids: a thread for each core of a multiprocessor.
BLOCK_THREADS = 128
# Of Sealift's kernels: a warp at least, and what registers leave room for.
WARP, OURS_MOST = 32, 384
