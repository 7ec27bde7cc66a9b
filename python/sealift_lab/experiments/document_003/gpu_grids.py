"""GPUs by grid (document 003, figures 4, 7 and 8, and its tables of grids and generations).

One block whose threads grow, blocks of 128 threads whose number grows, the document's seven grids
as multiples of the multiprocessors of its GPU and of the one here (on a processor its cores stand
for multiprocessors), and one thread and all of a GPU: the document's program, the same code with
each message worked once, and Sealift's kernel, which takes whole warps. Not part of a quick run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from sealift_lab.experiments.document_003 import tables
from sealift_lab.experiments.document_003.gpus import cells, limits
from sealift_lab.experiments.document_003.gpus.cells import AS_PUBLISHED, OURS, PROCESSOR
from sealift_lab.experiments.document_003.gpus.limits import DOCUMENT_GPU, Gpu, Grid
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context, Value
from sealift_lab.model.experiment import Axis, Chart, Line, Scope
from sealift_lab.model.published import Figure, Kind, Missing, Published, Rate, Times, printed_claim
from sealift_lab.model.results import Origin, Results

Grids = Callable[[str, int], Iterable[Grid]]
"""The grids of a device, by its name and how many multiprocessors it has."""


def one_block(device: str, _: int) -> Iterator[Grid]:
    """A block whose threads grow."""
    return (Grid(1, threads) for threads in (FEWER_COUNTS if device == PROCESSOR else COUNTS))


def rounds(_: str, units: int) -> Iterator[Grid]:
    """Blocks in powers of two below the multiprocessors, and whole rounds of them."""
    counts = [*(n for n in POWERS if n < units), *(units * n for n in range(1, ROUNDS + 1))]
    return (Grid(blocks, limits.BLOCK_THREADS) for blocks in counts)


def document_grids(_: str, units: int) -> Iterator[Grid]:
    """The document's table, with as many blocks for each multiprocessor; 256 for 36 are 7."""
    return (Grid(times_of(grid) * units, grid.threads) for grid in PRINTED_GRIDS)


def one_and_all(_: str, units: int) -> tuple[Grid, Grid]:
    """One thread, and a block on each multiprocessor."""
    return Grid(1, 1), Grid(units, limits.BLOCK_THREADS)


def break_of(line: Iterable[tuple[float, float]], units: float) -> Figure:
    """The break of a line as a multiple of units, or why it has none.

    What lies between whole rounds is left out: there a grid waits for its last blocks or warps.
    """
    # A process that measures imports experiments, but none of the judge's libraries.
    from sealift_lab.judge.lines import PLACES_LEAST, breakpoint_of

    points = sorted((at, speed) for at, speed in line if at < units or at % units == 0)
    places = f"its line over {len(points)} places"
    if len(points) < PLACES_LEAST:
        return Missing(f"{places} is too short to tell")
    found = breakpoint_of(points)
    return found.scaled(1 / units) if found else Missing(f"{places} has no break")


def projected_line(gpu: Gpu, axis: str) -> Sequence[tuple[float, float]]:
    """The projected speed by the threads of one block, in powers of two, or by blocks."""
    if axis == "thread_blocks":
        grids = rounds(gpu.name, gpu.multiprocessors)
        return [(grid.blocks, limits.replicated(gpu, grid)) for grid in grids]
    return [(threads, limits.replicated(gpu, Grid(1, threads))) for threads in POWERS]


def _cells(grids: Grids, *ways: tuple[str, str, str]) -> Callable[[Scope], Iterator[Cell]]:
    """Each grid of the device here in each way that it can be worked: code, mode and data."""
    return lambda scope: (
        cells.gpu_cell(device, grid, *way)
        for (device, grid), way in product(_grids_here(grids, scope), ways)
        if cells.is_worked(way[0], grid)
    )


def _grids_here(grids: Grids, scope: Scope) -> Iterator[tuple[str, Grid]]:
    if not scope.quick:
        device = cells.device_of(scope)
        for grid in grids(device, cells.units_of(device, scope.cores)):
            yield device, grid


def _limits(
    grids: Grids,
    *axes: str,
    series: str = "{gpu.name} at most",
    ours: str = "{gpu.name} at most, Sealift's kernel",
    gpus: Sequence[Gpu] = limits.GPUS,
) -> list[Line]:
    """Projected limits of the document's program and of Sealift's kernel, by these axes."""
    found = []
    for (code, name), gpu in product(((AS_PUBLISHED, series), (OURS, ours)), gpus):
        for grid in grids(gpu.name, gpu.multiprocessors):
            if cells.is_worked(code, grid):
                every = cells.gpu_cell(cells.published_name(gpu), grid, *PUBLISHED)
                at, text = {axis: every[axis] for axis in axes}, name.format(gpu=gpu, grid=grid)
                found.append(cells.limit_line(gpu, code, grid, text, at))
    return found


def _breaks(
    claim_id: str, axis: str, unit: str, units: Callable[[Results], int], kind: Kind, why: str
) -> Callable[[Results], Sequence[Published]]:
    """The printed place of a break on an axis beside that of the model, and the measured one.

    The measured one is a multiple of as many units as the device has, which make a whole round;
    `kind` says whether the model finds the break or is given it, and `why` by which of its inputs.
    """
    claim = partial(printed_claim, f"003-{claim_id[:2].upper()}")
    printed = tables.claim_row(claim_id=claim_id)["unit"]
    program, gpu = "the published program, replicated", DOCUMENT_GPU.name

    def published(results: Results) -> Sequence[Published]:
        what = f"the line breaks at so many {printed}"
        note = f"projected for {gpu} from counts of {program}: {why}"
        model = break_of(projected_line(DOCUMENT_GPU, axis), 1.0)
        of_model = claim(what, claim_id, kind, model, note, unit=printed)
        here = measured_break(results, axis, units(results))
        what, note = f"measured break / {unit}", f"{program}; {cells.WORKLOAD}"
        measured = claim(what, claim_id, Kind.SLOPE, here, note, value=1.0)
        return [replace(of_model, origin=Origin.PROJECTED), measured]

    return published


def measured_break(results: Results, axis: str, units: float, **where: Value) -> Figure:
    """The break of a measured line of the published program as a multiple of units."""
    where = {**REPLICATED_PUBLISHED, **where}
    rows = list(results.select(**where))
    if any(row.cell["device"] == PROCESSOR for row in rows):
        return Missing(f"{PROCESSOR} has cores, and no multiprocessors")
    speeds = {
        float(row.cell[axis]): row.payload_mb_per_s.value
        for row in rows
        if row.payload_mb_per_s and not row.wrong
    }
    if not speeds:
        return Missing(results.why_missing(**where))
    return break_of(speeds.items(), units)


def multiprocessors_in(results: Results) -> int | None:
    """Multiprocessors of the device that was measured; of a processor its cores."""
    facts = (each.facts.get("multiprocessors") for each in results.reports)
    return next((int(units) for units in facts if units), None)


def grid_speeds(results: Results, where: Cell, note: str) -> Iterator[Published]:
    """The document's table of grids beside as many blocks for each multiprocessor here."""
    for grid, row in PRINTED_GRIDS.items():
        times, at = times_of(grid), {"threads_per_block": grid.threads}
        here = _speed(results, {**where, **at}, times)
        what = f"{grid.blocks} blocks of {grid.threads} threads"
        each = f"{note}; blocks for each multiprocessor: {times}"
        place = {**cells.PUBLISHED_WAY, "thread_blocks": grid.blocks, **at}
        series = f"published: {DOCUMENT_GPU.name}"
        yield tables.speed("003-T3", what, row, here, each, series, place)


def generation_speeds(results: Results, where: Cell, note: str) -> Iterator[Published]:
    """The document's GPUs beside one thread, and a block on each multiprocessor, here."""
    for row in tables.GPUS:
        is_one = row["test"] == "Thread = 1"
        at: Cell = {"threads_per_block": 1 if is_one else limits.BLOCK_THREADS}
        here = _speed(results, {**where, **at}, 0 if is_one else 1)
        what, series = f"{row['gpu']}, {row['test']}", f"published: {row['test']}"
        place = {**cells.PUBLISHED_WAY, "device": row["gpu"], **at}
        yield tables.speed("003-T5", what, row, here, note, series, place)


def _speed(results: Results, where: Cell, rounds: int) -> Figure:
    """The speed of so many blocks for each multiprocessor, 0 for a single one."""
    if (units := multiprocessors_in(results)) is None:
        return Missing(results.why_missing(**where))
    return cells.of_a_gpu(results, Rate({**where, "thread_blocks": rounds * units or 1}))


def _published_types(results: Results) -> Iterator[Published]:
    def times(one: str, other: str) -> Figure:
        alone: Cell = {"threads_per_block": 1}
        figure = Times({**alone, "type": one}, {**alone, "type": other})
        return cells.of_a_gpu(results, figure, **alone)

    claim, added = partial(printed_claim, "003-F4"), 1 + tables.claim_value("cast-gpu") / 100
    what, note = "static over dynamic casting of float, one thread, up to", "if the 800 % are added"
    here = times(limits.FLOAT, limits.CAST)
    yield claim(what, "cast-gpu", Kind.RATIO, here, f"{added:g} times {note}", value=added)
    what, note = "4-byte integer over 4-byte float, one thread", "integers are claimed to be faster"
    yield claim(what, "float-slower", Kind.SHAPE, times(limits.INT, limits.FLOAT), note)


def _cells_by_type(scope: Scope) -> Iterator[Cell]:
    for (device, each), name in product(_grids_here(one_and_all, scope), limits.PROGRAMS):
        place = {"thread_blocks": each.blocks, "threads_per_block": each.threads}
        yield {"device": device, **place, "type": name}


def _types_arm(cell: Cell, _: Context) -> Arm:
    grid = int(cell["thread_blocks"]), int(cell["threads_per_block"])
    device = cells.device_spec(str(cell["device"]))
    return native("gpu_types", device=device, of=cell["type"], grid=grid)


def _lines_by_type(_: Results) -> Iterator[Line]:
    for gpu in limits.GPUS:
        # Others differ by multiprocessors and clock alone.
        if gpu == DOCUMENT_GPU or gpu.architecture != DOCUMENT_GPU.architecture:
            grids = one_and_all(gpu.name, gpu.multiprocessors)
            for grid, name in product(grids, limits.PROGRAMS):
                series = f"{gpu.name} at most, {grid.threads} threads a block"
                at: Cell = {"threads_per_block": grid.threads, "type": name}
                speed = limits.types_speed(gpu, name, grid)
                yield Line(series, "operations/s", speed, Origin.PROJECTED, at)


def times_of(grid: Grid) -> int:
    """Blocks of one of the document's grids for each multiprocessor of its GPU."""
    return round(grid.blocks / DOCUMENT_GPU.multiprocessors)


# Two that are no whole round show the saw.
COUNTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1_024)
# Compilers for processors compile a kernel again for each number of work-items.
FEWER_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
POWERS = tuple(1 << power for power in range(11))
ROUNDS = 4
PRINTED_GRIDS = {
    Grid(int(row["thread_blocks"]), int(row["threads_per_block"])): row for row in tables.GRIDS
}
ONE_THREAD = tables.gpu_row(gpu="RTX 4070 (2023)", test="Thread = 1")
PUBLISHED_GPU = f"published: {ONE_THREAD['gpu']}"
ON_AES_128 = f"the published program, replicated; {cells.WORKLOAD}"
REPLICATED_PUBLISHED: Cell = {"code": AS_PUBLISHED, "mode": cells.REPLICATED}
# The published program in its mode, and with each message worked once; and Sealift's kernel.
PUBLISHED, PUBLISHED_ONCE = (
    (AS_PUBLISHED, mode, cells.RESIDENT) for mode in (cells.REPLICATED, cells.PARTITIONED)
)
OUR_WAY, COPYING = ((OURS, cells.PARTITIONED, data) for data in (cells.RESIDENT, cells.TRANSFERS))
WAYS = (PUBLISHED, PUBLISHED_ONCE, OUR_WAY)

_by_grid = partial(cells.gpu_experiment, axes=cells.AXES, compare="mode")

THREADS_PER_BLOCK = _by_grid(
    **texts(__package__, "gpu-threads-per-block"),
    id="003-F7",
    cells=_cells(one_block, *WAYS),
    published=_breaks(
        "f7-break",
        "threads_per_block",
        "cores of a multiprocessor",
        lambda _: limits.BLOCK_THREADS,
        Kind.LIMIT,
        "that four parts issue to a warp of 32 threads each is an input; that the limiting unit is "
        "one of their own, and not the one that they share, is found",
    ),
    charts=cells.code_charts("threads_per_block", "One block"),
    lines=lambda _: [
        *_limits(one_block, "threads_per_block"),
        cells.published_line(PUBLISHED_GPU, ONE_THREAD, {"threads_per_block": 1}),
    ],
    weight=0.6,
)
BLOCKS = _by_grid(
    **texts(__package__, "gpu-blocks"),
    id="003-F8",
    cells=_cells(rounds, *WAYS, COPYING),
    published=_breaks(
        "f8-break",
        "thread_blocks",
        "multiprocessors",
        lambda results: multiprocessors_in(results) or DOCUMENT_GPU.multiprocessors,
        Kind.GIVEN,
        "the number of multiprocessors, each of which works one block as fast as one alone",
    ),
    charts=cells.code_charts("thread_blocks", f"Blocks of {limits.BLOCK_THREADS} threads"),
    lines=lambda _: [
        *_limits(rounds, "thread_blocks"),
        *(
            cells.published_line(PUBLISHED_GPU, row, {"thread_blocks": grid.blocks})
            for grid, row in PRINTED_GRIDS.items()
            if grid.threads == limits.BLOCK_THREADS
        ),
    ],
    weight=0.6,
)
GRIDS = _by_grid(
    **texts(__package__, "gpu-grid"),
    id="003-T3",
    cells=_cells(document_grids, *WAYS),
    published=lambda results: [*grid_speeds(results, REPLICATED_PUBLISHED, ON_AES_128)],
    charts=cells.code_charts("thread_blocks", "Grids", panels="threads_per_block"),
    lines=lambda _: _limits(
        document_grids, "thread_blocks", "threads_per_block", gpus=[DOCUMENT_GPU]
    ),
    weight=0.4,
)
GENERATIONS = _by_grid(
    **texts(__package__, "gpu-generations"),
    id="003-T5",
    compare="device",
    cells=_cells(one_and_all, PUBLISHED),
    published=lambda results: [*generation_speeds(results, REPLICATED_PUBLISHED, ON_AES_128)],
    charts=(
        Chart("device", "threads_per_block", "MB/s", "One thread, and all of a GPU", log_y=True),
    ),
    lines=lambda _: _limits(
        one_and_all,
        *("device", "threads_per_block"),
        series="at most, {grid.threads} threads a block",
        ours="at most, Sealift's kernel",
    ),
    weight=0.1,
)
DATA_TYPES = cells.gpu_experiment(
    **texts(__package__, "gpu-data-types"),
    id="003-F4",
    axes=(cells.DEVICE, cells.BLOCKS, cells.THREADS, Axis("type", "data type")),
    compare="type",
    cells=_cells_by_type,
    arm=_types_arm,
    operation="multiplication",
    published=lambda results: [*_published_types(results)],
    charts=(
        Chart("type", "threads_per_block", "operations/s", "Products by data type", log_y=True),
    ),
    lines=lambda results: [*_lines_by_type(results)],
    weight=0.3,
)
