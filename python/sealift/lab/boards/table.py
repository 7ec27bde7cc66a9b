"""A table of document 002 beside what theory and simulation give for each of its cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from statistics import mean

from sealift import Constant
from sealift.lab.boards import drawn, told
from sealift.lab.boards.board import (
    BROADCOM,
    CARDS,
    COPIES,
    HIFN,
    Board,
    Constants,
    Simulated,
    Spot,
)
from sealift.lab.boards.columns import (
    ANALYSIS,
    ANALYSIS_BOUND,
    BOUND,
    ERROR,
    OTHERS,
    PUBLISHED,
    SIMULATION,
    SIZE,
    THREADS,
    Known,
    error,
    known_cells,
    named,
    spot_of,
)
from sealift.lab.boards.seeds import kept, seeds, spread_facts, spread_in
from sealift.lab.facts import why_none
from sealift.lab.published import Comparison, Kind, Place, Printed, point_kind, table
from sealift.lab.queueing import most
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Computed, Context, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart


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
        spot = spot_of(cell)
        published, analysed = self.board.published[spot], self.board.analysed(spot)
        plays = [self.board.simulated(spot, seed=seed) for seed in seeds(context.seed)]

        def over(pick: Callable[[Simulated], float]) -> float:
            return mean(map(pick, plays))

        mbit_s = over(lambda each: each.mbit_s)
        before: dict[str, float] = {
            PUBLISHED: published,
            ANALYSIS: analysed,
            f"{ANALYSIS}, {ERROR}": 100 * (analysed / published - 1),
            ANALYSIS_BOUND: self.board.analysed(spot, solve=most),
        }
        after: dict[str, float] = {
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
        facts |= spread_facts(BOUND, (self.board.bound(spot, each) for each in plays))
        return Computed(facts | {name: kept(value) for name, value in after.items()})

    def published(self, found: Found) -> Sequence[Comparison]:
        """Each cell beside the simulation, with the analysis in its note."""
        known = known_cells(found)
        kinds = self._kinds(known)
        return [self._cell(spot, known, kinds[spot], found) for spot in kinds]

    def says(self, found: Found) -> str:
        """How far analysis and simulation are off and where, once every cell was computed."""
        return told.says(self.board, known_cells(found))

    def misses(self, found: Found) -> Sequence[told.Miss]:
        """What neither model gets of it, and why."""
        return list(told.misses(self.board, known_cells(found)))

    def charts(self, found: Found) -> Sequence[Chart]:
        """For each number of threads the table by buffer size, and the errors of all of them."""
        return drawn.charts(self.board, known_cells(found))

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

    def _other(self, spot: Spot) -> dict[str, Value]:
        """The second analysis, or why there is none."""
        name = OTHERS[self.board.is_rated]
        off = f"{name}, {ERROR}"
        if self.board.is_rated and spot.threads in ENDS:
            return {why_none(each): FITTED_TO for each in (name, off)}
        published = self.board.published[spot]
        analysed = self.board.analysed(spot, self._others, writes=COPIES)
        return {name: kept(analysed), off: kept(100 * (analysed / published - 1))}

    @cached_property
    def _others(self) -> Constants:
        """Fitted on the ends of a table whose cards are as rated; else as published."""
        every = tuple(self.board.published)
        if self.board.is_rated:
            return self.board.fit([each for each in every if each.threads in ENDS])
        return self.board.fit(every, is_rated=True, writes=COPIES)

    def _kinds(self, known: Known) -> dict[Spot, Kind]:
        """What each cell is judged as: among its neighbours, where it stands as published."""
        published = {_place(spot): value for spot, value in self.board.published.items()}
        here = {
            _place(spot): spread_in(facts, SIMULATION).interval for spot, facts in known.items()
        }
        return {
            spot: point_kind(_place(spot), published, here) if spot in known else Kind.MODEL
            for spot in self.board.published
        }

    def _cell(self, spot: Spot, known: Known, kind: Kind, found: Found) -> Comparison:
        printed = Printed(
            figure=self.id,
            what=named(spot),
            value=self.board.published[spot],
            unit="Mbit/s",
            source=table(self.board.table)[0]["source"],
            kind=kind,
            origin=Origin.SIMULATED,
            is_fitted_to=True,
        )
        if spot not in known:
            cell = {THREADS.name: spot.threads, SIZE.name: spot.buffer_bytes}
            return printed.beside(found.why_not(**cell), "not computed")
        facts = known[spot]
        note = f"fitted to this table; {_beside(facts, ANALYSIS, 'by analysis')}"
        if OTHERS[True] in facts:
            held_out = "by analysis that was fitted to 1 and 32 threads alone"
            note += f", {_beside(facts, OTHERS[True], held_out)}"
        if kind is Kind.NUMBER and (why := told.why_off(self.board, spot, known)):
            note += f"; {why}"
        return printed.beside(spread_in(facts, SIMULATION), note)


def _place(spot: Spot) -> Place:
    return astuple(spot)


def _numbers(taken: Constants, board: Board) -> list[tuple[str, float, str]]:
    """Those that were fitted."""
    numbers = [("the host", taken.host_us, "us"), ("the card", taken.card_us, "us")]
    return numbers if board.is_rated else [*numbers, ("a card", taken.rate_mbit_s, "Mbit/s")]


def _writes(writes: int) -> str:
    chosen = "" if writes == COPIES else ", chosen by how it fits"
    return f"the host waiting for {writes} writes a byte{chosen}"


def _how(constant: Constant) -> str:
    if constant.fitted:
        return "fitted"
    return "assumed" if constant.source.startswith("assumed") else "given"


def _beside(facts: Mapping[str, Value], name: str, what: str) -> str:
    return f"{what} {format_measure(float(facts[name]))} Mbit/s ({error(facts, name):+.1f} %)"


ENDS = (1, 32)
FITTED_TO = "fitted to this row"
# Of the description those that the lab fits anew.
REFITTED = ("host.request_us", "card.setup_us")
SLOW, FAST = Table("002-T1", HIFN), Table("002-T2", BROADCOM)
