"""Upper limits of GPUs for counted instructions in a grid of threads; projected, never measured.

A multiprocessor has four parts. Each issues an instruction a clock to the 32 lanes of one warp,
whether every lane has a thread or not, and its units work a fixed number of lanes a clock; one unit
for loads and stores serves all parts. Blocks go to multiprocessors in turn, and a grid ends when
the fullest multiprocessor does, with the unit that needs most clocks. So few threads leave lanes
idle, few blocks leave multiprocessors idle, and beyond a whole number of rounds most
multiprocessors wait for the last. Waiting for memory and results is left out, and so are caches.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

Counts = Mapping[str, float]
"""Instructions of one lane by kind; 4-byte words where the kind is a memory."""


@dataclass(frozen=True)
class Gpu:
    """A GPU as the model needs it.

    Attributes:
        name: As people call it.
        multiprocessors: How many.
        clock_hz: Boost clock, which it need not keep.
        architecture: Whose machine code and rates are used.
        shared_bytes: Shared memory that one block can have.
        memory_bytes_per_s: Reads and writes of its memory together.
        link_bytes_per_s: To the host, and as much from it at the same time.
    """

    name: str
    multiprocessors: int
    clock_hz: float
    architecture: str
    shared_bytes: int
    memory_bytes_per_s: float
    link_bytes_per_s: float


@dataclass(frozen=True)
class Grid:
    """Blocks of threads; OpenCL calls them work-groups of work-items."""

    blocks: int
    threads: int

    @property
    def every(self) -> int:
        """All threads."""
        return self.blocks * self.threads


@dataclass(frozen=True)
class Limit:
    """An upper limit of throughput.

    Attributes:
        bytes_per_s: Of payload.
        clocks_a_block: Of a multiprocessor for 16 bytes of payload, memory left out.
        unit: The unit that sets the limit, or `memory`.
    """

    bytes_per_s: float
    clocks_a_block: float
    unit: str


def limit(
    gpu: Gpu,
    counts: Counts,
    payload_bytes: float,
    moved_bytes: float = 0.0,
    grid: Grid | None = None,
) -> Limit:
    """The limit of code on data in a GPU's memory.

    Args:
        gpu: Where it runs.
        counts: Instructions of a lane for its payload.
        payload_bytes: That payload.
        moved_bytes: Read from memory and written for it; 0 where caches serve it.
        grid: Of threads; None for as many as the GPU has lanes.
    """
    grid = grid or Grid(gpu.multiprocessors, LANES_AT_ONCE)
    clocks = grid_clocks(gpu, units_work(counts), grid)
    unit = max(clocks, key=clocks.__getitem__)
    by_units = grid.every * payload_bytes * gpu.clock_hz / clocks[unit]
    by_memory = gpu.memory_bytes_per_s * payload_bytes / moved_bytes if moved_bytes else math.inf
    of_fullest = _blocks_of_fullest(gpu, grid) * grid.threads * payload_bytes
    return Limit(
        min(by_units, by_memory),
        BLOCK_BYTES * clocks[unit] / of_fullest,
        "memory" if by_memory < by_units else unit,
    )


def units_work(counts: Counts) -> dict[str, float]:
    """Instructions of a lane by the unit that works them, with all of them as those of `issue`."""
    return {
        "issue": counts["issued"],
        "alu": counts["alu"],
        # A product of 64 bits fills two registers, one after the other.
        "fma": counts["fma"] + 2 * counts["wide"],
        "slow": counts["slow"],
        LOAD_AND_STORE: counts["shared"] + counts["global"] + counts["local"],
        "tensor": counts["tensor"],
    }


def grid_clocks(gpu: Gpu, work: Mapping[str, float], grid: Grid) -> dict[str, float]:
    """Clocks of the fullest multiprocessor by unit, until every lane did its work."""
    rates, warps = (
        RATES[gpu.architecture],
        _blocks_of_fullest(gpu, grid) * -(-grid.threads // LANES),
    )
    # sm_86 has two units for doubles, fewer than parts. Other units belong to a part each, and the
    # part with most warps ends last.
    shared = {LOAD_AND_STORE, *(unit for unit, rate in rates.items() if rate < PARTS)}
    in_parts = PARTS * -(-warps // PARTS)
    return {
        unit: lane * LANES * (warps if unit in shared else in_parts) / rates[unit]
        for unit, lane in work.items()
        if lane
    }


def _blocks_of_fullest(gpu: Gpu, grid: Grid) -> int:
    return -(-grid.blocks // gpu.multiprocessors)


BLOCK_BYTES = 16
LANES, PARTS = 32, 4
# Threads that a multiprocessor issues to in a clock: a warp by each part.
LANES_AT_ONCE = PARTS * LANES
LOAD_AND_STORE = "load and store"
# Lanes that a multiprocessor works in a clock. `alu` has logic, byte permutations, shifts and
# additions, `fma` products of 32 bits, `slow` bit counts and the like, `load and store` 4-byte
# words without bank conflicts, `tensor` products of binary matrices, of which a warp's is 32 lanes;
# then products of floats and of doubles with their sums, and conversions between the two.
# Sources: NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions; for
# shared memory the Turing and GA102 whitepapers (64 and 128 bytes a clock); tensor of sm_90 as
# documented for A100, for Hopper it is not.
RATES: Mapping[str, Mapping[str, float]] = {
    architecture: {"issue": 128, "alu": 64, "fma": 64, "slow": 16, **rates}
    for architecture, rates in {
        "sm_75": {LOAD_AND_STORE: 16, "tensor": 8},
        "sm_86": {LOAD_AND_STORE: 32, "tensor": 8, "single": 128, "double": 2, "converted": 2},
        "sm_90": {LOAD_AND_STORE: 32, "tensor": 16, "single": 128, "double": 64, "converted": 16},
    }.items()
}
# PCI-SIG: 16 and 32 GT/s a lane, 128 bits of 130 for data.
PCIE_4_X8, PCIE_5_X16 = 8 * 16e9 / 8 * 128 / 130, 16 * 32e9 / 8 * 128 / 130
# The document's laptop GPUs (NVIDIA, GeForce laptop comparison: highest boost clock; eight lanes of
# PCIe 4 as its chips are specified), and an H200 (its datasheet, the Hopper architecture, and
# nvidia-smi). RTX 4070 and 4060 are Ada, for which no machine code was accepted: code and rates of
# sm_86 stand in, whose multiprocessor is the same.
GPUS = (
    Gpu("RTX 3050", 16, 1.740e9, "sm_86", 99 << 10, 192e9, PCIE_4_X8),
    Gpu("RTX 4070", 36, 2.175e9, "sm_86", 99 << 10, 256e9, PCIE_4_X8),
    Gpu("RTX 4060", 24, 2.370e9, "sm_86", 99 << 10, 256e9, PCIE_4_X8),
    Gpu("H200", 132, 1.980e9, "sm_90", 227 << 10, 4.8e12, PCIE_5_X16),
)
# Of the document's figures.
DOCUMENT_GPU = GPUS[1]
