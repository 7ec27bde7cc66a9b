"""What document 002 says of its cards in words: each claim beside what the simulation gives.

A number is judged as one of the tables, a claim of cause or shape as a ratio that is to be above 1.
What was given to the model, or left out of it, is no result of it and is told so with the reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from sealift.lab.boards import BROADCOM, HIFN, REQUESTS, Board, Simulated, Spot
from sealift.lab.published import Comparison, Kind, Printed, counted, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in _rows())


def _rows() -> Sequence[Mapping[str, str]]:
    return table("002-X1-claims")


def _arm(cell: Cell, context: Context) -> Computed:
    """Computes what a claim is about, or says why a model can't."""
    name = str(cell[CLAIM.name])
    row = next(row for row in _rows() if row["claim_id"] == name)
    printed = f"{row['value']} {row['unit']}" if row["value"] else row["kind"]
    facts: dict[str, str | float] = {"about": row["quantity"], "published": printed}
    if name in BEYOND:
        return Computed({**facts, HERE: "beyond the model", HOW: BEYOND[name]})
    played = _Played(context.seed)
    if name in NUMBERS:
        reckon, how = NUMBERS[name]
        facts |= {HERE: float(f"{reckon(played):.6g}"), HOW: how(played)}
    if name in SHAPES:
        shape, _, how = SHAPES[name]
        facts |= {SHAPE: float(f"{shape(played):.6g}"), SHAPE_HOW: how(played)}
    return Computed(facts)


def _published(found: Found) -> Sequence[Comparison]:
    known = {str(each.cell[CLAIM.name]): each.facts for each in found.verified if each.facts}
    return [
        each for row in _rows() for each in _compared(row, known.get(row["claim_id"], {}), found)
    ]


def _compared(
    row: Mapping[str, str], facts: Mapping[str, object], found: Found
) -> Iterable[Comparison]:
    name = row["claim_id"]
    condition = f"{row['quantity']}, {row['condition']}" if row["condition"] else row["quantity"]

    def printed(kind: Kind, what: str, value: float, unit: str) -> Printed:
        return Printed(
            figure=EXPERIMENT.id,
            what=what,
            value=value,
            unit=unit,
            source=f"{row['source']}: {row['as_printed']}",
            kind=kind,
            origin=Origin.SIMULATED,
        )

    value, unit = (float(row["value"]), row["unit"]) if row["value"] else (1.0, "x")
    if name in BEYOND:
        yield printed(Kind.BEYOND, condition, value, unit).beside(BEYOND[name], "no result of it")
        return
    if name in NUMBERS:
        number = printed(Kind.MODEL, condition, value, unit)
        yield _beside(number, facts, HERE, HOW, found.why_not(**{CLAIM.name: name}))
    if name in SHAPES:
        # Of two simulations, so that its unit is none of the document's.
        shape = printed(Kind.SHAPE, SHAPES[name][1], 1.0, "x")
        yield _beside(shape, facts, SHAPE, SHAPE_HOW, found.why_not(**{CLAIM.name: name}))


def _beside(
    printed: Printed, facts: Mapping[str, object], value: str, how: str, why_not: str
) -> Comparison:
    if value not in facts:
        return printed.beside(why_not, "not computed")
    return printed.beside(counted(float(str(facts[value])), of=REQUESTS), str(facts[how]))


class _Played:
    """Simulations with 32 threads, each played once."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def hifn(self, size_bytes: int) -> Simulated:
        return HIFN.simulated(Spot(32, size_bytes), seed=self.seed)

    def broadcom(self, size_bytes: int, **changes: object) -> Simulated:
        return BROADCOM.simulated(Spot(32, size_bytes), seed=self.seed, **changes)

    def three(self) -> Simulated:
        rate_gbit_s = BROADCOM.played_constants.rate_mbit_s / 1_000
        return self.broadcom(LARGE, rates_gbit_per_s=(rate_gbit_s,) * 3)

    def small_interrupts(self) -> Sequence[float]:
        sizes = (16, 64, 256, 1_024)
        return [self.broadcom(size).interrupts_per_s + CLOCKS_HZ for size in sizes]

    def large_interrupts(self) -> tuple[float, float]:
        """Of the slow board and of the fast one."""
        both = (self.hifn(MIDDLE), self.broadcom(MIDDLE))
        slow, fast = (each.interrupts_per_s + CLOCKS_HZ for each in both)
        return slow, fast

    def in_turn(self) -> Simulated:
        return self.broadcom(LARGE, completions_first=False)

    def host_ns_apart(self) -> float:
        apart = self.broadcom(16, shares_line=False).played
        return apart.host_ns / apart.batches


def _share_of_rated(board: Board, mbit_s: float, cards: int = 4) -> float:
    return 100 * mbit_s / (cards * board.rated_mbit_s)


def _shown(value: float) -> str:
    return format_measure(value)


def _large_how(played: _Played) -> str:
    slow, fast = played.large_interrupts()
    return (
        f"mean of both boards at 8,192 B, {_shown(slow)} and {_shown(fast)}, those of two clocks "
        "in each; the slow one raises half as many because its chips work half as many requests"
    )


def _small_how(played: _Played) -> str:
    plain = played.broadcom(16, merge_requests=1).interrupts_per_s
    return (
        "four sizes, those of two clocks in it; without chaining it would be "
        f"{_shown(plain)} at 16 B: cards chain what waits for them, and here less does, because a "
        "request waits for the host more than for its card"
    )


def _kernel_how(played: _Played) -> str:
    share = 100 * played.broadcom(MIDDLE).copy_share
    return (
        f"time of the host at 8,192 B, all of it the kernel's, {_shown(share)} % of it copying or "
        "waiting for memory; more than was published, because whatever limits a load of closed "
        "clients here is the host or memory, and nothing else of that machine takes time"
    )


def _convoy_how(played: _Played) -> str:
    first, turn = played.broadcom(LARGE), played.in_turn()
    return (
        f"no card has anything to work for {100 * first.idle_share:.1f} % of the time with "
        f"completions first and for {100 * turn.idle_share:.1f} % in turn; of throughput that "
        f"costs {100 * (1 - first.mbit_s / turn.mbit_s):.1f} %, because memory is what all wait "
        "for in either order"
    )


def _three_how(played: _Played) -> str:
    three, four = played.three(), played.broadcom(LARGE)
    return (
        f"{_shown(three.mbit_s)} against {_shown(four.mbit_s)} Mbit/s, because cards share no "
        "queue here, and an interrupt that asks one card less saves a microsecond and no more"
    )


def _only(text: str) -> Callable[[_Played], str]:
    return lambda _: text


CLAIM = Axis("claim", "claim")
HERE, HOW = "here", "how"
SHAPE, SHAPE_HOW = "as a ratio", "of what"
MIDDLE, LARGE = 8_192, 16_384
CLOCKS_HZ = 228
GIVEN = "given to the model, not found by it"
THROUGHPUT = _only("throughput of the simulation")
BUSY = _only("share of the time it carries bytes")
LARGE_INTERRUPTS = _only("8,192 B over the four 5820, which chain requests; with those of clocks")
Reckon = Callable[[_Played], float]
How = Callable[[_Played], str]
NUMBERS: Mapping[str, tuple[Reckon, How]] = {
    "7751-peak": (lambda of: of.hifn(LARGE).mbit_s, THROUGHPUT),
    "7751-bus": (lambda of: 2 * of.hifn(LARGE).mbit_s, _only("each byte crosses the bus twice")),
    "7751-bus-util": (lambda of: 100 * of.hifn(LARGE).bus_share, BUSY),
    "small-int": (
        lambda of: of.hifn(16).interrupts_per_s + CLOCKS_HZ,
        _only(
            "one a request of 16 B with 32 threads, and those of two clocks; fewer than published, "
            "because the document counts more than one a request and doesn't say of what"
        ),
    ),
    "5820-peak": (lambda of: of.broadcom(LARGE).mbit_s, THROUGHPUT),
    "5820-bus": (
        lambda of: 2 * of.broadcom(LARGE).mbit_s / 1_000,
        _only("each byte crosses the bus twice"),
    ),
    "5820-bus-util": (lambda of: 100 * of.broadcom(LARGE).bus_share, BUSY),
    "5820-util": (
        lambda of: _share_of_rated(BROADCOM, of.broadcom(LARGE).mbit_s),
        _only("of four cards as rated"),
    ),
    "large-int": (lambda of: mean(of.large_interrupts()), _large_how),
    "5820-small-int-low": (lambda of: min(of.small_interrupts()), _small_how),
    "5820-small-int-high": (lambda of: max(of.small_interrupts()), _small_how),
    "5820-8k-int": (lambda of: of.large_interrupts()[1], LARGE_INTERRUPTS),
    "kernel-time": (lambda of: 100 * of.broadcom(MIDDLE).host_share, _kernel_how),
    "kernel-time-16k": (
        lambda of: 100 * of.broadcom(LARGE).host_share,
        _only(
            "time of the host, all of which is the kernel's; more than was published, because "
            "nothing else of that machine takes time here"
        ),
    ),
    "16k-int": (
        lambda of: of.broadcom(LARGE).interrupts_per_s + CLOCKS_HZ,
        _only("16,384 B over the four 5820, which chain requests; with those of clocks"),
    ),
    "transfer": (
        lambda of: of.broadcom(LARGE).mbit_s,
        _only("as the peak, for each write is of every byte"),
    ),
    "3x5820": (lambda of: of.three().mbit_s, THROUGHPUT),
    "3x5820-util": (
        lambda of: _share_of_rated(BROADCOM, of.three().mbit_s, 3),
        _only("of three cards as rated"),
    ),
    "irq-no-gain": (
        lambda of: of.broadcom(LARGE, shares_line=False).mbit_s / of.broadcom(LARGE).mbit_s,
        _only("throughput with a line for each card over that with one, 16,384 B"),
    ),
}
# What lies over what, in words, and how.
SHAPES: Mapping[str, tuple[Reckon, str, How]] = {
    "3x5820": (
        lambda of: of.three().mbit_s / of.broadcom(LARGE).mbit_s,
        "throughput of three 5820 over that of four, 16 KB buffers",
        _three_how,
    ),
    "copy-cost": (
        lambda of: of.broadcom(LARGE).copy_share / (1 - of.broadcom(LARGE).copy_share),
        "copying over all else that the host does",
        _only("16,384 B; waiting for memory meanwhile counts as copying"),
    ),
    "convoy": (
        lambda of: of.broadcom(LARGE).idle_share / of.in_turn().idle_share,
        "time without work for any card, completions first over in turn, 16 KB buffers",
        _convoy_how,
    ),
}
BEYOND: Mapping[str, str] = {
    "7751-util": "the rate of a chip was taken from this very sentence, as no data sheet is named",
    "7751-bus-max": GIVEN,
    "7751-bridge": "two cycles of 33 MHz a transaction, 0.06 us, are below what is fitted",
    "clock-int-a": "the machine's clocks have nothing to do with cards; their interrupts are "
    "added to those of cards",
    "clock-int-b": "the machine's clocks have nothing to do with cards; their interrupts are "
    "added to those of cards",
    "5820-bus-max": GIVEN,
    "5820-rated": GIVEN,
    "5820-max": "four times the rating, which is given",
    "user-time-16k": "clients take no time of their own in the model",
    "mem-write": GIVEN,
    "mem-writes": GIVEN,
    "isa-bus": "why an interrupt is slow is not modelled, only how long it takes",
    "spl-delay": GIVEN,
    "shared-irq": "that each card on the line is asked, and for how long, is given",
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
