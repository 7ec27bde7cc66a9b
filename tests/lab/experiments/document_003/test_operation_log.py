"""Document 003's log: every operation of its input file, and its totals beside those here."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab.experiments.document_003.made_results import compare

from sealift.operations import Batch
from sealift.vectors import Planned, VectorRecord
from sealift_lab.experiments.document_003 import operation_log
from sealift_lab.experiments.document_003.operation_log import EXPERIMENT
from sealift_lab.model.arm import Arm, Context, Skip, Value, WrongResultError
from sealift_lab.model.published import Kind
from sealift_lab.model.results import ArmReport, Claim, Relation, Results


@pytest.fixture(scope="module")
def records() -> tuple[VectorRecord, ...]:
    try:
        return operation_log.records()
    except Skip as error:
        pytest.skip(str(error))


@pytest.fixture
def log_arm(records: object, tmp_path: Path) -> Callable[[str], Arm]:
    assert records
    return lambda device: EXPERIMENT.arm({"device": device}, Context(seed=1, folder=tmp_path))


def test_the_records_are_those_of_the_input_file(records: tuple[VectorRecord, ...]) -> None:
    assert len(records) == 37_800
    # Document 003 prints 6,558,654 bytes: 2 for the count of records, and for each 7 beside its
    # key, nonce, text unless it must fail, aad, ciphertext and tag.
    size = sum(
        7 + len(r.key) + len(r.nonce) + len(r.aad) + len(r.input) + len(r.expected or b"")
        for r in records
    )
    assert size + 2 == 6_558_654


@pytest.mark.parametrize("device", ["library", "cpu"])
def test_every_operation_is_as_planned(log_arm: Callable[[str], Arm], device: str) -> None:
    arm = log_arm(device)
    sample = arm.sample(0.001)
    assert (sample.operations, sample.bytes) == (37_800, 28 * 37_800)
    expected = {"passes": 2, **{name: 2 * count for name, count in COUNTED.items()}}
    assert expected.items() <= arm.report().items()


COUNTED = {
    "operations": 37_800,
    "seals": 18_900,
    "opens": 9_391,
    "planned_failures": 9_509,
    "planned_failures_that_opened": 0,
    "unplanned_failures": 0,
    "operations_aes_128": 12_600,
    "operations_aes_192": 12_600,
    "operations_aes_256": 12_600,
    "text_bytes": 28 * 37_800,
}


def claims(*reports: ArmReport) -> dict[str, Claim]:
    return {each.what: claim for each, claim in compare(EXPERIMENT, Results((), reports))}


def report(device: str, wrong: str = "", **changes: int) -> ArmReport:
    facts: dict[str, Value] = {**COUNTED, **changes}
    return ArmReport(EXPERIMENT.name, {"device": device}, facts, wrong=wrong)


def test_the_totals_are_judged_by_the_rounding_of_figure_14() -> None:
    found = claims(report("library"))
    shares = [claim.relation for what, claim in found.items() if what.endswith("as a share")]
    # Of the sum that is printed, encryptions are 48.36 to 49.93 %, and half here.
    assert shares == 3 * [Relation.DIFFERS] + 3 * [Relation.REPRODUCED]
    failures = found["planned failures for each open that succeeds"]
    assert failures.relation is Relation.REPRODUCED
    published = EXPERIMENT.published(Results((), [report("library")]))
    assert (published[0].low, published[0].high) == pytest.approx((0.48364, 0.49930), abs=1e-5)
    (other,) = (each for each in published if not each.is_fitted)
    assert (len(published), other.kind) == (11, Kind.ARITHMETIC)
    assert "or 28.7 B if GiB; at the size stated they would be 416.6 GB" in other.note
    stated = found["message size as the text states it: 128 Bytes"]
    assert (stated.relation, stated.published) == (Relation.DIFFERS, 128)
    assert not any(claim.is_independent for claim in found.values())
    # A text of 28 bytes is near to the volume in GiB.
    volumes = [found[f"volume by operations, if 87.0 GB are {unit}"] for unit in ("GB", "GiB")]
    assert [each.published for each in volumes] == pytest.approx([26.73, 28.70], abs=0.01)
    assert {each.relation for each in volumes} == {Relation.DIFFERS}


# The last one was wrong before it could count.
@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        (report("cpu"), 0),
        (report("cpu", unplanned_failures=2, wrong="a tag differs"), 2),
        (report("cpu", planned_failures_that_opened=1), 1),
        (ArmReport("operation-log", {"device": "cpu"}, {}, wrong="a tag differs"), 1),
    ],
)
def test_operations_that_are_not_as_planned_contradict_the_log(
    cpu: ArmReport, expected: int
) -> None:
    found = claims(report("library"), cpu)
    claim = found["operations that did not end as planned, of all devices"]
    assert getattr(claim.figure, "value", None) == expected
    assert claim.relation is (Relation.CONTRADICTED if expected else Relation.REPRODUCED)


@pytest.mark.parametrize("planned", Planned)
def test_a_result_that_is_not_as_planned_is_counted_named_and_ends_the_arm(
    log_arm: Callable[[str], Arm], monkeypatch: pytest.MonkeyPatch, planned: Planned
) -> None:
    arm, right = log_arm("library"), Batch.run

    def wrong(batch: Batch, engine: object) -> list[bytes | None]:
        found = list(right(batch, engine))  # type: ignore[arg-type]
        kinds = [record.planned for record in batch.records]
        if planned in kinds:
            found[kinds.index(planned)] = b"something else"
        return found

    monkeypatch.setattr(Batch, "run", wrong)
    with pytest.raises(WrongResultError, match=r"library: 1 of [\d,]+ operations were not as plan"):
        arm.sample(0.001)
    is_failure = planned is Planned.REFUSE
    counts = {"planned_failures_that_opened": is_failure, "unplanned_failures": not is_failure}
    assert counts.items() <= arm.report().items()


def test_a_wrong_first_pass_makes_no_arm(
    log_arm: Callable[[str], Arm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Batch, "run", lambda batch, _: [None] * len(batch.records))
    with pytest.raises(WrongResultError, match=r"cpu: .* the first is number 1 of the file"):
        log_arm("cpu")


def test_without_the_vectors_the_arm_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography_vectors", None)
    operation_log.records.cache_clear()
    with pytest.raises(Skip, match="pip install cryptography-vectors"):
        EXPERIMENT.arm({"device": "library"}, Context(seed=1, folder=tmp_path))
    operation_log.records.cache_clear()
