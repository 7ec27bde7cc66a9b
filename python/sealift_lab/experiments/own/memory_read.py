"""Reading memory: the ceiling of every cipher whose texts come from memory.

One loop sums up a buffer that is larger than the caches, on one thread and shared out over a thread
a core. Quick: 256 MiB; a full run reads 1 GiB too, which exceeds the largest caches.
"""

from collections.abc import Iterator

from sealift_lab.measure.crypto import one_and_all
from sealift_lab.measure.native import read_memory
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    for buffer_bytes in (BUFFER_BYTES,) if scope.quick else (BUFFER_BYTES, LARGE_BUFFER_BYTES):
        for threads in one_and_all(scope):
            yield {"buffer_bytes": buffer_bytes, "threads": threads}


def _arm(cell: Cell, _: Context) -> Arm:
    return read_memory(int(cell["buffer_bytes"]), threads=int(cell["threads"]))


BUFFER_BYTES, LARGE_BUFFER_BYTES = 256 << 20, 1 << 30

EXPERIMENT = Experiment(
    name="memory-read",
    title="Reading memory",
    question="How fast can anything that reads from memory be on this machine?",
    axes=(Axis("buffer_bytes", "buffer of all threads, bytes"), Axis("threads", "threads")),
    compare="threads",
    cells=_cells,
    arm=_arm,
    operation="read of 64 KiB",
    charts=(
        Chart(x="threads", series="buffer_bytes", y="MB/s", title="Reading memory by threads"),
    ),
    preferred={"buffer_bytes": BUFFER_BYTES},
    weight=0.4,
    notes="One loop sums up a buffer that is larger than the caches, shared out over the threads. "
    "A quick run reads 256 MiB, a full one 1 GiB, too, which leaves the largest caches behind.",
)
