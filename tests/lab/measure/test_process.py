"""Measuring processes, with arms that do everything that arms can do wrong."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.measure.running import blocks, events, job, lines, new_run

from sealift_lab.measure.process import COMMAND, GroupJob, Job


def test_a_process_measures_its_blocks_and_reports_each_arm(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first", "second")
    found, failed = events(job(run, 2, process=3))
    assert failed == ""
    kinds = [event["event"] for event in found]
    assert kinds == ["preparing"] * 2 + ["measuring"] + ["block"] * 4 + ["ending"]
    prepared = {each["arm"]: each["cell"] for each in found[:2]}
    assert prepared[0] == {"size_bytes": 16, "who": "first"}
    assert set(found[3]["ns_per_operation"]) == {"0", "1"}
    assert found[3]["payload_bytes"] == {"0": 16, "1": 16}
    assert found[3]["clock_ghz"] is None
    assert found[-1]["ending"] == "complete"
    assert blocks(run) == {0: [(3, 0), (3, 1), (3, 2), (3, 3)]}
    reports = lines(run, "verify.jsonl")
    assert [each["arm"] for each in reports] == [0, 1]
    facts = {"checked_against": "itself", "samples": 12, "is_fast": "False"}
    assert reports[0]["facts"] == facts
    assert {each["restart"] for each in reports} == {3}


def test_what_a_library_changes_in_the_environment_reaches_no_measuring_process(
    tmp_path: Path,
) -> None:
    c_library = ctypes.CDLL(None)
    # By C, as PoCL does: Python doesn't see it, and none that inherits this starts.
    c_library.setenv(b"PYTHONHOME", b"/nowhere", 1)
    try:
        found, failed = events(job(new_run(tmp_path, "first", "second"), 2))
    finally:
        c_library.unsetenv(b"PYTHONHOME")
    assert (failed, found[-1]["ending"]) == ("", "complete")


def test_arms_are_prepared_in_an_order_that_is_drawn_for_each_process(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first", "second")
    first = [events(job(run, 2, process=each))[0][0]["arm"] for each in range(8)]
    assert set(first) == {0, 1}


def test_blocks_go_on_from_the_first_one(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first", "second")
    found, _ = events(job(run, 2, groups=[GroupJob(1, [0, 1], 7, 2)]))
    samples = lines(run, "samples.jsonl")
    assert [each["block"] for each in samples] == [7] * 3 + [8] * 3
    assert {each["group"] for each in samples} == {1}
    assert sum(event["event"] == "block" for event in found) == 2


@pytest.mark.parametrize(
    ("who", "kind", "text", "again"),
    [
        ("absent", "skipped", "not on this machine; plug it in", ""),
        ("no memory", "skipped", "too little memory is free", "transient"),
        ("raises always", "skipped", "failed: KeyError: 'nothing there' (", "failed"),
        ("raises later", "skipped", "failed while it was measured: KeyError: 'gone' (", "failed"),
        ("wrong at once", "wrong", "tag 3 is wrong", None),
        ("wrong later", "wrong", "tag 7 is wrong", None),
    ],
)
def test_an_arm_that_can_not_be_measured_is_left_out_and_the_others_go_on(
    tmp_path: Path, who: str, kind: str, text: str, again: str | None
) -> None:
    run = new_run(tmp_path, "first", who, "third")
    found, failed = events(job(run, 3))
    assert failed == ""
    (event,) = [event for event in found if event["event"] == kind]
    assert (event["group"], event["arm"], event.get("again")) == (0, 1, again)
    assert event["text"].startswith(text)
    assert len(blocks(run)[0]) == 4
    (line,) = [each for each in lines(run, "verify.jsonl") if each["arm"] == 1]
    assert line[kind] == event["text"]
    assert line["may_pass"] == bool(again)


def test_the_first_arm_that_there_is_becomes_the_reference(tmp_path: Path) -> None:
    run = new_run(tmp_path, "absent", "second", "third")
    found, _ = events(job(run, 3))
    assert blocks(run) == {0: [(0, number) for number in range(4)]}
    assert set(found[-2]["ns_per_operation"]) == {"1", "2"}


def test_without_the_reference_of_earlier_blocks_a_group_is_not_measured(tmp_path: Path) -> None:
    run = new_run(tmp_path, "absent", "second", "third")
    found, _ = events(job(run, 3, groups=[GroupJob(0, [0, 1, 2], 4, 4, reference=0)]))
    (note,) = [event["text"] for event in found if event["event"] == "note"]
    assert note.startswith("size_bytes=16, who=absent could not be measured in process 0")
    assert blocks(run) == {}
    assert found[-1] == {"event": "ending", "ending": "complete"}


def test_a_report_that_can_not_be_stored_is_noted_with_its_line(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first", "bad report")
    found, _ = events(job(run, 2))
    (note,) = [event["text"] for event in found if event["event"] == "note"]
    assert "who=bad report gave no report: TypeError: report() has facts=[1]" in note
    assert lines(run, "verify.jsonl")[1]["facts"] == {}


@pytest.mark.parametrize("who", ["fills the disk", "no room once"])
def test_a_full_disk_is_an_event_that_says_what_to_do(tmp_path: Path, who: str) -> None:
    run = new_run(tmp_path, "first", who)
    found, failed = events(job(run, 2))
    assert found[-1]["event"] == "not written"
    assert "; make room there, or name another folder" in found[-1]["text"]
    assert failed == ""
    blocks(run)


def test_a_process_that_leaves_has_failed(tmp_path: Path) -> None:
    _, failed = events(job(new_run(tmp_path, "first", "leaves"), 2))
    assert failed == "left with code 0 before its work was done"


def test_only_groups_that_can_be_measured_in_time_are_prepared(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first", "second")
    groups = [GroupJob(0, [0, 1], 0, 4), GroupJob(1, [0, 1], 0, 10_000)]
    found, _ = events(job(run, 2, groups=groups, latest_s=time.monotonic() + 100))
    left_out = [event for event in found if event["event"] == "skipped"]
    assert [(e["group"], e["arm"], e["again"]) for e in left_out] == [
        (1, 0, "no time"),
        (1, 1, "no time"),
    ]
    assert list(blocks(run)) == [0]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"experiment": "yours"}, "plan.json: KeyError: 'yours'"),
        ({"folder": Path("/nowhere")}, "plan.json: FileNotFoundError"),
    ],
)
def test_a_job_without_a_plan_fails_with_a_reason(
    tmp_path: Path, change: dict[str, object], text: str
) -> None:
    of: Job = replace(job(new_run(tmp_path, "first"), 1), **change)  # type: ignore[arg-type]
    found, failed = events(of)
    assert failed == ""
    assert found[-1]["event"] == "failed"
    assert text in found[-1]["text"]


def test_a_process_whose_parent_is_gone_measures_nothing(tmp_path: Path) -> None:
    run = new_run(tmp_path, "first")
    # Process 1 is not its parent.
    of = job(run, 1, parent=1)
    done = subprocess.run(COMMAND, input=str(of).encode(), capture_output=True, timeout=300)
    os.close(of.lock)
    assert done.returncode == -signal.SIGKILL
    assert not (run / "samples.jsonl").exists()


def test_measuring_loads_no_package_beside_the_extension() -> None:
    code = (
        "import sys; from sealift_lab.measure import process; import sealift_lab.measure.native, "
        "sealift_lab.measure.crypto, sealift_lab.measure.__main__; "
        "print(*{name.partition('.')[0] for name in sys.modules} & set(sys.argv[1].split()))"
    )
    suspects = "numpy polars msgspec scipy rich typer jinja2 altair vl_convert psutil cryptography"
    command = [sys.executable, "-c", code, suspects]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
