"""The two boards of document 002: printed tables, exact analysis, and event-by-event simulation.

Published figures, analysis and simulation stay apart. Nothing here is measured.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from sealift_lab.experiments.document_002.queueing import bound, spread, throughput
from sealift_lab.model.experiment import Axis
from sealift_lab.model.published import table
from sealift_lab.model.sample import WrongResultError
from sealift_lab.model.values import Cell, Value

if TYPE_CHECKING:
    from sealift_lab._lab import Card, PlayedBoard


@dataclass(frozen=True)
class Spot:
    """A cell of a table: threads, each with one request at a time, and the bytes of a request."""

    threads: int
    buffer_bytes: int

    @classmethod
    def parse(cls, cell: Cell) -> "Spot":
        """The spot of an experiment's cell."""
        return cls(int(cell[THREADS.name]), int(cell[SIZE.name]))

    @property
    def cell(self) -> dict[str, Value]:
        """As axes with values."""
        return {THREADS.name: self.threads, SIZE.name: self.buffer_bytes}

    def __str__(self) -> str:
        """`2 threads, 16 B`."""
        return f"{self.threads} thread{'s' * (self.threads > 1)}, {self.buffer_bytes:,} B"


@dataclass(frozen=True)
class Constants:
    """Constants of the cost model.

    Attributes:
        host_us: Host time of a request, without copies.
        card_us: Card time of a request, without its bytes.
        rate_mbit_s: Of one card, in 10**6 bits a second.
    """

    host_us: float
    card_us: float
    rate_mbit_s: float


@dataclass(frozen=True)
class Board:
    """One of the boards.

    Attributes:
        title: For readers.
        card: Name of its description among `sealift.cards()`.
        table: Name of its published table.
        is_rated: Whether cards work at their rated speed; else their rate is fitted, too.
        writes: Memory writes a byte for which the host waits: copied in and out, and where memory
            is the limit, the card's write, too.
        start: Where fits begin.
    """

    title: str
    card: str
    table: str
    is_rated: bool
    writes: int
    start: Constants

    @cached_property
    def published(self) -> Mapping[Spot, float]:
        """Mbit/s by cell, as printed."""
        return {
            Spot(int(row["threads"]), int(row["buffer_bytes"])): float(row["throughput"])
            for row in table(self.table)
        }

    @cached_property
    def description(self) -> "Card":
        """Its card."""
        from sealift_lab._lab import cards

        return next(card for card in cards() if card.name == self.card)

    def constant(self, name: str) -> float:
        """A number of its card's description, in its unit there."""
        return next(each.value for each in self.description.constants if each.name == name)

    @property
    def rated_mbit_s(self) -> float:
        """Rate of one card by its vendor."""
        return 1_000 * self.constant("card.rate_gbit_per_s")

    @cached_property
    def constants(self) -> Constants:
        """Fitted to all cells, for the analysis."""
        return self.fit(self.published)

    @cached_property
    def simulated_constants(self) -> Constants:
        """Fitted with two writes a byte, because the simulation adds the card's writes itself."""
        return self.constants if self.writes == COPIES else self.fit(self.published, writes=COPIES)

    def fit(
        self, spots: Iterable[Spot], *, is_rated: bool | None = None, writes: int | None = None
    ) -> Constants:
        """The constants with the least squares of relative errors over some cells.

        Args:
            spots: Cells of the table.
            is_rated: Whether cards work at their rated speed; as the board's when left out.
            writes: As the board's when left out.
        """
        from scipy.optimize import least_squares  # type: ignore[import-untyped]

        measured = [(spot, self.published[spot]) for spot in spots]
        rated = self.is_rated if is_rated is None else is_rated

        # Of logarithms, because all constants lie above 0.
        def constants(factors: Sequence[float]) -> Constants:
            host, card, *rate = (2.0 ** float(each) for each in factors)
            rate_mbit_s = self.start.rate_mbit_s * rate[0] if rate else self.rated_mbit_s
            return Constants(self.start.host_us * host, self.start.card_us * card, rate_mbit_s)

        def errors(factors: Sequence[float]) -> list[float]:
            taken = constants(factors)
            return [self.analyse(spot, taken, writes=writes) / each - 1 for spot, each in measured]

        return constants(least_squares(errors, [0.0] * (2 if rated else 3), method="lm").x)

    def analyse(
        self,
        spot: Spot,
        constants: Constants | None = None,
        *,
        writes: int | None = None,
        solve: Callable[[float, float, tuple[int, ...]], float] = throughput,
    ) -> float:
        """Mbit/s by theory.

        Args:
            spot: Which cell.
            constants: Those fitted to all cells when left out.
            writes: As the board's when left out.
            solve: `throughput`, or `bound`.
        """
        taken = constants or self.constants
        bits = 8 * spot.buffer_bytes
        write_mbit_s = 1_000 * self.constant("host.copy_gbit_per_s")
        host_us = taken.host_us + (self.writes if writes is None else writes) * bits / write_mbit_s
        card_us = taken.card_us + bits / taken.rate_mbit_s
        return bits * solve(host_us, card_us, spread(spot.threads, CARDS))

    def bound(self, spot: Spot, simulation: "Simulation") -> float:
        """Mbit/s that no order of events can beat with the host times that a simulation drew.

        Copies and card times are whole nanoseconds there, rounded by half of one at most.
        """
        taken = self.simulated_constants
        drawn = replace(
            taken,
            host_us=simulation.reckoned_us - COPIES * ROUNDED_US,
            card_us=taken.card_us - ROUNDED_US,
        )
        return self.analyse(spot, drawn, writes=COPIES, solve=bound)

    def simulate(self, spot: Spot, **changes: object) -> "Simulation":
        """A load of closed clients, played event by event with the engine's scheduler.

        Args:
            spot: Threads and bytes of a request.
            changes: Arguments of `_lab.play_board` that differ, as `shares_line=False`.

        Raises:
            ValueError: If one of them is no argument.
            WrongResultError: If a request was lost.
        """
        taken = self.simulated_constants
        arguments: dict[str, object] = {
            "clients": spot.threads,
            "messages": 1,
            "message_bytes": spot.buffer_bytes,
            "batches": REQUESTS,
            "policy": None,
            "seed": 1,
            "request_us": taken.host_us,
            "setup_us": taken.card_us,
            "look_us": self.constant("board.look_us"),
            "rates_gbit_per_s": (taken.rate_mbit_s / 1_000,) * CARDS,
            "software_gbit_per_s": None,
            "first_dies_at_us": None,
            "law": "host",
            "has_bus": True,
            "shares_memory": True,
            "shares_line": True,
            "completions_first": True,
            "chain_requests": int(self.constant("board.chain_requests")),
            "messages_per_request": 1,
        }
        if unknown := changes.keys() - arguments.keys():
            raise ValueError(
                f"{min(unknown)!r} is no argument of a simulated board; right would be one of "
                f"{', '.join(arguments)}"
            )
        arguments |= changes
        played = _play(self.card, tuple(arguments.items()))
        if played.lost:
            raise WrongResultError(f"{played.lost:,} of {arguments['batches']} batches were lost")
        bits = 8 * int(str(arguments["messages"])) * int(str(arguments["message_bytes"]))
        return Simulation(played, bits)


@dataclass(frozen=True)
class Simulation:
    """Result of a simulation, in the units of the document.

    Attributes:
        played: Counts and times.
        batch_bits: Bits of text of a batch.
    """

    played: "PlayedBoard"
    batch_bits: int

    @property
    def mbit_s(self) -> float:
        """10**6 bits of text a second, each counted once."""
        return self.batch_bits * self.played.batches * 1_000 / self.played.span_ns

    @property
    def reckoned_us(self) -> float:
        """Host time of a batch in microseconds, without copies and waits for memory."""
        return (self.played.host_ns - self.played.copy_ns) / 1_000 / self.played.batches

    @property
    def host_share(self) -> float:
        """Share of the time that the host's processor was busy."""
        return self.played.host_ns / self.played.span_ns

    @property
    def copy_share(self) -> float:
        """Share of the host's time that it copied or waited for memory."""
        return self.played.copy_ns / self.played.host_ns

    @property
    def bus_share(self) -> float:
        """Share of the time that the bus carried bytes."""
        return self.played.bus_ns / self.played.span_ns

    @property
    def idle_share(self) -> float:
        """Share of the time that no card had work."""
        return self.played.idle_ns / self.played.span_ns

    @property
    def cards_share(self) -> float:
        """Share of the time that cards were busy, on average of the first four."""
        return fmean(self.played.card_ns[:CARDS]) / self.played.span_ns

    @property
    def interrupts_per_s(self) -> float:
        """Interrupts that the host took, without those of its clocks."""
        return self.played.interrupts * 1e9 / self.played.span_ns

    @property
    def interrupts_per_request(self) -> float:
        """Below 1 where cards chain requests."""
        return self.played.interrupts / self.played.batches

    @property
    def writes_per_byte(self) -> float:
        """How often each byte of text was written to memory."""
        return self.played.written_bytes / self.played.payload_bytes


def seeds(first: int) -> Sequence[int]:
    """The seeds of a run: its own and those behind it."""
    return [(first + more) % 2**64 for more in range(SEEDS)]


def spread_facts(name: str, values: Iterable[float]) -> dict[str, Value]:
    """One value a seed as facts: their mean under this name, and the ends of their range."""
    every = list(values)
    facts = {name: fmean(every), f"{name}, least": min(every), f"{name}, most": max(every)}
    return {each: rounded(value) for each, value in facts.items()}


def rounded(value: float) -> float:
    """With six significant digits."""
    return float(f"{value:.6g}")


@cache
def _play(card: str, arguments: tuple[tuple[str, object], ...]) -> "PlayedBoard":
    from sealift_lab import _lab

    described = next(each for each in _lab.cards() if each.name == card)
    return _lab.play_board(described, dict(arguments))


THREADS = Axis("threads", "threads")
SIZE = Axis("buffer_bytes", "buffer, bytes")
CARDS = 4
COPIES = 2
SEEDS = 3
# At most, of times in whole nanoseconds.
ROUNDED_US = 0.000_5
# Enough rounds of 32 threads that the ends of a load are little of it.
REQUESTS = 640
HIFN = Board(
    "Four Hifn 7751",
    "quad-hifn-7751",
    "002-T1-quad-hifn7751",
    is_rated=True,
    writes=COPIES,
    start=Constants(18.7, 21.0, 83.0),
)
BROADCOM = Board(
    "Four Broadcom 5820",
    "four-broadcom-5820",
    "002-T2-four-5820",
    is_rated=False,
    writes=3,
    start=Constants(13.5, 11.0, 420.0),
)
