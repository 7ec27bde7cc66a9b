"""The figures of the pages on documents 000 to 004 come from kept runs, and from nowhere else."""

import csv
import json
from pathlib import Path

import pytest

import document_pages

Cell = dict[str, str]
READ, WRITE = "file-reading-by-condition", "file-writing-by-condition"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, blocks in document_pages.PAGES.items():
        places = [f"<!-- generated: {block} -->\nold\n<!-- end -->\n" for block in blocks]
        (tmp_path / name).write_text("\n".join(["# Title\n", *places, "the rest\n"]))
    return tmp_path


def row(experiment: str, ns: float, times: float, **cell: str) -> Cell:
    figures = {"ns_per_operation": ns, "payload_MB_per_s": 4e6 / ns, "times_reference": times}
    told = {
        f"{name}{end}": str(value * width) if value else ""
        for name, value in figures.items()
        for end, width in (("", 1.0), ("_low95", 0.9), ("_high95", 1.1))
    }
    verdict = {"verdict": "SLOWER" if times else "", "noise_floor_share": "0.04"}
    return {"experiment": experiment, **cell, **told, **verdict}


def keep(tree: Path, name: str, rows: list[Cell], date: str = "2026-01-02") -> None:
    folder = tree / "results" / date / "here" / name
    folder.mkdir(parents=True)
    columns = list(dict.fromkeys(column for each in rows for column in each))
    with (folder / "summary.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "plan.json").write_text(json.dumps({"command": ["sealift", "--out", "x"]}))
    facts = {"cpu_model": {"value": "A Processor"}, "cores_affinity": {"value": 2}}
    (folder / "machine.json").write_text(json.dumps({"facts": facts}))


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["document_pages.py", "--root", str(tree), *arguments])
    return document_pages.main()


def files(slow: float) -> list[Cell]:
    ns = {"none": 1e6, "one idle thread": slow * 1e6, "a rank's runtime": slow * 1e6}
    ns |= {"a rank's runtime, freed": slow * 1e6, "loaded, then a rank's runtime": 5e5}
    place = {"reader": "getc", "threads": "1", "cache": "warm"}
    return [
        row(READ, each, 1e6 / each if name != "none" else 0.0, condition=name, **place)
        for name, each in ns.items()
    ]


def test_figures_are_written_and_then_stand(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tree, "lab-001", files(9.0), date="2026-01-01")
    keep(tree, "lab-001", files(4.0))
    page = tree / "docs/document-001.md"
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert "old" in page.read_text()
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    text = page.read_text()
    assert "old" not in text
    assert text.endswith("the rest\n")
    # Time over time, from the newer run: the inverse of times as fast.
    assert "| one idle thread | 4.00 [3.64..4.44], slower | not run | not run | not run |" in text
    assert "Measured 2026-01-02, A Processor, 2 cores; medians with 95 % intervals: `seal" in text
    # Loading and going through memory, together: 4 ms over 1 + 0.5 ms.
    assert "| 500 [450..550] | 1,500 [1,350..1,650] | 2.67 [2.18..3.26] |" in text
    other = (tree / "docs/document-004.md").read_text()
    assert (
        "<!-- generated: frames -->\n\nNothing measured yet: there is no "
        "`results/DATE/MACHINE/lab-004-frames`.\n\n<!-- end -->"
    ) in other, "no run, no figure"


def test_copies_stand_beside_offset_0_and_beside_the_c_library(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = {"size_bytes": "65536", "state": "hot"}
    rows = [
        row("copy-offsets", 1e3, 0.0, offset="0", function="glibc", **at),
        row("copy-offsets", 1e3, 1.0, offset="0", function="ours", **at),
        row("copy-offsets", 2e4, 0.0, offset="12", function="glibc", **at),
        row("copy-offsets", 1e3, 20.0, offset="12", function="ours", **at),
    ]
    keep(tree, "lab-004-copies", rows)
    frame = {"way": "ring", "frame_bytes": "65536", "batch": "1"}
    keep(
        tree,
        "lab-004-frames",
        [row("frames-between-processes", 4e3, 0.0, pattern="stream", **frame)],
    )
    exchanged = {"frames": 10, "ways": [{"way": "ring", "frames_checked": 12, "wrong": 0}]}
    (tree / "results/2026-01-02/here/frames.json").write_text(json.dumps(exchanged))
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = (tree / "docs/document-004.md").read_text()
    assert "| 64 KiB | 12 | 0.200 [0.180..0.220] | 20.0 [16.4..24.4] | 4.00 [3.60..4.40] |" in text
    assert "copy collapses on this machine**: at worst, copying 64 KiB to 12 behind, it" in text
    assert "| ring | not run | 1.00 [0.900..1.10] | 1 |" in text
    assert "0 of 12 (ring) arrived wrong" in text


def test_a_page_without_a_place_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tree / "docs/document-001.md"
    page.write_text(page.read_text().replace("generated: writing", "generated: righting"))
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "right would be each of reading, recommendation, readers, writing once" in (
        capsys.readouterr().err
    )


def test_times_without_a_verdict_are_refused_with_the_row(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**each, "verdict": ""} for each in files(9.0)]
    keep(tree, "lab-001", rows)
    assert run(tree, monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().err
    assert f"document_pages: a row of {READ} is 0." in said
    assert "its verdict is ''; right would be one of FASTER, SLOWER, SAME, UNSURE" in said


def test_what_was_computed_is_not_told_as_measured(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [
        {
            "experiment": "cards-quad-hifn",
            "threads": threads,
            "buffer_bytes": "16",
            "published, Mbit/s": "3.06",
            "analysis, Mbit/s": "3.1",
            "analysis, Mbit/s, error in %": error,
            "simulation, Mbit/s": "3",
            "simulation, Mbit/s, error in %": "-2",
            "origin": "simulated",
        }
        for threads, error in (("1", "-1"), ("32", "4"))
    ]
    keep(tree, "lab-002", [*cells, *({**each, "experiment": BROADCOM} for each in cells)])
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = (tree / "docs/document-002.md").read_text()
    assert text.count("| 16 B | 3.06, 3.10, 3.00 | 3.06, 3.10, 3.00 |") == 2
    assert "analysis is off by 2.5 % on average and 4.0 % at most, simulation is off by" in text
    assert "Computed, and not measured, so the same version says the same on any machine" in text
    assert "Measured" not in text


def test_two_ends_of_a_projection_stand_beside_what_cores_do(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, host = "data in MRAM, GB/s", "data in host memory, GB/s, by the SDK"
    hazard = "with the hazard"
    made = {"experiment": "dpu-projection", "system": "640 DPUs", "origin": "projected"}
    both = {place: "4.489", f"{place}, {hazard}": "3.028", host: "2", f"{host}, {hazard}": ""}
    keep(tree, "lab-000", [{**made, "kernel": "GCM", **both}])
    stream = {"cipher": "GCM", "threads": "1"}
    cores = [
        row("memory-contention", ns, 0.0, streams_percent=share, **stream)
        for share, ns in (("0", 500.0), ("50", 1000.0))
    ]
    keep(tree, "lab-000-P3", cores)
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = (tree / "docs/document-000.md").read_text()
    assert "| GCM | 3.03 to 4.49 | 2.00 |" in text
    assert "| GCM | 1 | 8.00 [7.20..8.80] | 4.00 [3.60..4.40] |" in text
    assert "Measured 2026-01-02, A Processor, 2 cores" in text


def test_what_instructions_are_spent_on_stands_beside_why_they_are_not_fewer(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = ("bytes taken out", "loads", "sums", "shifts and masks", "stores", "others")
    ecb = {"kernel": "ECB", "instructions a block": "551.01", "unrolled": "550"}
    ecb |= {"spent on, unrolled": "480 to look up", "why not fewer": "No room."}
    ecb |= dict.fromkeys(groups, "1")
    own = {"kernel": "document 000", "instructions a block": "797", "why not fewer": ""}
    own |= dict.fromkeys(groups, "2")
    columns = {"operation": "Decryption", "why printed and simulated differ": "lsl_add"}
    columns |= {"instructions a block, by the rounding of the print": "775.4 to 776.2"}
    printed = {"experiment": "dpu-encryption", "id": "000-T1", "origin": "simulated", **columns}
    printed |= {"instructions a block, simulated": "785"}
    of_each = {"experiment": "dpu-instructions", "origin": "simulated"}
    made = [{**of_each, **each} for each in (own, ecb)]
    keep(tree, "lab-000", [*made, printed])
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = (tree / "docs/document-000.md").read_text()
    assert "| ECB | 551.0 | 550.0 | 1.0 |" in text
    assert "\n- ECB: 480 to look up. No room.\n" in text
    assert "- document 000" not in text
    assert "| 000-T1 | Decryption | 775.4 to 776.2 | 785.0 | lsl_add |" in text


def test_what_measured_a_gpus_work_stands_in_each_row(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"device": "OpenCL on this processor", "data": "resident", "machine_busy": "no"}
    way = {"code": "ours", "mode": "partitioned", "threads_per_block": "128"}
    one = row("gpu-blocks", 4e4, 0.0, thread_blocks="1", **where, **way)
    moved = {**where, "data": "host to host", "batch": "256"}
    busy = {**moved, "device": "cpu, 1 core", "machine_busy": "yes"}
    both = [row("gpu-beside-cpu", ns, 0.0, **cell) for ns, cell in ((5e3, busy), (1e4, moved))]
    keep(tree, "lab-003-gpu", [one, *both])
    assert run(tree, monkeypatch=monkeypatch) == 0
    text = (tree / "docs/document-003-gpu.md").read_text()
    assert "ours, partitioned, resident, MB/s" in text
    assert "| OpenCL on this processor | 1 | 100 [90.0..110] |" in text
    assert "| 256 | 5.00 [4.50..5.50], machine busy | 10.0 [9.00..11.0] |" in text


BROADCOM = "cards-four-broadcom"
