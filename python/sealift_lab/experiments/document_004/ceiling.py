"""How much memory can move, and what of it a copy gets: document 004's memory limit, 004-M.

Payload is the bytes that a program wanted. Traffic is the bytes that memory moved: a read moves the
payload once, a store past the caches once, a store through them twice, because its line is read
before it is written.
"""

from collections.abc import Mapping

from sealift_lab.experiments.combinations import grid
from sealift_lab.experiments.document_004.copies import COUNT, SIZE, arm_by
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import one_and_all
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart, Experiment
from sealift_lab.model.published import Kind, Published, Rate, Scaled, table_row
from sealift_lab.model.results import Results, Row


def share_of_ceiling(results: Results, threads: int) -> float | None:
    """The least share of the most traffic that Sealift's copy moves, over its lengths."""
    rows = [row for row in results.select(threads=threads) if not row.wrong]
    own = [_traffic(row) for row in rows if row.cell["kernel"] == OURS]
    most = max((_traffic(row) for row in rows if row.cell["kernel"] != OURS), default=0.0)
    return min(1.0, min(own) / most) if own and most else None


def _published(results: Results) -> list[Published]:
    """The published limit beside the most traffic that was measured, over all thread counts."""
    claim = table_row("004-X1-claims", claim_id="mem-limit")
    exact = (row for row in results.rows if row.cell["kernel"] in EXACT_UNITS and not row.wrong)
    best = max(exact, key=_traffic, default=None)
    first: Cell = {"size_bytes": LENGTHS[0], "threads": 1, "kernel": FIRST}
    cell = best.cell if best else first
    return [
        Published(
            figure="004-M",
            what="local memory bandwidth limit, reckoned there, traffic measured here",
            value=float(claim["value"]) * 1_000,
            unit="MB/s",
            source=claim["source"],
            kind=Kind.VALUE,
            here=Scaled(Rate(cell), EXACT_UNITS[str(cell["kernel"])]),
            note=f"{cell['kernel']}, {cell['threads']} threads; printed {claim['as_printed']}",
        )
    ]


def _traffic(row: Row) -> float:
    """MB/s that memory moves; 0 where that isn't known."""
    speed, units = row.payload_mb_per_s, TRAFFIC_UNITS.get(str(row.cell["kernel"]), 0)
    return units * speed.value if speed else 0.0


LENGTHS = (4 << 20, 16 << 20)
FIRST, OURS = "read, 64-byte registers", "copy by Sealift"
KERNELS: Mapping[str, Cell] = {
    FIRST: {"operation": "read", "function": "avx512"},
    "read, words": {"operation": "read", "function": "words"},
    "write past the caches": {"operation": "write", "function": "non-temporal"},
    "write, 64-byte registers": {"operation": "write", "function": "avx512"},
    "fill by the C library": {"operation": "fill", "function": "glibc"},
    "copy past the caches": {"operation": "copy", "function": "non-temporal"},
    "copy, 16-byte registers": {"operation": "copy", "function": "sse2"},
    "copy by the C library": {"operation": "copy", "function": "glibc"},
    OURS: {"operation": "copy", "function": "ours"},
}
# How often memory moves the payload, where that is known: not of stores through the caches, whose
# read processors may leave out.
EXACT_UNITS = {FIRST: 1, "read, words": 1, "write past the caches": 1, "copy past the caches": 2}
# Sealift's copy may be the C library's: the least.
TRAFFIC_UNITS = {**EXACT_UNITS, OURS: 2}

EXPERIMENT = Experiment(
    **texts(__package__, "memory-ceiling"),
    id="004-M",
    axes=(SIZE, COUNT, Axis("kernel", "kernel")),
    compare="kernel",
    cells=lambda scope: grid(
        scope, {}, size_bytes=LENGTHS, threads=one_and_all(scope), kernel=KERNELS
    ),
    arm=arm_by("kernel", KERNELS, {"state": "cold"}),
    operation="block",
    published=_published,
    charts=(Chart("threads", "kernel", "MB/s", "Memory: payload by threads", panels="size_bytes"),),
    preferred={"size_bytes": LENGTHS[1], "threads": 1},
    weight=0.4,
)
