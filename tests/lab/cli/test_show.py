"""`lab show`, `report`, `plot` and `export`."""

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode
from sealift_lab.claim import declared
from sealift_lab.cli import output
from sealift_lab.model.experiment import Line
from sealift_lab.model.results import Origin
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.run.read_folder import Run

ROOT = Path(__file__).parents[3]
Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}
DRAWN = ("--x", "size_bytes", "--y", "ns", "--z", "device")


@pytest.fixture
def folder(a_run: Make) -> Path:
    return a_run(THREE).path


def test_a_run_is_shown_by_its_answer_and_a_line_an_experiment(folder: Path) -> None:
    shown = invoke("lab", "show", folder).stdout
    assert shown.startswith(
        "Where should my bulk encryption run?\n\n  On the processor: 2.00× AWS-LC"
    )
    assert "made-up: Kernels: fastest from 16 B to 1 KiB" in shown
    rows = invoke("lab", "show", folder, "--rows").stdout.splitlines()
    assert rows[0] == "made-up: Messages by size"
    assert sum(line.endswith("faster") for line in rows) == 2
    assert len(rows) == 2 + 6


def test_a_report_is_written_where_one_wants_it_and_mends_the_summary(
    folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert invoke("lab", "report", folder, "--out", page).stdout == f"{page}\n"
    assert not (folder / "summary.csv").exists()
    first = invoke("lab", "report", folder)
    assert first.stdout == f"{folder}/report.html\n"
    assert "summary.csv was not what the samples say" in first.stderr
    assert page.read_bytes() == (folder / "report.html").read_bytes()
    assert invoke("lab", "report", folder).stderr == ""


def test_any_columns_are_drawn_in_four_forms_and_runs_apart(
    a_run: Make, folder: Path, tmp_path: Path
) -> None:
    for name, begin in (
        ("a.svg", b"<svg"),
        ("a.png", b"\x89PNG"),
        ("a.pdf", b"%PDF"),
        ("a.html", b"<!DOCTYPE html>"),
    ):
        file = tmp_path / name
        done = invoke("lab", "plot", folder, *DRAWN, "-o", file)
        assert (done.exit_code, done.stdout) == (0, f"{file}\n"), done.stderr
        assert file.read_bytes().lstrip().startswith(begin)
    words = ("--x", "device", "--y", "ns", "--where", "size_bytes=1KiB", "-o", tmp_path / "a.svg")
    assert invoke("lab", "plot", folder, a_run(THREE, "later").path, *words).exit_code == 0
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ">run<" in drawn
    assert ">later<" in drawn
    assert "size_bytes" not in drawn


def test_lines_across_are_those_of_the_experiments_and_runs_that_are_drawn(
    a_run: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines(run: Run, planned: PlannedExperiment, _: object) -> list[Line]:
        series = f"most of {planned.name} in {run.path.name}"
        return [Line(series, "MB/s", 100.0, Origin.MEASURED)]

    monkeypatch.setattr(declared, "lines", lines)
    folders = [
        a_run(THREE, name, experiment=experiment, blocks=1).path
        for name, experiment in (("one", "first"), ("two", "first"), ("three", "second"))
    ]
    drawn = ("--x", "size_bytes", "--y", "payload_mb_per_s", "-o", tmp_path / "a.svg")
    for where, left in (
        ((), {"first in one", "first in two", "second in three"}),
        (("--where", "experiment=first"), {"first in one", "first in two"}),
        (("--where", "run=two"), {"first in two"}),
    ):
        done = invoke("lab", "plot", *folders, *drawn, *where)
        assert done.exit_code == 0, done.stderr
        text = (tmp_path / "a.svg").read_text(encoding="utf-8")
        assert {*re.findall(r"most of (\w+ in \w+)", text)} == left


def test_a_figure_that_cant_be_says_what_could(folder: Path) -> None:
    file = ("-o", "a.svg")
    for words, said in (
        (("--x", "size_byte", "--y", "ns", *file), "did you mean size_bytes"),
        ((*DRAWN, "-o", "a.gif"), "-o: 'a.gif' names no form; end it in .svg, .png, .pdf, .html"),
        ((*DRAWN, *file, "--where", "device=cpp"), "device=cpp; did you mean cpu?"),
        ((*DRAWN, *file, "--where", "device"), "--where: 'device' is no condition"),
        (("--x", "ns", "--y", "verdict", *file), "no row has ns and a number in verdict"),
    ):
        assert said in refused("lab", "plot", folder, *words)
    computed = ROOT / "results/2026-11-23/intelr-xeonr-processor-2-cores/lab-002"
    assert "nothing was measured; name a run that has rows" in (
        refused("lab", "plot", computed, *DRAWN, *file)
    )


def test_too_many_lines_are_refused_and_what_is_suggested_is_drawn(
    a_run: Make, tmp_path: Path
) -> None:
    folder = a_run({16 << place: (100.0, 50.0) for place in range(10)}, blocks=1).path
    words = ("lab", "plot", folder, "--x", "experiment", "--y", "ns", "-o", tmp_path / "a.svg")
    said = refused(*words)
    assert "20 lines, and 16 can be told apart; add --where size_bytes=16 or" in said
    assert invoke(*words, "--where", "size_bytes=16").exit_code == 0


def test_samples_and_rows_are_exported_in_the_form_of_the_files_name(
    folder: Path, tmp_path: Path
) -> None:
    samples = pl.read_csv(io.BytesIO(invoke("lab", "export", folder).stdout_bytes))
    # Eight processes of four blocks, in each two arms and one of them again.
    assert samples.height == 3 * 8 * 4 * 3
    rows = tmp_path / "rows.jsonl"
    assert invoke("lab", "export", folder, "--what", "summary", "-o", rows).stdout == f"{rows}\n"
    verdicts = [json.loads(line)["verdict"] for line in rows.read_text().splitlines()]
    assert verdicts == [None, "faster", None, "faster", None, "same"]
    table = tmp_path / "samples.parquet"
    assert invoke("lab", "export", folder, "-o", table).exit_code == 0
    assert pl.read_parquet(table).height == samples.height


def test_exports_that_cant_be_say_what_could(folder: Path, tmp_path: Path) -> None:
    export = ("lab", "export", folder)
    assert "ends in no form" in refused(*export, "-o", tmp_path / "a.xls")
    assert "no row of this run is a copy" in refused(*export, "--format", "memcpy_test")
    lost = invoke("lab", "export", folder, "-o", "/proc/a.csv")
    assert lost.exit_code == ExitCode.NOT_WRITTEN
    assert "/proc/a.csv was not written" in lost.stderr


def test_damaged_folders_are_named_with_file_and_line(folder: Path) -> None:
    for file, text, said in (
        ("samples.jsonl", '{"experiment": 1}\n', "samples.jsonl, line 1: experiment"),
        ("plan.json", "{", "plan.json: Input data was truncated"),
    ):
        (folder / file).write_text(text)
        for words in (["show"], ["report"], ["export"], ["compare", folder]):
            assert said in refused("lab", *words, folder)


def test_control_characters_of_a_foreign_run_reach_no_terminal(folder: Path) -> None:
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace("Messages by size", "\\u001b[31mRed\\u009b1m"))
    assert invoke("lab", "show", folder, "--rows").stdout.startswith(
        "made-up: \\u001b[31mRed\\u009b1m\n"
    )


def test_what_is_no_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_json({"share": math.nan, "ends": (np.float64(1.5), math.inf)})
    assert json.loads(capsys.readouterr().out) == {"share": None, "ends": [1.5, None]}
