"""Writing a file while the process holds something else (document 001, section 3.1).

The document writes blocks of lorem ipsum with and without a rank of processing units allocated,
and finds no difference. That no difference is found says little by itself: here SAME is said only
where the whole interval lies within the noise of the run.

Text is written by `write` and by `fwrite` in blocks of 4 KiB or 1 MiB, or byte by byte by `putc`;
with fsync the writer waits after each 1 MiB until that is on the disk. An operation is 64 KiB of
it. A sample begins with an empty file, and what was written last is read back after it.

Quick runs none of it. A full run has writing byte by byte and in blocks of 4 KiB, and as much of
the rest as its budget holds.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.files.arm import Spec, file_arm, try_file
from sealift.lab.files.condition import CONDITIONS, LOADED, NONE, RANK, REAL_RANK
from sealift.lab.published import Comparison, Kind, Measured, Printed, table_row, times_as_fast
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for writer, block_bytes, fsync in WAYS:
        for condition in CONDITIONS:
            if condition != LOADED:
                yield {
                    "condition": condition,
                    "writer": writer,
                    "block_bytes": block_bytes,
                    "fsync": fsync,
                }


def _arm(cell: Cell, context: Context) -> Arm:
    return file_arm(_spec(cell), context)


def _try(cell: Cell, context: Context) -> None:
    try_file(_spec(cell), context)


def _spec(cell: Cell) -> Spec:
    return Spec(
        condition=str(cell["condition"]),
        evidence=f"{ID}-evidence.csv",
        writer=str(cell["writer"]),
        block_bytes=int(cell["block_bytes"]),
        fsync=cell["fsync"] == YES,
    )


def _published(found: Found) -> Sequence[Comparison]:
    # What was printed is of blocks: bytes that are put one by one have no figure to stand beside.
    ways = [(writer, size) for writer, size, fsync in WAYS if fsync == NO and size > 1]
    return [
        _slowdown(found, condition, writer, block_bytes)
        for condition in (REAL_RANK, RANK)
        for writer, block_bytes in ways
    ]


def _slowdown(found: Found, condition: str, writer: str, block_bytes: int) -> Comparison:
    claim = table_row(CLAIMS, claim_id="write-slowdown")
    rest: Cell = {"writer": writer, "block_bytes": block_bytes, "fsync": NO}
    faster = times_as_fast(found, {**rest, "condition": condition}, {**rest, "condition": NONE})
    return Printed(
        figure=ID,
        what=f"slow-down of writing: {condition}, {_told(writer, block_bytes)}",
        value=float(claim["high"]),
        unit="x",
        source=claim["source"],
        kind=Kind.SLOPE,
    ).beside(
        faster.inverse() if isinstance(faster, Measured) else faster,
        f"time with {condition} over time with {NONE}, without fsync; printed: "
        f"{claim['as_printed']}",
    )


def _told(writer: str, block_bytes: int) -> str:
    return writer if block_bytes == 1 else f"{writer} of {block_bytes:,} B"


ID, CLAIMS = "001-W1", "001-X1-claims"
YES, NO = "yes", "no"
SMALL, LARGE = 4 << 10, 1 << 20
# The most telling first: those at the end may be left out.
WAYS = (
    ("putc", 1, NO),
    ("write", SMALL, NO),
    ("fwrite", SMALL, NO),
    ("write", LARGE, NO),
    ("write", SMALL, YES),
    ("fwrite", LARGE, NO),
    ("write", LARGE, YES),
    ("fwrite", SMALL, YES),
    ("putc", 1, YES),
)

EXPERIMENT = Experiment(
    name="file-writing-by-condition",
    id=ID,
    title="Writing a file while something else is held",
    why="What does a process that holds a device, threads or memory pay when it writes a file?",
    axes=(
        Axis("condition", "held meanwhile"),
        Axis("writer", "writer"),
        Axis("block_bytes", "bytes a call"),
        Axis("fsync", "waits for the disk"),
    ),
    compare="condition",
    cells=_cells,
    arm=_arm,
    tries=_try,
    operation="64 KiB of text",
    published=_published,
    plots=(
        Plot(
            x="condition",
            y="ns_per_operation",
            z="writer",
            title="Writing 64 KiB by what is held, blocks of 4 KiB",
            where={"block_bytes": SMALL, "fsync": NO},
            log_y=True,
        ),
        Plot(
            x="condition",
            y="ns_per_operation",
            z="writer",
            title="Writing 64 KiB by what is held, byte by byte",
            where={"block_bytes": 1, "fsync": NO},
            log_y=True,
        ),
    ),
    weight=0.5,
    essential=2,
)
