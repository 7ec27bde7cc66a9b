"""A table of document 002 beside what theory and simulation give for each of its cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from statistics import mean

from sealift import Constant
from sealift.lab.boards.board import CARDS, COPIES, Board, Constants, Simulated, Spot
from sealift.lab.boards.seeds import kept, seeds, spread_facts, spread_in
from sealift.lab.facts import why_none
from sealift.lab.published import Comparison, Kind, Place, Printed, point_kind, table
from sealift.lab.result import Found, Listing, Origin, Verified
from sealift.lab.spec import Axis, Brief, Computed, Context, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


@dataclass(frozen=True)
class Table:
    """One of the two tables as an experiment.

    Attributes:
        id: The document's name for it.
        board: What it was measured on.
    """

    id: str
    board: Board

    def cells(self, scope: Scope) -> Iterable[Cell]:
        """Every cell of the table; none of a quick run, whose answer it doesn't bear on."""
        if scope.quick:
            return ()
        return (
            {THREADS.name: spot.threads, SIZE.name: spot.buffer_bytes}
            for spot in self.board.published
        )

    def arm(self, cell: Cell, context: Context) -> Computed:
        """Computes a cell: the analysis, and the mean of simulations of all seeds."""
        spot = Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))
        published, analysed = self.board.published[spot], self.board.analysed(spot)
        plays = [self.board.simulated(spot, seed=seed) for seed in seeds(context.seed)]

        def over(pick: Callable[[Simulated], float]) -> float:
            return mean(map(pick, plays))

        mbit_s = over(lambda each: each.mbit_s)
        before: dict[str, float] = {
            PUBLISHED: published,
            ANALYSIS: analysed,
            f"{ANALYSIS}, {ERROR}": 100 * (analysed / published - 1),
        }
        after: dict[str, float] = {
            BOUND: over(lambda each: self.board.bound(spot, each)),
            "of the rated speed, %": 100 * mbit_s / self.board.rated_mbit_s / CARDS,
            "bus busy, %": over(lambda each: 100 * each.bus_share),
            "host busy, %": over(lambda each: 100 * each.host_share),
            "of that copying or waiting for memory, %": over(lambda each: 100 * each.copy_share),
            "no card busy, %": over(lambda each: 100 * each.idle_share),
            "interrupts/s": over(lambda each: each.interrupts_per_s),
            "interrupts a request": over(lambda each: each.interrupts_per_request),
            "bytes written a byte": over(lambda each: each.writes_per_byte),
            "messages encrypted and compared": over(lambda each: each.played.encrypted),
        }
        facts: dict[str, Value] = {name: kept(value) for name, value in before.items()}
        facts |= spread_facts(SIMULATION, (each.mbit_s for each in plays))
        facts |= {f"{SIMULATION}, {ERROR}": kept(100 * (mbit_s / published - 1))}
        facts |= self._other(spot)
        return Computed(facts | {name: kept(value) for name, value in after.items()})

    def published(self, found: Found) -> Sequence[Comparison]:
        """Each cell beside the simulation, with the analysis in its note."""
        known = {_spot(each.cell): each for each in found.verified if each.facts}
        kinds = self._kinds({spot: each.facts for spot, each in known.items()})
        return [self._cell(spot, known.get(spot), kinds[spot], found) for spot in kinds]

    def says(self, found: Found) -> str:
        """How far analysis and simulation are off and where, once every cell was computed."""
        known = {_spot(each.cell): each.facts for each in found.verified if each.facts}
        if len(known) < len(self.board.published):
            return ""
        every = list(known.values())
        told = [
            f"{self.board.named}: exact mean-value analysis with "
            f"{_fitted(self.board.constants, self.board)} is off by {_errors(every, ANALYSIS)}",
            f"the simulation{self._same_or_own()} by {_errors(every, SIMULATION)}",
        ]
        others = [facts for facts in every if OTHERS[self.board.is_rated] in facts]
        told.append(self._said_of_others(others))
        worst = max(known, key=lambda spot: abs(_error(known[spot], SIMULATION)))
        return f"{'; '.join(told)}. {self._missed(worst, known[worst])}"

    def charts(self, found: Found) -> Sequence[Chart]:
        """For each number of threads the table by buffer size, and the errors of all of them."""
        known = {_spot(each.cell): each.facts for each in found.verified if each.facts}
        threads = dict.fromkeys(spot.threads for spot in known)
        throughputs = [self._throughput(count, known) for count in threads]
        errors = [self._errors(name, known) for name in (ANALYSIS, SIMULATION)]
        return [*throughputs, *errors] if known else []

    def listings(self, _: Found) -> Sequence[Listing]:
        """What was put into analysis and simulation, each number with its source."""
        board = self.board
        given = [
            (each.name, f"{each.value:g} {each.unit}".strip(), _how(each), each.source)
            for each in board.description.constants
            if each.name not in REFITTED
        ]
        kinds = [("analysis", board.constants, board.writes)]
        if board.writes != COPIES:
            kinds.append(("simulation", board.played_constants, COPIES))
        here = f"by squares of relative errors over the {len(board.published)} cells of the table"
        fitted = [
            (f"{what}: {name}", f"{value:.4g} {unit}", "fitted", f"{here}, {_writes(writes)}")
            for what, taken, writes in kinds
            for name, value, unit in _numbers(taken, board)
        ]
        columns = ("constant", "value", "how", "source")
        return [Listing("What was put in, and where it comes from", columns, [*fitted, *given])]

    def _same_or_own(self) -> str:
        if self.board.writes == COPIES:
            return " with the same numbers"
        return (
            f", with {_fitted(self.board.played_constants, self.board)} of its own because it "
            "plays what cards write beside the host,"
        )

    def _missed(self, worst: Spot, facts: Mapping[str, Value]) -> str:
        """What no model here gets, and why."""
        told = (
            "Both were fitted to this very table. The simulation is off most with "
            f"{_named(worst)}, by {_error(facts, SIMULATION):+.1f} %"
        )
        if self.board.is_rated:
            first, second = (self._byte_ns(32, *sizes) for sizes in ((16, 256), (256, 1_024)))
            copied = 8 * COPIES / self.board.constant("host.copy_gbit_per_s")
            return (
                f"{told}: with 32 threads the document's requests take {first:.0f} ns more for "
                f"each byte from 16 to 256 B and {second:.0f} from there to 1,024 B, two copies "
                f"take {copied:.1f}, and a host is one line here."
            )
        chosen = "That the host waits for three writes in the analysis was chosen by its fit."
        if not self._not_in_order(worst):
            return f"{told}. {chosen}"
        return f"{told}: {self._not_in_order(worst)}. {chosen}"

    def _not_in_order(self, spot: Spot) -> str:
        """Why a cell stands otherwise among its neighbours than published, where that is known."""
        if self.board.is_rated or spot not in (Spot(1, 8_192), Spot(1, LARGEST)):
            return ""
        least, most = (self.board.published[Spot(1, size)] for size in (LARGEST, 8_192))
        return (
            f"one thread was measured at {least} Mbit/s with 16,384 B and at {most} with 8,192 B, "
            "for which the document gives no reason and no model here has one"
        )

    def _byte_ns(self, threads: int, small: int, large: int) -> float:
        """What each byte between two sizes adds to the time from one request to the next."""
        published = self.board.published
        first_ns, last_ns = (
            8_000 * size / published[Spot(threads, size)] for size in (small, large)
        )
        return (last_ns - first_ns) / (large - small)

    def _throughput(self, threads: int, known: Mapping[Spot, Mapping[str, Value]]) -> Chart:
        points = [
            Point(spot.buffer_bytes, float(facts[name]), None, None, series, origin)
            for series, (name, origin) in LINES.items()
            for spot, facts in known.items()
            if spot.threads == threads
        ]
        title = f"{self.board.named}, {threads} thread{'s' * (threads > 1)}"
        labels = Labels(title, SIZE.title, "Mbit/s", "", x_is_size=True)
        return Chart(points, labels, Scales(log_x=True, log_y=True))

    def _errors(self, name: str, known: Mapping[Spot, Mapping[str, Value]]) -> Chart:
        points = [
            Point(
                spot.buffer_bytes,
                _error(facts, name),
                None,
                None,
                f"{spot.threads} thread{'s' * (spot.threads > 1)}",
                ORIGINS[name],
            )
            for spot, facts in known.items()
        ]
        what = name.partition(",")[0]
        title = f"{self.board.named}: how far the {what} is off"
        labels = Labels(title, SIZE.title, ERROR, "threads", x_is_size=True)
        return Chart(points, labels, Scales(log_x=True))

    def _said_of_others(self, others: Sequence[Mapping[str, Value]]) -> str:
        error = _errors(others, OTHERS[self.board.is_rated])
        if self.board.is_rated:
            return f"fitted on 1 and 32 threads alone, analysis is off by {error} on the other rows"
        alone = self.board.published[Spot(1, 8_192)]
        faster = self.board.constants.rate_mbit_s > self.board.rated_mbit_s
        why = f"one thread alone was measured at {alone} Mbit/s, set-up and copies included"
        return (
            f"with the vendor's {self.board.rated_mbit_s:.0f} Mbit/s and two copies, so with two "
            f"fitted numbers, analysis is off by {error}"
            + (f", because {why}, so that a card is faster than it is rated" if faster else "")
            + ", and because 32 threads are held up by memory, written three times a byte; a "
            f"faster card alone leaves {self._left(self.board.played_constants, COPIES)}, three "
            f"writes alone {self._left(self._rated, self.board.writes)}"
        )

    def _left(self, constants: Constants, writes: int) -> str:
        """The mean error of an analysis, in words."""
        errors = [
            abs(self.board.analysed(spot, constants, writes=writes) / published - 1)
            for spot, published in self.board.published.items()
        ]
        return f"{100 * mean(errors):.1f} %"

    @cached_property
    def _rated(self) -> Constants:
        """Fitted with cards as they are rated, and as many writes as the board has."""
        return self.board.fit(tuple(self.board.published), is_rated=True)

    def _other(self, spot: Spot) -> dict[str, Value]:
        """The second analysis, or why there is none."""
        name = OTHERS[self.board.is_rated]
        error = f"{name}, {ERROR}"
        if self.board.is_rated and spot.threads in ENDS:
            return {why_none(each): FITTED_TO for each in (name, error)}
        published = self.board.published[spot]
        analysed = self.board.analysed(spot, self._others, writes=COPIES)
        return {name: kept(analysed), error: kept(100 * (analysed / published - 1))}

    @cached_property
    def _others(self) -> Constants:
        """Fitted on the ends of a table whose cards are as rated; else as published."""
        every = tuple(self.board.published)
        if self.board.is_rated:
            return self.board.fit([each for each in every if each.threads in ENDS])
        return self.board.fit(every, is_rated=True, writes=COPIES)

    def _kinds(self, known: Mapping[Spot, Mapping[str, Value]]) -> dict[Spot, Kind]:
        """What each cell is judged as: among its neighbours, where it stands as published."""
        published = {_place(spot): value for spot, value in self.board.published.items()}
        here = {_place(spot): float(facts[SIMULATION]) for spot, facts in known.items()}
        return {
            spot: point_kind(_place(spot), published, here) if spot in known else Kind.MODEL
            for spot in self.board.published
        }

    def _cell(self, spot: Spot, known: Verified | None, kind: Kind, found: Found) -> Comparison:
        printed = Printed(
            figure=self.id,
            what=_named(spot),
            value=self.board.published[spot],
            unit="Mbit/s",
            source=table(self.board.table)[0]["source"],
            kind=kind,
            origin=Origin.SIMULATED,
        )
        if known is None:
            cell = {THREADS.name: spot.threads, SIZE.name: spot.buffer_bytes}
            return printed.beside(found.why_not(**cell), "not computed")
        note = f"fitted to this table; {_beside(known.facts, ANALYSIS, 'by analysis')}"
        if OTHERS[self.board.is_rated] in known.facts and self.board.is_rated:
            held_out = "by analysis that was fitted to 1 and 32 threads alone"
            note += f", {_beside(known.facts, OTHERS[True], held_out)}"
        if kind is Kind.NUMBER and (why := self._not_in_order(spot)):
            note += f"; {why}"
        return printed.beside(spread_in(known.facts, SIMULATION), note)


def _spot(cell: Cell) -> Spot:
    return Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))


def _place(spot: Spot) -> Place:
    return astuple(spot)


def _named(spot: Spot) -> str:
    return f"{spot.threads} thread{'s' * (spot.threads > 1)}, {spot.buffer_bytes:,} B"


def _fitted(taken: Constants, board: Board) -> str:
    numbers = [f"{value:.3g} {unit} of {name}" for name, value, unit in _numbers(taken, board)]
    return f"{len(numbers)} fitted numbers ({', '.join(numbers)})"


def _numbers(taken: Constants, board: Board) -> list[tuple[str, float, str]]:
    """Those that were fitted."""
    numbers = [("the host", taken.host_us, "us"), ("the card", taken.card_us, "us")]
    return numbers if board.is_rated else [*numbers, ("a card", taken.rate_mbit_s, "Mbit/s")]


def _writes(writes: int) -> str:
    return f"the host waiting for {writes} writes a byte"


def _how(constant: Constant) -> str:
    if constant.fitted:
        return "fitted"
    return "assumed" if constant.source.startswith("assumed") else "given"


def _error(facts: Mapping[str, Value], name: str) -> float:
    return float(facts[f"{name}, {ERROR}"])


def _errors(every: Sequence[Mapping[str, Value]], name: str) -> str:
    errors = [abs(_error(facts, name)) for facts in every]
    return f"{mean(errors):.1f} % on average and {max(errors):.1f} % at most"


def _beside(facts: Mapping[str, Value], name: str, what: str) -> str:
    return f"{what} {format_measure(float(facts[name]))} Mbit/s ({_error(facts, name):+.1f} %)"


THREADS = Axis("threads", "threads")
SIZE = Axis("buffer_bytes", "buffer, bytes")
PUBLISHED = "published, Mbit/s"
ANALYSIS = "analysis, Mbit/s"
SIMULATION = "simulation, Mbit/s"
BOUND = "bound, Mbit/s"
ERROR = "error in %"
ORIGINS = {ANALYSIS: Origin.PROJECTED, SIMULATION: Origin.SIMULATED}
LINES = {
    "published": (PUBLISHED, Origin.PUBLISHED),
    "analysis": (ANALYSIS, Origin.PROJECTED),
    "simulation": (SIMULATION, Origin.SIMULATED),
}
# By whether cards work at their rated speed.
OTHERS = {
    True: "analysis fitted on 1 and 32 threads, Mbit/s",
    False: "analysis with published constants, Mbit/s",
}
ENDS = (1, 32)
FITTED_TO = "fitted to this row"
LARGEST = 16_384
BRIEF = Brief(
    {
        PUBLISHED: "published",
        ANALYSIS: "analysis",
        f"{ANALYSIS}, {ERROR}": "off by %",
        SIMULATION: "simulation",
        f"{SIMULATION}, {ERROR}": "off by %",
        BOUND: "bound",
        "host busy, %": "host busy %",
        "interrupts/s": "interrupts/s",
    }
)
# Of the description those that the lab fits anew.
REFITTED = ("host.request_us", "card.setup_us")
