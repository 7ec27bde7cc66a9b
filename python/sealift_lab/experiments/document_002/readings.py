"""How document 002 can be read, each reading simulated: 002-X3 and 002-X4.

002-X3 has the interrupt lines of four Hifn 7751, of which the document says nothing. 002-X4 has
the kernel's share of the time on four Broadcom 5820: what follows from print alone, and what each
order of the host and each way to share memory gives.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any

from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import (
    BROADCOM,
    HIFN,
    HIFN_ONE_LINE,
    MBIT_S,
    SIZE,
    Board,
    Spot,
)
from sealift_lab.experiments.document_002.claims import CLOCKS_HZ, EACH_CASE, LARGE, TABLE, THREADS
from sealift_lab.experiments.notes import read_legend, texts
from sealift_lab.model.arm import Cell, Computed, Context, Value
from sealift_lab.model.experiment import Axis, Chart, Scope
from sealift_lab.model.published import table_row


@dataclass(frozen=True)
class Reading:
    """Interrupt lines of the Hifn board.

    Attributes:
        board: Whose constants were fitted with its own lines.
        changes: Arguments of the simulation that differ from those of the fit.
    """

    board: Board
    changes: Mapping[str, Any] = field(default_factory=dict)


def _lines_arm(cell: Cell, context: Context) -> Computed:
    reading, seeds = READINGS[str(cell[READING.name])], boards.seeds(context.seed)
    played = {
        spot: [reading.board.simulate(spot, seed=seed, **reading.changes) for seed in seeds]
        for spot in reading.board.published
    }
    off = [
        100 * (fmean(map(boards.FIGURES[MBIT_S], each)) / reading.board.published[spot] - 1)
        for spot, each in played.items()
    ]
    small = played[Spot(THREADS, 16)]
    over = float(table_row(TABLE, claim_id="small-int")["value"])
    interrupts = [boards.FIGURES[boards.INTERRUPTS](each) + CLOCKS_HZ for each in small]
    facts: dict[str, Value] = {
        "host, us a request": reading.board.played.host_us,
        "card, us a request": reading.board.played.card_us,
        OFF_MEAN: fmean(map(abs, off)),
        OFF_WORST: max(map(abs, off)),
        WITHIN: f"{sum(abs(each) <= TENTH for each in off)} of {len(off)}",
        **boards.spread_facts(SMALL_MBIT_S, map(boards.FIGURES[MBIT_S], small)),
        **boards.spread_facts(SMALL_INTERRUPTS, interrupts),
        OF_PRINTED: 100 * fmean(interrupts) / over,
    }
    return Computed.rounded(facts)


READING = Axis("reading", "reading")
READINGS: Mapping[str, Reading] = {
    "a line for each chip": Reading(HIFN),
    "one line": Reading(HIFN_ONE_LINE),
    "a line for each chip, fitted as one line": Reading(HIFN_ONE_LINE, {"line_cards": 1}),
    "one line, fitted as a line for each chip": Reading(HIFN, {"line_cards": boards.CARDS}),
    "a line for each chip, fitted as one line, 1 us a query": Reading(
        HIFN_ONE_LINE, {"line_cards": 1, "look_us": 1.0}
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
    cells=lambda scope: () if scope.quick else ({READING.name: each} for each in READINGS),
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


def _kernel_cells(scope: Scope) -> Iterator[Cell]:
    for size, way in product((*EACH_CASE, LARGE), (PRINT, *WAYS)):
        if not scope.quick:
            yield {SIZE.name: size, WAY.name: way}


def _kernel_arm(cell: Cell, context: Context) -> Computed:
    spot, way = Spot(THREADS, int(cell[SIZE.name])), str(cell[WAY.name])
    if way == PRINT:
        return Computed.rounded(_by_print(spot))
    played = [
        BROADCOM.simulate(spot, seed=seed, **WAYS[way]) for seed in boards.seeds(context.seed)
    ]
    facts = boards.spread_facts(boards.KERNEL, map(boards.FIGURES[boards.KERNEL], played))
    figures = (boards.USER, boards.INTERRUPTED, MBIT_S, boards.IDLE, boards.CARDS_BUSY)
    facts |= boards.means(played, *figures, boards.INTERRUPTS)
    facts[IDLING] = 100 - fmean(map(boards.FIGURES[boards.HOST_BUSY], played))
    return Computed.rounded(facts)


def _by_print(spot: Spot) -> dict[str, Value]:
    """Arithmetic on printed figures: throughput, bandwidth of writes, shares and interrupts."""
    mbit_s = BROADCOM.published[spot]
    per_s = 1e6 * mbit_s / (8 * spot.buffer_bytes)
    shares, counts = ("kernel-time", "5820-small-int-low")
    if spot.buffer_bytes == LARGE:
        shares, counts = ("kernel-time-16k", "16k-int")
    elif spot.buffer_bytes == EACH_CASE[-1]:
        counts = "5820-8k-int"
    kernel, interrupts = (
        float(table_row(TABLE, claim_id=name)["value"]) for name in (shares, counts)
    )
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


WAY = Axis("way", "order of the host, and who waits for memory")
PRINT = "print alone"
WAYS: Mapping[str, Mapping[str, Any]] = {
    "rounds": {},
    "each completion first": {"order": boards.COMPLETIONS_FIRST},
    "in turn": {"order": boards.IN_TURN},
    "rounds, copies never wait": {"memory": boards.COPIES_FIRST},
    "rounds, copies never wait, no chains": {"memory": boards.COPIES_FIRST, "chain_requests": 1},
    "rounds, nobody waits for memory": {"memory": boards.UNLIMITED},
}
IDLING = "host idle, %"
COPIES_ALONE = "two copies alone, %"
KERNEL_US = "left for the kernel beside copies, us a request"
INTERRUPT_US = "left for an interrupt at most, us"

KERNEL_TIME = boards.simulated_experiment(
    **texts(__package__, "cards-kernel-time"),
    id="002-X4",
    axes=(SIZE, WAY),
    compare=WAY.name,
    cells=_kernel_cells,
    arm=_kernel_arm,
    charts=(
        Chart(SIZE.name, WAY.name, boards.KERNEL, "Time in the kernel", log_x=True),
        Chart(SIZE.name, WAY.name, boards.IDLE, "Time without work for any card", log_x=True),
    ),
    columns={
        boards.KERNEL: "kernel %",
        boards.USER: "applications %",
        boards.INTERRUPTED: "interrupts %",
        IDLING: "idle %",
        MBIT_S: "Mbit/s",
        boards.IDLE: "no card busy %",
        boards.INTERRUPTS: "interrupts/s",
        COPIES_ALONE: "copies alone %",
        KERNEL_US: "else in kernel us",
        INTERRUPT_US: "an interrupt us",
    },
    estimated_s=4.0,
    legend=read_legend(__package__, "ways"),
)
