"""What document 002 says of its cards in words: each claim beside what the simulation gives.

A number is judged as one of the tables, a claim of cause or shape as a ratio that is to be above 1,
each by the mean and the ends of plays with several seeds. What was given to the model, or left out
of it, is no result of it and is told so with the reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from sealift.lab.boards import (
    BROADCOM,
    HIFN,
    Board,
    Simulated,
    Spot,
    seeds,
    spread_facts,
    spread_in,
)
from sealift.lab.published import IN_WORDS, Comparison, Kind, Printed, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in _rows())


def _rows() -> Sequence[Mapping[str, str]]:
    return table("002-X1-claims")


def _arm(cell: Cell, context: Context) -> Computed:
    """Computes what a claim is about, or says why a model can't."""
    name = str(cell[CLAIM.name])
    row = next(row for row in _rows() if row["claim_id"] == name)
    printed = f"{row['value']} {row['unit']}" if row["value"] else row["kind"]
    facts: dict[str, Value] = {"about": row["quantity"], "published": printed}
    if name in BEYOND:
        return Computed({**facts, HOW: BEYOND[name]})
    plays = _Plays([_Play(seed) for seed in seeds(context.seed)])
    if name in NUMBERS:
        reckon, how = NUMBERS[name]
        facts |= spread_facts(HERE, plays.each(reckon)) | {HOW: how(plays)}
    if name in SHAPES:
        shape, _, how = SHAPES[name]
        facts |= spread_facts(SHAPE, plays.each(shape)) | {SHAPE_HOW: how(plays)}
    return Computed(facts)


def _published(found: Found) -> Sequence[Comparison]:
    known = {str(each.cell[CLAIM.name]): each.facts for each in found.verified if each.facts}
    return [
        each for row in _rows() for each in _compared(row, known.get(row["claim_id"], {}), found)
    ]


def _compared(
    row: Mapping[str, str], facts: Mapping[str, Value], found: Found
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

    value, unit = (float(row["value"]), row["unit"]) if row["value"] else (1.0, IN_WORDS)
    if name in BEYOND:
        yield printed(Kind.BEYOND, condition, value, unit).beside(BEYOND[name], "no result of it")
        return
    if name in NUMBERS:
        # A claim without a number that is none the less judged as one says that two are the same.
        what, unit = (condition, unit) if row["value"] else (f"{condition}, read as 1 x", "x")
        number = printed(Kind.MODEL, what, value, unit)
        yield _beside(number, facts, HERE, HOW, found.why_not(**{CLAIM.name: name}))
    if name in SHAPES:
        # Of two simulations, so that its unit is none of the document's.
        shape = printed(Kind.SHAPE, SHAPES[name][1], 1.0, "x")
        yield _beside(shape, facts, SHAPE, SHAPE_HOW, found.why_not(**{CLAIM.name: name}))


def _beside(
    printed: Printed, facts: Mapping[str, Value], value: str, how: str, why_not: str
) -> Comparison:
    if value not in facts:
        return printed.beside(why_not, "not computed")
    return printed.beside(spread_in(facts, value), str(facts[how]))


class _Play:
    """Simulations with 32 threads and one seed, each played once."""

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


Reckon = Callable[[_Play], float]


class _Plays:
    """The same with all seeds."""

    def __init__(self, every: Sequence[_Play]) -> None:
        self._every = every

    def each(self, reckon: Reckon) -> Sequence[float]:
        """One value a seed."""
        return [reckon(play) for play in self._every]

    def mean(self, reckon: Reckon) -> float:
        """Over all seeds."""
        return fmean(self.each(reckon))

    def shown(self, reckon: Reckon) -> str:
        """The mean, for people."""
        return format_measure(self.mean(reckon))

    def percent(self, share: Reckon) -> str:
        """The mean of a share."""
        return f"{100 * self.mean(share):.1f} %"


How = Callable[[_Plays], str]


def _share_of_rated(board: Board, mbit_s: float, cards: int = 4) -> float:
    return 100 * mbit_s / (cards * board.rated_mbit_s)


def _small_int_how(of: _Plays) -> str:
    published = 1e6 * HIFN.published[Spot(32, 16)] / 8 / 16
    counted = float(next(row["value"] for row in _rows() if row["claim_id"] == "small-int"))
    here = of.mean(lambda play: play.hifn(16).interrupts_per_request)
    return (
        f"{here:.2f} a request of 16 B with 32 threads, and those of two clocks; another number "
        f"than published, because the document counts {counted / published:.2f} for each request "
        "of its table and doesn't say of what"
    )


def _large_how(of: _Plays) -> str:
    slow = of.shown(lambda play: play.large_interrupts()[0])
    fast = of.shown(lambda play: play.large_interrupts()[1])
    requests = of.mean(lambda play: play.hifn(MIDDLE).mbit_s / play.broadcom(MIDDLE).mbit_s)
    return (
        f"mean of both boards at 8,192 B, {slow} and {fast}, those of two clocks in each: they "
        f"are apart because the slow one works {requests:.2f} times as many requests"
    )


def _small_how(of: _Plays) -> str:
    plain = of.shown(lambda play: play.broadcom(16, chain_requests=1).interrupts_per_s)
    busy = of.percent(lambda play: play.broadcom(16).host_share)
    idle = of.percent(lambda play: play.broadcom(16).idle_share)
    chained = 1 / of.mean(lambda play: play.broadcom(16).interrupts_per_request)
    return (
        "four sizes, those of two clocks in it; without chaining it would be "
        f"{plain} at 16 B: a card chains what waits for it, and that is {chained:.1f} requests on "
        f"average, because the host is busy for {busy} of the time and no card has work for {idle}"
    )


def _busy_how(size_bytes: int) -> How:
    def how(of: _Plays) -> str:
        copies = of.percent(lambda play: play.broadcom(size_bytes).copy_share)
        return (
            f"time of the host at {size_bytes:,} B, all of it the kernel's, {copies} of it copying "
            "or waiting for memory; not as published, because in a load of closed clients the host "
            "or memory is what all wait for here, and nothing else of that machine takes time"
        )

    return how


def _convoy_how(of: _Plays) -> str:
    first = of.percent(lambda play: play.broadcom(LARGE).idle_share)
    turn = of.percent(lambda play: play.in_turn().idle_share)
    gain = of.percent(lambda play: play.broadcom(LARGE).mbit_s / play.in_turn().mbit_s - 1)
    copies = of.percent(lambda play: _copying(play.broadcom(LARGE)))
    return (
        f"no card has anything to work for {first} of the time with completions first and for "
        f"{turn} in turn, which makes {gain} of throughput, because with completions first the "
        f"host copies or waits for memory for {copies} of the time already"
    )


def _three_how(of: _Plays) -> str:
    three, four = of.shown(lambda play: play.three().mbit_s), of.shown(_large_mbit_s)
    look_us = BROADCOM.constant("board.look_us")
    return (
        f"{three} against {four} Mbit/s, because cards share no queue here, and an interrupt that "
        f"asks one card less saves {look_us:g} us and no more"
    )


def _copying(played: Simulated) -> float:
    """Share of the time that the host copies, or waits for memory."""
    return played.copy_share * played.host_share


def _large_mbit_s(play: _Play) -> float:
    return play.broadcom(LARGE).mbit_s


def _only(text: str) -> How:
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
NUMBERS: Mapping[str, tuple[Reckon, How]] = {
    "7751-peak": (lambda of: of.hifn(LARGE).mbit_s, THROUGHPUT),
    "7751-bus": (lambda of: 2 * of.hifn(LARGE).mbit_s, _only("each byte crosses the bus twice")),
    "7751-bus-util": (lambda of: 100 * of.hifn(LARGE).bus_share, BUSY),
    "small-int": (
        lambda of: of.hifn(16).interrupts_per_s + CLOCKS_HZ,
        _small_int_how,
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
    "large-int": (lambda of: fmean(of.large_interrupts()), _large_how),
    "5820-small-int-low": (lambda of: min(of.small_interrupts()), _small_how),
    "5820-small-int-high": (lambda of: max(of.small_interrupts()), _small_how),
    "5820-8k-int": (lambda of: of.large_interrupts()[1], LARGE_INTERRUPTS),
    "kernel-time": (lambda of: 100 * of.broadcom(MIDDLE).host_share, _busy_how(MIDDLE)),
    "kernel-time-16k": (lambda of: 100 * of.broadcom(LARGE).host_share, _busy_how(LARGE)),
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
