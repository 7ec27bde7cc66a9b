"""What document 002 says of its cards in words, and what of that a simulation of them can give."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sealift.lab.boards.board import BROADCOM, HIFN, Board, Simulated, Spot
from sealift.lab.published import Kind, table
from sealift.lab.stats import least_told
from sealift.lab.units import format_measure


class Play:
    """Simulations with 32 threads and one seed, each played once."""

    def __init__(self, seed: int) -> None:
        """With this seed."""
        self.seed = seed

    def hifn(self, size_bytes: int) -> Simulated:
        """The slow board with requests of so many bytes."""
        return HIFN.simulated(Spot(32, size_bytes), seed=self.seed)

    def broadcom(self, size_bytes: int, **changes: object) -> Simulated:
        """The fast one."""
        return BROADCOM.simulated(Spot(32, size_bytes), seed=self.seed, **changes)

    def three(self) -> Simulated:
        """Three of the fast cards."""
        rate_gbit_s = BROADCOM.played_constants.rate_mbit_s / 1_000
        return self.broadcom(LARGE, rates_gbit_per_s=(rate_gbit_s,) * 3)

    def small_interrupts(self) -> Sequence[float]:
        """A second, on the fast board, by buffers of 16 to 1,024 B."""
        sizes = (16, 64, 256, 1_024)
        return [self.broadcom(size).interrupts_per_s + CLOCKS_HZ for size in sizes]

    def large_interrupts(self) -> tuple[float, float]:
        """A second, at 8,192 B, of the slow board and of the fast one."""
        both = (self.hifn(MIDDLE), self.broadcom(MIDDLE))
        slow, fast = (each.interrupts_per_s + CLOCKS_HZ for each in both)
        return slow, fast

    def in_turn(self) -> Simulated:
        """The fast board where completions do not go before submissions."""
        return self.broadcom(LARGE, completions_first=False)


Reckon = Callable[[Play], float]


class Plays:
    """The same with all seeds."""

    def __init__(self, every: Sequence[Play]) -> None:
        """With a play for each seed; none for what is not reckoned."""
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


How = Callable[[Plays], str]


@dataclass(frozen=True)
class Claim:
    """What a model has to do with a claim.

    Attributes:
        kind: NUMBER or SHAPE for what it gives, GIVEN for what was put into it, else BEYOND.
        how: How it is reckoned, and why it is as it is; or why it is no result.
        reckon: What the model gives; None where that is nothing.
        what: What lies over what, of a SHAPE for which nothing was printed.
    """

    kind: Kind
    how: How
    reckon: Reckon | None = None
    what: str = ""


def rows() -> Sequence[Mapping[str, str]]:
    """The claims as printed, and behind its number one that two printed numbers make."""
    printed = table("002-X1-claims")
    behind = 1 + next(at for at, row in enumerate(printed) if row["claim_id"] == "3x5820")
    return (*printed[:behind], _three_over_four(), *printed[behind:])


def _three_over_four() -> Mapping[str, str]:
    three = next(row for row in table("002-X1-claims") if row["claim_id"] == "3x5820")
    return {
        **three,
        "claim_id": THREE_OVER_FOUR,
        "kind": "shape",
        "quantity": "throughput of three 5820 over that of four",
        "value": f"{float(three['value']) / _four_mbit_s():.6g}",
        "unit": "x",
        "condition": "32 threads, 16 KB",
        "as_printed": f"{three['as_printed']}; table 2 has {_four_mbit_s():g} with four cards",
    }


def _four_mbit_s() -> float:
    """As printed in table 2."""
    return BROADCOM.published[Spot(32, LARGE)]


def _number(reckon: Reckon, how: How | str) -> Claim:
    return Claim(Kind.NUMBER, _said(how), reckon)


def _shape(what: str, reckon: Reckon, how: How | str) -> Claim:
    return Claim(Kind.SHAPE, _said(how), reckon, what)


def _given(why: str) -> Claim:
    return Claim(Kind.GIVEN, _said(why))


def _beyond(why: str) -> Claim:
    return Claim(Kind.BEYOND, _said(why))


def _said(how: How | str) -> How:
    return (lambda _: how) if isinstance(how, str) else how


def _share_of_rated(board: Board, mbit_s: float, cards: int = 4) -> float:
    return 100 * mbit_s / (cards * board.rated_mbit_s)


def _small_int_how(of: Plays) -> str:
    published = 1e6 * HIFN.published[Spot(32, 16)] / 8 / 16
    counted = float(next(row["value"] for row in rows() if row["claim_id"] == "small-int"))
    here = of.mean(lambda play: play.hifn(16).interrupts_per_request)
    return (
        f"{here:.2f} a request of 16 B with 32 threads, and those of two clocks; another number "
        f"than published, because the document counts {counted / published:.2f} for each request "
        "of its table and doesn't say of what"
    )


def _large_how(of: Plays) -> str:
    slow = of.shown(lambda play: play.large_interrupts()[0])
    fast = of.shown(lambda play: play.large_interrupts()[1])
    requests = of.mean(lambda play: play.hifn(MIDDLE).mbit_s / play.broadcom(MIDDLE).mbit_s)
    return (
        f"mean of both boards at 8,192 B, {slow} and {fast}, those of two clocks in each: they "
        f"are apart because the slow one works {requests:.2f} times as many requests"
    )


def _small_how(of: Plays) -> str:
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
    def how(of: Plays) -> str:
        copies = of.percent(lambda play: play.broadcom(size_bytes).copy_share)
        return (
            f"time of the host at {size_bytes:,} B, all of it the kernel's, {copies} of it copying "
            "or waiting for memory; not as published, because in a load of closed clients the host "
            "or memory is what all wait for here, and nothing else of that machine takes time"
        )

    return how


def _convoy_how(of: Plays) -> str:
    first = of.percent(lambda play: play.broadcom(LARGE).idle_share)
    turn = of.percent(lambda play: play.in_turn().idle_share)
    gain = of.percent(lambda play: play.broadcom(LARGE).mbit_s / play.in_turn().mbit_s - 1)
    copies = of.percent(lambda play: _copying(play.broadcom(LARGE)))
    return (
        f"16 KB buffers: no card has anything to work for {first} of the time with completions "
        f"first and for {turn} in turn, which makes {gain} of throughput, because with "
        f"completions first the host copies or waits for memory for {copies} of the time already"
    )


def _three_how(of: Plays) -> str:
    printed = next(float(row["value"]) for row in rows() if row["claim_id"] == "3x5820")
    three, four = of.mean(lambda play: play.three().mbit_s), of.mean(_large_mbit_s)
    look_us = BROADCOM.constant("board.look_us")
    return (
        f"published {printed:g} Mbit/s with three and {_four_mbit_s():g} with four, "
        f"{_more(printed, _four_mbit_s())}; here {format_measure(three)} and "
        f"{format_measure(four)}, {_more(three, four)} (under {100 * least_told(0.0):.0f} % counts "
        "as none), because cards share no queue here, and an interrupt that asks one card less "
        f"saves {look_us:g} us and no more"
    )


def _more(one: float, other: float) -> str:
    percent = 100 * (one / other - 1)
    return f"{abs(percent):.1f} % {'more' if percent >= 0 else 'less'}"


def _copying(played: Simulated) -> float:
    """Share of the time that the host copies, or waits for memory."""
    return played.copy_share * played.host_share


def _large_mbit_s(play: Play) -> float:
    return play.broadcom(LARGE).mbit_s


THREE_OVER_FOUR = "3x5820-over-4x5820"
MIDDLE, LARGE = 8_192, 16_384
CLOCKS_HZ = 228
PEAK = (
    "throughput of the simulation, whose constants were fitted to the table that has this peak, too"
)
TWICE = "twice that throughput: each byte crosses the bus two times"
BUSY = "share of the time it carries bytes"
CHAINED = "{} B over the four 5820, which chain requests; with those of clocks"
CLOCKS = "what the machine's clocks add to the interrupts of cards is taken as printed"
CLAIMS: Mapping[str, Claim] = {
    "7751-peak": _number(lambda of: of.hifn(LARGE).mbit_s, PEAK),
    "7751-util": _given("the rate of a chip was taken from this sentence: no data sheet is named"),
    "7751-bus-max": _given("the rate of that bus"),
    "7751-bus": _number(lambda of: 2 * of.hifn(LARGE).mbit_s, TWICE),
    "7751-bus-util": _number(lambda of: 100 * of.hifn(LARGE).bus_share, BUSY),
    "7751-bridge": _beyond("two cycles of 33 MHz, 0.06 us, are below what is fitted"),
    "clock-int-a": _given(CLOCKS),
    "clock-int-b": _given(CLOCKS),
    "small-int": _number(lambda of: of.hifn(16).interrupts_per_s + CLOCKS_HZ, _small_int_how),
    "5820-peak": _number(lambda of: of.broadcom(LARGE).mbit_s, PEAK),
    "5820-bus": _number(lambda of: 2 * of.broadcom(LARGE).mbit_s / 1_000, TWICE),
    "5820-bus-max": _given("the rate of that bus"),
    "5820-bus-util": _number(lambda of: 100 * of.broadcom(LARGE).bus_share, BUSY),
    "5820-rated": _given(
        "what utilisation is a share of, and the rate of a card in the analysis with published "
        "constants; what the simulation takes is fitted"
    ),
    "5820-max": _given("four times the rating of a card"),
    "5820-util": _number(
        lambda of: _share_of_rated(BROADCOM, of.broadcom(LARGE).mbit_s), "of four cards as rated"
    ),
    "large-int": _number(lambda of: fmean(of.large_interrupts()), _large_how),
    "5820-small-int-low": _number(lambda of: min(of.small_interrupts()), _small_how),
    "5820-small-int-high": _number(lambda of: max(of.small_interrupts()), _small_how),
    "5820-8k-int": _number(lambda of: of.large_interrupts()[1], CHAINED.format("8,192")),
    "kernel-time": _number(lambda of: 100 * of.broadcom(MIDDLE).host_share, _busy_how(MIDDLE)),
    "kernel-time-16k": _number(lambda of: 100 * of.broadcom(LARGE).host_share, _busy_how(LARGE)),
    "user-time-16k": _beyond("clients take no time of their own in the model"),
    "16k-int": _number(
        lambda of: of.broadcom(LARGE).interrupts_per_s + CLOCKS_HZ, CHAINED.format("16,384")
    ),
    "mem-write": _given("the rate of copies, and of all writes to memory"),
    "mem-writes": _given("two copies and the card write each byte once"),
    "transfer": _number(
        lambda of: of.broadcom(LARGE).mbit_s, "as the peak, for each write is of every byte"
    ),
    "3x5820": _number(lambda of: of.three().mbit_s, "throughput of the simulation"),
    "3x5820-util": _number(
        lambda of: _share_of_rated(BROADCOM, of.three().mbit_s, 3), "of three cards as rated"
    ),
    "isa-bus": _beyond("why an interrupt is slow is not modelled, only how long it takes"),
    "spl-delay": _given("what it takes to ask a card whose interrupt it was"),
    "slow-slot": _beyond(
        "no other component of that bus is modelled, and nobody has said which there were"
    ),
    "shared-irq": _given("that each card on the line is asked, and for how long"),
    "irq-no-gain": _number(
        lambda of: of.broadcom(LARGE, shares_line=False).mbit_s / of.broadcom(LARGE).mbit_s,
        "throughput with a line for each card over that with one, 16,384 B",
    ),
    "copy-cost": _shape(
        "copying over all else that the host does",
        lambda of: of.broadcom(LARGE).copy_share / (1 - of.broadcom(LARGE).copy_share),
        "16,384 B; waiting for memory meanwhile counts as copying",
    ),
    "convoy": _shape(
        "idle time of all cards, completions first over in turn",
        lambda of: of.broadcom(LARGE).idle_share / of.in_turn().idle_share,
        _convoy_how,
    ),
    "mem-reads": _beyond("reads are not modelled: writes alone use up the bandwidth that is given"),
    THREE_OVER_FOUR: Claim(
        Kind.SHAPE, _three_how, lambda of: of.three().mbit_s / of.broadcom(LARGE).mbit_s
    ),
}
