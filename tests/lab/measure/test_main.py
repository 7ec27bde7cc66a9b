"""`python -m sealift_lab.measure`, from a file of one's own to a folder that can be judged."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lab.measure.running import (
    blocks,
    ended,
    experiment_file,
    has_begun,
    lines,
    start,
    wait_until,
)

from sealift.exit_code import ExitCode
from sealift_lab.measure import __main__ as program
from sealift_lab.measure import watch_processes
from sealift_lab.measure.__main__ import main
from sealift_lab.measure.watch_processes import Child
from sealift_lab.measure.write_folder import create
from sealift_lab.model.run import NOTES, SENSORS, Surroundings
from sealift_lab.run.read_folder import Run

MODULE = "sealift_lab.measure"


def test_a_run_is_measured_from_a_file_of_ones_own_to_its_ending(tmp_path: Path) -> None:
    file, run = experiment_file(tmp_path, "first", "second"), tmp_path / "run"
    words = ("--processes", "2", "--blocks", "3", "--seed", "7", "--out", run)
    code, said = ended(start(MODULE, file, *words))
    assert code == 0, said
    assert blocks(run) == {
        group: [(process, 3 * process + number) for process in range(2) for number in range(3)]
        for group in range(2)
    }
    plan = json.loads((run / "plan.json").read_text(encoding="utf-8"))
    assert (plan["schema"], plan["seed"], plan["processes"]) == ("sealift-run/2", 7, 2)
    assert (plan["budget_s"], plan["experiments"][0]["blocks"]) == (0, 3)
    assert plan["command"][:3] == ["python", "-m", "sealift_lab.measure"]
    assert lines(run, "sensors.jsonl")[0]["values"]["load_1min"] >= 0
    assert {each["restart"] for each in lines(run, "verify.jsonl")} == {0, 1}
    ending = json.loads((run / "ending.json").read_text(encoding="utf-8"))
    assert ending == {"ending": "complete", "reason": ""}
    assert "waiting, process 1 of 2; experiment 1 of 1, after 0 s\n" in said
    read = Run(run)
    assert read.samples.height == 36
    assert len(read.reports) == 8
    assert read.machine.facts["python"].value
    assert {"load_1min", "steal_s"} <= read.machine.sensors.keys()
    assert read.notes == []


def test_ctrl_c_ends_a_run_in_good_order(tmp_path: Path) -> None:
    file, run = experiment_file(tmp_path, "first", "second", pause_s_max=9), tmp_path / "run"
    process = start(MODULE, file, "--blocks", "1000", "--out", run)
    wait_until(lambda: has_begun(run, 3))
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert code == ExitCode.INTERRUPTED
    assert "interrupted: SIGINT came" in said
    assert len(blocks(run)[0]) > 1
    assert len(lines(run, "verify.jsonl")) == 4
    ending = json.loads((run / "ending.json").read_text(encoding="utf-8"))
    assert ending["ending"] == "interrupted"


@pytest.mark.parametrize(
    ("who", "code", "text"),
    [
        (("absent",), ExitCode.NOTHING_RAN, "waiting, absent: not on this machine; plug it in"),
        (("first", "wrong later"), ExitCode.WRONG_RESULT, "computed wrong: tag 7 is wrong"),
        (("first", "raises always"), ExitCode.PART_FAILED, "failed: KeyError: 'nothing there'"),
        (("wrong at once", "raises always"), ExitCode.WRONG_RESULT, "wrong: tag 3 is wrong"),
        (
            ("no room once",),
            ExitCode.NOT_WRITTEN,
            "mine.csv was not written: No space left on device",
        ),
    ],
)
def test_the_exit_code_says_what_became_of_the_arms(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    who: tuple[str, ...],
    code: int,
    text: str,
) -> None:
    file = experiment_file(tmp_path, *who)
    words = [str(file), "--processes", "1", "--blocks", "6", "--out", str(tmp_path / "run")]
    assert main(words) == code
    assert text in capsys.readouterr().err


def test_words_that_are_wrong_are_refused_with_what_would_be_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    for words, why in (
        (["--threads", "1,x", "--out", out], "'1,x'; right would be thread counts, as in 1,2,4"),
        ([], "the following arguments are required: --out"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert why in capsys.readouterr().err
    file = str(experiment_file(tmp_path, "first"))
    assert main([file, "--processes", "0", "--out", out]) == ExitCode.USAGE
    assert "0 processes; right would be 1 or more" in capsys.readouterr().err
    (full := tmp_path / "full").mkdir()
    (full / "letter.txt").touch()
    assert main([file, "--out", str(full)]) == ExitCode.USAGE
    assert f"{full} holds letter.txt; name a folder that is" in capsys.readouterr().err
    assert main([str(tmp_path / "none.py"), "--out", out]) == ExitCode.USAGE
    assert "none.py is no file of Python source" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("device", "code", "told"),
    [
        ("cdua", ExitCode.USAGE, "no device is called 'cdua' (did you mean 'cuda'?)"),
        ("opencl:1000", ExitCode.NOTHING_RAN, "opencl:1000 is absent: "),
    ],
)
def test_a_device_that_is_named_and_not_here_is_told_and_nothing_is_written(
    device: str, code: ExitCode, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert main(["gpu-copies", "--device", device, "--out", str(run)]) == code
    assert told in capsys.readouterr().err
    assert not run.exists()


def test_what_failed_in_one_process_makes_no_complete_run(tmp_path: Path) -> None:
    file, run = experiment_file(tmp_path, "first", "raises once"), tmp_path / "run"
    words = [str(file), "--processes", "2", "--blocks", "3", "--out", str(run)]
    assert main(words) == ExitCode.PART_FAILED
    ending = json.loads((run / "ending.json").read_text(encoding="utf-8"))
    assert ending["ending"] == "failed"
    assert "waiting, raises once: failed: KeyError: 'nothing there'" in ending["reason"]
    last = [line for line in lines(run, "samples.jsonl") if line["restart"] == 1]
    assert {line["arm"] for line in last} == {0, 1}


def test_a_killed_process_leaves_whole_blocks_and_the_next_one_numbers_on(tmp_path: Path) -> None:
    file, run = experiment_file(tmp_path, "first", "killed once"), tmp_path / "run"
    words = ("--processes", "2", "--blocks", "12", "--out", run)
    code, said = ended(start(MODULE, file, *words))
    assert code == ExitCode.PART_FAILED, said
    assert "process 0 was ended by signal 9 (SIGKILL)" in said
    for group in blocks(run).values():
        kept = sum(process == 0 for process, _ in group)
        assert 0 < kept < 12
        own = [(0, number) for number in range(kept)]
        assert group == own + [(1, kept + number) for number in range(12)]


def test_what_an_experiment_prints_goes_to_standard_error(tmp_path: Path) -> None:
    file = experiment_file(tmp_path, "prints")
    words = ("--processes", "1", "--blocks", "1", "--out", tmp_path / "run")
    assert "\nprinted on standard output\n" in ended(start(MODULE, file, *words))[1]


def test_a_process_that_hangs_is_stopped_and_other_experiments_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = experiment_file(tmp_path, "first", "slow to prepare", name="hangs")
    file, run = experiment_file(tmp_path, "first", "second"), tmp_path / "run"
    flown_s, listen = list[float](), Child.events

    def events(child: Child) -> Iterator[dict[str, Any] | None]:
        """Once one hangs and all that it said was heard, time flies."""
        for event in listen(child):
            if event is None and not flown_s and (run / "slow-to-prepare-once").exists():
                flown_s.append(700.0)
            yield event

    monkeypatch.setattr(Child, "events", events)
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(flown_s))
    monkeypatch.setattr(watch_processes, "time", clock)
    words = [str(hangs), str(file), "--processes", "2", "--blocks", "2", "--out", str(run)]
    assert main(words) == ExitCode.PART_FAILED
    said = capsys.readouterr().err
    assert re.search(r"hangs: process 0 gave no sign for \d+ s and was stopped; it is not", said)
    assert "hangs, process 2 of 2" not in said
    assert "waiting, process 2 of 2; experiment 2 of 2" in said
    assert {line["experiment"] for line in lines(run, "samples.jsonl")} == {"waiting"}


def test_devices_that_are_for_tests_only_answer_no_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, run = experiment_file(tmp_path, "first", "absent"), tmp_path / "run"
    text = file.read_text(encoding="utf-8").replace('"is_fast": False', '"role": "test only"')
    file.write_text(text, encoding="utf-8")
    counts = ["--processes", "1", "--blocks", "2", "--out"]
    assert main([str(file), *counts, str(run)]) == ExitCode.NOTHING_RAN
    said = "only devices that are for tests could be measured, so there is no answer: waiting\n"
    assert said in capsys.readouterr().err
    real = experiment_file(tmp_path, "first", name="real")
    assert main([str(file), str(real), *counts, str(tmp_path / "both")]) == 0
    assert said in capsys.readouterr().err


def test_a_device_that_is_found_can_be_named_and_mappings_need_be_no_dicts(tmp_path: Path) -> None:
    file, run = tmp_path / "own.py", tmp_path / "run"
    file.write_text(OWN, encoding="utf-8")
    words = [str(file), "--processes", "1", "--blocks", "1", "--out", str(run)]
    assert main([*words, "--device", "cpu"]) == 0
    (planned,) = json.loads((run / "plan.json").read_text(encoding="utf-8"))["experiments"]
    devices = [cell["device"] for cell in planned["groups"][0]]
    assert (devices[:2], devices.count("cpu")) == (["cpu", "library"], 1)
    assert planned["preferred"] == planned["charts"][0]["where"] == {"device": "cpu"}
    assert planned["legend"] == planned["columns"] == {"a": "b"}


@pytest.mark.parametrize("name", [NOTES, SENSORS])
def test_a_journal_that_can_not_be_opened_ends_a_run_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def create_with_link(path: Path, *rest: Any) -> None:
        create(path, *rest)
        (path / name).symlink_to("nowhere")

    monkeypatch.setattr(program, "create", create_with_link)
    words = [str(experiment_file(tmp_path, "first")), "--out", str(tmp_path / "run")]
    assert main(words) == ExitCode.NOT_WRITTEN
    assert f"{name} was not written: it is a link; remove it" in capsys.readouterr().err


def test_a_signal_before_the_first_process_ends_a_run_in_good_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> Surroundings:
        os.kill(os.getpid(), signal.SIGTERM)
        return Surroundings({})

    monkeypatch.setattr(program, "surroundings", interrupted)
    run = tmp_path / "run"
    words = [str(experiment_file(tmp_path, "first")), "--out", str(run)]
    assert main(words) == ExitCode.INTERRUPTED
    ending = json.loads((run / "ending.json").read_text(encoding="utf-8"))
    assert ending == {"ending": "interrupted", "reason": "SIGTERM came"}


OWN = """
from types import MappingProxyType
from sealift_lab import Axis, Chart, Experiment, timed

CPU, ANY = MappingProxyType({"device": "cpu"}), MappingProxyType({"a": "b"})
EXPERIMENT = Experiment(
    name="own",
    title="Own",
    axes=(Axis("device", "device"),),
    compare="device",
    cells=lambda scope: [{"device": each} for each in scope.devices],
    arm=lambda cell, context: timed(lambda: None),
    preferred=CPU,
    charts=(Chart("device", "device", "time", "Own", where=CPU),),
    legend=ANY,
    columns=ANY,
)
"""
