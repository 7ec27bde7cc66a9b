"""A mapped file against read and write: document 004's "conventional wisdom".

The document cites that mmap should outperform traditional file input and output. Here a file that
is in memory is copied from and to: through a mapping that stands, through one that is made for each
copy, and by the system's calls. So is a file of which a quarter fits into memory, one place after
the other: for that, the process that measures has a limit on its memory as long as it copies, in a
group of its own below the control group that the environment variable SEALIFT_MEMORY_GROUP names.
Not part of a quick run.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift.lab.copying import COUNT, SIZE, STATE, copy_arm
from sealift.lab.published import Comparison, Kind, Printed, table_row, times_as_fast
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell
from sealift.lab.vega import format_bytes


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for shape in _shapes():
        for way in WAYS[str(shape["direction"])]:
            yield {**shape, "way": way}


def _shapes() -> Iterator[Cell]:
    for direction, (file, (state, lengths)) in product(WAYS, FILES.items()):
        for size_bytes in lengths:
            yield {
                "direction": direction,
                "file": file,
                "size_bytes": size_bytes,
                "threads": 1,
                "state": state,
            }


def _arm(cell: Cell, context: Context) -> Arm:
    function = WAYS[str(cell["direction"])][str(cell["way"])]
    side = "source" if cell["direction"] == READ else "memory"
    plain = {name: cell[name] for name in ("size_bytes", "threads", "state")}
    return copy_arm({**plain, "function": function, side: "file"}, context)


def _published(found: Found) -> Sequence[Comparison]:
    return list(_beside(found))


def _beside(found: Found) -> Iterator[Comparison]:
    claim = table_row("004-X1-claims", claim_id="mmap-wisdom")
    for shape in _shapes():
        mapped, by_call = ({**shape, "way": way} for way in (MAPPED, BY_CALL))
        direction, file = str(shape["direction"]), str(shape["file"])
        printed = Printed(
            figure="004-X1",
            what=f"conventional wisdom: {direction} through a mapping is faster than by a call, "
            f"{format_bytes(int(shape['size_bytes']))}, a file {file}",
            value=1.0,
            unit="x",
            source=claim["source"],
            kind=Kind.SHAPE,
        )
        yield printed.beside(times_as_fast(found, mapped, by_call), HOW[file])


READ, WRITE = "read", "write"
MAPPED, MAPPED_EACH, BY_CALL = "a mapping that stands", "a mapping for each", "a call of the system"
WAYS = {
    READ: {BY_CALL: "pread", MAPPED: "glibc", MAPPED_EACH: "map-read"},
    WRITE: {BY_CALL: "pwrite", MAPPED: "glibc", MAPPED_EACH: "map-write"},
}
INSIDE, BEYOND = "inside memory", "beyond memory"
FILES = {
    INSIDE: ("cold", (4_096, 65_536, 1_048_576)),
    # The state of its page cache: most of what is copied has to come from the disk, or go there.
    BEYOND: (BEYOND, (4_096, 1_048_576)),
}
HOW = {
    INSIDE: "a file in memory and a mapping that stands; lines flushed from the caches before",
    BEYOND: "a file of which a quarter fits into memory, and a mapping that stands",
}

EXPERIMENT = Experiment(
    name="file-or-mapping",
    title="A mapped file against read and write",
    why="Is a mapped file faster to copy from and to than the system's calls are?",
    axes=(
        Axis("direction", "direction"),
        Axis("file", "the file"),
        SIZE,
        COUNT,
        STATE,
        Axis("way", "way to the file"),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=_published,
    plots=tuple(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="way",
            title=f"Copies from and to a file {file}",
            facet="direction",
            where={"file": file},
            log_x=True,
            log_y=True,
        )
        for file in FILES
    ),
    weight=0.2,
)
