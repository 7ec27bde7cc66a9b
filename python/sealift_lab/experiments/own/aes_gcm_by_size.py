"""AES-GCM by message size: which device seals messages of which size fastest.

AES-128, sealing only, one thread. Quick: sizes of 16 bytes to 16 KiB under 1,024 keys. A full run
adds one key and a fresh key for each message, and messages of 1 MiB and 16 MiB, of which no 1,024
keys' worth is kept ready: these have one key, or a fresh key each.
"""

from collections.abc import Iterator

from sealift_lab.experiments.device_names import ADVICE, NAMES
from sealift_lab.experiments.document_003.messages import message_arm
from sealift_lab.measure.crypto import (
    AXES,
    LARGE_SIZES,
    MANY_KEYS,
    REGIMES,
    SIZES,
    Work,
    crypto_cells,
    sized,
)
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    return crypto_cells(_works(scope), devices=scope.devices, threads=scope.threads or (1,))


def _works(scope: Scope) -> Iterator[Work]:
    for regime in (MANY_KEYS,) if scope.quick else REGIMES:
        yield from (sized(size, regime) for size in SIZES)
        if not scope.quick and regime != MANY_KEYS:
            yield from (sized(size, regime) for size in LARGE_SIZES)


EXPERIMENT = Experiment(
    name="aes-gcm-by-size",
    title="AES-GCM by message size",
    question="Which device should seal messages of which size?",
    axes=AXES,
    compare="device",
    cells=_cells,
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
    notes=(
        "The cost of a batch beside its bytes decides for small messages, the speed of the bytes "
        "for large ones."
    ),
)
