"""Grids of blocks and threads at and over the maximum of a GPU (document 003, its table).

The document's seven grids, as multiples of the multiprocessors that its GPU has and the one here.
Where there is no GPU they run by OpenCL on this processor, whose cores stand for multiprocessors,
and are called so. Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    AXES,
    BLOCKS,
    CODE,
    DEVICE,
    MESSAGES,
    MODE,
    OURS,
    OURS_MOST,
    PROCESSOR,
    REPLICATED,
    RESIDENT,
    THREADS,
    WORKLOAD,
    device_of,
    gpu_arm,
    gpu_cell,
    gpu_there,
    grid_of,
    units_of,
    ways,
)
from sealift.lab.gpus.grid import PUBLISHED_FRAME_BYTES, Grid, frame_threads, reading_threads
from sealift.lab.gpus.limits import Gpu
from sealift.lab.gpus.shown import (
    document_gpu,
    multiprocessors_in,
    named,
    ours,
    projected,
    projected_ours,
    replicated,
    title,
)
from sealift.lab.gpus.work import published_bytes
from sealift.lab.published import Comparison, Here, Kind, Printed, payload_speed, table
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    units = units_of(device, scope.cores)
    for times, threads in grids():
        for code, mode, data in ways(RESIDENT):
            if code != OURS or threads <= OURS_MOST:
                yield gpu_cell(device, Grid(times * units, threads), code, mode, data)


def grids() -> list[tuple[int, int]]:
    """Blocks for each multiprocessor, and threads of each; the document's 256 of 36 are 7."""
    return [
        (round(_printed_grid(row).blocks / PRINTED_UNITS), _printed_grid(row).threads)
        for row in PRINTED
    ]


def _printed_grid(row: Mapping[str, str]) -> Grid:
    return Grid(int(row["thread_blocks"]), int(row["threads_per_block"]))


def _published(found: Found) -> Sequence[Comparison]:
    return [_beside(found, row) for row in PRINTED]


def _beside(found: Found, row: Mapping[str, str]) -> Comparison:
    grid = _printed_grid(row)
    times = round(grid.blocks / PRINTED_UNITS)
    told = f"{times} blocks for each multiprocessor" if times > 1 else "a block for each one"
    return Printed(
        figure="003-T3",
        what=f"{grid.blocks} blocks of {grid.threads} threads",
        value=float(row["throughput_mb_s"]),
        unit="MB/s",
        source=row["source"],
        kind=Kind.VALUE,
    ).beside(
        _here(found, times, grid.threads),
        f"the published program, replicated, {told}; {WORKLOAD}",
    )


def _here(found: Found, times: int, threads: int) -> Here:
    where = {CODE.name: AS_PUBLISHED, MODE.name: REPLICATED}
    units = multiprocessors_in(found)
    if units is None:
        return found.why_not(**where)
    if any(row.cell[DEVICE.name] == PROCESSOR for row in found.rows):
        return ALONE
    return payload_speed(found, **where, **{BLOCKS.name: times * units, THREADS.name: threads})


def _says(found: Found) -> str:
    return f"{caches_text()} Projected curves have no caches and no fall.{_best(found)}"


def caches_text() -> str:
    """What the document's fall of throughput may come of, by what its threads keep and read."""
    threads = [_printed_grid(row).every for row in PRINTED]
    speeds = [float(row["throughput_mb_s"]) for row in PRINTED]
    last = max(n for n, speed in zip(threads, speeds, strict=True) if speed == max(speeds))
    fall = min(n for n in threads if n > last)
    counts = (min(threads), last, fall)
    best = {n: max(s for m, s in zip(threads, speeds, strict=True) if m == n) for n in counts}
    printed = ", ".join(f"{speed:,.0f} MB/s with {n:,} threads" for n, speed in best.items())
    return (
        f"Published: {printed}; the document puts the fall down to switching contexts. Caches that "
        f"are too small are another reason that there may be. {_all_tables(*counts)} "
        f"{_tables_read(*counts)} Which of the two it is does not follow."
    )


def _all_tables(*threads: int) -> str:
    return _in_all(PUBLISHED_FRAME_BYTES, "keeps", frame_threads(document_gpu()), *threads)


def _tables_read(*threads: int) -> str:
    bits = MESSAGES.key_bits
    filling = reading_threads(document_gpu(), bits)
    return _in_all(published_bytes(bits), "reads, while it works messages,", filling, *threads)


def _in_all(size_bytes: int, does: str, filling: int, *threads: int) -> str:
    """What so many threads have of something in all."""
    gpu = document_gpu()
    every = ", ".join(f"{n:,} have {n * size_bytes / 1e6:.0f} MB" for n in threads)
    return (
        f"A thread {does} {size_bytes:,} B of tables: {filling:,} of them fill the "
        f"{gpu.cache_bytes >> 20} MiB cache of {gpu.name}; {every}."
    )


def _best(found: Found) -> str:
    """In which grid each way did most, where it was measured."""
    told = []
    for code, mode, _ in ways(RESIDENT):
        rows = [
            (speed.median, row.cell)
            for row in found.rows
            if (row.cell[CODE.name], row.cell[MODE.name]) == (code, mode)
            and not row.wrong
            and (speed := row.payload_mb_per_s)
        ]
        if rows:
            most, cell = max(rows, key=lambda each: each[0])
            grid = grid_of(cell)
            told.append(
                f"{code}, {mode}, {format_measure(most)} MB/s with {grid.blocks} blocks of "
                f"{grid.threads}"
            )
    if not told:
        return ""
    device = named(str(found.rows[0].cell[DEVICE.name]))
    return f" Measured by {device}, the most: {'; '.join(told)}."


def _charts(found: Found) -> Sequence[Chart]:
    printed = [
        Point(
            _name(round(_printed_grid(row).blocks / PRINTED_UNITS), _printed_grid(row).threads),
            float(row["throughput_mb_s"]),
            None,
            None,
            f"published: {document_gpu().name}",
            Origin.PUBLISHED,
        )
        for row in PRINTED
    ]
    points = [
        *printed,
        *_measured(found),
        *projected(lambda gpu: ((name, replicated(gpu, grid)) for name, grid in _of(gpu))),
        *projected_ours(
            lambda gpu: (
                (name, ours(gpu, grid)) for name, grid in _of(gpu) if grid.threads <= OURS_MOST
            )
        ),
    ]
    what = "Grids at and over the maximum"
    labels = Labels(title(found, what), "grid", "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_y=True))]


def _measured(found: Found) -> Iterator[Point]:
    units = multiprocessors_in(found)
    for row in found.rows:
        speed = row.payload_mb_per_s
        if units and speed and not row.wrong:
            grid, cell = grid_of(row.cell), row.cell
            name = _name(grid.blocks // units, grid.threads)
            series = f"{cell[CODE.name]}, {cell[MODE.name]}: {cell[DEVICE.name]}"
            yield Point(name, speed.median, speed.low, speed.high, series)


def _of(gpu: Gpu) -> Iterator[tuple[str, Grid]]:
    for times, threads in grids():
        yield _name(times, threads), Grid(times * gpu.multiprocessors, threads)


def _name(times: int, threads: int) -> str:
    return f"{times} a multiprocessor, {threads} threads"


def _listings(found: Found) -> Sequence[Listing]:
    """The whole grid: published, projected for each GPU, and what was measured."""
    by_series: dict[str, dict[str, float]] = {}
    for chart in _charts(found):
        for point in chart.points:
            by_series.setdefault(point.series, {})[str(point.x)] = point.y
    names = [_name(*each) for each in grids()]
    rows = [
        (series, *(format_measure(by_name[name]) if name in by_name else "" for name in names))
        for series, by_name in by_series.items()
    ]
    return [Listing("MB/s of the whole grid", ("what is done", *names), rows, names)]


PRINTED = table("003-T3-gpu-blocks-threads")
PRINTED_UNITS = document_gpu().multiprocessors

EXPERIMENT = Experiment(
    name="gpu-grid",
    id="003-T3",
    title="Grids of blocks and threads at and over a GPU's maximum",
    why="What do more threads than a GPU has cores make of its throughput, and what becomes of "
    "the document's fall beyond 9,216 threads where threads keep no tables of their own?",
    axes=AXES,
    compare=MODE.name,
    cells=_cells,
    arm=gpu_arm,
    published=_published,
    says=_says,
    charts=_charts,
    listings=_listings,
    plots=(
        Plot(
            x=BLOCKS.name,
            y="payload_MB_per_s",
            z=THREADS.name,
            title="Measured, by thread blocks and their threads",
            facet=DEVICE.name,
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.4,
    tries=gpu_there,
    essential=2,
)
