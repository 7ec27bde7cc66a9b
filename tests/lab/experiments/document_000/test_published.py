"""Document 000's published figures, judged; its charts, cells and the line to cross."""

from collections import Counter
from pathlib import Path

import pytest

from sealift_lab.claim.replication import Pair, Replication, compare_published, replication
from sealift_lab.experiments.document_000 import EXPERIMENTS
from sealift_lab.experiments.document_000.contention import CONTENTION
from sealift_lab.experiments.document_000.projection import PROJECTION, SMALL, SYSTEMS, project
from sealift_lab.measure.native import NativeArm
from sealift_lab.model.arm import Cell, Context, Skip
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Scaled, Time
from sealift_lab.model.results import ArmReport, Estimate, Ledger, Origin, Results, Row

OUTCOMES = (
    *(Replication.REPRODUCED, Replication.NOT_INDEPENDENT),
    *(Replication.CONTRADICTED, Replication.DIFFERS, Replication.NO_RESULT),
)
FULL = Scope(quick=False, cores=2, devices=())
BY_ID = {each.id: each for each in EXPERIMENTS}


def cells(experiment: Experiment, scope: Scope = FULL) -> list[Cell]:
    return [cell for group in experiment.groups(scope) for cell in group]


def computed(experiment: Experiment, folder: Path) -> Results:
    context = Context(seed=1, folder=folder)
    reports = [
        ArmReport(experiment.name, cell, experiment.arm(cell, context).report())
        for cell in cells(experiment)
    ]
    return Results((), reports)


def pairs(experiment: Experiment, folder: Path) -> list[Pair]:
    """The published figures beside what is computed; no rows are compared."""

    def ratio(one: Row, other: Row) -> Estimate:
        raise AssertionError(one, other)

    results = computed(experiment, folder)
    return compare_published(experiment.published(results), results, ratio, experiment.name)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("000-T1", (4, 0, 0, 0, 0)),
        ("000-T2", (4, 0, 0, 0, 0)),
        # The model was fitted to latencies; one is an input of it, and so are its bytes a cycle.
        ("000-T3", (0, 6, 0, 0, 2)),
        ("000-P1", (0, 3, 1, 1, 0)),
        ("000-P1-scaling", (7, 0, 0, 0, 0)),
        # Evidence are claims in words alone.
        ("000-X1", (2, 5, 0, 2, 6)),
    ],
)
def test_published_figures_are_judged_by_what_the_model_was_given(
    name: str, counts: tuple[int, ...], tmp_path: Path
) -> None:
    found = Counter(replication(claim) for _, claim in pairs(BY_ID[name], tmp_path))
    assert tuple(found[each] for each in OUTCOMES) == counts


def test_the_slip_of_the_projection_is_shown(tmp_path: Path) -> None:
    (total, many), (slip, by_seconds), *_ = pairs(PROJECTION, tmp_path)
    assert many.figure is not None
    assert many.figure.value / total.value == pytest.approx(11, rel=0.05)
    assert by_seconds.ledger is Ledger.ARITHMETIC
    assert (slip.low or 0) < 64 * 640 / 12 < (slip.high or 0)


def test_dpus_are_compared_with_one_core_beside_streams_and_with_all() -> None:
    reports = [ArmReport(CONTENTION.name, cell, {}) for cell in cells(CONTENTION)]
    published = CONTENTION.published(Results((), reports))
    crossings = {each.what: each for each in published if each.origin is Origin.PROJECTED}
    assert len(crossings) == 12
    assert {each.ledger for each in crossings.values()} == {Ledger.MODELLED}
    gb_per_s = float(project("GCM, one key", SYSTEMS[SMALL])["data in MRAM, GB/s"])
    for cores, threads, percent in (
        ("one core", 1, 0),
        ("one core beside streams", 1, 100),
        ("all cores", 2, 0),
    ):
        here = crossings[f"our reading: 640 DPUs, data in MRAM, over {cores}, AES-128-GCM"].here
        cell = {"cipher": "AES-128-GCM", "threads": threads, "streams_percent": percent}
        # Nanoseconds of a MiB times bytes a nanosecond.
        assert here == Scaled(Time(cell), gb_per_s / (1 << 20))


def test_dpus_are_lines_across_the_chart_of_the_cipher_that_they_do() -> None:
    lines = CONTENTION.lines(Results((), ()))
    assert {str(line.at["cipher"]) for line in lines} == {"AES-128-GCM", "AES-128-CTR"}
    assert len(lines) == 8
    assert {line.y for line in lines} == {chart.y for chart in CONTENTION.charts}


@pytest.mark.parametrize(
    ("cores", "counts"),
    [(1, {1}), (2, {1, 2}), (8, set(range(1, 9))), (24, {1, 2, 4, 8, 16, 23, 24})],
)
def test_many_cores_are_measured_by_doubling(cores: int, counts: set[int]) -> None:
    found = cells(CONTENTION, Scope(quick=False, cores=cores, devices=()))
    assert {cell["threads"] for cell in found} == counts
    assert all(cell["streams_percent"] == 0 for cell in found if cell["threads"] == cores)


def test_ids_are_those_of_stored_runs() -> None:
    ids = "P1 P3 T1 T2 T3 P1-scaling P2 P1-tasklets P1-instructions X1"
    assert [each.id for each in EXPERIMENTS] == [f"000-{each}" for each in ids.split()]


def test_a_quick_run_computes_all_that_has_published_figures_and_is_quick() -> None:
    quick = Scope(quick=True, cores=2, devices=())
    found = {each.id for each in EXPERIMENTS if each.groups(quick)}
    assert found == {"000-T1", "000-T2", "000-T3", "000-P1", "000-P1-scaling", "000-X1"}
    assert all((BY_ID[each].estimated_s or 9) < 1 for each in found)


def test_charts_and_tables_show_facts_that_arms_compute(tmp_path: Path) -> None:
    for experiment in (each for each in EXPERIMENTS if not each.is_timed):
        first, *_, last = cells(experiment)
        facts, last_facts = (
            experiment.arm(each, Context(1, tmp_path)).report() for each in (first, last)
        )
        assert all(isinstance(facts[chart.y], float) for chart in experiment.charts)
        assert set(experiment.columns) <= set(last_facts)
        assert experiment.estimated_s
        assert "Simulated" in experiment.notes


def test_a_core_encrypts_beside_streams_and_counts_what_they_reached(tmp_path: Path) -> None:
    assert CONTENTION.check_available
    cell = next(cell for cell in cells(CONTENTION) if cell["streams_percent"] == 100)
    try:
        arm = CONTENTION.check_available(cell, Context(1, tmp_path))
    except Skip as skip:
        pytest.skip(str(skip))
    assert isinstance(arm, NativeArm)
    sample = arm.sample(0.001)
    assert sample.bytes == sample.operations << 20
    facts = arm.report()
    assert facts["checked_against"] == "library"
    for name in ("streamed_bytes", "streamed_ns", "ceiling_bytes", "ceiling_ns"):
        assert int(facts[name]) > 0
