"""Document 003's log: every operation of its input file, and its totals beside those here."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from conftest import skip
from lab.test_experiments import median
from run_report import ran
from sealift.lab import cavp, registry
from sealift.lab.experiments.operation_log.log import Batch
from sealift.lab.published import Comparison, Match
from sealift.lab.result import Found, Verified
from sealift.lab.spec import Arm, Context, Skip, WrongResultError
from sealift.lab.workload import Operation


@pytest.fixture(scope="module")
def all_records() -> tuple[cavp.Record, ...]:
    try:
        records = cavp.records()
    except Skip as error:
        skip("vectors", str(error))
    ran("vectors")
    return records


@pytest.fixture
def log_arm(all_records: object, tmp_path: Path) -> Callable[[str], Arm]:
    assert all_records
    experiment = registry.find("003-F14")
    return lambda device: experiment.arm({"device": device}, Context(seed=1, folder=tmp_path))


def test_the_records_are_those_of_the_input_file(all_records: tuple[cavp.Record, ...]) -> None:
    assert len(all_records) == 37_800
    # Document 003 prints 6,558,654 bytes: 2 for the count of records, and for each 7 beside its
    # key, nonce, text unless it must fail, aad, ciphertext and tag.
    told = sum(
        7 + len(r.key) + len(r.nonce) + len(r.text or b"") + len(r.aad) + len(r.sealed)
        for r in all_records
    )
    assert told + 2 == 6_558_654


@pytest.mark.parametrize("device", ["library", "cpu"])
def test_every_operation_is_logged_and_as_planned(
    log_arm: Callable[[str], Arm], tmp_path: Path, device: str
) -> None:
    arm = log_arm(device)
    sample = arm.sample(0.001)
    assert (sample.operations, sample.bytes) == (37_800, 28 * 37_800)
    expected = {
        "passes": 2,
        "operations": 2 * 37_800,
        "seals": 2 * 18_900,
        "opens": 2 * 9_391,
        "planned_failures": 2 * 9_509,
        "planned_failures_that_opened": 0,
        "unplanned_failures": 0,
        "operations_aes_128": 2 * 12_600,
        "operations_aes_192": 2 * 12_600,
        "operations_aes_256": 2 * 12_600,
        "text_bytes": 2 * 28 * 37_800,
    }
    assert expected.items() <= arm.verified().items()
    (path,) = tmp_path.iterdir()
    assert path.name == f"003-F14-log-{device}.csv"
    lines = read(path)
    assert [int(line["sequence"]) for line in lines] == list(range(1, 37_801))
    assert sum(line["result"] == "refused" for line in lines) == 9_509
    assert {line["as_planned"] for line in lines} == {"yes"}


LOGGED = {
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


def log_comparisons(*devices: Verified) -> dict[str, Comparison]:
    return {each.what: each for each in registry.find("003-F14").published(Found((), devices))}


def logged(device: str, wrong: str = "", **changes: int) -> Verified:
    return Verified("operation-log", {"device": device}, {**LOGGED, **changes}, wrong=wrong)


def test_the_totals_of_the_log_are_judged_by_the_rounding_of_figure_14() -> None:
    by_what = log_comparisons(logged("library"))
    told = {what: each.match for what, each in by_what.items()}
    shares = {what: said for what, said in told.items() if what.endswith("as a share")}
    # Of the sum that is printed, encryptions are 48.36 to 49.93 %, and half here.
    assert list(shares.values()) == 3 * [Match.DIFFERS] + 3 * [Match.REPRODUCED]
    assert told["planned failures for each open that succeeds"] is Match.REPRODUCED
    encryptions = by_what["Total Number of Encryption Operations: 1.6 G, as a share"]
    assert encryptions.span is not None
    assert encryptions.span.low == pytest.approx(0.48364, abs=1e-5)
    assert encryptions.span.high == pytest.approx(0.49930, abs=1e-5)
    assert "1.65 G at most, the decryptions 1.6546 G at least" in encryptions.note
    assert "chosen so that their file has the printed size" in encryptions.note


def test_the_volume_of_the_log_is_compared_as_gb_and_as_gib() -> None:
    by_what = log_comparisons(logged("library"))
    as_gb, as_gib = (
        by_what[f"volume by operations, if 87.0 GB are {unit}"] for unit in ("GB", "GiB")
    )
    assert [as_gb.published, as_gib.published] == pytest.approx([26.73, 28.70], abs=0.01)
    assert (as_gb.match, as_gib.match) == (Match.DIFFERS, Match.DIFFERS)
    near = log_comparisons(logged("library", text_bytes=round(28.7 * 37_800)))
    assert near["volume by operations, if 87.0 GB are GiB"].match is Match.REPRODUCED


def test_the_stated_size_is_shown_to_contradict_the_log_of_its_own_document() -> None:
    stated = log_comparisons(logged("library"))["message size as the text states it: 128 Bytes"]
    assert stated.match is Match.AGAINST_ITSELF
    assert (stated.published, stated.here) == (128, None)
    assert "26.7 B each, or 28.7 B if GiB; at the size stated they would be 416.6 GB" in stated.note


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        (logged("cpu"), 0),
        (logged("cpu", unplanned_failures=2, wrong="a tag differs"), 2),
        (logged("cpu", planned_failures_that_opened=1), 1),
        # Wrong before it could count.
        (Verified("operation-log", {"device": "cpu"}, {}, wrong="a tag differs"), 1),
    ],
)
def test_operations_that_are_not_as_planned_contradict_the_log(
    cpu: Verified, expected: int
) -> None:
    what = "operations that did not end as planned, of all devices"
    row = log_comparisons(logged("library"), cpu)[what]
    assert median(row) == expected
    assert row.match is (Match.CONTRADICTED if expected else Match.REPRODUCED)
    assert f"library 0 of 37,800, cpu {expected} of" in row.note


def test_a_device_that_counted_nothing_is_no_empty_reason() -> None:
    nothing = Verified("operation-log", {"device": "library"}, {"role": "real"})
    for comparison in log_comparisons(nothing).values():
        assert not comparison.note.rstrip().endswith(":")


def test_the_counts_of_the_log_are_compared_as_the_arm_tells_them(
    log_arm: Callable[[str], Arm],
) -> None:
    facts = log_arm("library").verified()
    by_what = log_comparisons(Verified("operation-log", {"device": "library"}, facts))
    assert {what: each.here for what, each in by_what.items()} == {
        what: each.here for what, each in log_comparisons(logged("library")).items()
    }


@pytest.mark.parametrize(
    ("operation", "counted"),
    [
        (Operation.SEAL, "unplanned_failures"),
        (Operation.OPEN, "unplanned_failures"),
        (Operation.BAD, "planned_failures_that_opened"),
    ],
)
def test_a_result_that_is_not_as_planned_is_counted_named_and_ends_the_arm(
    log_arm: Callable[[str], Arm],
    monkeypatch: pytest.MonkeyPatch,
    operation: Operation,
    counted: str,
) -> None:
    arm = log_arm("library")
    right = Batch.run

    def wrong(batch: Batch, engine: object) -> list[bytes | None]:
        results = list(right(batch, engine))  # type: ignore[arg-type]
        places = [i for i, record in enumerate(batch.records) if record.operation is operation]
        for place in places[:1]:
            results[place] = b"something else"
        return results

    monkeypatch.setattr(Batch, "run", wrong)
    with pytest.raises(WrongResultError, match=r"library: 1 of [\d,]+ operations were not as plan"):
        arm.sample(0.001)
    facts = arm.verified()
    assert facts[counted] == 1
    assert facts["planned_failures_that_opened"] + facts["unplanned_failures"] == 1  # type: ignore[operator]


def test_a_wrong_first_pass_stands_in_the_log(
    log_arm: Callable[[str], Arm], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Batch, "run", lambda batch, _: [None] * len(batch.records))
    with pytest.raises(WrongResultError):
        log_arm("cpu")
    lines = read(tmp_path / "003-F14-log-cpu.csv")
    assert {(line["result"], line["as_planned"]) for line in lines} == {
        ("refused", "yes"),
        ("refused", "no"),
    }
    assert sum(line["as_planned"] == "yes" for line in lines) == 9_509


def test_a_device_that_is_absent_is_skipped_with_its_reason(
    log_arm: Callable[[str], Arm],
) -> None:
    with pytest.raises(Skip, match="none of null is real hardware"):
        log_arm("null")


def test_without_the_vectors_the_log_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cryptography_vectors", None)
    cavp.records.cache_clear()
    with pytest.raises(Skip, match="pip install cryptography-vectors"):
        registry.find("003-F14").arm({"device": "library"}, Context(seed=1, folder=tmp_path))


def read(path: Path) -> list[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
