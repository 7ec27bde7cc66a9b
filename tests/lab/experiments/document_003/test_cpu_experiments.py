"""Document 003 on CPUs: cells, messages, and the published figures beside a run."""

import json
from collections import Counter
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from tests.lab.experiments.document_003.made_results import (
    DEVICES,
    FULL,
    QUICK,
    by_what,
    cells,
    compare,
    results,
    skipped,
)

from sealift.vectors import Planned
from sealift_lab.experiments.document_003 import EXPERIMENTS, messages, operation_log
from sealift_lab.experiments.own import EXPERIMENTS as OWN
from sealift_lab.measure.crypto import MANY_KEYS, workload_of
from sealift_lab.model.arm import Cell, Context, Skip
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import table
from sealift_lab.model.results import Claim, Relation, Results
from sealift_lab.model.workload import FRESH_KEYS, Operation

BY_ID = {experiment.id: experiment for experiment in EXPERIMENTS}
EVERY = (*EXPERIMENTS, *OWN)
SHARING = "our reading: a thread a core is faster than more threads than cores"
each_experiment = pytest.mark.parametrize("experiment", EVERY, ids=lambda each: each.name)


def relations(claims: dict[str, list[Claim]]) -> dict[str, set[Relation]]:
    return {what: {claim.relation for claim in each} for what, each in claims.items()}


def value(claim: Claim) -> float:
    assert claim.figure is not None, claim.reason
    return claim.figure.value


@each_experiment
def test_every_scope_has_cells_that_a_plan_can_hold(experiment: Experiment) -> None:
    for cores in (1, 2, 3, 64):
        scope = Scope(quick=False, cores=cores, devices=DEVICES)
        groups = experiment.groups(scope)
        assert json.loads(json.dumps(groups)) == [[dict(c) for c in group] for group in groups]
        quick = cells(experiment, replace(scope, quick=True))
        full = cells(experiment, scope)
        # These are instructions of NVIDIA's GPUs.
        assert full or experiment.name == "gpu-rates"
        assert all(cell in full for cell in quick)
        named = replace(scope, quick=True, threads=(3, 5))
        counts = {cell["threads"] for cell in cells(experiment, named) if "threads" in cell}
        assert counts in ({3, 5}, set())


@each_experiment
def test_what_was_not_run_says_why_for_every_published_figure(experiment: Experiment) -> None:
    nothing = skipped(experiment, FULL, "nothing is here")
    for found in (nothing, Results((), ())):
        for published, claim in compare(experiment, found):
            if claim.figure is None and published.kind != "arithmetic":
                assert claim.relation is Relation.UNTESTED
                assert claim.reason


def test_the_documents_experiments_keep_their_ids() -> None:
    assert " ".join(f"{each.id}:{each.name}" for each in EXPERIMENTS if each.id) == (
        "003-F5:aes-gcm-by-threads 003-F6:vendor-library 003-T4:instruction-sets "
        "003-F14:operation-log 003-P0:premise 003-T7:heat 003-T1:languages "
        "003-T2:compilers-by-threads 003-F3:cpu-data-types 003-T1-start:language-starts "
        "003-F10:gpu-beside-cpu 003-F8:gpu-blocks "
        "003-F7:gpu-threads-per-block 003-T3:gpu-grid 003-T5:gpu-generations "
        "003-F9:gpu-core-beside-cpu 003-F4:gpu-data-types"
    )


def test_the_cells_of_a_kept_run_are_cells_today() -> None:
    root = Path(__file__).parents[4] / "results/2026-11-23/intelr-xeonr-processor-2-cores"
    by_name, checked = {each.name: each for each in EVERY}, 0
    plan = json.loads((root / "lab/plan.json").read_text(encoding="utf-8"))
    for planned in plan["experiments"]:
        if planned["name"] in by_name:
            every = [cell for group in planned["groups"] for cell in group]
            devices = tuple(dict.fromkeys(str(c["device"]) for c in every if "device" in c))
            scope = Scope(quick=False, cores=2, devices=devices or DEVICES)
            today = cells(by_name[planned["name"]], scope)
            assert all(cell in today for cell in every), planned["name"]
            checked += 1
    assert checked >= 1


def test_messages_as_stated_are_those_of_the_text() -> None:
    workload = messages.stated_workload(MANY_KEYS, 1_200, 3)
    columns = workload.columns()
    assert {*columns["text_len"]} == {128}
    counts = [columns["operation"].count(code) for code in range(3)]
    assert counts == [600, 300, 300]
    assert [columns["key_len"].count(size) for size in (16, 24, 32)] == [400, 400, 400]


def test_messages_as_logged_are_the_records_of_the_input_file() -> None:
    workload = messages.logged_workload(FRESH_KEYS, 37_800, 3)
    columns = workload.columns()
    assert [columns["operation"].count(code) for code in range(3)] == [18_900, 9_391, 9_509]
    assert {*columns["text_len"]} == {13, 16, 32, 51}
    assert {*columns["nonce_len"]} == {1, 12, 128}
    assert workload.text_len_mean == 28
    operations = dict(zip(Planned, (Operation.SEAL, Operation.OPEN, Operation.FORGED), strict=True))
    counted = Counter(
        (
            operations[each.planned],
            8 * len(each.key),
            len(each.nonce),
            len(each.aad),
            each.text_len,
            each.tag_len,
        )
        for each in operation_log.records()
    )
    assert {astuple(each)[:-1]: each.weight for each in workload.shapes} == counted


def test_a_cell_builds_the_messages_that_it_names() -> None:
    for cell in cells(BY_ID["003-F5"], QUICK):
        workload = workload_of(cell, 7, builders=messages.BUILDERS)
        assert (workload.name, workload.seed) == (f"003 {cell['workload']}", 7)
        assert str(workload.regime) == cell["keys"]
        assert workload.messages % int(cell["batch"]) == 0


def test_the_documents_own_speeds_reproduce_figure_5() -> None:
    speeds = {1: 42.3, 2: 42.3, 4: 40.0, 8: 40.0, 20: 493.0}
    experiment = BY_ID["003-F5"]
    found = results(experiment, FULL, lambda cell: speeds[int(cell["threads"])])
    assert relations(by_what(compare(experiment, found))) == {
        "AES-GCM, 1 thread": {Relation.SAME},
        # A thread a core is 2 of them here, and 20 run too.
        "AES-GCM, 20 threads": {Relation.SLOWER, Relation.SAME},
        "speed-up a thread, 2 threads against 1": {Relation.REPRODUCED},
        SHARING: {Relation.HOLDS},
    }


def test_scaling_is_told_below_and_at_the_cores() -> None:
    experiment = BY_ID["003-F5"]
    scope = Scope(quick=True, cores=8, devices=DEVICES)
    pairs = compare(experiment, results(experiment, scope))
    found = [value(claim) for each, claim in pairs if each.what.startswith("speed-up")]
    assert found == pytest.approx([1 / 2, 1 / 8] * 2)
    one_core = compare(experiment, results(experiment, replace(scope, cores=1)))
    (claim, _) = by_what(one_core)["speed-up a thread, N threads against 1"]
    assert claim.relation is Relation.UNTESTED


def test_the_documents_own_speeds_reproduce_figure_6() -> None:
    speeds = {"table": 493.0, "ipp": 2_000.0}
    experiment = BY_ID["003-F6"]
    found = results(experiment, FULL, lambda cell: speeds.get(str(cell["device"]), 900.0))
    claims = by_what(compare(experiment, found))
    assert relations(claims) == {
        "AES-GCM without IPP, 20 threads": {Relation.SAME},
        "AES-GCM with IPP, 20 threads": {Relation.SAME},
        "boost by IPP on i7-12700H: 2000/493 MB/s": {Relation.REPRODUCED},
        # 4.06 is over a tenth more than 3.67, and a little under a tenth less than 4.5.
        "boost by IPP on i7-11370H: 646/176 MB/s": {Relation.DIFFERS},
        "boost by IPP on i7-13620H: 1700/480 MB/s": {Relation.DIFFERS},
        "boost by IPP, around": {Relation.REPRODUCED},
    }


def test_each_of_the_nine_values_of_table_4_is_compared_both_ways() -> None:
    one, every, vendor = 40.0, 100.0, 700.0

    def speed(cell: Cell) -> float:
        code = one if cell["threads"] == 1 else every
        return vendor * int(cell["threads"]) if cell["device"] == "ipp" else code

    here = {"Thread = 1": one, "Threads = cores": every, "Threads = cores, IPP": 2 * vendor}
    pairs = compare(BY_ID["003-T4"], results(BY_ID["003-T4"], FULL, speed))
    claims = by_what(pairs)
    for row in table("003-T4-cpu-generations"):
        both = claims[f"{row['cpu']}, {row['test']}"]
        assert [claim.published for claim in both] == 2 * [float(row["throughput_mb_s"])]
        assert [value(claim) for claim in both] == 2 * [pytest.approx(here[row["test"]])]
    gains = [claim for each, claim in pairs if "speed-up a thread" in each.what]
    assert [value(claim) for claim in gains] == 6 * [pytest.approx(every / one / 2)]
    assert {round(claim.published or 0, 2) for claim in gains} == {0.63, 0.58, 0.71}
    drawn = [(each.series, *sorted(each.at.items())) for each, _ in pairs if each.series]
    assert len(set(drawn)) == len(drawn) == 9


def test_our_reading_of_the_premise_holds_where_aes_gcm_is_the_fastest_of_its_suite() -> None:
    experiment = BY_ID["003-P0"]

    def found(fast: str) -> list[Relation]:
        here = results(experiment, FULL, lambda c: 900 if fast in str(c["primitive"]) else 400)
        return [claim.relation for _, claim in compare(experiment, here)]

    assert (found("AES"), found("SHA")) == (5 * [Relation.HOLDS], 5 * [Relation.DIFFERS])


def test_notes_have_the_numbers_of_the_documents_own_tables() -> None:
    rows = table("003-T4-cpu-generations")
    speeds = {(row["cpu"], row["test"]): float(row["throughput_mb_s"]) for row in rows}
    own = "Threads = cores"
    boosts = sorted(speeds[cpu, f"{own}, IPP"] / speeds[cpu, own] for cpu, _ in speeds)
    notes = {name: " ".join(BY_ID[name].notes.split()) for name in ("003-F5", "003-F6")}
    assert f"{boosts[0]:.2f} to {boosts[-1]:.2f} times" in notes["003-F6"]
    gain = speeds["i7-12700H", own] / speeds["i7-12700H", "Thread = 1"] / 20
    assert f"{gain:.2f} a thread" in notes["003-F5"]


FIRST_CELLS = [
    pytest.param(each, cell, id=f"{each.name}-{cell[each.compare]}")
    for each in EVERY
    if each.groups(QUICK) and each.name != "operation-log"
    for cell in each.groups(QUICK)[0]
]


@pytest.mark.parametrize(("experiment", "cell"), FIRST_CELLS)
def test_every_arm_can_be_made_timed_and_says_what_it_was_checked_against(
    experiment: Experiment, cell: Cell, tmp_path: Path
) -> None:
    try:
        arm = experiment.arm(cell, Context(seed=1, folder=tmp_path))
    except Skip as error:
        pytest.skip(str(error))
    sample = arm.sample(0.001)
    assert sample.operations >= 1
    assert sample.bytes >= 1 or experiment.operation != "message"
    assert arm.report()["checked_against"] not in ("", "nothing")
