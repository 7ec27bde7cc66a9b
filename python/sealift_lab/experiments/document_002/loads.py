"""Document 002's boards with other loads, each beside a base load, and a card of today.

002-Q has loads that the document's framework could not have; software is 3DES in the process
itself: no system call, no copy, no set-up, but it takes time of the host. 002-M1 has the cards that
come described, by their descriptions alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import CLIENTS, HIFN, MBIT_S, SIZE, Spot
from sealift_lab.experiments.notes import read_legend, texts
from sealift_lab.model.arm import Cell, Computed, Context, Skip, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.results import Origin

if TYPE_CHECKING:
    from sealift_lab._lab import PlayedBoard


@dataclass(frozen=True)
class Question:
    """A load; the notes have it in words.

    Attributes:
        base: The question that it stands beside, in a load as long.
        changes: Arguments of a simulated board that differ from requests sent by the cost model.
        messages: Of each batch.
        dies: Whether the first card falls silent in the middle of the load.
        sizes: Of messages.
        times: How many times as long a load it takes.
    """

    base: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    messages: int = 1
    dies: bool = False
    sizes: tuple[int, ...] = (16, 1_024, 16_384)
    times: int = 1

    @property
    def batches(self) -> int:
        """How many are sent: whole rounds of all threads."""
        return CLIENTS * ROUNDS[self.messages] * self.times

    def simulate(self, size_bytes: int, seed: int) -> "PlayedBoard":
        """The load with messages of a size."""
        batch = {"messages": self.messages, "messages_per_request": self.messages}
        changes = {"policy": COST_MODEL, **batch, **self.changes}
        spot, batches = Spot(CLIENTS, size_bytes), self.batches
        load = partial(HIFN.simulate, spot, batches=batches, seed=seed, **changes)
        return load(first_dies_at_us=load().span_ns / 2_000) if self.dies else load()


def _question_cells(scope: Scope) -> Iterator[Cell]:
    for size, (name, question) in product(SOFTWARE_SIZES, QUESTIONS.items()):
        if size in question.sizes and not scope.quick:
            yield {SIZE.name: size, QUESTION.name: name}


def _question_arm(cell: Cell, context: Context) -> Computed:
    size_bytes, question = int(cell[SIZE.name]), QUESTIONS[str(cell[QUESTION.name])]
    batch_bytes = question.messages * size_bytes
    if batch_bytes > BATCH_BYTES_MAX:
        raise Skip(
            f"{question.messages} messages of {size_bytes:,} B are {batch_bytes >> 20} MiB a batch "
            f"and {CLIENTS} threads hold one each, so batches of over {BATCH_BYTES_MAX >> 20} MiB "
            f"are left out; look at batches of 16 for {size_bytes:,} B, where the cards are busy "
            "all the time already, so that larger ones can't do more"
        )
    base = replace(QUESTIONS[question.base], times=question.times)
    loads = (partial(each.simulate, size_bytes) for each in (question, base))
    played, usual = boards.simulate(context.seed, *loads)
    messages = question.batches * question.messages
    batches = boards.SEEDS * question.batches
    by_device = zip(*(each.by_card for each in played), strict=True)
    facts: dict[str, Value] = {
        **boards.means(played, MBIT_S, boards.HOST_BUSY, boards.CARDS_BUSY, boards.INTERRUPTS),
        **boards.spread_facts(TIMES, boards.speedups(played, usual)),
        "beside": question.base,
        HOST_US: fmean(each.host_ns for each in played) / 1_000 / messages,
        SOFTWARE_US: fmean(each.software_ns for each in played) / 1_000 / messages,
        "moved": f"{sum(each.moved for each in played):,} of {batches:,}",
        "batches by device": "; ".join(f"{sum(counts):,}" for counts in by_device),
        boards.ENCRYPTED: float(sum(each.encrypted for each in played)),
    }
    if batches >= P99_BATCHES_MIN:
        facts[P99_US] = fmean(each.response_ns_p99 for each in played) / 1_000
    else:
        facts[f"{P99_US}, why none"] = f"{batches:,} batches, not {P99_BATCHES_MIN:,}"
    if software_gbit_s := question.changes.get("software_gbit_per_s"):
        # What the host encrypts in the time that it takes to hand as many bytes over.
        byte_ns = 8 / software_gbit_s - boards.COPIES * 8 / HIFN.constant("host.copy_gbit_per_s")
        equal = 1_000 * HIFN.played.host_us / byte_ns
        facts["handing over takes the host as long at, bytes"] = equal
    return Computed.rounded(facts)


QUESTION = Axis("question", "question")
COST_MODEL = "earliest-finish"
# Rounds of all threads with each seed, by messages of a batch.
ROUNDS = {1: 20, 16: 11, 256: 5}
SOFTWARE_SIZES = (16, 64, 128, 256, 1_024, 16_384)
P99_BATCHES_MIN = 1_000
BATCH_BYTES_MAX = 1 << 20
UNEQUAL_MBIT_S = (83.0 / 2, 83.0, 83.0, 3.73 * 83.0)
OPENSSL_MBIT_S = 1_643.86 * 8 / 1_000
TIMES, P99_US = "times that beside it", "p99 of a batch, us"
HOST_US, SOFTWARE_US = "host, us a message", "of that encrypting, us"
LEAST, COST, DIES = "least sessions, as in 2003", "cost model", "a card dies at half time"
SOFTWARE = {
    f"with software at {times * OPENSSL_MBIT_S:.0f} Mbit/s": times * OPENSSL_MBIT_S
    for times in (1, 3, 6)
}
POLICIES = {"least sessions": None, "round-robin": "round-robin", COST: COST_MODEL}
QUESTIONS: Mapping[str, Question] = {
    LEAST: Question(LEAST, {"policy": None}, sizes=SOFTWARE_SIZES),
    "round-robin": Question(LEAST, {"policy": "round-robin"}),
    COST: Question(LEAST, sizes=SOFTWARE_SIZES),
    **{f"batches of {messages}": Question(COST, messages=messages) for messages in (16, 256)},
    **{
        name: Question(COST, {"software_gbit_per_s": rate / 1_000}, sizes=SOFTWARE_SIZES)
        for name, rate in SOFTWARE.items()
    },
    **{
        f"unequal cards, {name}": Question(
            "unequal cards, least sessions",
            {"policy": policy, "rates_gbit_per_s": tuple(rate / 1_000 for rate in UNEQUAL_MBIT_S)},
        )
        for name, policy in POLICIES.items()
    },
    # Some milliseconds pass until it is noticed, which are to be little of the load.
    DIES: Question(COST, dies=True, times=4),
}

BEYOND = boards.simulated_experiment(
    **texts(__package__, "cards-beyond"),
    id="002-Q",
    axes=(SIZE, QUESTION),
    compare=QUESTION.name,
    cells=_question_cells,
    arm=_question_arm,
    charts=tuple(
        Chart(QUESTION.name, SIZE.name, fact, title, log_y=True)
        for fact, title in (
            (TIMES, "Throughput, times that of the base load"),
            (HOST_US, "Host time a message"),
            (P99_US, f"99th percentile of a batch, of {P99_BATCHES_MIN:,} batches or more"),
        )
    ),
    columns={
        MBIT_S: "Mbit/s",
        TIMES: "times base",
        boards.HOST_BUSY: "host %",
        boards.CARDS_BUSY: "cards %",
        HOST_US: "host us",
        P99_US: "p99 us",
    },
    weight=0.4,
    estimated_s=3.5,
    legend=read_legend(__package__, "questions"),
)


def _today_arm(cell: Cell, _: Context) -> Computed:
    size_bytes, card = int(cell[SIZE.name]), boards.described_cards()[str(cell[CARD.name])]
    prediction = card.predict(1, size_bytes)
    return Computed(
        {
            PROJECTION: 8_000 * size_bytes / prediction.interval_ns,
            ALONE_US: prediction.batch_ns / 1_000,
            "host, us a request": prediction.host_ns / 1_000,
            LIMIT: prediction.bound_by,
            "rate published for": card.algorithm,
            "what it is": card.summary,
        }
    )


CARD = Axis("card", "card")
PROJECTION, ALONE_US, LIMIT = "projection, Mbit/s", "a request alone, us", "limited by"

TODAY = Experiment(
    **texts(__package__, "cards-of-today"),
    id="002-M1",
    axes=(SIZE, CARD),
    compare=CARD.name,
    cells=lambda scope: (
        {SIZE.name: size, CARD.name: card}
        for size in (16, 64, 256, 1_024, 4_096, 16_384)
        for card in boards.described_cards()
        if not scope.quick
    ),
    arm=_today_arm,
    operation="request",
    charts=(
        boards.curves(
            CARD.name, PROJECTION, "Throughput of each card, projected from its description"
        ),
    ),
    columns={
        PROJECTION: "Mbit/s",
        ALONE_US: "alone us",
        "host, us a request": "host us",
        LIMIT: "limited by",
        "rate published for": "rate of",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.2,
)
