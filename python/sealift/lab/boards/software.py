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


def said(every: Sequence[Beside]) -> Iterator[str]:
    """Up to what size to keep messages on the CPU, and what software costs beyond, and why."""
    pays = [each for each in every if each.effect is Effect.PAYS]
    costs = [each for each in every if each.effect is Effect.COSTS]
    if pays:
        best = max(pays, key=lambda each: each.times.median)
        yield (
            f"keep messages on the CPU {_kept(every)}: software beside the cards does up to "
            f"{best.times.median:.1f} times as much there ({_at(best)})"
        )
    if costs:
        worst = min(costs, key=lambda each: each.times.median)
        yield (
            f"give longer ones to the cards alone: software costs up to "
            f"{100 * (1 - worst.times.median):.0f} % of what they do ({_at(worst)}), because it "
            "works in the time of the host that feeds them, and the cost model takes what is "
            "soonest for one batch and doesn't see what that keeps from the others"
        )


def _kept(every: Sequence[Beside]) -> str:
    """`up to 16 B with software at 13 Mbit/s, 64 B at 39 and 128 B at 79`."""
    told = [
        f"{upto:,} B at {rate:.0f} Mbit/s" if upto else f"never at {rate:.0f} Mbit/s"
        for rate in SOFTWARE.values()
        if (upto := _pays_up_to(_own(every, rate))) is not None
    ]
    return f"up to {', '.join(told[:-1])} and {told[-1]}" if told[1:] else f"up to {told[0]}"


def _pays_up_to(own: Sequence[Beside]) -> int | None:
    """The largest size below which it pays with every seed; 0 without one, None for no cells."""
    upto = 0
    for each in own:
        if each.effect is not Effect.PAYS:
            break
        upto = each.size_bytes
    return upto if own else None


def _own(every: Sequence[Beside], rate: float) -> Sequence[Beside]:
    return [each for each in every if each.rate_mbit_s == rate]


def _at(each: Beside) -> str:
    return f"{each.size_bytes:,} B at {each.rate_mbit_s:.0f} Mbit/s"


def keeping(every: Sequence[Beside]) -> Listing:
    """Up to what size software pays, a row for each speed of it."""
    rows = []
    for rate in SOFTWARE.values():
        own = _own(every, rate)
        upto = _pays_up_to(own)
        costs = next((each.size_bytes for each in own if each.effect is Effect.COSTS), None)
        rows.append(
            (
                f"{rate:.4g}",
                f"{upto:,}" if upto else "none",
                _range([each for each in own if each.effect is Effect.PAYS]),
                f"{costs:,}" if costs else "none",
                _range([each for each in own if each.effect is Effect.COSTS]),
                f"{alike_bytes(rate):.0f}",
            )
        )
    columns = (
        "software, Mbit/s",
        "keep on the CPU up to, bytes",
        "times the cards alone there",
        "it costs from, bytes",
        "times the cards alone from there",
        "handing over takes the host as long at, bytes",
    )
    return Listing("What to keep on the CPU", columns, rows, columns)


def _range(those: Sequence[Beside]) -> str:
    """`1.24 to 4.80`; "" of none."""
    means = [each.times.median for each in those]
    return (
        " to ".join(dict.fromkeys(f"{end:.2f}" for end in (min(means), max(means))))
        if means
        else ""
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
