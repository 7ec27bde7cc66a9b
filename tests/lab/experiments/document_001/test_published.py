"""Document 001's published figures, judged on made-up times; its cells."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sealift_lab.claim.replication import compare_published
from sealift_lab.experiments.document_001 import EXPERIMENTS
from sealift_lab.experiments.document_001.files import (
    MAPPING,
    READING,
    READING_BESIDE,
    WRITING,
    WRITING_BESIDE,
)
from sealift_lab.experiments.document_001.processes import FREED, LOADED, NONE, RANK, REAL_RANK
from sealift_lab.model.arm import Context
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import Claim, Estimate, Relation, Results, Row

FULL = Scope(quick=False, cores=2, devices=())


def claims(experiment: Experiment, times: Mapping[str, float]) -> dict[str, Claim]:
    """Each arm takes 100 ns, or so many times as long for its value of the compared axis."""

    def ratio(one: Row, other: Row) -> Estimate:
        value = other.time.value / one.time.value
        return Estimate(value, 0.999 * value, 1.001 * value)

    rows = [
        Row(
            experiment=experiment.name,
            group=group,
            arm=arm,
            cell=cell,
            compare=experiment.compare,
            time=Estimate(100 * times.get(str(cell[experiment.compare]), 1.0)),
            payload_bytes=1_000,
            reference="",
            ratio=None,
            verdict=None,
            reason="",
            is_winner=False,
            blocks=60,
            processes=5,
            noise=0.01,
            clean_share=1.0,
        )
        for group, cells in enumerate(experiment.groups(FULL))
        for arm, cell in enumerate(cells)
    ]
    results = Results(rows, ())
    figures = experiment.published(results)
    pairs = compare_published(figures, results, ratio, experiment.name)
    return {published.what: claim for published, claim in pairs}


def value(claim: Claim) -> float:
    assert claim.figure is not None
    return claim.figure.value


def test_a_lock_a_byte_is_in_the_printed_range_and_memory_alone_is_no_cause() -> None:
    found = claims(READING, {RANK: 2.0, FREED: 2.0})
    assert len(found) == 17
    for which, printed in (("least", 1.5), ("most", 2.7)):
        claim = found[f"{which} slow-down of reading: a rank's runtime, getc, 1 thread"]
        assert (claim.published, claim.relation) == (printed, Relation.DIFFERS)
        assert value(claim) == pytest.approx(2.0)
    cause = found["supposed cause, virtual pages: huge pages alone, getc, 1 thread"]
    half = found["recommendation, first half: getc, 1 thread"]
    assert cause.relation is half.relation is Relation.DIFFERS
    assert cause.reason == half.reason == "no such effect here"


def test_loading_first_is_its_reading_and_iterating_over_reading_beside_a_rank() -> None:
    found = claims(READING, {REAL_RANK: 1.5, RANK: 6.0, FREED: 3.0, LOADED: 0.5})
    least = found["least slow-down of reading: a PIM rank, getc, 1 thread"]
    assert least.relation is Relation.REPRODUCED
    second = found["recommendation, second half: getc, 1 thread, share of the time"]
    assert value(second) == pytest.approx((1 + 0.5) / 6)
    assert value(found["recommendation, first half: getc, 1 thread"]) == pytest.approx(2)


def test_writing_as_fast_beside_a_rank_is_reproduced() -> None:
    found = claims(WRITING, {REAL_RANK: 1.5})
    assert len(found) == 8
    same = found["slow-down of writing: a rank's runtime, write of 4,096 B"]
    slower = found["slow-down of writing: a PIM rank, fwrite of 4,096 B"]
    assert (same.relation, slower.relation) == (Relation.REPRODUCED, Relation.DIFFERS)
    assert not any("putc" in what for what in found), "what was printed is of blocks"


def test_the_same_is_compared_where_another_process_holds_it() -> None:
    found = claims(READING_BESIDE, {RANK: 2.0, FREED: 2.0})
    assert len(found) == 17
    least = found["least slow-down of reading: a rank's runtime in another process, getc, 1 thread"]
    assert (least.published, least.relation) == (1.5, Relation.DIFFERS)
    half = found["recommendation, first half in another process: getc, 1 thread"]
    assert half.reason == "no such effect here"
    assert len(claims(WRITING_BESIDE, {})) == 4


def test_a_mapping_is_compared_with_calls_at_every_length() -> None:
    found = claims(MAPPING, {"a mapping that stands": 0.5})
    assert [claim.relation for claim in found.values()] == [Relation.HOLDS] * 10


def test_names_and_groups_are_those_of_stored_runs() -> None:
    quick = Scope(quick=True, cores=2, devices=())
    groups = {each.name: len(each.groups(FULL)) for each in EXPERIMENTS}
    assert groups == {
        "file-reading-by-condition": 37,
        "file-reading-beside-process": 4,
        "file-writing-by-condition": 9,
        "file-writing-beside-process": 3,
        "file-or-mapping": 10,
    }
    assert not any(each.groups(quick) for each in EXPERIMENTS)


@pytest.mark.parametrize(
    ("experiment", "first"),
    [(READING, 4), (READING_BESIDE, 4), (WRITING, 2), (WRITING_BESIDE, 3)],
)
def test_the_first_groups_hold_every_condition(experiment: Experiment, first: int) -> None:
    for group in experiment.groups(FULL)[:first]:
        assert group[0]["condition"] == NONE
        assert REAL_RANK in {cell["condition"] for cell in group}


def test_threads_that_were_asked_for_are_those_that_read() -> None:
    groups = READING.groups(Scope(quick=False, cores=8, devices=(), threads=(3,)))
    assert {cell["threads"] for group in groups for cell in group} == {3}
    assert not any(cell["reader"] == "python" for group in groups for cell in group)


@pytest.mark.parametrize("group", [0, 5])
def test_every_way_to_a_file_in_memory_copies_what_is_there(group: int, tmp_path: Path) -> None:
    for cell in MAPPING.groups(FULL)[group]:
        sample = MAPPING.arm(cell, Context(seed=1, folder=tmp_path)).sample(0.001)
        assert sample.bytes == 4_096 * sample.operations, cell
        assert cell["file"] == "inside memory"
    assert list(tmp_path.iterdir()) == []
