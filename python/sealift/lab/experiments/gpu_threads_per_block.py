"""GPU throughput by threads per block (document 003, figure 7).

One block, whose threads grow: as the document's program did it, where each thread does all work for
itself; the same code with each message worked once; and Sealift's kernel, which takes whole warps.
Where there is no GPU all of it runs by OpenCL on this processor, and is called so. Not part of a
quick run.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.gpus.breaks import Break, document_gpu
from sealift.lab.gpus.cells import (
    AXES,
    DEVICE,
    MESSAGES,
    MODE,
    OURS,
    PROCESSOR,
    RESIDENT,
    THREADS,
    WARP,
    device_of,
    gpu_arm,
    gpu_cell,
    gpu_there,
    ways,
)
from sealift.lab.gpus.grid import Grid, bend_by_threads, replicated_speed
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import STANDS_ON, bends_text, measured, projected, title
from sealift.lab.published import Comparison, table_row
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for threads in FEWER_COUNTS if device == PROCESSOR else COUNTS:
        for code, mode, data in ways(RESIDENT):
            if code != OURS or WARP <= threads <= OURS_MOST:
                yield gpu_cell(device, Grid(1, threads), code, mode, data)


def _published(found: Found) -> Sequence[Comparison]:
    gpu = document_gpu()
    return BREAK.beside(found, bend_by_threads(gpu, MESSAGES), float(PRINTED["cores_per_sm"]))


def _says(found: Found) -> str:
    by_gpu = ((gpu.name, bend_by_threads(gpu, MESSAGES)) for gpu in GPUS)
    named = ", ".join(f"{name} {round(each.at)}" for name, each in by_gpu if each)
    told = f"Projected: the limit of one block bends at so many threads: {named} ({STANDS_ON})."
    here = bends_text(found, THREADS)
    return f"{told} Measured, by threads: {here}." if here else told


def _charts(found: Found) -> Sequence[Chart]:
    printed = f"published: {PRINTED['gpu']}"
    points = [
        *measured(found, THREADS),
        *projected(_limits),
        Point(1, float(PRINTED["throughput_mb_s"]), None, None, printed, Origin.PUBLISHED),
    ]
    labels = Labels(title(found, "One block"), THREADS.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_x=True, log_y=True))]


def _limits(gpu: Gpu) -> Iterator[tuple[int, float]]:
    for threads in COUNTS:
        yield threads, replicated_speed(gpu, MESSAGES, Grid(1, threads))


COUNTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1_024)
# Compilers for processors make a kernel anew for each number of work-items.
FEWER_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PRINTED = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
# What registers leave room for.
OURS_MOST = 384
BREAK = Break(
    figure="003-F7",
    claim="f7-break",
    along=THREADS,
    of="threads for each core of a multiprocessor",
    why="each of its four parts works a warp of 32 threads at a time",
)

EXPERIMENT = Experiment(
    name="gpu-threads-per-block",
    id="003-F7",
    title="GPU throughput by threads per block",
    why="Does the throughput of one block grow with its threads up to 128, as the document's line "
    "does, and what remains of it where each message is worked once and its result is kept?",
    axes=AXES,
    compare=MODE.name,
    cells=_cells,
    arm=gpu_arm,
    published=_published,
    says=_says,
    charts=_charts,
    plots=(
        Plot(
            x=THREADS.name,
            y="payload_MB_per_s",
            z=MODE.name,
            title="Measured, one block",
            facet=DEVICE.name,
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.6,
    tries=gpu_there,
    essential=3,
)
