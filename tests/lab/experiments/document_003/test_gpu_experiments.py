"""Document 003 on GPUs: cells, arms, what stands beside published figures, projected lines."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.lab.experiments.document_003.made_results import by_what, cells, compare, results

from sealift_lab.experiments.document_003 import EXPERIMENTS, gpu_grids, tables
from sealift_lab.experiments.document_003.gpus import cells as gpu_cells
from sealift_lab.experiments.document_003.gpus import limits
from sealift_lab.experiments.document_003.gpus.cells import HOST, PROCESSOR, core_count, grid_of
from sealift_lab.experiments.document_003.gpus.limits import BLOCK_THREADS, GPUS, Grid
from sealift_lab.experiments.survey import Here, survey
from sealift_lab.measure.native import multiprocessors
from sealift_lab.model.arm import Cell, Context, Sample, Skip, Value
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Kind, Missing, Number
from sealift_lab.model.results import Origin, Relation, Results
from sealift_lab.model.workload import Workload

IDS = ("003-F4", "003-F7", "003-F8", "003-T3", "003-F9", "003-F10", "003-T5")
BY_ID = {experiment.id: experiment for experiment in EXPERIMENTS}
WITHOUT = Scope(quick=False, cores=4, devices=("library", "cpu"))
WITH = Scope(quick=False, cores=4, devices=("library", "cpu", "cuda"))
H200 = next(gpu for gpu in GPUS if gpu.name == "H200")
FACTS: dict[str, Value] = {"multiprocessors": f"{H200.multiprocessors}"}
each_one = pytest.mark.parametrize("name", IDS)
with_gpu = pytest.mark.usefixtures("a_gpu")


@pytest.fixture
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GPU with as many multiprocessors as an H200 has."""
    gpu_cells.units_of.cache_clear()
    monkeypatch.setattr(gpu_cells, "multiprocessors", lambda _: H200.multiprocessors)
    yield
    gpu_cells.units_of.cache_clear()


def devices(experiment: Experiment, scope: Scope) -> set[str]:
    names = (str(cell["device"]) for cell in cells(experiment, scope))
    return {name.split(", ")[0] for name in names if core_count(name) is None}


@each_one
@with_gpu
def test_a_gpu_is_measured_where_there_is_one_and_else_this_processor(name: str) -> None:
    experiment = BY_ID[name]
    assert devices(experiment, WITH) == {"cuda"}
    assert devices(experiment, WITHOUT) == {PROCESSOR}
    assert not experiment.groups(replace(WITH, quick=True))


@with_gpu
def test_the_cells_of_a_kept_run_on_a_gpu_are_cells_today() -> None:
    run = Path(__file__).parents[4] / "results/2026-11-26/intelr-xeonr-processor-16-cores/gpu"
    scope = Scope(quick=False, cores=16, devices=("cuda",))
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    planned = json.loads((run / "plan.json").read_text(encoding="utf-8"))["experiments"]
    for each in planned:
        kept = [cell for group in each["groups"] for cell in group]
        today = cells(by_name[each["name"]], scope)
        assert kept, each["name"]
        assert all(cell in today for cell in kept), each["name"]
    assert len(planned) == 11


@each_one
def test_speeds_of_a_processor_stand_beside_no_published_figure_of_a_gpu(name: str) -> None:
    experiment = BY_ID[name]
    for published in experiment.published(results(experiment, WITHOUT, facts=FACTS)):
        is_of_the_cpu = "i7-12700H" in published.what
        is_none_of_here = published.origin is Origin.PROJECTED or published.kind is Kind.ARITHMETIC
        assert is_of_the_cpu or is_none_of_here or isinstance(published.here, Missing)


@each_one
def test_projected_and_published_lines_fit_a_chart(name: str) -> None:
    experiment = BY_ID[name]
    lines = experiment.lines(Results((), ()))
    printed = {line.origin for line in lines} | {
        Origin.PUBLISHED for each in experiment.published(Results((), ())) if each.series
    }
    # Of data types no figures were printed.
    assert printed == {Origin.PROJECTED} | ({Origin.PUBLISHED} if name != "003-F4" else set())
    for line in lines:
        assert line.at.keys() <= {axis.name for axis in experiment.axes}
        assert line.value > 0
        # On a chart of these values, or of more.
        assert any(
            chart.y == line.y and chart.where.items() <= {**chart.where, **line.at}.items()
            for chart in experiment.charts
        ), line
    places = [(line.series, line.y, *sorted(line.at.items())) for line in lines]
    assert len(set(places)) == len(places)


@with_gpu
@pytest.mark.parametrize(
    ("name", "kind", "of"),
    [("003-F7", Kind.LIMIT, BLOCK_THREADS), ("003-F8", Kind.GIVEN, H200.multiprocessors)],
)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_a_measured_break_is_a_share_of_what_the_device_has(
    name: str, kind: Kind, of: int, share: float
) -> None:
    def speed(cell: Cell) -> float:
        place = grid_of(cell).blocks if name == "003-F8" else grid_of(cell).threads
        return min(float(place), share * of)

    pairs = compare(BY_ID[name], results(BY_ID[name], WITH, speed, FACTS))
    (projected, of_model), (_, measured) = pairs
    assert (projected.origin, projected.kind) == (Origin.PROJECTED, kind)
    assert not of_model.is_independent
    assert getattr(measured.figure, "value", None) == pytest.approx(share, rel=0.03)
    assert measured.relation is (Relation.REPRODUCED if share == 1 else Relation.DIFFERS)
    here = results(BY_ID["003-F8"], WITH, facts=FACTS)
    few = [row for row in here.rows if grid_of(row.cell).blocks <= 16]
    _, cut_short = BY_ID["003-F8"].published(Results(few, here.reports))
    assert cut_short.here == Missing("its line over 5 places is too short to tell")


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_the_limit_breaks_at_128_threads_and_at_the_number_of_multiprocessors(
    gpu: limits.Gpu,
) -> None:
    for axis, units in (("threads_per_block", 128), ("thread_blocks", gpu.multiprocessors)):
        line = gpu_grids.projected_line(gpu, axis)
        # The saw between whole rounds moves no break.
        between = [(units + 1, line[-1][1] / 2), (units + 30, 0.6 * line[-1][1])]
        for each in (line, [*line, *between]):
            found = gpu_grids.break_of(each, units)
            assert isinstance(found, Number)
            assert found.value == pytest.approx(1, rel=0.02)


@with_gpu
def test_tables_of_grids_and_of_generations_have_this_machine_beside_each_row() -> None:
    def found(name: str, speed: Callable[[Cell], float]) -> list[float]:
        pairs = compare(BY_ID[name], results(BY_ID[name], WITH, speed, FACTS))
        return [claim.figure.value for _, claim in pairs if claim.figure]

    by_blocks = found("003-T3", lambda cell: float(cell["thread_blocks"]))
    assert by_blocks == pytest.approx([132 * times for times in (1, 1, 1, 2, 3, 3, 7)])
    by_threads = found("003-T5", lambda c: 1.5 if c["threads_per_block"] == 1 else 4_000.0)
    assert by_threads == pytest.approx([1.5, 4_000] * 3)


@with_gpu
def test_cores_threads_and_latency_are_compared_as_in_the_document() -> None:
    one, every = BY_ID["003-F9"], BY_ID["003-F10"]
    speeds = {"table, 1 core": 42.3, "cuda, 1 thread": 1.4}
    here = results(one, WITH, lambda cell: speeds.get(str(cell["device"]), 100.0))
    claims = by_what(compare(one, here))
    assert claims["one CPU core against one GPU core"][0].relation is Relation.REPRODUCED
    assert claims["one thread of i7-12700H"][0].relation is Relation.SAME

    def speed(cell: Cell) -> float:
        of_core, of_gpu = (100.0, 2.0) if cell["batch"] == 1 else (10.0, 90.0)
        return of_core if core_count(str(cell["device"])) else of_gpu

    here = results(every, WITH, speed, FACTS)
    claims = by_what(compare(every, here))
    assert claims["all of a GPU against all CPU cores"][0].relation is Relation.REPRODUCED
    (latency,) = claims["a CPU core takes less for one message than a GPU"]
    assert latency.relation is Relation.HOLDS
    assert round(getattr(latency.figure, "value", 0)) == 50
    alone = Results([row for row in here.rows if row.cell["device"] == "cuda"], here.reports)
    assert {claim.relation for _, claim in compare(every, alone)} == {Relation.UNTESTED}


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """Device, threads and batch of each arm of the engine that is made."""
    made: list[tuple[str, int, int]] = []
    sample = Sample(10**9, 8, 1_024, 3, 0.2, 0, 2.5)

    def gcm(device: str, _: Workload, *, threads: int, batch: int, context: Context) -> object:
        made.append((device, threads, batch))
        return SimpleNamespace(sample=lambda _: sample, report=dict, context=context)

    monkeypatch.setattr(gpu_cells, "gcm", gcm)
    return made


@pytest.mark.parametrize("count", [1, 2, 6, 12, 96])
def test_cores_work_as_many_messages_at_once_as_their_cell_says(
    count: int, handed: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    every = cells(BY_ID["003-F10"], replace(WITHOUT, cores=count))
    of_cores = [cell for cell in every if core_count(str(cell["device"]))]
    for cell in of_cores:
        BY_ID["003-F10"].arm(cell, Context(1, tmp_path))
        driver, threads, batch = handed[-1]
        assert gpu_cells.cores_text(driver, threads) == cell["device"]
        assert threads * batch == cell["batch"]
    assert {cell["batch"] for cell in of_cores} >= {1, 256, 4_096, 262_144}


def test_a_device_gets_batches_from_the_engine_and_waits_by_design(
    handed: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    for cell in cells(BY_ID["003-F10"], WITHOUT):
        if cell["data"] == HOST and cell["device"] == PROCESSOR:
            sample = BY_ID["003-F10"].arm(cell, Context(1, tmp_path)).sample(0.01)
            assert (sample.cpu_share, sample.involuntary_switches) == (1.0, 0)
            assert (sample.clock_ghz, sample.operations) == (None, 8)
    batches = (1, 65_536, 4_096, 1_024, 16_384, 256, 262_144)
    assert handed == [("opencl:0", 1, batch) for batch in batches]


@each_one
def test_a_processor_is_listed_as_the_substitute_of_a_gpu(name: str) -> None:
    try:
        multiprocessors("opencl:0")
    except Skip as error:
        pytest.skip(str(error))
    (entry,) = survey([BY_ID[name]], WITHOUT)
    assert (entry.here, entry.reasons) == (Here.SUBSTITUTE, (gpu_cells.SUBSTITUTE,))


def test_notes_have_the_numbers_of_the_model() -> None:
    rows = [gpu_grids.ONE_THREAD, *gpu_grids.PRINTED_GRIDS.values()]
    one, *grids = (gpu_cells.MEGABYTE * float(row["throughput_mb_s"]) for row in rows)
    whole = Grid(limits.DOCUMENT_GPU.multiprocessors, BLOCK_THREADS)
    thread = f"{100 * one / limits.replicated(limits.DOCUMENT_GPU, Grid(1, 1)):.0f} %"
    grid = f"{100 * max(grids) / limits.replicated(limits.DOCUMENT_GPU, whole):.0f} %"
    assert f"one thread reaches {thread} of its limit, its best grid {grid}" in notes("003-F8")
    printed = {row["sm"]: row["gpu"].partition(" (")[0] for row in tables.GPUS}
    assert printed == {str(gpu.multiprocessors): gpu.name for gpu in GPUS[:3]}
    units = ", ".join(printed)
    assert f"({units} and {H200.multiprocessors})" in notes("003-F8")
    # What NVIDIA's compiler gives each thread of the document's program for sm_89 and sm_90, and
    # of it what a thread reads once its tables are made: `published.cl`'s `private_tables`.
    frame, read = 11_664, 4 * 256 * 4 + 256 + 2 * 16 * 8 + 16 * 4 + 16 * 11
    assert f"{frame:,} B of tables and reads {read:,} B of them" in notes("003-T3")
    threads = " and ".join(f"{(32 << 20) // size:,}" for size in (frame, read))
    assert f"{threads} threads fill the 32 MiB cache" in notes("003-T3")
    for each in GPUS:
        whole = Grid(each.multiprocessors, BLOCK_THREADS)
        speeds = (
            way(each, whole) / each.multiprocessors / gpu_cells.MEGABYTE
            for way in (limits.replicated, limits.ours)
        )
        row = " | ".join(f"{speed:,.0f}" for speed in speeds)
        lines = BY_ID["003-T5"].notes.splitlines()
        (line,) = (line for line in lines if line.startswith(f"| {each.name} "))
        assert line.endswith(f" | {row} |")


def notes(name: str) -> str:
    return BY_ID[name].notes.replace("\n", " ")
