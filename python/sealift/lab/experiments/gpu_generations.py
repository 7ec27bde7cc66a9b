"""GPU generations (document 003, its table), with the device of this machine as one more.

One thread, and a block of 128 threads for each multiprocessor, by the published program. Where
there is no GPU that runs by OpenCL on this processor, and is called so. Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    AXES,
    BLOCKS,
    DEVICE,
    MESSAGES,
    PROCESSOR,
    REPLICATED,
    RESIDENT,
    THREADS,
    device_of,
    gpu_arm,
    gpu_cell,
    gpu_there,
    grid_of,
    units_of,
)
from sealift.lab.gpus.grid import Grid, grid_limit
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import MEGABYTE, STANDS_ON, named, title
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
    ).beside(_here(found, row["test"]), "the published program, replicated")


def _here(found: Found, test: str) -> Here:
    threads = 1 if test == ONE else BLOCK_THREADS
    row = found.row(**{THREADS.name: threads})
    if row and row.cell[DEVICE.name] == PROCESSOR:
        return ALONE
    return payload_speed(found, **{THREADS.name: threads})


def _says(found: Found) -> str:
    best = max(ALL, key=lambda row: float(row["throughput_mb_s"]) / int(row["sm"]))
    worst = min(ALL, key=lambda row: float(row["throughput_mb_s"]) / int(row["sm"]))
    limits = ", ".join(
        f"{gpu.name} {format_measure(_limit(gpu) / gpu.multiprocessors)}" for gpu in GPUS
    )
    told = (
        f"Published: {_each(worst)} (and {_each(best)}) MB/s for each multiprocessor of "
        f"{worst['gpu']} (and {best['gpu']}). Projected: Sealift's kernel does at most {limits} "
        f"({STANDS_ON})."
    )
    for row in found.rows:
        speed = row.payload_mb_per_s
        if speed and not row.wrong:
            device = named(str(row.cell[DEVICE.name]))
            told += f" Measured by {device}, {_test(row)}: {format_measure(speed.median)} MB/s."
    return told


def _each(row: Mapping[str, str]) -> str:
    return format_measure(float(row["throughput_mb_s"]) / int(row["sm"]))


def _limit(gpu: Gpu) -> float:
    """MB/s of a block for each multiprocessor, each message worked once."""
    grid = Grid(gpu.multiprocessors, BLOCK_THREADS)
    return grid_limit(gpu, MESSAGES, grid).bytes_per_s / MEGABYTE


def _one(gpu: Gpu) -> float:
    return grid_limit(gpu, MESSAGES, Grid(1, 1)).bytes_per_s / MEGABYTE


def _test(row: Row) -> str:
    return ONE if grid_of(row.cell).every == 1 else EVERY


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        Point(row["gpu"], float(row["throughput_mb_s"]), None, None, _as(row), Origin.PUBLISHED)
        for row in PRINTED
    ]
    for row in found.rows:
        if not row.wrong and (speed := row.payload_mb_per_s):
            x, name = str(row.cell[DEVICE.name]), f"measured: {_test(row)}"
            points.append(Point(x, speed.median, speed.low, speed.high, name))
    for gpu in GPUS:
        x = next((row["gpu"] for row in ALL if row["gpu"].startswith(gpu.name)), gpu.name)
        for test, value in ((ONE, _one(gpu)), (EVERY, _limit(gpu))):
            name = f"projected, at most: {test}"
            points.append(Point(x, value, None, None, name, Origin.PROJECTED))
    labels = Labels(title(found, "GPU generations"), DEVICE.title, "payload, MB/s", "what is done")
    return [Chart(points, labels, Scales(log_y=True))]


def _as(row: Mapping[str, str]) -> str:
    return f"published: {row['test']}"


def _listings(found: Found) -> Sequence[Listing]:
    rows = [
        (row["gpu"], "published", row["test"], f"{row['sm']}", row["throughput_mb_s"], _each(row))
        for row in PRINTED
    ]
    rows += [
        (
            gpu.name,
            "projected, at most",
            EVERY,
            f"{gpu.multiprocessors}",
            format_measure(_limit(gpu)),
            format_measure(_limit(gpu) / gpu.multiprocessors),
        )
        for gpu in GPUS
    ]
    for row in found.rows:
        if not row.wrong and (speed := row.payload_mb_per_s):
            blocks = grid_of(row.cell).blocks
            rows.append(
                (
                    str(row.cell[DEVICE.name]),
                    "measured",
                    _test(row),
                    f"{blocks}",
                    format_measure(speed.median),
                    format_measure(speed.median / blocks),
                )
            )
    columns = ("device", "origin", "threads", "multiprocessors", "MB/s", "MB/s for each")
    return [Listing("Generations, for each multiprocessor", columns, rows, columns[3:])]


PRINTED = table("003-T5-gpu-generations")
ONE, EVERY = "Thread = 1", "Threads = cores"
ALL = [row for row in PRINTED if row["test"] == EVERY]
BLOCK_THREADS = 128

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
