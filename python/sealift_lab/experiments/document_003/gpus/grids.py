"""The limit of a grid of blocks and threads, each thread on messages of its own.

A multiprocessor has four parts. Each issues to the 32 lanes of one warp at a time, whether every
lane has a thread or not, and all four share one unit for loads and stores. Blocks go to
multiprocessors in turn, and a grid ends when the fullest multiprocessor does. So few threads leave
lanes idle, few blocks leave multiprocessors idle, and beyond a whole number of rounds most
multiprocessors wait for the last.

Waiting for memory and results is left out, and so are caches: private tables cost as much as if the
first cache held them all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sealift_lab.experiments.document_003.gpus.limits import (
    BLOCK_BYTES,
    LOAD_AND_STORE,
    RATES,
    Gpu,
    Limit,
    document_gpu,
)
from sealift_lab.experiments.document_003.gpus.machine_code import (
    LANES,
    Messages,
    message_counts,
    published_bytes,
    published_counts,
)
from sealift_lab.model.published import table, table_row


@dataclass(frozen=True)
class Grid:
    """Blocks of threads.

    Attributes:
        blocks: How many; OpenCL calls them work-groups.
        threads: Of each block; OpenCL calls them work-items.
    """

    blocks: int
    threads: int

    @property
    def every(self) -> int:
        """All threads."""
        return self.blocks * self.threads


Speed = Callable[[Gpu, Grid], float]
"""Bytes a second of a GPU in a grid."""


def replicated(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most of the document's program, all threads on the same messages."""
    return replicated_limit(gpu, MESSAGES, grid, THREAD_MESSAGES).bytes_per_s


def ours(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most of Sealift's kernel, each message worked once."""
    return grid_limit(gpu, MESSAGES, grid).bytes_per_s


@lru_cache(maxsize=1 << 12)
def grid_limit(gpu: Gpu, messages: Messages, grid: Grid) -> Limit:
    """The limit of Sealift's kernel on messages in the GPU's memory, as many for each thread.

    Raises:
        LookupError: If there is no machine code for it.
    """
    by_units = _limit(gpu, message_counts(gpu, messages), messages, grid)
    by_memory = gpu.memory_bytes_per_s * messages.text_bytes / messages.moved_bytes
    if by_memory < by_units.bytes_per_s:
        return Limit(by_memory, by_units.clocks_a_block, "memory")
    return by_units


@lru_cache(maxsize=1 << 12)
def replicated_limit(gpu: Gpu, messages: Messages, grid: Grid, each: int) -> Limit:
    """The limit of the document's program, whose `each` messages a thread come out of caches.

    Raises:
        LookupError: If there is no machine code for it.
    """
    return _limit(gpu, published_counts(gpu, messages, each=each), messages, grid)


def clocks_of(
    gpu: Gpu, clocks: Mapping[str, float], grid: Grid, shared: Iterable[str]
) -> dict[str, float]:
    """Clocks of the fullest multiprocessor by unit, until every lane of a grid did its work.

    Args:
        gpu: Where it is done.
        clocks: By unit, for one lane.
        grid: Of threads.
        shared: The units that all parts of a multiprocessor share.
    """
    warps = _blocks_of_fullest(gpu, grid) * -(-grid.threads // LANES)
    # Other units belong to a part each, and the part with most warps ends last.
    in_parts = PARTS * -(-warps // PARTS)
    return {
        unit: lane * LANES * (warps if unit in shared else in_parts)
        for unit, lane in clocks.items()
    }


def message_ns(gpu: Gpu, batch: int) -> float:
    """Nanoseconds a message at least from host memory to host memory.

    Copy there, work and copy back of a batch overlap, and the longest counts; what the host does
    before and behind, and starting copies and kernels, is left out.
    """
    # Whole warps, and no larger blocks than the document's.
    threads = min(BLOCK_THREADS, LANES * -(-batch // LANES))
    grid = Grid(-(-batch // threads), threads)
    work_s = MESSAGES.text_bytes * grid.every / ours(gpu, grid)
    copied = max(MESSAGES.read_bytes, MESSAGES.written_bytes)
    return 1e9 * max(work_s / batch, copied / gpu.link_bytes_per_s)


def in_rounds(units: int) -> list[int]:
    """Numbers of blocks: powers of two below the multiprocessors, and whole rounds of them.

    Between whole rounds lies a saw: a grid waits for the multiprocessors that have one more.
    """
    powers = [power for power in POWERS if power < units]
    return [*powers, *(units * times for times in range(1, ROUNDS + 1))]


def frame_threads(gpu: Gpu) -> int:
    """Threads of the document's program that fill the last cache with all that they keep."""
    return gpu.cache_bytes // PUBLISHED_FRAME_BYTES


def reading_threads(gpu: Gpu, key_bits: int) -> int:
    """Threads that fill it with what they read while they work messages."""
    return gpu.cache_bytes // published_bytes(key_bits)


def document_shares() -> tuple[float, float]:
    """Shares of the projected limit that the document's one thread and its best grid reach."""
    gpu = document_gpu()
    one = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
    best = max(float(row["throughput_mb_s"]) for row in table("003-T3-gpu-blocks-threads"))
    return (
        MEGABYTE * float(one["throughput_mb_s"]) / replicated(gpu, Grid(1, 1)),
        MEGABYTE * best / replicated(gpu, Grid(gpu.multiprocessors, BLOCK_THREADS)),
    )


def _limit(gpu: Gpu, counts: Mapping[str, float], messages: Messages, grid: Grid) -> Limit:
    clocks = clocks_of(gpu, RATES[gpu.architecture].clocks(counts), grid, (LOAD_AND_STORE,))
    unit = max(clocks, key=clocks.__getitem__)
    payload = _blocks_of_fullest(gpu, grid) * grid.threads * messages.text_bytes
    return Limit(
        grid.every * messages.text_bytes * gpu.clock_hz / clocks[unit],
        BLOCK_BYTES * clocks[unit] / payload,
        unit,
    )


def _blocks_of_fullest(gpu: Gpu, grid: Grid) -> int:
    return -(-grid.blocks // gpu.multiprocessors)


MEGABYTE = 10**6
PARTS = 4
# Threads that a multiprocessor issues to in a clock: a warp by each part.
LANES_AT_ONCE = PARTS * LANES
POWERS = tuple(1 << power for power in range(11))
ROUNDS = 4
# A block of the document's grids: a thread for each core of a multiprocessor.
BLOCK_THREADS = 128
# As long as the document states them, under keys of 128 bits.
MESSAGES = Messages(key_bits=128, text_bytes=128)
# Of each thread. The tables that a launch makes anew take as many instructions as one or two
# messages: with so many, a fortieth of all.
THREAD_MESSAGES = 64
# What NVIDIA's compiler gives each thread of the document's public program for sm_89 and sm_90.
PUBLISHED_FRAME_BYTES = 11_664
