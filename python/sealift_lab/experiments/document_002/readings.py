"""Document 002's boards with a part of the model changed: 002-X2 and 002-X3.

002-X2 has each part by itself; on four Broadcom 5820 with the kernel's share of the time, and with
what of it follows from print alone. 002-X3 has the interrupt lines of four Hifn 7751, of which the
document says nothing.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from statistics import fmean
from typing import Any

from sealift_lab.experiments.combinations import grid
from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import (
    BROADCOM,
    CLIENTS,
    HIFN,
    HIFN_ONE_LINE,
    MBIT_S,
    SIZE,
    THREADS,
    Board,
    Spot,
)
from sealift_lab.experiments.document_002.claims import EACH_CASE, LARGE, MIDDLE, TABLE
from sealift_lab.experiments.notes import read_legend, texts
from sealift_lab.model.arm import Cell, Computed, Context, Value
from sealift_lab.model.experiment import Axis, Chart, Scope
from sealift_lab.model.published import table_row


def _switch_cells(scope: Scope) -> Iterator[Cell]:
    for board, sizes in (("Broadcom 5820", (LARGE, *EACH_CASE)), ("Hifn 7751", (LARGE, 16))):
        at: Cell = {BOARD.name: board, THREADS.name: CLIENTS}
        yield from grid(scope, at, buffer_bytes=sizes, switch=SWITCHES_OF[board])
    for spot in (Spot(2, 16), Spot(4, 1_024), Spot(CLIENTS, 1_024)):
        yield from grid(scope, {BOARD.name: "Hifn 7751", **spot.cell}, switch=(THEORY,))


def _switch_arm(cell: Cell, context: Context) -> Computed:
    board, spot, switch = BOARDS[str(cell[BOARD.name])], Spot.parse(cell), str(cell[SWITCH.name])
    if switch == PRINT:
        return Computed.rounded(_by_print(spot))
    changes = SWITCHES[switch]
    if switch == THEORY:
        fitted = board.constants
        changes = {**changes, "request_us": fitted.host_us, "setup_us": fitted.card_us}
    loads = (partial(board.simulate, spot, **each) for each in (changes, {}))
    changed, usual = boards.simulate(context.seed, *loads)
    facts = boards.means(
        changed,
        *(boards.USER, boards.INTERRUPTED, boards.HOST_BUSY, boards.IDLE, boards.CARDS_BUSY),
        boards.INTERRUPTS,
    )
    for name in (MBIT_S, boards.KERNEL):
        facts |= boards.spread_facts(name, map(boards.FIGURES[name], changed))
    if switch == THEORY:
        analysed = board.analyse(spot)
        facts |= {boards.ANALYSIS: analysed, OFF: 100 * (float(facts[MBIT_S]) / analysed - 1)}
    else:
        facts |= boards.spread_facts(TIMES, boards.speedups(changed, usual))
    return Computed.rounded(facts)


def _by_print(spot: Spot) -> dict[str, Value]:
    """Arithmetic on printed figures: throughput, bandwidth of writes, shares and interrupts."""
    mbit_s = BROADCOM.published[spot]
    per_s = 1e6 * mbit_s / (8 * spot.buffer_bytes)
    names = PRINTED.get(spot.buffer_bytes, ("kernel-time", "5820-small-int-low"))
    kernel, interrupts = (float(table_row(TABLE, claim_id=name)["value"]) for name in names)
    copying = 100 * boards.COPIES * mbit_s / (1_000 * BROADCOM.constant("host.copy_gbit_per_s"))
    user = 1e-4 * BROADCOM.constant("board.user_us") * per_s
    return {
        boards.KERNEL: kernel,
        MBIT_S: mbit_s,
        boards.USER: user,
        boards.INTERRUPTS: interrupts,
        COPIES_ALONE: copying,
        KERNEL_US: 1e4 * (kernel - copying) / per_s,
        INTERRUPT_US: 1e4 * (100 - kernel - user) / interrupts,
    }


BOARD, SWITCH = Axis("board", "board"), Axis("switch", "part that is changed")
BOARDS = {"Broadcom 5820": BROADCOM, "Hifn 7751": HIFN}
UNCHANGED, THEORY, PRINT = "as in the tables", "host and cards alone", "print alone"
OWN_LINES, ONE_LINE, THREE = "a line for each card", "one line for all cards", "three cards"
IN_TURN, FIRST = "completions in turn", "each completion first"
COPIES_FIRST = "copies never wait"
SWITCHES: Mapping[str, Mapping[str, Any]] = {
    UNCHANGED: {},
    OWN_LINES: {"line_cards": 1},
    ONE_LINE: {"line_cards": boards.CARDS},
    IN_TURN: {"order": boards.IN_TURN},
    FIRST: {"order": boards.COMPLETIONS_FIRST},
    THREE: {"cards": 3},
    "no chained requests": {"chain_requests": 1},
    "no limit of the bus": {"has_bus": False},
    "no wait for memory": {"memory": boards.UNLIMITED},
    COPIES_FIRST: {"memory": boards.COPIES_FIRST},
    "copies never wait, no chained requests": {
        "memory": boards.COPIES_FIRST,
        "chain_requests": 1,
    },
    # A load long enough for 2 %. All of the host's time is that of requests, by the fit.
    THEORY: {
        "batches": 4_000,
        "law": "all",
        "has_bus": False,
        "memory": boards.UNLIMITED,
        "order": boards.IN_TURN,
        **dict.fromkeys(("user_us", "block_us", "look_us"), 0.0),
    },
    PRINT: {},
}
SWITCHES_OF = {
    "Broadcom 5820": [each for each in SWITCHES if each not in (ONE_LINE, THEORY)],
    "Hifn 7751": [UNCHANGED, ONE_LINE, IN_TURN, FIRST],
}
TIMES, OFF = "times as in the tables", "simulation over analysis, %"
# By size the claims that print the kernel's share and interrupts.
PRINTED = {MIDDLE: ("kernel-time", "5820-8k-int"), LARGE: ("kernel-time-16k", "16k-int")}
COPIES_ALONE = "two copies alone, %"
KERNEL_US = "left for the kernel beside copies, us a request"
INTERRUPT_US = "left for an interrupt at most, us"

SWITCHED = boards.simulated_experiment(
    **texts(__package__, "cards-switches"),
    id="002-X2",
    axes=(BOARD, THREADS, SIZE, SWITCH),
    compare=SWITCH.name,
    cells=_switch_cells,
    arm=_switch_arm,
    charts=tuple(
        Chart(SIZE.name, SWITCH.name, y, title, where={BOARD.name: "Broadcom 5820"}, log_x=True)
        for y, title in (
            (boards.KERNEL, "Time in the kernel"),
            (boards.IDLE, "Time without work for any card"),
        )
    ),
    columns={
        MBIT_S: "Mbit/s",
        TIMES: "times",
        boards.KERNEL: "kernel %",
        boards.USER: "applications %",
        boards.INTERRUPTED: "interrupts %",
        boards.HOST_BUSY: "host busy %",
        boards.IDLE: "no card busy %",
        boards.INTERRUPTS: "interrupts/s",
        COPIES_ALONE: "copies alone %",
        KERNEL_US: "else in kernel us",
        INTERRUPT_US: "an interrupt us",
        OFF: "off %",
    },
    estimated_s=2.5,
    legend=read_legend(__package__, "switches"),
)


def _lines_arm(cell: Cell, context: Context) -> Computed:
    board, changes = READINGS[str(cell[READING.name])]
    spots = board.published
    loads = (partial(board.simulate, spot, **changes) for spot in spots)
    played = dict(zip(spots, boards.simulate(context.seed, *loads), strict=True))
    mbit_s = boards.FIGURES[MBIT_S]
    off = [100 * (fmean(map(mbit_s, each)) / spots[spot] - 1) for spot, each in played.items()]
    small = played[Spot(CLIENTS, 16)]
    over = float(table_row(TABLE, claim_id="small-int")["value"])
    interrupts = [boards.FIGURES[boards.WITH_CLOCKS](each) for each in small]
    facts: dict[str, Value] = {
        "host, us a request": board.played.host_us,
        "card, us a request": board.played.card_us,
        OFF_MEAN: fmean(map(abs, off)),
        OFF_WORST: max(map(abs, off)),
        WITHIN: f"{sum(abs(each) <= TENTH for each in off)} of {len(off)}",
        **boards.spread_facts(SMALL_MBIT_S, map(mbit_s, small)),
        **boards.spread_facts(SMALL_INTERRUPTS, interrupts),
        OF_PRINTED: 100 * fmean(interrupts) / over,
    }
    return Computed.rounded(facts)


READING = Axis("reading", "reading")
# Whose constants were fitted with its own lines, and what differs from that fit.
READINGS: Mapping[str, tuple[Board, Mapping[str, Any]]] = {
    "a line for each chip": (HIFN, {}),
    "one line": (HIFN_ONE_LINE, {}),
    "a line for each chip, fitted as one line": (HIFN_ONE_LINE, {"line_cards": 1}),
    "one line, fitted as a line for each chip": (HIFN, {"line_cards": boards.CARDS}),
    "a line for each chip, fitted as one line, 1 us a query": (
        HIFN_ONE_LINE,
        {"line_cards": 1, "look_us": 1.0},
    ),
}
TENTH = 10.0
OFF_MEAN, OFF_WORST, WITHIN = "off on average, %", "off at most, %", "cells within a tenth"
SMALL_MBIT_S = "16 B and 32 threads, Mbit/s"
SMALL_INTERRUPTS, OF_PRINTED = "interrupts/s there, with clocks", "of 62,000/s, %"

LINES = boards.simulated_experiment(
    **texts(__package__, "cards-lines"),
    id="002-X3",
    axes=(READING,),
    compare=READING.name,
    cells=lambda scope: grid(scope, {}, reading=READINGS),
    arm=_lines_arm,
    columns={
        OFF_MEAN: "off by %",
        OFF_WORST: "worst %",
        WITHIN: "within 10 %",
        SMALL_MBIT_S: "16 B, Mbit/s",
        SMALL_INTERRUPTS: "interrupts/s",
        OF_PRINTED: "of 62,000, %",
    },
    estimated_s=5.0,
    legend=read_legend(__package__, "readings"),
)
