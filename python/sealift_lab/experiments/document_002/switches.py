"""The boards with one part of the model changed, and theory beside a load that it fits: 002-X2."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from sealift_lab.experiments.document_002.board import (
    BROADCOM,
    HIFN,
    SIZE,
    THREADS,
    Board,
    Simulation,
    Spot,
    rounded,
    seeds,
    spread_facts,
)
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Switch:
    """A part of the model that is otherwise than in the tables.

    Attributes:
        changes: Arguments of a simulated board that differ.
        boards: The boards that it is played on.
        cards: How many cards there are, each at the board's rate.
    """

    changes: Mapping[str, object]
    boards: tuple[Board, ...] = (BROADCOM,)
    cards: int = 4

    def simulate(self, board: Board, spot: Spot, seed: int) -> Simulation:
        """The load with this part changed."""
        rates = (board.simulated_constants.rate_mbit_s / 1_000,) * self.cards
        return board.simulate(spot, seed=seed, rates_gbit_per_s=rates, **self.changes)


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for board in (BROADCOM, HIFN):
        for size in SIZES:
            for name, switch in SWITCHES.items():
                if board in switch.boards and name != THEORY:
                    yield _cell(board, Spot(32, size), name)
    for spot in THEORY_SPOTS:
        yield _cell(HIFN, spot, THEORY)


def _cell(board: Board, spot: Spot, switch: str) -> Cell:
    return {BOARD.name: _name(board), **spot.cell, SWITCH.name: switch}


def _arm(cell: Cell, context: Context) -> Computed:
    """Simulates the load with a part changed, and without, for each seed."""
    board = next(each for each in (BROADCOM, HIFN) if _name(each) == cell[BOARD.name])
    spot, name = Spot.parse(cell), str(cell[SWITCH.name])
    changed, usual = (
        [SWITCHES[each].simulate(board, spot, seed) for seed in seeds(context.seed)]
        for each in (name, UNCHANGED)
    )
    facts = spread_facts(MBIT_S, (each.mbit_s for each in changed))
    if name == THEORY:
        analysed = board.analyse(spot)
        off = 100 * (fmean(each.mbit_s for each in changed) / analysed - 1)
        facts |= {ANALYSIS: rounded(analysed), OFF: rounded(off)}
        facts |= {f"{TIMES}, why none": "no part of it alone is off"}
    else:
        pairs = zip(changed, usual, strict=True)
        facts |= spread_facts(TIMES, (one.mbit_s / other.mbit_s for one, other in pairs))
        facts |= {f"{each}, why none": "inexact" for each in (ANALYSIS, OFF)}
    counts: dict[str, Value] = {
        HOST_BUSY: rounded(fmean(100 * each.host_share for each in changed)),
        IDLE: rounded(fmean(100 * each.idle_share for each in changed)),
        INTERRUPTS: rounded(fmean(each.interrupts_per_s for each in changed)),
    }
    return Computed(facts | counts)


def _name(board: Board) -> str:
    return board.title.removeprefix("Four ")


BOARD, SWITCH = Axis("board", "board"), Axis("switch", "part that is changed")
MBIT_S, TIMES = "simulation, Mbit/s", "times as in the tables"
ANALYSIS, OFF = "analysis, Mbit/s", "simulation over analysis, %"
HOST_BUSY, IDLE, INTERRUPTS = "host busy, %", "no card busy, %", "interrupts/s"
SIZES = (16, 16_384)
THEORY_SPOTS = (Spot(2, 16), Spot(4, 1_024), Spot(32, 1_024))
UNCHANGED, THEORY = "as in the tables", "host and cards alone"
OWN_LINES, IN_TURN, THREE = "a line for each card", "completions in turn", "three cards"
SWITCHES: Mapping[str, Switch] = {
    UNCHANGED: Switch({}, (BROADCOM, HIFN)),
    OWN_LINES: Switch({"shares_line": False}, (BROADCOM, HIFN)),
    IN_TURN: Switch({"completions_first": False}, (BROADCOM, HIFN)),
    THREE: Switch({}, cards=3),
    "no chained requests": Switch({"chain_requests": 1}),
    "no limit of the bus": Switch({"has_bus": False}),
    "no wait for memory": Switch({"shares_memory": False}),
    # A load long enough for 2 %.
    THEORY: Switch(
        {
            "batches": 4_000,
            "law": "all",
            "has_bus": False,
            "shares_memory": False,
            "completions_first": False,
            "look_us": 0.0,
        },
        (HIFN,),
    ),
}

EXPERIMENT = Experiment(
    name="cards-switches",
    id="002-X2",
    title="Each part of the model by itself: interrupt line, convoy, three cards, bus and memory",
    question="How much do the same 32 threads get where one part of the model is off, and does the "
    "simulation agree with theory where all parts are off that theory doesn't have?",
    axes=(BOARD, THREADS, SIZE, SWITCH),
    compare=SWITCH.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    columns={MBIT_S: "Mbit/s", TIMES: "times", IDLE: "cards idle %", OFF: "off %"},
    origin=Origin.SIMULATED,
    weight=0.2,
    estimated_s=1.0,
    legend={
        OWN_LINES: "document 002: separate lines did not significantly improve throughput",
        IN_TURN: "document 002: with completions first the queue almost drains before applications "
        "issue requests again",
        THREE: "document 002: with 16,384 B three 5820 did more than four",
        "no chained requests": "document 002: fewer interrupts than requests, which chaining gives",
        "no limit of the bus": "document 002: 38 % of the bus in use",
        "no wait for memory": "document 002: three writes a byte use up what memory takes",
    },
    notes=read_notes(__package__, "model", "switches"),
)
