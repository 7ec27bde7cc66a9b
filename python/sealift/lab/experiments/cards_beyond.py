"""What the framework of document 002 could not ask of its cards, in a simulation of them.

Each answer stands beside that of the framework: sessions shared out evenly, one for each thread,
which keeps to its card. Where other cards or software are there, it stands beside the same without.

Software is 3DES in the process itself: without a system call, a copy or a set-up, but it takes time
of the host. How fast, the document doesn't say: it is taken at three speeds of one processor.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from sealift.lab.boards import (
    HIFN,
    SEEDS,
    SIZE,
    Simulated,
    Spot,
    kept,
    seeds,
    spread_facts,
    spread_in,
)
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Scope, Skip
from sealift.lab.stats import Interval
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        changes: Of what a board is asked for.
        base: The question that its answer stands beside, in a load as long.
        sizes: Of messages.
        times: How many times as long a load it takes.
    """

    changes: Mapping[str, object]
    base: str
    sizes: tuple[int, ...] = (16, 1_024, 16_384)
    times: int = 1

    @property
    def messages(self) -> int:
        """Of each batch."""
        return int(str(self.changes.get("messages", 1)))

    @property
    def batches(self) -> int:
        """How many are asked: whole rounds of all clients."""
        return CLIENTS * ROUNDS[self.messages] * self.times


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    sizes = sorted({size for question in QUESTIONS.values() for size in question.sizes})
    for size in sizes:
        for name, question in QUESTIONS.items():
            if size in question.sizes:
                yield {SIZE.name: size, QUESTION.name: name}


def _arm(cell: Cell, context: Context) -> Computed:
    size_bytes = int(cell[SIZE.name])
    question = QUESTIONS[str(cell[QUESTION.name])]
    if question.messages * size_bytes > BATCH_BYTES_MOST:
        raise Skip(f"{question.messages} times {size_bytes:,} B for each of {CLIENTS} threads")
    plays = [_asked(question, size_bytes, seed) for seed in seeds(context.seed)]
    base = replace(QUESTIONS[question.base], times=question.times)
    bases = [_asked(base, size_bytes, seed) for seed in seeds(context.seed)]

    def over(pick: Callable[[Simulated], float]) -> float:
        return fmean(map(pick, plays))

    messages = question.batches * question.messages
    by_card = zip(*(each.played.by_card for each in plays), strict=True)
    facts: dict[str, Value] = {
        MBIT_S: kept(over(lambda each: each.mbit_s)),
        **spread_facts(TIMES, _quotients(plays, bases)),
        "beside": question.base,
        "host busy, %": kept(over(lambda each: 100 * each.host_share)),
        HOST_US: kept(over(lambda each: each.played.host_ns / 1_000 / messages)),
        "interrupts/s": kept(over(lambda each: each.interrupts_per_s)),
        "moved": f"{sum(each.played.moved for each in plays):,} of {SEEDS * question.batches:,}",
        "batches by device": "; ".join(f"{sum(counts):,}" for counts in by_card),
        "messages encrypted and compared": float(sum(each.played.encrypted for each in plays)),
    }
    if SEEDS * question.batches >= P99_LEAST:
        facts[P99_US] = kept(over(lambda each: each.played.response_ns_p99 / 1_000))
    return Computed(facts)


def _quotients(plays: Sequence[Simulated], bases: Sequence[Simulated]) -> Iterable[float]:
    """How many times as much is done, seed by seed."""
    return (one.mbit_s / other.mbit_s for one, other in zip(plays, bases, strict=True))


def _asked(question: Question, size_bytes: int, seed: int) -> Simulated:
    changes = {**question.changes, "batches": question.batches, "seed": seed}
    spot = Spot(CLIENTS, size_bytes)
    if HALF_TIME not in changes:
        return HIFN.simulated(spot, **changes)
    del changes[HALF_TIME]
    whole = HIFN.simulated(spot, **changes)
    return HIFN.simulated(spot, **changes, first_dies_at_us=whole.played.span_ns / 2_000)


def _says(found: Found) -> str:
    """What batches and software make of messages, and what becomes of the rest."""
    times = {
        (int(each.cell[SIZE.name]), str(each.cell[QUESTION.name])): spread_in(
            each.facts, TIMES
        ).interval
        for each in found.verified
        if each.facts
    }
    small = min((size for size, _ in times), default=0)
    if len(times) < sum(len(question.sizes) for question in QUESTIONS.values()) - NOT_PLAYED:
        return ""
    told = [
        f"With {small} B messages the board does {times[small, BATCH_16].median:.1f} times as much "
        f"in batches of 16 and {times[small, BATCH_256].median:.1f} times in batches of 256, each "
        "of which is handed over, interrupts and is taken back once",
        *(_software_says(name, rate, times) for name, rate in SOFTWARE.items()),
        f"of what the sessions of 2003 do, round-robin does {_range(times, ROUND_ROBIN)} times and "
        f"the cost model {_range(times, COST)}, on unequal cards {_range(times, UNEQUAL_ROUND)} "
        f"and {_range(times, UNEQUAL_COST)}",
        f"where a card dies at half time the whole load, until that is noticed included, goes at "
        f"{_range(times, DIES)} times the speed of four that live, and nothing is lost",
    ]
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in told)


def _range(times: Mapping[tuple[int, str], Interval], name: str) -> str:
    """From the least to the most of its sizes."""
    means = [each.median for (_, question), each in times.items() if question == name]
    least, most = (f"{value:.2f}" for value in (min(means), max(means)))
    return least if least == most else f"{least} to {most}"


def _software_says(name: str, rate_mbit_s: float, times: Mapping[tuple[int, str], Interval]) -> str:
    """From which size on a message is better handed over, by the constants and as simulated."""
    sizes = QUESTIONS[name].sizes
    # With each seed.
    gains = [size for size in sizes if times[size, name].low > 1 + GAIN_LEAST]
    simulated = (
        f"and the pool does more with it at {', '.join(f'{size:,}' for size in gains)} B of the "
        f"{len(sizes)} sizes tried"
        if gains
        else "and the pool does more with it at none of the sizes tried"
    )
    return (
        f"at {rate_mbit_s:.0f} Mbit/s software takes the host less time than handing over for "
        f"messages below {_alike_bytes(rate_mbit_s):.0f} B, {simulated}"
    )


def _alike_bytes(rate_mbit_s: float) -> float:
    """Bytes that the host encrypts in the time that it takes to hand them over."""
    copied_us = 2 * 8 / (1_000 * HIFN.constant("host.copy_gbit_per_s"))
    return HIFN.constants.host_us / (8 / rate_mbit_s - copied_us)


def _charts(found: Found) -> Sequence[Chart]:
    return [
        drawing
        for title, column in (
            ("Throughput, times that beside it", TIMES),
            ("Time of the host, us a message", HOST_US),
            ("What 99 of 100 requests stay within, us", P99_US),
        )
        if (drawing := _drawn(found, title, column))
    ]


def _drawn(found: Found, title: str, column: str) -> Chart | None:
    points = [
        Point(
            str(each.cell[QUESTION.name]),
            float(each.facts[column]),
            *_ends(each.facts, column),
            f"{int(each.cell[SIZE.name]):,} B",
            Origin.SIMULATED,
        )
        for each in found.verified
        if column in each.facts
    ]
    labels = Labels(f"Four Hifn 7751, asked anew: {title}", QUESTION.title, title, "message")
    return Chart(points, labels, Scales(log_y=True)) if points else None


def _ends(facts: Mapping[str, Value], column: str) -> tuple[float | None, float | None]:
    """Of all seeds, where they are told."""
    if column != TIMES:
        return None, None
    spread = spread_in(facts, column).interval
    return spread.low, spread.high


def _listings(_: Found) -> Sequence[Listing]:
    rows = [
        (f"{rate:.4g} Mbit/s", "given" if times == 1 else "assumed", _rate_source(times))
        for times, rate in zip(CLOCK_TIMES, SOFTWARE.values(), strict=True)
    ]
    columns = ("3DES by the host itself", "how", "source")
    return [Listing("How fast software is taken to be", columns, rows)]


def _rate_source(times: int) -> str:
    if times == 1:
        return MEASURED_SOURCE
    clock_mhz = f"{times * MEASURED_MHZ:,}"
    return (
        f"{times} times that, as the same processor would do with {clock_mhz} MHz; document 002 "
        "doesn't say what its host was"
    )


QUESTION = Axis("question", "question")
MBIT_S, TIMES = "simulation, Mbit/s", "times that beside it"
HOST_US, P99_US = "host, us a message", "p99 of a batch, us"
CLIENTS = 32
# Rounds of all clients with each seed, by messages of a batch; the ends of a load are little of it.
ROUNDS = {1: 20, 16: 10, 256: 5}
P99_LEAST = 1_000
BATCH_BYTES_MOST = 1 << 20
# Batches of 256 of the largest messages.
NOT_PLAYED = 1
# What a difference between two simulations has to be with every seed, as a share.
GAIN_LEAST = 0.02
HALF_TIME = "dies at half time"
RATE = HIFN.rated_mbit_s / 1_000
UNEQUAL = (RATE / 2, RATE, RATE, 3.73 * RATE)
SOFTWARE_SIZES = (16, 64, 128, 256, 1_024, 16_384)
MEASURED_MBIT_S, MEASURED_MHZ = 1_643.86 * 8 / 1_000, 200
MEASURED_SOURCE = (
    "OpenSSL, times/091/686-200.lnx: SSLeay 0.9.0d on a Pentium Pro of 200 MHz, des ede3 in pieces "
    "of 8,192 B, 1643.86 kB a second (1998)"
)
CLOCK_TIMES = (1, 3, 6)
LEAST, COST = "least sessions, as in 2003", "cost model"
ROUND_ROBIN = "round-robin"
UNEQUAL_LEAST, UNEQUAL_ROUND = "unequal cards, least sessions", "unequal cards, round-robin"
UNEQUAL_COST = "unequal cards, cost model"
BATCH_16, BATCH_256 = "batches of 16", "batches of 256"
SOFTWARE = {
    f"with software at {times * MEASURED_MBIT_S:.0f} Mbit/s": times * MEASURED_MBIT_S
    for times in CLOCK_TIMES
}
DIES = "a card dies at half time"
QUESTIONS: Mapping[str, Question] = {
    LEAST: Question({}, LEAST, SOFTWARE_SIZES),
    ROUND_ROBIN: Question({"policy": "round-robin"}, LEAST),
    COST: Question({"policy": "earliest-finish"}, LEAST, SOFTWARE_SIZES),
    BATCH_16: Question(
        {"messages": 16, "messages_per_request": 16, "policy": "earliest-finish"}, COST
    ),
    BATCH_256: Question(
        {"messages": 256, "messages_per_request": 256, "policy": "earliest-finish"}, COST
    ),
    **{
        name: Question(
            {"software_gbit_per_s": rate / 1_000, "policy": "earliest-finish"}, COST, SOFTWARE_SIZES
        )
        for name, rate in SOFTWARE.items()
    },
    UNEQUAL_LEAST: Question({"rates_gbit_per_s": UNEQUAL}, UNEQUAL_LEAST),
    UNEQUAL_ROUND: Question({"rates_gbit_per_s": UNEQUAL, "policy": "round-robin"}, UNEQUAL_LEAST),
    UNEQUAL_COST: Question(
        {"rates_gbit_per_s": UNEQUAL, "policy": "earliest-finish"}, UNEQUAL_LEAST
    ),
    # Until it is noticed some milliseconds pass, which are to be little of the load.
    DIES: Question({HALF_TIME: True, "policy": "earliest-finish"}, COST, times=4),
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
    charts=_charts,
    listings=_listings,
    weight=0.4,
    origin=Origin.SIMULATED,
)
