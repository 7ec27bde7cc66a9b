"""All cores of a CPU against all of a GPU (document 003, figure 10), break-even and latency.

As the document's program did it; by Sealift's kernels with data that lie where they are worked; and
from this machine's memory and back there, by messages at once, beside 1, 2, 4 and 8 cores. The last
is what a user gets: the engine and the device's driver, which gather, copy, work and scatter, and a
batch that is waited for before the next one begins. One message at once so is its latency. Where
there is no GPU that runs by OpenCL on this processor, and is called so. Not part of a quick run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    BLOCK_THREADS,
    CODE,
    DATA,
    DEVICE,
    HOST,
    MESSAGE,
    MESSAGES,
    MODE,
    OURS,
    PARTITIONED,
    PROCESSOR,
    REPLICATED,
    RESIDENT,
    THREAD_MESSAGES,
    WORKLOAD,
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
    host_arm,
    shared_out,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.host import earliest, message_ns
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.gpus.shown import (
    MEGABYTE,
    OURS_STANDS_ON,
    PrintedRow,
    as_printed,
    beside_points,
    beside_title,
    device_in,
    mb_per_s_text,
    named,
    printed_points,
    replicated,
)
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
    """The document's question first, then batches in the order in which they tell of break-even."""
    if scope.quick:
        return
    device = device_of(scope)
    units, every = units_of(device, scope.cores), [scope.cores]
    each = shared_out(THREAD_MESSAGES, scope.cores)
    resident = shared_out(FEWER if device == PROCESSOR else MANY, scope.cores)
    yield from _group(AS_PUBLISHED, REPLICATED, RESIDENT, each, units, every, device)
    yield from _group(OURS, PARTITIONED, RESIDENT, resident, units, every, device)
    for batch in BATCHES:
        counts = core_counts(scope.cores, batch)
        yield from _group(OURS, PARTITIONED, HOST, batch, units, counts, device)


def _group(
    code: str, mode: str, data: str, batch: int, units: int, counts: Sequence[int], device: str
) -> Iterator[Cell]:
    for name in (*(cores_text(BY_CODE[code], count) for count in counts), device):
        cell = beside_cell(name, code, data)
        yield {**cell, MODE.name: mode, UNITS.name: units, BATCH.name: batch}


def _arm(cell: Cell, context: Context) -> Arm:
    messages = int(cell[BATCH.name])
    if cell[DATA.name] == HOST:
        return host_arm(cell, context, messages=messages)
    is_published = cell[CODE.name] == AS_PUBLISHED
    grid = Grid(int(cell[UNITS.name]), BLOCK_THREADS) if is_published else None
    return beside_arm(cell, str(cell[DEVICE.name]), grid, context, messages=messages)


def _published(found: Found) -> Sequence[Comparison]:
    speeds = [
        float(table_row(name, **{key: label}, test=test)["throughput_mb_s"])
        for name, key, label, test in (DOCUMENT_GPU, EVERY_CORE, EVERY_CORE_IPP)
    ]
    claim = table_row("003-X1-claims", claim_id="gpu-cpu")
    where = {CODE.name: AS_PUBLISHED}
    own = (
        f"the published program on all of the GPU against table code on all cores; the document's "
        f"own tables give {speeds[0] / speeds[1]:.1f}, and {speeds[0] / speeds[2]:.1f} against "
        f"the vendor's library; {WORKLOAD}"
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
        ).beside(
            _latency(found),
            f"one message, handed over and waited for before the next, {HOST}; {WORKLOAD}",
        ),
    ]


def _times(found: Found, where: Mapping[str, Value]) -> Here:
    """How many times as fast as the cores the device is."""
    device = device_in(found)
    if (row := found.row(**where, **{DEVICE.name: device})) is None:
        return found.why_not(**where, **{DEVICE.name: device})
    if device == PROCESSOR:
        return ALONE
    cores = [each for each in found.rows if each.work == row.work and each is not row]
    if not cores:
        return f"no cores beside it: {found.why_not(**where)}"
    return times_as_fast(found, row.cell, cores[0].cell)


def _latency(found: Found) -> Here:
    device = device_in(found)
    where: Mapping[str, Value] = {BATCH.name: 1, DATA.name: HOST}
    here = operation_time(found, **where, **{DEVICE.name: device})
    if isinstance(here, str):
        return here
    if device == PROCESSOR:
        return ALONE
    return quotient(here, operation_time(found, **where, **{DEVICE.name: ONE_CORE}))


def _says(found: Found) -> str:
    limits = mb_per_s_text(lambda gpu: message_limit(gpu, MESSAGES).bytes_per_s)
    told = [
        f"Projected: all of a GPU does at most, in MB/s, with Sealift's kernel: {limits} "
        f"({OURS_STANDS_ON}).",
        *_projected_break_even(found),
    ]
    by_device = _by_batch(found)
    device = device_in(found)
    worth = [
        f"{name} {said}"
        for name, rows in by_device.items()
        if name != device and (said := break_even(by_device.get(device, {}), rows))
    ]
    if worth:
        told.append(
            f"Measured, {HOST}, by messages of {MESSAGES.text_bytes} B that are handed over at "
            f"once: {named(device)} begins to be faster than {'; than '.join(worth)}."
        )
    times = [
        f"{format_measure(rows[1].ns_per_operation.median / 1_000)} us by {named(name)}"
        for name, rows in by_device.items()
        if 1 in rows and name in (ONE_CORE, device)
    ]
    if len(times) == len((ONE_CORE, device)):
        told.append(f"One message alone takes {' and '.join(times)}.")
    return " ".join(told)


def _projected_break_even(found: Found) -> Iterator[str]:
    """From how many messages on a GPU could be faster than cores here with as many."""
    rows = {name: each for name, each in _by_batch(found).items() if cores_of(name)}
    by_cores = sorted(rows, key=lambda name: cores_of(name) or 0)
    for name in dict.fromkeys((*by_cores[:1], *by_cores[-1:])):
        yield f"{_firsts(name, rows[name])}{_not_run(found, name, rows[name])}."
    if rows:
        yield "What starts copies and kernels is not in that."


def _firsts(name: str, rows: Mapping[int, Row]) -> str:
    if max(rows) == 1:
        return f"From how many messages at once it could take less than {name} here is not known"
    firsts = ", ".join(f"{gpu.name} {earliest(gpu, rows)}" for gpu in GPUS)
    return (
        f"Of {_counts(rows)} messages at once, {HOST}, the first with which it could take less "
        f"than {name} here: {firsts}"
    )


def _not_run(found: Found, name: str, rows: Mapping[int, Row]) -> str:
    """With which batches that is not known, and why; each core has a message at least."""
    cores = cores_of(name) or 1
    missing = sorted(batch for batch in BATCHES if batch >= cores and batch not in rows)
    if not missing:
        return ""
    where: Cell = {DATA.name: HOST, DEVICE.name: name, BATCH.name: missing[0]}
    why = found.why_not(**where)
    return f"; with {_counts(missing)} that is not known ({why})"


def _counts(batches: Iterable[int]) -> str:
    return ", ".join(f"{batch:,}" for batch in sorted(batches))


def _by_batch(found: Found) -> Mapping[str, Mapping[int, Row]]:
    """Rows host to host, by who and by messages at once."""
    rows: dict[str, dict[int, Row]] = {}
    for row in found.rows:
        if row.cell[DATA.name] == HOST and not row.wrong:
            own = rows.setdefault(str(row.cell[DEVICE.name]), {})
            own[int(row.cell[BATCH.name])] = row
    return rows


def _charts(found: Found) -> Sequence[Chart]:
    """Document 003's figure with what is projected; and time a message by messages at once."""
    return [_of_the_document(found), _of_batches(found)]


def _of_the_document(found: Found) -> Chart:
    resident = [row for row in found.rows if row.cell[DATA.name] == RESIDENT]
    points = [
        *beside_points(Found(resident, ()), _series),
        *(point for gpu in GPUS for point in _limits(gpu)),
        *printed_points(PRINTED, str, lambda test: f"published, {test}"),
    ]
    what = beside_title(found, "All cores, and all of a GPU")
    labels = Labels(what, DEVICE.title, "payload, MB/s, data where they are worked", "origin")
    return Chart(points, labels, Scales(log_y=True))


def _series(row: Row) -> str:
    return f"measured, {row.cell[CODE.name]}, {row.cell[MODE.name]}"


def _limits(gpu: Gpu) -> Iterator[Point]:
    x = as_printed(gpu, (row[2] for row in PRINTED))
    whole = Grid(gpu.multiprocessors, BLOCK_THREADS)
    lines = {
        LIMITS: replicated(gpu, whole),
        OURS_LIMITS: message_limit(gpu, MESSAGES).bytes_per_s,
    }
    for name, speed in lines.items():
        yield Point(x, speed / MEGABYTE, None, None, name, Origin.PROJECTED)


def _of_batches(found: Found) -> Chart:
    points = [*_measured_times(found), *_projected_times(), *_printed_times()]
    labels = Labels(
        beside_title(found, f"Messages handed over at once, {HOST}, beside a GPU"),
        BATCH.title,
        "ns a message",
        DEVICE.title,
    )
    return Chart(points, labels, Scales(log_x=True, log_y=True))


def _measured_times(found: Found) -> Iterator[Point]:
    for name, rows in _by_batch(found).items():
        for batch, row in rows.items():
            ns = row.ns_per_operation
            yield Point(batch, ns.median, ns.low, ns.high, name)


def _projected_times() -> Iterator[Point]:
    for gpu in GPUS:
        name = f"projected: {gpu.name}, at least"
        for batch in sorted(BATCHES):
            yield Point(batch, message_ns(gpu, batch), None, None, name, Origin.PROJECTED)


def _printed_times() -> Iterator[Point]:
    """What a message of this length takes at the speeds that the document has of cores."""
    for name, key, label, test in (EVERY_CORE, EVERY_CORE_IPP):
        row = table_row(name, **{key: label}, test=test)
        yield Point(None, _ns(row), None, None, f"published: {label}, {test}", Origin.PUBLISHED)


def _ns(row: Mapping[str, str]) -> float:
    """Nanoseconds that a message takes at a published speed."""
    return 1e9 * MESSAGES.text_bytes / (MEGABYTE * float(row["throughput_mb_s"]))


UNITS = Axis("units", "multiprocessors, or cores")
BATCH = Axis("batch", "messages at once")
FEWER, MANY = 4_096, 1 << 18
# Latency, then halves of what is left between, so that a budget that ends early leaves the least
# open; last what takes longest.
BATCHES = (1, 65_536, 4_096, 1_024, 16_384, 256, 262_144)
ONE_CORE = cores_text("cpu", 1)
LIMITS = "projected: the published program, at most"
OURS_LIMITS = "projected: Sealift's kernel, at most"
EVERY_CORE = ("003-T4-cpu-generations", "cpu", "i7-12700H", "Threads = cores")
EVERY_CORE_IPP = ("003-T4-cpu-generations", "cpu", "i7-12700H", "Threads = cores, IPP")
DOCUMENT_GPU = ("003-T5-gpu-generations", "gpu", "RTX 4070 (2023)", "Threads = cores")
PRINTED: Sequence[PrintedRow] = (
    EVERY_CORE,
    EVERY_CORE_IPP,
    ("003-T5-gpu-generations", "gpu", "RTX 3050", "Threads = cores"),
    DOCUMENT_GPU,
    ("003-T5-gpu-generations", "gpu", "RTX 4060 (2024)", "Threads = cores"),
)

EXPERIMENT = Experiment(
    name="gpu-beside-cpu",
    id="003-F10",
    title="All CPU cores beside all of a GPU",
    why="How many times as much does a GPU do as all cores, from how many messages at once on is "
    "it worth the way there and back, and how long does one message alone take?",
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
            title="Measured, time a message by messages at once, host to host",
            where={DATA.name: HOST},
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.8,
    tries=beside_there,
    essential=3,
)
