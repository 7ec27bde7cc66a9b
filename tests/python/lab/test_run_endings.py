"""Runs ended in every way there is, and finished afterwards."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import skip
from lab.running import (
    BLOCKS,
    DRIVER,
    asked,
    blocks_begun,
    check,
    ended,
    experiment_file,
    limited,
    run,
    slow_file,
    start,
    wait_until,
    workers_of,
)
from run_report import ran
from sealift.exit_code import ExitCode
from sealift.lab import progress, report, runner, store
from sealift.lab.runner import session
from sealift.lab.store import How, names


def test_ctrl_c_keeps_what_was_measured_and_a_resume_finishes_it(
    folder: Path, tmp_path: Path
) -> None:
    process = start("run", folder, 12, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert re.search(
        rf"interrupted; the rest takes about \d+ s: sealift lab run --resume {folder}\n", said
    )
    read = check(folder, whole=False)
    assert read.ending == store.Ending(How.INTERRUPTED, "SIGINT came")
    assert read.notes == ()
    assert {each.facts["checked_against"] for each in read.verified} == {"itself"}
    assert (folder / names.SUMMARY).exists()
    kept = (folder / names.SAMPLES).read_bytes()
    assert len(kept) > 0
    code, said = run("resume", folder)
    assert code == 0, said
    read = check(folder, whole=True)
    assert read.ending == store.Ending(How.COMPLETE)
    assert (folder / names.SAMPLES).read_bytes().startswith(kept)
    assert read.restarts == {"made-up": 2}


def test_sigterm_ends_a_run_as_ctrl_c_does(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 12, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    process.terminate()
    code, _ = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert check(folder, whole=False).ending == store.Ending(How.INTERRUPTED, "SIGTERM came")


def test_ctrl_c_of_a_terminal_reaches_parent_and_child_alike(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 12, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    # The child leaves that to its parent.
    os.kill(workers_of(folder)[0], signal.SIGINT)
    wait_until(blocks_begun(folder, 5))
    os.killpg(process.pid, signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED, said
    assert check(folder, whole=False).notes == ()


def test_ctrl_c_while_arms_are_prepared_ends_a_run(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, experiment_file(tmp_path, "first", "slow to prepare"))
    wait_until((folder / "made-up-slow-to-prepare").exists)
    begin_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    wait_until(lambda: not workers_of(folder))
    assert time.monotonic() - begin_s < 8, "ten seconds later it is killed"
    code, _ = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert check(folder, whole=False).ending == store.Ending(How.INTERRUPTED, "SIGINT came")


def test_who_asks_twice_does_not_wait(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, experiment_file(tmp_path, "first", "deaf"))
    wait_until((folder / "made-up-deaf").exists)
    process.send_signal(signal.SIGINT)
    # Two at once would be one.
    wait_until((folder / "made-up-deaf-heard").exists)
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert f"interrupted; to measure the rest: sealift lab run --resume {folder}" in said
    assert f"for a page of what was measured: sealift lab report {folder}" in said


def test_kill_9_of_the_parent_ends_the_child_and_a_resume_finishes_the_run(
    folder: Path, tmp_path: Path
) -> None:
    process = start("run", folder, 24, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    (worker,) = workers_of(folder)
    # So that nobody resumes the run as long as the child lives.
    held = [each.readlink() for each in Path(f"/proc/{worker}/fd").iterdir()]
    assert folder / names.LOCK in held
    process.kill()
    process.communicate(timeout=60)
    # Left alone it measures for twenty seconds more.
    wait_until(lambda: not workers_of(folder), seconds=15)
    read = store.read(folder)
    assert read.ending is None
    assert "<html" in report.page(read)
    code, said = run("resume", folder)
    assert code == 0, said
    assert check(folder, whole=True).ending == store.Ending(How.COMPLETE)


def test_kill_9_of_the_parent_ends_a_child_that_tells_nothing(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, experiment_file(tmp_path, "first", "slow to prepare"))
    wait_until((folder / "made-up-slow-to-prepare").exists)
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not workers_of(folder))
    assert store.read(folder).verified[1].skipped == "the run ended before this was measured"


def test_a_child_whose_parent_is_gone_before_it_starts_measures_nothing(
    half_run: Path,
) -> None:
    before = (half_run / names.SAMPLES).read_bytes()
    # Process 1 is not the parent.
    words = [half_run, "made-up", 1, time.monotonic() + 5, "inf", 40, 40, 1, 0]
    command = [sys.executable, "-m", "sealift.lab.worker", *map(str, words)]
    process = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert process.returncode == -signal.SIGKILL
    assert (half_run / names.SAMPLES).read_bytes() == before


def test_kill_9_of_a_child_is_told_and_the_other_experiments_go_on(
    folder: Path, tmp_path: Path
) -> None:
    killed = experiment_file(tmp_path, "first", "killed once")
    other = experiment_file(tmp_path, "first", "second", name="other")
    code, said = run("run", folder, 60, 1, killed, other)
    assert code == ExitCode.PART_FAILED, said
    assert "made-up: the process of restart 0 was ended by signal 9 (SIGKILL)" in said
    assert "a part failed; the rest takes about " in said
    read = check(folder, whole=False)
    assert read.ending is not None
    assert read.ending.how is How.FAILED
    assert "signal 9" in read.ending.reason
    assert "signal 9" in read.notes[0]
    assert read.blocks("made-up", 0)
    assert len(read.blocks("other", 1)) == BLOCKS
    code, said = run("resume", folder)
    assert code == 0, said
    assert check(folder, whole=True).ending == store.Ending(How.COMPLETE)


def test_a_later_restart_makes_up_for_a_killed_one(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 2, experiment_file(tmp_path, "first", "killed once"))
    assert code == 0, said
    read = check(folder, whole=True)
    assert read.ending == store.Ending(How.COMPLETE)
    assert "signal 9" in read.notes[0]


def test_an_experiment_that_leaves_is_told_with_its_code(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "leaves"))
    assert code == ExitCode.PART_FAILED
    assert "ended with code 7" in said
    check(folder, whole=False)


def test_an_experiment_that_leaves_with_code_0_has_failed_as_well(
    folder: Path, tmp_path: Path
) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "leaves quietly"))
    assert code == ExitCode.PART_FAILED
    assert "the process of restart 0 left with code 0 before its work was done" in said
    check(folder, whole=False)
    assert run("resume", folder)[0] == 0


def test_an_experiment_that_interrupts_itself_has_failed(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "interrupts itself"))
    assert code == ExitCode.PART_FAILED
    assert "its process was interrupted, and nobody asked for that" in said


@pytest.mark.parametrize("who", ["starts a process", "forks"])
def test_processes_that_an_experiment_leaves_behind_do_not_hold_the_run(
    folder: Path, tmp_path: Path, who: str
) -> None:
    # They inherit standard error, so that its end never comes.
    begin_s = time.monotonic()
    code, said = ended(start("run", folder, 60, 1, experiment_file(tmp_path, "first", who)))
    assert code == 0, said
    assert time.monotonic() - begin_s < 80
    check(folder, whole=True)
    with store.hold(folder):
        pass
    # What the experiment forked has the command line of the process that it left.
    for left in workers_of(folder):
        os.kill(left, signal.SIGKILL)
    wait_until(lambda: not workers_of(folder))


def test_a_process_that_hangs_is_stopped_and_the_others_go_on(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hangs = folder / "made-up-slow-to-prepare"
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 100 * hangs.exists())
    monkeypatch.setattr(session, "time", later)
    monkeypatch.setattr(session, "HANG_GRACE_S", 30.0)
    files = (
        experiment_file(tmp_path, "first", "slow to prepare"),
        experiment_file(tmp_path, "first", "second", name="other"),
    )
    begin_s = time.monotonic()
    done = runner.run(asked(*files, out=folder, budget_s=40.0, restarts=2))
    assert time.monotonic() - begin_s < 200
    said = capsys.readouterr().err
    assert said.count("made-up: the process of restart 0 told nothing for") == 1
    assert "though its time was up, and was stopped" in said
    assert done.code == ExitCode.PART_FAILED
    assert done.ending.how is How.FAILED
    read = check(folder, whole=False)
    assert read.blocks("other", 0)
    # It is not started once more only to hang again.
    assert read.restarts["made-up"] == 1


def test_while_nothing_happens_it_is_said_how_it_stands(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.1)
    runner.run(asked(experiment_file(tmp_path, "rather slow to prepare"), out=folder))
    lines = capsys.readouterr().err.splitlines()
    silent = [line for line in lines if "preparing rather slow to prepare at size_bytes=16" in line]
    assert len(silent) >= 2


def test_a_file_in_the_current_folder_hides_nothing_of_pythons_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ctypes.py").write_text("raise SystemExit('mine was run')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, said = run("run", folder, 60, 1, experiment_file(folder.parent, "first", "second"))
    assert code == 0, said


def test_a_full_disk_of_an_experiments_own_file_ends_a_run_that_can_be_resumed(
    folder: Path, tmp_path: Path
) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "no room once"))
    assert code == ExitCode.NOT_WRITTEN, said
    assert "mine.csv was not written: No space left on device; make room there" in said
    ending = check(folder, whole=False).ending
    assert ending is not None
    assert ending.how is How.NOT_WRITTEN
    assert run("resume", folder)[0] == 0
    check(folder, whole=True)


def test_what_failed_is_tried_again_by_a_resume(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "raises once"))
    assert code == ExitCode.PART_FAILED, said
    ending = check(folder, whole=False).ending
    assert ending is not None
    assert ending.how is How.FAILED
    assert "made-up, raises once: failed: KeyError: 'gone for now'" in ending.reason
    assert run("resume", folder)[0] == 0
    check(folder, whole=True)


def test_a_skip_that_may_pass_leaves_a_complete_run_that_can_be_resumed(
    folder: Path, tmp_path: Path
) -> None:
    file = experiment_file(tmp_path, "no memory once")
    code, said = run("run", folder, 60, 1, file)
    assert code == 0, said
    assert f"to try again what could not be measured now: sealift lab run --resume {folder}" in said
    read = check(folder, whole=False)
    assert read.ending == store.Ending(How.COMPLETE)
    assert read.verified[0].skipped == "too little memory is free; end something"
    code, said = run("resume", folder)
    assert code == 0
    assert "to try again" not in said
    assert check(folder, whole=True).verified[0].skipped == ""


def test_a_sample_that_no_folder_holds_ends_only_its_arm(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "bad sample"))
    assert code == 0, said
    assert "a sample with ns=1.5; right would be an int of 1 or more" in said
    check(folder, whole=True)


def test_a_start_that_fails_leaves_nothing(tmp_path: Path) -> None:
    file = experiment_file(tmp_path, "first")
    out = tmp_path / "new" / "run"
    code, said = ended(limited(1_000, "run", out, 60, 1, file))
    assert code == ExitCode.NOT_WRITTEN, said
    assert not out.parent.exists()


def test_a_file_that_does_not_grow_ends_a_run_with_what_was_measured(
    folder: Path, tmp_path: Path
) -> None:
    file = experiment_file(tmp_path, "first", "fills the disk")
    other = experiment_file(tmp_path, "first", "second", name="other")
    code, said = run("run", folder, 60, 1, file, other)
    assert code == ExitCode.NOT_WRITTEN, said
    assert f"{folder / names.SAMPLES} was not written: File too large" in said
    assert re.search(rf"; the rest takes about \d+ s: sealift lab run --resume {folder}\n", said)
    read = check(folder, whole=False)
    assert read.ending is not None
    assert read.ending.how is How.NOT_WRITTEN
    assert read.notes == ()
    assert read.blocks("made-up", 0)
    assert not read.blocks("other", 0)
    code, said = run("resume", folder)
    assert code == 0, said
    check(folder, whole=True)


def test_a_full_disk_ends_a_run_with_a_page_of_what_was_measured(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    mounts = ["sh", "-c", f"mount -t tmpfs -o size=64k none {tmp_path}"]
    if unshare is None or subprocess.run([unshare, "-rm", *mounts], capture_output=True).returncode:
        skip("tmpfs", "no small file system can be mounted here")
    ran("tmpfs")
    (tmp_path / "mine").mkdir()
    file = slow_file(tmp_path / "mine")
    small, kept = tmp_path / "small", tmp_path / "kept"
    small.mkdir()
    drive = f"{sys.executable} {DRIVER}"
    # The room is gone while the run goes on, all but the reserve; afterwards there is some again.
    script = f"""
        mount -t tmpfs -o size=6m none {small} || exit 99
        {drive} run {small}/run 12 1 {file} &
        while [ "$(grep -c true {small}/run/samples.jsonl 2>/dev/null || echo 0)" -lt 2 ]
        do sleep 0.05; done
        cat /dev/zero > {small}/filler 2>/dev/null
        wait $!
        echo "code $?" >&2
        cp -r {small}/run {kept}
        rm {small}/filler
        {drive} resume {small}/run
        echo "code $?" >&2
        cp -r {small}/run {kept}-finished
    """
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=120
    )
    said = done.stderr
    assert "Traceback" not in said
    assert "was not written: No space left on device; make room there" in said
    assert said.count("code 5\n") == 1, said
    assert said.count("code 0\n") == 1, said
    read = check(kept, whole=False)
    assert read.ending is not None
    assert read.ending.how is How.NOT_WRITTEN
    for name in (names.SUMMARY, names.REPORT):
        assert (kept / name).exists()
    check(tmp_path / "kept-finished", whole=True)


def test_no_room_at_the_beginning_leaves_a_folder_that_can_be_named_again(tmp_path: Path) -> None:
    file = experiment_file(tmp_path, "first", "second")
    code, said = ended(limited(1_000, "run", tmp_path / "run", 60, 1, file))
    assert code == ExitCode.NOT_WRITTEN
    assert "machine.json was not written: File too large" in said
    assert run("run", tmp_path / "run", 60, 1, file)[0] == 0


def test_readings_that_can_not_be_kept_end_a_run_in_good_order(half_run: Path) -> None:
    sensors = half_run / names.SENSORS
    # Longer than the reserve, so that it is the first file that hits the limit.
    sensors.write_text(f'{{"at_s": 1.0, "values": {{}}{" " * 5_000_000}}}\n', encoding="utf-8")
    size = sensors.stat().st_size + 10
    code, said = ended(limited(size, "resume", half_run))
    assert code == ExitCode.NOT_WRITTEN, said
    assert f"{sensors} was not written: File too large" in said
    ending = check(half_run, whole=False).ending
    assert ending is not None
    assert ending.how is How.NOT_WRITTEN
    sensors.write_text("", encoding="utf-8")
    assert run("resume", half_run)[0] == 0
    check(half_run, whole=True)
