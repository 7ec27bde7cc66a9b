"""Document 003's tables of GPUs: grids at and over the maximum, and generations.

The seven grids are taken as multiples of the multiprocessors of the document's GPU and of the one
here; on a processor its cores stand for multiprocessors. Of generations this machine's device is
one more. Not part of a quick run.
"""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.document_003 import printed
from sealift_lab.experiments.document_003.gpus import cells, figures
from sealift_lab.experiments.document_003.gpus.grids import BLOCK_THREADS, Grid
from sealift_lab.experiments.document_003.gpus.limits import Gpu, document_gpu
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Figure, Missing, Rate
from sealift_lab.model.published import Published, table
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def grid_shapes() -> list[tuple[int, int]]:
    """Blocks for each multiprocessor, and threads of each; the document's 256 of 36 are 7."""
    return [(_times(row), _grid(row).threads) for row in PRINTED_GRIDS]


def _grid(row: printed.Row) -> Grid:
    return Grid(int(row["thread_blocks"]), int(row["threads_per_block"]))


def _times(row: printed.Row) -> int:
    return round(_grid(row).blocks / document_gpu().multiprocessors)


def _cells_of_grids(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device, published = cells.device_of(scope), cells.PUBLISHED_WAYS
    units = cells.units_of(device, scope.cores)
    for times, threads in grid_shapes():
        for way in (*published, cells.OUR_WAY) if threads <= cells.OURS_MOST else published:
            yield cells.gpu_cell(device, Grid(times * units, threads), *way)


def _published_grids(results: Results) -> Sequence[Published]:
    return [_published_grid(results, row) for row in PRINTED_GRIDS]


def _published_grid(results: Results, row: printed.Row) -> Published:
    grid, times = _grid(row), _times(row)
    per_unit = f"{times} blocks for each multiprocessor" if times > 1 else "a block for each one"
    return printed.speed(
        "003-T3",
        f"{grid.blocks} blocks of {grid.threads} threads",
        row,
        _grid_here(results, times, grid.threads),
        f"the published program, replicated, {per_unit}; {figures.WORKLOAD}",
        f"published: {document_gpu().name}",
        {**figures.PUBLISHED_WAY, "thread_blocks": grid.blocks, "threads_per_block": grid.threads},
    )


def _grid_here(results: Results, times: int, threads: int) -> Figure:
    where = {"code": cells.AS_PUBLISHED, "mode": cells.REPLICATED}
    units = figures.multiprocessors_in(results)
    if units is None:
        return Missing(results.why_missing(**where))
    grid = {"thread_blocks": times * units, "threads_per_block": threads}
    return figures.of_a_gpu(results, Rate({**where, **grid}))


def _lines_of_grids(_: Results) -> Sequence[Line]:
    def places(gpu: Gpu, threads_most: int = 1_024) -> Iterator[tuple[Cell, Grid]]:
        for times, threads in grid_shapes():
            blocks = times * gpu.multiprocessors
            if threads <= threads_most:
                yield {"thread_blocks": blocks, "threads_per_block": threads}, Grid(blocks, threads)

    gpus = [document_gpu()]
    ours = figures.our_limits(lambda gpu: places(gpu, cells.OURS_MOST), gpus=gpus)
    return [*figures.published_limits(places, gpus=gpus), *ours]


def _cells_of_generations(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = cells.device_of(scope)
    for grid in (ONE, Grid(cells.units_of(device, scope.cores), BLOCK_THREADS)):
        yield cells.gpu_cell(device, grid, *cells.PUBLISHED_WAYS[0])


def _published_generations(results: Results) -> Sequence[Published]:
    return [_published_generation(results, row) for row in table("003-T5-gpu-generations")]


def _published_generation(results: Results, row: printed.Row) -> Published:
    where = {"threads_per_block": 1 if row["test"] == "Thread = 1" else BLOCK_THREADS}
    return printed.speed(
        "003-T5",
        f"{row['gpu']}, {row['test']}",
        row,
        figures.of_a_gpu(results, Rate(where), **where),
        f"the published program, replicated; {figures.WORKLOAD}",
        f"published: {row['test']}",
        {**figures.PUBLISHED_WAY, "device": row["gpu"], **where},
    )


def _lines_of_generations(_: Results) -> Sequence[Line]:
    def places(gpu: Gpu) -> list[tuple[Cell, Grid]]:
        name = figures.published_name(gpu)
        both = (ONE, Grid(gpu.multiprocessors, BLOCK_THREADS))
        return [({"device": name, "threads_per_block": grid.threads}, grid) for grid in both]

    series = "at most, {grid.threads} threads a block"
    ours = figures.our_limits(lambda gpu: places(gpu)[1:], series="at most, Sealift's kernel")
    return [*figures.published_limits(places, series), *ours]


PRINTED_GRIDS = table("003-T3-gpu-blocks-threads")
ONE = Grid(1, 1)

GRIDS = Experiment(
    name="gpu-grid",
    id="003-T3",
    title="Grids of blocks and threads at and over a GPU's maximum",
    question="How does throughput change with more threads than a GPU has cores, and does the "
    "document's fall beyond 9,216 threads remain where threads keep no tables of their own?",
    axes=cells.AXES,
    compare="mode",
    cells=_cells_of_grids,
    arm=cells.gpu_arm,
    published=_published_grids,
    charts=figures.code_charts("thread_blocks", "Grids", panels="threads_per_block"),
    lines=_lines_of_grids,
    names=figures.NAMES,
    weight=0.4,
    check_available=cells.check_device,
    is_optional_from=2,
    notes=figures.gpu_notes(
        "The document puts the fall beyond 9,216 threads down to context switches. Caches that are "
        "too small are another possible reason: a thread of its program keeps 11,664 B of tables "
        "and reads 4,848 B of them while it works, so 2,876 and 6,921 threads fill the 32 MiB "
        "cache of its RTX 4070. The projected limits have no caches and no fall."
    ),
)
GENERATIONS = Experiment(
    name="gpu-generations",
    id="003-T5",
    title="GPU generations",
    question="How much does a generation add for each multiprocessor, and where would today's GPUs "
    "stand?",
    axes=cells.AXES,
    compare="device",
    cells=_cells_of_generations,
    arm=cells.gpu_arm,
    published=_published_generations,
    charts=(
        Chart("device", "threads_per_block", "MB/s", "One thread, and all of a GPU", log_y=True),
    ),
    lines=_lines_of_generations,
    names=figures.NAMES,
    weight=0.1,
    check_available=cells.check_device,
    notes=figures.gpu_notes(
        """MB/s for each multiprocessor, a block on each of them:

| GPU | published | projected, the document's program | projected, Sealift's kernel |
| --- | ---: | ---: | ---: |
| RTX 3050 | 56.44 | 1,416 | 1,821 |
| RTX 4070 | 116.7 | 1,770 | 2,276 |
| RTX 4060 | 129.2 | 1,929 | 2,480 |
| H200 | | 1,611 | 2,939 |"""
    ),
)
