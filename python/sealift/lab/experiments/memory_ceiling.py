"""How much memory can move, and what of it a copy gets (document 004's "memory limit", 004-M).

The document reckons its limit from the clock of its memory. Here it is measured: reads, writes and
copies of blocks that were flushed from all caches, in turn with each other, so that the ceiling and
what stands below it were taken at the same time.

Payload is what a program asked for. Traffic is what memory moved: a read moves the payload once, a
store past the caches once, and a store through them twice, because its line is read before it is
written; a copy is a read and a store. Processors may leave out that read: then the traffic told for
stores through the caches is too high, so the ceiling stands on the other kernels. Rows and plots
are payload; the sentence above them is traffic. Not part of a quick run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from sealift.lab.copying import COUNT, SIZE, copy_arm
from sealift.lab.grid import one_and_all
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    payload_speed,
    table_row,
)
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.units import format_measure, format_share
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Kernel:
    """One way to move memory.

    Attributes:
        operation: What it does.
        function: By what.
        traffic_units: How often memory moves the payload.
        is_least: Whether it may be more often, on processors where Sealift's copy is the C
            library's.
    """

    operation: str
    function: str
    traffic_units: int
    is_least: bool = False


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for size_bytes, threads in product(LENGTHS, one_and_all(scope)):
        for name in KERNELS:
            yield {
                "size_bytes": size_bytes,
                "threads": threads,
                "kernel": name,
            }


def _arm(cell: Cell, context: Context) -> Arm:
    kernel = KERNELS[str(cell["kernel"])]
    asked = {"operation": kernel.operation, "function": kernel.function, "state": "cold"}
    return copy_arm({**cell, **asked}, context)


def _says(found: Found) -> str:
    told = []
    for threads in sorted({int(row.cell["threads"]) for row in found.rows}):
        most = _ceiling(found, threads)
        shares = [f"{who} moves {share}" for who, share in _told(found, threads)]
        if most and shares:
            told.append(
                f"with {threads} {'thread' if threads == 1 else 'threads'} memory moves "
                f"{format_measure(most / 1_000)} GB/s, of which a copy of "
                f"{LENGTHS[0] >> 20} MiB or more {' and '.join(shares)}"
            )
    return f"On this machine, {'; '.join(told)}." if told else ""


def _told(found: Found, threads: int) -> Iterator[tuple[str, str]]:
    for name, share in _copies(found, threads):
        least = "at least " if KERNELS[name].is_least else ""
        yield name.removeprefix("copy "), f"{least}{format_share(share)}"


def share_of_ceiling(found: Found, threads: int) -> float | None:
    """What of the most traffic Sealift's copy moves, at the length with the least."""
    return dict(_copies(found, threads)).get(OURS)


def _copies(found: Found, threads: int) -> Iterator[tuple[str, float]]:
    most = _ceiling(found, threads)
    for name in KNOWN:
        traffic = _traffic(found, name, threads, over=min)
        if KERNELS[name].operation == "copy" and most and traffic:
            yield name, min(1.0, traffic / most)


def ceiling(found: Found, threads: int) -> tuple[str, Measured] | None:
    """The most traffic of any kernel, in MB/s, and which one; None where none was measured.

    Only kernels count whose traffic is known.
    """
    moved = [
        (name, speed.scaled(KERNELS[name].traffic_units))
        for name, size_bytes in product(EXACT, LENGTHS)
        if isinstance(speed := _speed(found, name, threads, size_bytes), Measured)
    ]
    return max(moved, key=lambda each: each[1].interval.median, default=None)


def _ceiling(found: Found, threads: int) -> float:
    most = ceiling(found, threads)
    return most[1].interval.median if most else 0.0


def _traffic(
    found: Found, name: str, threads: int, over: Callable[[Iterable[float]], float] = max
) -> float:
    """Of the length with the most, or with the least where `over` is min; 0 where none is there."""
    speeds = (_speed(found, name, threads, size) for size in LENGTHS)
    known = [each.interval.median for each in speeds if isinstance(each, Measured)]
    return KERNELS[name].traffic_units * over(known or [0.0])


def _speed(found: Found, name: str, threads: int, size_bytes: int) -> Here:
    return payload_speed(found, kernel=name, threads=threads, size_bytes=size_bytes)


def _published(found: Found) -> Sequence[Comparison]:
    claim = table_row("004-X1-claims", claim_id="mem-limit")
    printed = Printed(
        figure="004-M",
        what="local memory bandwidth limit, reckoned there, traffic measured here",
        value=float(claim["value"]) * 1_000,
        unit="MB/s",
        source=claim["source"],
        kind=Kind.VALUE,
    )
    counts = {int(row.cell["threads"]) for row in found.rows}
    most = max(counts, key=lambda threads: _ceiling(found, threads), default=1)
    printed_as = f"printed {claim['as_printed']}"
    if moved := ceiling(found, most):
        return [printed.beside(moved[1], f"{moved[0]}, {most} threads; {printed_as}")]
    return [printed.beside(_speed(found, EXACT[0], most, LENGTHS[0]), printed_as)]


LENGTHS = (4 << 20, 16 << 20)
OURS = "copy by Sealift"
KERNELS = {
    "read, 64-byte registers": Kernel("read", "avx512", 1),
    "read, words": Kernel("read", "words", 1),
    "write past the caches": Kernel("write", "non-temporal", 1),
    "write, 64-byte registers": Kernel("write", "avx512", 2),
    "fill by the C library": Kernel("fill", "glibc", 2),
    "copy past the caches": Kernel("copy", "non-temporal", 2),
    "copy, 16-byte registers": Kernel("copy", "sse2", 3),
    "copy by the C library": Kernel("copy", "glibc", 3),
    OURS: Kernel("copy", "ours", 2, is_least=True),
}
# Without stores through the caches, whose traffic processors may save.
KNOWN = (
    "read, 64-byte registers",
    "read, words",
    "write past the caches",
    "copy past the caches",
    OURS,
)
# And of these those of which it is known exactly: what a ceiling may stand on.
EXACT = tuple(name for name in KNOWN if not KERNELS[name].is_least)

EXPERIMENT = Experiment(
    name="memory-ceiling",
    id="004-M",
    title="The ceiling of memory, measured",
    why="What is the most that memory moves here, by one thread and by a thread a core, and how "
    "close to it does a copy come?",
    axes=(SIZE, COUNT, Axis("kernel", "kernel")),
    compare="kernel",
    cells=_cells,
    arm=_arm,
    operation="block",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="kernel",
            title="What memory gives: payload by threads",
            facet="size_bytes",
        ),
    ),
    weight=0.4,
)
