"""Document 003's test on GPUs: the same messages as on the CPU, beside AES-128 sealed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lab.experiments.document_003.made_results import by_what, cells, compare, results

from sealift_lab.experiments.document_003 import gpu_same_test
from sealift_lab.experiments.document_003.gpu_same_test import EXPERIMENT, TESTS
from sealift_lab.experiments.document_003.gpus import cells as gpu_cells
from sealift_lab.experiments.document_003.gpus.cells import PROCESSOR, REPLICATED, core_count
from sealift_lab.model.arm import Cell, Context, Value
from sealift_lab.model.experiment import Scope
from sealift_lab.model.published import Kind, Missing
from sealift_lab.model.results import Relation, Results
from sealift_lab.model.workload import Operation, Workload

UNITS = 24
WITH = Scope(quick=False, cores=4, devices=("cpu", "cuda"))
WITHOUT = Scope(quick=False, cores=4, devices=("cpu",))
FACTS: dict[str, Value] = {"multiprocessors": f"{UNITS}"}


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GPU with as many multiprocessors as an RTX 4060 has."""
    gpu_cells.units_of.cache_clear()
    monkeypatch.setattr(gpu_cells, "multiprocessors", lambda _: UNITS)
    yield
    gpu_cells.units_of.cache_clear()


def speed(cell: Cell) -> float:
    """A core does 50 MB/s, and four do 100; a thread of a GPU does 2, and each adds as many."""
    device, threads = str(cell["device"]), int(cell["threads_per_block"])
    if core_count(device):
        return 25.0 * threads + 25 * (threads == 1)
    blocks = min(int(cell["thread_blocks"]), UNITS)
    return 2.0 * blocks * min(threads, 128)


def test_every_grid_works_each_of_the_three_tests_in_one_group() -> None:
    for scope in (WITH, WITHOUT):
        groups = EXPERIMENT.groups(scope)
        assert all([cell["test"] for cell in group] == [*TESTS] for group in groups)
    names = {str(group[0]["device"]) for group in EXPERIMENT.groups(WITHOUT)}
    assert names == {PROCESSOR, *(f"{code}, {n}" for code in ("table", "cpu") for n in CORES)}
    assert not EXPERIMENT.groups(replace(WITH, quick=True))


CORES = ("1 core", "4 cores")


def test_a_processor_works_one_thread_and_all_of_it_and_a_gpu_every_grid() -> None:
    def grids(scope: Scope) -> set[tuple[Value, Value]]:
        every = (cell for cell in cells(EXPERIMENT, scope) if cell["mode"] == REPLICATED)
        return {(cell["thread_blocks"], cell["threads_per_block"]) for cell in every}

    assert grids(WITHOUT) == {(1, 1), (4, 128)}
    assert {(1, 1), (1, 1_024), (2, 128), (UNITS, 128), (7 * UNITS, 512)} <= grids(WITH)


def test_cores_and_gpus_get_the_same_messages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    works, asked = list[Workload](), list[dict[str, Any]]()

    def gcm(_: str, work: Workload, **__: object) -> object:
        works.append(work)
        return SimpleNamespace()

    def native(_: str, __: Context, **request: object) -> object:
        asked.append(request)
        return SimpleNamespace()

    monkeypatch.setattr(gpu_same_test, "gcm", gcm)
    monkeypatch.setattr(gpu_same_test, "native", native)
    for cell in cells(EXPERIMENT, WITHOUT):
        EXPERIMENT.arm(cell, Context(1, tmp_path))
    third = {
        gpu_same_test.VERIFIED: {*Operation} - {Operation.FORGED},
        gpu_same_test.REFUSED: {*Operation} - {Operation.VERIFY},
        gpu_same_test.SEALED: {Operation.SEAL},
    }
    for work in works:
        operations = third[work.name.removeprefix("003 ")]
        assert {shape.operation for shape in work.shapes} == operations
        assert {shape.key_bits for shape in work.shapes} == (
            {128} if len(operations) == 1 else {128, 192, 256}
        )
    assert all(request["messages"] % 12 == 0 for request in asked)
    assert {request["operation"] for request in asked} == {"seal", *NAMES}
    assert {request["key_bits"] for request in asked} == {(128,), (128, 192, 256)}


NAMES = ("mixed, verified", "mixed, refused")


def test_figures_of_the_document_stand_beside_both_readings_of_a_quarter() -> None:
    claims = by_what(compare(EXPERIMENT, results(EXPERIMENT, WITH, speed, FACTS)))
    (verified, refused) = claims["one CPU core against one GPU core"]
    assert verified.figure is not None
    assert refused.figure is not None
    assert round(verified.figure.value) == round(refused.figure.value) == 25
    assert {claim.published for claim in claims["36 blocks of 128 threads"]} == {4_200}
    breaks = claims["measured break / cores of a multiprocessor"]
    assert [claim.relation for claim in breaks] == 2 * [Relation.REPRODUCED]


def test_a_gpu_is_more_linear_where_its_threads_gain_more_of_their_number() -> None:
    what = "our reading: more threads gain more of their number on a GPU than on a CPU"
    here = results(EXPERIMENT, WITH, speed, FACTS)
    found = by_what(compare(EXPERIMENT, here))[what]
    # All threads of the GPU gain their number, and four cores two times.
    assert [round(getattr(claim.figure, "value", 0), 2) for claim in found] == [2, 2, 2]
    assert {claim.relation for claim in found} == {Relation.HOLDS}
    alone = Results([row for row in here.rows if row.cell["device"] == "cuda"], here.reports)
    assert {claim.relation for claim in by_what(compare(EXPERIMENT, alone))[what]} == {
        Relation.UNTESTED
    }
    (one, *_) = (each for each in EXPERIMENT.published(here) if each.what == what)
    assert "0.65 on its RTX 4070 (2023) and 0.58 on its i7-12700H" in one.note
    assert one.kind is Kind.READING


def test_speeds_of_a_processor_stand_beside_no_published_figure() -> None:
    for published in EXPERIMENT.published(results(EXPERIMENT, WITHOUT, facts=FACTS)):
        assert isinstance(published.here, Missing), published.what
