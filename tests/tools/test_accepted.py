"""Counts that moved are named with both numbers and what to do; accepted ones are expected."""

import json
from pathlib import Path
from typing import Any

import pytest

import accepted
import gpu_kernels
import instruction_counts
import weave
from instruction_counts import GUARD


def document(**cases: float) -> dict[str, Any]:
    counts = {case: {"instructions a message": number} for case, number in cases.items()}
    return {"by": "make", "made_with": "rustc 1.2.3", "counts": counts}


def changes(guard: accepted.Guard, before: Any, now: Any) -> list[str]:
    return [*accepted.differences(guard.counts(before), guard.counts(now), guard.limits)]


def test_counts_within_their_limits_are_no_difference() -> None:
    before = document(seal=1000.0, open=2000.0)
    assert changes(GUARD, before, document(seal=1029.0, open=1941.0)) == []


def test_a_count_that_grew_or_shrank_is_named_with_its_numbers() -> None:
    before, now = document(seal=1000.0, open=2000.0), document(seal=1040.0, open=1900.0)
    of, least = "instructions a message found", "accepted, 1,940 to 2,060 allowed"
    assert changes(GUARD, before, now) == [
        f"open: 1,900 {of}, 2,000 {least}.",
        f"seal: 1,040 {of}, 1,000 accepted, 970 to 1,030 allowed.",
    ]


def test_a_case_that_came_or_went_is_named() -> None:
    assert changes(GUARD, document(seal=1.0, open=2.0), document(seal=1.0, verify=2.0)) == [
        "open: accepted, and not found.",
        "verify: found, and not accepted.",
    ]


def test_what_was_accepted_is_expected_from_then_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / GUARD.file).parent.mkdir(parents=True)
    assert GUARD.check(tmp_path, document(seal=1.0), write=True) == 0
    assert GUARD.check(tmp_path, document(seal=1.0), write=False) == 0
    capsys.readouterr()
    other = {**document(seal=2.0), "made_with": "rustc 9.9.9"}
    assert GUARD.check(tmp_path, other, write=False) == 1
    printed = capsys.readouterr().out
    assert "of rustc 1.2.3; here is rustc 9.9.9" in printed
    assert "`make instruction-counts` writes what was found to" in printed


def test_what_is_missing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["instruction_counts.py", "--root", str(tmp_path)])
    assert GUARD.main("A tool.", lambda _: document(seal=1.0)) == 1
    assert "instruction-counts.json" in capsys.readouterr().err
    monkeypatch.setattr(instruction_counts, "program", lambda *_: tmp_path / "count")
    monkeypatch.setenv("PATH", "")
    assert GUARD.main("A tool.", instruction_counts.find) == 1
    assert "No such file or directory: 'valgrind'" in capsys.readouterr().err


def test_a_dump_without_a_sum_is_refused() -> None:
    assert instruction_counts.instructions("fn=x\n1 5\ntotals: 4711\n") == 4711
    for dump in ("fn=x\n", "totals: 0\n"):
        with pytest.raises(ValueError, match="counted nothing"):
            instruction_counts.instructions(dump)


@pytest.mark.parametrize("guard", [GUARD, weave.GUARD, gpu_kernels.GUARD])
def test_the_files_are_as_these_tools_write_them(guard: accepted.Guard) -> None:
    text = (Path(__file__).parents[2] / guard.file).read_text(encoding="utf-8")
    assert guard.text(json.loads(text)) == text
    assert guard.counts(json.loads(text))
