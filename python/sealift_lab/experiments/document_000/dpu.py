"""AES on one simulated DPU, and experiments that are computed.

The simulator compares every byte of a kernel's output.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from sealift_lab import _lab
from sealift_lab.model.arm import Cell, Computed, Value
from sealift_lab.model.experiment import Axis, Experiment
from sealift_lab.model.published import Published
from sealift_lab.model.results import Origin, Results


class Kernel(NamedTuple):
    """A kernel that processes data in MRAM with any number of tasklets.

    Attributes:
        name: As `run_dpu_kernel` knows it.
        title: As it stands in cells.
        movers: Tasklets that only move data.
        message_bytes: Length of each message under a key of its own; 0 for one long text.
    """

    name: str
    title: str
    movers: int = 0
    message_bytes: int = 0


def steady(kernel: Kernel, tasklets: int, *, hazard: bool) -> tuple[_lab.DpuKernelRun, int]:
    """A run with equally much work for each tasklet, movers included, and its bytes."""
    workers = tasklets - kernel.movers
    data_bytes = workers * (MESSAGES * kernel.message_bytes or CHUNKS * CHUNK_BYTES)
    return simulate(kernel, workers, data_bytes, hazard=hazard), data_bytes


def document_run(operation: str, counts: str) -> _lab.DpuKernelRun:
    """Document 000's algorithm: one instruction for each operation of its source, one tasklet."""
    decrypts = operation == "Decryption"
    return simulate(DOCUMENT_000, 1, BUFFER_BYTES, decrypts=decrypts, counts=counts)


def document_time(operation: str, counts: str, *, has_dma: bool = True) -> float:
    """Cycles or instructions for 2,048 bytes, by its own timer, around the transfers or within."""
    begin, fetched, finished, end = document_run(operation, counts).times
    # The timer counts in steps of 16 cycles or instructions.
    return 16.0 * (end - begin if has_dma else finished - fetched)


def document_rate(counts: str) -> float:
    """Cycles, or instructions, a byte of its encryption, transfers included.

    A DPU issues an instruction a cycle at most. Eleven tasklets that share the work reach that, so
    instructions are their cycles.
    """
    return document_time("Encryption", counts) / BUFFER_BYTES


@lru_cache(maxsize=4096)
def simulate(
    kernel: Kernel, tasklets: int, data_bytes: int, **changes: str | int
) -> _lab.DpuKernelRun:
    """A run under a key of 128 bits.

    Movers come on top of `tasklets`; `changes` are of what `REQUEST` has.
    """
    request = {**REQUEST, "tasklets": tasklets, **changes}
    if size := kernel.message_bytes:
        messages = {"messages": data_bytes // size, "message_bytes": size}
        return _lab.run_dpu_messages({**request, **messages})
    return _lab.run_dpu_kernel({**request, "kernel": kernel.name, "bytes": data_bytes})


@lru_cache(maxsize=1024)
def latency(direction: str, transfer_bytes: int) -> int:
    """Cycles between two readings of a timer, of single cycles, with one transfer in between.

    Args:
        direction: `read`, out of MRAM, or `write`.
        transfer_bytes: 8 to 2,048, a multiple of 8.
    """
    source = PROGRAM.format(DIRECTIONS[direction], words=transfer_bytes // 8 - 1)
    run = _lab.DpuRun(_lab.DpuProgram.assemble(source), _lab.DpuSystem.parse(SYSTEM))
    # Far more than it takes.
    if (outcome := run.run(100_000, 60.0)) != "done":
        raise RuntimeError(f"the program that times a transfer did not end: {outcome}")
    return run.registers(0)[5]


def computed(
    *,
    axes: tuple[Axis, ...],
    facts: Callable[[Cell], Mapping[str, Value]],
    cells: Sequence[Cell] = (),
    published: Callable[[Results], Iterable[Published]] | None = None,
    **fields: Any,
) -> Experiment:
    """An experiment whose arms are computed; part of a quick run if something was published for it.

    Its cells are all combinations of the axes' values when left out.
    """
    names = [axis.name for axis in axes]
    combinations = product(*(axis.values for axis in axes))
    cells = cells or [dict(zip(names, each, strict=True)) for each in combinations]
    fields = {"origin": Origin.SIMULATED, "weight": 0.05, "estimated_s": 0.5, **fields}
    return Experiment(
        axes=axes,
        cells=lambda scope: () if scope.quick and published is None else cells,
        arm=lambda cell, _: Computed.rounded(facts(cell)),
        published=lambda results: [*published(results)] if published else (),
        **fields,
    )


# 24 tasklets of every kernel have room in WRAM for buffers of this size.
CHUNK_BYTES = 512
# Of each tasklet: set-up is then a few thousandths of the time.
CHUNKS, MESSAGES = 3, 2
REQUEST: Mapping[str, str | int] = {
    "key_bits": 128,
    "decrypts": False,
    "chunk_bytes": CHUNK_BYTES,
    # Whether two operands in one register bank cost a cycle.
    "hazard": False,
    "counts": "cycles",
}
DOCUMENT_000, BUFFER_BYTES = Kernel("document-000", "document 000's ECB"), 2_048
ECB, CTR, GHASH = Kernel("ecb", "ECB"), Kernel("ctr", "CTR"), Kernel("ghash", "GHASH")
ECB_BY_BANK = Kernel("ecb-by-bank", "ECB, registers by bank")
ECB_FED = Kernel("ecb-fed", "ECB, fed by one tasklet", movers=1)
GCM = Kernel("gcm", "GCM, one key")
GCM_128, GCM_1024 = (
    Kernel("gcm-many-keys", f"GCM, a key for each {size:,} B", message_bytes=size)
    for size in (128, 1_024)
)
KERNELS: Mapping[Value, Kernel] = {
    kernel.title: kernel
    for kernel in (ECB, ECB_BY_BANK, ECB_FED, CTR, GHASH, GCM, GCM_128, GCM_1024)
}
"""By the titles that stand in cells."""

DIRECTIONS = {"read": "ldma", "write": "sdma"}
# Six instructions of eleven cycles, which the timer counts beside the transfer.
TIMER_CYCLES = 66
SYSTEM = """
name = "timed"
summary = "one DPU whose timer counts single cycles"
source = "document 000"
[system]
ranks = 1
dpus_per_rank = 1
clock_mhz = 266
[timing]
timer_granularity_cycles = 1
"""
# As many instructions around the transfer as the vendor's calls put there.
PROGRAM = """
        move r1, 3
        time_cfg r1
        move r2, buffer
        move r3, table
        time r4
        nop
        nop
        {} r2, r3, {words}
        nop
        nop
        nop
        time r5
        sub r5, r5, r4
        stop
    .bss
    buffer: .zero 2048
    .section .mram
    table: .zero 2048
"""
