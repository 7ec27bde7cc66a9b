"""One CPU core against one GPU core (document 003, figure 9).

As the document's program did it, in one thread each; and Sealift's kernels, on one core and in one
warp, which is the least that they run in. Where there is no GPU that runs by OpenCL on this
processor, and is called so: it says nothing of a GPU's core. Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.gpus.cells import (
    ALONE,
    AS_PUBLISHED,
    CODE,
    DATA,
    DEVICE,
    MESSAGE,
    OURS,
    PROCESSOR,
    RESIDENT,
    THREAD_MESSAGES,
    WARP,
    WORKLOAD,
    device_of,
)
from sealift.lab.gpus.cores import (
    BY_CODE,
    beside_arm,
    beside_cell,
    beside_there,
    cores_of,
    cores_text,
)
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.limits import GPUS
from sealift.lab.gpus.shown import (
    MEGABYTE,
    STANDS_ON,
    PrintedRow,
    as_printed,
    beside_points,
    beside_title,
    device_in,
    mb_per_s_text,
    named,
    ours,
    printed_points,
    replicated,
)
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Printed,
    payload_speed,
    table,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Arm, Context, Experiment, Plot, Scope
from sealift.lab.stats import Verdict
from sealift.lab.units import format_measure
from sealift.lab.values import Cell
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = device_of(scope)
    for code, threads in THREADS.items():
        for name in (cores_text(BY_CODE[code], 1), _text(device, threads)):
            yield beside_cell(name, code, RESIDENT)


def _text(device: str, threads: int) -> str:
    return f"{device}, {'1 thread' if threads == 1 else '1 warp'}"


def _arm(cell: Cell, context: Context) -> Arm:
    threads = THREADS[str(cell[CODE.name])]
    device, *_ = str(cell[DEVICE.name]).split(", ")
    messages = CORE_MESSAGES if cores_of(str(cell[DEVICE.name])) else THREAD_MESSAGES * threads
    return beside_arm(cell, device, Grid(1, threads), context, messages=messages)


def _published(found: Found) -> Sequence[Comparison]:
    core = table_row("003-T4-cpu-generations", cpu="i7-12700H", test=ONE)
    thread = DOCUMENT_THREAD
    claim = table_row("003-X1-claims", claim_id="cpu-gpu-core")
    ratio = float(core["throughput_mb_s"]) / float(thread["throughput_mb_s"])
    table_code, gpu = cores_text(BY_CODE[AS_PUBLISHED], 1), _device(found, AS_PUBLISHED)
    return [
        _value("one thread of i7-12700H", core).beside(
            payload_speed(found, **{DEVICE.name: table_code}),
            f"table code on one core; {WORKLOAD}",
        ),
        _value("one thread of RTX 4070", thread).beside(
            _of_a_gpu(found, gpu), f"the published program, one thread; {WORKLOAD}"
        ),
        Printed(
            figure="003-F9",
            what="one CPU core against one GPU core",
            value=float(claim["value"]),
            unit="x",
            source=f"{claim['source']}: {claim['as_printed']}",
            kind=Kind.RATIO,
        ).beside(
            _times(found, table_code, gpu),
            f"table code against the published program; the document's own table gives {ratio:.1f}",
        ),
    ]


def _value(what: str, row: Mapping[str, str]) -> Printed:
    return Printed("003-F9", what, float(row["throughput_mb_s"]), "MB/s", row["source"], Kind.VALUE)


def _times(found: Found, core: str, gpu: str) -> Here:
    speed = _of_a_gpu(found, gpu)
    if isinstance(speed, str):
        return speed
    return times_as_fast(found, {DEVICE.name: core}, {DEVICE.name: gpu})


def _of_a_gpu(found: Found, device: str) -> Here:
    if device.startswith(PROCESSOR) and found.row(**{DEVICE.name: device}):
        return ALONE
    return payload_speed(found, **{DEVICE.name: device})


def _device(found: Found, code: str) -> str:
    """What stands beside the core."""
    return device_in(found, **{CODE.name: code})


def _says(found: Found) -> str:
    limits = mb_per_s_text(lambda gpu: replicated(gpu, Grid(1, 1)))
    speeds = [float(row["throughput_mb_s"]) for row in table(TABLE) if row["test"] == ONE]
    told = (
        f"Projected: one thread alone does at most, in MB/s: {limits} ({STANDS_ON}); the "
        f"document's did {min(speeds):g} to {max(speeds):g}."
    )
    for code in THREADS:
        core, device = cores_text(BY_CODE[code], 1), _device(found, code)
        times = times_as_fast(found, {DEVICE.name: core}, {DEVICE.name: device})
        if not isinstance(times, str):
            said = _compared(found, code, times.interval.median)
            told += f" Measured, {code}: {core} {said} {named(device)}."
    return told


def _compared(found: Found, code: str, times: float) -> str:
    """What the verdict on one core and what stands beside it allows to be said of the first."""
    rows = [row for row in found.rows if row.cell[CODE.name] == code]
    verdict = next((row.verdict for row in rows if row.verdict), Verdict.UNSURE)
    if verdict is Verdict.UNSURE:
        return "may do more or less than"
    if verdict is Verdict.SAME:
        return "does as much as"
    return f"does {format_measure(times)} times as much as"


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        *beside_points(found, lambda row: f"measured, {row.cell[CODE.name]}"),
        *_limits(),
        *printed_points(PRINTED, lambda name: _text(name, 1), lambda _: "published"),
    ]
    what = beside_title(found, "One core, and one thread of a GPU")
    labels = Labels(what, DEVICE.title, "payload, MB/s", "origin")
    return [Chart(points, labels, Scales(log_y=True))]


def _limits() -> Iterator[Point]:
    """Of the published program in one thread, and of Sealift's kernel in one warp."""
    for gpu in GPUS:
        name = as_printed(gpu, (row[2] for row in PRINTED))
        for threads, speed, series in ((1, replicated, LIMITS), (WARP, ours, OURS_LIMITS)):
            limit = speed(gpu, Grid(1, threads)) / MEGABYTE
            yield Point(_text(name, threads), limit, None, None, series, Origin.PROJECTED)


# By code the threads that stand for one core.
THREADS = {AS_PUBLISHED: 1, OURS: WARP}
CORE_MESSAGES = 1_024
LIMITS = "projected: the published program, at most"
OURS_LIMITS = "projected: Sealift's kernel, at most"
TABLE, ONE = "003-T5-gpu-generations", "Thread = 1"
DOCUMENT_THREAD = table_row(TABLE, gpu="RTX 4070 (2023)", test=ONE)
PRINTED: Sequence[PrintedRow] = (
    ("003-T4-cpu-generations", "cpu", "i7-12700H", ONE),
    (TABLE, "gpu", "RTX 3050", ONE),
    (TABLE, "gpu", "RTX 4070 (2023)", ONE),
    (TABLE, "gpu", "RTX 4060 (2024)", ONE),
)

EXPERIMENT = Experiment(
    name="gpu-core-beside-cpu",
    id="003-F9",
    title="One CPU core beside one thread of a GPU",
    why="How many times as fast is a core of a processor as one of a GPU?",
    axes=(MESSAGE, DATA, CODE, DEVICE),
    compare=DEVICE.name,
    cells=_cells,
    arm=_arm,
    published=_published,
    says=_says,
    charts=_charts,
    plots=(
        Plot(
            x=DEVICE.name,
            y="payload_MB_per_s",
            z=DEVICE.name,
            title="Measured, one core and one thread",
            facet=CODE.name,
            log_y=True,
        ),
    ),
    weight=0.2,
    tries=beside_there,
)
