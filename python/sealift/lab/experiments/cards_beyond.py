"""What the framework of document 002 could not ask of its cards, in a simulation of them.

Each answer stands beside that of the framework: sessions shared out evenly, one for each thread,
which keeps to its card. Where other cards or software are there, it stands beside the same without.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sealift.lab.boards import SEEDS, SIZE, Simulated, kept, model, seeds, spread_facts, spread_in
from sealift.lab.boards.board import CARDS
from sealift.lab.boards.questions import (
    BATCH_16,
    BATCH_256,
    CARDS_BUSY,
    CLIENTS,
    CLOCK_TIMES,
    DIES,
    HOST_BUSY,
    HOST_US,
    MBIT_S,
    MEASURED_MHZ,
    MEASURED_SOURCE,
    P99_US,
    QUESTIONS,
    SOFTWARE,
    SOFTWARE_US,
    TIMES,
    UNEQUAL_COST,
    UNEQUAL_ROUND,
    Question,
)
from sealift.lab.boards.software import beside, keeping, listing, said
from sealift.lab.facts import why_none
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope, Skip
from sealift.lab.stats import Interval
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


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
    _check_bytes(question, size_bytes)
    plays = [question.asked(size_bytes, seed) for seed in seeds(context.seed)]
    base = replace(QUESTIONS[question.base], times=question.times)
    bases = [base.asked(size_bytes, seed) for seed in seeds(context.seed)]

    def over(pick: Callable[[Simulated], float]) -> float:
        return kept(fmean(map(pick, plays)))

    messages = question.batches * question.messages
    by_card = zip(*(each.played.by_card for each in plays), strict=True)
    facts: dict[str, Value] = {
        MBIT_S: over(lambda each: each.mbit_s),
        **spread_facts(TIMES, _quotients(plays, bases)),
        "beside": question.base,
        HOST_BUSY: over(lambda each: 100 * each.host_share),
        CARDS_BUSY: over(_cards_busy),
        HOST_US: over(lambda each: each.played.host_ns / 1_000 / messages),
        SOFTWARE_US: over(lambda each: each.played.software_ns / 1_000 / messages),
        **_p99(question, over(lambda each: each.played.response_ns_p99 / 1_000)),
        "interrupts/s": over(lambda each: each.interrupts_per_s),
        "moved": f"{sum(each.played.moved for each in plays):,} of {SEEDS * question.batches:,}",
        "batches by device": "; ".join(f"{sum(counts):,}" for counts in by_card),
        "messages encrypted and compared": float(sum(each.played.encrypted for each in plays)),
    }
    return Computed(facts)


def _check_bytes(question: Question, size_bytes: int) -> None:
    """Leaves out batches that take more memory than is given to them."""
    batch_bytes = question.messages * size_bytes
    if batch_bytes > BATCH_BYTES_MOST:
        raise Skip(
            f"{question.messages} messages of {size_bytes:,} B are {batch_bytes >> 20} MiB a batch "
            f"and {CLIENTS} threads hold one each, so batches of over "
            f"{BATCH_BYTES_MOST >> 20} MiB are left out; look at batches of 16 for "
            f"{size_bytes:,} B, where the cards are busy all the time already, so "
            "that larger ones can't do more"
        )


def _cards_busy(played: Simulated) -> float:
    """Per cent of the time, on average of the cards."""
    return 100 * fmean(played.played.card_ns[:CARDS]) / played.played.span_ns


def _p99(question: Question, p99_us: float) -> Mapping[str, Value]:
    """What 99 of 100 batches stay within, or why that is not told."""
    batches = SEEDS * question.batches
    if batches >= P99_LEAST:
        return {P99_US: p99_us}
    return {why_none(P99_US): f"{batches:,} batches, not {P99_LEAST:,}"}


def _quotients(plays: Sequence[Simulated], bases: Sequence[Simulated]) -> Iterable[float]:
    """How many times as much is done, seed by seed."""
    return (one.mbit_s / other.mbit_s for one, other in zip(plays, bases, strict=True))


def _says(found: Found) -> str:
    """What batches and software make of messages, and what becomes of the rest."""
    cells = _known(found)
    if len(cells) < sum(len(question.sizes) for question in QUESTIONS.values()) - NOT_PLAYED:
        return ""
    times = {key: spread_in(facts, TIMES).interval for key, facts in cells.items()}
    small, every = min(size for size, _ in times), beside(cells)
    unequal = _range(times, UNEQUAL_COST)
    told = [
        f"With {small} B messages the board does {times[small, BATCH_16].median:.1f} times as much "
        f"in batches of 16 and {times[small, BATCH_256].median:.1f} times in batches of 256",
        *said(every),
        "where the first card falls silent at half time the whole load goes at "
        f"{_range(times, DIES)} times the speed of four that live, and nothing is lost",
        f"on unequal cards the cost model does {unequal} times what the sessions of 2003 do, and "
        f"round-robin {_range(times, UNEQUAL_ROUND)} times",
    ]
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in told)


def _known(found: Found) -> Mapping[tuple[int, str], Mapping[str, Value]]:
    return {
        (int(each.cell[SIZE.name]), str(each.cell[QUESTION.name])): each.facts
        for each in found.verified
        if each.facts
    }


def _range(times: Mapping[tuple[int, str], Interval], name: str) -> str:
    """From the least to the most of its sizes."""
    means = [each.median for (_, question), each in times.items() if question == name]
    least, most = (f"{value:.2f}" for value in (min(means), max(means)))
    return least if least == most else f"{least} to {most}"


def _charts(found: Found) -> Sequence[Chart]:
    return [
        drawing
        for title, column in (
            ("Throughput, times that beside it", TIMES),
            ("Time of the host, us a message", HOST_US),
            (f"What 99 of 100 batches stay within, us, where {P99_LEAST:,} were played", P99_US),
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
    labels = Labels(
        title=f"Four Hifn 7751, asked anew: {title}",
        x=QUESTION.title,
        y=title,
        series="message",
        interval=f"least and most of {SEEDS} seeds",
    )
    return Chart(points, labels, Scales(log_y=True)) if points else None


def _ends(facts: Mapping[str, Value], column: str) -> tuple[float | None, float | None]:
    """Of all seeds, where they are told."""
    if column != TIMES:
        return None, None
    spread = spread_in(facts, column).interval
    return spread.low, spread.high


def _listings(found: Found) -> Sequence[Listing]:
    rows = [
        (f"{rate:.4g} Mbit/s", "given" if times == 1 else "assumed", _rate_source(times))
        for times, rate in zip(CLOCK_TIMES, SOFTWARE.values(), strict=True)
    ]
    columns = ("3DES by the host itself", "how", "source")
    speeds = Listing("How fast software is taken to be", columns, rows)
    every = beside(_known(found))
    asked = [(name, question.says, question.base) for name, question in QUESTIONS.items()]
    questions = Listing("What was asked", ("question", "what it is", "beside"), asked)
    told = [keeping(every), listing(every)] if every else []
    return [*told, questions, speeds]


def _rate_source(times: int) -> str:
    if times == 1:
        return MEASURED_SOURCE
    clock_mhz = f"{times * MEASURED_MHZ:,}"
    return (
        f"{times} times that, as the same processor would do with {clock_mhz} MHz; document 002 "
        "doesn't say what its host was"
    )


QUESTION = Axis("question", "question")
P99_LEAST = 1_000
BATCH_BYTES_MOST = 1 << 20
# Batches of 256 of the largest messages.
NOT_PLAYED = 1

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
    order=5,
    origin=Origin.SIMULATED,
    takes_s=3.5,
    stands_on=model.SIMULATED,
    brief=Brief(
        {
            MBIT_S: "Mbit/s",
            TIMES: "times base",
            HOST_BUSY: "host %",
            CARDS_BUSY: "cards %",
            HOST_US: "host us",
            P99_US: "p99 us",
        }
    ),
)
