"""Data types on the GPU (document 003, figure 4): products of small matrices of each type.

In one thread, as in the document, and on all of the device. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.document_003 import printed
from sealift_lab.experiments.document_003.gpus import cells, figures
from sealift_lab.experiments.document_003.gpus.data_types import (
    CAST,
    FLOAT,
    INT,
    PROGRAMS,
    types_speed,
)
from sealift_lab.experiments.document_003.gpus.grids import BLOCK_THREADS, Grid
from sealift_lab.experiments.document_003.gpus.limits import GPUS, document_gpu
from sealift_lab.measure.native import gpu_types
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Figure, Times
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = cells.device_of(scope)
    for grid in (ONE, Grid(cells.units_of(device, scope.cores), BLOCK_THREADS)):
        place = {"thread_blocks": grid.blocks, "threads_per_block": grid.threads}
        for name in PROGRAMS:
            yield {"device": device, **place, "type": name}


def _arm(cell: Cell, _: Context) -> Arm:
    grid = cells.grid_of(cell)
    device, data_type = cells.device_spec(str(cell["device"])), str(cell["type"])
    return gpu_types(device, data_type, grid=(grid.blocks, grid.threads))


def _published(results: Results) -> Sequence[Published]:
    return [
        printed.claim(
            "003-F4",
            "static over dynamic casting of float, one thread, up to",
            "cast-gpu",
            Kind.RATIO,
            _times(results, FLOAT, CAST),
            "9 times if the 800 % are added",
            value=1 + printed.claim_value("cast-gpu") / 100,
        ),
        printed.claim(
            "003-F4",
            "4-byte integer over 4-byte float, one thread",
            "float-slower",
            Kind.SHAPE,
            _times(results, INT, FLOAT),
            "integers are claimed to be faster",
        ),
    ]


def _times(results: Results, one: str, other: str) -> Figure:
    where: Cell = {"threads_per_block": ONE.threads}
    times = Times({**where, "type": one}, {**where, "type": other})
    return figures.of_a_gpu(results, times, **where)


def _lines(_: Results) -> Sequence[Line]:
    """Of one thread, and of a block on each multiprocessor."""
    return [
        Line(
            f"{gpu.name} at most, {grid.threads} threads a block",
            "operations/s",
            types_speed(gpu, name, grid),
            Origin.PROJECTED,
            {"threads_per_block": grid.threads, "type": name},
        )
        for gpu in GPUS
        # Others differ by multiprocessors and clock alone.
        if gpu.architecture != document_gpu().architecture or gpu == document_gpu()
        for grid in (ONE, Grid(gpu.multiprocessors, BLOCK_THREADS))
        for name in PROGRAMS
    ]


ONE = Grid(1, 1)

EXPERIMENT = Experiment(
    name="gpu-data-types",
    id="003-F4",
    title="Data types on the GPU",
    question="What do wider integers, floating-point numbers, and a double literal cost?",
    axes=(cells.DEVICE, cells.BLOCKS, cells.THREADS, Axis("type", "data type")),
    compare="type",
    cells=_cells,
    arm=_arm,
    operation="multiplication",
    published=_published,
    charts=(
        Chart("type", "threads_per_block", "operations/s", "Products by data type", log_y=True),
    ),
    lines=_lines,
    names=figures.NAMES,
    weight=0.3,
    check_available=cells.check_device,
    notes=figures.gpu_notes(
        "A float that is multiplied by a literal which is a double is converted there and back: "
        "the document calls that dynamic casting."
    ),
)
