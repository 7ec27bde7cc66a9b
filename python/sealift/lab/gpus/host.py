"""Messages from this machine's memory to a GPU and back: in how little time, projected.

A batch takes at least as long as what is longest of its way there, its work in a grid with a thread
for each message, and its way back, as if all three overlapped. What the host lays out and picks up,
and what it takes to start copies and kernels, is not in it: each batch pays that whole, so that few
messages take much longer than is shown here.
"""

from collections.abc import Iterable

from sealift.lab.gpus.cells import BLOCK_THREADS, MESSAGES
from sealift.lab.gpus.grid import Grid, grid_limit
from sealift.lab.gpus.limits import Gpu
from sealift.lab.gpus.work import LANES


def message_ns(gpu: Gpu, batch: int) -> float:
    """Nanoseconds a message at least, where so many are handed over at once.

    Args:
        gpu: Where they are worked.
        batch: How many there are, each with a key of its own.
    """
    grid = _grid(batch)
    there, back = MESSAGES.read_bytes, MESSAGES.written_bytes
    by_units = MESSAGES.text_bytes * grid.every / grid_limit(gpu, MESSAGES, grid).bytes_per_s
    return 1e9 * max(by_units / batch, max(there, back) / gpu.link_bytes_per_s)


def earliest(gpu: Gpu, other_ns: float, batches: Iterable[int]) -> int | None:
    """The first of some batches from which on a GPU could take less time; None if there is none.

    Args:
        gpu: Where they are worked.
        other_ns: What cores take for a message.
        batches: Numbers of messages.
    """
    return next((each for each in sorted(batches) if message_ns(gpu, each) < other_ns), None)


def _grid(batch: int) -> Grid:
    """A thread for each message, in whole warps, and no larger blocks than the document's."""
    threads = min(BLOCK_THREADS, LANES * -(-batch // LANES))
    return Grid(-(-batch // threads), threads)
