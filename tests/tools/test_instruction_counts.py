"""A count that moved is told with its case, both numbers and what to do; one that didn't is not."""

import json
from pathlib import Path

import pytest

import benches
import instruction_counts

EXPECTED = {"seal": 1000.0, "open": 2000.0}


def test_counts_within_the_tolerance_are_no_difference() -> None:
    found = {"seal": 1029.0, "open": 1941.0}
    assert list(instruction_counts.differences(EXPECTED, found)) == []


def test_a_count_that_grew_or_shrank_is_told_with_its_numbers() -> None:
    found = {"seal": 1040.0, "open": 1900.0}
    assert list(instruction_counts.differences(EXPECTED, found)) == [
        "open: 2,000.0 instructions a message expected, 1,900.0 found: 5.0% fewer, "
        "where 3% are allowed.",
        "seal: 1,000.0 instructions a message expected, 1,040.0 found: 4.0% more, "
        "where 3% are allowed.",
    ]


def test_a_case_that_came_or_went_is_told() -> None:
    told = list(instruction_counts.differences(EXPECTED, {"seal": 1000.0, "verify": 10.0}))
    assert told == [
        "open: 2,000.0 instructions a message expected, and not counted.",
        "verify: 10.0 instructions a message found, and none expected.",
    ]


def test_a_dump_without_a_sum_is_refused() -> None:
    assert instruction_counts.instructions("fn=x\n1 5\ntotals: 4711\n") == 4711
    for dump in ("fn=x\n", "totals: 0\n"):
        with pytest.raises(ValueError, match="counted nothing"):
            instruction_counts.instructions(dump)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / instruction_counts.EXPECTED
    file.parent.mkdir(parents=True)
    instruction_counts.write(file, EXPECTED, "rustc 1.2.3")
    monkeypatch.setattr(instruction_counts, "program", lambda *_: tmp_path / "count")
    monkeypatch.setattr(instruction_counts, "_output", lambda _: "rustc 9.9.9")
    return tmp_path


def run(tree: Path, found: dict[str, float], *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(instruction_counts, "counted", lambda _: found)
    monkeypatch.setattr("sys.argv", ["instruction_counts.py", "--root", str(tree), *more])
    return instruction_counts.main()


def test_a_difference_fails_and_says_how_to_accept_it_and_who_counted_before(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, EXPECTED, monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert run(tree, {"seal": 1500.0, "open": 2000.0}, monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().out
    assert "seal: 1,000.0" in said
    assert "of rustc 1.2.3; here is rustc 9.9.9" in said
    assert "make instruction-counts" in said


def test_written_counts_are_expected_from_then_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"seal": 1500.0, "open": 2000.0}
    assert run(tree, found, monkeypatch=monkeypatch) == 1
    assert run(tree, found, "--write", monkeypatch=monkeypatch) == 0
    assert run(tree, found, monkeypatch=monkeypatch) == 0
    document = json.loads((tree / instruction_counts.EXPECTED).read_text())
    assert document["rustc"] == "rustc 9.9.9"


def test_what_is_missing_is_told(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / instruction_counts.EXPECTED).unlink()
    assert run(tree, EXPECTED, monkeypatch=monkeypatch) == 1
    assert "instruction-counts.json" in capsys.readouterr().err
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="apt-get install valgrind"):
        benches.needed("valgrind", "valgrind")
