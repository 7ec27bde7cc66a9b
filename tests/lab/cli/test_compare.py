"""`lab compare` and `lab certify`."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode
from sealift_lab.run.read_folder import Run

Make = Callable[..., Run]
KEPT = Path(__file__).parents[3] / "results"


def test_a_slower_run_is_found_and_fails_only_where_it_should(a_run: Make) -> None:
    before = a_run({16: (100.0, 50.0)}, "monday").path
    now = a_run({16: (100.0, 60.0), 64: (1.0, 1.0)}, "tuesday", seed=2).path
    plain = invoke("lab", "compare", before, now)
    assert plain.exit_code == 0
    assert "only the later run has them: 2 of made-up" in plain.stderr
    heads = ["experiment", "of", "before", "now", "times", "as", "fast", "verdict"]
    assert plain.stdout.splitlines()[0].split() == heads
    gate = invoke("lab", "compare", before, now, "--fail-on", "slower", "--json")
    assert gate.exit_code == ExitCode.SLOWER
    assert "1 of 2 rows is slower" in gate.stderr
    verdicts = {each["device"]: each["verdict"] for each in json.loads(gate.stdout)}
    assert verdicts == {"library": "same", "cpu": "slower"}
    (_, row) = csv.DictReader(invoke("lab", "compare", before, now, "--csv").stdout.splitlines())
    assert float(row["times_low"]) < 50 / 60 < float(row["times_high"])


@pytest.mark.parametrize("design", [{"processes": 1}, {"processes": 2, "blocks": 3}])
def test_a_gate_that_can_decide_no_row_is_not_passed(a_run: Make, design: dict[str, int]) -> None:
    # Six blocks carry an interval at 95 %, and none at 99 %.
    before, now = (a_run({16: (1.0, 2.0)}, name, **design).path for name in ("a", "b"))
    gate = invoke("lab", "compare", before, now, "--fail-on", "slower")
    assert gate.exit_code == ExitCode.NOTHING_RAN
    assert "could decide none of 2 rows" in gate.stderr


def test_published_figures_stand_beside_a_run(a_run: Make) -> None:
    folder = KEPT / "2026-11-23/intelr-xeonr-processor-2-cores/lab-002"
    shown = invoke("lab", "compare", folder, "published", "--json")
    assert shown.exit_code == 0, shown.stderr
    figures = json.loads(shown.stdout)
    assert len(figures) > 50
    assert {each["figure"].partition("-")[0] for each in figures} == {"002"}
    assert {"agreed", "contradicted"} <= {each["outcome"] for each in figures}
    # Nothing of it is measured, so there is nothing to judge.
    gate = invoke("lab", "compare", folder, "published", "--fail-on", "slower")
    assert gate.exit_code == ExitCode.NOTHING_RAN
    own = invoke("lab", "compare", a_run({16: (1.0, 2.0)}).path, "published")
    assert own.exit_code == ExitCode.NOTHING_RAN
    assert "nothing was published for this run; there are figures for " in own.stderr


def test_what_cant_be_compared_says_what_could(a_run: Make) -> None:
    run = a_run({16: (1.0, 2.0)}).path
    for words, said in (
        ((run, "elsewhere"), "elsewhere is not there; name the folder of a run"),
        ((run, run, "--csv", "--json"), "--csv and --json both want standard output"),
        ((run, run, "--fail-on", "slow"), "'slow' is not one of 'slower'"),
    ):
        assert said in refused("lab", "compare", *words)
    nothing = invoke("lab", "compare", run, a_run({32: (1.0, 2.0)}, "c").path)
    assert nothing.exit_code == ExitCode.NOTHING_RAN
    assert "the runs have no cell in common" in nothing.stderr


def test_a_judge_is_certified_from_stored_runs_and_from_commands(a_run: Make) -> None:
    results = a_run({16: (100.0, 50.0)}, blocks=10).path.parent
    replayed = invoke("lab", "certify", results, "--comparisons", ".004k", "--json")
    assert replayed.exit_code == 0, replayed.stderr
    rates = json.loads(replayed.stdout)["rates"]
    assert len(rates) == 12
    assert all(0 <= each["false"] <= 1 for each in rates)
    commands = ("--command", "true", "--command", "sleep 0.02")
    timed = invoke("lab", "certify", *commands, "--comparisons", "1")
    assert [line.split("  ")[0] for line in timed.stdout.splitlines()] == (
        ["how", "this judge", "ratio of means"]
    )
    again = a_run({16: (100.0, 50.0)}, "again", blocks=10, seed=2).path
    two = invoke("lab", "certify", results / "run", again).stdout.splitlines()
    assert [line.split() for line in two][1][:5] == ["made-up", "1", "100.0", "0.0", "0"]
    assert "--command is given twice" in refused("lab", "certify", "--command", "true")
    assert "'1M' is no number of comparisons" in refused("lab", "certify", "--comparisons", "1M")
    failing = invoke("lab", "certify", "--command", "false", "--command", "true")
    assert failing.exit_code == ExitCode.NOTHING_RAN
    assert "give commands that end with 0" in failing.stderr
    empty = invoke("lab", "certify", results / "nothing")
    assert empty.exit_code == ExitCode.NOTHING_RAN
    assert "measure with --live" in empty.stderr
