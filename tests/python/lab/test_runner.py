"""Runs in processes of their own, from the plan to the page."""

import json
import re
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lab.running import (
    BLOCKS,
    blocks_begun,
    check,
    ended,
    experiment_file,
    run,
    slow_file,
    start,
    wait_until,
)
from sealift.exit_code import ExitCode
from sealift.lab import registry, report, runner, store
from sealift.lab.runner import session
from sealift.lab.runner.planning import blocks_least
from sealift.lab.spec import Scope
from sealift.lab.store import How, names
from sealift.lab.summary import summarise


def test_a_run_measures_what_was_planned_and_writes_everything(
    folder: Path, tmp_path: Path
) -> None:
    process = start("run", folder, 60, 2, experiment_file(tmp_path, "first", "second"))
    code, said = ended(process)
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
    # Lead-ins and samples; each of the two is doubled in half of the blocks.
    assert first == second == 3 * BLOCKS
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


def test_the_page_is_shown_meanwhile_and_its_failure_ends_nothing(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(session, "SHOWN_EVERY_S", 0.0)
    before = signal.getsignal(signal.SIGINT)
    shown: list[int] = []

    def show(path: Path) -> None:
        shown.append(len(store.read(path).blocks("made-up", 0)))
        raise ValueError("no ink")

    experiment = registry.load(experiment_file(tmp_path, "first", "second"))
    groups = experiment.groups(Scope(quick=True, cores=1, devices=()))
    done = runner.run(
        runner.Ask([(experiment, groups)], ("run",), out=folder, restarts=3, quick=True),
        after_task=show,
    )
    assert shown == [20, 40, 60]
    assert done == runner.Done(folder, store.Ending(How.COMPLETE), ExitCode.NOT_WRITTEN)
    assert "sealift: the page was not written: ValueError: no ink" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    check(folder, whole=True)


def test_two_runs_into_one_folder_are_an_error(folder: Path, tmp_path: Path) -> None:
    file = slow_file(tmp_path)
    process = start("run", folder, 12, 1, file)
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
    assert [sample is not None for sample in last.samples] == [False, False, True, False, True]
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
    code, said = run("run", folder, 60, 1, experiment_file(tmp_path, "absent"))
    assert code == ExitCode.NOTHING_RAN
    assert "nothing could be measured, for the reasons above" in said
    assert store.read(folder).is_whole
    assert "<html" in (folder / names.REPORT).read_text(encoding="utf-8")


def test_a_budget_that_is_used_up_leaves_the_rest_for_a_resume(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "GRACE_S_MIN", 1.5)
    file = experiment_file(tmp_path, "first", "rather slow to prepare")
    code, said = run("run", folder, 2, 1, file)
    assert code == 0, said
    read = check(folder, whole=False)
    (planned,) = read.plan.experiments
    assert blocks_least(planned) <= planned.blocks < BLOCKS
    reason = f"2 s were too short for {planned.blocks} of {2 * planned.blocks} blocks"
    assert read.ending == store.Ending(How.TIME_UP, reason)
    assert re.search(
        rf"{reason}; the rest takes about \d+ s: sealift lab run --resume {folder}\n", said
    )
    assert said.count("--resume") == 1
    assert [len(read.blocks("made-up", group)) for group in (0, 1)] == [planned.blocks, 0]
    skipped = [each.skipped for each in read.verified]
    assert skipped == ["", "", *["no time was left to prepare it"] * 2]
    assert run("resume", folder)[0] == 0
    assert [each.skipped for each in check(folder, whole=True).verified] == [""] * 4


def test_figures_that_a_budget_can_not_hold_are_told_and_not_waited_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "GRACE_S_MIN", 0.5)
    code, said = run("run", folder, 1, 1, experiment_file(tmp_path, "takes long", "second"))
    assert code == ExitCode.NOTHING_RAN, said
    read = check(folder, whole=False)
    assert read.ending is not None
    assert read.ending.how is How.TIME_UP
    assert f"{read.ending.reason}; the rest takes about " in said


def test_experiments_come_one_after_the_other_and_what_has_no_time_is_told_in_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "GRACE_S_MIN", 0.5)
    first = experiment_file(tmp_path, "first", "second")
    slow, last = (
        experiment_file(tmp_path, "first", "rather slow to prepare", name=name)
        for name in ("slow", "last")
    )
    code, said = run("run", folder, 5, 2, first, slow, last)
    assert code == 0, said
    read = check(folder, whole=False)
    planned = read.plan.experiment("made-up")
    assert [len(read.blocks("made-up", group)) for group in (0, 1)] == [planned.blocks] * 2
    assert [restart for restart, _ in read.blocks("made-up", 0)] == sorted(
        restart for restart, _ in read.blocks("made-up", 0)
    )
    order = (folder / names.SAMPLES).read_text(encoding="utf-8").splitlines()
    begun = list(dict.fromkeys(json.loads(line)["experiment"] for line in order))
    assert begun[0] == "made-up"
    assert len(begun) < 3
    assert read.ending == store.Ending(
        How.TIME_UP, f"5 s were too short for {3 - len(begun)} of 3 experiments"
    )
    lines = [line for line in said.splitlines() if line.startswith("sealift: ")]
    assert len(lines) == 1
    assert "the rest takes about " in lines[0]
    # A resume has a budget, too, if it is given one.
    begin_s = time.monotonic()
    again = runner.resume(folder, budget_s=0.5)
    assert time.monotonic() - begin_s < 20
    assert again.ending.how is How.TIME_UP
    code, said = run("resume", folder)
    assert code == 0, said
    assert "sealift: the rest takes about " in said
    check(folder, whole=True)


def test_a_process_reads_of_the_run_only_what_its_experiment_has(
    folder: Path, tmp_path: Path
) -> None:
    files = [experiment_file(tmp_path, "first", "second", name=name) for name in ("one", "two")]
    assert run("run", folder, 60, 1, *files)[0] == 0
    whole, one = store.read(folder), store.read(folder, of="one")
    assert one.blocks("one", 1) == whole.blocks("one", 1)
    assert one.blocks("one", 1)
    assert one.restarts == {"one": 1}
    assert not one.blocks("two", 1)


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
    assert code == ExitCode.PART_FAILED, said
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


def test_what_can_not_be_replayed_is_told_with_what_can(whole_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "README.md"
    other.write_text("no run", encoding="utf-8")
    for given in (other, whole_run / names.SAMPLES):
        with pytest.raises(
            store.StoreError, match=r"neither the folder of a run nor its plan\.json"
        ):
            runner.replay(given, tmp_path / "new", command=())
    with pytest.raises(store.StoreError, match=f"the nearest is {whole_run}$"):
        runner.replay(whole_run / names.SAMPLES, tmp_path / "new", command=())
    assert not (tmp_path / "new").exists()


def test_a_replay_has_the_same_plan_in_a_new_folder(whole_run: Path, folder: Path) -> None:
    code, said = run("replay", whole_run / names.PLAN, folder)
    assert code == 0, said
    old, new = store.read_plan(whole_run), check(folder, whole=True).plan
    command = ("replay", str(whole_run / names.PLAN))
    assert new == replace(old, created=new.created, command=command)
    code, said = run("replay", whole_run, folder)
    assert code == ExitCode.USAGE
    assert "holds a run already" in said


PUBLISHES = """

from dataclasses import replace
from sealift.lab.published import Comparison, Kind

def published(found):
    WHAT
    here = found.rows[0].ns_per_operation
    return [Comparison("mine", "time", 9.0, "ns", "a book", Kind.VALUE, here, "as printed")]

EXPERIMENT = replace(EXPERIMENT, published=published)
"""


def publishing_file(folder: Path, what: str = "pass") -> Path:
    file = experiment_file(folder, "first", "second")
    text = file.read_text(encoding="utf-8") + PUBLISHES.replace("WHAT", what)
    file.write_text(text, encoding="utf-8")
    return file


def test_what_an_own_experiment_compares_is_kept_in_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    file = publishing_file(tmp_path)
    code, said = run("run", folder, 60, 1, file)
    assert code == 0, said
    file.unlink()
    read = check(folder, whole=True)
    (comparison,) = read.published["made-up"]
    assert (comparison.published, comparison.unit) == (9.0, "ns")
    assert comparison.here == summarise(read)["made-up"].rows[0].ns_per_operation


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("raise KeyError('no such row')", "KeyError: 'no such row'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return [7]", "TypeError: published() gave 7; right would be a Comparison"),
        ("return None", "TypeError: 'NoneType' object is not iterable"),
    ],
)
def test_a_comparison_that_fails_is_noted_and_ends_nothing(
    folder: Path, tmp_path: Path, what: str, said: str
) -> None:
    code, told = run("run", folder, 60, 1, publishing_file(tmp_path, what))
    assert code == 0, told
    note = f"made-up: nothing is compared with what was published, because that failed: {said}"
    read = check(folder, whole=True)
    assert read.notes == (note,)
    assert note in told
    assert read.published == {}
