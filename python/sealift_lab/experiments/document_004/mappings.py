"""A mapped file against read and write, by threads: 004-T-mapping."""

from collections.abc import Iterator, Mapping

from sealift_lab.experiments.combinations import axes, grid
from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import LOAD, with_load
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Kind, Published, Times, printed_claim
from sealift_lab.model.results import Results
from sealift_lab.model.units import counted


def _cells(scope: Scope) -> Iterator[Cell]:
    threads = scope.threads or THREADS
    for size_bytes in SIZES:
        for direction, functions in FUNCTIONS.items():
            at: Cell = {"direction": direction, "size_bytes": size_bytes}
            yield from with_load(grid(scope, at, threads=threads, way=functions), scope)


def _arm(cell: Cell, context: Context) -> Arm:
    """All threads copy from or to one file in memory, as the document's tool has one mapping."""
    direction = str(cell["direction"])
    work: Cell = {
        "memory": f"{copies.READ}file" if direction == "read" else "file",
        "function": FUNCTIONS[direction][str(cell["way"])],
        "buffers": "shared",
        "way": copies.CALIBRATED,
    }
    return copies.copy_arm({**cell, **work}, context)


def _published(results: Results) -> Iterator[Published]:
    counts = sorted({int(row.cell["threads"]) for row in results.rows} or THREADS)
    for direction in FUNCTIONS:
        for threads in counts:
            at: Cell = {"direction": direction, "size_bytes": SIZES[0], "threads": threads}
            what = (
                f"conventional wisdom: {direction} through a mapping is faster than by a call, "
                f"{SIZES[0]:,} B, {counted(threads, 'thread')}"
            )
            times = Times({**at, "way": MAPPED}, {**at, "way": BY_CALL})
            yield printed_claim("004-X1", what, "mmap-wisdom", Kind.SHAPE, times, MAPPED)


SIZES = (65_536, 4_096)
THREADS = (1, 2, 4, 8, 16)
MAPPED, MAPPED_EACH, BY_CALL = "a mapping that stands", "a mapping for each", "a call of the system"
FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "read": {BY_CALL: "pread", MAPPED: "glibc", MAPPED_EACH: "map-read"},
    "write": {BY_CALL: "pwrite", MAPPED: "glibc", MAPPED_EACH: "map-write"},
}

EXPERIMENT = Experiment(
    **texts(__package__, "mapping-by-threads"),
    id="004-T-mapping",
    axes=(
        *axes(direction="direction", size_bytes="length of a copy, bytes", threads="threads"),
        LOAD,
        *axes(way="way to the file"),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=lambda results: [*_published(results)],
    charts=tuple(
        copies.curves(
            "threads",
            "way",
            title=f"One file, {direction}, by threads",
            where={"direction": direction},
            panels="size_bytes",
        )
        for direction in FUNCTIONS
    ),
    lines_of=("memory-ceiling",),
    preferred={"direction": "read", "size_bytes": SIZES[0], "threads": 1},
    weight=0.5,
)
