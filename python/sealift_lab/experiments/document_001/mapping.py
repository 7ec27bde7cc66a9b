"""A mapped file against read and write: document 004's "conventional wisdom"."""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.notes import read_notes
from sealift_lab.measure.native import copy
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Times
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.units import format_bytes
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        for shape in _shapes():
            for way in WAYS[str(shape["direction"])]:
                yield {**shape, "way": way}


def _shapes() -> Iterator[Cell]:
    for direction in WAYS:
        for file, (state, lengths) in FILES.items():
            for size_bytes in lengths:
                shape: Cell = {"direction": direction, "file": file, "size_bytes": size_bytes}
                yield {**shape, "threads": 1, "state": state}


def _arm(cell: Cell, context: Context) -> Arm:
    return copy(
        {
            "function": WAYS[str(cell["direction"])][str(cell["way"])],
            "source" if cell["direction"] == "read" else "target": "file",
            "bytes": cell["size_bytes"],
            "threads": cell["threads"],
            "state": cell["state"],
            "seed": context.seed,
            "folder": context.folder,
        }
    )


def _published(_: Results) -> Sequence[Published]:
    return [
        Published(
            figure="004-X1",
            what=f"conventional wisdom: {shape['direction']} through a mapping is faster than by a "
            f"call, {format_bytes(int(shape['size_bytes']))}, a file {shape['file']}",
            value=1.0,
            unit="x",
            source=table_row("004-X1-claims", claim_id="mmap-wisdom")["source"],
            kind=Kind.SHAPE,
            here=Times({**shape, "way": MAPPED}, {**shape, "way": BY_CALL}),
            note="a mapping that stands",
        )
        for shape in _shapes()
    ]


MAPPED, MAPPED_EACH, BY_CALL = "a mapping that stands", "a mapping for each", "a call of the system"
WAYS = {
    "read": {BY_CALL: "pread", MAPPED: "glibc", MAPPED_EACH: "map-read"},
    "write": {BY_CALL: "pwrite", MAPPED: "glibc", MAPPED_EACH: "map-write"},
}
# The state of caches, and lengths of a copy.
FILES = {
    "inside memory": ("cold", (4_096, 65_536, 1_048_576)),
    "beyond memory": ("beyond memory", (4_096, 1_048_576)),
}

MAPPING = Experiment(
    name="file-or-mapping",
    title="A mapped file against read and write",
    question="Is a mapped file faster to copy from and to than the system's calls are?",
    axes=(
        Axis("direction", "direction"),
        Axis("file", "the file"),
        Axis("size_bytes", "length of a copy, bytes"),
        Axis("threads", "threads"),
        Axis("state", "in the caches"),
        Axis("way", "way to the file"),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=_published,
    charts=tuple(
        Chart(
            x="size_bytes",
            series="way",
            y="MB/s",
            title=f"Copies from and to a file {file}",
            panels="direction",
            where={"file": file},
            log_x=True,
            log_y=True,
        )
        for file in FILES
    ),
    weight=0.2,
    notes=read_notes(__package__, "mapping"),
)
