"""Cores of this machine beside a device that works in grids: the same messages for both."""

import re
from collections.abc import Iterator

from sealift.lab.gpus.cells import (
    CODE,
    DATA,
    DEVICE,
    MESSAGE,
    MESSAGES,
    MODE,
    OURS,
    PARTITIONED,
    gpu_there,
    grid_arm,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.grid import sized, workload_of
from sealift.lab.native import gcm
from sealift.lab.spec import Arm, Context
from sealift.lab.values import Cell
from sealift.lab.workload import FRESH_KEYS


def cores_text(driver: str, cores: int) -> str:
    """A number of cores as the value of a cell: `cpu, 1 core`."""
    return f"{driver}, {cores} core{'s' * (cores > 1)}"


def cores_of(device: str) -> int | None:
    """How many cores a value of a cell names; None where it names a device."""
    match = CORES.fullmatch(device)
    return int(match[2]) if match else None


def core_counts(cores: int) -> Iterator[int]:
    """1, 2, 4 and 8 cores, as far as there are so many."""
    yield from (count for count in COUNTS if count <= cores)


def beside_arm(
    cell: Cell, device: str, grid: Grid | None, context: Context, *, messages: int
) -> Arm:
    """Cores, or a device, on messages that each have a key of their own.

    Args:
        cell: Its `DEVICE` says who.
        device: What opens the device where it is not cores.
        grid: Of threads; None for what Sealift's driver takes.
        context: For the seed of keys, nonces and texts.
        messages: At once, for all cores together.

    Raises:
        Skip: If there is no such device, or it needs too much memory.
        WrongResultError: If it computes something wrong.
    """
    match = CORES.fullmatch(str(cell[DEVICE.name]))
    if match is None:
        asked = {MODE.name: PARTITIONED, **cell, DEVICE.name: device}
        return grid_arm(asked, grid, context, messages=messages)
    each = max(1, messages // int(match[2]))
    work = {**sized(int(cell[MESSAGE.name]), FRESH_KEYS).cell, "batch": each}
    workload = workload_of(work, context.seed)
    return gcm(match[1], workload, threads=int(match[2]), batch=each, context=context)


def beside_there(cell: Cell, context: Context) -> object:
    """Finds out whether there is a cell's device; cores there are, with what the lab brings.

    Raises:
        Skip: If there is none, with what would bring it.
    """
    return cores_of(str(cell[DEVICE.name])) or gpu_there(cell, context)


def beside_cell(device: str, code: str, data: str) -> dict[str, str | int | float]:
    """What cells of cores and of devices have in common."""
    return {
        CODE.name: code,
        DATA.name: data,
        MESSAGE.name: MESSAGES.text_bytes,
        DEVICE.name: device,
    }


CORES = re.compile(r"(\w+), (\d+) cores?")
COUNTS = (1, 2, 4, 8)
# By code which device of cores does the same: table code stands for "ordinary calculations".
BY_CODE = {"as published": "table", OURS: "cpu"}
