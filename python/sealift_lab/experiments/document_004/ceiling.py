"""How much memory can move, and what of it a copy gets: document 004's memory limit, 004-M.

Payload is the bytes that a program wanted. Traffic is the bytes that memory moved: a read moves the
payload once, a store past the caches once, a store through them twice, because its line is read
before it is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sealift_lab.experiments.document_004.copies import COUNT, SIZE, copy_arm, grid
from sealift_lab.measure.crypto import one_and_all
from sealift_lab.model.arm import Arm, Cell, Context, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment
from sealift_lab.model.published import Kind, Published, Rate, Scaled, table_row
from sealift_lab.model.results import Results, Row


@dataclass(frozen=True)
class Kernel:
    """One way to move memory.

    Attributes:
        operation: Of the arm.
        function: Of the arm.
        traffic_units: How often memory moves the payload.
        is_exact: Whether that is known: not of stores through the caches, whose read processors
            may leave out, nor where Sealift's copy may be the C library's.
    """

    operation: str
    function: str
    traffic_units: int
    is_exact: bool = True


def share_of_ceiling(results: Results, threads: int) -> float | None:
    """The least share of the most traffic that Sealift's copy moves, over its lengths."""
    most = max(map(_traffic, _exact(results, threads=threads)), default=0.0)
    own = [_traffic(row) for row in results.select(kernel=OURS, threads=threads) if not row.wrong]
    return min(1.0, min(own) / most) if own and most else None


def _arm(cell: Cell, context: Context) -> Arm:
    kernel = KERNELS[str(cell["kernel"])]
    more = {"operation": kernel.operation, "function": kernel.function, "state": "cold"}
    return copy_arm({**cell, **more}, context)


def _published(results: Results) -> Sequence[Published]:
    """The published limit beside the most traffic that was measured, over all thread counts."""
    claim = table_row("004-X1-claims", claim_id="mem-limit")
    best = max(_exact(results), key=_traffic, default=None)
    cell = best.cell if best else {"size_bytes": LENGTHS[0], "threads": 1, "kernel": FIRST}
    return [
        Published(
            figure="004-M",
            what="local memory bandwidth limit, reckoned there, traffic measured here",
            value=float(claim["value"]) * 1_000,
            unit="MB/s",
            source=claim["source"],
            kind=Kind.VALUE,
            here=Scaled(Rate(cell), KERNELS[str(cell["kernel"])].traffic_units),
            note=f"{cell['kernel']}, {cell['threads']} threads; printed {claim['as_printed']}",
        )
    ]


def _exact(results: Results, **where: Value) -> list[Row]:
    """The rows whose traffic is known exactly: a ceiling may stand on them."""
    rows = results.select(**where)
    return [row for row in rows if KERNELS[str(row.cell["kernel"])].is_exact and not row.wrong]


def _traffic(row: Row) -> float:
    """MB/s that memory moves."""
    speed = row.payload_mb_per_s
    return KERNELS[str(row.cell["kernel"])].traffic_units * (speed.value if speed else 0.0)


LENGTHS = (4 << 20, 16 << 20)
FIRST, OURS = "read, 64-byte registers", "copy by Sealift"
KERNELS = {
    FIRST: Kernel("read", "avx512", 1),
    "read, words": Kernel("read", "words", 1),
    "write past the caches": Kernel("write", "non-temporal", 1),
    "write, 64-byte registers": Kernel("write", "avx512", 2, is_exact=False),
    "fill by the C library": Kernel("fill", "glibc", 2, is_exact=False),
    "copy past the caches": Kernel("copy", "non-temporal", 2),
    "copy, 16-byte registers": Kernel("copy", "sse2", 3, is_exact=False),
    "copy by the C library": Kernel("copy", "glibc", 3, is_exact=False),
    OURS: Kernel("copy", "ours", 2, is_exact=False),
}

EXPERIMENT = Experiment(
    name="memory-ceiling",
    id="004-M",
    title="The ceiling of memory, measured",
    question="How much can memory move here, by one thread and by a thread a core, and how close "
    "to it does a copy come?",
    axes=(SIZE, COUNT, Axis("kernel", "kernel")),
    compare="kernel",
    cells=lambda scope: (
        () if scope.quick else grid(size_bytes=LENGTHS, threads=one_and_all(scope), kernel=KERNELS)
    ),
    arm=_arm,
    operation="block",
    published=_published,
    charts=(Chart("threads", "kernel", "MB/s", "Memory: payload by threads", panels="size_bytes"),),
    preferred={"size_bytes": LENGTHS[1], "threads": 1},
    weight=0.4,
    notes="The document reckons its limit from the clock of its memory; here it is measured, with "
    "reads, writes and copies of blocks that were flushed from all caches. Rows are payload. "
    "Traffic is 1 times the payload for reads and stores past the caches, 2 times for copies past "
    "them (Sealift's, at least), up to 2 for stores and 3 for copies through them, whose lines "
    "processors may not read before they write: the ceiling stands on the others.",
)
