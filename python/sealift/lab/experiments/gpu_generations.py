"""GPU generations (document 003, its table), with the device of this machine as one more.

One thread, and a block of 128 threads for each multiprocessor, by the published program. Where
there is no GPU that runs by OpenCL on this processor, and is called so. Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    AXES,
    BLOCK_THREADS,
    BLOCKS,
    DEVICE,
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
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import (
    MEGABYTE,
    OURS_STANDS_ON,
    STANDS_ON,
    PrintedRow,
    Speed,
    as_printed,
    beside_points,
    mb_per_s_text,
    multiprocessors_in,
    named,
    ours,
    printed_points,
    replicated,
    title,
)
from sealift.lab.published import Comparison, Here, Kind, Printed, payload_speed, table
from sealift.lab.result import Found, Listing, Origin, Row
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for grid in (Grid(1, 1), Grid(units_of(device, scope.cores), BLOCK_THREADS)):
        yield gpu_cell(device, grid, AS_PUBLISHED, REPLICATED, RESIDENT)


def _published(found: Found) -> Sequence[Comparison]:
    return [_beside(found, row) for row in PRINTED]


def _beside(found: Found, row: Mapping[str, str]) -> Comparison:
    return Printed(
        figure="003-T5",
        what=f"{row['gpu']}, {row['test']}",
        value=float(row["throughput_mb_s"]),
        unit="MB/s",
        source=row["source"],
        kind=Kind.VALUE,
    ).beside(_here(found, row["test"]), f"the published program, replicated; {WORKLOAD}")


def _here(found: Found, test: str) -> Here:
    threads = 1 if test == ONE else BLOCK_THREADS
    row = found.row(**{THREADS.name: threads})
    if row and row.cell[DEVICE.name] == PROCESSOR:
        return ALONE
    return payload_speed(found, **{THREADS.name: threads})


def _says(found: Found) -> str:
    best = max(ALL, key=lambda row: float(row["throughput_mb_s"]) / int(row["sm"]))
    worst = min(ALL, key=lambda row: float(row["throughput_mb_s"]) / int(row["sm"]))
    told = (
        f"Published: a multiprocessor of {worst['gpu']} does {_each(worst)} MB/s, the least, and "
        f"one of {best['gpu']} {_each(best)}, the most. Projected: a multiprocessor does at most, "
        f"in MB/s, the document's way {mb_per_s_text(lambda gpu: _of_one(gpu, replicated))} "
        f"({STANDS_ON}); with Sealift's kernel {mb_per_s_text(lambda gpu: _of_one(gpu, ours))} "
        f"({OURS_STANDS_ON})."
    )
    for row in found.rows:
        speed = row.payload_mb_per_s
        if speed and not row.wrong:
            device = named(str(row.cell[DEVICE.name]))
            told += f" Measured by {device}, {_test(row)}: {format_measure(speed.median)} MB/s."
    return told


def _each(row: Mapping[str, str]) -> str:
    """MB/s for each multiprocessor; "" of one thread, which all but one of them don't have."""
    if row["test"] == ONE:
        return ""
    return format_measure(float(row["throughput_mb_s"]) / int(row["sm"]))


def _of_one(gpu: Gpu, speed: Speed) -> float:
    """Bytes a second of one multiprocessor where all have a block."""
    return speed(gpu, _every(gpu)) / gpu.multiprocessors


def _every(gpu: Gpu) -> Grid:
    return Grid(gpu.multiprocessors, BLOCK_THREADS)


def _test(row: Row) -> str:
    return ONE if grid_of(row.cell).every == 1 else EVERY


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        *printed_points(ROWS, str, lambda test: f"published: {test}"),
        *beside_points(found, lambda row: f"measured: {_test(row)}"),
        *(point for gpu in GPUS for point in _limits(gpu)),
    ]
    labels = Labels(title(found, "GPU generations"), DEVICE.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_y=True))]


def _limits(gpu: Gpu) -> Iterator[Point]:
    x = as_printed(gpu, (row["gpu"] for row in ALL))
    lines = {
        f"projected, at most: {ONE}": replicated(gpu, Grid(1, 1)),
        f"projected, at most: {EVERY}": replicated(gpu, _every(gpu)),
        f"projected, at most: Sealift's kernel, {EVERY}": ours(gpu, _every(gpu)),
    }
    for name, speed in lines.items():
        yield Point(x, speed / MEGABYTE, None, None, name, Origin.PROJECTED)


def _listings(found: Found) -> Sequence[Listing]:
    rows = [
        (row["gpu"], "published", row["test"], f"{row['sm']}", row["throughput_mb_s"], _each(row))
        for row in PRINTED
    ]
    rows += [
        (
            gpu.name,
            f"projected, at most{name}",
            EVERY,
            f"{gpu.multiprocessors}",
            format_measure(speed(gpu, _every(gpu)) / MEGABYTE),
            format_measure(_of_one(gpu, speed) / MEGABYTE),
        )
        for gpu in GPUS
        for name, speed in SPEEDS.items()
    ]
    rows += _measured(found)
    columns = ("device", "origin", "threads", "multiprocessors", "MB/s", "MB/s for each")
    return [Listing("Generations, for each multiprocessor", columns, rows, columns[3:])]


def _measured(found: Found) -> Iterator[tuple[str, str, str, str, str, str]]:
    units = multiprocessors_in(found)
    for row in found.rows:
        if not row.wrong and (speed := row.payload_mb_per_s):
            blocks, device = grid_of(row.cell).blocks, str(row.cell[DEVICE.name])
            is_one = _test(row) == ONE
            yield (
                device,
                "measured",
                _test(row),
                f"{units or ''}{' cores' * (device == PROCESSOR)}",
                format_measure(speed.median),
                "" if is_one else format_measure(speed.median / blocks),
            )


SPEEDS: Mapping[str, Speed] = {"": replicated, ", Sealift's kernel": ours}
PRINTED = table("003-T5-gpu-generations")
ONE, EVERY = "Thread = 1", "Threads = cores"
ALL = [row for row in PRINTED if row["test"] == EVERY]
ROWS: Sequence[PrintedRow] = [
    ("003-T5-gpu-generations", "gpu", row["gpu"], row["test"]) for row in PRINTED
]

EXPERIMENT = Experiment(
    name="gpu-generations",
    id="003-T5",
    title="GPU generations",
    why="What does a generation add, for each multiprocessor, and where would today's stand?",
    axes=AXES,
    compare=DEVICE.name,
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
            title="Measured, one thread and all",
            facet=DEVICE.name,
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.1,
    tries=gpu_there,
)
