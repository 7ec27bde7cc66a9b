"""Data types on the GPU (document 003, figure 4): products of small matrices of each type.

In one thread, as the document did it, and on all of the device. A float that is multiplied by a
literal which is a double is converted there and back: the document calls that dynamic casting.
Where there is no GPU all of it runs by OpenCL on this processor, and is called so. Not part of a
quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    BLOCK_THREADS,
    BLOCKS,
    DEVICE,
    PROCESSOR,
    THREADS,
    TYPE,
    device_of,
    gpu_there,
    types_arm,
    units_of,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import ADA, document_gpu, named, title
from sealift.lab.gpus.types import types_speed
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    operation_speed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for grid in (ONE, Grid(units_of(device, scope.cores), BLOCK_THREADS)):
        for name in TYPES:
            yield {
                DEVICE.name: device,
                BLOCKS.name: grid.blocks,
                THREADS.name: grid.threads,
                TYPE.name: name,
            }


def _published(found: Found) -> Sequence[Comparison]:
    cast = table_row("003-X1-claims", claim_id="cast-gpu")
    slower = table_row("003-X1-claims", claim_id="float-slower")
    return [
        Printed(
            "003-F4",
            "static over dynamic casting of float, one thread, up to",
            1 + float(cast["value"]) / 100,
            "x",
            f"{cast['source']}: {cast['as_printed']}",
            Kind.RATIO,
        ).beside(
            _times(found, FLOAT, CAST), f"{cast['as_printed']}, which is 9 times if it is added"
        ),
        Printed(
            "003-F4",
            "4-byte integer over 4-byte float, one thread",
            1.0,
            "x",
            f"{slower['source']}: {slower['as_printed']}",
            Kind.SHAPE,
        ).beside(_times(found, INT, FLOAT), "integers are claimed to be faster"),
    ]


def _times(found: Found, one: str, other: str) -> Here:
    where: Mapping[str, Value] = {THREADS.name: ONE.threads}
    row = found.row(**where, **{TYPE.name: one})
    if row and row.cell[DEVICE.name] == PROCESSOR:
        return ALONE
    return times_as_fast(found, {**where, TYPE.name: one}, {**where, TYPE.name: other})


def _says(found: Found) -> str:
    casts = ", ".join(
        f"{gpu.name} {format_measure(types_speed(gpu, FLOAT, ONE) / types_speed(gpu, CAST, ONE))}"
        for gpu in GPUS
    )
    told = (
        f"Projected: one thread could make so many times as many products of floats as of floats "
        f"with a literal that is a double: {casts} (from machine code, as if nothing ever waited, "
        f"at boost clocks; {ADA})."
    )
    shares = [
        f"{place}: {', '.join(share)}"
        for threads, place in PLACES.items()
        if (share := list(_shares(found, threads)))
    ]
    if not shares:
        return told
    devices = dict.fromkeys(str(row.cell[DEVICE.name]) for row in found.rows)
    return (
        f"{told} Measured by {named(' and '.join(devices))}, int being 100 %, {'; '.join(shares)}."
    )


def _shares(found: Found, threads: int) -> Iterator[str]:
    """How fast each type is in so many threads of a block, where integers were measured there."""
    where: Mapping[str, Value] = {THREADS.name: threads}
    whole = operation_speed(found, **where, **{TYPE.name: INT})
    if isinstance(whole, str):
        return
    for name in TYPES:
        here = operation_speed(found, **where, **{TYPE.name: name})
        if isinstance(here, Measured):
            yield f"{name} {100 * here.interval.median / whole.interval.median:.0f} %"


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        Point(
            str(row.cell[TYPE.name]),
            row.operations_per_s.median,
            row.operations_per_s.low,
            row.operations_per_s.high,
            f"measured {PLACES[int(row.cell[THREADS.name])]}",
        )
        for row in found.rows
        if not row.wrong
    ]
    points += (point for gpu in SHOWN for point in _limits(gpu))
    labels = Labels(title(found, "Data types"), TYPE.title, "multiplications a second", "what")
    return [Chart(points, labels, Scales(log_y=True))]


def _limits(gpu: Gpu) -> Iterator[Point]:
    """Of one thread, and of a block on each multiprocessor."""
    for grid in (ONE, Grid(gpu.multiprocessors, BLOCK_THREADS)):
        series = f"projected: {gpu.name} {PLACES[grid.threads]}, at most"
        for name in TYPES:
            speed = types_speed(gpu, name, grid)
            yield Point(name, speed, None, None, series, Origin.PROJECTED)


INT, FLOAT, CAST = "int", "float", "float with double literal"
TYPES = (INT, "long", FLOAT, "double", CAST)
ONE = Grid(1, 1)
# What differs otherwise is how many multiprocessors there are, and their clock.
SHOWN = [
    gpu for gpu in GPUS if gpu.architecture != document_gpu().architecture or gpu == document_gpu()
]
PLACES = {ONE.threads: "in one thread", BLOCK_THREADS: "on all of it"}

EXPERIMENT = Experiment(
    name="gpu-data-types",
    id="003-F4",
    title="Data types on the GPU",
    why="What do wider integers, floating-point numbers, and a literal that is a double cost?",
    axes=(DEVICE, BLOCKS, THREADS, TYPE),
    compare=TYPE.name,
    cells=_cells,
    arm=types_arm,
    operation="multiplication",
    published=_published,
    says=_says,
    charts=_charts,
    plots=(
        Plot(
            x=TYPE.name,
            y="operations_per_s",
            z=THREADS.name,
            title="Measured, multiplications a second by data type",
            facet=DEVICE.name,
            log_y=True,
        ),
    ),
    weight=0.3,
    tries=gpu_there,
)
