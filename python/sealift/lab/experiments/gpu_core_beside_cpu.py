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
    MESSAGES,
    OURS,
    PROCESSOR,
    RESIDENT,
    THREAD_MESSAGES,
    WARP,
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
from sealift.lab.gpus.grid import Grid, replicated_speed
from sealift.lab.gpus.limits import GPUS
from sealift.lab.gpus.shown import MEGABYTE, NO_GPU, STANDS_ON, named
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Printed,
    payload_speed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Arm, Context, Experiment, Plot, Scope
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
    core = table_row("003-T4-cpu-generations", cpu="i7-12700H", test="Thread = 1")
    thread = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
    claim = table_row("003-X1-claims", claim_id="cpu-gpu-core")
    ratio = float(core["throughput_mb_s"]) / float(thread["throughput_mb_s"])
    table_code, gpu = cores_text(BY_CODE[AS_PUBLISHED], 1), _device(found, AS_PUBLISHED)
    return [
        _value("one thread of i7-12700H", core).beside(
            payload_speed(found, **{DEVICE.name: table_code}),
            "table code on one core, AES-128, a key each",
        ),
        _value("one thread of RTX 4070", thread).beside(
            _of_a_gpu(found, gpu), "the published program, one thread"
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
    names = [str(each.cell[DEVICE.name]) for each in found.verified if each.cell[CODE.name] == code]
    return next((name for name in names if cores_of(name) is None), PROCESSOR)


def _says(found: Found) -> str:
    limits = ", ".join(
        f"{gpu.name} {format_measure(replicated_speed(gpu, MESSAGES, Grid(1, 1)) / MEGABYTE)}"
        for gpu in GPUS
    )
    told = (
        f"Projected: one thread alone does at most, in MB/s: {limits}; the document's did 1.2 to "
        f"1.5 ({STANDS_ON})."
    )
    for code in THREADS:
        device = _device(found, code)
        times = times_as_fast(
            found, {DEVICE.name: cores_text(BY_CODE[code], 1)}, {DEVICE.name: device}
        )
        if not isinstance(times, str):
            told += (
                f" Measured: {cores_text(BY_CODE[code], 1)} does "
                f"{format_measure(times.interval.median)} times as much as {named(device)}, {code}."
            )
    return told


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        Point(
            str(row.cell[DEVICE.name]),
            speed.median,
            speed.low,
            speed.high,
            f"measured, {row.cell[CODE.name]}",
        )
        for row in found.rows
        if not row.wrong and (speed := row.payload_mb_per_s)
    ]
    for gpu in GPUS:
        name = next((each[1] for each in PRINTED if each[1].startswith(gpu.name)), gpu.name)
        x, limit = f"{name}, 1 thread", replicated_speed(gpu, MESSAGES, Grid(1, 1))
        points.append(Point(x, limit / MEGABYTE, None, None, LIMITS, Origin.PROJECTED))
    for name, label, key in PRINTED:
        row = table_row(name, **{key: label}, test="Thread = 1")
        x, value = f"{label}, 1 thread", float(row["throughput_mb_s"])
        points.append(Point(x, value, None, None, "published", Origin.PUBLISHED))
    what = "One core, and one thread of a GPU"
    if any(PROCESSOR in str(row.cell[DEVICE.name]) for row in found.rows):
        what = f"{what}, in whose place is {NO_GPU}"
    labels = Labels(what, DEVICE.title, "payload, MB/s", "origin")
    return [Chart(points, labels, Scales(log_y=True))]


# By code the threads that stand for one core.
THREADS = {AS_PUBLISHED: 1, OURS: WARP}
CORE_MESSAGES = 1_024
LIMITS = "projected: Sealift's kernel, at most"
PRINTED = (
    ("003-T4-cpu-generations", "i7-12700H", "cpu"),
    ("003-T5-gpu-generations", "RTX 3050", "gpu"),
    ("003-T5-gpu-generations", "RTX 4070 (2023)", "gpu"),
    ("003-T5-gpu-generations", "RTX 4060 (2024)", "gpu"),
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
