"""Document 003 on GPUs: what its experiments measure, how they call it, what they compare."""

from collections.abc import Callable, Iterable

import pytest

from sealift.lab import registry
from sealift.lab.gpus import GPUS, cells
from sealift.lab.gpus.cells import (
    BLOCKS,
    DEVICE,
    MESSAGES,
    PROCESSOR,
    THREADS,
    device_of,
    grid_of,
    units_of,
)
from sealift.lab.gpus.cores import core_counts, cores_of, cores_text
from sealift.lab.gpus.grid import replicated_speed
from sealift.lab.gpus.worth import break_even
from sealift.lab.plot import drawn
from sealift.lab.published import Match
from sealift.lab.result import Found, Origin, Row, Verified
from sealift.lab.spec import Experiment, Scope
from sealift.lab.stats import Interval
from sealift.lab.values import Cell

IDS = ("003-F4", "003-F7", "003-F8", "003-T3", "003-F9", "003-F10", "003-T5")
EXPERIMENTS = [registry.find(name) for name in IDS]
CHARTED = [each for each in EXPERIMENTS if each.id != "003-F4"]
WITHOUT = Scope(quick=False, cores=4, devices=("library", "cpu"))
WITH = Scope(quick=False, cores=4, devices=("library", "cpu", "cuda"))
H200 = next(gpu for gpu in GPUS if gpu.name == "H200")
each_one = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.id)
each_charted = pytest.mark.parametrize("experiment", CHARTED, ids=lambda each: each.id)


@pytest.fixture
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterable[None]:
    """A GPU with as many multiprocessors as an H200 has."""
    units_of.cache_clear()
    monkeypatch.setattr(cells, "multiprocessors", lambda _: H200.multiprocessors)
    yield
    units_of.cache_clear()


def row(experiment: Experiment, cell: Cell, mb_per_s: float, noise: float = 0.01) -> Row:
    ns = 128_000 / mb_per_s
    return Row(
        experiment=experiment.name,
        cell=cell,
        compare=experiment.compare,
        ns_per_operation=Interval(ns, 0.99 * ns, 1.01 * ns, 0.95, 30),
        payload_bytes=0 if experiment.id == "003-F4" else 128,
        reference=cell[experiment.compare],
        ratio=None,
        verdict=None,
        winner=False,
        noise_floor=noise,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=30,
    )


def found(
    experiment: Experiment, scope: Scope, speed: Callable[[Cell], float] = lambda _: 100.0
) -> Found:
    every = [cell for group in experiment.groups(scope) for cell in group]
    facts = {"multiprocessors": f"{H200.multiprocessors}"}
    return Found(
        [row(experiment, cell, speed(cell)) for cell in every],
        [Verified(experiment.name, cell, facts) for cell in every],
    )


def missing(experiment: Experiment) -> Found:
    every = [cell for group in experiment.groups(WITHOUT) for cell in group]
    reason = "libOpenCL.so.1 is not on this machine; install ocl-icd-libopencl1"
    return Found((), [Verified(experiment.name, cell, {}, reason) for cell in every])


def devices(experiment: Experiment, scope: Scope) -> set[str]:
    every = (str(cell[DEVICE.name]) for group in experiment.groups(scope) for cell in group)
    return {name.split(", ")[0] for name in every if cores_of(name) is None}


@each_one
def test_a_quick_run_has_nothing_of_them(experiment: Experiment) -> None:
    assert not experiment.groups(Scope(quick=True, cores=4, devices=("cpu", "cuda")))


@each_one
def test_without_a_gpu_this_processor_is_measured_and_called_so(experiment: Experiment) -> None:
    assert devices(experiment, WITHOUT) == {PROCESSOR}


@each_one
@pytest.mark.usefixtures("a_gpu")
def test_a_gpu_is_measured_where_there_is_one(experiment: Experiment) -> None:
    assert devices(experiment, WITH) == {"cuda"}
    assert device_of(Scope(quick=False, cores=1, devices=("opencl",))) == "opencl"


@each_charted
def test_without_opencl_what_is_published_and_projected_is_drawn(experiment: Experiment) -> None:
    nothing = missing(experiment)
    charts = experiment.charts(nothing)
    assert charts
    for chart in charts:
        assert {each.origin for each in chart.points} == {Origin.PUBLISHED, Origin.PROJECTED}
        dashed = {each.series for each in chart.points if each.origin is Origin.PROJECTED}
        assert all("projected" in series for series in dashed)
        assert drawn(chart)["layer"]
    assert "Projected" in experiment.says(nothing)
    assert "easured by" not in experiment.says(nothing)


@each_one
def test_what_a_processor_does_is_said_of_no_gpu(experiment: Experiment) -> None:
    """No published figure of a GPU stands beside it, and every title and sentence says so."""
    here = found(experiment, WITHOUT)
    for each in experiment.published(here):
        is_of_the_cpu = "i7-12700H" in each.what
        assert each.origin is Origin.PROJECTED or is_of_the_cpu or each.match is Match.NOT_RUN
    measured = [
        chart
        for chart in experiment.charts(here)
        if any(each.origin is Origin.MEASURED for each in chart.points)
    ]
    assert bool(measured) == (experiment in CHARTED)
    for chart in measured:
        assert "OpenCL on this processor (no GPU" in chart.labels.title
    assert "OpenCL on this processor (no GPU" in experiment.says(here)


@pytest.mark.usefixtures("a_gpu")
@pytest.mark.parametrize("name", ["003-F7", "003-F8"])
def test_a_gpu_that_does_as_projected_breaks_where_the_document_says(name: str) -> None:
    experiment = registry.find(name)
    here = found(
        experiment, WITH, lambda cell: replicated_speed(H200, MESSAGES, grid_of(cell)) / 1e6
    )
    model, measured = experiment.published(here)
    assert (model.origin, model.match) == (Origin.PROJECTED, Match.REPRODUCED)
    assert measured.origin is Origin.MEASURED
    assert measured.here is not None
    assert measured.match is Match.REPRODUCED
    assert measured.here.median == pytest.approx(1, rel=0.01)
    assert "on cuda" in measured.note


@pytest.mark.usefixtures("a_gpu")
def test_the_table_of_grids_is_scaled_by_multiprocessors() -> None:
    experiment = registry.find("003-T3")
    grids = {grid_of(cell) for group in experiment.groups(WITH) for cell in group}
    assert {grid.blocks / H200.multiprocessors for grid in grids} == {1, 2, 3, 7}
    here = found(experiment, WITH, lambda cell: float(cell[BLOCKS.name]))
    compared = experiment.published(here)
    assert len(compared) == 7
    assert [each.here.median for each in compared if each.here] == pytest.approx(
        [132 * times for times in (1, 1, 1, 2, 3, 3, 7)]
    )


@pytest.mark.usefixtures("a_gpu")
def test_generations_have_this_machine_as_one_more() -> None:
    experiment = registry.find("003-T5")
    here = found(experiment, WITH, lambda cell: 1.5 if cell[THREADS.name] == 1 else 4_000.0)
    compared = experiment.published(here)
    assert [each.here.median for each in compared if each.here] == pytest.approx([1.5, 4_000] * 3)
    (listing,) = experiment.listings(here)
    assert [line[0] for line in listing.rows].count("cuda") == 2


@pytest.mark.usefixtures("a_gpu")
def test_a_core_and_a_thread_are_compared_as_the_document_did() -> None:
    experiment = registry.find("003-F9")
    speeds = {"table, 1 core": 42.3, "cuda, 1 thread": 1.4}
    here = found(experiment, WITH, lambda cell: speeds.get(str(cell[DEVICE.name]), 100.0))
    told = {each.what: each.match for each in experiment.published(here)}
    assert told["one CPU core against one GPU core"] is Match.REPRODUCED
    assert told["one thread of i7-12700H"] is Match.ALIKE


@pytest.mark.usefixtures("a_gpu")
def test_break_even_and_latency_are_told_of_what_was_measured() -> None:
    experiment = registry.find("003-F10")

    def speed(cell: Cell) -> float:
        device, batch = str(cell[DEVICE.name]), int(cell["batch"])
        if cores := cores_of(device):
            return 1_000.0 * cores
        return min(10_000.0, 2.0 * batch)

    said = experiment.says(found(experiment, WITH, speed))
    assert "cpu, 1 core between 256 and 4,096" in said
    assert "cpu, 4 cores between 256 and 4,096" in said
    assert "One message alone takes 0.1280 us by cpu, 1 core and 64.00 us by cuda" in said


def test_cores_are_counted_as_far_as_there_are_any() -> None:
    assert list(core_counts(6)) == [1, 2, 4]
    assert [cores_text("cpu", count) for count in (1, 2)] == ["cpu, 1 core", "cpu, 2 cores"]
    assert (cores_of("table, 12 cores"), cores_of(f"{PROCESSOR}, 1 thread")) == (12, None)


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ({1: 1, 16: 50, 256: 200}, "between 16 and 256"),
        ({1: 200, 16: 200, 256: 200}, "from 1 on"),
        ({1: 1, 16: 1, 256: 1}, "at none of 1 to 256"),
        ({1: 100, 16: 100, 256: 200}, "at 256 or earlier"),
        ({1: 200, 16: 50, 256: 200}, "between 16 and 256"),
        ({1: 200, 16: 200, 256: 50}, "at none of 1 to 256"),
        ({512: 1}, ""),
    ],
)
def test_break_even_lies_between_batches_whose_intervals_tell(
    speeds: dict[int, float], said: str
) -> None:
    experiment = registry.find("003-F10")
    device = {
        batch: row(experiment, {DEVICE.name: "cuda"}, speed) for batch, speed in speeds.items()
    }
    cores = {batch: row(experiment, {DEVICE.name: "cpu, 1 core"}, 100) for batch in (1, 16, 256)}
    assert break_even(device, cores) == said
