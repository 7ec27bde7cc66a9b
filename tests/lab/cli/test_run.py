"""`lab list`, `run` and `replay`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused
from tests.lab.measure.running import experiment_file

from sealift.exit_code import ExitCode
from sealift_lab.experiments.registry import all_experiments

COMMANDS = (
    *("list", "run", "replay", "show", "report", "plot", "export", "compare", "copy", "certify"),
)


def test_help_is_there_for_every_command_and_teaches_with_examples() -> None:
    assert "sealift lab run --quick" in invoke("lab", "-h").output
    for command in COMMANDS:
        shown = invoke("lab", command, "-h")
        assert shown.exit_code == 0
        assert f"Usage: sealift lab {command} " in shown.output


def test_the_list_has_every_experiment_with_its_time() -> None:
    found = {each["name"]: each for each in json.loads(invoke("lab", "list", "--json").stdout)}
    assert list(found) == [each.name for each in all_experiments()]
    assert 10 < found["aes-gcm-by-threads"]["seconds"] < 600
    assert 0 < found["aes-gcm-by-threads"]["quick_seconds"] < 60
    (line,) = (
        each for each in invoke("lab", "list").stdout.splitlines() if "aes-gcm-by-threads" in each
    )
    assert line.split()[1] == "003-F5"


def test_the_list_imports_nothing_that_is_slow() -> None:
    code = (
        "import sys; from sealift.cli.root import app; "
        "app(['lab', 'list'], standalone_mode=False); "
        "print(*{'numpy', 'polars', 'scipy', 'altair', 'rich'} & sys.modules.keys())"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == ""


def test_a_run_prints_its_answer_writes_its_page_and_can_be_replayed(
    own_file: Path, tmp_path: Path
) -> None:
    folder, again = tmp_path / "run", tmp_path / "again"
    done = invoke("lab", "run", own_file, "--quick", "--budget", "2", "--out", folder)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 15
    assert f"  Page      {folder}/report.html" in lines
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "summary.csv").read_text(encoding="utf-8").count("\n") > 2
    whole = invoke("lab", "run", "--resume", folder, "--budget", "2", "--json")
    found = json.loads(whole.stdout)
    assert (whole.exit_code, found["code"], found["page"]) == (0, 0, f"{folder}/report.html")
    assert {row["subject"] for row in found["rows"]} == {"first", "second"}
    assert found["answer"]["question"]
    repeated = invoke("lab", "replay", folder, "--out", again)
    assert repeated.exit_code == 0, repeated.stderr
    plans = [json.loads((each / "plan.json").read_text()) for each in (folder, again)]
    assert plans[0]["experiments"] == plans[1]["experiments"]


@pytest.mark.parametrize(
    ("who", "code", "said"),
    [
        ("wrong at once", ExitCode.WRONG_RESULT, "tag 3 is wrong"),
        ("raises always", ExitCode.PART_FAILED, "nothing there"),
    ],
)
def test_what_goes_wrong_is_told_and_is_the_exit_code(
    own_file: Path, tmp_path: Path, who: str, code: int, said: str
) -> None:
    file = experiment_file(own_file.parent, who, name="troubled")
    done = invoke("lab", "run", file, "--quick", "--budget", "2", "--out", tmp_path / "run")
    assert done.exit_code == code, done.stderr
    assert said in done.stderr


def test_wrong_usage_says_what_would_be_right() -> None:
    for words, said in (
        (["aes-gcm-by-sise"], "did you mean aes-gcm-by-size"),
        (["003-F99"], "of that document there are 003-"),
        (["memory-read", "--budget", "soon"], "--budget: 'soon' is no time; write seconds"),
        (["memory-read", "--threads", "1,x"], "--threads: 'x' is no number of threads"),
        (["memory-read", "--seed", "-1"], "--seed: '-1' is no seed"),
        (["memory-read", "--out", ""], "--out: '' is no folder"),
        (["memory-read", "--out", "."], "name a folder that is empty or not there"),
        (["--resume", "nowhere", "--quick", "--out", "x"], "leave out --quick, --out"),
        (["--resume", "nowhere"], "nowhere is not there; name the folder of a run"),
        (["--i-own-this-region"], "confirms a --region; name one"),
        (["--region", "/dev/null:0:4096"], "if nobody else needs that, add --i-own-this-region"),
    ):
        assert said in refused("lab", "run", *words)


def test_a_file_of_ones_own_that_fails_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1\nraise KeyError(x)\n")
    assert f"{file}, line 2: KeyError: 1" in refused("lab", "run", file)


def test_experiments_that_cant_be_here_are_named_and_nothing_left_ends_with_3(
    tmp_path: Path,
) -> None:
    done = invoke("lab", "run", "gpu-blocks", "--quick", "--out", tmp_path / "run")
    assert done.exit_code == ExitCode.NOTHING_RAN
    assert "gpu-blocks is no part of a quick run; leave out --quick" in done.stderr
    assert "`sealift lab list --try` says why" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_that_takes_no_files_ends_with_5(own_file: Path) -> None:
    done = invoke("lab", "run", own_file, "--quick", "--budget", "2", "--out", "/proc/nothing")
    assert done.exit_code == ExitCode.NOT_WRITTEN
    assert "/proc/nothing" in done.stderr
