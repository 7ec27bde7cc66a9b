"""What a GPU could do at most in a grid of blocks and threads: projected, never measured.

Every thread works messages of its own, as document 003's did. A multiprocessor has four parts;
each issues to the 32 lanes of one warp at a time, whether all of them have a thread or not, and
all four share one unit for loads and stores. Blocks go to multiprocessors in turn, and a grid is
done when the multiprocessor with most of them is. So with few threads lanes are idle, with few
blocks multiprocessors are, and beyond a whole number of rounds most of them wait for the last.

Waiting for memory and for results is not in it: fewer threads than shown here do not hide that.
Neither are caches: tables that a thread keeps to itself cost as much as if the first one held them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sealift.lab.gpus.limits import BLOCK_BYTES, LOAD_AND_STORE, RATES, Gpu, Limit
from sealift.lab.gpus.work import (
    LANES,
    Messages,
    message_counts,
    published_bytes,
    published_counts,
)
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
def grid_limit(gpu: Gpu, messages: Messages, grid: Grid) -> Limit:
    """The limit of Sealift's kernel on messages in the GPU's memory, as many for each thread.

    Args:
        gpu: Where they are worked.
        messages: What they are like.
        grid: Of threads.

    Raises:
        LookupError: If there is no machine code for it.
    """
    of_units = _limit(gpu, message_counts(gpu, messages), messages, grid)
    by_memory = gpu.memory_bytes_per_s * messages.text_bytes / messages.moved_bytes
    if by_memory < of_units.bytes_per_s:
        return Limit(by_memory, of_units.clocks_a_block, "memory")
    return of_units


@lru_cache(maxsize=1 << 12)
def replicated_limit(gpu: Gpu, messages: Messages, grid: Grid, each: int) -> Limit:
    """The limit of document 003's way, where all threads seal the same messages, out of caches.

    Args:
        gpu: Where they are worked.
        messages: What they are like.
        grid: Of threads.
        each: How many messages each thread seals in a launch.

    Raises:
        LookupError: If there is no machine code for it.
    """
    return _limit(gpu, published_counts(gpu, messages, each=each), messages, grid)


def clocks_of(
    gpu: Gpu, clocks: Mapping[str, float], grid: Grid, shared: Iterable[str]
) -> dict[str, float]:
    """Clocks of the fullest multiprocessor, by unit, until each lane of a grid did the same.

    Args:
        gpu: Where it is done.
        clocks: By unit, what a lane asks of a multiprocessor.
        grid: Of threads.
        shared: The units that all parts of a multiprocessor share.
    """
    warps = _blocks_there(gpu, grid) * -(-grid.threads // LANES)
    # What is not shared is a part's, and the part with most warps is done last.
    alike = PARTS * -(-warps // PARTS)
    return {
        unit: wanted * LANES * (warps if unit in shared else alike)
        for unit, wanted in clocks.items()
    }


def bend_by_threads(speed: Callable[[Grid], float]) -> Bend | None:
    """Where the speed of one block bends, by its threads; their numbers are powers of two."""
    return bend([(threads, speed(Grid(1, threads))) for threads in POWERS])


def bend_by_blocks(speed: Callable[[Grid], float], units: int, threads: int) -> Bend | None:
    """Where the speed of blocks bends, by their number.

    Args:
        speed: Of a grid.
        units: Multiprocessors.
        threads: Of each block.
    """
    return bend([(blocks, speed(Grid(blocks, threads))) for blocks in in_rounds(units)])


def in_rounds(units: int) -> list[int]:
    """Numbers of blocks: powers of two below the multiprocessors, and whole rounds of them.

    Between whole rounds lies a saw: a grid waits for the multiprocessors that have one more.
    """
    powers = [power for power in POWERS if power < units]
    return [*powers, *(units * times for times in range(1, ROUNDS + 1))]


def frame_threads(gpu: Gpu) -> int:
    """How many threads of document 003's program fill the last cache with all that they keep."""
    return gpu.cache_bytes // PUBLISHED_FRAME_BYTES


def reading_threads(gpu: Gpu, key_bits: int) -> int:
    """How many fill it with what they read while they work messages, once tables are made."""
    return gpu.cache_bytes // published_bytes(key_bits)


def _limit(gpu: Gpu, counts: Mapping[str, float], messages: Messages, grid: Grid) -> Limit:
    asked = RATES[gpu.architecture].clocks(counts)
    clocks = clocks_of(gpu, asked, grid, (LOAD_AND_STORE,))
    unit = max(clocks, key=clocks.__getitem__)
    payload = _blocks_there(gpu, grid) * grid.threads * messages.text_bytes
    return Limit(
        grid.every * messages.text_bytes * gpu.clock_hz / clocks[unit],
        BLOCK_BYTES * clocks[unit] / payload,
        unit,
    )


def _blocks_there(gpu: Gpu, grid: Grid) -> int:
    """Of the multiprocessor that has most."""
    return -(-grid.blocks // gpu.multiprocessors)


PARTS = 4
# Threads that a multiprocessor issues to in a clock: a warp by each part.
LANES_AT_ONCE = PARTS * LANES
POWERS = tuple(1 << power for power in range(11))
ROUNDS = 4
# What NVIDIA's compiler gives each thread of the document's public program for sm_89 and sm_90.
PUBLISHED_FRAME_BYTES = 11_664
