"""000-T3: latency of transfers between a DPU's MRAM and WRAM, by length."""

from collections.abc import Iterable, Sequence

from sealift_lab.experiments.document_000.kernel import six_digits
from sealift_lab.experiments.document_000.transfer import (
    ROW_BYTES,
    TIMER_CYCLES,
    TRANSFER_BYTES_MAX,
    Direction,
    fit,
    latency,
)
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Fact
from sealift_lab.model.published import Kind, Published, table
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for direction in Direction:
        for size in SIZES:
            yield {DIRECTION.name: direction.value, SIZE.name: size}


def _arm(cell: Cell, _: Context) -> Computed:
    direction, size = Direction(str(cell[DIRECTION.name])), int(cell[SIZE.name])
    timed = latency(direction, size)
    lengths = range(8, TRANSFER_BYTES_MAX + 1, 8)
    line = fit([(each, latency(direction, each)) for each in lengths])
    return Computed(
        {
            LATENCY: float(timed),
            "by a timer of sixteens, cycles": float(
                latency(direction, size, granularity_cycles=16)
            ),
            ALONE: float(timed - TIMER_CYCLES),
            "bytes a cycle": six_digits(size / timed),
            BY_LINE: six_digits(line.at(size)),
            "beside the line, cycles": six_digits(timed - line.at(size)),
        }
    )


def _published(_: Results) -> Sequence[Published]:
    figures = []
    for row in table("000-T3-dma-latency"):
        size = int(row["transfer_bytes"])
        cell: Cell = {DIRECTION.name: Direction.READ.value, SIZE.name: size}
        figures.append(
            Published(
                figure="000-T3",
                what=f"read of {size:,} B",
                value=float(row["latency_cycles"]),
                unit=LATENCY,
                source=row["source"],
                kind=Kind.GIVEN if size > ROW_BYTES else Kind.NUMBER,
                here=Fact(cell, LATENCY),
                note=FITTED if size > ROW_BYTES else CHOSEN,
                series="document 000",
                at=cell,
                origin=Origin.SIMULATED,
                is_fitted=True,
            )
        )
    return figures


def _lines(results: Results) -> Sequence[Line]:
    """The line through the simulated latencies of each direction."""
    lines = []
    for direction in Direction:
        points = [
            (float(each.cell[SIZE.name]), float(each.facts[LATENCY]))
            for each in results.facts(**{DIRECTION.name: direction.value})
        ]
        if len(points) < 2:
            continue
        line = fit(points)
        series = (
            f"line through all {direction.value}s: {line.overhead_cycles:.0f} + "
            f"{line.cycles_a_byte:.3f} x bytes"
        )
        lines += [
            Line(series, LATENCY, line.at(size), Origin.PROJECTED, {SIZE.name: size})
            for size, _ in (min(points), max(points))
        ]
    return lines


DIRECTION, SIZE = Axis("direction", "direction"), Axis("transfer", "transfer, bytes")
SIZES = (8, 16, 32, 64, 128, 256, 512, 768, 1_024, 1_032, 1_280, 1_536, 1_792, 2_048)
LATENCY, ALONE = "cycles", "the transfer alone, cycles"
BY_LINE = "by the line through all lengths, cycles"
FITTED = "an input: the cost of a second row of MRAM comes from this cell"
CHOSEN = (
    "set-up and cost a byte are PrIM's; the 66 cycles of the timer's own instructions were chosen "
    "with this table at hand; the document's timer counts in steps of 16"
)

DMA_LATENCY = Experiment(
    name="dpu-dma-latency",
    id="000-T3",
    title="Transfers between a DPU and its memory, by length",
    question="How many cycles does a transfer of 8 to 2,048 bytes take, out of MRAM and into it?",
    axes=(DIRECTION, SIZE),
    compare=DIRECTION.name,
    cells=_cells,
    arm=_arm,
    operation="transfer",
    published=_published,
    charts=(
        Chart(
            x=SIZE.name,
            series=DIRECTION.name,
            y=LATENCY,
            title="Transfers between MRAM and WRAM, as document 000 timed them",
        ),
    ),
    lines=_lines,
    columns={
        LATENCY: LATENCY,
        ALONE: "transfer alone",
        "bytes a cycle": "bytes a cycle",
        BY_LINE: "by the line",
    },
    origin=Origin.SIMULATED,
    weight=0.05,
    estimated_s=0.5,
    notes=read_notes(__package__, "dma_latency", "simulation"),
)
