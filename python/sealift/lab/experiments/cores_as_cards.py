"""The tables of document 002 for real: cores of this machine as cards, 3DES and AES-GCM.

Clients hand buffers over to devices, each a worker on a core of its own, through the engine's
submit and wait, as the document's did through the kernel to cards. How clients wait is compared:
they sleep until they are woken, or ask again and again, and beside both each works its own buffers.

Where there are more clients and devices than cores they share them, which is told: such rows show
contention. What the document read from interrupts is read here from sleeps: each ends in a wake-up.
Not part of a quick run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sealift.lab.boards import BROADCOM, HIFN, Board, Spot
from sealift.lab.crowding import LOAD, load_of
from sealift.lab.native import offload
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    payload_speed,
    quotient,
    table,
)
from sealift.lab.result import Found, Listing, Row, Verified
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope, Skip
from sealift.lab.units import format_estimate, format_measure
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterator[Cell]:
    """First what the document's question needs in least time, then the rest of its table."""
    if scope.quick:
        return
    devices = min(CARDS, scope.cores)
    threads = scope.threads or THREADS
    every = list(product(CIPHERS, threads, BATCHES, SIZES))
    for cipher, count, batch, size_bytes in sorted(every, key=_turn):
        for way in WAYS:
            yield {
                "cipher": cipher,
                "threads": count,
                "buffer_bytes": size_bytes,
                "batch": batch,
                "devices": devices,
                LOAD.name: load_of(count, scope.cores).value,
                "way": way,
            }


def _turn(work: tuple[str, int, int, int]) -> tuple[int, int]:
    """Where work stands in line: what a budget must have first, then by the bytes of a round."""
    cipher, threads, batch, size_bytes = work
    is_first = threads in ENDS and batch in (1, 256) and size_bytes in FIRST_SIZES
    round_bytes = threads * batch * size_bytes
    if _takes_too_long(cipher, threads, round_bytes):
        return 3, round_bytes
    return (0 if is_first and round_bytes <= FIRST_BYTES else 1 if batch == 1 else 2), round_bytes


def _takes_too_long(cipher: str, threads: int, round_bytes: int) -> bool:
    """Whether a round takes longer than a sample may: threads that poll share the cores, too."""
    return cipher == TDES and round_bytes * (threads + CARDS) > TDES_SHARED_BYTES_MOST


def _arm(cell: Cell, context: Context) -> Arm:
    cipher, threads = str(cell["cipher"]), int(cell["threads"])
    batch, size_bytes = int(cell["batch"]), int(cell["buffer_bytes"])
    if _takes_too_long(cipher, threads, threads * batch * size_bytes):
        raise Skip(
            f"{threads} threads with {batch} times {size_bytes:,} B each: by 3DES a round of that "
            "takes longer than a sample may"
        )
    return offload(
        cipher,
        str(cell["way"]),
        threads=threads,
        devices=int(cell["devices"]),
        message_bytes=size_bytes,
        batch=batch,
        context=context,
    )


def _published(found: Found) -> Sequence[Comparison]:
    return [
        _printed(board, spot, value).beside(
            _mbit_s(found, cipher=TDES, threads=spot.threads, size=spot.buffer_bytes),
            f"3DES on {_devices(found)} cores as cards, one buffer at a time, sleeping",
        )
        for board in (HIFN, BROADCOM)
        for spot, value in board.published.items()
    ]


def _printed(board: Board, spot: Spot, value: float) -> Printed:
    named = f"{spot.threads} thread{'s' * (spot.threads > 1)}"
    return Printed(
        figure=EXPERIMENT.id,
        what=f"{board.named}, {named}, {spot.buffer_bytes:,} B, beside cores here",
        value=value,
        unit="Mbit/s",
        source=table(board.table)[0]["source"],
        kind=Kind.VALUE,
        series=f"{board.named}, {named}",
        at={
            **_one_thread(TDES, SLEEPING),
            "threads": spot.threads,
            "buffer_bytes": spot.buffer_bytes,
        },
    )


def _mbit_s(found: Found, *, cipher: str, threads: int, size: int, batch: int = 1) -> Here:
    cell = {**_one_thread(cipher, SLEEPING), "threads": threads, "buffer_bytes": size}
    speed = payload_speed(found, **cell | {"batch": batch})
    return speed if isinstance(speed, str) else speed.scaled(8)


def _one_thread(cipher: str, way: str) -> dict[str, Value]:
    """The cell of one thread and one of the smallest buffers at a time."""
    return {"cipher": cipher, "threads": 1, "buffer_bytes": SMALL, "batch": 1, "way": way}


def _says(found: Found) -> str:
    """One thread and the smallest buffer beside the published one, and what batches make of it."""
    told = [said for cipher in CIPHERS if (said := _of_batches(found, cipher))]
    published = HIFN.published[Spot(1, SMALL)]
    if not told:
        return ""
    return (
        f"One thread that hands over {SMALL} B at a time: published {published} Mbit/s (3DES, four "
        f"Hifn 7751); here {'; '.join(told)}. Brackets are 95 % intervals, those of quotients of "
        "two 90 % or more."
    )


@dataclass(frozen=True)
class _Figure:
    """A figure in words, with its interval, and why it settles nothing."""

    text: str
    doubt: str


def _of_batches(found: Found, cipher: str) -> str:
    speeds = {
        batch: _mbit_s(found, cipher=cipher, threads=1, size=SMALL, batch=batch)
        for batch in BATCHES
    }
    at_once = {batch: here for batch, here in speeds.items() if not isinstance(here, str)}
    if 1 not in at_once or len(at_once) < 2:
        return ""
    most = max(at_once)
    gain = quotient(at_once[most], at_once[1])
    assert not isinstance(gain, str), "both are known"
    one = at_once[1]
    beside = _printed(HIFN, Spot(1, SMALL), HIFN.published[Spot(1, SMALL)]).beside(one, "")
    figures = [
        _Figure(f"{_estimate(one)} Mbit/s", beside.doubt if cipher == TDES else one.doubt),
        _Figure(f"in batches of {most} {_estimate(at_once[most])}", at_once[most].doubt),
        _Figure(f"{_estimate(gain)} times as much", _more_than_1(gain).doubt),
    ]
    own = payload_speed(found, **_one_thread(cipher, OWN))
    if not isinstance(own, str):
        figures.append(_Figure(f"and {_estimate(own.scaled(8))} alone", own.doubt))
    return f"{cipher} {_told(figures)}"


def _told(figures: Sequence[_Figure]) -> str:
    """One after the other, with what is not settled; once where that is the same of all."""
    doubts = {each.doubt for each in figures}
    if len(doubts) == 1 and (doubt := doubts.pop()):
        return f"{', '.join(each.text for each in figures)} (none of it settled: {doubt})"
    return ", ".join(
        f"{each.text} (not settled: {each.doubt})" if each.doubt else each.text for each in figures
    )


def _more_than_1(gain: Measured) -> Comparison:
    """What batches make of it, as a claim that it is more."""
    what = "in batches over one at a time"
    printed = Printed(EXPERIMENT.id, what, 1.0, "x", "nothing published", Kind.SHAPE)
    return printed.beside(gain, what)


def _estimate(here: Measured) -> str:
    interval = here.interval
    return format_estimate(interval.median, interval.low, interval.high)


def _listings(found: Found) -> Sequence[Listing]:
    if not found.rows:
        return ()
    return (_as_printed(found), _by_the_system(found))


def _as_printed(found: Found) -> Listing:
    """The document's tables, and the same of here."""
    rows = [
        (board.named, "published", "1", f"{threads}", *_printed_row(board, threads))
        for board in (HIFN, BROADCOM)
        for threads in dict.fromkeys(spot.threads for spot in board.published)
    ]
    here: dict[tuple[str, str, int, int], dict[int, Row]] = {}
    for row in found.rows:
        cell = row.cell
        key = str(cell["cipher"]), str(cell["way"]), int(cell["batch"]), int(cell["threads"])
        here.setdefault(key, {})[int(cell["buffer_bytes"])] = row
    rows += [
        (f"{cipher}, {_devices(found)} cores", way, f"{batch}", f"{threads}", *_row_of(by_size))
        for (cipher, way, batch, threads), by_size in sorted(here.items())
    ]
    sizes = [f"{size:,} B" for size in SIZES]
    columns = ("by", "how clients wait", "at once", "threads", *sizes)
    title = "Mbit/s by threads and buffer, as document 002 prints them, and measured here"
    return Listing(title, columns, rows, ("at once", "threads", *sizes))


def _printed_row(board: Board, threads: int) -> Iterable[str]:
    for size in SIZES:
        value = board.published.get(Spot(threads, size))
        yield "" if value is None else f"{value:g}"


def _row_of(by_size: Mapping[int, Row]) -> Iterable[str]:
    for size in SIZES:
        speed = by_size[size].payload_mb_per_s if size in by_size else None
        yield "" if speed is None else _shown(8 * speed.median)


def _by_the_system(found: Found) -> Listing:
    """What the system counted, for each message: sleeps, of which each is a wake-up, and times."""
    rows = [_counted(each) for each in found.verified if each.facts.get("messages_worked")]
    numbers = (
        "threads",
        "buffer, bytes",
        "at once",
        "wake-ups of clients",
        "wake-ups of devices",
        "preemptions",
        "user us",
        "kernel us",
        "kernel, % of CPU time",
    )
    title = "What the system counted of clients and devices together, a message"
    return Listing(title, ("cipher", *numbers[:3], "way", *numbers[3:]), rows, numbers)


def _counted(each: Verified) -> Sequence[str]:
    cell, facts = each.cell, each.facts
    messages = float(facts["messages_worked"])

    def a_message(name: str, units: float = 1.0) -> float:
        return float(facts[name]) / units / messages

    user_us, kernel_us = a_message("user_ns", 1_000), a_message("kernel_ns", 1_000)
    share = kernel_us / (user_us + kernel_us) if user_us + kernel_us else 0.0
    counts = [a_message(name) for name in ("sleeps_of_clients", "sleeps_of_devices", "preemptions")]
    return (
        str(cell["cipher"]),
        f"{cell['threads']:,}",
        f"{cell['buffer_bytes']:,}",
        f"{cell['batch']:,}",
        str(cell["way"]),
        *(_shown(value) for value in (*counts, user_us, kernel_us, 100 * share)),
    )


def _devices(found: Found) -> str:
    return ", ".join({f"{row.cell['devices']}": "" for row in found.rows}) or "no"


def _shown(value: float) -> str:
    return format_measure(value) if value else "0"


TDES, GCM = "3des-cbc", "aes-128-gcm"
CIPHERS = (TDES, GCM)
OWN, SLEEPING, POLLING = "calling thread", "sleeping", "polling"
WAYS = (SLEEPING, POLLING, OWN)
THREADS = (1, 2, 3, 4, 32)
SIZES = (16, 64, 256, 1_024, 2_048, 4_096, 8_192, 16_384)
BATCHES = (1, 16, 256)
CARDS = 4
SMALL = SIZES[0]
ENDS, FIRST_SIZES, FIRST_BYTES = (1, 32), (16, 1_024, 16_384), 8 << 20
FIGURES: tuple[tuple[str, str, Cell], ...] = (
    ("threads", "one buffer at a time, sleeping", {"batch": 1, "way": SLEEPING}),
    ("batch", "one thread, sleeping, by buffers at once", {"threads": 1, "way": SLEEPING}),
    ("way", "one thread, one buffer at a time", {"threads": 1, "batch": 1}),
    ("way", "32 threads, one buffer at a time", {"threads": 32, "batch": 1}),
)
# About half a second of two cores that every thread has its share of.
TDES_SHARED_BYTES_MOST = 24 << 20

EXPERIMENT = Experiment(
    name="cores-as-cards",
    id="002-R1",
    title="Cores as cards: the tables of document 002, measured here",
    why="What do threads, buffers and batches make of handing work over where cards are cores, and "
    "what does waiting for it cost?",
    axes=(
        Axis("cipher", "cipher"),
        Axis("threads", "threads"),
        Axis("buffer_bytes", "buffer, bytes"),
        Axis("batch", "buffers handed over at once"),
        Axis("devices", "cores as cards"),
        LOAD,
        Axis("way", "how clients wait"),
    ),
    compare="way",
    cells=_cells,
    arm=_arm,
    operation="buffer",
    published=_published,
    says=_says,
    listings=_listings,
    plots=tuple(
        Plot(
            x="buffer_bytes",
            y="payload_MB_per_s",
            z=z,
            title=f"{cipher}, {title}",
            where={"cipher": cipher, **where},
            log_x=True,
            log_y=True,
        )
        for cipher in CIPHERS
        for z, title, where in FIGURES
    ),
    weight=2.0,
    essential=22,
)
