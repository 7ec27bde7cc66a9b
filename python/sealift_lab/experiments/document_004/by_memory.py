"""Copies into every kind of memory, and reads of memory: the ceiling of any cipher from memory."""

from collections.abc import Iterator
from itertools import product

from sealift_lab.experiments.document_004 import copies
from sealift_lab.measure.crypto import one_and_all
from sealift_lab.measure.native import read_memory
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for size_bytes, state in product((65_536, 4_194_304), ("hot", "cold")):
        at: Cell = {"size_bytes": size_bytes, "threads": 1, "state": state, "function": "glibc"}
        yield from ({**at, "memory": memory} for memory in (*MEMORIES, *scope.memories))


def _read_cells(scope: Scope) -> Iterator[Cell]:
    sizes = READ_BYTES[:1] if scope.quick else READ_BYTES
    for buffer_bytes, threads in product(sizes, one_and_all(scope)):
        yield {"buffer_bytes": buffer_bytes, "threads": threads}


def _read_arm(cell: Cell, _: Context) -> Arm:
    return read_memory(int(cell["buffer_bytes"]), threads=int(cell["threads"]))


MEMORIES = ("heap", "pages", "huge-pages", "memfd", "shm", "file", "hugetlb")
READ_BYTES = (256 << 20, 1 << 30)

COPIES = Experiment(
    name="copy-by-memory",
    title="Copies into memory of every kind",
    question="Does it matter for a copy what kind of memory it writes to?",
    axes=(copies.SIZE, copies.COUNT, copies.STATE, copies.FUNCTION, copies.MEMORY),
    compare="memory",
    cells=_cells,
    arm=copies.copy_arm,
    operation="copy",
    charts=(
        copies.curves("size_bytes", "memory", "Copies into every kind of memory", panels="state"),
    ),
    preferred={"size_bytes": 65_536, "state": "hot"},
    names=copies.FUNCTIONS,
    weight=0.2,
    notes="Memory is touched before it is timed; then its kind should not matter. Reserved huge "
    "pages are measured where root has reserved some, a device's memory where a region was named.",
)
