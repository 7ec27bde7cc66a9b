"""`lab list`, `run` and `replay`."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.lab.cli.commands import invoke, refused
from tests.lab.measure.running import experiment_file

from sealift.exit_code import ExitCode
from sealift_lab.cli.lab import COMMANDS
from sealift_lab.cli.run import _select
from sealift_lab.experiments.registry import all_experiments
from sealift_lab.model.published import DOCUMENTS
from sealift_lab.model.results import Origin


def test_help_is_there_for_every_command_and_teaches_with_examples() -> None:
    assert "sealift lab run --quick" in invoke("lab", "-h").output
    for command in ("list", *COMMANDS):
        assert f"Usage: sealift lab {command} " in invoke("lab", command, "-h").output


def test_the_list_has_every_experiment_with_its_time() -> None:
    found = {each["name"]: each for each in json.loads(invoke("lab", "list", "--json").stdout)}
    assert list(found) == [each.name for each in all_experiments()]
    one = found["aes-gcm-by-threads"]
    assert 0 < one["quick_seconds"] < 60
    assert one["quick_seconds"] < one["seconds"] < 600
    lines = [line.split()[:2] for line in invoke("lab", "list").stdout.splitlines()]
    assert ["aes-gcm-by-threads", "003-F5"] in lines


def test_help_and_list_name_the_documents_by_their_numbers() -> None:
    for shown in (invoke("lab", "run", "-h").output, invoke("lab", "list").stdout):
        for number, title in DOCUMENTS.items():
            assert f"{number}  {title}" in shown


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
    # It takes a second, and on a busy machine more.
    done = invoke("lab", "run", own_file, "--quick", "--budget", "5m", "--out", folder)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 15
    assert f"  Page      {folder}/report.html" in lines
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "summary.csv").read_text(encoding="utf-8").count("\n") > 2
    whole = invoke("lab", "run", "--resume", folder, "--budget", "5m", "--live", "--json")
    found = json.loads(whole.stdout)
    assert (whole.exit_code, found["code"], found["page"]) == (0, 0, f"{folder}/report.html")
    assert {row["subject"] for row in found["rows"]} == {"first", "second"}
    assert found["answer"]["question"]
    repeated = invoke("lab", "replay", folder, "--out", again)
    assert repeated.exit_code == 0, repeated.stderr
    plans = [json.loads((each / "plan.json").read_text()) for each in (folder, again)]
    assert plans[0]["experiments"] == plans[1]["experiments"]


def test_live_draws_the_run_and_the_machine_on_a_terminal(tmp_path: Path) -> None:
    file = experiment_file(tmp_path, "first", "second", pause_s_max=0.05)
    folder, (terminal, side) = tmp_path / "run", os.openpty()
    words = ("lab", "run", file, "--quick", "--budget", "20", "--live", "--out", folder)
    child = subprocess.Popen(
        [sys.executable, "-m", "sealift", *map(str, words)],
        stdout=subprocess.PIPE, stderr=side, text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(side)
    drawn = b""
    # A terminal that no process has open any more is an OSError.
    with suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            drawn += part
    os.close(terminal)
    out, _ = child.communicate(timeout=300)
    text = drawn.decode()
    assert child.returncode == 0, text
    assert f"  Page      {folder}/report.html" in out.splitlines()
    assert text.count("\x1b[2K") > 10, "drawn anew"
    for part in ("waiting: ", "%  about ", "first", "second", "load  ", "cores  "):
        assert part in text


def test_a_run_of_all_computes_what_takes_no_time_behind_the_most_wanted() -> None:
    chosen = [each for each, _ in _select([], quick=True, threads=(), region=None)]
    computed = [at for at, each in enumerate(chosen) if each.origin is not Origin.MEASURED]
    assert computed == [*range(computed[0], computed[0] + len(computed))]
    top, *rest = (each.weight for each in chosen[: computed[0]])
    assert {*rest} <= {top} == {max(each.weight for each in chosen)}


def test_what_goes_wrong_is_told_and_is_the_exit_code(own_file: Path, tmp_path: Path) -> None:
    short = ("--quick", "--budget", "5m", "--out")
    for who, code, said in (
        ("wrong at once", ExitCode.WRONG_RESULT, "tag 3 is wrong"),
        ("raises always", ExitCode.PART_FAILED, "nothing there"),
        ("absent", ExitCode.NOTHING_RAN, "nothing could be measured, for the reasons above"),
    ):
        # Files of one place, length and second would share what Python has compiled.
        (folder := tmp_path / f"file {who}").mkdir()
        file = experiment_file(folder, who, name="troubled")
        done = invoke("lab", "run", file, *short, tmp_path / who)
        assert done.exit_code == code, done.stderr
        assert said in done.stderr
    done = invoke("lab", "run", own_file, *short, "/proc/nothing")
    assert done.exit_code == ExitCode.NOT_WRITTEN
    assert "/proc/nothing" in done.stderr
    done = invoke("lab", "run", "gpu-blocks", *short, tmp_path / "run")
    assert done.exit_code == ExitCode.NOTHING_RAN
    assert "gpu-blocks is no part of a quick run; leave out --quick" in done.stderr
    assert done.stderr.endswith("nothing is left to measure; leave out --quick\n")
    assert not (tmp_path / "run").exists()


def test_wrong_usage_says_what_would_be_right(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1\nraise KeyError(x)\n")
    for words, said in (
        ([str(file)], f"{file}, line 2: KeyError: 1"),
        (["aes-gcm-by-sise"], "did you mean aes-gcm-by-size"),
        (["003-F99"], "of that document there are 003-"),
        (["memory-read", "--budget", "soon"], "--budget: 'soon' is no time; write seconds"),
        (["memory-read", "--out", "."], "name a folder that is empty or not there"),
        (["--resume", "nowhere", "--quick", "--out", "x"], "leave out --quick, --out"),
        (["--resume", "nowhere"], "nowhere is not there; name the folder of a run"),
        (["--region", "/dev/null:0:4096"], "--region and --i-own-this-region go together"),
    ):
        assert said in refused("lab", "run", *words)
