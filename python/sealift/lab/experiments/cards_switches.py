"""What each part of the model does: the boards with one of them off, and theory beside all off."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from sealift.lab.boards import (
    BROADCOM,
    HIFN,
    SEEDS,
    SIZE,
    THREADS,
    Board,
    Spot,
    kept,
    model,
    seeds,
    spread_facts,
    spread_in,
)
from sealift.lab.boards.switches import (
    AS_PLAYED,
    CLIENTS,
    EXPONENTIAL,
    IN_TURN,
    OWN_LINES,
    SIZES,
    SWITCHES,
    THEORY,
    THEORY_SPOTS,
    THREE,
)
from sealift.lab.facts import why_none
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
from sealift.lab.values import Cell, Value

Key = tuple[str, int, int, str]
"""Board, threads, bytes and switch of a cell."""


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for board in (BROADCOM, HIFN):
        for size in SIZES:
            for name, switch in SWITCHES.items():
                if board in switch.on:
                    yield _cell(board, Spot(CLIENTS, size), name)
    for spot in THEORY_SPOTS:
        yield _cell(HIFN, spot, THEORY)


def _cell(board: Board, spot: Spot, switch: str) -> Cell:
    return {
        BOARD.name: _name(board),
        THREADS.name: spot.threads,
        SIZE.name: spot.buffer_bytes,
        SWITCH.name: switch,
    }


def _arm(cell: Cell, context: Context) -> Computed:
    """Plays the load with a part otherwise, and without, for each seed."""
    board = next(each for each in (BROADCOM, HIFN) if _name(each) == cell[BOARD.name])
    spot = Spot(int(cell[THREADS.name]), int(cell[SIZE.name]))
    name = str(cell[SWITCH.name])
    switch = EXPONENTIAL if name == THEORY else SWITCHES[name]
    plays = [switch.asked(board, spot, seed) for seed in seeds(context.seed)]
    facts = spread_facts(MBIT_S, (each.mbit_s for each in plays))
    if name == THEORY:
        analysed = board.analysed(spot)
        facts |= {why_none(TIMES): "no part of it alone is off"}
        facts |= {ANALYSIS: kept(analysed)}
        facts |= {OFF: kept(100 * (fmean(each.mbit_s for each in plays) / analysed - 1))}
    else:
        bases = [SWITCHES[AS_PLAYED].asked(board, spot, seed) for seed in seeds(context.seed)]
        pairs = zip(plays, bases, strict=True)
        facts |= spread_facts(TIMES, (one.mbit_s / other.mbit_s for one, other in pairs))
        facts |= {why_none(each): NOT_EXACT for each in (ANALYSIS, OFF)}
    facts |= {
        HOST_BUSY: kept(fmean(100 * each.host_share for each in plays)),
        IDLE: kept(fmean(100 * each.idle_share for each in plays)),
        INTERRUPTS: kept(fmean(each.interrupts_per_s for each in plays)),
    }
    if switch.says:
        facts |= {SAYS: switch.says}
    else:
        facts |= {why_none(SAYS): "nothing"}
    return Computed(facts)


def _says(found: Found) -> str:
    """What the switches that the document speaks of do, and how far theory is met."""
    known = {_key(each.cell): each.facts for each in found.verified if each.facts}
    if len(known) < len(list(_cells(FULL))):
        return ""
    large = {name: _times(known, name, SIZES[-1]) for name in (OWN_LINES, IN_TURN, THREE)}
    small = _times(known, OWN_LINES, SIZES[0])
    off = [abs(float(facts[OFF])) for facts in known.values() if OFF in facts]
    return (
        f"With {SIZES[-1]:,} B messages over four Broadcom 5820 an interrupt line for each card "
        f"does {large[OWN_LINES]} times as much as one for all (but {small} times with "
        f"{SIZES[0]} B, where requests, and so interrupts, are many), completions in turn "
        f"{large[IN_TURN]} times as much as completions first, and three cards {large[THREE]} "
        "times as much as four. With host and cards alone and exponential times, which is what "
        "mean-value analysis is exact for, the simulation is off by "
        f"{max(off):.1f} % at most of {len(off)} loads."
    )


def _times(known: Mapping[Key, Mapping[str, Value]], switch: str, size: int) -> str:
    facts = known[_name(BROADCOM), CLIENTS, size, switch]
    return f"{spread_in(facts, TIMES).interval.median:.3f}"


def _name(board: Board) -> str:
    return board.named.removeprefix("Four ")


def _key(cell: Cell) -> Key:
    return (
        str(cell[BOARD.name]),
        int(cell[THREADS.name]),
        int(cell[SIZE.name]),
        str(cell[SWITCH.name]),
    )


BOARD, SWITCH = Axis("board", "board"), Axis("switch", "what is otherwise")
FULL = Scope(quick=False, cores=1, devices=())
MBIT_S, TIMES = "simulation, Mbit/s", "times as in the tables"
ANALYSIS, OFF = "analysis, Mbit/s", "simulation over analysis, %"
HOST_BUSY, IDLE, INTERRUPTS = "host busy, %", "no card busy, %", "interrupts/s"
SAYS = "what document 002 says"
NOT_EXACT = "inexact"

EXPERIMENT = Experiment(
    name="cards-switches",
    id="002-X2",
    title="What each part of the model does: interrupt line, convoy, three cards, bus and memory",
    why="What becomes of the same 32 threads where one part of the model is off, and does the "
    "simulation agree with theory where all parts are that theory doesn't have?",
    axes=(BOARD, THREADS, SIZE, SWITCH),
    compare=SWITCH.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    says=_says,
    weight=0.2,
    order=4,
    origin=Origin.SIMULATED,
    takes_s=1.0,
    stands_on=(
        *model.ANALYSED,
        "Quotients of a part otherwise and as in the tables are taken seed by seed, of loads with "
        f"the same draws; brackets hold the least and the most of {SEEDS} seeds.",
    ),
    brief=Brief(
        {
            MBIT_S: "Mbit/s",
            TIMES: "times",
            IDLE: "cards idle %",
            OFF: "off %",
        }
    ),
)
