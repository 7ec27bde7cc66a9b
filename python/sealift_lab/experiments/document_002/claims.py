"""Claims of document 002 in words, beside what the simulation gives: 002-X1.

A number is reproduced within a tenth or contradicted; a claim that one thing is more than another
has a shape alone. Inputs of the model are no results of it, and neither is what it leaves out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import BROADCOM, HIFN, MBIT_S, Board, Spot
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Cell, Computed, Context, Value
from sealift_lab.model.experiment import Axis
from sealift_lab.model.published import Fact, Kind, Missing, Published, table, table_row
from sealift_lab.model.results import Origin

At = Callable[..., float]
"""`_simulated` with a seed."""


@dataclass(frozen=True)
class CardClaim:
    """How the model relates to a claim.

    Attributes:
        kind: NUMBER or SHAPE for what it gives, GIVEN for its inputs, else BEYOND.
        note: How it is computed and why it is off; or why it is no result.
        compute: The model's value; None where it gives none.
        what: The ratio, for a SHAPE that is claimed in words alone.
        is_fitted: Whether it is arithmetic on a throughput that constants were fitted to; so are
            interrupts, of which each simulated request raises one.
    """

    kind: Kind
    note: str
    compute: Callable[[At], float] | None = None
    what: str = ""
    is_fitted: bool = False


def rows() -> Sequence[Mapping[str, str]]:
    """The claims as printed, and behind "3x5820" one that two printed numbers make."""
    three = table_row(TABLE, claim_id="3x5820")
    four_mbit_s = BROADCOM.published[Spot(THREADS, LARGE)]
    three_over_four = {
        **three,
        "claim_id": THREE_OVER_FOUR,
        "kind": "shape",
        "quantity": "throughput of three 5820 over that of four",
        "value": f"{float(three['value']) / four_mbit_s:.6g}",
        "unit": "x",
        "condition": "32 threads, 16 KB",
        "as_printed": f"{three['as_printed']}; table 2 has {four_mbit_s:g} with four cards",
    }
    printed = table(TABLE)
    behind = printed.index(three) + 1
    return (*printed[:behind], three_over_four, *printed[behind:])


def _arm(cell: Cell, context: Context) -> Computed:
    row = next(row for row in rows() if row["claim_id"] == cell[CLAIM.name])
    claim = CLAIMS[row["claim_id"]]
    facts: dict[str, Value] = {
        ABOUT: claim.what or row["quantity"],
        UNIT: row["unit"] or ("x" if claim.compute else IN_WORDS),
        PRINTED: row["value"] or IN_WORDS,
    }
    if claim.compute is None:
        return Computed({**facts, f"{HERE}, why none": WHY_NONE[claim.kind]})
    values = [claim.compute(partial(_simulated, seed)) for seed in boards.seeds(context.seed)]
    return boards.computed(facts | boards.spread_facts(HERE, values))


def _simulated(
    seed: int, board: Board, size_bytes: int, figure: str = MBIT_S, **changes: Any
) -> float:
    """A figure of a simulation of 32 threads with requests of a size."""
    played = board.simulate(Spot(THREADS, size_bytes), seed=seed, **changes)
    return boards.FIGURES[figure](played)


def _published(row: Mapping[str, str]) -> Published:
    claim = CLAIMS[row["claim_id"]]
    what = f"{row['quantity']}, {row['condition']}" if row["condition"] else row["quantity"]
    is_ratio = claim.compute is not None and not row["value"]
    return Published(
        figure="002-X1",
        what=(claim.what or f"{what}, read as 1 x") if is_ratio else what,
        value=float(row["value"] or 1),
        unit="x" if is_ratio else row["unit"] or IN_WORDS,
        source=f"{row['source']}: {row['as_printed']}",
        kind=claim.kind,
        here=Fact({CLAIM.name: row["claim_id"]}, HERE) if claim.compute else Missing(claim.note),
        note=claim.note if claim.compute else "",
        origin=Origin.SIMULATED,
        is_fitted=claim.is_fitted,
    )


def _interrupts(at: At, board: Board, size_bytes: int) -> float:
    return at(board, size_bytes, boards.INTERRUPTS) + CLOCKS_HZ


def _small_interrupts(at: At) -> Sequence[float]:
    return [_interrupts(at, BROADCOM, size) for size in (16, 64, 256, 1_024)]


def _percent_of_rated(at: At, cards: int) -> float:
    return 100 * at(BROADCOM, LARGE, cards=cards) / (cards * BROADCOM.rated_mbit_s)


def _over_usual(at: At, figure: str = MBIT_S, **changes: Any) -> float:
    return at(BROADCOM, LARGE, figure, **changes) / at(BROADCOM, LARGE, figure)


_given, _beyond = partial(CardClaim, Kind.GIVEN), partial(CardClaim, Kind.BEYOND)
_number, _shape = partial(CardClaim, Kind.NUMBER), partial(CardClaim, Kind.SHAPE)
_fitted = partial(CardClaim, Kind.NUMBER, is_fitted=True)

TABLE = "002-X1-claims"
CLAIM = Axis("claim", "claim")
ABOUT, UNIT, PRINTED, HERE = "about", "unit", "published", "here"
WHY_NONE = {Kind.GIVEN: "given to the model", Kind.BEYOND: "beyond the model"}
IN_WORDS = "in words"
THREE_OVER_FOUR = "3x5820-over-4x5820"
THREADS, MIDDLE, LARGE = 32, 8_192, 16_384
CLOCKS_HZ = 228
PEAK = "throughput of the simulation, whose constants were fitted to the table with this peak"
TWICE = "twice that throughput: each byte crosses the bus two times"
BUSY = "share of the time that it carries bytes"
CLOCKS = "interrupts of the machine's clocks are taken as printed"
WITH_CLOCKS = "with those of two clocks"
SMALL = (
    f"of four sizes, {WITH_CLOCKS}; a card chains only requests that wait for it, and none do, "
    "because the host is busy all the time (without chaining: 002-X2)"
)
NONE_CHAINED = f"B over the four 5820, none of whose requests are chained, {WITH_CLOCKS}"
KERNEL = (
    "host time, all of it the kernel's; more than published because closed clients all wait for "
    "the host or for memory, and nothing else of that machine takes time"
)
CLAIMS: Mapping[str, CardClaim] = {
    "7751-peak": _fitted(PEAK, lambda at: at(HIFN, LARGE)),
    "7751-util": _given("the rate of a chip was taken from this sentence: no data sheet is named"),
    "7751-bus-max": _given("the rate of that bus"),
    "7751-bus": _fitted(TWICE, lambda at: 2 * at(HIFN, LARGE)),
    "7751-bus-util": _fitted(BUSY, lambda at: at(HIFN, LARGE, boards.BUS_BUSY)),
    "7751-bridge": _beyond("two cycles of 33 MHz, 0.06 us, are below what is fitted"),
    "clock-int-a": _given(CLOCKS),
    "clock-int-b": _given(CLOCKS),
    "small-int": _fitted(
        f"an interrupt for each request of 16 B with 32 threads, {WITH_CLOCKS}; less than "
        "published because the document counts more than its table has requests, and doesn't say "
        "in which load",
        lambda at: _interrupts(at, HIFN, 16),
    ),
    "5820-peak": _fitted(PEAK, lambda at: at(BROADCOM, LARGE)),
    "5820-bus": _fitted(TWICE, lambda at: 2 * at(BROADCOM, LARGE) / 1_000),
    "5820-bus-max": _given("the rate of that bus"),
    "5820-bus-util": _fitted(BUSY, lambda at: at(BROADCOM, LARGE, boards.BUS_BUSY)),
    "5820-rated": _given(
        "reference of utilisation, and rate of a card in the analysis with published constants; "
        "the simulation takes a fitted rate"
    ),
    "5820-max": _given("four times the rating of a card"),
    "5820-util": _fitted("of four cards as rated", lambda at: _percent_of_rated(at, 4)),
    "large-int": _fitted(
        f"mean of both boards at 8,192 B, {WITH_CLOCKS}; one number can't be near both because "
        "the slow board works fewer requests",
        lambda at: fmean(_interrupts(at, board, MIDDLE) for board in (HIFN, BROADCOM)),
    ),
    "5820-small-int-low": _fitted(f"least {SMALL}", lambda at: min(_small_interrupts(at))),
    "5820-small-int-high": _fitted(f"most {SMALL}", lambda at: max(_small_interrupts(at))),
    "5820-8k-int": _fitted(f"8,192 {NONE_CHAINED}", lambda at: _interrupts(at, BROADCOM, MIDDLE)),
    "kernel-time": _number(f"8,192 B: {KERNEL}", lambda at: at(BROADCOM, MIDDLE, boards.HOST_BUSY)),
    "kernel-time-16k": _number(
        f"16,384 B: {KERNEL}", lambda at: at(BROADCOM, LARGE, boards.HOST_BUSY)
    ),
    "user-time-16k": _beyond("clients take no time of their own in the model"),
    "16k-int": _fitted(f"16,384 {NONE_CHAINED}", lambda at: _interrupts(at, BROADCOM, LARGE)),
    "mem-write": _given("the rate of copies, and of all writes to memory"),
    "mem-writes": _given("two copies and the card write each byte once"),
    "transfer": _fitted(
        "as the peak, because each write is of every byte", lambda at: at(BROADCOM, LARGE)
    ),
    "3x5820": _number("throughput of the simulation", lambda at: at(BROADCOM, LARGE, cards=3)),
    "3x5820-util": _number("of three cards as rated", lambda at: _percent_of_rated(at, 3)),
    "isa-bus": _beyond("why an interrupt is slow is not modelled, only how long it takes"),
    "spl-delay": _given("time to query a card whether an interrupt is its own"),
    "slow-slot": _beyond(
        "no other component of that bus is modelled, and the document doesn't name them"
    ),
    "shared-irq": _given("that each card on the line is queried, and the time of a query"),
    "irq-no-gain": _number(
        "throughput with a line for each card over that with one, 16,384 B",
        lambda at: _over_usual(at, shares_line=False),
    ),
    "copy-cost": _shape(
        "16,384 B; waiting for memory meanwhile counts as copying",
        lambda at: 1 / (100 / at(BROADCOM, LARGE, boards.COPYING) - 1),
        "copying over all else that the host does",
    ),
    "convoy": _shape(
        "16 KB buffers; no gain here because with completions first the host copies or waits for "
        "memory most of the time already (completions in turn: 002-X2)",
        lambda at: 1 / _over_usual(at, boards.IDLE, completions_first=False),
        "idle time of all cards, completions first over in turn",
    ),
    "mem-reads": _beyond("reads are not modelled: writes alone use up the bandwidth that is given"),
    THREE_OVER_FOUR: _shape(
        "put together from two printed numbers; not so here because cards share no queue, and an "
        "interrupt that queries one card less saves 1 us and no more",
        lambda at: _over_usual(at, cards=3),
    ),
}

EXPERIMENT = boards.simulated_experiment(
    **texts(__package__, "cards-claims"),
    id="002-X1",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=lambda scope: () if scope.quick else ({"claim": row["claim_id"]} for row in rows()),
    arm=_arm,
    published=lambda _: [_published(row) for row in rows()],
    columns={ABOUT: "about", UNIT: "unit", PRINTED: "published", HERE: "here"},
    estimated_s=0.5,
)
