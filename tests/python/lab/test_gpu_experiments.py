"""Document 003 on GPUs: what its experiments measure, how they call it, what they compare."""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sealift.lab import registry, store
from sealift.lab.digest import headline
from sealift.lab.experiments import gpu_grid, gpu_threads_per_block
from sealift.lab.gpus import GPUS, cells, cores
from sealift.lab.gpus.cells import (
    BLOCK_THREADS,
    BLOCKS,
    CODE,
    DATA,
    DEVICE,
    HOST,
    MESSAGES,
    MODE,
    PROCESSOR,
    REPLICATED,
    THREAD_MESSAGES,
    THREADS,
    device_of,
    grid_of,
    units_of,
)
from sealift.lab.gpus.cores import Waiting, core_counts, cores_of, cores_text, host_arm, shared_out
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.host import earliest, message_ns
from sealift.lab.gpus.shown import Sweep, not_measured, sweeps, titled
from sealift.lab.gpus.types import types_speed
from sealift.lab.gpus.worth import break_even
from sealift.lab.plot import drawn
from sealift.lab.published import Match, rules
from sealift.lab.report.compared import COLOURS
from sealift.lab.result import Found, Origin, Row, Verified
from sealift.lab.spec import Arm, Context, Experiment, Sample, Scope
from sealift.lab.stats import Interval, Verdict
from sealift.lab.values import Cell, Value
from sealift.lab.workload import Workload
from synthetic_run import made, write_run

IDS = ("003-F4", "003-F7", "003-F8", "003-T3", "003-F9", "003-F10", "003-T5")
EXPERIMENTS = [registry.find(name) for name in IDS]
WITHOUT = Scope(quick=False, cores=4, devices=("library", "cpu"))
WITH = Scope(quick=False, cores=4, devices=("library", "cpu", "cuda"))
H200 = next(gpu for gpu in GPUS if gpu.name == "H200")
each_one = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.id)


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


@each_one
def test_without_opencl_what_is_published_and_projected_is_drawn(experiment: Experiment) -> None:
    nothing = missing(experiment)
    charts = experiment.charts(nothing)
    assert charts
    for chart in charts:
        origins = {each.origin for each in chart.points}
        # Of data types no figures were printed.
        printed = set() if experiment.id == "003-F4" else {Origin.PUBLISHED}
        assert origins == {Origin.PROJECTED} | printed
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
    assert measured
    for chart in measured:
        assert "OpenCL on this processor (no GPU" in chart.labels.title
    assert "OpenCL on this processor (no GPU" in experiment.says(here)


@pytest.mark.usefixtures("a_gpu")
@pytest.mark.parametrize(
    ("name", "model", "of"),
    [
        ("003-F7", Match.PROJECTED, BLOCK_THREADS),
        ("003-F8", Match.GIVEN, H200.multiprocessors),
    ],
)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_a_measured_break_is_told_as_a_share_of_what_the_device_has(
    name: str, model: Match, of: int, share: float
) -> None:
    """Lines that go flat at, and well below, what the model has."""
    experiment, at = registry.find(name), share * of

    def speed(cell: Cell) -> float:
        place = grid_of(cell).blocks if name == "003-F8" else grid_of(cell).threads
        return min(float(place), at)

    projected, measured = experiment.published(found(experiment, WITH, speed))
    assert (projected.origin, projected.match) == (Origin.PROJECTED, model)
    assert measured.origin is Origin.MEASURED
    assert measured.here is not None
    assert measured.here.median == pytest.approx(share, rel=0.03)
    assert measured.match is (Match.REPRODUCED if share == 1 else Match.SMALLER)
    assert "on cuda" in measured.note


@pytest.mark.usefixtures("a_gpu")
def test_a_line_that_was_cut_short_tells_no_break() -> None:
    experiment = registry.find("003-F8")
    here = found(experiment, WITH)
    few = [each for each in here.rows if grid_of(each.cell).blocks <= 16]
    _, measured = experiment.published(Found(few, here.verified))
    assert measured.match is Match.NOT_RUN
    assert "its line over 5 places is too short to tell" in measured.note


def swept(speed: Callable[[int], float], *, more: Iterable[int] = ()) -> Sweep:
    """Blocks of the published program, replicated, on a GPU with so many multiprocessors."""
    experiment = registry.find("003-F8")
    every = [cell for group in experiment.groups(WITH) for cell in group]
    line = [cell for cell in every if cell[CODE.name] == "as published"]
    line = [cell for cell in line if cell[MODE.name] == REPLICATED]
    line += [{**line[0], BLOCKS.name: blocks} for blocks in more]
    rows = [row(experiment, cell, speed(int(cell[BLOCKS.name]))) for cell in line]
    facts = {"multiprocessors": f"{H200.multiprocessors}"}
    (found_sweep,) = sweeps(Found(rows, [Verified(experiment.name, line[0], facts)]), BLOCKS)
    return found_sweep


@pytest.mark.usefixtures("a_gpu")
def test_a_line_that_falls_bends_where_it_begins_to() -> None:
    at = H200.multiprocessors
    bend = swept(lambda blocks: min(blocks, at) * (max(blocks, at) / at) ** -0.7).bend
    assert bend is not None
    assert bend.at == pytest.approx(at, rel=0.01)
    assert bend.after == pytest.approx(-0.7, abs=0.05)


@pytest.mark.usefixtures("a_gpu")
def test_what_lies_between_whole_rounds_moves_no_bend() -> None:
    units = H200.multiprocessors

    def speed(blocks: int) -> float:
        return blocks / -(-blocks // units)

    plain, saw = swept(speed), swept(speed, more=[units + 1, units + 30, 2 * units + 5])
    assert len(saw.rows) == len(plain.rows) + 3
    assert saw.bend == plain.bend
    assert saw.bend is not None
    assert saw.bend.at == pytest.approx(units, rel=0.01)


def noisy(noise: Callable[[], float], speed: Callable[[int], float], blocks: int) -> float:
    return speed(blocks) * noise()


@pytest.mark.usefixtures("a_gpu")
def test_a_flat_line_with_noise_seldom_bends_and_a_bent_one_has_its_bend_inside() -> None:
    at, bends, held = H200.multiprocessors, 0, 0
    for seed in range(DRAWS):
        noise = partial(random.Random(seed).lognormvariate, 0, 0.1)
        bends += swept(partial(noisy, noise, lambda _: 1.0)).bend is not None
        line = swept(partial(noisy, noise, lambda blocks: min(blocks, at))).bend
        assert line is not None
        held += line.low <= at <= line.high
    assert bends <= DRAWS // 5
    # Of 50 at 95 %: 43 or fewer would come by chance once in 100.
    assert held >= 43


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
    measured = [line for line in listing.rows if line[0] == "cuda"]
    assert [line[3] for line in measured] == [f"{H200.multiprocessors}"] * 2
    assert [line[5] for line in measured] == ["", "30.30"]


def test_one_thread_has_no_speed_for_each_multiprocessor_and_a_processor_has_cores() -> None:
    experiment = registry.find("003-T5")
    (listing,) = experiment.listings(found(experiment, WITHOUT))
    of_one = [line for line in listing.rows if line[2] == "Thread = 1"]
    assert len(of_one) == 4
    assert {line[5] for line in of_one} == {""}
    measured = [line for line in listing.rows if line[0] == PROCESSOR]
    assert {line[3] for line in measured} == {f"{H200.multiprocessors} cores"}


@pytest.mark.usefixtures("a_gpu")
def test_a_core_and_a_thread_are_compared_as_the_document_did() -> None:
    experiment = registry.find("003-F9")
    speeds = {"table, 1 core": 42.3, "cuda, 1 thread": 1.4}
    here = found(experiment, WITH, lambda cell: speeds.get(str(cell[DEVICE.name]), 100.0))
    told = {each.what: each.match for each in experiment.published(here)}
    assert told["one CPU core against one GPU core"] is Match.REPRODUCED
    assert told["one thread of i7-12700H"] is Match.ALIKE


@pytest.mark.usefixtures("a_gpu")
@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.SLOWER, "table, 1 core does 1.058 times as much as cuda, 1 thread."),
        (Verdict.SAME, "table, 1 core does as much as cuda, 1 thread."),
        (Verdict.UNSURE, "table, 1 core may do more or less than cuda, 1 thread."),
        (None, "table, 1 core may do more or less than cuda, 1 thread."),
    ],
)
def test_times_as_much_are_told_where_the_verdict_allows_it(
    verdict: Verdict | None, said: str
) -> None:
    experiment = registry.find("003-F9")
    here = found(experiment, WITH, lambda cell: 105.8 if "core" in str(cell["device"]) else 100.0)
    rows = [
        replace(each, verdict=verdict) if "cuda" in str(each.subject) else each
        for each in here.rows
    ]
    assert f"Measured, as published: {said}" in experiment.says(Found(rows, here.verified))


@each_one
def test_sealifts_kernel_is_projected_for_the_threads_that_it_takes(experiment: Experiment) -> None:
    for chart in experiment.charts(missing(experiment)):
        of_ours = [each for each in chart.points if "Sealift's kernel" in each.series]
        threads = {each.x for each in of_ours if chart.labels.x == THREADS.title}
        assert threads in (set(), {32, 64, 96, 128, 192, 256, 384})
        assert not any("512 threads" in str(each.x) for each in of_ours)


def without(here: Found, **where: Value) -> Found:
    """The same where a budget had no room for some cells, all batches of one host to host."""
    reason = "not run: budget; --budget 71 would have room for it"
    rows = [each for each in here.rows if not where.items() <= each.cell.items()]
    told = [
        replace(each, skipped=reason, left_out=True) if where.items() <= each.cell.items() else each
        for each in here.verified
    ]
    return Found(rows, told)


def test_projected_break_even_is_against_cores_that_work_as_many_messages() -> None:
    experiment = registry.find("003-F10")

    def speed(cell: Cell) -> float:
        # An RTX 3050 could take 35 ns for each of 256, and 15 for each of more.
        return {1_024: 7_000.0}.get(int(cell["batch"]), 10_000.0)

    said = experiment.says(found(experiment, WITHOUT, speed))
    assert "than cpu, 1 core here: RTX 3050 1,024, " in said
    assert "Of 256, 1,024, 4,096, 16,384, 65,536, 262,144 messages at once" in said
    fast = found(experiment, WITHOUT, lambda _: 40_000.0)
    assert "RTX 3050 never" in experiment.says(fast)


def test_batches_that_were_not_run_are_told_with_the_budget_for_them() -> None:
    experiment = registry.find("003-F10")
    here = found(experiment, WITHOUT, lambda _: 1_280.0)
    said = experiment.says(without(here, batch=256))
    assert "Of 1, 1,024, 4,096, 16,384, 65,536, 262,144 messages at once" in said
    budget = "(not run: budget; --budget 71 would have room for it)"
    assert f"; with 256 that is not known {budget}." in said
    for batch in (256, 1_024, 4_096, 16_384, 65_536, 262_144):
        here = without(here, batch=batch)
    said = experiment.says(here)
    assert "could take less than cpu, 1 core here is not known; with 256, 1,024, " in said
    assert "RTX 3050 256" not in said
    # Where the plan had fewer batches no budget is known for the others.
    assert "(not among the cells of this run)" in experiment.says(Found(here.rows, ()))


def test_with_no_cores_measured_no_break_even_is_projected() -> None:
    assert "could take less" not in registry.find("003-F10").says(Found((), ()))


def test_a_break_even_inside_interval_or_noise_is_not_settled() -> None:
    experiment = registry.find("003-F10")
    limit = MESSAGES.text_bytes / message_ns(H200, 1 << 18) * 1_000

    def cores(speed: float, **changes: Any) -> dict[int, Row]:
        one = row(experiment, {DEVICE.name: "cpu, 1 core"}, speed)
        slow = row(experiment, {DEVICE.name: "cpu, 1 core"}, 1e6)
        return {1: slow, 1 << 18: replace(one, **changes)}

    assert earliest(H200, cores(0.9 * limit)) == "262,144"
    assert earliest(H200, cores(1.1 * limit)) == "never"
    assert earliest(H200, cores(0.999 * limit)) == "not settled"
    assert earliest(H200, cores(0.9 * limit, noise_floor=0.2)) == "not settled"
    assert earliest(H200, cores(0.5 * limit, noise_floor=0.2)) == "262,144"
    assert earliest(H200, cores(0.9 * limit, machine_busy=True)) == "not settled"
    below = {1 << 17: replace(cores(0.1 * limit)[1 << 18], machine_busy=True)}
    assert earliest(H200, cores(0.9 * limit) | below) == "262,144 (131,072 not settled)"
    assert earliest(H200, cores(1.1 * limit) | below) == "never (131,072 not settled)"


def test_what_is_only_projected_reproduces_nothing() -> None:
    first, _ = registry.find("003-F7").published(missing(registry.find("003-F7")))
    assert first.match is Match.PROJECTED
    assert "reproduced within" not in " ".join(rules([first]))
    assert "reproduces nothing" in " ".join(rules([first]))
    assert COLOURS[first.match] == "plain"


@each_one
@pytest.mark.usefixtures("a_gpu")
def test_only_where_no_gpu_was_measured_that_is_said(experiment: Experiment) -> None:
    assert not_measured(found(experiment, WITH)) == ""
    told = not_measured(found(experiment, WITHOUT))
    assert told.startswith("No GPU was measured here; OpenCL on this processor was, for tests only")
    # As docs/document-003-gpu.md has it of one thread and the best grid.
    assert "reaches 7 to 10 % of what is projected" in told


def test_cores_alone_are_no_gpu() -> None:
    cell = {DEVICE.name: "cpu, 1 core"}
    told = not_measured(Found([row(registry.find("003-F10"), cell, 1.0)], ()))
    assert told.startswith("No GPU was measured here; cores alone were.")


def test_a_run_without_a_gpu_is_not_headed_by_what_is_projected(tmp_path: Path) -> None:
    experiment = registry.find("003-F10")
    run = store.read(write_run(tmp_path / "run", made(), [experiment]))
    here = found(experiment, WITHOUT)
    told = headline(run, {experiment.name: here})
    assert told == not_measured(here)
    assert experiment.says(here) not in told


@pytest.mark.usefixtures("a_gpu")
def test_break_even_and_latency_are_told_of_what_was_measured() -> None:
    experiment = registry.find("003-F10")

    def speed(cell: Cell) -> float:
        device, batch = str(cell[DEVICE.name]), int(cell["batch"])
        if cores := cores_of(device):
            return 1_000.0 * cores
        return min(10_000.0, 2.0 * batch)

    said = experiment.says(found(experiment, WITH, speed))
    assert "than cpu, 1 core between 256 and 1,024" in said
    assert "than cpu, 4 cores between 1,024 and 4,096" in said
    assert "One message alone takes 0.1280 us by cpu, 1 core and 64.00 us by cuda" in said


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int, int]]:
    """Device, threads, batch and messages of each arm of the engine that is made."""
    made: list[tuple[str, int, int, int]] = []

    def gcm(device: str, workload: Workload, *, threads: int, batch: int, context: Context) -> Arm:
        assert context.seed == 1
        made.append((device, threads, batch, workload.messages))
        return Made()

    monkeypatch.setattr(cores, "gcm", gcm)
    return made


class Made:
    def sample(self, seconds: float) -> Sample:
        return Sample(round(seconds * 1e9), 8, 1_024, 3, 0.2, 0, 2.5)

    def verified(self) -> dict[str, Value]:
        return {"role": "real"}


@pytest.mark.parametrize("count", [1, 2, 6, 12, 96])
def test_cores_work_as_many_messages_at_once_as_their_cell_says(
    count: int, handed: list[tuple[str, int, int, int]], tmp_path: Path
) -> None:
    experiment = registry.find("003-F10")
    scope = Scope(quick=False, cores=count, devices=("library", "cpu"))
    every = [cell for group in experiment.groups(scope) for cell in group]
    of_cores = [cell for cell in every if cores_of(str(cell[DEVICE.name]))]
    for cell in of_cores:
        experiment.arm(cell, Context(1, tmp_path))
        driver, threads, batch, _ = handed[-1]
        assert cores_text(driver, threads) == cell[DEVICE.name]
        assert threads * batch == cell["batch"]
    assert {cell["batch"] for cell in of_cores} >= {1, 256, 4_096, 262_144}


def test_a_device_is_handed_a_batch_by_the_engine_and_waits_by_design(
    handed: list[tuple[str, int, int, int]], tmp_path: Path
) -> None:
    experiment = registry.find("003-F10")
    every = [cell for group in experiment.groups(WITHOUT) for cell in group]
    for cell in every:
        if cell[DATA.name] == HOST and cell[DEVICE.name] == PROCESSOR:
            arm = host_arm(cell, Context(1, tmp_path), messages=int(cell["batch"]))
            assert isinstance(arm, Waiting)
            sample = arm.sample(0.01)
            assert (sample.cpu_share, sample.involuntary_switches) == (1.0, 0)
            assert (sample.clock_ghz, sample.operations) == (None, 8)
            assert arm.verified() == {"role": "real"}
    assert [each[:3] for each in handed] == [
        ("opencl:0", 1, batch) for batch in (1, 65_536, 4_096, 1_024, 16_384, 256, 262_144)
    ]


@pytest.mark.usefixtures("a_gpu")
def test_without_cores_beside_it_a_device_is_compared_with_nothing() -> None:
    experiment = registry.find("003-F10")
    here = found(experiment, WITH)
    rows = [each for each in here.rows if cores_of(str(each.cell[DEVICE.name])) is None]
    for each in experiment.published(Found(rows, here.verified)):
        assert each.match is Match.NOT_RUN
        assert each.note


def test_a_title_of_what_no_gpu_worked_says_who_did() -> None:
    experiment = registry.find("003-F10")
    told = f"{experiment.title}, by OpenCL on this processor (no GPU, for tests only)"
    assert titled(experiment.title, found(experiment, WITHOUT)) == told
    assert titled(experiment.title, missing(experiment)) == experiment.title
    one = row(experiment, {DEVICE.name: PROCESSOR}, 1.0)
    both = Found([one, row(experiment, {DEVICE.name: "cuda"}, 1.0)], [])
    assert titled(experiment.title, both) == experiment.title


def test_handing_over_takes_as_long_as_the_longest_of_ways_and_work() -> None:
    few, many = message_ns(H200, 32), message_ns(H200, 1 << 18)
    # A message alone takes as long as a warp of them.
    assert message_ns(H200, 1) == pytest.approx(32 * few)
    bytes_there = MESSAGES.text_bytes + 32 + 16 + 64
    assert many == pytest.approx(1e9 * bytes_there / H200.link_bytes_per_s)


def test_types_are_projected_by_the_units_that_work_them() -> None:
    """By hand, of a whole H200: 39 instructions of floats a round, 36 doubles, 18 conversions."""
    whole = Grid(H200.multiprocessors, BLOCK_THREADS)
    clocks = H200.multiprocessors * H200.clock_hz
    expected = {"float": 36 / 39 * 128, "double": 36 / 36 * 64, "float with double literal": 32}
    for name, products in expected.items():
        assert types_speed(H200, name, whole) == pytest.approx(products * clocks)
    # Two units convert for all four parts of sm_86: a warp alone has both of them.
    small = next(gpu for gpu in GPUS if gpu.name == "RTX 4070")
    alone = types_speed(small, "float with double literal", Grid(1, 1))
    assert alone == pytest.approx(36 / (32 * 18 / 2) * small.clock_hz)
    # Of sm_90's sixteen each part has four.
    alone = types_speed(H200, "float with double literal", Grid(1, 1))
    assert alone == pytest.approx(36 / (32 * 18 / 4) * H200.clock_hz)
    assert types_speed(H200, "long", whole) < types_speed(H200, "int", whole)


def test_the_program_without_a_lab_has_the_same_grids() -> None:
    rust = (ROOT / "crates/sealift-gpu-run/src/grids.rs").read_text(encoding="utf-8")
    assert constant(rust, "THREADS") == list(gpu_threads_per_block.COUNTS)
    pairs = constant(rust, "DOCUMENT")
    assert list(zip(pairs[::2], pairs[1::2], strict=True)) == gpu_grid.grids()
    assert constant(rust, "BLOCK") == [BLOCK_THREADS]


def test_the_program_without_a_lab_has_as_many_messages() -> None:
    rust = (ROOT / "crates/sealift-gpu-run/src/grids.rs").read_text(encoding="utf-8")
    assert constant(rust, "THREAD_MESSAGES") == [THREAD_MESSAGES]
    assert "const MESSAGES_MOST: usize = 1 << 18;" in rust
    assert cells.MESSAGES_MOST == 1 << 18


def constant(rust: str, name: str) -> list[int]:
    (value,) = re.findall(rf"^const {name}: [^=]+=\s*([^;]+);", rust, re.M)
    return [int(number.replace("_", "")) for number in re.findall(r"[\d_]+", value)]


def test_cores_are_counted_as_far_as_there_are_any() -> None:
    assert core_counts(6, 1_024) == [1, 2, 4]
    assert core_counts(96, 4) == [1, 2, 4]
    assert [shared_out(64, count) for count in (1, 6, 96)] == [64, 66, 96]
    assert [cores_text("cpu", count) for count in (1, 2)] == ["cpu, 1 core", "cpu, 2 cores"]
    assert (cores_of("table, 12 cores"), cores_of(f"{PROCESSOR}, 1 thread")) == (12, None)


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ({1: 1, 16: 50, 256: 200}, "between 16 and 256"),
        ({1: 200, 16: 200, 256: 200}, "from 1 on"),
        ({1: 1, 16: 1, 256: 1}, "at none of 1 to 256"),
        ({1: 100, 16: 100, 256: 200}, "by 256 at the latest"),
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


ROOT = Path(__file__).parents[3]
DRAWS = 50
