"""A table of document 002 beside what theory and simulation give for each of its cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

from sealift.lab.boards.board import CARDS, COPIES, REQUESTS, Board, Constants, Spot
from sealift.lab.published import Comparison, Kind, Printed, counted, table
from sealift.lab.result import Found, Origin, Verified
from sealift.lab.spec import Axis, Computed, Context, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value


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

    def arm(self, cell: Cell, _: Context) -> Computed:
        """Computes a cell."""
        spot = Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))
        published = self.board.published[spot]
        analysed, simulated = self.board.analysed(spot), self.board.simulated(spot)
        facts: dict[str, float] = {
            PUBLISHED: published,
            ANALYSIS: analysed,
            f"{ANALYSIS}, error in %": 100 * (analysed / published - 1),
            SIMULATION: simulated.mbit_s,
            f"{SIMULATION}, error in %": 100 * (simulated.mbit_s / published - 1),
            **self._other(spot),
            "bound, Mbit/s": self.board.bound(spot),
            "of the rated speed, %": 100 * simulated.mbit_s / self.board.rated_mbit_s / CARDS,
            "bus busy, %": 100 * simulated.bus_share,
            "host busy, %": 100 * simulated.host_share,
            "of that copying, %": 100 * simulated.copy_share,
            "interrupts/s": simulated.interrupts_per_s,
            "interrupts a request": simulated.interrupts_per_request,
            "bytes written a byte": simulated.writes_per_byte,
        }
        return Computed({name: _kept(value) for name, value in facts.items()})

    def published(self, found: Found) -> Sequence[Comparison]:
        """Each cell beside the simulation, with the analysis in its note."""
        known = {_spot(each.cell): each for each in found.verified if each.facts}
        return [self._cell(spot, known.get(spot), found) for spot in self.board.published]

    def says(self, found: Found) -> str:
        """How far analysis and simulation are off, once every cell was computed."""
        every = [each.facts for each in found.verified if each.facts]
        if len(every) < len(self.board.published):
            return ""
        fitted = self.board.constants
        named = [f"{fitted.host_us:.1f} us of the host", f"{fitted.card_us:.1f} us of the card"]
        if not self.board.is_rated:
            named.append(f"{fitted.rate_mbit_s:.0f} Mbit/s of a card")
        told = [
            f"exact mean-value analysis with {len(named)} fitted numbers ({', '.join(named)}) is "
            f"off by {_errors(every, ANALYSIS)}",
            f"the simulation with the same numbers by {_errors(every, SIMULATION)}",
        ]
        others = [facts for facts in every if OTHERS[self.board.is_rated] in facts]
        return f"{'; '.join([*told, self._said_of_others(others)])}."

    def _said_of_others(self, others: Sequence[Mapping[str, Value]]) -> str:
        error = _errors(others, OTHERS[self.board.is_rated])
        if self.board.is_rated:
            return f"fitted on 1 and 32 threads alone, it is off by {error} on the other rows"
        alone = self.board.published[Spot(1, 8_192)]
        return (
            f"with the vendor's {self.board.rated_mbit_s:.0f} Mbit/s and two copies, so with two "
            f"fitted numbers, it is off by {error}, because one thread alone was measured at "
            f"{alone} Mbit/s with the time for set-up and copies inside, so that a card is faster "
            "than it is rated, and because 32 threads are held up by memory, which is written "
            "three times a byte"
        )

    def _other(self, spot: Spot) -> dict[str, float]:
        """The second analysis, where there is one."""
        name = OTHERS[self.board.is_rated]
        if self.board.is_rated and spot.threads in ENDS:
            return {}
        published = self.board.published[spot]
        analysed = self.board.analysed(spot, self._others, writes=COPIES)
        return {name: analysed, f"{name}, error in %": 100 * (analysed / published - 1)}

    @cached_property
    def _others(self) -> Constants:
        """Fitted on the ends of a table whose cards are as rated; else as published."""
        if self.board.is_rated:
            return self.board.fit([each for each in self.board.published if each.threads in ENDS])
        return self.board.fit(tuple(self.board.published), as_published=True)

    def _cell(self, spot: Spot, known: Verified | None, found: Found) -> Comparison:
        printed = Printed(
            figure=self.id,
            what=f"{spot.threads} thread{'s' * (spot.threads > 1)}, {spot.buffer_bytes:,} B",
            value=self.board.published[spot],
            unit="Mbit/s",
            source=table(self.board.table)[0]["source"],
            kind=Kind.MODEL,
            origin=Origin.SIMULATED,
        )
        if known is None:
            cell = {THREADS.name: spot.threads, SIZE.name: spot.buffer_bytes}
            return printed.beside(found.why_not(**cell), "not computed")
        analysed, error = known.facts[ANALYSIS], float(known.facts[f"{ANALYSIS}, error in %"])
        note = f"by analysis {format_measure(float(analysed))} Mbit/s ({error:+.1f} %)"
        return printed.beside(counted(float(known.facts[SIMULATION]), of=REQUESTS), note)


def _spot(cell: Cell) -> Spot:
    return Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))


def _errors(every: Sequence[Mapping[str, Value]], name: str) -> str:
    errors = [abs(float(facts[f"{name}, error in %"])) for facts in every]
    return f"{mean(errors):.1f} % on average and {max(errors):.1f} % at most"


def _kept(value: float) -> float:
    """With six significant digits."""
    return float(f"{value:.6g}")


THREADS = Axis("threads", "threads")
SIZE = Axis("buffer_bytes", "buffer, bytes")
PUBLISHED = "published, Mbit/s"
ANALYSIS = "analysis, Mbit/s"
SIMULATION = "simulation, Mbit/s"
# By whether cards work at their rated speed.
OTHERS = {
    True: "analysis fitted on 1 and 32 threads, Mbit/s",
    False: "analysis with published constants, Mbit/s",
}
ENDS = (1, 32)
