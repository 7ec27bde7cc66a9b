"""How long a DPU waits for its memory, by length (document 000, DMA latency)."""

from collections.abc import Iterable, Sequence

from sealift.lab.dpus import Direction, Fit, fitted, kept, latency, model
from sealift.lab.dpus.transfer import MOST_BYTES, TIMER_CYCLES
from sealift.lab.published import Comparison, Kind, Printed, counted, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Line, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for direction in Direction:
        for size in SIZES:
            yield {WAY.name: direction.value, SIZE.name: size}


def _arm(cell: Cell, _: Context) -> Computed:
    direction, size = Direction(str(cell[WAY.name])), int(cell[SIZE.name])
    timed = latency(direction, size)
    in_sixteens = latency(direction, size, granularity_cycles=16)
    line = fitted([(each, latency(direction, each)) for each in _every()])
    return Computed(
        {
            LATENCY: float(timed),
            "by a timer of sixteens, cycles": float(in_sixteens),
            "the transfer alone, cycles": float(timed - TIMER_CYCLES),
            "bytes a cycle": kept(size / timed),
            FITTED: kept(line.at(size)),
            "beside the line, cycles": kept(timed - line.at(size)),
        }
    )


def _every() -> Iterable[int]:
    return range(8, MOST_BYTES + 1, 8)


def _known(found: Found, direction: Direction) -> dict[int, float]:
    """What was simulated, by bytes."""
    return {
        int(each.cell[SIZE.name]): float(each.facts[LATENCY])
        for each in found.verified
        if each.facts and each.cell[WAY.name] == direction.value
    }


def _published(found: Found) -> Sequence[Comparison]:
    known = _known(found, Direction.READ)
    compared = []
    for row in table(TABLE):
        size = int(row["transfer_bytes"])
        printed = Printed(
            figure="000-T3",
            what=f"read of {size:,} B",
            value=float(row["latency_cycles"]),
            unit=LATENCY,
            source=row["source"],
            kind=Kind.GIVEN if size > ROW_BYTES else Kind.NUMBER,
            series="document 000",
            at={WAY.name: Direction.READ.value, SIZE.name: size},
            origin=Origin.SIMULATED,
        )
        if size in known:
            compared.append(printed.beside(counted(known[size], of=1), _noted(size)))
        else:
            cell: Cell = {WAY.name: Direction.READ.value, SIZE.name: size}
            compared.append(printed.beside(found.why_not(**cell), "not computed"))
    return compared


def _noted(size: int) -> str:
    return FITTED_TO_THIS if size > ROW_BYTES else FOUND


def _says(found: Found) -> str:
    reads, writes = (_known(found, direction) for direction in Direction)
    printed = {int(row["transfer_bytes"]): float(row["latency_cycles"]) for row in table(TABLE)}
    if len(reads) < len(SIZES) or len(writes) < len(SIZES):
        return ""
    of_document = fitted(list(printed.items()))
    here = fitted([(size, reads[size]) for size in printed])
    off = max(abs(reads[size] - cycles) for size, cycles in printed.items())
    earlier = reads[MOST_BYTES] - writes[MOST_BYTES]
    return (
        f"Timed as the document timed them, simulated reads are within {off:.0f} "
        f"{'cycle' if off == 1 else 'cycles'} of all it prints; through those four lengths go "
        f"{_told(of_document)} published and {_told(here)} simulated, and writes take "
        f"{earlier:.0f} cycles less. Only what a second row of memory costs was fitted to this "
        "table, to its longest transfer: rows have 1 KiB, and the others stay within one. What a "
        "transfer and its bytes take is PrIM's, so that their agreement is a result"
    )


def _told(line: Fit) -> str:
    return (
        f"{line.overhead_cycles:.0f} + {line.cycles_a_byte:.3f} cycles a byte "
        f"({line.bytes_a_cycle:.2f} bytes a cycle)"
    )


def _lines(found: Found) -> Sequence[Line]:
    """The line through what was simulated, for each direction."""
    drawn = []
    for direction in Direction:
        known = _known(found, direction)
        if len(known) < 2:
            continue
        line = fitted(list(known.items()))
        name = f"line through all {direction.value}s: {line.overhead_cycles:.0f} + "
        name += f"{line.cycles_a_byte:.3f} x bytes"
        drawn += [
            Line(name, LATENCY, line.at(size), Origin.PROJECTED, {SIZE.name: size})
            for size in (min(known), max(known))
        ]
    return drawn


TABLE = "000-T3-dma-latency"
WAY, SIZE = Axis("direction", "direction"), Axis("transfer", "transfer, bytes")
SIZES = (8, 16, 32, 64, 128, 256, 512, 768, 1_024, 1_032, 1_280, 1_536, 1_792, 2_048)
FITTED_TO_THIS = (
    "fitted to this: what another row costs comes from this cell, the rest as with shorter ones"
)
FOUND = (
    "what a transfer and each of its bytes take is PrIM's; two readings of the timer around it, "
    "which counts in steps of 16 there"
)
# Of one row of MRAM; only a transfer that is longer goes on in another one.
ROW_BYTES = 1_024
LATENCY, FITTED = "cycles", "by the line through all lengths, cycles"

EXPERIMENT = Experiment(
    name="dpu-dma-latency",
    id="000-T3",
    title="Transfers between a DPU and its memory, by length",
    why="What does a transfer of 8 to 2,048 bytes cost a tasklet, out of MRAM and into it?",
    axes=(WAY, SIZE),
    compare=WAY.name,
    cells=_cells,
    arm=_arm,
    operation="transfer",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x=SIZE.name,
            y=LATENCY,
            z=WAY.name,
            title="Transfers between MRAM and WRAM, as document 000 timed them",
        ),
    ),
    lines=_lines,
    weight=0.05,
    origin=Origin.SIMULATED,
    takes_s=0.5,
    stands_on=model.SIMULATED,
    brief=Brief(
        {
            LATENCY: LATENCY,
            "the transfer alone, cycles": "transfer alone",
            "bytes a cycle": "bytes a cycle",
            FITTED: "by the line",
        }
    ),
)
