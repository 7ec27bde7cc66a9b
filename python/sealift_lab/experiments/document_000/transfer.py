"""Latency of a transfer between MRAM and WRAM, timed by a program as document 000 timed it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sealift_lab._lab import DpuProgram, DpuRun, DpuSystem


class Direction(StrEnum):
    """Direction of a transfer."""

    READ = "read"
    """Out of MRAM."""
    WRITE = "write"
    """Into MRAM."""


@dataclass(frozen=True)
class Fit:
    """A line through latencies: cycles = overhead + cycles a byte * bytes."""

    overhead_cycles: float
    cycles_a_byte: float

    def at(self, transfer_bytes: float) -> float:
        """Cycles by the line."""
        return self.overhead_cycles + self.cycles_a_byte * transfer_bytes

    @property
    def bytes_a_cycle(self) -> float:
        """Bytes a cycle of long transfers."""
        return 1 / self.cycles_a_byte


@lru_cache(maxsize=1024)
def latency(direction: Direction, transfer_bytes: int, *, granularity_cycles: int = 1) -> int:
    """Simulated cycles between two readings of a DPU's timer with one transfer in between.

    Args:
        direction: Out of MRAM or into it.
        transfer_bytes: 8 to 2,048, a multiple of 8.
        granularity_cycles: Steps in which the timer counts; 16 on a DPU.

    Raises:
        ValueError: If there is no transfer of this length.
    """
    if not 8 <= transfer_bytes <= TRANSFER_BYTES_MAX or transfer_bytes % 8:
        raise ValueError(
            f"a transfer of {transfer_bytes} bytes; right would be a multiple of 8 up to "
            f"{TRANSFER_BYTES_MAX:,}"
        )
    mnemonic = "ldma" if direction is Direction.READ else "sdma"
    source = PROGRAM.format(mnemonic=mnemonic, words=transfer_bytes // 8 - 1)
    run = DpuRun(DpuProgram.assemble(source), DpuSystem.parse(SYSTEM.format(granularity_cycles)))
    if (outcome := run.run(CYCLES_MAX, SECONDS_MAX)) != "done":
        raise RuntimeError(f"the program that times a transfer did not end: {outcome}")
    return run.registers(0)[TIMED_REGISTER] * granularity_cycles


def fit(points: Sequence[tuple[float, float]]) -> Fit:
    """The line through points (bytes, cycles) by least squares.

    Raises:
        ValueError: If they are of fewer than two lengths.
    """
    if len({size for size, _ in points}) < 2:
        raise ValueError(f"a line through {len(points)} latencies of one length; two would do")
    mean_bytes = sum(size for size, _ in points) / len(points)
    mean_cycles = sum(cycles for _, cycles in points) / len(points)
    spread = sum((size - mean_bytes) ** 2 for size, _ in points)
    slope = sum((size - mean_bytes) * (cycles - mean_cycles) for size, cycles in points) / spread
    return Fit(mean_cycles - slope * mean_bytes, slope)


TRANSFER_BYTES_MAX = 2_048
# Rows of MRAM; only a longer transfer goes on in another one.
ROW_BYTES = 1_024
# Six instructions of eleven cycles, which the timer counts beside the transfer.
TIMER_CYCLES = 66
TIMED_REGISTER = 5
# Far more than it takes.
CYCLES_MAX, SECONDS_MAX = 100_000, 60.0
SYSTEM = """
name = "timed"
summary = "one DPU whose timer counts in steps"
source = "document 000"
[system]
ranks = 1
dpus_per_rank = 1
clock_mhz = 266
[timing]
timer_granularity_cycles = {}
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
        {mnemonic} r2, r3, {words}
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
