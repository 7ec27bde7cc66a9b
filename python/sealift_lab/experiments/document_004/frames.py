"""Frames between two processes, through shared memory, plain and sealed, and otherwise: 004-I."""

from collections.abc import Iterator, Mapping
from functools import partial

from sealift_lab.experiments.combinations import axes, grid
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.published import Kind, Published, Rate, printed_claim


def _cells(scope: Scope) -> Iterator[Cell]:
    for pattern, sizes in FRAME_BYTES.items():
        yield from grid(scope, {"pattern": pattern, "batch": 1}, frame_bytes=sizes, way=WAYS)
    # Batches where one frame is little for the engine.
    sizes, ways = FRAME_BYTES[STREAM][:3], (RING, SEALED)
    yield from grid(scope, {"pattern": STREAM, "batch": 16}, frame_bytes=sizes, way=ways)


def _published() -> Iterator[Published]:
    at: Cell = {"pattern": STREAM, "frame_bytes": PUBLISHED_BYTES}
    note = "here two processes of one host, there two hosts with memory between them"
    for way, words in WAYS.items():
        what = f"64 KB frames between two hosts, beside {words} here"
        here = Rate({**at, "batch": 1, "way": way})
        # Drawn once, though compared with each way.
        series = "two hosts, as published" if way == RING else ""
        of = (what, "escape-64k", Kind.VALUE, here, note)
        yield printed_claim("004-X1", *of, unit="MB/s", series=series, at=at)


PING_PONG, STREAM = "ping-pong", "stream"
RING, SEALED = "ring", "ring-sealed"
WAYS: Mapping[Value, str] = {
    RING: "a ring in shared memory",
    SEALED: "the same ring, every frame sealed and opened",
    "pipe": "pipes",
    "unix-socket": "Unix sockets",
    "process-vm-readv": "process_vm_readv",
    "loopback-tcp": "TCP over 127.0.0.1",
}
PUBLISHED_BYTES = 64 << 10
FRAME_BYTES: Mapping[str, tuple[int, ...]] = {
    PING_PONG: (16, PUBLISHED_BYTES),
    STREAM: (16, 4 << 10, PUBLISHED_BYTES, 1 << 20),
}
_chart = partial(Chart, "frame_bytes", "way", log_x=True, log_y=True)

EXPERIMENT = Experiment(
    **texts(__package__, "frames-between-processes"),
    id="004-I",
    axes=axes(pattern="pattern", frame_bytes="frame, bytes", batch="frames at once", way="way"),
    compare="way",
    cells=_cells,
    arm=lambda cell, context: native("frames", context, **cell),
    operation="frame",
    published=lambda _: [*_published()],
    charts=(
        _chart(y="MB/s", title="Frames one after the other", where={"pattern": STREAM, "batch": 1}),
        _chart(y="time", title="Frames there and back, time a frame", where={"pattern": PING_PONG}),
    ),
    lines_of=("memory-ceiling",),
    preferred={"pattern": STREAM, "frame_bytes": PUBLISHED_BYTES, "batch": 1},
    names=WAYS,
)
