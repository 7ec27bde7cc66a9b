"""Software beside the cards: where it pays, where it costs, and why, in sentences and a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sealift.lab.boards.questions import (
    CARDS_BUSY,
    HOST_US,
    QUESTIONS,
    SOFTWARE,
    SOFTWARE_US,
    TIMES,
    alike_bytes,
)
from sealift.lab.boards.seeds import SEEDS, spread_in
from sealift.lab.result import Listing
from sealift.lab.stats import Interval, least_told
from sealift.lab.units import format_estimate, format_measure
from sealift.lab.values import Value

Facts = Mapping[tuple[int, str], Mapping[str, Value]]
"""Of cells, by the size of their messages and what is asked."""


class Effect(StrEnum):
    """What software does to a pool of cards, with every seed."""

    PAYS = "pays"
    COSTS = "costs"
    NEITHER = "neither with every seed"


@dataclass(frozen=True)
class Beside:
    """Software of one speed beside the cards.

    Attributes:
        size_bytes: Of each message.
        rate_mbit_s: Of the software.
        facts: Of the load with it.
        alone: Of the same load on the cards alone.
    """

    size_bytes: int
    rate_mbit_s: float
    facts: Mapping[str, Value]
    alone: Mapping[str, Value]

    @property
    def times(self) -> Interval:
        """How many times as much is done with it; the ends of all seeds."""
        return spread_in(self.facts, TIMES).interval

    @property
    def effect(self) -> Effect:
        """Whether it pays; what two simulations have to differ by with every seed is 2 %."""
        if self.times.low > 1 + least_told(0.0):
            return Effect.PAYS
        return Effect.COSTS if self.times.high < 1 - least_told(0.0) else Effect.NEITHER

    @property
    def why(self) -> str:
        """What it does to the host, and to the cards, which the host has to feed."""
        host = f"a message takes the host {self._was(HOST_US)} us"
        if self.effect is Effect.PAYS:
            return host
        one_us = format_measure(8 * self.size_bytes / self.rate_mbit_s)
        return (
            f"{host}, {format_measure(float(self.facts[SOFTWARE_US]))} of them to encrypt; cards "
            f"are busy for {self._was(CARDS_BUSY)} %: while the host encrypts a message, for "
            f"{one_us} us, it hands nothing over"
        )

    def _was(self, name: str) -> str:
        now, before = (format_measure(float(each[name])) for each in (self.facts, self.alone))
        return f"{now} in place of {before}"


def beside(cells: Facts) -> Sequence[Beside]:
    """Every speed of software with every size that was played with it."""
    return [
        Beside(size, rate, cells[size, name], cells[size, QUESTIONS[name].base])
        for name, rate in SOFTWARE.items()
        for size in QUESTIONS[name].sizes
        if {(size, name), (size, QUESTIONS[name].base)} <= cells.keys()
    ]


def at_most(every: Sequence[Beside]) -> str:
    """What it brings at most, and what it costs, for behind a sentence of what else there is."""
    gains = [each.times.median for each in every if each.effect is Effect.PAYS]
    costs = [1 - each.times.low for each in every if each.effect is Effect.COSTS]
    parts = [
        f"does up to {max(gains):.1f} times as much for small ones" if gains else "",
        f"costs up to {100 * max(costs):.0f} % with larger ones" if costs else "",
    ]
    told = " and ".join(filter(None, parts))
    return f"; software beside the cards {told}" if told else ""


def said(every: Sequence[Beside]) -> Iterator[str]:
    """By speed where it pays and where it costs; then how much at most, why, and what to do."""
    for rate in SOFTWARE.values():
        own = [each for each in every if each.rate_mbit_s == rate]
        parts = [_range(each, own) for each in (Effect.PAYS, Effect.COSTS)]
        yield (
            f"with software at {rate:.0f} Mbit/s beside the cards, which takes the host less time "
            f"than handing over below {alike_bytes(rate):.0f} B, the board does "
            f"{' but '.join(filter(None, parts)) or 'as much as without'}"
        )
    costly = [each for each in every if each.effect is Effect.COSTS]
    if costly:
        yield _costs(min(costly, key=lambda each: each.times.low))


def _range(effect: Effect, every: Sequence[Beside]) -> str:
    """`1.24 to 4.80 times as much up to 64 B`; "" where there is none."""
    those = [each for each in every if each.effect is effect]
    if not those:
        return ""
    means = [each.times.median for each in those]
    ends = dict.fromkeys(f"{value:.2f}" for value in (min(means), max(means)))
    return f"{' to '.join(ends)} times as much {_where(those, every)}"


def _where(those: Sequence[Beside], every: Sequence[Beside]) -> str:
    """`up to 64 B`, `from 128 B on`, or each size."""
    if those == every[: len(those)]:
        return f"up to {those[-1].size_bytes:,} B"
    if those == every[-len(those) :]:
        return f"from {those[0].size_bytes:,} B on"
    return f"at {', '.join(f'{each.size_bytes:,}' for each in those)} B"


def _costs(worst: Beside) -> str:
    times = worst.times
    return (
        f"so software costs up to {100 * (1 - times.low):.0f} % of what the cards do alone "
        f"({worst.size_bytes:,} B at {worst.rate_mbit_s:.0f} Mbit/s: "
        f"{format_estimate(times.median, times.low, times.high)} times, least and most of {SEEDS} "
        f"seeds), because it works in the time of the host that feeds them: {worst.why}. The cost "
        "model takes what is soonest for one batch and doesn't see what that keeps from the "
        "others: keep messages on the CPU up to the sizes where it pays, and give larger ones to "
        "the cards alone"
    )


def listing(every: Sequence[Beside]) -> Listing:
    """A row for each speed and size."""
    rows = [
        (
            f"{each.rate_mbit_s:.4g}",
            f"{each.size_bytes:,}",
            format_estimate(each.times.median, each.times.low, each.times.high),
            each.effect.value,
            each.why,
        )
        for each in every
    ]
    columns = ("software, Mbit/s", "message, bytes", "times the cards alone", "software", "why")
    return Listing(TITLE, columns, rows, columns[:3])


TITLE = f"Where software beside the cards pays and where it costs; in brackets {SEEDS} seeds"
