"""What document 002 says of its cards in words: each claim beside what the simulation gives."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sealift.lab.boards import BROADCOM, HIFN, Board, Simulated, Spot
from sealift.lab.published import Comparison, Kind, Printed, counted, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in _rows())


def _rows() -> Sequence[Mapping[str, str]]:
    return table("002-X1-claims")


def _arm(cell: Cell, _: Context) -> Computed:
    """Computes what a claim is about, or says why a model can't."""
    name = str(cell[CLAIM.name])
    row = next(row for row in _rows() if row["claim_id"] == name)
    printed = f"{row['value']} {row['unit']}" if row["value"] else row["kind"]
    facts: dict[str, str | float] = {"about": row["quantity"], "published": printed}
    if name in BEYOND:
        return Computed({**facts, HERE: "beyond the model", HOW: BEYOND[name]})
    reckon, how = {**NUMBERS, **SHAPES}[name]
    return Computed({**facts, HERE: float(f"{reckon():.6g}"), HOW: how})


def _published(found: Found) -> Sequence[Comparison]:
    known = {str(each.cell[CLAIM.name]): each.facts for each in found.verified if each.facts}
    return [_compared(row, known.get(row["claim_id"]), found) for row in _rows()]


def _compared(
    row: Mapping[str, str], facts: Mapping[str, object] | None, found: Found
) -> Comparison:
    name = row["claim_id"]
    is_number = name in NUMBERS
    printed = Printed(
        figure=EXPERIMENT.id,
        what=f"{row['quantity']}, {row['condition']}" if row["condition"] else row["quantity"],
        value=float(row["value"]) if row["value"] else 1.0,
        unit=row["unit"] or "x",
        source=f"{row['source']}: {row['as_printed']}",
        kind=Kind.BEYOND if name in BEYOND else Kind.MODEL if is_number else Kind.SHAPE,
        origin=Origin.SIMULATED,
    )
    if name in BEYOND:
        return printed.beside(BEYOND[name], "no result of it")
    if facts is None:
        return printed.beside(found.why_not(**{CLAIM.name: name}), "not computed")
    # A shape is a ratio that is to be above 1, of simulated times.
    return printed.beside(counted(float(str(facts[HERE])), of=REQUESTS_JUDGED), str(facts[HOW]))


def _hifn(size_bytes: int) -> Simulated:
    return HIFN.simulated(Spot(32, size_bytes))


def _broadcom(size_bytes: int, **changes: object) -> Simulated:
    return BROADCOM.simulated(Spot(32, size_bytes), **changes)


def _three() -> Simulated:
    rate_gbit_s = BROADCOM.constants.rate_mbit_s / 1_000
    return _broadcom(LARGE, rates_gbit_per_s=(rate_gbit_s,) * 3)


def _share_of_rated(board: Board, mbit_s: float, cards: int = 4) -> float:
    return 100 * mbit_s / (cards * board.rated_mbit_s)


def _small_interrupts(pick: Callable[[Iterable[float]], float]) -> float:
    return pick(_broadcom(size).interrupts_per_s for size in (16, 64, 256, 1_024))


def _time_an_interrupt() -> float:
    """Host time a request with one line over that with a line for each card."""
    apart = _broadcom(16, shares_line=False).played
    shared = _broadcom(16).played
    return (shared.host_ns / shared.batches) / (apart.host_ns / apart.batches)


def _in_turn() -> float:
    """Throughput with completions in turn over that with completions first."""
    in_turn = _broadcom(LARGE, completions_first=False)
    return in_turn.mbit_s / _broadcom(LARGE).mbit_s


def _copying_over_the_rest() -> float:
    share = _broadcom(LARGE).copy_share
    return share / (1 - share)


CLAIM = Axis("claim", "claim")
HERE, HOW = "here", "how"
LARGE = 16_384
# As many as each of the simulated loads has, which is far more than a verdict needs.
REQUESTS_JUDGED = 4_000
GIVEN = "given to the model, not found by it"
THROUGHPUT = "throughput of the simulation"
Reckoned = tuple[Callable[[], float], str]
NUMBERS: Mapping[str, Reckoned] = {
    "7751-peak": (lambda: _hifn(LARGE).mbit_s, THROUGHPUT),
    "7751-util": (
        lambda: _share_of_rated(HIFN, _hifn(LARGE).mbit_s),
        "of four chips at 83 Mbit/s, the rate that this claim was taken for",
    ),
    "7751-bus": (lambda: 2 * _hifn(LARGE).mbit_s, "each byte crosses the bus twice"),
    "7751-bus-util": (lambda: 100 * _hifn(LARGE).bus_share, "share of the time it carries bytes"),
    "small-int": (
        lambda: _hifn(16).interrupts_per_s + CLOCKS_HZ,
        "one a request of 16 B with 32 threads, and those of two clocks",
    ),
    "5820-peak": (lambda: _broadcom(LARGE).mbit_s, THROUGHPUT),
    "5820-bus": (lambda: 2 * _broadcom(LARGE).mbit_s / 1_000, "each byte crosses the bus twice"),
    "5820-bus-util": (
        lambda: 100 * _broadcom(LARGE).bus_share,
        "share of the time it carries bytes",
    ),
    "5820-util": (
        lambda: _share_of_rated(BROADCOM, _broadcom(LARGE).mbit_s),
        "of four cards as rated",
    ),
    "large-int": (
        lambda: _broadcom(8_192).interrupts_per_s + CLOCKS_HZ,
        "8,192 B over the four 5820, which chain requests; those of two clocks are in it",
    ),
    "5820-small-int-low": (
        lambda: _small_interrupts(min) + CLOCKS_HZ,
        "the least of four sizes; cards chain what waits for them, and here less does",
    ),
    "5820-small-int-high": (
        lambda: _small_interrupts(max) + CLOCKS_HZ,
        "the most of four sizes; cards chain what waits for them, and here less does",
    ),
    "5820-8k-int": (lambda: _broadcom(8_192).interrupts_per_s + CLOCKS_HZ, "as large-int"),
    "kernel-time": (
        lambda: 100 * _broadcom(8_192).host_share,
        "time of the host at 8,192 B, all of which is the kernel's",
    ),
    "kernel-time-16k": (
        lambda: 100 * _broadcom(LARGE).host_share,
        "time of the host, all of which is the kernel's",
    ),
    "16k-int": (lambda: _broadcom(LARGE).interrupts_per_s + CLOCKS_HZ, "as large-int"),
    "mem-writes": (
        lambda: _broadcom(LARGE).writes_per_byte,
        "bytes written a byte of text: copied in, by the card, copied out",
    ),
    "transfer": (lambda: _broadcom(LARGE).mbit_s, "as the peak: each write is of every byte"),
    "3x5820-util": (
        lambda: _share_of_rated(BROADCOM, _three().mbit_s, 3),
        "of three cards as rated",
    ),
    "irq-no-gain": (
        lambda: _broadcom(LARGE, shares_line=False).mbit_s / _broadcom(LARGE).mbit_s,
        "throughput with a line for each card over that with one, 16,384 B",
    ),
}
SHAPES: Mapping[str, Reckoned] = {
    "5820-rated": (
        lambda: BROADCOM.rated_mbit_s / BROADCOM.constants.rate_mbit_s,
        "the rating over the rate that fits table 2 best, which takes in what overlaps: one thread "
        "alone was measured near the rating, set-up and copies included",
    ),
    "3x5820": (
        lambda: _three().mbit_s / _broadcom(LARGE).mbit_s,
        "three cards over four; in every model here a card less is no gain, because cards share "
        "no queue and an interrupt that asks one card less saves a microsecond",
    ),
    "shared-irq": (_time_an_interrupt, "time of the host a request, one line over four, 16 B"),
    "copy-cost": (_copying_over_the_rest, "copying over all else that the host does, 16,384 B"),
    "convoy": (
        _in_turn,
        "throughput with completions taken in turn over that with completions first: cards do wait "
        "for requests more than they work, but the other order gives no more, because host and "
        "memory are the limit",
    ),
}
CLOCKS_HZ = 228
BEYOND: Mapping[str, str] = {
    "7751-bus-max": GIVEN,
    "7751-bridge": "two cycles of 33 MHz a transaction, 0.06 us, are below what is fitted",
    "clock-int-a": "the machine's clocks have nothing to do with cards; their interrupts are "
    "added to those of cards",
    "clock-int-b": "the machine's clocks have nothing to do with cards; their interrupts are "
    "added to those of cards",
    "5820-bus-max": GIVEN,
    "5820-max": "four times the rating, which is given",
    "user-time-16k": "clients take no time of their own in the model",
    "mem-write": GIVEN,
    "isa-bus": "why an interrupt is slow is not modelled, only how long it takes",
    "spl-delay": GIVEN,
    "slow-slot": "no other component of that bus is modelled, and nobody has said which there were",
    "mem-reads": "reads are not modelled: writes alone use up the bandwidth that is given",
}

EXPERIMENT = Experiment(
    name="cards-claims",
    id="002-X1",
    title="What document 002 says of interrupts, bus, memory and kernel time",
    why="Which of its claims follow from the model that gives its tables, which don't, and which "
    "can't?",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    published=_published,
    weight=0.2,
    origin=Origin.SIMULATED,
)
