"""The figures of docs/constant-time.md come from the results folder, and from nowhere else."""

import json
from pathlib import Path

import pytest

import constant_time_page


def row(kind: str, what: str, *ts: float, path: str = "vaes512") -> dict[str, object]:
    found = [{"t": t, "of": "all", "samples": 1000, "median_ticks": 9} for t in ts]
    return {"path": path, "kind": kind, "what": what, "found": found}


ROWS = [
    row("planted", "a loop", -1234.5),
    row("asked", "seal", 1.26),
    row("asked", "open", -5.0, 2.0),
    row("planted", "a loop", 99.0, path="aesni"),
    row("asked", "seal", 4.6, 4.7, 4.8, path="aesni"),
    row("asked", "open", 1.0, path="aesni"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    page = f"before\n{constant_time_page.BEGIN}\nold\n{constant_time_page.END}\nafter\n"
    (tmp_path / constant_time_page.PAGE).write_text(page)
    for date in ("2026-01-01", "2026-01-02"):
        place = tmp_path / "results" / date / "a-machine"
        place.mkdir(parents=True)
        document = {"threshold": 4.5, "seconds": 2, "rows": ROWS}
        (place / constant_time_page.RESULTS).write_text(json.dumps(document))
    return tmp_path


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["constant_time_page.py", "--root", str(tree), *arguments])
    return constant_time_page.main()


def test_the_newest_figures_are_written_and_then_nothing_is_stale(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    page = (tree / constant_time_page.PAGE).read_text()
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "Measured 2026-01-02 on a-machine, 2 s and 1,000 to 1,000 batches a figure" in page


def test_what_is_not_as_it_should_be_is_bold() -> None:
    lines = constant_time_page.table({"threshold": 4.5, "rows": ROWS}).splitlines()
    assert lines[0] == "| compared | should be | vaes512 | aesni |"
    assert lines[2:] == [
        "| a loop | over 4.5 | 1,234.5 | 99.0 |",
        "| seal | under 4.5 | 1.3 | **4.6, then 4.7, then 4.8** |",
        "| open | under 4.5 | 5.0, then 2.0 | 1.0 |",
    ]
    missed = constant_time_page.table({"threshold": 4.5, "rows": [row("planted", "a loop", 2.0)]})
    assert missed.endswith("| a loop | over 4.5 | **2.0** |")


def test_a_missing_place_or_folder_is_told(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / constant_time_page.PAGE).write_text("nothing to fill")
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "0 places" in capsys.readouterr().err
    for file in tree.glob("results/*/*/*"):
        file.unlink()
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "run `make dudect`" in capsys.readouterr().err
