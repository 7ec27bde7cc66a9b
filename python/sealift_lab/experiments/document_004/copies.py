"""Copies as cells: axes, the arm of a cell, and document 004's printed figures."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context, Skip, Value
from sealift_lab.model.experiment import Axis, Chart
from sealift_lab.model.published import Kind, Published, Rate, table

SIZES = (16, 256, 1_024, 4_096, 65_536, 524_288, 1_048_576, 4_194_304, 16_777_216)
"""Document 004's nine lengths."""
THREADS = (1, 2, 4, 8, 16, 32, 64)
"""Document 004's thread counts; its 0, a copy without its pool, is 1 thread here."""
FUNCTIONS: Mapping[Value, str] = {
    "glibc": "the C library",
    "words": "words of 8 bytes",
    "sse2": "16-byte registers",
    "rep-movsb": "rep movsb",
    "avx512": "64-byte registers",
    "non-temporal": "stores past the caches",
    "apex": "in the manner of Apex memmove",
    "ours": "Sealift's copy",
}
"""Copy functions, with their names for readers."""
PUBLISHED_FUNCTIONS = {"glibc_memcpy": "glibc", "naive_memcpy": "sse2", "apex_memcpy": "apex"}
"""What stands here for the published tool's three; its third one is written anew."""
COMPARED = (*PUBLISHED_FUNCTIONS.values(), "avx512")
"""These, and the widest registers beside them."""

REGION = "region"
"""The memory that a user named; the legend of the same name has its place."""
READ = "from "
"""Before the name of memory: it is read, and the heap is written."""
SHARED_MEMORY, READ_SHARED = "shm", f"{READ}shm"
READ_HEAP, READ_REGION = f"{READ}heap", f"{READ}{REGION}"
MEMORIES: Mapping[Value, str] = {
    "heap": "the heap, written",
    READ_HEAP: "the heap, read",
    SHARED_MEMORY: "host shared memory (/dev/shm, mapped), written",
    READ_SHARED: "host shared memory (/dev/shm, mapped), read",
    REGION: "the named region (mapped), written",
    READ_REGION: "the named region (mapped), read",
    "pages": "anonymous pages, written",
    "huge-pages": "huge pages, written",
    "memfd": "a memfd (mapped), written",
    f"{READ}memfd": "a memfd (mapped), read",
    "file": "a file (mapped), written",
    f"{READ}file": "a file (mapped), read",
    "hugetlb": "reserved huge pages, written",
}
"""The other side of a copy, which is on the heap, with names for readers."""
PLACES = {
    "heap": "App writes to host-heap",
    READ_HEAP: "App reads from host-heap",
    SHARED_MEMORY: "App writes to host-mmap",
    READ_SHARED: "App reads from host-mmap",
    REGION: "App writes to escape-mmap",
    READ_REGION: "App reads from escape-mmap",
}
"""The published tool's names of its six experiments, in its order."""

MEMORY = Axis("memory", "memory that is written or read")
SIZE = Axis("size_bytes", "length of a copy, bytes")
COUNT = Axis("threads", "threads")
STATE = Axis("state", "in the caches")
BUFFERS = Axis("buffers", "buffers of the threads")
WAY = Axis("way", "how it is measured")
FUNCTION = Axis("function", "copied by")

curves = partial(Chart, y="MB/s", log_x=True, log_y=True)
"""A chart of payload with logarithmic axes."""

CALIBRATED, AS_PUBLISHED = "calibrated", "as published"


def copy_arm(cell: Cell, context: Context) -> Arm:
    """The arm of a cell, by those of its axes that it has; `Skip` if this machine can't do it."""
    way = str(cell.get("way", CALIBRATED))
    if way.startswith(AS_PUBLISHED):
        return _published_arm(cell, context)
    # `calibrated, cold` has the state in the way.
    state = way.removeprefix(CALIBRATED).removeprefix(", ")
    axes = {name: cell[name] for name in cell.keys() & AXES_OF_ARMS}
    return native(
        "copy",
        context,
        **({"state": state} if state else {}) | axes,
        **sides(cell, context),
        bytes=cell["size_bytes"],
    )


def sides(cell: Cell, context: Context) -> dict[str, Any]:
    """Source and target of a cell's copies, with the region and a folder where they take some.

    Raises:
        Skip: If the cell names a region, and the user did not.
    """
    memory, region = str(cell.get("memory", "heap")), None
    if memory in (REGION, READ_REGION):
        if REGION not in context.legend:
            raise Skip(NO_REGION)
        path, offset, length = context.legend[REGION].rsplit(":", 2)
        region = Path(path), int(offset), int(length)
    is_read = memory.startswith(READ)
    other = memory.removeprefix(READ)
    return {
        "source": other if is_read else "heap",
        "target": "heap" if is_read else other,
        "folder": context.folder,
        "region": region,
    }


def arm_by(
    axis: str, stands_for: Mapping[str, Cell], base: Cell | None = None
) -> Callable[[Cell, Context], Arm]:
    """The arm of cells with an axis whose values stand for values of others."""

    def arm(cell: Cell, context: Context) -> Arm:
        more = stands_for[str(cell[axis])]
        return copy_arm({**(base or {}), **cell, **more}, context)

    return arm


def published_copies(
    name: str, figure: str, at: Cell, note: str, *, is_drawn: bool = True, **wanted: str
) -> Iterator[Published]:
    """The rows of a published table with wanted columns, each beside a cell here.

    `at` are values of the cell here beside length, threads and function, and `note` its condition.
    """
    for row in table(name):
        size_bytes, threads = int(row["bytes"]), int(row["threads"])
        if size_bytes not in SIZES or not wanted.items() <= row.items():
            continue
        printed, place = row["copy_function"], row["experiment"].removeprefix("App ")
        function = PUBLISHED_FUNCTIONS[printed]
        where = {"size_bytes": size_bytes, "threads": max(1, threads), "function": function, **at}
        value, source = float(row["throughput_gb_s"]) * MB_PER_GB, row["source"]
        if "read off" in source:
            source = f"document 004, plot {row['panel']}; read off the plot, about 3 %"
        pool = f"{threads} threads" if threads else "no pool"
        what, way = f"{printed} {place}, {size_bytes:,} B, {pool}", f"copied by {function}, {note}"
        # The document has these in plots that are not its own.
        series = f"{printed} {place}{', later' if row.get('panel', '').startswith('48') else ''}"
        drawn = (series, where) if is_drawn else ()
        figures = (figure, what, value, "MB/s", source, Kind.VALUE, Rate(where), way)
        yield Published(*figures, *drawn)


def _published_arm(cell: Cell, context: Context) -> Arm:
    size_bytes, threads = int(cell["size_bytes"]), int(cell["threads"])
    if cell["function"] not in COMPARED:
        raise Skip(f"the published way is that of {', '.join(COMPARED)}, each after the others")
    # One thread is a pool of one only where that is wanted.
    has_pool = cell.get("queue", "yes" if threads > 1 else "no") == "yes"
    return native(
        "published_copy",
        context,
        **sides(cell, context),
        function=COMPARED.index(str(cell["function"])),
        bytes=size_bytes,
        before=[size for size in SIZES if size < size_bytes],
        runs=int("".join(filter(str.isdigit, str(cell["way"]))) or DEFAULT_RUNS),
        threads=threads if has_pool else 0,
    )


SHARED_BYTES = 512 << 10
"""The published tool maps so much host memory."""
AXES_OF_ARMS = {
    "operation", "function", "threads", "state", "buffers", "offset", "beside", "content", "seed",
}  # fmt: skip
DEFAULT_RUNS = 5
MB_PER_GB = 1_000
NO_REGION = (
    "no region was named; --region PATH:OFFSET:LENGTH with --i-own-this-region names a device's "
    "memory, such as a PCI resource or /dev/dax"
)
