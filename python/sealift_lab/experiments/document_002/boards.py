"""The two boards of document 002: printed tables, exact analysis, and event-by-event simulation.

Published figures, analysis and simulation stay apart. Nothing here is measured.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial, reduce
from math import factorial, inf, isclose
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from sealift_lab.model.arm import Cell, Value, WrongResultError
from sealift_lab.model.experiment import Axis, Chart, Experiment
from sealift_lab.model.published import table
from sealift_lab.model.results import Origin

if TYPE_CHECKING:
    from sealift_lab._lab import Card, PlayedBoard

CARDS = 4
Population = tuple[int, ...]
"""How many clients each card has, the most first."""


class Spot(NamedTuple):
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


class Constants(NamedTuple):
    """Of a request: host time without copies, card time without its bytes; a card's rate."""

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
        played: The constants of the simulation, which `refit` leaves as they are, to 3 %; fits of
            the analysis begin there.
        line_cards: How many cards share an interrupt line, each of which an interrupt queries.
        fitted_threads: The rows of the table that constants are fitted to; empty for all.
    """

    title: str
    card: str
    table: str
    is_rated: bool
    writes: int
    played: Constants
    line_cards: int
    fitted_threads: tuple[int, ...] = ()

    @cached_property
    def published(self) -> Mapping[Spot, float]:
        """Mbit/s by cell, as printed."""
        return {
            Spot(int(row["threads"]), int(row["buffer_bytes"])): float(row["throughput"])
            for row in table(self.table)
        }

    def constant(self, name: str) -> float:
        """A number of its card's description, in its unit there."""
        constants = described_cards()[self.card].constants
        return next(each.value for each in constants if each.name == name)

    @property
    def rated_mbit_s(self) -> float:
        """Rate of one card by its vendor."""
        return 1_000 * self.constant("card.rate_gbit_per_s")

    def is_fitted(self, spot: Spot) -> bool:
        """Whether the constants were fitted to this cell."""
        return not self.fitted_threads or spot.threads in self.fitted_threads

    @cached_property
    def constants(self) -> Constants:
        """Of the analysis, with the least squares of relative errors over the cells fitted to."""
        taken = self.played
        if self.is_rated:
            taken = taken._replace(rate_mbit_s=self.rated_mbit_s)
        before = taken
        for _ in range(FIT_STEPS):
            before, taken = taken, self.fit_step(self.analyse, taken, step=1e-4)
        has_ended = all(map(partial(isclose, rel_tol=FIT_ENDS), before, taken))
        assert has_ended, f"{self.title}: the fit's last step led from {before} to {taken}"
        return taken

    def refit(self) -> Constants:
        """Those of the simulation after one more step from `played`.

        Steps of 4 % are taken for slopes, because shorter ones are lost in the order of events.
        """

        def mbit_s(spot: Spot, taken: Constants) -> float:
            (simulations,) = simulate(1, partial(replace(self, played=taken).simulate, spot))
            return float(means(simulations, MBIT_S)[MBIT_S])

        return self.fit_step(mbit_s, self.played, step=0.06)

    def fit_step(
        self, mbit_s: Callable[[Spot, Constants], float], taken: Constants, *, step: float
    ) -> Constants:
        """A step of Gauss and Newton to the least squares of relative errors.

        It goes by logarithms to the base 2, because all constants lie above 0; slopes are taken
        between one `step` more and one less.
        """
        import numpy as np

        spots = [*filter(self.is_fitted, self.published)]
        # Those behind are rated.
        fitted, rated = (taken[:2], taken[2:]) if self.is_rated else (taken, ())

        def scaled(factors: Any) -> Constants:
            return Constants(*map(float, np.array(fitted) * 2.0**factors), *rated)

        def errors(factors: Any) -> Any:
            tried = scaled(factors)
            return np.array([mbit_s(spot, tried) / self.published[spot] - 1 for spot in spots])

        steps = np.eye(len(fitted)) * step
        slopes = [(errors(each) - errors(-each)) / (2 * step) for each in steps]
        return scaled(np.linalg.lstsq(np.transpose(slopes), -errors(0 * steps[0]))[0])

    def analyse(self, spot: Spot, constants: Constants | None = None) -> float:
        """Mbit/s by theory; with the fitted constants when left out."""
        return self._solve(throughput, spot, constants or self.constants)

    def bound(self, spot: Spot, played: "PlayedBoard | None" = None) -> float:
        """Mbit/s that no order of events can beat; with the host times that a simulation drew."""
        if played is None:
            return self._solve(bound, spot, self.constants)
        drawn_us = (played.host_ns - played.copy_ns) / 1_000 / played.batches
        # Copies and card times are whole nanoseconds there, rounded by half of one at most.
        taken, rounded_us = self.played, 0.000_5
        drawn = Constants(
            drawn_us - COPIES * rounded_us, taken.card_us - rounded_us, taken.rate_mbit_s
        )
        # Cards' writes are the simulation's own.
        return replace(self, writes=COPIES)._solve(bound, spot, drawn)

    def _solve(
        self, solve: Callable[[float, float, Population], float], spot: Spot, taken: Constants
    ) -> float:
        bits = 8 * spot.buffer_bytes
        write_mbit_s = 1_000 * self.constant("host.copy_gbit_per_s")
        host_us = taken.host_us + self.writes * bits / write_mbit_s
        card_us = taken.card_us + bits / taken.rate_mbit_s
        return bits * solve(host_us, card_us, spread(spot.threads, CARDS))

    def simulate(self, spot: Spot, *, cards: int = CARDS, **changes: Any) -> "PlayedBoard":
        """A load of closed clients, played event by event with the engine's scheduler.

        `cards` work each at the board's rate; `changes` are arguments of `_lab.play_board` that
        differ, as `order="in turn"`. The fitted time of the host holds a request's interrupt with
        this board's `line_cards`; another number of them changes that of an interrupt alone.
        """
        taken = self.played
        named: dict[str, float] = {
            name: changes.get(name, self.constant(f"board.{name}"))
            for name in ("user_us", "block_us", "look_us")
        }
        apart_us = named["user_us"] + named["block_us"] + self.line_cards * named["look_us"]
        arguments: dict[str, object] = {
            "clients": spot.threads,
            "messages": 1,
            "message_bytes": spot.buffer_bytes,
            "batches": REQUESTS,
            "policy": None,
            "seed": 1,
            "request_us": taken.host_us - apart_us,
            **named,
            "line_cards": self.line_cards,
            "setup_us": taken.card_us,
            "rates_gbit_per_s": (taken.rate_mbit_s / 1_000,) * cards,
            "software_gbit_per_s": None,
            "first_dies_at_us": None,
            "law": "host",
            "has_bus": True,
            "memory": IN_ORDER,
            "order": ROUNDS,
            "chain_requests": int(self.constant("board.chain_requests")),
            "messages_per_request": 1,
        }
        assert changes.keys() <= arguments.keys(), f"no such argument in {', '.join(changes)}"
        return _play(self.card, tuple({**arguments, **changes}.items()))


@cache
def _play(card: str, arguments: tuple[tuple[str, object], ...]) -> "PlayedBoard":
    from sealift_lab._lab import play_board

    played = play_board(described_cards()[card], dict(arguments))
    if played.lost:
        raise WrongResultError(f"{played.lost:,} batches were lost, and {played.batches:,} not")
    return played


@cache
def described_cards() -> "Mapping[str, Card]":
    """The cards that come described with Sealift, by name."""
    from sealift_lab._lab import cards

    return {card.name: card for card in cards()}


def seeds(first: int) -> Sequence[int]:
    """The seeds of a run: its own and those behind it."""
    return [(first + more) % 2**64 for more in range(SEEDS)]


def simulate(
    first_seed: int, *loads: "Callable[..., PlayedBoard]"
) -> "Sequence[Sequence[PlayedBoard]]":
    """Loads with each seed of a run, on all cores: a simulation leaves the GIL."""
    with ThreadPoolExecutor() as pool:
        tasks = [[pool.submit(load, seed=each) for each in seeds(first_seed)] for load in loads]
        return [[task.result() for task in each] for each in tasks]


def means(simulations: Sequence["PlayedBoard"], *names: str) -> dict[str, Value]:
    """Some of `FIGURES` as facts: their means over seeds."""
    return {name: fmean(map(FIGURES[name], simulations)) for name in names}


def spread_facts(name: str, values: Iterable[float]) -> dict[str, Value]:
    """One value a seed as facts: their mean under this name, and the ends of their range."""
    every = list(values)
    return {name: fmean(every), f"{name}, least": min(every), f"{name}, most": max(every)}


def speedups(ones: Sequence["PlayedBoard"], others: Sequence["PlayedBoard"]) -> Iterator[float]:
    """How many times as fast ones are as others, seed by seed."""
    of = FIGURES[MBIT_S]
    return (of(one) / of(other) for one, other in zip(ones, others, strict=True))


def spread(clients: int, cards: int) -> Population:
    """Clients on cards, as evenly as possible: the result of "fewest sessions" on equal cards."""
    return tuple((clients + cards - 1 - card) // cards for card in range(cards))


def throughput(host_us: float, card_us: float, clients: Population) -> float:
    """Requests a microsecond of all clients, exactly, for exponential service in order of arrival.

    A client hands a request to the host, waits for its card, and begins anew; each client keeps to
    one card. So the network has a product form with a class of clients for each card. Buzen's
    convolution (1973) sums it up, and gives what the recursion of mean-value analysis (Reiser and
    Lavenberg, 1980) gives. A request has one demand on the host, and one above 0 on its card.
    """
    one_less = (
        (*clients[:card], count - 1, *clients[card + 1 :])
        for card, count in enumerate(clients)
        if count
    )
    whole, *parts = (
        sum(orders * (host_us / card_us) ** at_host for at_host, orders in enumerate(_orders(each)))
        for each in (clients, *one_less)
    )
    return sum(parts) / whole / card_us


@cache
def _orders(clients: Population) -> tuple[float, ...]:
    """In how many orders clients can stand at the host, by how many stand there."""
    import numpy as np

    shares = ([1 / factorial(at_host) for at_host in range(count + 1)] for count in clients)
    product = reduce(np.convolve, shares, np.ones(1))
    return tuple(float(share) * factorial(at_host) for at_host, share in enumerate(product))


def bound(host_us: float, card_us: float, clients: Population) -> float:
    """Requests a microsecond at most: min(N / (host + card), 1 / host, cards / card)."""
    cards = sum(count > 0 for count in clients)
    alone = sum(clients) / (host_us + card_us)
    return min(alone, 1 / host_us if host_us else inf, cards / card_us if card_us else inf)


THREADS = Axis("threads", "threads")
SIZE = Axis("buffer_bytes", "buffer, bytes")
simulated_experiment = partial(Experiment, operation="request", origin=Origin.SIMULATED, weight=0.2)
curves = partial(Chart, SIZE.name, log_x=True, log_y=True)
# Fits end 1e-6 apart or less, from `played` and from the far starts of tests; one with a longer
# last step has not ended.
FIT_STEPS, FIT_ENDS = 12, 1e-6
COPIES = 2
IN_ORDER, COPIES_FIRST, UNLIMITED = "in order", "copies first", "unlimited"
ROUNDS, COMPLETIONS_FIRST, IN_TURN = "rounds", "completions first", "in turn"
SEEDS = 3
# Most threads of both tables, and enough rounds of them that the ends of a load are little of it.
CLIENTS, REQUESTS = 32, 640

# Text is counted once.
ANALYSIS, MBIT_S = "analysis, Mbit/s", "simulation, Mbit/s"
BUS_BUSY, HOST_BUSY = "bus busy, %", "host busy, %"
COPYING = "of that copying or waiting for memory, %"
KERNEL, INTERRUPTED, USER = "in the kernel, %", "in interrupts, %", "in applications, %"
IDLE, CARDS_BUSY = "no card busy, %", "cards busy, %"
INTERRUPTS, INTERRUPTS_EACH = "interrupts/s", "interrupts a request"
WITH_CLOCKS, CLOCKS_HZ = "interrupts/s, with clocks", 228
"""With those of the host's two clocks, as the document counts them."""
WRITES, ENCRYPTED = "bytes written a byte", "messages encrypted and compared"
FIGURES: "Mapping[str, Callable[[PlayedBoard], float]]" = {
    MBIT_S: lambda played: 8_000 * played.payload_bytes / played.span_ns,
    BUS_BUSY: lambda played: 100 * played.bus_ns / played.span_ns,
    HOST_BUSY: lambda played: 100 * played.host_ns / played.span_ns,
    COPYING: lambda played: 100 * played.copy_ns / played.host_ns,
    KERNEL: lambda played: (
        100 * (played.host_ns - played.interrupt_ns - played.user_ns) / played.span_ns
    ),
    INTERRUPTED: lambda played: 100 * played.interrupt_ns / played.span_ns,
    USER: lambda played: 100 * played.user_ns / played.span_ns,
    IDLE: lambda played: 100 * played.idle_ns / played.span_ns,
    CARDS_BUSY: lambda played: 100 * fmean(played.card_ns[:CARDS]) / played.span_ns,
    INTERRUPTS: lambda played: 1e9 * played.interrupts / played.span_ns,
    WITH_CLOCKS: lambda played: FIGURES[INTERRUPTS](played) + CLOCKS_HZ,
    INTERRUPTS_EACH: lambda played: played.interrupts / played.batches,
    WRITES: lambda played: played.written_bytes / played.payload_bytes,
    ENCRYPTED: lambda played: played.encrypted,
}
HIFN = Board(
    "Four Hifn 7751",
    "quad-hifn-7751",
    "002-T1-quad-hifn7751",
    is_rated=True,
    writes=COPIES,
    played=Constants(18.58, 20.83, 83.0),
    line_cards=1,
)
# The document says that the four 5820 share a line and is silent about this board.
HIFN_ONE_LINE = replace(HIFN, played=Constants(18.49, 21.03, 83.0), line_cards=CARDS)
BROADCOM = Board(
    "Four Broadcom 5820",
    "four-broadcom-5820",
    "002-T2-four-5820",
    is_rated=False,
    writes=3,
    played=Constants(13.43, 11.03, 382.3),
    line_cards=CARDS,
)
