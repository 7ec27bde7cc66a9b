"""The two boards of document 002: what it printed, what theory says, and what a simulation gives.

Published figures, analysis and simulation keep apart: each has a column of its own. Nothing here
was measured.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sealift import _sealift
from sealift._sealift import Card, PlayedBoard
from sealift.lab.published import table
from sealift.lab.queueing import fitted, most, spread, throughput, throughput_at_once
from sealift.lab.spec import WrongResultError


@dataclass(frozen=True)
class Spot:
    """A cell of a table.

    Attributes:
        threads: Processes, of which each waits for one request at a time.
        buffer_bytes: Of each request.
    """

    threads: int
    buffer_bytes: int


@dataclass(frozen=True)
class Constants:
    """What a request takes.

    Attributes:
        host_us: Of the host, without copies.
        card_us: Of its card, without bytes.
        rate_mbit_s: Of one card, in 10**6 bits a second.
    """

    host_us: float
    card_us: float
    rate_mbit_s: float


@dataclass(frozen=True)
class Board:
    """One of the boards.

    Attributes:
        named: What people call it.
        card: Name of its description.
        table: Name of its published table.
        is_rated: Whether cards work at their rated speed. Where not, that is fitted too.
        writes: How often the host, which does nothing else meanwhile, waits for each byte to be
            written to memory: copied in and out, and where memory is the limit by the card, too.
        near: Where fits begin: about where they end, so that they take few steps.
    """

    named: str
    card: str
    table: str
    is_rated: bool
    writes: int
    near: tuple[float, float, float]

    @cached_property
    def description(self) -> Card:
        """Its card."""
        return next(card for card in _sealift.cards() if card.name == self.card)

    @cached_property
    def published(self) -> Mapping[Spot, float]:
        """Mbit/s by cell, as printed."""
        return {
            Spot(int(row["threads"]), int(row["buffer_bytes"])): float(row["throughput"])
            for row in table(self.table)
        }

    def constant(self, name: str) -> float:
        """A number of its card's description, in that one's unit."""
        return next(each.value for each in self.description.constants if each.name == name)

    @property
    def rated_mbit_s(self) -> float:
        """Of one card."""
        return 1_000 * self.constant("card.rate_gbit_per_s")

    @cached_property
    def constants(self) -> Constants:
        """Fitted to all cells."""
        return self.fit(tuple(self.published))

    @cached_property
    def played_constants(self) -> Constants:
        """What the simulation takes: fitted with two writes a byte, as it plays those of cards."""
        if self.writes == COPIES:
            return self.constants
        return self.fit(tuple(self.published), writes=COPIES)

    def fit(
        self, spots: Sequence[Spot], *, is_rated: bool | None = None, writes: int | None = None
    ) -> Constants:
        """The constants that meet some cells best, by squares of relative errors.

        Args:
            spots: Cells of the table.
            is_rated: Whether cards work at their rated speed; as in the board when left out.
            writes: As in the board when left out.
        """
        rated = self.is_rated if is_rated is None else is_rated

        def made(numbers: Sequence[float]) -> Constants:
            return Constants(numbers[0], numbers[1], self.rated_mbit_s if rated else numbers[2])

        def solved(spot: Spot, constants: Constants) -> float:
            return self.analysed(spot, constants, writes=writes, solve=throughput_at_once)

        def errors(numbers: Sequence[float]) -> list[float]:
            constants = made(numbers)
            return [solved(spot, constants) / self.published[spot] - 1 for spot in spots]

        return made(fitted(errors, self.near[:2] if rated else self.near))

    def analysed(
        self,
        spot: Spot,
        constants: Constants | None = None,
        *,
        cards: int = 4,
        writes: int | None = None,
        solve: Callable[[float, float, tuple[int, ...]], float] = throughput,
    ) -> float:
        """Mbit/s by exact mean-value analysis.

        Args:
            spot: Which cell.
            constants: What a request takes; those fitted to all cells when left out.
            cards: How many.
            writes: As in the board when left out.
            solve: What theory: `most` for the bounds.
        """
        taken = constants or self.constants
        host_us, card_us = self.demands_us(spot.buffer_bytes, taken, writes=writes)
        return 8 * spot.buffer_bytes * solve(host_us, card_us, spread(spot.threads, cards))

    def demands_us(
        self, size_bytes: int, constants: Constants, *, writes: int | None = None
    ) -> tuple[float, float]:
        """What a request needs of the host and of its card, in microseconds."""
        write_mbit_s = 1_000 * self.constant("host.copy_gbit_per_s")
        bits = 8 * size_bytes
        copied_us = (self.writes if writes is None else writes) * bits / write_mbit_s
        return constants.host_us + copied_us, constants.card_us + bits / constants.rate_mbit_s

    def bound(self, spot: Spot, simulated: "Simulated") -> float:
        """Mbit/s that no order of events can beat with what was drawn.

        Copies in and out are the host's alone. Both, and what a card takes, are whole nanoseconds,
        each rounded by half of one at most.

        Args:
            spot: Which cell.
            simulated: Whose times of the host were drawn, which have a mean of their own.
        """
        taken = self.played_constants
        drawn = replace(
            taken,
            host_us=simulated.reckoned_us - COPIES * ROUNDED_US,
            card_us=taken.card_us - ROUNDED_US,
        )
        return self.analysed(spot, drawn, writes=COPIES, solve=most)

    def simulated(self, spot: Spot, **changes: object) -> "Simulated":
        """What the simulation gives.

        Args:
            spot: Which cell.
            changes: Of what `_sealift.play_board` is asked for, as `shares_line=False`.

        Raises:
            WrongResultError: If a request did not come back, or otherwise than it should.
        """
        taken = self.played_constants
        asked: dict[str, object] = {
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
        if unknown := changes.keys() - asked.keys():
            raise ValueError(f"{min(unknown)!r} is nothing that a board is asked for")
        asked |= changes
        played = _played(self.card, tuple(asked.items()))
        if played.lost:
            raise WrongResultError(f"{played.lost:,} of {asked['batches']} batches were lost")
        return Simulated(played, int(str(asked["messages"])), int(str(asked["message_bytes"])))


@dataclass(frozen=True)
class Simulated:
    """What a simulation gave, in the units of the document.

    Attributes:
        played: What became of the load.
        messages: Of each batch.
        message_bytes: Of each text.
    """

    played: PlayedBoard
    messages: int
    message_bytes: int

    @property
    def mbit_s(self) -> float:
        """10**6 bits of text a second, each counted once."""
        bits = 8 * self.message_bytes * self.messages * self.played.batches
        return bits * 1_000 / self.played.span_ns

    @property
    def reckoned_us(self) -> float:
        """Microseconds of the host for a batch, without copies and waits for memory."""
        return (self.played.host_ns - self.played.copy_ns) / 1_000 / self.played.batches

    @property
    def host_share(self) -> float:
        """Share of the time that the host's processor was busy."""
        return self.played.host_ns / self.played.span_ns

    @property
    def copy_share(self) -> float:
        """Share of the host's time that it copied, or waited for memory meanwhile."""
        return self.played.copy_ns / self.played.host_ns

    @property
    def bus_share(self) -> float:
        """Share of the time that the bus carried bytes."""
        return self.played.bus_ns / self.played.span_ns

    @property
    def idle_share(self) -> float:
        """Share of the time that no card had anything to work."""
        return self.played.idle_ns / self.played.span_ns

    @property
    def interrupts_per_s(self) -> float:
        """Interrupts that the host took, without those of its clocks."""
        return self.played.interrupts * 1e9 / self.played.span_ns

    @property
    def interrupts_per_request(self) -> float:
        """Below 1 where cards work several requests in one go."""
        return self.played.interrupts / self.played.batches

    @property
    def writes_per_byte(self) -> float:
        """How often each byte of text was written to memory."""
        return self.played.written_bytes / self.played.payload_bytes


@lru_cache(maxsize=256)
def _played(card: str, asked: tuple[tuple[str, object], ...]) -> PlayedBoard:
    described = next(each for each in _sealift.cards() if each.name == card)
    return _sealift.play_board(described, dict(asked))


CARDS = 4
COPIES = 2
# At most, of what is told in whole nanoseconds.
ROUNDED_US = 0.000_5
# As many rounds of 32 threads as make what begins and ends a load small.
REQUESTS = 640
HIFN = Board(
    "Four Hifn 7751",
    "quad-hifn-7751",
    "002-T1-quad-hifn7751",
    is_rated=True,
    writes=COPIES,
    near=(18.7, 21.0, 83.0),
)
BROADCOM = Board(
    "Four Broadcom 5820",
    "four-broadcom-5820",
    "002-T2-four-5820",
    is_rated=False,
    writes=3,
    near=(13.5, 11.0, 420.0),
)
