"""Copies as cells: the axes, the arm of a cell, and document 004's figures beside it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sealift._sealift import keep_copy_cost
from sealift.errors import InputError
from sealift.lab.native import copy, published_copy
from sealift.lab.published import Here, Kind, Printed, payload_speed, table
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Skip
from sealift.lab.units import format_size
from sealift.lab.values import Cell, Value

SIZES = (16, 256, 1_024, 4_096, 65_536, 524_288, 1_048_576, 4_194_304, 16_777_216)
"""Document 004's nine lengths."""
THREADS = (1, 2, 4, 8, 16, 32, 64)
"""Document 004's thread counts; its 0, a copy without its pool, is 1 thread here."""
FUNCTIONS = ("glibc", "words", "sse2", "rep-movsb", "avx2", "avx512", "non-temporal", "ours")
"""Who copies: the C library, loops of 8, 16, 32 and 64 bytes, and the copy that Sealift uses."""
PUBLISHED_FUNCTIONS = {"glibc_memcpy": "glibc", "naive_memcpy": "sse2", "apex_memcpy": "avx512"}
"""What stands here for the published tool's three: its third one is not ported."""

MEMORY = Axis("memory", "memory that is written")
SIZE = Axis("size_bytes", "length of a copy, bytes")
COUNT = Axis("threads", "threads")
STATE = Axis("state", "in the caches")
BUFFERS = Axis("buffers", "buffers of the threads")
WAY = Axis("way", "how it is measured")
FUNCTION = Axis("function", "copied by")

CALIBRATED, AS_PUBLISHED = "calibrated", "as published"
REGION = "region"
"""The memory that a user named; the legend of the same name says which."""


def copy_arm(cell: Cell, context: Context) -> Arm:
    """The arm of a cell: of its axes those count that it has.

    Raises:
        Skip: If this machine can't do it.
    """
    way = str(cell.get("way", CALIBRATED))
    if way.startswith(AS_PUBLISHED):
        return _published_arm(cell, context)
    named = {name: cell[name] for name in AXES_OF_ARMS if name in cell}
    # `calibrated, cold` says how by itself.
    state = way.removeprefix(CALIBRATED).removeprefix(", ")
    return copy(
        {
            **({"state": state} if state else {}),
            **named,
            "bytes": cell["size_bytes"],
            "target": cell.get("memory", "heap"),
            "seed": context.seed,
            "folder": context.folder,
            "region": region_in(cell, context.legend),
        }
    )


def region_in(cell: Cell, legend: Mapping[str, str]) -> tuple[Path, int, int] | None:
    """The region that a cell names; None where it names none.

    Raises:
        Skip: If it names one and the run was given none.
    """
    if REGION not in (cell.get("memory"), cell.get("source")):
        return None
    if REGION not in legend:
        raise Skip(NO_REGION)
    path, offset, length = legend[REGION].rsplit(":", 2)
    return Path(path), int(offset), int(length)


def keep_cost(found: Found) -> str:
    """Leaves what Sealift's copy takes from memory, by length, for the engine to reckon with.

    Args:
        found: Of an experiment that copies all lengths, by one thread among others.

    Returns:
        Where it is kept, or why it isn't, in a sentence; "" where nothing was measured.
    """
    if not found.rows:
        return ""
    times = []
    for size_bytes in SIZES:
        row = found.row(**RECKONED, size_bytes=size_bytes)
        if row is None or row.wrong or row.blocks < BLOCKS_KEPT:
            lacking = f"{format_size(size_bytes)} bytes from memory by one thread"
            return f"{NOT_KEPT}: {BLOCKS_KEPT} right blocks are needed of {lacking}"
        times.append((size_bytes, row.ns_per_operation.median))
    try:
        file = keep_copy_cost(times)
    except (InputError, OSError) as error:
        return f"{NOT_KEPT}: {error}"
    return f"what copies cost here is kept in {file}, for cards whose descriptions leave it out"


def runs_of(way: str) -> int:
    """How often the published way copies: `as published, 5 runs` is 5."""
    return int(way.removeprefix(AS_PUBLISHED).strip(" ,runs") or DEFAULT_RUNS)


def printed_copies(
    name: str, figure: str, at: Mapping[str, Value], **wanted: str
) -> Iterator[tuple[Mapping[str, str], Printed]]:
    """The rows of a published table of copies that have these values, each as a printed figure.

    Args:
        name: Of the table.
        figure: The document's name for the figure.
        at: Where all of them stand, beside length and threads.
        wanted: Columns with their values.
    """
    for row in table(name):
        if wanted.items() <= row.items():
            yield row, _printed(row, figure, at)


def copy_speed(found: Found, row: Mapping[str, str], **cell: Value) -> Here:
    """Payload MB/s of what stands here for a published row."""
    function = PUBLISHED_FUNCTIONS[row["copy_function"]]
    threads = max(1, int(row["threads"]))
    size_bytes = int(row["bytes"])
    return payload_speed(
        found, **{"size_bytes": size_bytes, "threads": threads, "function": function, **cell}
    )


def known_threads(asked: Iterable[int]) -> tuple[int, ...]:
    """The thread counts that were asked for, or document 004's."""
    return tuple(asked) or THREADS


def _published_arm(cell: Cell, context: Context) -> Arm:
    functions = tuple(PUBLISHED_FUNCTIONS.values())
    size_bytes, threads = int(cell["size_bytes"]), int(cell["threads"])
    if cell["function"] not in functions:
        raise Skip(f"the published tool copies by {', '.join(functions)}, each after the others")
    # One thread of the tool's is its pool's only where that is asked for.
    has_pool = cell.get("queue", "yes" if threads > 1 else "no") == "yes"
    return published_copy(
        functions.index(str(cell["function"])),
        size_bytes,
        before=[size for size in SIZES if size < size_bytes],
        runs=runs_of(str(cell["way"])),
        threads=threads if has_pool else 0,
        seed=context.seed,
    )


def _printed(row: Mapping[str, str], figure: str, at: Mapping[str, Value]) -> Printed:
    size_bytes, threads = int(row["bytes"]), int(row["threads"])
    function = row["copy_function"]
    pool = "no pool" if threads == 0 else f"{threads} threads"
    read_off = "; read off the plot, about 3 %" if "read off" in row["source"] else ""
    where = row["experiment"].removeprefix("App ")
    return Printed(
        figure=figure,
        what=f"{function} {where}, {size_bytes:,} B, {pool}",
        value=float(row["throughput_gb_s"]) * MB_A_GB,
        unit="MB/s",
        source=row["source"] if not read_off else f"document 004, plot {row['panel']}{read_off}",
        kind=Kind.VALUE,
        series=f"{function} {where}",
        at={
            "size_bytes": size_bytes,
            "threads": max(1, threads),
            "function": PUBLISHED_FUNCTIONS[function],
            **at,
        },
    )


AXES_OF_ARMS = (
    "operation",
    "function",
    "threads",
    "source",
    "state",
    "buffers",
    "offset",
    "beside",
)
# Payload that is handed over comes from memory, or is about to go there.
RECKONED: Mapping[str, Value] = {
    "memory": "heap",
    "threads": 1,
    "state": "cold",
    "way": CALIBRATED,
    "function": "ours",
}
# One that was disturbed doesn't matter then.
BLOCKS_KEPT = 3
NOT_KEPT = "what copies cost here is not kept for cards"
DEFAULT_RUNS = 5
MB_A_GB = 1_000
NO_REGION = (
    "no region was named; --region PATH:OFFSET:LENGTH with --i-own-this-region names a device's "
    "memory, such as a PCI resource or /dev/dax"
)
