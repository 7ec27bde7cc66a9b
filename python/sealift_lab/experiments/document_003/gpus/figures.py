"""Published figures of GPUs beside a run, and the lines of projected limits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from sealift_lab.experiments import device_names
from sealift_lab.experiments.document_003.gpus import cells
from sealift_lab.experiments.document_003.gpus.grids import MEGABYTE, Grid, Speed, ours, replicated
from sealift_lab.experiments.document_003.gpus.limits import GPUS, Gpu
from sealift_lab.experiments.document_003.printed import Row, mb_per_s
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Chart, Line
from sealift_lab.model.figure import Figure, Missing
from sealift_lab.model.published import table
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.values import Cell, Value

Grids = Callable[[Gpu], Iterable[tuple[Cell, Grid]]]
"""The grids of a GPU, each with its place on a chart."""


def of_a_gpu(results: Results, figure: Figure, **where: Value) -> Figure:
    """A figure of a GPU; missing where the rows that it stands on are of a processor."""
    devices = {str(row.cell["device"]).split(", ")[0] for row in results.select(**where)}
    return Missing(NO_GPU) if cells.PROCESSOR in devices else figure


def device_in(results: Results, **where: Value) -> str:
    """The device beside cores among cells with these values; a processor where there is none."""
    fitting = (each.cell for each in results.reports if where.items() <= each.cell.items())
    names = (str(cell["device"]) for cell in fitting)
    return next((name for name in names if cells.core_count(name) is None), cells.PROCESSOR)


def multiprocessors_in(results: Results) -> int | None:
    """Multiprocessors of the device that was measured; of a processor its cores."""
    facts = (each.facts.get("multiprocessors") for each in results.reports)
    return next((int(units) for units in facts if units), None)


def limit_lines(
    speed: Speed,
    way: Cell,
    grids: Grids,
    series: str = "{gpu.name} at most",
    gpus: Sequence[Gpu] = GPUS,
) -> Iterator[Line]:
    """Projected limits in MB/s; `way` is the part of a cell that says what is done."""
    for gpu in gpus:
        for place, grid in grids(gpu):
            name, mb_per_s = series.format(gpu=gpu, grid=grid), speed(gpu, grid) / MEGABYTE
            yield Line(name, "MB/s", mb_per_s, Origin.PROJECTED, {**way, **place})


def published_line(series: str, row: Row, **at: Value) -> Line:
    """The speed of a row of a published table, in MB/s."""
    place = {**PUBLISHED_WAY, **at}
    return Line(series, "MB/s", mb_per_s(row), Origin.PUBLISHED, place)


def published_name(gpu: Gpu) -> str:
    """A GPU's name as the document prints it, or its own."""
    names = (row["gpu"] for row in table("003-T5-gpu-generations"))
    return next((name for name in names if name.startswith(gpu.name)), gpu.name)


def code_charts(x: str, what: str, panels: str = "device") -> tuple[Chart, Chart]:
    """Payload along an axis: of the document's program, and of Sealift's kernel."""
    chart = partial(Chart, x, y="MB/s", panels=panels, log_x=True, log_y=True)
    published, ours = {"code": cells.AS_PUBLISHED}, {"code": cells.OURS}
    return (
        chart("mode", title=f"{what}, the document's program", where=published),
        chart("data", title=f"{what}, Sealift's kernel", where=ours),
    )


def gpu_notes(own: str) -> str:
    """Notes of one experiment, and what holds for all experiments of GPUs."""
    return f"{own}\n\n{read_notes(__package__, 'gpus')}"


NO_GPU = f"measured by {cells.PROCESSOR} alone, which is no GPU"
PUBLISHED_WAY: Cell = {"code": cells.AS_PUBLISHED, "data": cells.RESIDENT}
OUR_WAY: Cell = {"code": cells.OURS, "data": cells.RESIDENT}
# Of the document's program, and of Sealift's kernel.
published_limits = partial(limit_lines, replicated, PUBLISHED_WAY)
our_limits = partial(limit_lines, ours, OUR_WAY, series="{gpu.name} at most, Sealift's kernel")
# Beside published speeds of GPUs.
WORKLOAD = (
    "AES-128, sealing only; the document mixes keys of 128, 192 and 256 bits, and seals, opens and "
    "verifies"
)
NAMES: Mapping[Value, str] = {
    **device_names.NAMES,
    **{
        cells.cores_text(driver, count): cells.cores_text(device_names.NAMES[driver], count)
        for driver in cells.BY_CODE.values()
        for count in (1, 2, 4, 8)
    },
    cells.PROCESSOR: f"{cells.PROCESSOR} (no GPU, for tests only)",
    cells.AS_PUBLISHED: "the document's program",
    cells.OURS: "Sealift's kernel",
}
