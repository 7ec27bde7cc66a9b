"""Cores of this machine beside a device that works in grids: the same messages for both."""

import re
from collections.abc import Mapping
from dataclasses import replace

from sealift.lab.gpus.cells import (
    AS_PUBLISHED,
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
    spec_of,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.grid import sized, workload_of
from sealift.lab.native import gcm
from sealift.lab.spec import Arm, Context, Sample
from sealift.lab.values import Cell, Value
from sealift.lab.workload import FRESH_KEYS


def cores_text(driver: str, cores: int) -> str:
    """A number of cores as the value of a cell: `cpu, 1 core`."""
    return f"{driver}, {cores} core{'s' * (cores > 1)}"


def cores_of(device: str) -> int | None:
    """How many cores a value of a cell names; None where it names a device."""
    match = CORES.fullmatch(device)
    return int(match[2]) if match else None


def core_counts(cores: int, messages: int) -> list[int]:
    """1, 2, 4 and 8 cores, as far as there are so many and each has a message of its own."""
    return [count for count in COUNTS if count <= min(cores, messages)]


def shared_out(messages: int, cores: int) -> int:
    """So many messages, or the few more with which every core has as many as any other."""
    return -(-messages // cores) * cores


def beside_arm(
    cell: Cell, device: str, grid: Grid | None, context: Context, *, messages: int
) -> Arm:
    """Cores, or a device on messages in its own memory; each message has a key of its own.

    Args:
        cell: Its `DEVICE` says who.
        device: What opens the device where it is not cores.
        grid: Of threads; None for what Sealift's driver takes.
        context: For the seed of keys, nonces and texts.
        messages: At once, for all cores together, which share them out.

    Raises:
        Skip: If there is no such device, or it needs too much memory.
        WrongResultError: If it computes something wrong.
    """
    if match := CORES.fullmatch(str(cell[DEVICE.name])):
        return _handed(match[1], int(match[2]), messages, context)
    asked = {MODE.name: PARTITIONED, **cell, DEVICE.name: device}
    return grid_arm(asked, grid, context, messages=messages)


def host_arm(cell: Cell, context: Context, *, messages: int) -> Arm:
    """Cores, or a device by its driver, on messages that lie in this machine's memory.

    Batches are handed to the engine as a user hands them over, one after the other: each is laid
    out for the device, copied, worked, copied back and put in its place before the next begins.

    Args:
        cell: Its `DEVICE` says who.
        context: For the seed of keys, nonces and texts.
        messages: Of a batch; cores share them out.

    Raises:
        Skip: If there is no such device, or it needs too much memory.
        WrongResultError: If it computes something wrong.
    """
    if match := CORES.fullmatch(str(cell[DEVICE.name])):
        return _handed(match[1], int(match[2]), messages, context)
    return Waiting(_handed(spec_of(str(cell[DEVICE.name])), 1, messages, context))


class Waiting:
    """An arm whose thread waits for a device; implements `spec.Arm`.

    That nothing of the thread runs meanwhile says nothing about what else ran on its core.
    """

    def __init__(self, arm: Arm) -> None:
        """Takes over an arm."""
        self._arm = arm

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`.

        Raises:
            WrongResultError: If something was computed wrong.
        """
        sample = self._arm.sample(seconds)
        return replace(sample, involuntary_switches=0, cpu_share=1.0, clock_ghz=None)

    def verified(self) -> Mapping[str, Value]:
        """What the arm tells."""
        return self._arm.verified()


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


def _handed(device: str, threads: int, messages: int, context: Context) -> Arm:
    """A device of the engine that is handed so many messages at once, by threads that share them.

    Raises:
        Skip: If there is no such device, or it needs too much memory.
    """
    each, rest = divmod(messages, threads)
    assert not rest, f"{messages} messages can't be shared out over {threads} threads"
    work = {**sized(MESSAGES.text_bytes, FRESH_KEYS).cell, "batch": each}
    workload = workload_of(work, context.seed)
    return gcm(device, workload, threads=threads, batch=each, context=context)


CORES = re.compile(r"(\w+), (\d+) cores?")
COUNTS = (1, 2, 4, 8)
# By code which device of cores does the same: table code stands for "ordinary calculations".
BY_CODE = {AS_PUBLISHED: "table", OURS: "cpu"}
