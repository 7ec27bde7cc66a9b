"""Claims of document 002 in words, beside what the simulation gives: 002-X1.

A number is reproduced within a tenth or contradicted; a claim that one thing is more than another
has a shape alone. Inputs of the model are no results of it, and neither is what it leaves out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sealift_lab.experiments.document_002.board import (
    BROADCOM,
    HIFN,
    Board,
    Simulation,
    Spot,
    seeds,
    spread_facts,
)
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.figure import Fact, Missing
from sealift_lab.model.published import Kind, Published, table, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Simulations:
    """Simulations with 32 threads and one seed."""

    seed: int

    def hifn(self, size_bytes: int) -> Simulation:
        """The slow board with requests of a size."""
        return HIFN.simulate(Spot(THREADS, size_bytes), seed=self.seed)

    def broadcom(self, size_bytes: int, **changes: object) -> Simulation:
        """The fast board."""
        return BROADCOM.simulate(Spot(THREADS, size_bytes), seed=self.seed, **changes)

    def three(self) -> Simulation:
        """Three of the fast cards with the largest buffers."""
        rate_gbit_s = BROADCOM.simulated_constants.rate_mbit_s / 1_000
        return self.broadcom(LARGE, rates_gbit_per_s=(rate_gbit_s,) * 3)

    def small_interrupts(self) -> Sequence[float]:
        """Interrupts a second of the fast board, by buffers of 16 to 1,024 B."""
        return [_interrupts(self.broadcom(size)) for size in (16, 64, 256, 1_024)]


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
    compute: Callable[[Simulations], float] | None = None
    what: str = ""
    is_fitted: bool = False


def rows() -> Sequence[Mapping[str, str]]:
    """The claims as printed, and behind "3x5820" one that two printed numbers make."""
    printed = table(TABLE)
    behind = 1 + next(at for at, row in enumerate(printed) if row["claim_id"] == "3x5820")
    return (*printed[:behind], _three_over_four(), *printed[behind:])


def _three_over_four() -> Mapping[str, str]:
    three = table_row(TABLE, claim_id="3x5820")
    four_mbit_s = BROADCOM.published[Spot(THREADS, LARGE)]
    return {
        **three,
        "claim_id": THREE_OVER_FOUR,
        "kind": "shape",
        "quantity": "throughput of three 5820 over that of four",
        "value": f"{float(three['value']) / four_mbit_s:.6g}",
        "unit": "x",
        "condition": "32 threads, 16 KB",
        "as_printed": f"{three['as_printed']}; table 2 has {four_mbit_s:g} with four cards",
    }


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in rows())


def _arm(cell: Cell, context: Context) -> Computed:
    row = next(row for row in rows() if row["claim_id"] == cell[CLAIM.name])
    claim = CLAIMS[row["claim_id"]]
    facts: dict[str, Value] = {
        ABOUT: claim.what or row["quantity"],
        UNIT: row["unit"] or ("x" if claim.compute else IN_WORDS),
        PRINTED: row["value"] or IN_WORDS,
    }
    if claim.compute:
        facts |= spread_facts(HERE, map(claim.compute, map(Simulations, seeds(context.seed))))
    else:
        facts |= {f"{HERE}, why none": WHY_NONE[claim.kind]}
    return Computed(facts)


def _published(_: Results) -> Sequence[Published]:
    return [_beside(row, CLAIMS[row["claim_id"]]) for row in rows()]


def _beside(row: Mapping[str, str], claim: CardClaim) -> Published:
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


def _fitted(compute: Callable[[Simulations], float], note: str) -> CardClaim:
    return CardClaim(Kind.NUMBER, note, compute, is_fitted=True)


def _number(compute: Callable[[Simulations], float], note: str) -> CardClaim:
    return CardClaim(Kind.NUMBER, note, compute)


def _given(note: str) -> CardClaim:
    return CardClaim(Kind.GIVEN, note)


def _beyond(note: str) -> CardClaim:
    return CardClaim(Kind.BEYOND, note)


def _interrupts(simulation: Simulation) -> float:
    return simulation.interrupts_per_s + CLOCKS_HZ


def _percent_of_rated(board: Board, simulation: Simulation, cards: int = 4) -> float:
    return 100 * simulation.mbit_s / (cards * board.rated_mbit_s)


def _copying_over_rest(of: Simulations) -> float:
    share = of.broadcom(LARGE).copy_share
    return share / (1 - share)


def _idle_first_over_in_turn(of: Simulations) -> float:
    in_turn = of.broadcom(LARGE, completions_first=False)
    return of.broadcom(LARGE).idle_share / in_turn.idle_share


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
KERNEL = (
    "host time, all of it the kernel's; more than published because closed clients all wait for "
    "the host or for memory, and nothing else of that machine takes time"
)
CLAIMS: Mapping[str, CardClaim] = {
    "7751-peak": _fitted(lambda of: of.hifn(LARGE).mbit_s, PEAK),
    "7751-util": _given("the rate of a chip was taken from this sentence: no data sheet is named"),
    "7751-bus-max": _given("the rate of that bus"),
    "7751-bus": _fitted(lambda of: 2 * of.hifn(LARGE).mbit_s, TWICE),
    "7751-bus-util": _fitted(lambda of: 100 * of.hifn(LARGE).bus_share, BUSY),
    "7751-bridge": _beyond("two cycles of 33 MHz, 0.06 us, are below what is fitted"),
    "clock-int-a": _given(CLOCKS),
    "clock-int-b": _given(CLOCKS),
    "small-int": _fitted(
        lambda of: _interrupts(of.hifn(16)),
        f"an interrupt for each request of 16 B with 32 threads, {WITH_CLOCKS}; less than "
        "published because the document counts more than its table has requests, and doesn't say "
        "in which load",
    ),
    "5820-peak": _fitted(lambda of: of.broadcom(LARGE).mbit_s, PEAK),
    "5820-bus": _fitted(lambda of: 2 * of.broadcom(LARGE).mbit_s / 1_000, TWICE),
    "5820-bus-max": _given("the rate of that bus"),
    "5820-bus-util": _fitted(lambda of: 100 * of.broadcom(LARGE).bus_share, BUSY),
    "5820-rated": _given(
        "reference of utilisation, and rate of a card in the analysis with published constants; "
        "the simulation takes a fitted rate"
    ),
    "5820-max": _given("four times the rating of a card"),
    "5820-util": _fitted(
        lambda of: _percent_of_rated(BROADCOM, of.broadcom(LARGE)), "of four cards as rated"
    ),
    "large-int": _fitted(
        lambda of: fmean((_interrupts(of.hifn(MIDDLE)), _interrupts(of.broadcom(MIDDLE)))),
        f"mean of both boards at 8,192 B, {WITH_CLOCKS}; one number can't be near both because "
        "the slow board works fewer requests",
    ),
    "5820-small-int-low": _fitted(lambda of: min(of.small_interrupts()), f"least {SMALL}"),
    "5820-small-int-high": _fitted(lambda of: max(of.small_interrupts()), f"most {SMALL}"),
    "5820-8k-int": _fitted(
        lambda of: _interrupts(of.broadcom(MIDDLE)),
        f"8,192 B over the four 5820, none of whose requests are chained, {WITH_CLOCKS}",
    ),
    "kernel-time": _number(lambda of: 100 * of.broadcom(MIDDLE).host_share, f"8,192 B: {KERNEL}"),
    "kernel-time-16k": _number(
        lambda of: 100 * of.broadcom(LARGE).host_share, f"16,384 B: {KERNEL}"
    ),
    "user-time-16k": _beyond("clients take no time of their own in the model"),
    "16k-int": _fitted(
        lambda of: _interrupts(of.broadcom(LARGE)),
        f"16,384 B over the four 5820, none of whose requests are chained, {WITH_CLOCKS}",
    ),
    "mem-write": _given("the rate of copies, and of all writes to memory"),
    "mem-writes": _given("two copies and the card write each byte once"),
    "transfer": _fitted(
        lambda of: of.broadcom(LARGE).mbit_s, "as the peak, because each write is of every byte"
    ),
    "3x5820": _number(lambda of: of.three().mbit_s, "throughput of the simulation"),
    "3x5820-util": _number(
        lambda of: _percent_of_rated(BROADCOM, of.three(), 3), "of three cards as rated"
    ),
    "isa-bus": _beyond("why an interrupt is slow is not modelled, only how long it takes"),
    "spl-delay": _given("time to query a card whether an interrupt is its own"),
    "slow-slot": _beyond(
        "no other component of that bus is modelled, and the document doesn't name them"
    ),
    "shared-irq": _given("that each card on the line is queried, and the time of a query"),
    "irq-no-gain": _number(
        lambda of: of.broadcom(LARGE, shares_line=False).mbit_s / of.broadcom(LARGE).mbit_s,
        "throughput with a line for each card over that with one, 16,384 B",
    ),
    "copy-cost": CardClaim(
        Kind.SHAPE,
        "16,384 B; waiting for memory meanwhile counts as copying",
        _copying_over_rest,
        "copying over all else that the host does",
    ),
    "convoy": CardClaim(
        Kind.SHAPE,
        "16 KB buffers; no gain here because with completions first the host copies or waits for "
        "memory most of the time already (completions in turn: 002-X2)",
        _idle_first_over_in_turn,
        "idle time of all cards, completions first over in turn",
    ),
    "mem-reads": _beyond("reads are not modelled: writes alone use up the bandwidth that is given"),
    THREE_OVER_FOUR: CardClaim(
        Kind.SHAPE,
        "put together from two printed numbers; not so here because cards share no queue, and an "
        "interrupt that queries one card less saves 1 us and no more",
        lambda of: of.three().mbit_s / of.broadcom(LARGE).mbit_s,
    ),
}

EXPERIMENT = Experiment(
    name="cards-claims",
    id="002-X1",
    title="Document 002 on interrupts, bus, memory and kernel time",
    question="Which of its claims follow from the model that gives its tables, which don't, which "
    "were put into it, and which can't follow?",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    published=_published,
    columns={ABOUT: "about", UNIT: "unit", PRINTED: "published", HERE: "here"},
    origin=Origin.SIMULATED,
    weight=0.2,
    estimated_s=0.5,
    notes=read_notes(__package__, "model"),
)
