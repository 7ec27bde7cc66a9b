"""`python -m sealift_lab.measure`, from a file of one's own to a folder that can be judged."""

import json
import signal
from pathlib import Path

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
from sealift_lab.measure.__main__ import main
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
    assert "waiting, process 1 of 2" in said
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
    assert main([file, "--out", str(tmp_path)]) == ExitCode.USAGE
    assert f"{tmp_path} holds waiting.py; name a folder that is" in capsys.readouterr().err
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
