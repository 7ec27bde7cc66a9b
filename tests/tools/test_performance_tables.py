"""The figures of the pages come from the results folders, and from nowhere else."""

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import peer_rows
import performance_tables
from picture import Point, Words, picture

README = """# Title

<!-- generated: loop -->
<!-- end -->
<!-- generated: loop-against-batch -->
<!-- end -->
<!-- generated: advise -->
<!-- end -->
between
<!-- generated: picture -->
<!-- end -->
<!-- generated: table -->
old figures
<!-- end -->
the rest
"""


BY_SIZE, BY_THREADS = "aes-gcm-by-size", "aes-gcm-by-threads"


def interval(median: float) -> dict[str, float]:
    return {"median": median, "low": median * 0.9, "high": median * 1.1}


def columns(name: str, median: float | None) -> dict[str, object]:
    """A figure and the ends of its interval, as summary.csv has them."""
    if median is None:
        return {name: "", f"{name}_low95": "", f"{name}_high95": ""}
    return {name: median, f"{name}_low95": median * 0.9, f"{name}_high95": median * 1.1}


def row(device: str, size: float, ns: float, **changes: Any) -> dict[str, Any]:
    judged = device != "library"
    return {
        "experiment": BY_SIZE,
        "workload": "AES-128",
        "size_bytes": size,
        "keys": "sessions:1024",
        "mix": "100/0/0",
        "threads": 1,
        "batch": 1024,
        "device": device,
        "operations_per_s": 1e9 / ns,
        **columns("payload_MB_per_s", size / ns * 1000),
        **columns("times_reference", 2.0 if judged else None),
        "verdict": "FASTER" if judged else "",
        "noise_floor_share": 0.01,
        "origin": "measured",
    } | changes


def run_folder(folder: Path, rows: list[dict[str, Any]]) -> None:
    """What of a run folder the README is made from."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "summary.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    devices = ("library", "cpu", "table")
    plan = {
        "command": ["sealift", "lab", "run", "--seed", "1", "--out", "results/2026-01-02/here/lab"],
        "experiments": [
            {"name": name, "groups": [[{"device": device} for device in devices]]}
            for name in (BY_SIZE, BY_THREADS)
        ],
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    facts = {"cpu_model": {"value": "A Processor", "reason": None}}
    (folder / "machine.json").write_text(json.dumps({"facts": facts}))
    checked = ("reference", "library, reference", "library")
    lines = [
        {"experiment": BY_SIZE, "group": 0, "arm": arm, "facts": {"checked_against": others}}
        for arm, others in enumerate(checked)
    ]
    lines.append({"experiment": BY_THREADS, "group": 0, "arm": 0, "facts": {}})
    (folder / "verify.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def loop(**ns: float) -> dict[str, Any]:
    batches, loops = ("seal_batch, lists", "seal_batch, columns"), readme_loops()
    return {
        "rows": [
            {"work": "9 messages", "caller": name, "ns_per_message": interval(value)}
            for name, value in ns.items()
        ],
        "ratios": {f"{fast} / {slow}": interval(7.5) for fast in batches for slow in loops}
        | {f"Engine::run in Rust / {batches[1]}": interval(1.1)},
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
        row("library", 28, 400.0, experiment=BY_THREADS, workload="as logged", keys="fresh"),
        row("table", 28, 900.0, experiment=BY_THREADS, workload="as logged", keys="fresh"),
        row("cpu", 28, 100.0, experiment=BY_THREADS, workload="as logged", threads=2),
        row("library", 16, 100.0),
        row("cpu", 16, 50.0),
        row("library", 1024, 400.0),
        row("cpu", 1024, 300.0, noise_floor_share=0.2, verdict="UNSURE"),
        row("cpu", 16, 1.0, keys="one"),
        row("cpu", 1 << 20, 1.0),
    ]
    run_folder(folder / "lab", rows)
    new, kept = readme_loops()
    times = {new: 1_200.0, kept: 360.0, "seal_batch, lists": 160.0, "seal_batch, columns": 60.0}
    (folder / "python-loop.json").write_text(json.dumps(loop(**times)))
    (folder / "advise.txt").write_text("$ sealift advise\nAn answer.\n")
    return tmp_path


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["performance_tables.py", "--root", str(tree), *arguments])
    ended: int = performance_tables.main()
    return ended


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
        "| AES-128, sealed, 1,024 keys | 16 | 10.0 M/s, 160 MB/s | 20.0 M/s, 320 MB/s "
        "| 2.00 [1.80..2.20] FASTER |"
    ) in text
    assert "| too noisy to say |" in text
    assert (
        "| document 003 as logged, a fresh key each | 28 | 2.50 M/s, 70.0 MB/s | not taken | — |"
        in text
    )
    assert (
        "> cpu against library: faster for 1 of 2 workloads, 2.00 [1.80..2.20] times as fast; "
        "not settled for 1 of 2 workloads.\n"
    ) in text
    assert "(library against reference; cpu against library and reference)" in text
    assert "2026-01-02, A Processor: `sealift lab run --seed 1`" in text
    assert text.count("| AES-128") == 2
    assert "7.50 [6.75..8.25] times as fast as one that makes them for each message (1,200" in text
    assert "For 9 messages of 128 bytes under 1,024 keys, `seal_batch` over lists" in text
    assert (
        "This call is 7.50 times as fast as that loop, and 7.50 times with numpy arrays instead of "
        "lists. (One core, a processor that doesn't name itself, 9 messages of 128 bytes under "
        "1,024 keys.)"
    ) in text
    assert "From Rust, such a batch is 1.10 [" in text
    assert "```console\n$ sealift advise\nAn answer.\n```" in text
    assert "](docs/speed-by-size.svg)" in text


@pytest.mark.parametrize("path", ["README.md", "docs/speed-by-size.svg"])
def test_a_changed_file_is_found(path: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tree, monkeypatch=monkeypatch)
    file = tree / path
    file.write_text(file.read_text().replace("16", "17"))
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1


def compared(machine: str) -> dict[str, Any]:
    """What benches/peers.py writes: one case that another library wins, and one that it loses."""

    def case(name: str, kind: str, ratio: float, standing: str) -> dict[str, Any]:
        arm = {"gb_per_s": 12.8, "cycles_per_message": interval(40.1)}
        return {
            "name": name,
            "title": f"title of {name}",
            "kind": kind,
            "arms": {"engine": arm, "kernels": arm, "aws-lc": arm},
            "best": "aws-lc",
            "engine_to_best": interval(ratio),
            "kernels_to_ports": interval(0.8),
            "engine_is": standing,
        }

    return {
        "cases": [
            case("128-many-128", "128 B", 1.25, "ahead"),
            case("128-fresh-128", "128 B", 6.0, "ahead"),
            case("1420-one-128", "1,420 B", 0.8, "behind"),
            case("1420-many-128", "1,420 B", 1.0, "within noise"),
            case("8192-one-128", "8 KiB", 0.5, "behind"),
        ],
        "peers": {
            "aws-lc": {
                "detail": "AWS-LC 5",
                "version": "5",
                "released": "2025-01-01",
                "in_place": True,
            },
            "ipp": {"reason": "not installed"},
        },
        "command": "python benches/peers.py --binary target/peers --out results/x/y",
        "machine": {"cpu_model": {"value": machine}},
    }


def test_the_comparison_has_a_table_for_each_machine_and_sentences_of_the_newest(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = ("speed", "peers", "behind")
    page = tree / "docs" / "performance.md"
    page.parent.mkdir()
    page.write_text("".join(f"<!-- generated: {name} -->\n<!-- end -->\n" for name in blocks))
    for date, machine in (("2026-01-01", "a"), ("2026-01-02", "a"), ("2026-01-01", "b")):
        folder = tree / "results" / date / machine
        folder.mkdir(parents=True, exist_ok=True)
        document = compared(f"processor {machine} on {date}")
        (folder / "peers.json").write_text(json.dumps(document))
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = page.read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["### processor b on 2026-01-01", "### processor a on 2026-01-02"]
    assert (
        "| messages | speed, times the fastest of 1 other libraries |\n| --- | ---: |\n"
        "| 128 B, 1,024 keys | 1.25 |\n"
        "| 128 B, a new key for each | 6.00 |\n"
        "| 1,420 B and 8 KiB, one key | 0.500–0.800 |\n\n"
        "Below 1, another library is faster. [Full table](docs/performance.md).\n\n"
        "*From Rust, AES-128, sealed, one core of processor a on 2026-01-02, 2026-01-02.*"
    ) in text
    assert "| aws-lc | AWS-LC 5; in place, so a copy is in its time | 2025-01-01 |" in text
    assert "| ipp | absent: not installed |  |" in text
    ratio = "**0.800 [0.720..0.880]**"
    assert (
        f"| title of 1420-one-128 | 12.8 | 12.8 | 40.1 | 80 % | 12.8 (aws-lc 5) | {ratio} |" in text
    )
    assert "`python benches/peers.py`, [all figures](../results/2026-01-02/a/peers.json)" in text
    assert (
        "On processor a on 2026-01-02, 2026-01-02, another library is ahead in 2 of 5 cases. In 1 "
        "more the interval includes 1, so neither is ahead.\n\n"
        "- title of 1420-one-128: aws-lc 5, 1.25 [1.14..1.39] times as fast\n"
        "- title of 8192-one-128: aws-lc 5, 2.00 [1.82..2.22] times as fast\n"
    ) in text


def test_where_no_library_is_ahead_there_is_no_list_of_cases() -> None:
    document = compared("here")
    document["cases"] = document["cases"][:2]
    assert peer_rows.behind(document, "2026-01-02") == (
        "\nOn here, 2026-01-02, another library is ahead in 0 of 2 cases. In 0 more the interval "
        "includes 1, so neither is ahead.\n\n"
    )


def test_the_headline_tells_sizes_keys_calls_and_other_cases_apart() -> None:
    document = compared("here")
    lost = document["cases"][2]
    for name, kind, ratio in (
        ("256-many-128", "256 B", 0.8),
        ("4096-many-128", "4 KiB", 0.9),
        ("128-many-128-batch-16", "16 messages a call", 0.25),
        ("16384-open-one-128", "16 KiB", 0.1),
        ("16384-one-256", "16 KiB", 0.1),
        ("128-many-128-memory", "128 B from memory", 0.1),
    ):
        changed = {"name": name, "kind": kind, "engine_to_best": interval(ratio)}
        document["cases"].append(lost | changed)
    said = peer_rows.headline(document, "2026-01-02")
    assert (
        "| 256 B and 4 KiB, 1,024 keys | 0.800–0.900 |\n"
        "| 1,420 B and 8 KiB, one key | 0.500–0.800 |\n"
        "| 16 messages a call | 0.250 |\n"
    ) in said
    assert "another library is faster, as in 3 more cases of the [full table](" in said
    assert "another library is faster, as in 1 more case of the" in peer_rows.headline(
        document | {"cases": document["cases"][:-2]}, "2026-01-02"
    )


def test_the_headline_says_so_where_another_library_is_ahead_at_128_bytes() -> None:
    document = compared("here")
    many, fresh = (document["cases"][i] for i in (0, 1))
    many["engine_is"], fresh["engine_is"] = "behind", "within noise"
    many["engine_to_best"] = interval(0.8)
    said = peer_rows.headline(document, "2026-01-02")
    assert "| 128 B, 1,024 keys | 0.800 |" in said
    assert "| 128 B, a new key for each | 6.00 [5.40..6.60] |" in said


def test_without_the_cases_of_128_bytes_there_is_no_headline(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "README.md").write_text("<!-- generated: speed -->\n<!-- end -->\n")
    document = compared("here") | {"cases": []}
    (tree / "results" / "2026-01-02" / "here" / "peers.json").write_text(json.dumps(document))
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "no 128-many-128 and no 128-fresh-128; `make bench-peers`" in capsys.readouterr().err


def test_the_newest_folder_that_has_a_file_is_its_source(tree: Path) -> None:
    later = tree / "results" / "2026-02-01" / "there"
    (later / "lab").mkdir(parents=True)
    lab = performance_tables.LAB

    def newest() -> str:
        source = performance_tables.Source.newest(tree, lab)
        assert source is not None
        return str(source.place)

    assert newest() == "results/2026-01-02/here"
    (later / lab).write_text("")
    assert newest() == "results/2026-02-01/there"


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


@pytest.mark.parametrize("file", ["plan.json", "machine.json", "verify.jsonl"])
def test_a_run_folder_that_lacks_a_file_names_it(
    file: str, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree / "results" / "2026-01-02" / "here"
    (folder / "lab" / file).unlink()
    assert run(tree, monkeypatch=monkeypatch) == 1
    message = capsys.readouterr().err
    assert f"{file} is missing; `sealift lab run aes-gcm-by-threads" in message


def test_the_picture_has_a_line_and_a_name_for_each_device_apart_from_each_other() -> None:
    rows = [
        Point(name, size, size * 10.0, size * 9.0, size * 11.0)
        for name in ("a<b", "cpu", "library")
        for size in (16, 64, 1024)
    ]
    words = Words("Speed", "bytes", "MB/s")
    svg = ET.fromstring(picture(rows, words))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}polyline")) == 3
    names = [text for text in svg.findall(f"{space}text") if text.text in ("a<b", "cpu", "library")]
    heights = sorted(float(text.attrib["y"]) for text in names)
    assert len(heights) == 3
    assert heights[1] - heights[0] >= 12
    assert heights[2] - heights[1] >= 12
    with pytest.raises(ValueError, match="two sizes or more, and there are 1"):
        picture(rows[:1], words)
