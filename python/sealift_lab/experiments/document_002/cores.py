"""The tables of document 002 measured: cores of this machine as cards, 3DES and AES-GCM, 002-R1.

Clients hand buffers over to devices, each a worker on a core of its own, through the engine's
submit and wait.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

from sealift_lab.experiments.document_002.boards import BROADCOM, HIFN, SIZE, THREADS, Spot, curves
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import LOAD, with_load
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context, Skip
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.published import Kind, Published, Rate, Scaled, table


def _cells(scope: Scope) -> Iterator[Cell]:
    """First what the document's question needs in least time, then the rest of its table."""
    if scope.quick:
        return
    works = product(CIPHERS, scope.threads or (1, 2, 3, 4, 32), BATCHES, SIZES)
    for cipher, threads, batch, size_bytes in sorted(works, key=_rank):
        work = {"cipher": cipher, **Spot(threads, size_bytes).cell, "batch": batch}
        devices = min(CARDS, scope.cores)
        yield from with_load(({**work, "devices": devices, "way": way} for way in WAYS), scope)


def _rank(work: tuple[str, int, int, int]) -> tuple[int, int]:
    """Order of work: the groups that every run has first, then by the bytes of a round."""
    cipher, threads, batch, size_bytes = work
    is_first = threads in (1, 32) and batch in (1, 256) and size_bytes in (16, 1_024, 16_384)
    round_bytes = threads * batch * size_bytes
    if _takes_too_long(cipher, threads, round_bytes):
        return 3, round_bytes
    return (0 if is_first and round_bytes <= FIRST_BYTES else 1 if batch == 1 else 2), round_bytes


def _takes_too_long(cipher: str, threads: int, round_bytes: int) -> bool:
    """Whether a round takes longer than a sample may: threads that poll share the cores, too."""
    return cipher == TDES and round_bytes * (threads + CARDS) > TDES_SHARED_BYTES_MAX


def _arm(cell: Cell, context: Context) -> Arm:
    cipher, spot, batch = str(cell["cipher"]), Spot.parse(cell), int(cell["batch"])
    if _takes_too_long(cipher, spot.threads, spot.threads * batch * spot.buffer_bytes):
        raise Skip(
            f"{spot.threads} threads with {batch} times {spot.buffer_bytes:,} B each: by 3DES a "
            "round of that takes longer than a sample may"
        )
    return native(
        "offload",
        context,
        cipher=cipher,
        way=cell["way"],
        threads=spot.threads,
        devices=cell["devices"],
        message_bytes=spot.buffer_bytes,
        batch=batch,
    )


def _published() -> Iterator[Published]:
    for board, spot in [(each, spot) for each in (HIFN, BROADCOM) for spot in each.published]:
        where: Cell = {"cipher": TDES, **spot.cell, "batch": 1, "way": SLEEPING}
        what, source = f"{board.title}, {spot}, beside cores here", table(board.table)[0]["source"]
        value, here = board.published[spot], Scaled(Rate(where), 8)
        note = "3DES on cores as cards, one buffer at a time, sleeping"
        series = f"{board.title}, {str(spot).partition(',')[0]}"
        figure = partial(Published, "002-R1", what, value, "Mbit/s", source, Kind.VALUE)
        yield figure(here, note, series, where)


TDES, GCM = "3des-cbc", "aes-128-gcm"
CIPHERS = (TDES, GCM)
OWN, SLEEPING, POLLING = "calling thread", "sleeping", "polling"
WAYS = (SLEEPING, POLLING, OWN)
SIZES = (16, 64, 256, 1_024, 2_048, 4_096, 8_192, 16_384)
BATCHES = (1, 16, 256)
CARDS = 4
FIRST_BYTES = 8 << 20
# About half a second of two cores that every thread has its share of.
TDES_SHARED_BYTES_MAX = 24 << 20
FIGURES: tuple[tuple[str, str, Cell], ...] = (
    ("threads", "one buffer at a time, sleeping", {"batch": 1, "way": SLEEPING}),
    ("batch", "one thread, sleeping, by buffers at once", {"threads": 1, "way": SLEEPING}),
    ("way", "one thread, one buffer at a time", {"threads": 1, "batch": 1}),
    ("way", "32 threads, one buffer at a time", {"threads": 32, "batch": 1}),
)

EXPERIMENT = Experiment(
    **texts(__package__, "cores-as-cards"),
    id="002-R1",
    axes=(
        *(Axis("cipher", "cipher"), THREADS, SIZE, Axis("batch", "buffers handed over at once")),
        *(Axis("devices", "cores as cards"), LOAD, Axis("way", "how clients wait")),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="buffer",
    published=lambda _: [*_published()],
    charts=tuple(
        curves(series, "MB/s", title, where=where, panels="cipher")
        for series, title, where in FIGURES
    ),
    preferred={"cipher": TDES, "threads": 1, "buffer_bytes": 16, "batch": 1},
    names={SLEEPING: "clients sleep", POLLING: "clients poll", OWN: "nothing is handed over"},
    weight=2.0,
)
