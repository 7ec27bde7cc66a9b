"""The README's figures come from the results folder, and from nowhere else."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import readme_tables
from readme_picture import picture

README = """# Title

<!-- generated: loop-against-batch -->
<!-- end -->
between
<!-- generated: picture -->
<!-- end -->
<!-- generated: table -->
old figures
<!-- end -->
the rest
"""


def interval(median: float) -> dict[str, Any]:
    return {"median": median, "low": median * 0.9, "high": median * 1.1}


def row(device: str, size: float, ns: float, **changes: Any) -> dict[str, Any]:
    return {
        "workload": "AES-128",
        "device": device,
        "size_bytes": size,
        "keys": "sessions:1024",
        "mix": "100/0/0",
        "threads": 1,
        "batch": 1024,
        "ns_per_message": interval(ns),
        "messages_per_s": 1e9 / ns,
        "payload_gb_per_s": size / ns,
        "ratio": None if device == "library" else interval(2.0),
        "verdict": None if device == "library" else "FASTER",
        "trust": "good",
        "origin": "measured",
    } | changes


def bench(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "rows": rows,
        "answer": "Run it on cpu.",
        "command": "sealift bench --quick --out results/2026-01-02/here",
        "checked_against": {"library": ["reference"], "cpu": ["library"], "null": []},
        "machine": {"cpu_model": {"value": "A Processor", "reason": None}},
    }


def loop(**ns: float) -> dict[str, Any]:
    batches, loops = ("seal_batch, lists", "seal_batch, columns"), readme_loops()
    return {
        "rows": [{"device": name, "ns_per_message": interval(value)} for name, value in ns.items()],
        "ratios": {f"{fast} / {slow}": interval(7.5) for fast in batches for slow in loops},
        "command": "python benches/python_loop.py",
        "machine": {"cpu_model": {"value": None, "reason": "no name"}},
    }


def readme_loops() -> tuple[str, str]:
    return "pyca loop, new AESGCM", "pyca loop, kept AESGCM"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text(README)
    folder = tmp_path / "results" / "2026-01-02" / "here"
    folder.mkdir(parents=True)
    rows = [
        row("library", 16, 100.0),
        row("cpu", 16, 50.0),
        row("library", 1024, 400.0),
        row("cpu", 1024, 300.0, trust="ranges only"),
        row("library", 28, 400.0, workload="003 as logged", keys="fresh"),
    ]
    (folder / "rows.json").write_text(json.dumps(bench(rows)))
    new, kept = readme_loops()
    times = {new: 1_200.0, kept: 360.0, "seal_batch, lists": 160.0, "seal_batch, columns": 60.0}
    (folder / "python-loop.json").write_text(json.dumps(loop(**times)))
    return tmp_path


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["readme_tables.py", "--root", str(tree), *arguments])
    return readme_tables.main()


def test_figures_are_written_and_then_stand(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert (tree / "README.md").read_text() == README
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    text = (tree / "README.md").read_text()
    assert "old figures" not in text
    assert text.startswith("# Title\n")
    assert text.endswith("the rest\n")
    assert (
        "| AES-128, sealed, 1,024 sessions | 16 | 10.0 M/s, 0.160 GB/s | 20.0 M/s, 0.320 GB/s "
        "| 2.00 [1.80..2.20] FASTER |"
    ) in text
    assert "| too noisy to say |" in text
    assert (
        "| document 003 as logged, a fresh key each | 28 | 2.50 M/s, 0.0700 GB/s | not taken | — |"
        in text
    )
    assert "> Run it on cpu." in text
    assert "2026-01-02, A Processor: `sealift bench --quick`" in text
    assert "7.50 [6.75..8.25] times as fast as the loop above, which makes them anew (1,200" in text
    assert "with sessions made beforehand" in text
    assert "](docs/speed-by-size.svg)" in text


@pytest.mark.parametrize("path", ["README.md", "docs/speed-by-size.svg"])
def test_a_changed_file_is_found(path: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tree, monkeypatch=monkeypatch)
    file = tree / path
    file.write_text(file.read_text().replace("16", "17"))
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1


def test_the_newest_folder_is_the_source(tree: Path) -> None:
    later = tree / "results" / "2026-02-01" / "there"
    later.mkdir(parents=True)
    assert readme_tables.newest(tree) == tree / "results" / "2026-01-02" / "here"
    (later / "rows.json").write_text("{}")
    assert readme_tables.newest(tree) == later


def test_without_results_the_places_are_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text(README)
    assert run(tmp_path, "--check", monkeypatch=monkeypatch) == 1
    (tmp_path / "README.md").write_text(README.replace("old figures\n", ""))
    assert run(tmp_path, "--check", monkeypatch=monkeypatch) == 0


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("generated: table", "generated: tabel", "README.md wants 'tabel' generated; there are"),
        ("<!-- end -->\nthe rest", "the rest", "has no <!-- end -->"),
    ],
)
def test_a_marker_that_is_wrong_is_an_error(
    before: str,
    after: str,
    said: str,
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readme = tree / "README.md"
    readme.write_text(readme.read_text().replace(before, after))
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert said in capsys.readouterr().err


def test_a_missing_source_names_the_command_that_writes_it(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "results" / "2026-01-02" / "here" / "python-loop.json").unlink()
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "`python benches/python_loop.py --out FOLDER` writes it" in capsys.readouterr().err


def test_the_picture_has_a_line_and_a_name_for_each_device_apart_from_each_other() -> None:
    rows = [row(name, size, 100.0) for name in ("a<b", "cpu", "library") for size in (16, 64, 1024)]
    svg = ET.fromstring(picture(rows))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}polyline")) == 3
    names = [text for text in svg.findall(f"{space}text") if text.text in ("a<b", "cpu", "library")]
    heights = sorted(float(text.attrib["y"]) for text in names)
    assert len(heights) == 3
    assert heights[1] - heights[0] >= 12
    assert heights[2] - heights[1] >= 12
    with pytest.raises(ValueError, match="two sizes or more, and there are 1"):
        picture(rows[:1])
