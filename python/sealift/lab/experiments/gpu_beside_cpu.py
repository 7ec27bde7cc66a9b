"""All cores of a CPU against all of a GPU (document 003, figure 10), break-even and latency.

As the document's program did it; by Sealift's kernels with data that lie where they are worked; and
with the way to the device and back, by messages at once, beside 1, 2, 4 and 8 cores. One message at
once is its latency. Where there is no GPU that runs by OpenCL on this processor, and is called so.
Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    CODE,
    DATA,
    DEVICE,
    MESSAGE,
    MESSAGES,
    MODE,
    OURS,
    PARTITIONED,
    PROCESSOR,
    REPLICATED,
    RESIDENT,
    TRANSFERS,
    device_of,
    units_of,
)
from sealift.lab.gpus.cores import (
    BY_CODE,
    beside_arm,
    beside_cell,
    beside_there,
    core_counts,
    cores_of,
    cores_text,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.limits import GPUS
from sealift.lab.gpus.shown import MEGABYTE, NO_GPU, STANDS_ON, named
from sealift.lab.gpus.work import message_limit
from sealift.lab.gpus.worth import break_even
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Printed,
    operation_time,
    quotient,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin, Row
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    """The document's question first, then batches from both ends, which tell of break-even."""
    if scope.quick:
        return
    device = device_of(scope)
    units = units_of(device, scope.cores)
    resident = FEWER if device == PROCESSOR else MANY
    yield from _group(AS_PUBLISHED, REPLICATED, RESIDENT, EACH, units, [scope.cores], device)
    yield from _group(OURS, PARTITIONED, RESIDENT, resident, units, [scope.cores], device)
    for batch in BATCHES:
        counts = list(core_counts(scope.cores))
        yield from _group(OURS, PARTITIONED, TRANSFERS, batch, units, counts, device)


def _group(
    code: str, mode: str, data: str, batch: int, units: int, counts: Sequence[int], device: str
) -> Iterator[Cell]:
    for name in (*(cores_text(BY_CODE[code], count) for count in counts), device):
        cell = beside_cell(name, code, data)
        yield {**cell, MODE.name: mode, UNITS.name: units, BATCH.name: batch}


def _arm(cell: Cell, context: Context) -> Arm:
    grid = None
    if cell[CODE.name] == AS_PUBLISHED:
        grid = Grid(int(cell[UNITS.name]), BLOCK_THREADS)
    device = str(cell[DEVICE.name])
    return beside_arm(cell, device, grid, context, messages=int(cell[BATCH.name]))


def _published(found: Found) -> Sequence[Comparison]:
    every = table_row("003-T4-cpu-generations", cpu="i7-12700H", test="Threads = cores")
    vendor = table_row("003-T4-cpu-generations", cpu="i7-12700H", test="Threads = cores, IPP")
    gpu = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Threads = cores")
    claim = table_row("003-X1-claims", claim_id="gpu-cpu")
    speeds = [float(row["throughput_mb_s"]) for row in (gpu, every, vendor)]
    where = {CODE.name: AS_PUBLISHED}
    own = (
        f"the published program on all of the GPU against table code on all cores; the document's "
        f"own tables give {speeds[0] / speeds[1]:.1f}, and {speeds[0] / speeds[2]:.1f} against "
        "the vendor's library"
    )
    latency = table_row("003-X1-claims", claim_id="latency")
    return [
        Printed(
            "003-F10",
            "all of a GPU against all CPU cores",
            float(claim["value"]),
            "x",
            f"{claim['source']}: {claim['as_printed']}",
            Kind.RATIO,
        ).beside(_times(found, where), own),
        Printed(
            "003-F10",
            "a CPU core takes less for one message than a GPU",
            1.0,
            "x",
            f"{latency['source']}: {latency['as_printed']}",
            Kind.SHAPE,
        ).beside(_latency(found), "one message at once, with the way there and back"),
    ]


def _times(found: Found, where: Mapping[str, Value]) -> Here:
    """How many times as fast as the cores the device is."""
    device = _gpu(found)
    if (row := found.row(**where, **{DEVICE.name: device})) is None:
        return found.why_not(**where, **{DEVICE.name: device})
    if device == PROCESSOR:
        return ALONE
    cores = next(
        (dict(each.cell) for each in found.rows if each.work == row.work and each is not row), {}
    )
    return times_as_fast(found, dict(row.cell), cores)


def _latency(found: Found) -> Here:
    device = _gpu(found)
    where: Mapping[str, Value] = {BATCH.name: 1, DATA.name: TRANSFERS}
    here = operation_time(found, **where, **{DEVICE.name: device})
    if isinstance(here, str):
        return here
    if device == PROCESSOR:
        return ALONE
    return quotient(here, operation_time(found, **where, **{DEVICE.name: ONE_CORE}))


def _gpu(found: Found) -> str:
    """What stands beside the cores."""
    names = (str(each.cell[DEVICE.name]) for each in found.verified)
    return next((name for name in names if cores_of(name) is None), PROCESSOR)


def _says(found: Found) -> str:
    limits = ", ".join(
        f"{gpu.name} {format_measure(message_limit(gpu, MESSAGES).bytes_per_s / MEGABYTE)}"
        for gpu in GPUS
    )
    told = [f"Projected: all of a GPU does at most, in MB/s: {limits} ({STANDS_ON})."]
    by_device = _by_batch(found)
    device = _gpu(found)
    worth = [
        f"{name} {said}"
        for name, rows in by_device.items()
        if name != device and (said := break_even(by_device.get(device, {}), rows))
    ]
    if worth:
        told.append(
            f"Measured: with the way there and back {named(device)} takes less than so many cores "
            f"at so many messages of {MESSAGES.text_bytes} B at once: {'; '.join(worth)}."
        )
    times = [
        f"{format_measure(rows[1].ns_per_operation.median / 1_000)} us by {named(name)}"
        for name, rows in by_device.items()
        if 1 in rows and name in (ONE_CORE, device)
    ]
    if len(times) == len((ONE_CORE, device)):
        told.append(f"One message alone takes {' and '.join(times)}.")
    return " ".join(told)


def _by_batch(found: Found) -> Mapping[str, Mapping[int, Row]]:
    """Rows with the way there and back, by who and by messages at once."""
    rows: dict[str, dict[int, Row]] = {}
    for row in found.rows:
        if row.cell[DATA.name] == TRANSFERS and not row.wrong:
            own = rows.setdefault(str(row.cell[DEVICE.name]), {})
            own[int(row.cell[BATCH.name])] = row
    return rows


def _charts(found: Found) -> Sequence[Chart]:
    """Document 003's figure with what is projected; and time a message by messages at once."""
    points = [
        Point(
            str(row.cell[DEVICE.name]),
            speed.median,
            speed.low,
            speed.high,
            f"measured, {row.cell[CODE.name]}, {row.cell[MODE.name]}",
        )
        for row in found.rows
        if not row.wrong and row.cell[DATA.name] == RESIDENT and (speed := row.payload_mb_per_s)
    ]
    for gpu in GPUS:
        speed_mb_s = message_limit(gpu, MESSAGES).bytes_per_s / MEGABYTE
        name = next((each[2] for each in PRINTED if each[2].startswith(gpu.name)), gpu.name)
        points.append(Point(name, speed_mb_s, None, None, LIMITS, Origin.PROJECTED))
    for name, key, label, test in PRINTED:
        row = table_row(name, **{key: label}, test=test)
        value = float(row["throughput_mb_s"])
        points.append(Point(label, value, None, None, f"published, {test}", Origin.PUBLISHED))
    what = "All cores, and all of a GPU"
    if any(row.cell[DEVICE.name] == PROCESSOR for row in found.rows):
        what = f"{what}, in whose place is {NO_GPU}"
    labels = Labels(what, DEVICE.title, "payload, MB/s, data where they are worked", "origin")
    return [Chart(points, labels, Scales(log_y=True))]


UNITS = Axis("units", "multiprocessors, or cores")
BATCH = Axis("batch", "messages at once")
BLOCK_THREADS = 128
# By each thread of the published program.
EACH = 64
FEWER, MANY = 4_096, 1 << 18
BATCHES = (1, 65_536, 16, 4_096, 256)
ONE_CORE = cores_text("cpu", 1)
LIMITS = "projected: Sealift's kernel, at most"
PRINTED = (
    ("003-T4-cpu-generations", "cpu", "i7-12700H", "Threads = cores"),
    ("003-T4-cpu-generations", "cpu", "i7-12700H", "Threads = cores, IPP"),
    ("003-T5-gpu-generations", "gpu", "RTX 3050", "Threads = cores"),
    ("003-T5-gpu-generations", "gpu", "RTX 4070 (2023)", "Threads = cores"),
    ("003-T5-gpu-generations", "gpu", "RTX 4060 (2024)", "Threads = cores"),
)

EXPERIMENT = Experiment(
    name="gpu-beside-cpu",
    id="003-F10",
    title="All CPU cores beside all of a GPU",
    why="How many times as much does a GPU do as all cores, from how many messages at once on is "
    "it worth the way there and back, and what does one message alone take?",
    axes=(MESSAGE, DATA, CODE, MODE, UNITS, BATCH, DEVICE),
    compare=DEVICE.name,
    cells=_cells,
    arm=_arm,
    published=_published,
    says=_says,
    charts=_charts,
    plots=(
        Plot(
            x=BATCH.name,
            y="ns_per_operation",
            z=DEVICE.name,
            title="Time a message by messages at once, with the way there and back",
            where={DATA.name: TRANSFERS},
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.8,
    tries=beside_there,
    essential=2,
)
