"""AES-GCM by message size: from which size on which device is the right one.

Not of a document: it is where the answer of the lab comes from. AES-128, sealed, one thread.

Quick: sizes of 16 bytes to 16 KiB under 1,024 sessions. A full run adds one key and a fresh key for
each message, and messages of 1 MiB and 16 MiB, of which no 1,024 sessions' worth is kept ready:
these have one key, or a fresh key each.
"""

from collections.abc import Iterator

from sealift.lab.grid import (
    AXES,
    LARGE_SIZES,
    MANY_KEYS,
    REGIMES,
    SIZES,
    Work,
    crypto_arm,
    crypto_cells,
    sized,
)
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


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
    why="Which device should seal messages of which size? What a batch costs beside the bytes "
    "decides for small messages, and how fast the bytes go decides for large ones.",
    axes=AXES,
    compare="device",
    cells=_cells,
    arm=crypto_arm,
    operation="message",
    plots=(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="device",
            title="Sealing by message size",
            facet="keys",
            log_x=True,
            log_y=True,
        ),
        Plot(
            x="size_bytes",
            y="operations_per_s",
            z="device",
            title="Messages a second by message size",
            facet="keys",
            log_x=True,
            log_y=True,
        ),
    ),
    weight=1.5,
)
