"""Data types on the GPU (document 003, figure 4): products of small matrices of each type.

In one thread, as the document did it, and on all of the device. A float that is multiplied by a
literal which is a double is converted there and back: the document calls that dynamic casting.
Where there is no GPU all of it runs by OpenCL on this processor, and is called so. Not part of a
quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
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
from sealift.lab.gpus.shown import named
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
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell, Value


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
    told = []
    for threads, place in ((ONE.threads, "in one thread"), (BLOCK_THREADS, "on all of it")):
        where: Mapping[str, Value] = {THREADS.name: threads}
        speeds = {
            name: here
            for name in TYPES
            if isinstance(here := operation_speed(found, **where, **{TYPE.name: name}), Measured)
        }
        if INT in speeds:
            most = speeds[INT].interval.median
            shares = [
                f"{name} {100 * here.interval.median / most:.0f} %" for name, here in speeds.items()
            ]
            told.append(f"{place}: {', '.join(shares)}")
    if not told:
        return ""
    devices = dict.fromkeys(str(row.cell[DEVICE.name]) for row in found.rows)
    return f"Measured by {named(' and '.join(devices))}, int being 100 %, {'; '.join(told)}."


INT, FLOAT, CAST = "int", "float", "float with double literal"
TYPES = (INT, "long", FLOAT, "double", CAST)
ONE, BLOCK_THREADS = Grid(1, 1), 128

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
