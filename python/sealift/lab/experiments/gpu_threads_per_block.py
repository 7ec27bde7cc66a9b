"""GPU throughput by threads per block (document 003, figure 7).

One block, whose threads grow: as the document's program did it, where each thread does all work for
itself; the same code with each message worked once; and Sealift's kernel, which takes whole warps.
Where there is no GPU all of it runs by OpenCL on this processor, and is called so. Not part of a
quick run.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.gpus.breaks import Break
from sealift.lab.gpus.cells import (
    AXES,
    DEVICE,
    MODE,
    OURS,
    OURS_MOST,
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
from sealift.lab.gpus.grid import Grid, bend_by_threads
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import (
    STANDS_ON,
    bends_text,
    document_gpu,
    measured,
    ours,
    projected,
    projected_ours,
    replicated,
    title,
)
from sealift.lab.published import Comparison, Kind, table_row
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.stats import Bend
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for threads in FEWER_COUNTS if device == PROCESSOR else COUNTS:
        for code, mode, data in ways(RESIDENT):
            if code != OURS or threads in OURS_COUNTS:
                yield gpu_cell(device, Grid(1, threads), code, mode, data)


def _published(found: Found) -> Sequence[Comparison]:
    return BREAK.beside(found, _model(document_gpu()), float(PRINTED["cores_per_sm"]))


def _model(gpu: Gpu) -> Bend | None:
    return bend_by_threads(lambda grid: replicated(gpu, grid))


def _says(found: Found) -> str:
    by_gpu = ", ".join(f"{gpu.name} {round(at.at)}" for gpu in GPUS if (at := _model(gpu)))
    told = f"Projected: the limit of one block bends at so many threads: {by_gpu} ({STANDS_ON})."
    here = bends_text(found, THREADS)
    return f"{told} Measured, by threads: {here}." if here else told


def _charts(found: Found) -> Sequence[Chart]:
    printed = f"published: {PRINTED['gpu']}"
    points = [
        *measured(found, THREADS),
        *projected(lambda gpu: ((n, replicated(gpu, Grid(1, n))) for n in COUNTS)),
        *projected_ours(lambda gpu: ((n, ours(gpu, Grid(1, n))) for n in OURS_COUNTS)),
        Point(1, float(PRINTED["throughput_mb_s"]), None, None, printed, Origin.PUBLISHED),
    ]
    labels = Labels(title(found, "One block"), THREADS.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_x=True, log_y=True))]


# As `sealift-gpu` has them: two that are no whole round show the saw.
COUNTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1_024)
OURS_COUNTS = tuple(threads for threads in COUNTS if WARP <= threads <= OURS_MOST)
# Compilers for processors make a kernel anew for each number of work-items.
FEWER_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PRINTED = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
BREAK = Break(
    figure="003-F7",
    claim="f7-break",
    along=THREADS,
    of="cores of a multiprocessor",
    kind=Kind.LIMIT,
    why="four parts that each issue to a warp of 32 threads are put in; that one of their own "
    "units is asked for longest, and not the one that they share, is found",
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
