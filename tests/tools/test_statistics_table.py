"""The figures of docs/statistics.md come from the results folder, and from nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

import statistics_table

PAGE = """# Title

<!-- generated: false-verdicts -->
old figures
<!-- end -->
the rest
"""


def result(name: str, met: bool, **verdicts: int) -> dict[str, Any]:  # noqa: FBT001
    return {
        "name": name,
        "what": f"{name} arms",
        "comparisons": 200,
        "verdicts": {"FASTER": 0, "SLOWER": 0, "SAME": 0, "UNSURE": 0} | verdicts,
        "wanted": "at most 10 FASTER or SLOWER",
        "met": met,
        "ratios_95": [0.9912, 1.0098],
        "clean_share": 0.971,
        "noise_floor": 0.0131,
        "sample_ms": 4.02,
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "statistics.md").write_text(PAGE)
    return tmp_path


def put(tree: Path, folder: str, *, quick: bool = False) -> None:
    place = tree / "results" / folder
    place.mkdir(parents=True)
    document = {
        "created": "2026-01-02T03:04:05Z",
        "quick": quick,
        "blocks": 20,
        "command": "python benches/false_verdicts.py",
        "machine": {
            "cpu_model": {"value": "A Processor", "reason": None},
            "cores_affinity": {"value": 2, "reason": None},
        },
        "results": [
            result("idle", met=True, FASTER=2, SLOWER=1, SAME=190, UNSURE=7),
            result("loaded", met=False, FASTER=20, SLOWER=30, SAME=100, UNSURE=50),
        ],
    }
    (place / "false-verdicts-4-ms.json").write_text(json.dumps(document))


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["statistics_table.py", "--root", str(tree), *arguments])
    return statistics_table.main()


def test_figures_are_written_and_then_stand(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "2026-01-02/here")
    page = tree / "docs" / "statistics.md"
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert page.read_text() == PAGE
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    text = page.read_text()
    assert "old figures" not in text
    assert text.startswith("# Title\n")
    assert text.endswith("the rest\n")
    assert (
        "| idle arms | 200 | 1.3 % | 0.991..1.010 | 2 | 1 | 190 | 7 "
        "| at most 10 FASTER or SLOWER | met |" in text
    )
    assert "| loaded arms | 200 | 1.3 % | 0.991..1.010 | 20 | 30 | 100 | 50 | at most 10" in text
    assert "FASTER or SLOWER | **missed** |" in text
    assert (
        "2026-01-02, A Processor, 2 cores: 20 blocks in one process, samples of 4 ms; clean" in text
    )
    assert "clean samples 97 % (idle), 97 % (loaded)" in text
    assert "(../results/2026-01-02/here/false-verdicts-4-ms.json)" in text


def test_a_changed_figure_is_found(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "2026-01-02/here")
    run(tree, monkeypatch=monkeypatch)
    page = tree / "docs" / "statistics.md"
    page.write_text(page.read_text().replace("190", "191"))
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1


def test_the_newest_folder_is_the_source_unless_one_is_named(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tree, "2026-01-02/here")
    put(tree, "2026-02-01/there")
    assert statistics_table.newest(tree) == tree / "results" / "2026-02-01" / "there"
    run(tree, str(tree / "results" / "2026-01-02" / "here"), monkeypatch=monkeypatch)
    assert "2026-01-02/here" in (tree / "docs" / "statistics.md").read_text()


def test_without_results_the_place_is_empty(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    (tree / "docs" / "statistics.md").write_text(PAGE.replace("old figures\n", ""))
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0


def test_a_trial_run_is_no_source(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tree, "2026-01-02/here", quick=True)
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "of a --quick run, which proves nothing" in capsys.readouterr().err


def test_a_page_without_the_place_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "docs" / "statistics.md").write_text(PAGE.replace("<!-- end -->", ""))
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "has 0 places" in capsys.readouterr().err
