"""Frames between two processes (document 004): through shared memory, plain and sealed.

The document moved frames of 64 KB between two hosts through memory that both have. Here two
processes of one host do so, each with a region that only it writes and one that the other may not
touch, beside what the system offers: pipes, Unix sockets, process_vm_readv and TCP over 127.0.0.1.
Sealed, one process seals into the shared memory and the other opens out of it.

In a ping-pong an operation is a frame of either direction, so a round trip is two of them; how long
single round trips took stands below the rows.

Quick runs none of it: it answers where frames should go, not where bulk encryption should run.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.native import exchange_frames
from sealift.lab.published import Comparison, Kind, Measured, Printed, payload_speed, table_row
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.stats import Interval
from sealift.lab.units import format_estimate
from sealift.lab.values import Cell
from sealift.lab.vega import format_bytes


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for pattern, sizes in FRAME_BYTES.items():
        for frame_bytes in sizes:
            for way in WAYS:
                yield _cell(pattern, frame_bytes, 1, way)
    for frame_bytes in BATCHED_BYTES:
        for way in (RING, SEALED):
            yield _cell(STREAM, frame_bytes, BATCH, way)


def _cell(pattern: str, frame_bytes: int, batch: int, way: str) -> Cell:
    return {"pattern": pattern, "frame_bytes": frame_bytes, "batch": batch, "way": way}


def _arm(cell: Cell, context: Context) -> Arm:
    return exchange_frames(
        str(cell["way"]),
        str(cell["pattern"]),
        frame_bytes=int(cell["frame_bytes"]),
        batch=int(cell["batch"]),
        context=context,
    )


def _published(found: Found) -> Sequence[Comparison]:
    claim = table_row("004-X1-claims", claim_id="escape-64k")
    return [
        Printed(
            figure="004-X1",
            what=f"64 KB frames between two hosts, beside {words} here",
            value=float(claim["value"]),
            unit=claim["unit"],
            source=claim["source"],
            kind=Kind.VALUE,
            # Drawn once, though compared with each way.
            series="two hosts, as published" if way == RING else "",
            at={"frame_bytes": PUBLISHED_BYTES, "pattern": STREAM},
        ).beside(
            payload_speed(found, pattern=STREAM, frame_bytes=PUBLISHED_BYTES, batch=1, way=way),
            f"{words}; here two processes of one host, there two hosts with memory between them",
        )
        for way, words in WAYS.items()
    ]


def _says(found: Found) -> str:
    """What the document's frames take here, whether or not a verdict stands on it."""
    every = {
        way: payload_speed(found, pattern=STREAM, frame_bytes=PUBLISHED_BYTES, batch=1, way=way)
        for way in WAYS
    }
    speeds = {way: each.interval for way, each in every.items() if isinstance(each, Measured)}
    if RING not in speeds:
        return ""
    told = [f"{WAYS[RING]} {_gb_per_s(speeds[RING])}"]
    if SEALED in speeds:
        told.append(f"sealed and opened on the way {_gb_per_s(speeds[SEALED])}")
    if others := [way for way in speeds if way not in (RING, SEALED)]:
        best = max(others, key=lambda way: speeds[way].median)
        told.append(f"of what the system has, {WAYS[best]} most, {_gb_per_s(speeds[best])}")
    return f"Frames of {format_bytes(PUBLISHED_BYTES)}, one after the other: {'; '.join(told)}"


def _gb_per_s(speed: Interval) -> str:
    each = speed.scaled(1 / 1_000)
    return f"{format_estimate(each.median, each.low, each.high)} GB/s"


PING_PONG, STREAM = "ping-pong", "stream"
RING, SEALED = "ring", "ring-sealed"
WAYS = {
    RING: "a ring in memory that both have",
    SEALED: "the same ring, every frame sealed and opened",
    "pipe": "pipes",
    "unix-socket": "Unix sockets",
    "process-vm-readv": "process_vm_readv",
    "loopback-tcp": "TCP over 127.0.0.1",
}
PUBLISHED_BYTES = 64 << 10
FRAME_BYTES = {
    PING_PONG: (16, PUBLISHED_BYTES),
    STREAM: (16, 4 << 10, PUBLISHED_BYTES, 1 << 20),
}
# Where one frame is little for the engine.
BATCH, BATCHED_BYTES = 16, (16, 4 << 10, PUBLISHED_BYTES)

EXPERIMENT = Experiment(
    name="frames-between-processes",
    id="004-I",
    title="Frames between two processes",
    why="How fast do frames go from one process to another through memory that both have, what "
    "does sealing them cost there, and what do the system's own ways give?",
    axes=(
        Axis("pattern", "pattern"),
        Axis("frame_bytes", "frame, bytes"),
        Axis("batch", "frames at once"),
        Axis("way", "way"),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="frame",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x="frame_bytes",
            y="payload_MB_per_s",
            z="way",
            title="Frames between two processes, one after the other",
            where={"pattern": STREAM, "batch": 1},
            log_x=True,
            log_y=True,
        ),
        Plot(
            x="frame_bytes",
            y="ns_per_operation",
            z="way",
            title="Frames there and back, ns a frame",
            where={"pattern": PING_PONG},
            log_x=True,
            log_y=True,
        ),
    ),
)
