"""Runs in processes of their own, ended in every way there is, and finished afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import skip
from sealift.exit_code import ExitCode
from sealift.lab import registry, report, runner, store
from sealift.lab.runner.planning import blocks_least, works
from sealift.lab.spec import Axis, Experiment, Scope
from sealift.lab.store import How, names
from sealift.lab.summary import summarise
from sealift.lab.timed import timed

HERE = Path(__file__).parent
BLOCKS = 20


def experiment_file(
    folder: Path, *who: str, name: str = "made-up", pause_s_max: float = 0.001
) -> Path:
    """The made-up experiment with arms of these names."""
    text = (HERE / "made_up_experiment.py").read_text(encoding="utf-8")
    text = text.replace('("first", "second")', repr(who)).replace('"made-up"', repr(name))
    text = text.replace("PAUSE_S_MAX = 0.001", f"PAUSE_S_MAX = {pause_s_max}")
    path = folder / f"{name.replace('-', '_')}.py"
    path.write_text(text, encoding="utf-8")
    return path


def slow_file(folder: Path) -> Path:
    """One whose samples take the time that is asked for."""
    return experiment_file(folder, "first", "second", pause_s_max=9)


def start(*words: str | Path | float, prefix: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """A process that runs, resumes or replays."""
    return subprocess.Popen(
        [*prefix, sys.executable, str(HERE / "drive_runner.py"), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process started from a shell's background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and standard error."""
    out, said = process.communicate(timeout=120)
    assert out == ""
    assert "Traceback" not in said, said
    return process.returncode, said


def run(*words: str | Path | float) -> tuple[int, str]:
    return ended(start(*words))


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it never came to that"
        time.sleep(0.02)


def blocks_begun(folder: Path, least: int = 2) -> Callable[[], bool]:
    """Whether some blocks are there."""

    def begun() -> bool:
        samples = folder / names.SAMPLES
        return samples.exists() and samples.read_bytes().count(b'"again":true') >= least

    return begun


def workers_of(folder: Path) -> list[int]:
    """The processes that measure into a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sealift.lab.worker" in words and str(folder).encode() in words:
            found.append(int(each.name))
    return found


def check(folder: Path, *, whole: bool) -> store.Run:
    """That the folder reads, has a page, and the blocks that were planned where it is whole."""
    read = store.read(folder)
    assert "<html" in report.page(read)
    summarise(read)
    assert not (folder / names.RESERVE).exists()
    assert read.is_whole == whole
    if whole:
        for planned in read.plan.experiments:
            for group in range(len(planned.groups)):
                assert len(read.blocks(planned.name, group)) == planned.blocks
    return read


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is complete, for tests that damage a copy of it."""
    place = tmp_path_factory.mktemp("whole")
    code, said = run("run", place / "run", 60, 1, experiment_file(place, "first", "second"))
    assert code == 0, said
    check(place / "run", whole=True)
    return place / "run"


@pytest.fixture
def half_run(whole_run: Path, folder: Path) -> Path:
    """A run that was killed half-way."""
    shutil.copytree(whole_run, folder)
    samples = folder / names.SAMPLES
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[: len(lines) // 6 * 3]))
    (folder / names.ENDING).unlink()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "run"
    yield path
    assert not workers_of(path)


def test_a_run_measures_what_was_planned_and_writes_everything(
    folder: Path, tmp_path: Path
) -> None:
    code, said = run("run", folder, 60, 2, experiment_file(tmp_path, "first", "second"))
    assert code == 0, said
    read = check(folder, whole=True)
    assert read.ending == store.Ending(How.COMPLETE)
    assert read.notes == ()
    assert {restart for restart, _ in read.blocks("made-up", 0)} == {0, 1}
    assert read.sensors
    assert read.machine.devices
    assert "core_clock_ghz" in read.machine.facts
    assert {each.facts["checked_against"] for each in read.verified} == {"itself"}
    first, second = (int(each.facts["asked"]) for each in read.verified[:2])
    assert first == 2 * second >= 2 * BLOCKS
    assert len((folder / names.SUMMARY).read_text(encoding="utf-8").splitlines()) == 5
    assert (folder / names.REPORT).stat().st_size > 10_000
    assert "made-up: 0 %, preparing, about" in said


def test_a_whole_run_is_not_measured_again(whole_run: Path, folder: Path) -> None:
    shutil.copytree(whole_run, folder)
    before = (folder / names.SAMPLES).read_bytes()
    code, said = run("resume", folder)
    assert code == 0
    assert "nothing is missing, so nothing is measured" in said
    assert (folder / names.SAMPLES).read_bytes() == before


def test_ctrl_c_keeps_what_was_measured_and_a_resume_finishes_it(
    folder: Path, tmp_path: Path
) -> None:
    process = start("run", folder, 30, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert f"interrupted; what was measured is kept in {folder}" in said
    assert f"to measure the rest: sealift lab run --resume {folder}" in said
    read = check(folder, whole=False)
    assert read.ending == store.Ending(How.INTERRUPTED, "SIGINT came")
    assert read.notes == ()
    assert {each.facts["checked_against"] for each in read.verified} == {"itself"}
    assert (folder / names.SUMMARY).exists()
    kept = (folder / names.SAMPLES).read_bytes()
    assert len(kept) > 0
    make_quick(folder)
    code, said = run("resume", folder)
    assert code == 0, said
    read = check(folder, whole=True)
    assert read.ending == store.Ending(How.COMPLETE)
    assert (folder / names.SAMPLES).read_bytes().startswith(kept)
    assert read.restarts == {"made-up": 2}


def make_quick(folder: Path) -> None:
    """So that the rest of a run takes a second."""
    plan = json.loads((folder / names.PLAN).read_text(encoding="utf-8"))
    plan["budget_s"] = 1.0
    (folder / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")


def test_sigterm_ends_a_run_as_ctrl_c_does(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    process.terminate()
    code, _ = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert check(folder, whole=False).ending == store.Ending(How.INTERRUPTED, "SIGTERM came")


def test_ctrl_c_of_a_terminal_reaches_parent_and_child_alike(folder: Path, tmp_path: Path) -> None:
    file = slow_file(tmp_path)
    process = subprocess.Popen(
        [sys.executable, str(HERE / "drive_runner.py"), "run", str(folder), "30", "1", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    wait_until(blocks_begun(folder))
    os.killpg(process.pid, signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED, said
    assert check(folder, whole=False).notes == ()


def test_ctrl_c_while_arms_are_prepared_ends_a_run(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, experiment_file(tmp_path, "first", "slow to prepare"))
    wait_until(lambda: bool(workers_of(folder)))
    time.sleep(0.5)
    begin_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    code, _ = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert time.monotonic() - begin_s < 8
    assert check(folder, whole=False).ending == store.Ending(How.INTERRUPTED, "SIGINT came")


def test_who_asks_twice_does_not_wait(folder: Path, tmp_path: Path) -> None:
    process = start("run", folder, 30, 1, experiment_file(tmp_path, "first", "deaf"))
    wait_until(blocks_begun(folder, 3))
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begin_s = time.monotonic()
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert time.monotonic() - begin_s < 5
    assert "to measure the rest" in said


def test_kill_9_of_the_parent_ends_the_child_and_a_resume_finishes_the_run(
    folder: Path, tmp_path: Path
) -> None:
    process = start("run", folder, 30, 1, slow_file(tmp_path))
    wait_until(blocks_begun(folder))
    (worker,) = workers_of(folder)
    # So that nobody resumes the run as long as the child lives.
    held = [each.readlink() for each in Path(f"/proc/{worker}/fd").iterdir()]
    assert folder / names.LOCK in held
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not workers_of(folder), seconds=2)
    read = store.read(folder)
    assert read.ending is None
    assert "<html" in report.page(read)
    make_quick(folder)
    code, said = run("resume", folder)
    assert code == 0, said
    assert check(folder, whole=True).ending == store.Ending(How.COMPLETE)


def test_a_child_whose_parent_is_gone_before_it_starts_measures_nothing(
    half_run: Path,
) -> None:
    before = (half_run / names.SAMPLES).read_bytes()
    # Process 1 is not the parent.
    words = [half_run, "made-up", 1, time.monotonic() + 5, 40, 40, 1]
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
    assert code == 0, said
    assert "made-up: the process of restart 0 was ended by signal 9 (SIGKILL)" in said
    assert "to measure the rest" in said
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
    assert code == 0
    assert "ended with code 7" in said
    check(folder, whole=False)


def test_processes_that_an_experiment_leaves_behind_do_not_hold_the_run(
    folder: Path, tmp_path: Path
) -> None:
    # It inherits standard error, so that its end never comes.
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "starts a process"))
    assert code == 0, said
    check(folder, whole=True)
    with store.hold(folder):
        pass


def test_two_runs_into_one_folder_are_an_error(folder: Path, tmp_path: Path) -> None:
    file = slow_file(tmp_path)
    process = start("run", folder, 30, 1, file)
    wait_until(blocks_begun(folder))
    code, said = run("run", folder, 60, 1, file)
    assert code == ExitCode.USAGE
    assert "holds a run already" in said
    code, said = run("resume", folder)
    assert code == ExitCode.USAGE
    assert "another run writes into it" in said
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == ExitCode.INTERRUPTED
    check(folder, whole=False)


def test_a_file_that_does_not_grow_ends_a_run_with_what_was_measured(
    folder: Path, tmp_path: Path
) -> None:
    file = experiment_file(tmp_path, "first", "fills the disk")
    other = experiment_file(tmp_path, "first", "second", name="other")
    code, said = run("run", folder, 60, 1, file, other)
    assert code == ExitCode.NOT_WRITTEN, said
    assert f"{folder / names.SAMPLES} was not written: File too large" in said
    assert f"what was measured is kept in {folder}" in said
    assert "to measure the rest: sealift lab run --resume" in said
    read = check(folder, whole=False)
    assert read.ending is not None
    assert read.ending.how is How.NOT_WRITTEN
    assert read.notes == ()
    assert read.blocks("made-up", 0)
    assert not read.blocks("other", 0)
    code, said = run("resume", folder)
    assert code == 0, said
    check(folder, whole=True)


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


def limited(size: int, *words: str | Path | float) -> "subprocess.Popen[str]":
    """A process that can't make files grow beyond a size in bytes."""
    return start(*words, prefix=("prlimit", f"--fsize={size}"))


def test_a_full_disk_ends_a_run_with_a_page_of_what_was_measured(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    mounts = ["sh", "-c", f"mount -t tmpfs -o size=64k none {tmp_path}"]
    if unshare is None or subprocess.run([unshare, "-rm", *mounts], capture_output=True).returncode:
        skip("tmpfs", "no small file system can be mounted here")
    (tmp_path / "mine").mkdir()
    file = slow_file(tmp_path / "mine")
    small, kept = tmp_path / "small", tmp_path / "kept"
    small.mkdir()
    drive = f"{sys.executable} {HERE / 'drive_runner.py'}"
    # The room is gone while the run goes on, all but the reserve; afterwards there is some again.
    script = f"""
        mount -t tmpfs -o size=6m none {small} || exit 99
        {drive} run {small}/run 30 1 {file} &
        while [ "$(grep -c true {small}/run/samples.jsonl 2>/dev/null || echo 0)" -lt 2 ]
        do sleep 0.05; done
        cat /dev/zero > {small}/filler 2>/dev/null
        wait $!
        echo "code $?" >&2
        cp -r {small}/run {kept}
        rm {small}/filler
        sed -i 's/"budget_s": 30.0/"budget_s": 1.0/' {small}/run/plan.json
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


def test_arms_that_are_absent_or_raise_are_told_and_the_others_measured(
    folder: Path, tmp_path: Path
) -> None:
    who = ("absent", "raises at once", "second", "raises later", "prints")
    file = experiment_file(tmp_path, *who)
    code, said = run("run", folder, 60, 1, file)
    assert code == 0, said
    assert said.count("made-up, absent: not on this machine; plug it in") == 1
    line = line_of(file, 'raise KeyError("nothing there")')
    assert f"failed: KeyError: 'nothing there' ({file}, line {line})" in said
    line = line_of(file, 'raise KeyError("gone")')
    assert f"KeyError: 'gone' ({file}, line {line})" in said
    assert "said on standard output" in said
    read = check(folder, whole=True)
    assert read.reference("made-up", 0) == 2
    skipped = [each.skipped for each in read.verified[:5]]
    assert skipped[0] == "not on this machine; plug it in"
    assert skipped[1].startswith("failed: KeyError")
    assert skipped[2:] == ["", "", ""]
    last = read.blocks("made-up", 0)[-1][1]
    assert [sample is not None for sample in last] == [False, False, True, False, True, True]
    rows = summarise(read)["made-up"].rows
    assert {row.reference for row in rows} == {"second"}


def line_of(file: Path, text: str) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_an_arm_that_can_not_say_what_it_checked_is_told(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "first", "bad facts"))
    assert code == 0
    assert (
        "who=bad facts could not say what it checked: TypeError: verified() has facts=[1]" in said
    )
    assert check(folder, whole=True).notes


@pytest.mark.parametrize("how", ["wrong at once", "wrong later"])
def test_a_wrong_result_gives_its_own_exit_code(folder: Path, tmp_path: Path, how: str) -> None:
    code, said = run("run", folder, 60, 2, experiment_file(tmp_path, "first", how))
    assert code == ExitCode.WRONG_RESULT, said
    assert f"made-up, {how}: computed wrong: tag" in said
    read = check(folder, whole=True)
    assert read.ending == store.Ending(How.COMPLETE)
    assert "is wrong" in read.verified[1].wrong
    assert read.verified[0].wrong == ""
    # Once is enough: no later restart asks it again.
    lines = (folder / names.VERIFY).read_text(encoding="utf-8").splitlines()
    assert sum("is wrong" in line for line in lines) == 2


def test_a_reference_that_goes_wrong_ends_its_group(folder: Path, tmp_path: Path) -> None:
    code, _ = run("run", folder, 60, 2, experiment_file(tmp_path, "wrong later", "second"))
    assert code == ExitCode.WRONG_RESULT
    read = store.read(folder)
    assert read.is_whole
    assert 0 < len(read.blocks("made-up", 0)) < BLOCKS
    assert "<html" in report.page(read)


def test_a_reference_that_is_wrong_at_once_gives_its_part_away(
    folder: Path, tmp_path: Path
) -> None:
    code, _ = run("run", folder, 60, 2, experiment_file(tmp_path, "wrong at once", "second"))
    assert code == ExitCode.WRONG_RESULT
    assert check(folder, whole=True).reference("made-up", 0) == 1


def test_nothing_that_could_be_measured_has_its_own_exit_code(folder: Path, tmp_path: Path) -> None:
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "absent", "raises at once"))
    assert code == ExitCode.NOTHING_RAN
    assert "nothing could be measured, for the reasons above" in said
    assert store.read(folder).is_whole
    assert "<html" in (folder / names.REPORT).read_text(encoding="utf-8")


def test_a_budget_that_is_used_up_leaves_the_rest_for_a_resume(
    folder: Path, tmp_path: Path
) -> None:
    file = experiment_file(tmp_path, "first", "rather slow to prepare")
    code, said = run("run", folder, 1, 1, file)
    assert code == 0, said
    read = check(folder, whole=False)
    least = blocks_least(read.plan.experiments[0])
    reason = f"1 s were too short for {40 - 2 * least} of 40 blocks"
    assert read.ending == store.Ending(How.TIME_UP, reason)
    assert f"{reason}; what was measured is kept in {folder}" in said
    assert [len(read.blocks("made-up", group)) for group in (0, 1)] == [least, least]
    assert run("resume", folder)[0] == 0
    check(folder, whole=True)


def test_a_folder_that_was_changed_since_is_resumed_with_a_warning(half_run: Path) -> None:
    plan = json.loads((half_run / names.PLAN).read_text(encoding="utf-8"))
    plan["version"] = "0.0.7"
    plan["experiments"][0]["file_sha256"] = "of another file"
    (half_run / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    machine = half_run / names.MACHINE
    facts = json.loads(machine.read_text(encoding="utf-8"))
    facts["facts"]["cpu_model"] = {"value": "Another CPU", "reason": None}
    machine.write_text(json.dumps(facts), encoding="utf-8")
    code, said = run("resume", half_run)
    assert code == 0, said
    notes = check(half_run, whole=True).notes
    assert "what stood there was measured with 0.0.7" in notes[0]
    assert notes[1].endswith("made_up.py was changed since the run began")
    assert notes[2].endswith("before it was Another CPU")
    assert all(f"sealift: {note}" in said for note in notes)


def test_an_experiment_file_that_is_gone_is_told(half_run: Path) -> None:
    plan = json.loads((half_run / names.PLAN).read_text(encoding="utf-8"))
    plan["experiments"][0]["file"] = str(half_run / "gone.py")
    (half_run / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    code, said = run("resume", half_run)
    assert code == 0, said
    assert f"made-up: {half_run / 'gone.py'} is no file of Python source" in said
    assert "ended with code" not in said
    ending = check(half_run, whole=False).ending
    assert ending is not None
    assert ending.how is How.FAILED


@pytest.mark.parametrize("name", [names.SAMPLES, names.VERIFY, names.SENSORS, names.NOTES])
def test_a_torn_file_is_mended_by_a_resume(half_run: Path, name: str) -> None:
    with (half_run / name).open("ab") as file:
        file.write(b'{"experiment":"made-up","group":0,"a')
    assert "left out" in store.read(half_run).notes[-1]
    code, said = run("resume", half_run)
    assert code == 0, said
    assert check(half_run, whole=True).notes == ()


def test_a_damaged_folder_is_neither_resumed_nor_changed(half_run: Path) -> None:
    samples = half_run / names.SAMPLES
    damaged = samples.read_bytes().replace(b'"arm":1', b'"arm":9', 1)
    samples.write_bytes(damaged)
    code, said = run("resume", half_run)
    assert code == ExitCode.USAGE
    assert "samples.jsonl, line 2: arm is 9; right would be a number under 2" in said
    assert samples.read_bytes() == damaged


def test_a_replay_has_the_same_plan_in_a_new_folder(whole_run: Path, folder: Path) -> None:
    code, said = run("replay", whole_run / names.PLAN, folder)
    assert code == 0, said
    old, new = store.read_plan(whole_run), check(folder, whole=True).plan
    command = ("replay", str(whole_run / names.PLAN))
    assert new == replace(old, created=new.created, command=command)
    code, said = run("replay", whole_run, folder)
    assert code == ExitCode.USAGE
    assert "holds a run already" in said


def experiment(**changes: object) -> Experiment:
    fields: dict[str, object] = {
        "name": "sums",
        "title": "Sums",
        "axes": (Axis("n", "numbers", (10, 100)), Axis("who", "who", ("a", "b", "c"))),
        "compare": "who",
        "arm": lambda cell, _: timed(lambda: sum(range(int(cell["n"])))),
    }
    return Experiment(**fields | changes)  # type: ignore[arg-type]


def ask(*experiments: Experiment, **changes: object) -> runner.Ask:
    scope = Scope(quick=True, cores=1, devices=())
    fields: dict[str, object] = {
        "experiments": [(each, each.groups(scope)) for each in experiments],
        "command": ("sealift", "lab", "run"),
    }
    return runner.Ask(**fields | changes)  # type: ignore[arg-type]


def test_a_plan_has_more_blocks_and_restarts_when_there_is_time() -> None:
    quick, long = (runner.make_plan(ask(experiment(), quick=quick)) for quick in (True, False))
    assert (quick.budget_s, quick.restarts, quick.experiments[0].blocks) == (60, 1, 20)
    assert (long.budget_s, long.restarts, long.experiments[0].blocks) == (300, 3, 30)
    assert quick.experiments[0].groups[1][2] == {"n": 100, "who": "c"}


def test_a_short_budget_gives_fewer_blocks_and_never_too_few() -> None:
    plan = runner.make_plan(ask(experiment(), budget_s=0.2, restarts=1))
    least = blocks_least(plan.experiments[0])
    assert least < plan.experiments[0].blocks < 30
    with pytest.raises(ValueError, match=r"too short for the blocks .* allow 1 s") as caught:
        runner.make_plan(ask(experiment(), budget_s=0.05, restarts=1))
    assert "0.05 s" in str(caught.value)
    runner.make_plan(ask(experiment(), budget_s=1, restarts=1))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"budget_s": 0}, "a budget of 0 s; right would be"),
        ({"budget_s": float("inf")}, "a budget of inf s"),
        ({"restarts": 0}, "0 restarts; right would be 1 to 30"),
        ({"restarts": 31}, "31 restarts"),
        ({"experiments": []}, "nothing to measure"),
    ],
)
def test_a_plan_that_can_not_be_says_why(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        runner.make_plan(ask(experiment(), **changes))


def test_one_name_is_planned_once() -> None:
    with pytest.raises(ValueError, match="'sums' is named twice"):
        runner.make_plan(ask(experiment(), experiment()))


def test_an_experiment_without_cells_here_stands_in_the_plan_and_takes_no_time(
    tmp_path: Path,
) -> None:
    plan = runner.make_plan(ask(experiment(), experiment(name="none", cells=lambda _: ())))
    store.create(tmp_path / "run", plan, store.Surroundings({}))
    read = store.read(tmp_path / "run")
    assert read.plan.experiment("none").groups == ()
    steps = [work.step for work in works(read, finish=False)]
    assert [step.experiment for step in steps] == ["sums"] * 3
    assert sum(step.weight for step in steps) == pytest.approx(1.0)
    assert [step.blocks for step in steps] == [20, 20, 20]
    assert [step.samples for step in steps] == [80, 80, 80]


def test_restarts_share_blocks_out_and_a_resume_takes_what_is_missing(tmp_path: Path) -> None:
    plan = runner.make_plan(ask(experiment(), experiment(name="other", weight=2.0), restarts=3))
    store.create(tmp_path / "run", plan, store.Surroundings({}))
    read = store.read(tmp_path / "run")
    turns = works(read, finish=False)
    assert [work.step.experiment for work in turns] == ["sums", "other"] * 3
    assert [work.blocks for work in turns[::2]] == [10, 20, 30]
    assert [work.blocks_least for work in turns[::2]] == [3, 6, 9]
    assert [work.blocks_least for work in works(read, finish=True)[::2]] == [10, 20, 30]
    measured = {
        ("sums", 0): tuple((0, ()) for _ in range(12)),
        ("sums", 1): tuple((0, ()) for _ in range(10)),
    }
    rest = works(replace(read, measured=measured), finish=True)
    assert [(work.step.experiment, work.step.blocks) for work in rest] == [
        ("other", 20),
        ("sums", 18),
        ("other", 20),
        ("sums", 20),
        ("other", 20),
    ]


def test_the_registry_finds_the_made_up_experiment(tmp_path: Path) -> None:
    file = experiment_file(tmp_path, "first", "second")
    assert registry.find("made-up", file).file == file
