"""`sealift lab compare`, and what makes it fail."""

import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from command import invoke
from sealift.lab import registry
from synthetic_run import made, model_ns, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of a run that was never measured, of the experiment by size."""
    folder = tmp_path_factory.mktemp("runs") / "monday"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    return str(folder)


def test_a_slower_run_is_found_and_fails_only_when_asked(tmp_path: Path) -> None:
    experiments = [registry.find("aes-gcm-by-size")]
    usual, slow = tmp_path / "usual", tmp_path / "slow"
    write_run(usual, made(restarts=4), experiments)
    write_run(slow, made(restarts=4, ns=lambda cell: 1.25 * model_ns(cell)), experiments, seed=9)
    ran = invoke("lab", "compare", str(usual), str(slow))
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.count("SLOWER") == 14
    failing = invoke("lab", "compare", str(usual), str(slow), "--fail-on", "slower")
    assert failing.exit_code == 1
    assert "14 of 14 rows are slower" in failing.stderr
    assert invoke("lab", "compare", str(slow), str(usual), "--fail-on", "slower").exit_code == 0
    beside_itself = ("lab", "compare", str(usual), str(usual))
    rows = list(csv.DictReader(io.StringIO(invoke(*beside_itself, "--csv").stdout)))
    assert {row["verdict"] for row in rows} == {"SAME"}
    columns = json.loads(invoke(*beside_itself, "--json").stdout)
    assert len(columns) == len(rows)


def test_a_gate_that_can_judge_no_row_is_not_passed(run: str, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    how = made(ns=lambda cell: 1.25 * model_ns(cell))
    write_run(slow, how, [registry.find("aes-gcm-by-size")], seed=9)
    ran = invoke("lab", "compare", run, str(slow), "--fail-on", "slower")
    assert ran.exit_code == 3
    assert ran.stdout.count("UNSURE") == 14
    assert "measure both runs without --quick" in ran.stderr
    assert "--fail-on slower could judge none of 14 rows" in ran.stderr
    ran = invoke("lab", "compare", run, str(slow))
    assert ran.exit_code == 0
    assert "--fail-on" not in ran.stderr
    shown = " ".join(invoke("lab", "compare", "--help").stdout.split())
    assert "3 nothing to compare; with --fail-on slower: not one row could be judged" in shown
    assert "restarts" in shown
    assert "least" in shown


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a run of all experiments."""
    return str(write_run(tmp_path_factory.mktemp("runs") / "all", made()))


def test_published_figures_stand_beside_a_run(everything: str) -> None:
    ran = invoke("lab", "compare", everything, "published")
    assert ran.exit_code == 0, ran.stderr
    assert "003-T4" in ran.stdout
    failing = invoke("lab", "compare", everything, "published", "--fail-on", "slower")
    assert failing.exit_code == (1 if "slower here" in ran.stdout else 0)


def test_published_figures_have_no_line_longer_than_the_terminal(everything: str) -> None:
    lines = {width: on_a_terminal(width, everything) for width in (60, 100)}
    for width, shown in lines.items():
        assert max(map(len, shown)) <= width
        assert sum(line.startswith("003-F5") for line in shown) > 3
    piped = invoke("lab", "compare", everything, "published").stdout.splitlines()
    assert max(map(len, piped)) > 200
    assert {line.split()[0] for line in piped} <= {"figure", "003-F14", "003-F5", "003-F6"} | {
        "003-P0", "003-T4"
    }  # fmt: skip


def on_a_terminal(width: int, folder: str) -> list[str]:
    """What a terminal of this width shows of a run beside what was published."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    command = [sys.executable, "-m", "sealift", "lab", "compare", folder, "published"]
    without = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(command, stdout=terminal, env=without) as process:
        os.close(terminal)
        shown = b""
        # A terminal whose other end is closed can't be read any more.
        with contextlib.suppress(OSError):
            while read := os.read(control, 65_536):
                shown += read
    os.close(control)
    assert process.returncode == 0
    return shown.decode().splitlines()


def test_a_run_for_which_nothing_was_published_is_told_with_those_for_which_there_is(
    run: str,
) -> None:
    for more in ((), ("--fail-on", "slower"), ("--json",)):
        ran = invoke("lab", "compare", run, "published", *more)
        assert (ran.exit_code, ran.stdout) == (3, "")
        assert "ran aes-gcm-by-size, for which nothing was published" in ran.stderr
        assert "there are figures for aes-gcm-by-threads, " in ran.stderr


def test_the_documents_are_found_when_they_are_spelled_almost_or_come_first(run: str) -> None:
    ran = invoke("lab", "compare", run, "publshed")
    assert ran.exit_code == 2
    assert "did you mean `published`?" in ran.stderr
    ran = invoke("lab", "compare", "published", run)
    assert ran.exit_code == 2
    assert f"the run comes first: sealift lab compare {run} published" in ran.stderr


def test_runs_without_a_cell_in_common_end_with_3_and_say_what_could_be_compared(
    run: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    write_run(other, made(), [registry.find("memory-read")])
    ran = invoke("lab", "compare", run, str(other))
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert "have no cell in common that both measured; compare runs of the same" in ran.stderr


def test_a_gate_that_judges_some_rows_says_how_many_and_passes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    experiments = [registry.find("aes-gcm-by-size")]
    write_run(first, made(restarts=4), experiments)
    write_run(second, made(restarts=4), experiments)
    samples = second / "samples.jsonl"
    lines = samples.read_text().splitlines(keepends=True)
    at_once = [
        json.dumps({**line, "restart": 0}) + "\n" if line["group"] == 0 else text
        for text in lines
        for line in [json.loads(text)]
    ]
    samples.write_text("".join(at_once))
    ran = invoke("lab", "compare", str(first), str(second), "--fail-on", "slower")
    assert ran.exit_code == 0, ran.stderr
    assert "--fail-on slower judged 12 of 14 rows; none of those is slower" in ran.stderr


def test_published_figures_that_settle_nothing_pass_no_gate(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", made(blocks=2), [registry.find("003-F5")])
    ran = invoke("lab", "compare", str(folder), "published", "--fail-on", "slower")
    assert ran.exit_code == 3, ran.output
    assert "--fail-on slower could judge none of " in ran.stderr
