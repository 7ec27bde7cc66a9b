"""Runs with real measuring processes, ended in every way there is, and finished afterwards."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lab.measure.running import ended, experiment_file, has_begun, wait_until
from tests.lab.run import made_up as made
from tests.lab.run.driving import begin, children_of, plan, run, said

from sealift.exit_code import ExitCode
from sealift_lab.claim.claims import finding
from sealift_lab.judge.rows import results
from sealift_lab.measure import watch_processes
from sealift_lab.measure.write_folder import RESERVE, FolderError, create
from sealift_lab.model import run as names
from sealift_lab.model.run import Ending
from sealift_lab.run import schedule, session
from sealift_lab.run.read_folder import EXAMPLE, Run
from sealift_lab.run.schedule import read_state
from sealift_lab.show.export import rows_frame

MEASURED_ONCE = """
from itertools import count
from sealift_lab import Axis, Chart, Computed, Experiment
numbers = count(1)
EXPERIMENT = Experiment(
    name="once",
    title="Counts",
    axes=(Axis("moment_s", "seconds", (0, 1, 2)),),
    compare="moment_s",
    arm=lambda cell, context: Computed({"count": float(next(numbers))}),
    charts=(Chart("moment_s", "moment_s", "count", "Counted"),),
    is_sampled=False,
)
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


def check(folder: Path, *, is_whole: bool) -> Run:
    read = Run(folder)
    assert read_state(read).is_whole == is_whole
    assert not (folder / RESERVE).exists()
    return read


def test_a_run_measures_what_was_planned_and_resume_and_replay_know_it(
    out: Path, tmp_path: Path
) -> None:
    shown: list[int] = []
    file = experiment_file(tmp_path, "first", "second")
    done, text = run(out, file)
    assert (done.code, done.ending) == (0, Ending("complete")), text
    read = check(out, is_whole=True)
    assert read.plan.experiments[0].file == str(file)
    assert set(read.samples["restart"]) == {0, 1}
    assert read.samples.height == 2 * 2 * 4 * 3
    assert {line.facts["checked_against"] for line in read.reports} == {"itself"}
    assert read.readings
    before = (out / names.SAMPLES).read_bytes()
    done, text = said(lambda: session.resume(out, after_task=lambda _: shown.append(1)))
    assert "nothing is missing, so nothing is measured" in text
    assert (done.code, shown, (out / names.SAMPLES).read_bytes()) == (0, [1], before)
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    again = tmp_path / "again"
    done, text = said(lambda: session.replay(out / names.PLAN, again, command=["replay"]))
    assert f"{file} was changed since the run that is replayed" in text
    new = check(again, is_whole=True)
    assert new.plan.experiments[0].groups == read.plan.experiments[0].groups
    assert new.plan.experiments[0].file_sha256 != read.plan.experiments[0].file_sha256


def test_what_is_measured_once_comes_in_its_order_and_is_no_row(out: Path, tmp_path: Path) -> None:
    file = tmp_path / "once.py"
    file.write_text(MEASURED_ONCE, encoding="utf-8")
    done, text = run(out, file)
    assert (done.code, done.ending) == (0, Ending("complete")), text
    read = check(out, is_whole=True)
    assert [line.facts["count"] for line in read.reports] == [1.0, 2.0, 3.0]
    (planned,) = read.plan.experiments
    found = results(read)[planned.name]
    assert not found.rows
    assert finding(planned, found) == "Measured once."
    assert rows_frame(read.plan, {planned.name: found})["origin"].unique().to_list() == ["measured"]


def test_arms_that_are_absent_or_raise_are_told_once_and_the_others_measured(
    out: Path, tmp_path: Path
) -> None:
    file = experiment_file(tmp_path, "first", "absent", "no memory", "raises always")
    done, text = run(out, file)
    assert (done.code, done.ending.ending) == (ExitCode.PART_FAILED, "failed"), text
    assert text.count("waiting, absent: not on this machine; plug it in") == 1
    assert text.count("KeyError: 'nothing there'") == 1
    read = Run(out)
    assert set(read.samples["arm"]) == {0}
    assert sum("plug it in" in line.skipped for line in read.reports) == 2, "once for each group"


@pytest.mark.parametrize("who", ["wrong at once", "wrong later"])
def test_a_wrong_result_has_its_own_exit_code(out: Path, tmp_path: Path, who: str) -> None:
    done, text = run(out, experiment_file(tmp_path, "first", who))
    assert done.code == ExitCode.WRONG_RESULT
    assert re.search(rf"waiting, {who}: computed wrong: tag \d is wrong", text)
    assert check(out, is_whole=True).samples.filter(arm=0).height > 0


def test_what_fails_always_is_tried_twice_and_what_fails_once_succeeds(
    out: Path, tmp_path: Path
) -> None:
    always = experiment_file(tmp_path, "raises always", name="always")
    once = experiment_file(tmp_path, "raises once", name="once")
    done, _ = run(out, always, once)
    assert (done.code, done.ending.ending) == (ExitCode.PART_FAILED, "failed")
    assert "always, raises always: failed: KeyError" in done.ending.reason
    state = read_state(Run(out))
    assert state.processes["always"] == 2
    assert all(not each.lacking for each in state.groups["once"])


def test_a_killed_process_is_told_and_a_later_one_makes_up_for_it(
    out: Path, tmp_path: Path
) -> None:
    done, text = run(out, experiment_file(tmp_path, "first", "killed once"))
    assert "waiting: process 0 was ended by signal 9 (SIGKILL)" in text
    assert (done.code, done.ending) == (0, Ending("complete"))
    assert "signal 9" in check(out, is_whole=True).notes[0]


def test_an_experiment_that_always_leaves_is_given_up_and_the_others_go_on(
    out: Path, tmp_path: Path
) -> None:
    leaves = experiment_file(tmp_path, "leaves", name="leaves", pause_s_max=0.0001)
    other = experiment_file(tmp_path, "first", "second")
    done, text = run(out, leaves, other, blocks=12)
    assert done.code == ExitCode.PART_FAILED, text
    assert "leaves: process 0 left with code 0 before its work was done" in text
    state = read_state(Run(out))
    assert all(not each.lacking for each in state.groups["waiting"])


def test_a_budget_that_is_used_up_leaves_the_rest_for_a_resume_which_keeps_its_time(
    out: Path, tmp_path: Path
) -> None:
    slow = experiment_file(tmp_path, "first", "second", name="slow", pause_s_max=9)
    other = experiment_file(tmp_path, "first", name="other", pause_s_max=9)
    done, text = run(out, slow, other, budget_s=2.0, processes=8, blocks=1_000)
    assert done.ending.ending == "time was up", text
    # A busy machine may have time for nothing.
    assert done.code == (0 if Run(out).samples.height else ExitCode.NOTHING_RAN)
    assert re.search(rf"2 s were too short .*; the rest takes about \d+ \w+: .* {out}\n", text)
    for budget_s in (1.5, 6.0, 24.0, 96.0):
        before = check(out, is_whole=False).samples.height
        done, text = said(partial(session.resume, out, budget_s=budget_s))
        assert done.ending.ending == "time was up", text
        if Run(out).samples.height > before > 0:
            break
    assert Run(out).samples.height > before > 0


def test_ctrl_c_keeps_what_was_measured_and_a_resume_finishes_it(out: Path, tmp_path: Path) -> None:
    process = begin(out, experiment_file(tmp_path, "first", "second", pause_s_max=9))
    wait_until(lambda: has_begun(out))
    # Ctrl-C of a terminal reaches parent and child alike; the child leaves it to the parent.
    os.killpg(process.pid, signal.SIGINT)
    code, text = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert re.search(
        rf"interrupted; the rest takes about .*: sealift lab run --resume {out}\n", text
    )
    read = check(out, is_whole=False)
    assert read.ending == Ending("interrupted", "SIGINT came")
    assert not read.notes
    assert {line.facts["checked_against"] for line in read.reports} == {"itself"}
    before = (out / names.SAMPLES).read_bytes()
    experiment_file(tmp_path, "first", "second")
    done, text = said(lambda: session.resume(out))
    assert (done.code, done.ending) == (0, Ending("complete")), text
    assert "waiting.py was changed since the run began" in text
    assert (out / names.SAMPLES).read_bytes().startswith(before)
    check(out, is_whole=True)


def test_a_second_signal_ends_a_run_at_once(out: Path, tmp_path: Path) -> None:
    process = begin(out, experiment_file(tmp_path, "first", "deaf"))
    wait_until((out / "deaf-once").exists)
    process.send_signal(signal.SIGINT)
    # Two at once would be one.
    wait_until((out / "heard").exists)
    process.send_signal(signal.SIGINT)
    code, text = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert f"sealift lab run --resume {out}" in text


def test_kill_9_of_the_parent_ends_the_child_and_a_resume_mends_the_folder(
    out: Path, tmp_path: Path
) -> None:
    process = begin(out, experiment_file(tmp_path, "first", "second", pause_s_max=9))
    wait_until(lambda: has_begun(out))
    assert len(children_of(out)) == 2, "the parent, and the child that goes on for a moment"
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not children_of(out))
    assert Run(out).ending is None
    with (out / names.SAMPLES).open("a", encoding="utf-8") as file:
        file.write('{"experiment":"wai')
    experiment_file(tmp_path, "first", "second")
    done, text = said(lambda: session.resume(out))
    assert done.code == 0, text
    assert not any("left out" in note for note in check(out, is_whole=True).notes)


def test_a_process_that_hangs_is_stopped_and_the_others_go_on(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = out / "slow-to-prepare-once"
    # Time flies as soon as it hangs, but for the other experiment.
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 40 * hangs.exists())
    for module in (session, watch_processes):
        monkeypatch.setattr(module, "time", later)
    monkeypatch.setattr(watch_processes, "HANG_S", 1.0)
    files = (
        experiment_file(tmp_path, "first", "slow to prepare", name="hangs"),
        experiment_file(tmp_path, "first", "second"),
    )
    done, text = run(out, *files, budget_s=120)
    assert text.count("hangs: process 0 gave no sign for") == 1
    assert "was stopped; it is not started again in this run" in text
    assert (done.code, done.ending.ending) == (ExitCode.PART_FAILED, "failed")
    state = read_state(Run(out))
    assert state.processes["hangs"] == 1
    assert all(each.blocks for each in state.groups["waiting"])


def test_a_full_disk_ends_a_run_that_can_be_resumed(out: Path, tmp_path: Path) -> None:
    full = experiment_file(tmp_path, "first", "fills the disk", name="full")
    other = experiment_file(tmp_path, "first", "second")
    done, text = run(out, full, other, blocks=12)
    assert (done.code, done.ending.ending) == (ExitCode.NOT_WRITTEN, "not written")
    assert f"{out / names.SAMPLES} was not written: File too large; make room there" in text
    assert not read_state(Run(out)).groups["waiting"][0].blocks
    assert said(lambda: session.resume(out))[0].code == 0
    check(out, is_whole=True)


def test_wide_intervals_get_more_processes_than_narrow_ones(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "PROCESSES_MOST", 9)
    monkeypatch.setattr(session, "narrow", lambda *_: {0: False, 1: True})
    done, _ = run(out, experiment_file(tmp_path, "first", "second"), processes=8, blocks=1)
    assert done.ending == Ending("complete")
    groups = read_state(Run(out)).groups["waiting"]
    assert [each.processes for each in groups] == [9, 8]


def test_a_page_that_fails_ends_nothing_and_is_told(out: Path, tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise KeyError("no page")

    wanted = plan(experiment_file(tmp_path, "first", "second"))
    done, text = said(lambda: session.run(wanted, out, after_task=fail))
    assert "the page was not written: KeyError: 'no page'" in text
    assert done.code == ExitCode.NOT_WRITTEN
    assert done.ending == Ending("complete")


def test_what_can_not_be_resumed_or_replayed_is_refused_and_stays_as_it_is(
    out: Path, tmp_path: Path
) -> None:
    run(out, experiment_file(tmp_path, "first", "second"), blocks=1)
    samples = out / names.SAMPLES
    text = "damage\n" + samples.read_text(encoding="utf-8")
    samples.write_text(text, encoding="utf-8")
    with pytest.raises(FolderError, match="line 1"):
        session.resume(out)
    assert samples.read_text(encoding="utf-8") == text
    with pytest.raises(FolderError, match="neither the folder of a run nor its plan"):
        session.replay(samples, None, command=["replay"])


@pytest.mark.parametrize("words", [("replay", "old", "--out", "new"), ("run", "--resume", "old")])
def test_a_plan_of_the_former_sealift_gpu_ends_in_sentences(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """As that program wrote them: one of its own experiments, and one that is still the lab's."""
    experiments = [
        {
            "name": name,
            "id": "",
            "file": file,
            "file_sha256": None,
            "title": "Copies between host and GPU",
            "why": "What does the way to the GPU and back carry?",
            "axes": [{"name": axis, "title": axis} for axis in cell],
            "plots": [{"x": "device", "y": "payload_MB_per_s", "z": compare, "title": "Copies"}],
            "operation": "copy",
            "compare": compare,
            "blocks": 24,
            "groups": [[cell]],
            "left_out": [],
            "whole_s": 0.0,
            "takes_s": None,
        }
        for name, file, compare, cell in (
            ("gpu-rates", "sealift-gpu", "instruction", {"device": "cuda:0", "instruction": "add"}),
            ("gpu-copies", None, "direction", {"device": "cuda:0", "direction": "back"}),
        )
    ]
    create(tmp_path / "old", made.plan(), made.MACHINE)
    old = {
        "schema": "sealift-run/1",
        "version": "0.1.0",
        "created": "2026-11-23T19:00:20Z",
        "command": ["sealift-gpu", "--step", "copies"],
        "seed": 1,
        "budget_s": 20.0,
        "restarts": 1,
        "experiments": experiments,
    }
    (tmp_path / "old" / names.PLAN).write_text(json.dumps(old), encoding="utf-8")
    command = [sys.executable, "-m", "sealift", "lab", *words]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == ExitCode.PART_FAILED, ended.stderr
    assert "sealift-gpu is no file of Python source" in ended.stderr
    assert "gpu-copies: it has other axes today than in this plan; measure it" in ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("name", [names.NOTES, names.SENSORS])
def test_a_journal_that_can_not_be_opened_ends_a_run_with_a_sentence(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def create_with_link(path: Path, *rest: Any) -> None:
        create(path, *rest)
        (path / name).symlink_to("nowhere")

    monkeypatch.setattr(session.write_folder, "create", create_with_link)
    done, text = run(out, experiment_file(tmp_path, "first"))
    assert (done.code, done.ending.ending) == (ExitCode.NOT_WRITTEN, "not written")
    assert f"{name} was not written: it is a link; remove it" in text


def test_folders_are_named_after_the_time_and_never_taken_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 11, 21, 14, 21, tzinfo=UTC)
    assert session.default_path(now) == EXAMPLE
    EXAMPLE.mkdir(parents=True)
    assert session.default_path(now).name == "2026-11-21T142100Z-2"
