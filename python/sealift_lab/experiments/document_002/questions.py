"""Loads that the framework of document 002 could not have, on a simulated quad-Hifn 7751: 002-Q.

Each stands beside a base load: sessions as in 2003, or the same cards without the change. Software
is 3DES in the process itself: no system call, no copy, no set-up, but it takes time of the host.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from sealift_lab.experiments.document_002.board import (
    COPIES,
    HIFN,
    SEEDS,
    SIZE,
    Simulation,
    Spot,
    rounded,
    seeds,
    spread_facts,
)
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context, Skip
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Question:
    """A load.

    Attributes:
        title: The load in words.
        base: The question that it stands beside, in a load as long.
        policy: The engine's; None for a card of its own for each thread.
        messages: Of each batch.
        rates_mbit_s: Of the cards.
        software_mbit_s: Of the host as a fifth device; None without one.
        dies: Whether the first card falls silent in the middle of the load.
        sizes: Of messages.
        times: How many times as long a load it takes.
    """

    title: str
    base: str
    policy: str | None = None
    messages: int = 1
    rates_mbit_s: tuple[float, ...] | None = None
    software_mbit_s: float | None = None
    dies: bool = False
    sizes: tuple[int, ...] = (16, 1_024, 16_384)
    times: int = 1

    @property
    def batches(self) -> int:
        """How many are sent: whole rounds of all threads."""
        return CLIENTS * ROUNDS[self.messages] * self.times

    def simulate(self, size_bytes: int, seed: int) -> Simulation:
        """The load with messages of a size."""
        spot = Spot(CLIENTS, size_bytes)
        changes: dict[str, object] = {
            "messages": self.messages,
            "messages_per_request": self.messages,
            "policy": self.policy,
            "batches": self.batches,
            "seed": seed,
        }
        if self.rates_mbit_s:
            changes["rates_gbit_per_s"] = tuple(rate / 1_000 for rate in self.rates_mbit_s)
        if self.software_mbit_s:
            changes["software_gbit_per_s"] = self.software_mbit_s / 1_000
        if self.dies:
            alive = HIFN.simulate(spot, **changes)
            changes["first_dies_at_us"] = alive.played.span_ns / 2_000
        return HIFN.simulate(spot, **changes)


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for size in SOFTWARE_SIZES:
        for name, question in QUESTIONS.items():
            if size in question.sizes:
                yield {SIZE.name: size, QUESTION.name: name}


def _arm(cell: Cell, context: Context) -> Computed:
    size_bytes, question = int(cell[SIZE.name]), QUESTIONS[str(cell[QUESTION.name])]
    _check_bytes(question, size_bytes)
    base = replace(QUESTIONS[question.base], times=question.times)
    simulated, bases = (
        [each.simulate(size_bytes, seed) for seed in seeds(context.seed)]
        for each in (question, base)
    )
    pairs = zip(simulated, bases, strict=True)
    played = [each.played for each in simulated]
    messages = question.batches * question.messages
    batches = SEEDS * question.batches
    facts: dict[str, Value] = {
        MBIT_S: rounded(fmean(each.mbit_s for each in simulated)),
        **spread_facts(TIMES, (one.mbit_s / other.mbit_s for one, other in pairs)),
        "beside": question.base,
        HOST_BUSY: rounded(100 * fmean(each.host_share for each in simulated)),
        CARDS_BUSY: rounded(100 * fmean(each.cards_share for each in simulated)),
        HOST_US: rounded(fmean(each.host_ns for each in played) / 1_000 / messages),
        SOFTWARE_US: rounded(fmean(each.software_ns for each in played) / 1_000 / messages),
        "interrupts/s": rounded(fmean(each.interrupts_per_s for each in simulated)),
        "moved": f"{sum(each.moved for each in played):,} of {batches:,}",
        "batches by device": "; ".join(
            f"{sum(counts):,}" for counts in zip(*(each.by_card for each in played), strict=True)
        ),
        "messages encrypted and compared": float(sum(each.encrypted for each in played)),
    }
    if batches >= P99_BATCHES_MIN:
        facts[P99_US] = rounded(fmean(each.response_ns_p99 for each in played) / 1_000)
    else:
        facts[f"{P99_US}, why none"] = f"{batches:,} batches, not {P99_BATCHES_MIN:,}"
    if question.software_mbit_s:
        facts[EQUAL_BYTES] = rounded(_equal_bytes(question.software_mbit_s))
    return Computed(facts)


def _check_bytes(question: Question, size_bytes: int) -> None:
    batch_bytes = question.messages * size_bytes
    if batch_bytes > BATCH_BYTES_MAX:
        raise Skip(
            f"{question.messages} messages of {size_bytes:,} B are {batch_bytes >> 20} MiB a batch "
            f"and {CLIENTS} threads hold one each, so batches of over {BATCH_BYTES_MAX >> 20} MiB "
            f"are left out; look at batches of 16 for {size_bytes:,} B, where the cards are busy "
            "all the time already, so that larger ones can't do more"
        )


def _equal_bytes(rate_mbit_s: float) -> float:
    """Bytes that the host encrypts in the time that it takes to hand them over."""
    copied_us = COPIES * 8 / (1_000 * HIFN.constant("host.copy_gbit_per_s"))
    return HIFN.constants.host_us / (8 / rate_mbit_s - copied_us)


QUESTION = Axis("question", "question")
CLIENTS = 32
# Rounds of all threads with each seed, by messages of a batch.
ROUNDS = {1: 20, 16: 11, 256: 5}
SOFTWARE_SIZES = (16, 64, 128, 256, 1_024, 16_384)
P99_BATCHES_MIN = 1_000
BATCH_BYTES_MAX = 1 << 20
CARD_MBIT_S = 83.0
UNEQUAL = (CARD_MBIT_S / 2, CARD_MBIT_S, CARD_MBIT_S, 3.73 * CARD_MBIT_S)
OPENSSL_MBIT_S = 1_643.86 * 8 / 1_000
COST_MODEL = "earliest-finish"
MBIT_S, TIMES = "simulation, Mbit/s", "times that beside it"
HOST_BUSY, CARDS_BUSY = "host busy, %", "cards busy, %"
HOST_US, SOFTWARE_US = "host, us a message", "of that encrypting, us"
P99_US = "p99 of a batch, us"
EQUAL_BYTES = "handing over takes the host as long at, bytes"
LEAST, COST, DIES = "least sessions, as in 2003", "cost model", "a card dies at half time"
UNEQUAL_LEAST = "unequal cards, least sessions"
SOFTWARE = {
    f"with software at {times * OPENSSL_MBIT_S:.0f} Mbit/s": times * OPENSSL_MBIT_S
    for times in (1, 3, 6)
}
QUESTIONS: Mapping[str, Question] = {
    LEAST: Question(
        "each thread keeps to the card that had fewest sessions", LEAST, sizes=SOFTWARE_SIZES
    ),
    "round-robin": Question("each request goes to the next card in turn", LEAST, "round-robin"),
    COST: Question(
        "each request goes where it should be done first, by costs that are learnt",
        LEAST,
        COST_MODEL,
        sizes=SOFTWARE_SIZES,
    ),
    **{
        f"batches of {messages}": Question(
            f"{messages} messages of a thread are one request: handed over, reported by an "
            "interrupt and taken back once",
            COST,
            COST_MODEL,
            messages=messages,
        )
        for messages in (16, 256)
    },
    **{
        name: Question(
            f"a fifth device, the host itself, without hand-over, at {rate:.3g} Mbit/s",
            COST,
            COST_MODEL,
            software_mbit_s=rate,
            sizes=SOFTWARE_SIZES,
        )
        for name, rate in SOFTWARE.items()
    },
    **{
        f"unequal cards, {name}": Question(
            f"cards of {', '.join(f'{rate:.4g}' for rate in UNEQUAL)} Mbit/s; {name}",
            UNEQUAL_LEAST,
            policy,
            rates_mbit_s=UNEQUAL,
        )
        for name, policy in (
            ("least sessions", None),
            ("round-robin", "round-robin"),
            (COST, COST_MODEL),
        )
    },
    # Some milliseconds pass until it is noticed, which are to be little of the load.
    DIES: Question(
        "the first of four equal cards falls silent in the middle of the load and still takes "
        "requests; they are overdue after a while, and another card works them",
        COST,
        COST_MODEL,
        dies=True,
        times=4,
    ),
}

EXPERIMENT = Experiment(
    name="cards-beyond",
    id="002-Q",
    title="Four Hifn 7751 with loads they never had: batches, software, other policies",
    question="What do batches, a cost model, software beside the cards, unequal cards and a card "
    "that dies half-way make of the same board and the same 32 threads?",
    axes=(SIZE, QUESTION),
    compare=QUESTION.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    charts=tuple(
        Chart(x=QUESTION.name, series=SIZE.name, y=fact, title=title, log_y=True)
        for fact, title in (
            (TIMES, "Throughput, times that of the base load"),
            (HOST_US, "Host time a message"),
            (P99_US, f"99th percentile of a batch, of {P99_BATCHES_MIN:,} batches or more"),
        )
    ),
    columns={
        MBIT_S: "Mbit/s",
        TIMES: "times base",
        HOST_BUSY: "host %",
        CARDS_BUSY: "cards %",
        HOST_US: "host us",
        P99_US: "p99 us",
    },
    origin=Origin.SIMULATED,
    weight=0.4,
    estimated_s=3.5,
    legend={name: question.title for name, question in QUESTIONS.items()},
    notes=read_notes(__package__, "model", "questions"),
)
