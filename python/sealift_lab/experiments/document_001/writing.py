"""001-W1: writing a file while the process holds something else."""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.document_001 import condition as conditions
from sealift_lab.experiments.document_001.arm import check_file, file_arm
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Times
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for writer, block_bytes, fsync in WAYS:
        for condition in conditions.CONDITIONS:
            if condition != conditions.LOADED:
                yield _cell(condition, writer, block_bytes, fsync)


def _cell(condition: str, writer: str, block_bytes: int, fsync: str) -> Cell:
    return {"condition": condition, "writer": writer, "block_bytes": block_bytes, "fsync": fsync}


def _published(_: Results) -> Sequence[Published]:
    """Of blocks, as printed: bytes that are put one by one have no figure to stand beside."""
    claim = table_row("001-X1-claims", claim_id="write-slowdown")
    return [
        Published(
            figure="001-W1",
            what=f"slow-down of writing: {condition}, {writer} of {block_bytes:,} B",
            value=float(claim["high"]),
            unit="x",
            source=claim["source"],
            kind=Kind.SLOPE,
            here=Times(
                _cell(conditions.NONE, writer, block_bytes, fsync),
                _cell(condition, writer, block_bytes, fsync),
            ),
            note=f"time with {condition} over time with {conditions.NONE}, without fsync; printed: "
            f"{claim['as_printed']}",
        )
        for condition in (conditions.REAL_RANK, conditions.RANK)
        for writer, block_bytes, fsync in WAYS
        if fsync == "no" and block_bytes > 1
    ]


SMALL, LARGE = 4 << 10, 1 << 20
# The most telling first: those at the end may be left out.
WAYS = (
    ("putc", 1, "no"),
    ("write", SMALL, "no"),
    ("fwrite", SMALL, "no"),
    ("write", LARGE, "no"),
    ("write", SMALL, "yes"),
    ("fwrite", LARGE, "no"),
    ("write", LARGE, "yes"),
    ("fwrite", SMALL, "yes"),
    ("putc", 1, "yes"),
)

WRITING = Experiment(
    name="file-writing-by-condition",
    id="001-W1",
    title="Writing a file while something else is held",
    question="What does a process that holds a device, threads or memory pay when it writes a "
    "file?",
    axes=(
        Axis("condition", "held meanwhile"),
        Axis("writer", "writer"),
        Axis("block_bytes", "bytes a call"),
        Axis("fsync", "waits for the disk"),
    ),
    compare="condition",
    cells=_cells,
    arm=file_arm,
    check_available=check_file,
    operation="64 KiB of text",
    published=_published,
    charts=tuple(
        Chart(
            x="condition",
            series="writer",
            y="time",
            title=f"Writing 64 KiB by what is held, {how}",
            where={"block_bytes": block_bytes, "fsync": "no"},
            log_y=True,
        )
        for block_bytes, how in ((SMALL, "blocks of 4 KiB"), (1, "byte by byte"))
    ),
    preferred={"writer": "putc", "block_bytes": 1, "fsync": "no"},
    weight=0.5,
    is_optional_from=2,
    notes=read_notes(__package__, "conditions", "writing"),
)
