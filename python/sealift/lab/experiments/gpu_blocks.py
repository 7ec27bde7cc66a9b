"""GPU throughput by thread blocks (document 003, figure 8).

Blocks of 128 threads, whose number grows: as the document's program did it, honestly, and by
Sealift's kernel, with its data in the device's memory or brought there and back. Where there is no
GPU all of it runs by OpenCL on this processor, and is called so. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.gpus.breaks import Break, document_gpu
from sealift.lab.gpus.cells import (
    AXES,
    BLOCKS,
    DEVICE,
    MESSAGES,
    MODE,
    PROCESSOR,
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
    filling_threads,
    replicated_speed,
)
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import STANDS_ON, bends_text, measured, projected, title
from sealift.lab.published import Comparison, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    units = units_of(device, scope.cores)
    counts = FEWER_COUNTS if device == PROCESSOR else COUNTS
    for blocks in sorted({*counts, *(units * times for times in (1, 2, 3, 4))}):
        for code, mode, data in ways(RESIDENT, TRANSFERS):
            yield gpu_cell(device, Grid(blocks, BLOCK_THREADS), code, mode, data)


def _published(found: Found) -> Sequence[Comparison]:
    model = bend_by_blocks(document_gpu(), MESSAGES, BLOCK_THREADS)
    return BREAK.beside(found, model, _multiprocessors(found))


def _multiprocessors(found: Found) -> float:
    """Of the device that was measured, or of the document's."""
    told = (each.facts.get("multiprocessors") for each in found.verified)
    own = next((str(units) for units in told if units), "")
    return float(own or document_gpu().multiprocessors)


def _says(found: Found) -> str:
    by_gpu = ((gpu.name, bend_by_blocks(gpu, MESSAGES, BLOCK_THREADS)) for gpu in GPUS)
    named = ", ".join(f"{name} {round(each.at)}" for name, each in by_gpu if each)
    filled = ", ".join(f"{gpu.name} {filling_threads(gpu):,}" for gpu in GPUS)
    told = (
        f"Projected: the limit bends at so many blocks of {BLOCK_THREADS} threads: {named}, as "
        f"many as multiprocessors ({STANDS_ON}); tables of their own of {PUBLISHED_FRAME_BYTES:,} "
        f"B, as each thread of the document's program has, fill the last cache from so many "
        f"threads on: {filled}."
    )
    here = bends_text(found, BLOCKS)
    return f"{told} Measured, by blocks: {here}." if here else told


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
        *projected(_limits),
        *printed,
    ]
    what = f"Blocks of {BLOCK_THREADS} threads"
    labels = Labels(title(found, what), BLOCKS.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_x=True, log_y=True))]


def _limits(gpu: Gpu) -> Iterator[tuple[int, float]]:
    for blocks in COUNTS:
        yield blocks, replicated_speed(gpu, MESSAGES, Grid(blocks, BLOCK_THREADS))


BLOCK_THREADS = 128
# Whole rounds of the multiprocessors of GPUs that are known, and what lies between and below.
COUNTS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 48, 64, 72, 96, 108, 132, 144, 198, 264, 396)
FEWER_COUNTS = (1, 2, 3, 4, 5, 6, 8)
BREAK = Break(
    figure="003-F8",
    claim="f8-break",
    along=BLOCKS,
    of="blocks for each multiprocessor",
    why="each multiprocessor works a block of 128 threads at a time",
)

EXPERIMENT = Experiment(
    name="gpu-blocks",
    id="003-F8",
    title="GPU throughput by thread blocks",
    why="Does throughput grow with blocks up to the number of multiprocessors, as the document's "
    "line does up to 36, and what is left of it with the way there and back?",
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
