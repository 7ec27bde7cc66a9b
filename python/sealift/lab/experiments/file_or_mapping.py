"""A mapped file against read and write: document 004's "conventional wisdom".

The document cites that mmap should outperform traditional file input and output. Here a file that
is in memory is copied from and to: through a mapping that stands, through one that is made for each
copy, and by the system's calls. A file larger than memory behaves otherwise; that needs a limit on
memory, which Sealift does not set. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift.lab.copying import COUNT, SIZE, STATE, copy_arm
from sealift.lab.published import Comparison, Kind, Printed, table_row, times_as_fast
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope, Skip
from sealift.lab.values import Cell, Value
from sealift.lab.vega import format_bytes


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for direction, size_bytes, file in product(WAYS, LENGTHS, (INSIDE, BEYOND)):
        if file == BEYOND and size_bytes != LENGTHS[0]:
            continue
        for way in WAYS[direction]:
            yield {
                "direction": direction,
                "file": file,
                "size_bytes": size_bytes,
                "threads": 1,
                "state": "cold",
                "way": way,
            }


def _arm(cell: Cell, context: Context) -> Arm:
    if cell["file"] == BEYOND:
        raise Skip(NO_LIMIT)
    function = WAYS[str(cell["direction"])][str(cell["way"])]
    side = "source" if cell["direction"] == READ else "memory"
    plain = {name: cell[name] for name in ("size_bytes", "threads", "state")}
    return copy_arm({**plain, "function": function, side: "file"}, context)


def _published(found: Found) -> Sequence[Comparison]:
    return list(_beside(found))


def _beside(found: Found) -> Iterator[Comparison]:
    claim = table_row("004-X1-claims", claim_id="mmap-wisdom")
    for direction, size_bytes in product(WAYS, LENGTHS):
        at: dict[str, Value] = {"direction": direction, "size_bytes": size_bytes, "file": INSIDE}
        mapped, by_call = ({**at, "way": way} for way in (MAPPED, BY_CALL))
        printed = Printed(
            figure="004-X1",
            what=f"conventional wisdom: {direction} through a mapping is faster than by a call, "
            f"{format_bytes(size_bytes)}",
            value=1.0,
            unit="x",
            source=claim["source"],
            kind=Kind.SHAPE,
        )
        told = "a file in memory and a mapping that stands; lines flushed from the caches before"
        yield printed.beside(times_as_fast(found, mapped, by_call), told)


READ, WRITE = "read", "write"
MAPPED, MAPPED_EACH, BY_CALL = "a mapping that stands", "a mapping for each", "a call of the system"
WAYS = {
    READ: {BY_CALL: "pread", MAPPED: "glibc", MAPPED_EACH: "map-read"},
    WRITE: {BY_CALL: "pwrite", MAPPED: "glibc", MAPPED_EACH: "map-write"},
}
INSIDE, BEYOND = "inside memory", "beyond memory"
LENGTHS = (4_096, 65_536, 1_048_576)
NO_LIMIT = (
    "a file beyond memory needs a limit on memory, and Sealift sets none; time one of your own "
    "under systemd-run --user --scope -p MemoryMax=256M"
)

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
    plots=(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="way",
            title="Copies from and to a file in memory",
            facet="direction",
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.2,
)
