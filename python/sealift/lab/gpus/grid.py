"""What a GPU could do at most in a grid of blocks and threads: projected, never measured.

Every thread works messages of its own, as document 003's did. A multiprocessor has four parts;
each issues to the 32 lanes of one warp at a time, whether all of them have a thread or not, and
all four share one unit for loads and stores. Blocks go to multiprocessors in turn, and a grid is
done when the multiprocessor with most of them is. So with few threads lanes are idle, with few
blocks multiprocessors are, and beyond a whole number of rounds most of them wait for the last.

Waiting for memory and for results is not in it: fewer threads than shown here do not hide that.
"""

from dataclasses import dataclass
from functools import lru_cache

from sealift.lab.gpus.limits import BLOCK_BYTES, LOAD_AND_STORE, RATES, Gpu, Limit
from sealift.lab.gpus.work import LANES, Messages, message_counts
from sealift.lab.stats import Bend, bend


@dataclass(frozen=True)
class Grid:
    """How many threads, and how they are grouped.

    Attributes:
        blocks: Of threads; what OpenCL calls work-groups.
        threads: Of each block; what OpenCL calls work-items.
    """

    blocks: int
    threads: int

    @property
    def every(self) -> int:
        """All threads."""
        return self.blocks * self.threads


@lru_cache(maxsize=1 << 12)
def grid_limit(gpu: Gpu, messages: Messages, grid: Grid, *, replicated: bool = False) -> Limit:
    """The limit of a grid whose threads seal as many messages each, which are in the GPU's memory.

    Args:
        gpu: Where they are worked.
        messages: What they are like.
        grid: Of threads.
        replicated: Whether all threads seal the same ones, which then come from caches.

    Raises:
        LookupError: If there is no machine code for it.
    """
    counts = message_counts(gpu, messages)
    blocks_there = -(-grid.blocks // gpu.multiprocessors)
    warps = blocks_there * -(-grid.threads // LANES)
    # What is not shared is a part's, and the part with most warps is done last.
    alike = PARTS * -(-warps // PARTS)
    clocks = {
        unit: wanted * LANES * (warps if unit == LOAD_AND_STORE else alike)
        for unit, wanted in RATES[gpu.architecture].clocks(counts).items()
    }
    unit = max(clocks, key=clocks.__getitem__)
    by_units = grid.every * messages.text_bytes * gpu.clock_hz / clocks[unit]
    by_memory = gpu.memory_bytes_per_s * messages.text_bytes / messages.moved_bytes
    payload = blocks_there * grid.threads * messages.text_bytes
    a_block = BLOCK_BYTES * clocks[unit] / payload
    if by_memory < by_units and not replicated:
        return Limit(by_memory, a_block, "memory")
    return Limit(by_units, a_block, unit)


def replicated_speed(gpu: Gpu, messages: Messages, grid: Grid) -> float:
    """Bytes a second at most, where all threads seal the same messages, as document 003's did."""
    return grid_limit(gpu, messages, grid, replicated=True).bytes_per_s


def bend_by_threads(gpu: Gpu, messages: Messages) -> Bend | None:
    """Where the limit of one block bends, by its threads; their numbers are powers of two."""
    return bend([(n, replicated_speed(gpu, messages, Grid(1, n))) for n in POWERS])


def bend_by_blocks(gpu: Gpu, messages: Messages, threads: int) -> Bend | None:
    """Where the limit of blocks bends, by their number.

    Args:
        gpu: Where they are worked.
        messages: What is sealed.
        threads: Of each block.
    """
    one = gpu.multiprocessors
    # Between whole rounds lies a saw, which no two segments fit.
    numbers = sorted({n for n in POWERS if n < one} | {one * times for times in range(1, ROUNDS)})
    return bend([(n, replicated_speed(gpu, messages, Grid(n, threads))) for n in numbers])


def filling_threads(gpu: Gpu) -> int:
    """How many threads of document 003's program fill the last cache with tables of their own."""
    return gpu.cache_bytes // PUBLISHED_FRAME_BYTES


PARTS = 4
POWERS = tuple(1 << power for power in range(11))
ROUNDS = 9
# What NVIDIA's compiler gives each thread of the document's public program for sm_89 and sm_90.
PUBLISHED_FRAME_BYTES = 11_664
