"""What the cells of both tables have: axes, columns, and how they are read again."""

from collections.abc import Mapping, Sequence
from statistics import mean

from sealift.lab.boards.board import Spot
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief
from sealift.lab.values import Cell, Value

Known = Mapping[Spot, Mapping[str, Value]]
"""Of a table what was computed, by cell."""


def known_cells(found: Found) -> Known:
    """The cells that were computed."""
    return {spot_of(each.cell): each.facts for each in found.verified if each.facts}


def spot_of(cell: Cell) -> Spot:
    """The cell of a table."""
    return Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))


def named(spot: Spot) -> str:
    """`2 threads, 16 B`."""
    return f"{threads_text(spot.threads)}, {spot.buffer_bytes:,} B"


def threads_text(threads: int) -> str:
    """`1 thread`, `2 threads`."""
    return f"{threads} thread{'s' * (threads > 1)}"


def error(facts: Mapping[str, Value], name: str) -> float:
    """How far a column is off what was published, in per cent."""
    return float(facts[f"{name}, {ERROR}"])


def errors_text(every: Sequence[Mapping[str, Value]], name: str) -> str:
    """`4.4 % on average and 10.2 % at most`."""
    errors = [abs(error(facts, name)) for facts in every]
    return f"{mean(errors):.1f} % on average and {max(errors):.1f} % at most"


THREADS = Axis("threads", "threads")
SIZE = Axis("buffer_bytes", "buffer, bytes")
PUBLISHED = "published, Mbit/s"
ANALYSIS = "analysis, Mbit/s"
SIMULATION = "simulation, Mbit/s"
ERROR = "error in %"
ANALYSIS_BOUND = "bound of the analysis, Mbit/s"
BOUND = "bound of the simulation, Mbit/s"
# By whether cards work at their rated speed.
OTHERS = {
    True: "analysis fitted on 1 and 32 threads, Mbit/s",
    False: "analysis with published constants, Mbit/s",
}
ORIGINS = {ANALYSIS: Origin.PROJECTED, SIMULATION: Origin.SIMULATED}
LINES = {
    "published": (PUBLISHED, Origin.PUBLISHED),
    "analysis": (ANALYSIS, Origin.PROJECTED),
    "simulation": (SIMULATION, Origin.SIMULATED),
}
BRIEF = Brief(
    {
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
)
