"""The two tables of document 002 beside exact analysis and simulation: 002-T1, 002-T2."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from sealift_lab.experiments.document_002.board import (
    BROADCOM,
    CARDS,
    COPIES,
    HIFN,
    SIZE,
    THREADS,
    Board,
    Constants,
    Simulation,
    Spot,
    rounded,
    seeds,
    spread_facts,
)
from sealift_lab.experiments.document_002.queueing import bound
from sealift_lab.experiments.document_002.shape import point_kind
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Fact
from sealift_lab.model.published import Kind, Published, table
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Table:
    """One of the two tables as an experiment.

    Attributes:
        id: The document's name for it.
        board: The board it was measured on.
        second_analysis: The fact of an analysis with other constants.
    """

    id: str
    board: Board
    second_analysis: str

    def experiment(self, name: str, *, title: str, question: str, estimated_s: float) -> Experiment:
        """The table as an experiment: every cell is analysed and simulated."""
        return Experiment(
            name=name,
            id=self.id,
            title=title,
            question=question,
            axes=(THREADS, SIZE),
            compare=THREADS.name,
            cells=self.cells,
            arm=self.arm,
            operation="request",
            published=self.published,
            charts=CHARTS,
            lines=self.lines,
            preferred={THREADS.name: 32, SIZE.name: 16_384},
            columns=COLUMNS,
            origin=Origin.SIMULATED,
            weight=0.2,
            estimated_s=estimated_s,
            notes=read_notes(__package__, "model", self.board.card),
        )

    def cells(self, scope: Scope) -> Iterable[Cell]:
        """Every cell of the table; none in a quick run, whose answer it doesn't bear on."""
        return () if scope.quick else (spot.cell for spot in self.board.published)

    def arm(self, cell: Cell, context: Context) -> Computed:
        """Computes a cell: the analyses, and the mean of simulations with all seeds."""
        spot = Spot.parse(cell)
        published, analysed = self.board.published[spot], self.board.analyse(spot)
        simulations = [self.board.simulate(spot, seed=seed) for seed in seeds(context.seed)]
        mbit_s = fmean(each.mbit_s for each in simulations)
        bounds = (self.board.bound(spot, each) for each in simulations)
        facts: dict[str, Value] = {
            PUBLISHED: published,
            ANALYSIS: rounded(analysed),
            f"{ANALYSIS}, {ERROR}": rounded(100 * (analysed / published - 1)),
            ANALYSIS_BOUND: rounded(self.board.analyse(spot, solve=bound)),
            **spread_facts(SIMULATION, (each.mbit_s for each in simulations)),
            f"{SIMULATION}, {ERROR}": rounded(100 * (mbit_s / published - 1)),
            **self._second(spot),
            **spread_facts(BOUND, bounds),
            "of the rated speed, %": rounded(100 * mbit_s / self.board.rated_mbit_s / CARDS),
        }
        for name, pick in COUNTS.items():
            facts[name] = rounded(fmean(map(pick, simulations)))
        return Computed(facts)

    def published(self, results: Results) -> Sequence[Published]:
        """Each cell beside the simulation, and beside the analysis that wasn't fitted to it."""
        return [*self._beside_simulation(results), *self._held_out()]

    def lines(self, results: Results) -> Sequence[Line]:
        """The analysis beside the simulation."""
        return [
            Line("analysis", SIMULATION, float(each.facts[ANALYSIS]), Origin.PROJECTED, each.cell)
            for each in results.facts()
        ]

    def _beside_simulation(self, results: Results) -> Iterator[Published]:
        known = {Spot.parse(each.cell): each.facts for each in results.facts()}
        ends = {spot: _ends(facts) for spot, facts in known.items()}
        for spot in self.board.published:
            yield self._printed(
                spot,
                str(spot),
                kind=point_kind(spot, self.board.published, ends),
                here=Fact(spot.cell, SIMULATION),
                note=NO_REASON if not self.board.is_rated and spot in NOT_ASCENDING else "",
                is_fitted=True,
            )

    def _held_out(self) -> Iterator[Published]:
        for spot in filter(self._is_held_out, self.board.published):
            yield self._printed(
                spot,
                f"{spot}, by analysis fitted to 1 and 32 threads alone",
                kind=Kind.NUMBER,
                here=Fact(spot.cell, self.second_analysis),
                origin=Origin.PROJECTED,
            )

    def _printed(
        self,
        spot: Spot,
        what: str,
        *,
        kind: Kind,
        here: Fact,
        note: str = "",
        origin: Origin = Origin.SIMULATED,
        is_fitted: bool = False,
    ) -> Published:
        return Published(
            figure=self.id,
            what=what,
            value=self.board.published[spot],
            unit="Mbit/s",
            source=table(self.board.table)[0]["source"],
            kind=kind,
            here=here,
            note=note,
            series="published" if is_fitted else "",
            at=spot.cell if is_fitted else {},
            origin=origin,
            is_fitted=is_fitted,
        )

    def _second(self, spot: Spot) -> dict[str, Value]:
        """The second analysis; not of cells that it was fitted to."""
        if self.board.is_rated and not self._is_held_out(spot):
            names = (self.second_analysis, f"{self.second_analysis}, {ERROR}")
            return {f"{name}, why none": "fitted to this row" for name in names}
        published = self.board.published[spot]
        analysed = self.board.analyse(spot, self._second_constants, writes=COPIES)
        error = rounded(100 * (analysed / published - 1))
        return {
            self.second_analysis: rounded(analysed),
            f"{self.second_analysis}, {ERROR}": error,
        }

    def _is_held_out(self, spot: Spot) -> bool:
        return self.board.is_rated and spot.threads not in FITTED_THREADS

    @cached_property
    def _second_constants(self) -> Constants:
        """Fitted to the ends of a table whose cards are as rated; else with the rated speed."""
        if self.board.is_rated:
            ends = [spot for spot in self.board.published if not self._is_held_out(spot)]
            return self.board.fit(ends)
        return self.board.fit(self.board.published, is_rated=True, writes=COPIES)


def _ends(facts: Mapping[str, Value]) -> tuple[float, float]:
    # Runs of Sealift 0.1.0 name the ends of a range otherwise: their mean stands for both.
    mean = facts[SIMULATION]
    least, most = (facts.get(f"{SIMULATION}, {end}", mean) for end in ("least", "most"))
    return float(least), float(most)


PUBLISHED = "published, Mbit/s"
ANALYSIS = "analysis, Mbit/s"
SIMULATION = "simulation, Mbit/s"
ERROR = "error in %"
ANALYSIS_BOUND = "bound of the analysis, Mbit/s"
BOUND = "bound of the simulation, Mbit/s"
COUNTS: Mapping[str, Callable[[Simulation], float]] = {
    "bus busy, %": lambda each: 100 * each.bus_share,
    "host busy, %": lambda each: 100 * each.host_share,
    "of that copying or waiting for memory, %": lambda each: 100 * each.copy_share,
    "no card busy, %": lambda each: 100 * each.idle_share,
    "interrupts/s": lambda each: each.interrupts_per_s,
    "interrupts a request": lambda each: each.interrupts_per_request,
    "bytes written a byte": lambda each: each.writes_per_byte,
    "messages encrypted and compared": lambda each: each.played.encrypted,
}
COLUMNS = {
    PUBLISHED: "published",
    ANALYSIS: "analysis",
    f"{ANALYSIS}, {ERROR}": "off by %",
    ANALYSIS_BOUND: "bound",
    SIMULATION: "simulation",
    f"{SIMULATION}, {ERROR}": "off by %",
    BOUND: "bound",
    "host busy, %": "host busy %",
    "interrupts/s": "interrupts/s",
}
CHARTS = (
    Chart(
        x=SIZE.name,
        series=THREADS.name,
        y=SIMULATION,
        title="Throughput by buffer size, published, by analysis and simulated",
        panels=THREADS.name,
        log_x=True,
        log_y=True,
    ),
    *(
        Chart(
            x=SIZE.name,
            series=THREADS.name,
            y=f"{model}, {ERROR}",
            title=f"Error of the {model.partition(',')[0]}",
            log_x=True,
        )
        for model in (ANALYSIS, SIMULATION)
    ),
)
FITTED_THREADS = (1, 32)
# Where a longer buffer was measured slower than a shorter one.
NOT_ASCENDING = (Spot(1, 8_192), Spot(1, 16_384))
NO_REASON = (
    "one thread was measured slower with 16,384 B than with 8,192 B; the document gives no reason "
    "and no model here has one"
)
T1 = Table("002-T1", HIFN, "analysis fitted on 1 and 32 threads, Mbit/s")
T2 = Table("002-T2", BROADCOM, "analysis with published constants, Mbit/s")

QUAD_HIFN = T1.experiment(
    "cards-quad-hifn",
    title="3DES over a board of four Hifn 7751: published, by analysis, and simulated",
    question="How well do a shared host, four chips at their rated speed and two fitted numbers "
    "give the thirty figures of 2003?",
    estimated_s=2.0,
)
FOUR_BROADCOM = T2.experiment(
    "cards-four-broadcom",
    title="3DES over four Broadcom 5820: published, by analysis, and simulated",
    question="With cards nearly four times as fast, is it still their speed that counts, or the "
    "memory and the host that they share?",
    estimated_s=0.8,
)
