"""The two tables of document 002 beside exact analysis and simulation: 002-T1, 002-T2."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import ANALYSIS, MBIT_S, SIZE, THREADS, Board, Spot
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Cell, Computed, Context, Value
from sealift_lab.model.experiment import Chart, Experiment, Line
from sealift_lab.model.published import Fact, Kind, Published, table
from sealift_lab.model.results import Origin, Results


@dataclass(frozen=True)
class Table:
    """One of the two tables: its board, and the same with other constants.

    Attributes:
        second: Analysed, too.
        otherwise: Simulated, too: the board as another reading of the document has it.
        more_threads: Computed, too, except in a quick run: rows that the document doesn't print.
    """

    id: str
    board: Board
    second: Board
    second_analysis: str
    otherwise: Board | None = None
    more_threads: tuple[int, ...] = ()

    def experiment(self, name: str, *, estimated_s: float) -> Experiment:
        """The table as an experiment: every cell is analysed and simulated."""
        sizes = dict.fromkeys(spot.buffer_bytes for spot in self.board.published)
        more = [Spot(*each) for each in product(self.more_threads, sizes)]
        return boards.simulated_experiment(
            **texts(__package__, name),
            id=self.id,
            axes=(THREADS, SIZE),
            compare=THREADS.name,
            cells=lambda scope: [
                spot.cell for spot in (*self.board.published, *(() if scope.quick else more))
            ],
            arm=self.arm,
            published=lambda results: [*self.published(results)],
            charts=CHARTS,
            lines=lambda results: [
                Line("analysis", MBIT_S, float(each.facts[ANALYSIS]), Origin.PROJECTED, each.cell)
                for each in results.facts()
            ],
            preferred={THREADS.name: 32, SIZE.name: 16_384},
            columns=COLUMNS | (ONE_LINE_COLUMNS if self.otherwise else {}),
            estimated_s=estimated_s,
        )

    def arm(self, cell: Cell, context: Context) -> Computed:
        """Computes a cell: the analyses, and the mean of simulations with all seeds."""
        spot = Spot.parse(cell)
        every = [each for each in (self.board, self.otherwise) if each]
        loads = [partial(each.simulate, spot) for each in every]
        simulations, *others = boards.simulate(context.seed, *loads)
        bounds = (self.board.bound(spot, each) for each in simulations)
        facts: dict[str, Value] = {
            ANALYSIS: self.board.analyse(spot),
            ANALYSIS_BOUND: self.board.bound(spot),
            **boards.spread_facts(MBIT_S, map(boards.FIGURES[MBIT_S], simulations)),
            **boards.spread_facts(BOUND, bounds),
            **boards.means(simulations, *COUNTS),
        }
        rated_mbit_s = self.board.rated_mbit_s * boards.CARDS
        facts["of the rated speed, %"] = 100 * float(facts[MBIT_S]) / rated_mbit_s
        for each in others:
            facts |= boards.spread_facts(ONE_LINE, map(boards.FIGURES[MBIT_S], each))
        # Where it is fitted to some rows, the second analysis is none of these.
        if not (self.second.fitted_threads and self.second.is_fitted(spot)):
            facts[self.second_analysis] = self.second.analyse(spot)
        if published := self.board.published.get(spot):
            compared = {ANALYSIS, MBIT_S, self.second_analysis, ONE_LINE} & facts.keys()
            facts[PUBLISHED] = published
            for name in sorted(compared):
                facts[f"{name}, {ERROR}"] = 100 * (float(facts[name]) / published - 1)
        return Computed.rounded(facts)

    def published(self, results: Results) -> Iterator[Published]:
        """Each cell beside the simulation, and beside the analysis that wasn't fitted to it."""
        source, every = table(self.board.table)[0]["source"], self.board.published
        ends = {Spot.parse(each.cell): _ends(each.facts) for each in results.facts()}
        fitted = partial(Published, series="published", origin=Origin.SIMULATED, is_fitted=True)
        for spot, mbit_s in every.items():
            kind, here = point_kind(spot, every, ends), Fact(spot.cell, MBIT_S)
            note = NO_REASON if self.board is boards.BROADCOM and spot in NOT_ASCENDING else ""
            printed = (self.id, str(spot), mbit_s, "Mbit/s", source, kind, here, note)
            yield fitted(*printed, at=spot.cell)
        for spot, mbit_s in every.items():
            if not self.second.is_fitted(spot):
                what = f"{spot}, by analysis fitted to 1 and 32 threads alone"
                fact = Fact(spot.cell, self.second_analysis)
                printed = (self.id, what, mbit_s, "Mbit/s", source, Kind.NUMBER, fact, "")
                yield Published(*printed, origin=Origin.PROJECTED)


def point_kind(
    spot: Spot, published: Mapping[Spot, float], here: Mapping[Spot, tuple[float, float]]
) -> Kind:
    """POINT, or NUMBER for a point of a table that has no shape to reproduce.

    A neighbour along an axis lies then otherwise above or below it than was published, with every
    seed: `here` has the least and the most that seeds gave, for the spots that were computed.
    """
    lines = (
        sorted(each for each in published if each.buffer_bytes == spot.buffer_bytes),
        sorted(each for each in published if each.threads == spot.threads),
    )
    for line in lines:
        at = line.index(spot)
        for other in (*line[max(0, at - 1) : at], *line[at + 1 : at + 2]):
            if {spot, other} <= here.keys():
                (least, most), (other_least, other_most) = here[spot], here[other]
                more = published[spot] - published[other]
                if (least > other_most and more <= 0) or (most < other_least and more >= 0):
                    return Kind.NUMBER
    return Kind.POINT


def _ends(facts: Mapping[str, Value]) -> tuple[float, float]:
    # Runs of Sealift 0.1.0 name the ends of a range otherwise: their mean stands for both.
    mean = facts[MBIT_S]
    least, most = (facts.get(f"{MBIT_S}, {end}", mean) for end in ("least", "most"))
    return float(least), float(most)


PUBLISHED, ERROR = "published, Mbit/s", "error in %"
ONE_LINE = "simulation with one interrupt line, Mbit/s"
ANALYSIS_BOUND = "bound of the analysis, Mbit/s"
BOUND = "bound of the simulation, Mbit/s"
COUNTS = (
    *(boards.BUS_BUSY, boards.HOST_BUSY, boards.KERNEL, boards.COPYING, boards.IDLE),
    *(boards.INTERRUPTS, boards.INTERRUPTS_EACH, boards.WRITES, boards.ENCRYPTED),
)
COLUMNS = {
    PUBLISHED: "published",
    ANALYSIS: "analysis",
    f"{ANALYSIS}, {ERROR}": "off by %",
    ANALYSIS_BOUND: "bound",
    MBIT_S: "simulation",
    f"{MBIT_S}, {ERROR}": "off by %",
    BOUND: "bound",
    boards.HOST_BUSY: "host busy %",
    boards.KERNEL: "kernel %",
    boards.INTERRUPTS: "interrupts/s",
}
ONE_LINE_COLUMNS = {ONE_LINE: "one line", f"{ONE_LINE}, {ERROR}": "off by %"}
CHARTS = (
    boards.curves(
        THREADS.name,
        MBIT_S,
        "Throughput by buffer size, published, by analysis and simulated",
        panels=THREADS.name,
    ),
    *(
        Chart(SIZE.name, THREADS.name, f"{y}, {ERROR}", f"Error of the {model}", log_x=True)
        for y, model in ((ANALYSIS, "analysis"), (MBIT_S, "simulation"))
    ),
)
# Where a longer buffer was measured slower than a shorter one.
NOT_ASCENDING = (Spot(1, 8_192), Spot(1, 16_384))
NO_REASON = (
    "one thread was measured slower with 16,384 B than with 8,192 B; the document gives no reason "
    "and no model here has one"
)
ENDS_FITTED = replace(boards.HIFN, fitted_threads=(1, 32))
T1 = Table(
    *("002-T1", boards.HIFN, ENDS_FITTED, "analysis fitted on 1 and 32 threads, Mbit/s"),
    otherwise=boards.HIFN_ONE_LINE,
)
AS_RATED = replace(boards.BROADCOM, is_rated=True, writes=boards.COPIES)
T2 = Table(
    *("002-T2", boards.BROADCOM, AS_RATED, "analysis with published constants, Mbit/s"),
    more_threads=(2, 3, 4),
)

QUAD_HIFN = T1.experiment("cards-quad-hifn", estimated_s=1.5)
FOUR_BROADCOM = T2.experiment("cards-four-broadcom", estimated_s=1.0)
