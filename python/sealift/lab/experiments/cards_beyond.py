"""What the framework of document 002 could not ask of its cards, in a simulation of them."""

from collections.abc import Iterable, Mapping

from sealift.lab.boards import HIFN, SIZE, Simulated, Spot
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return ()
    return (
        {SIZE.name: size, QUESTION.name: name}
        for size in SIZES
        for name in QUESTIONS
        if (name, size) != (BATCH_256, max(SIZES))
    )


def _arm(cell: Cell, _: Context) -> Computed:
    size_bytes = int(cell[SIZE.name])
    name = str(cell[QUESTION.name])
    changes = QUESTIONS[name]
    messages = int(str(changes.get("messages", 1)))
    batches = max(LEAST, REQUESTS // messages)
    usual = _played(size_bytes, batches=REQUESTS)
    dies = {"first_dies_at_us": usual.played.span_ns / 2_000} if name == DIES else {}
    found = _played(size_bytes, **{**changes, **dies, "batches": batches})
    return Computed(
        {
            MBIT_S: _kept(found.mbit_s),
            TIMES: _kept(found.mbit_s / usual.mbit_s),
            "host busy, %": _kept(100 * found.host_share),
            "host, us a message": _kept(found.played.host_ns / 1_000 / batches / messages),
            "p99 of a batch, us": _kept(found.played.response_ns_p99 / 1_000),
            "interrupts/s": _kept(found.interrupts_per_s),
            "moved": f"{found.played.moved:,} of {batches:,}",
            "batches by device": ", ".join(f"{count:,}" for count in found.played.by_card),
        }
    )


def _played(size_bytes: int, **changes: object) -> Simulated:
    return HIFN.simulated(Spot(CLIENTS, size_bytes), **changes)


def _says(found: Found) -> str:
    """What batches make of the smallest messages, and where software is worth its time."""
    facts = {
        (int(each.cell[SIZE.name]), str(each.cell[QUESTION.name])): each.facts
        for each in found.verified
        if each.facts
    }
    small = min((size for size, _ in facts), default=0)
    if not small:
        return ""
    times = {name: float(facts[small, name][TIMES]) for name in (BATCH_16, BATCH_256, SOFTWARE)}
    kept = [
        size for size, name in facts if name == SOFTWARE and float(facts[size, name][TIMES]) > 1
    ]
    told = f"of up to {max(kept):,} B" if kept else "of no size"
    return (
        f"With {small} B messages the board does {times[BATCH_16]:.1f} times as much in batches of "
        f"16 and {times[BATCH_256]:.1f} times in batches of 256, each of which is handed over, "
        f"interrupts and is taken back once, and {times[SOFTWARE]:.1f} times with software as a "
        f"fifth device; messages {told} are better partly kept on the host, at its assumed "
        f"{1_000 * SOFTWARE_GBIT_S:.0f} Mbit/s"
    )


def _kept(value: float) -> float:
    return float(f"{value:.6g}")


QUESTION = Axis("question", "question")
MBIT_S, TIMES = "simulation, Mbit/s", "times as asked in 2003"
CLIENTS = 32
REQUESTS = 2_000
# Two of each client.
LEAST = 64
# Where the host is the limit, where host and chips are, and where chips are.
SIZES = (16, 1_024, 16_384)
# 3DES of a host of those days. The document has no figure: assumed, at half of a chip's rate.
SOFTWARE_GBIT_S = 0.04
RATE = HIFN.rated_mbit_s / 1_000
BATCH_16, BATCH_256, SOFTWARE = "batches of 16", "batches of 256", "software as a fifth device"
DIES = "a card dies at half time"
UNEQUAL = (RATE / 2, RATE, RATE, 3.73 * RATE)
QUESTIONS: Mapping[str, Mapping[str, object]] = {
    "as asked in 2003": {},
    "round-robin": {"policy": "round-robin"},
    "least sessions": {"policy": "least-sessions"},
    "cost model": {"policy": "earliest-finish"},
    BATCH_16: {"messages": 16, "messages_per_request": 16, "policy": "earliest-finish"},
    BATCH_256: {"messages": 256, "messages_per_request": 256, "policy": "earliest-finish"},
    SOFTWARE: {"software_gbit_per_s": SOFTWARE_GBIT_S, "policy": "earliest-finish"},
    "unequal cards, as in 2003": {"rates_gbit_per_s": UNEQUAL},
    "unequal cards, round-robin": {"rates_gbit_per_s": UNEQUAL, "policy": "round-robin"},
    "unequal cards, least sessions": {"rates_gbit_per_s": UNEQUAL, "policy": "least-sessions"},
    "unequal cards, cost model": {"rates_gbit_per_s": UNEQUAL, "policy": "earliest-finish"},
    DIES: {"policy": "earliest-finish"},
}

EXPERIMENT = Experiment(
    name="cards-beyond",
    id="002-Q",
    title="Four Hifn 7751 and what nobody could ask of them: batches, software, other policies",
    why="What do batches, a cost model, software beside the cards, unequal cards and a card that "
    "dies half-way make of the same board and the same 32 threads?",
    axes=(SIZE, QUESTION),
    compare=QUESTION.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    says=_says,
    weight=0.4,
    origin=Origin.SIMULATED,
)
