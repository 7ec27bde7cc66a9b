"""How fast memory can be read: the ceiling that no cipher from memory gets over.

One loop sums up a buffer that is larger than the caches: on one thread, and shared out over a
thread a core.

Quick reads 256 MiB; a full run reads 1 GiB too, which leaves the largest caches behind.
"""

from collections.abc import Iterator

from sealift.lab.grid import one_and_all
from sealift.lab.native import read_memory
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    sizes = (BUFFER_BYTES,) if scope.quick else (BUFFER_BYTES, LARGE_BUFFER_BYTES)
    for buffer_bytes in sizes:
        for threads in one_and_all(scope):
            yield {"buffer_bytes": buffer_bytes, "threads": threads}


def _arm(cell: Cell, _context: Context) -> Arm:
    return read_memory(int(cell["buffer_bytes"]), threads=int(cell["threads"]))


BUFFER_BYTES, LARGE_BUFFER_BYTES = 256 << 20, 1 << 30

EXPERIMENT = Experiment(
    name="memory-read",
    title="Reading memory",
    why="What is the most that anything which reads from memory can reach on this machine?",
    axes=(Axis("buffer_bytes", "buffer of all threads, bytes"), Axis("threads", "threads")),
    compare="threads",
    cells=_cells,
    arm=_arm,
    operation="read of 64 KiB",
    plots=(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="buffer_bytes",
            title="Reading memory by threads",
        ),
    ),
    weight=0.4,
)
