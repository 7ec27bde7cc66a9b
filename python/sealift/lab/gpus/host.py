"""Messages from this machine's memory to a GPU and back: in how little time, projected.

A batch takes at least as long as what is longest of its way there, its work in a grid with a thread
for each message, and its way back, as if all three overlapped. What the host lays out and picks up,
and what it takes to start copies and kernels, is not in it: each batch pays that whole, so that few
messages take much longer than is shown here.
"""

from collections.abc import Mapping

from sealift.lab.gpus.cells import BLOCK_THREADS, MESSAGES
from sealift.lab.gpus.grid import Grid, grid_limit
from sealift.lab.gpus.limits import Gpu
from sealift.lab.gpus.work import LANES
from sealift.lab.published.doubt import doubt
from sealift.lab.result import Row
from sealift.lab.stats import Verdict, least_told


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


def earliest(gpu: Gpu, cores: Mapping[int, Row]) -> str:
    """With which of some batches a GPU could first take less time than cores with the same one.

    Args:
        gpu: Where they are worked.
        cores: What was measured of them, by messages at once.

    Returns:
        Words: `256`, `4,096 (256 not settled)`, `never`; `not settled` where full batches aren't.
    """
    said = {batch: _beside(message_ns(gpu, batch), row) for batch, row in sorted(cores.items())}
    first = next((batch for batch, each in said.items() if each is Verdict.FASTER), None)
    if first is None and said[max(said)] is Verdict.UNSURE:
        return "not settled"
    before = [
        f"{batch:,}"
        for batch, each in said.items()
        if each is Verdict.UNSURE and (first is None or batch < first)
    ]
    told = f"{first:,}" if first else "never"
    return f"{told} ({', '.join(before)} not settled)" if before else told


def _beside(limit_ns: float, row: Row) -> Verdict:
    """Whether what takes so long at least could be faster than cores, beyond interval and noise."""
    here, noise = row.ns_per_operation, 1 + least_told(row.noise_floor)
    # Over a loud floor what lies far beyond it is told, as between arms.
    if doubt(here, 0.0, machine_busy=row.machine_busy):
        return Verdict.UNSURE
    if limit_ns * noise < here.low:
        return Verdict.FASTER
    return Verdict.SLOWER if limit_ns > here.high * noise else Verdict.UNSURE


def _grid(batch: int) -> Grid:
    """A thread for each message, in whole warps, and no larger blocks than the document's."""
    threads = min(BLOCK_THREADS, LANES * -(-batch // LANES))
    return Grid(-(-batch // threads), threads)
