"""GPU throughput by thread blocks (document 003, figure 8).

Blocks of 128 threads, whose number grows: as the document's program did it, honestly, and by
Sealift's kernel, with its data in the device's memory or brought there and back. What brings them
is copies and kernel one after the other; what the host lays out before and picks up behind is not
in it, and nothing overlaps as it does in Sealift's driver, which `gpu-beside-cpu` measures. Where
there is no GPU all of it runs by OpenCL on this processor, and is called so. Not part of a quick
run.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.gpus.breaks import Break
from sealift.lab.gpus.cells import (
    AXES,
    BLOCK_THREADS,
    BLOCKS,
    DEVICE,
    MESSAGES,
    MODE,
    RESIDENT,
    TRANSFERS,
    device_of,
    gpu_arm,
    gpu_cell,
    gpu_there,
    units_of,
    ways,
)
from sealift.lab.gpus.grid import (
    PUBLISHED_FRAME_BYTES,
    Grid,
    bend_by_blocks,
    frame_threads,
    in_rounds,
    reading_threads,
)
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import (
    STANDS_ON,
    bends_text,
    document_gpu,
    measured,
    multiprocessors_in,
    ours,
    projected,
    projected_ours,
    replicated,
    title,
)
from sealift.lab.gpus.work import published_bytes
from sealift.lab.published import Comparison, Kind, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.stats import Bend
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for blocks in in_rounds(units_of(device, scope.cores)):
        for code, mode, data in ways(RESIDENT, TRANSFERS):
            yield gpu_cell(device, Grid(blocks, BLOCK_THREADS), code, mode, data)


def _published(found: Found) -> Sequence[Comparison]:
    gpu = document_gpu()
    return BREAK.beside(found, _model(gpu), multiprocessors_in(found) or gpu.multiprocessors)


def _model(gpu: Gpu) -> Bend | None:
    return bend_by_blocks(lambda grid: replicated(gpu, grid), gpu.multiprocessors, BLOCK_THREADS)


def _says(found: Found) -> str:
    by_gpu = ", ".join(f"{gpu.name} {round(at.at)}" for gpu in GPUS if (at := _model(gpu)))
    told = (
        f"Projected: the limit bends at so many thread blocks of {BLOCK_THREADS}: {by_gpu}. These "
        f"are the multiprocessors, which the model is given ({STANDS_ON}). {_caches()}"
    )
    here = bends_text(found, BLOCKS)
    return f"{told} Measured, by thread blocks: {here}." if here else told


def _caches() -> str:
    reading = published_bytes(MESSAGES.key_bits)
    filled = ", ".join(
        f"{gpu.name} {frame_threads(gpu):,} and {reading_threads(gpu, MESSAGES.key_bits):,}"
        for gpu in GPUS
    )
    return (
        f"Each thread of the document's program keeps {PUBLISHED_FRAME_BYTES:,} B of tables, and "
        f"reads {reading:,} B of them while it works messages. The one and the other fill the last "
        f"cache from so many threads on: {filled}."
    )


def _charts(found: Found) -> Sequence[Chart]:
    printed = [
        Point(
            int(row["thread_blocks"]),
            float(row["throughput_mb_s"]),
            None,
            None,
            "published: RTX 4070 (2023)",
            Origin.PUBLISHED,
        )
        for row in table("003-T3-gpu-blocks-threads")
        if int(row["threads_per_block"]) == BLOCK_THREADS
    ]
    points = [
        *measured(found, BLOCKS),
        *projected(lambda gpu: ((n, replicated(gpu, grid)) for n, grid in _grids(gpu))),
        *projected_ours(lambda gpu: ((n, ours(gpu, grid)) for n, grid in _grids(gpu))),
        *printed,
    ]
    what = f"Blocks of {BLOCK_THREADS} threads"
    labels = Labels(title(found, what), BLOCKS.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_x=True, log_y=True))]


def _grids(gpu: Gpu) -> Iterator[tuple[int, Grid]]:
    for blocks in in_rounds(gpu.multiprocessors):
        yield blocks, Grid(blocks, BLOCK_THREADS)


BREAK = Break(
    figure="003-F8",
    claim="f8-break",
    along=BLOCKS,
    of="multiprocessors",
    kind=Kind.GIVEN,
    why="the number of multiprocessors, each of which works one block as fast as one alone",
)

EXPERIMENT = Experiment(
    name="gpu-blocks",
    id="003-F8",
    title="GPU throughput by thread blocks",
    why="Does throughput grow with thread blocks up to the number of multiprocessors, as the "
    "document's line does up to 36, and what is left of it with the way there and back?",
    axes=AXES,
    compare=MODE.name,
    cells=_cells,
    arm=gpu_arm,
    published=_published,
    says=_says,
    charts=_charts,
    plots=(
        Plot(
            x=BLOCKS.name,
            y="payload_MB_per_s",
            z=MODE.name,
            title=f"Measured, blocks of {BLOCK_THREADS} threads",
            facet=DEVICE.name,
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.6,
    tries=gpu_there,
    essential=4,
)
