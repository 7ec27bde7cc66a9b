"""Experiments of no document: AES-GCM by message size, and reading memory."""

from collections.abc import Iterator
from itertools import product

from sealift_lab.experiments.document_003.messages import ADVICE, NAMES, message_arm
from sealift_lab.experiments.notes import texts
from sealift_lab.measure import crypto
from sealift_lab.measure.crypto import MANY_KEYS, sized
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope


def _message_cells(scope: Scope) -> Iterator[Cell]:
    """AES-128, sealing only; of large messages no 1,024 keys' worth is kept ready."""
    regimes = (MANY_KEYS,) if scope.quick else crypto.REGIMES
    works = [
        sized(size, regime)
        for regime in regimes
        for size in (*crypto.SIZES, *(() if regime == MANY_KEYS else crypto.LARGE_SIZES))
    ]
    return crypto.crypto_cells(works, devices=scope.devices, threads=scope.threads or (1,))


def _read_cells(scope: Scope) -> Iterator[Cell]:
    sizes = READ_BYTES[:1] if scope.quick else READ_BYTES
    for buffer_bytes, threads in product(sizes, crypto.one_and_all(scope)):
        yield {"buffer_bytes": buffer_bytes, "threads": threads}


READ_BYTES = (256 << 20, 1 << 30)

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        **texts(__package__, "aes-gcm-by-size"),
        axes=crypto.AXES,
        compare="device",
        cells=_message_cells,
        # Users may ask for published messages, too.
        arm=message_arm,
        operation="message",
        charts=tuple(
            Chart("size_bytes", "device", y, title, panels="keys", log_x=True, log_y=True)
            for y, title in (
                ("MB/s", "Sealing by message size"),
                ("operations/s", "Messages a second by message size"),
            )
        ),
        preferred={"size_bytes": 128, "keys": str(MANY_KEYS), "threads": 1},
        names=NAMES,
        advice=ADVICE,
        weight=1.5,
    ),
    Experiment(
        **texts(__package__, "memory-read"),
        axes=(Axis("buffer_bytes", "buffer of all threads, bytes"), Axis("threads", "threads")),
        compare="threads",
        cells=_read_cells,
        arm=lambda cell, _: native("read", **cell),
        operation="read of 64 KiB",
        charts=(Chart("threads", "buffer_bytes", "MB/s", "Reading memory by threads"),),
        preferred={"buffer_bytes": READ_BYTES[0]},
        weight=0.4,
    ),
)
