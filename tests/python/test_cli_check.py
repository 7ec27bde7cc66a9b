"""`sealift check`: devices that compute right, one that does not, and those that are not here."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from select import select
from time import perf_counter
from typing import Any

import pytest

import run_report
from command import invoke, process
from conftest import skip
from sealift import InputError, UnknownDeviceError, _sealift
from sealift.cli import check, lab
from sealift.exit_code import ExitCode
from test_cli import without

ROOT = Path(__file__).parents[2]
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "deps"


def test_a_right_device_has_a_line_with_counts_where_there_is_no_lab() -> None:
    ran = without("sealift_lab", "check", "library", "--seed", "7")
    assert ran.returncode == 0
    assert all("library: checked for " in line for line in ran.stderr.splitlines())
    titles, row = ran.stdout.splitlines()
    assert titles.split()[:5] == ["device", "verdict", "checks", "messages", "refused"]
    device, verdict, passed, _, checks, messages, refused, _, compared_with = row.split()
    assert (device, verdict, compared_with) == ("library", "right", "cpu")
    assert passed == checks
    assert int(refused.replace(",", "")) > 1_000
    assert int(messages.replace(",", "")) > 2 * int(refused.replace(",", ""))


def test_what_a_library_changes_in_the_environment_reaches_no_process_that_checks() -> None:
    c_library = ctypes.CDLL(None)
    # By C, as PoCL does: Python doesn't see it, and none that inherits this starts.
    c_library.setenv(b"PYTHONHOME", b"/nowhere", 1)
    try:
        ran = invoke("check", "library")
    finally:
        c_library.unsetenv(b"PYTHONHOME")
    assert ran.exit_code == 0, ran.output


def test_json_has_what_each_check_did() -> None:
    ran = invoke("check", "cpu:isa=model", "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert (found["schema"], found["seed"], found["absent"]) == ("sealift-check/1", 1, {})
    (device,) = found["devices"]
    assert (device["device"], device["role"]) == ("cpu:isa=model", "oracle")
    texts = {each["check"]: each["text"] for each in device["checks"] if each["passed"]}
    assert len(texts) == len(device["checks"]) == 17
    published = texts["every vector of the small set gives the published result"]
    assert published.startswith("published vectors 341, 288 passed, 50 refused: does not compute")
    assert "agree with library" in texts["random messages agree with another implementation"]


def test_a_device_that_computes_wrong_is_named_with_the_check_the_message_and_the_seed() -> None:
    ran = invoke("check", "fault:wrong=100(cpu)", "--seed", "3")
    assert ran.exit_code == ExitCode.WRONG_RESULT
    (row,) = ran.stdout.splitlines()[1:]
    assert row.startswith("fault:wrong=100(cpu)  WRONG")
    assert ": not so: every vector of the small set gives the published result: nist-" in ran.stderr
    assert ran.stderr.count("[seed 3]") > 1
    assert ran.stderr.endswith(
        "sealift: don't use what computes something wrong: fault:wrong=100(cpu)\n"
    )


def test_what_is_no_device_or_is_not_here_is_told_as_elsewhere() -> None:
    for words, code, told in (
        ("cdua", ExitCode.USAGE, "no device is called 'cdua' (did you mean 'cuda'?)"),
        ("cpu cpu", ExitCode.USAGE, "a device stands twice"),
        ("cpu:isa=foo", ExitCode.USAGE, '"foo" is no instruction-set path; there are model'),
        ("opencl:1000", ExitCode.NOTHING_RAN, "opencl:1000 is absent: "),
    ):
        ran = invoke("check", *words.split())
        assert (ran.exit_code, ran.stdout) == (code, "")
        assert told in ran.stderr


def test_what_names_a_device_or_a_check_that_is_none_raises() -> None:
    with pytest.raises(UnknownDeviceError, match="no driver is called"):
        _sealift.DeviceCheck("speed", seed=1)
    with pytest.raises(InputError, match="there is no check speed; there are every_vector"):
        _sealift.DeviceCheck("library", seed=1).run("speed")


def test_devices_that_crash_hang_or_do_not_open_keep_no_other_from_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_devices.py").write_text(BROKEN_DEVICES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(lab, "extension", lambda: import_module("broken_devices"))
    flown_s = list[float]()

    def look(*of: Any) -> Any:
        """Once one hangs and all that it said was read, time flies."""
        found = select(*of)
        if not any(found) and not flown_s and (tmp_path / "hangs").exists():
            flown_s.append(700.0)
        return found

    monkeypatch.setattr(check, "select", look)
    monkeypatch.setattr(check, "perf_counter", lambda: perf_counter() + sum(flown_s))
    ran = invoke("check", *(f"cpu:workers={each}" for each in range(1, 6)), "--json")
    assert ran.exit_code == ExitCode.WRONG_RESULT, ran.output
    found = json.loads(ran.stdout)
    assert found["absent"] == {"cpu:workers=1": "it was unplugged"}
    texts = [(each["is_right"], each["checks"][1]["text"]) for each in found["devices"]]
    assert texts == [
        (False, "its process was ended by signal 9 (Killed)"),
        (False, "it did not answer within 10 minutes"),
        (False, "its process ended with code 0"),
        (True, "done"),
    ]
    assert "sealift: it was unplugged\n" in ran.stderr
    assert "cpu:workers=2: not so: the second: its process was ended by signal 9" in ran.stderr


def test_ctrl_c_ends_the_check_of_a_device_that_hangs() -> None:
    command = [sys.executable, "-m", "sealift", "check", "fault:hang=1(cpu)"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        assert ran.stderr is not None
        assert "fault:hang=1(cpu): checked for" in ran.stderr.readline()
        ran.send_signal(signal.SIGINT)
        # The process that hangs has standard error, too: it is read to its end.
        _, told = ran.communicate(timeout=600)
    assert told.endswith("sealift: interrupted\n")
    assert ran.returncode == ExitCode.INTERRUPTED


def test_a_gpu_that_is_made_up_passes_with_tables_and_without() -> None:
    library = BUILT / "libfake_cuda.so"
    if not library.exists():
        skip("fake-cuda", f"{library} is not built: call `make test-python`")
    run_report.ran("fake-cuda")
    ran = process("check", "cuda", "cuda:strict=on", SEALIFT_LIBCUDA=str(library))
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[:2] for line in ran.stdout.splitlines()[1:]] == [
        ["cuda", "right"],
        ["cuda:strict=on", "right"],
    ]


def test_opencl_on_this_processor_passes() -> None:
    ran = invoke("check", "opencl:0")
    if ran.exit_code == ExitCode.NOTHING_RAN:
        skip("opencl", ran.stderr.strip())
    run_report.ran("opencl")
    assert ran.exit_code == 0, ran.stderr


BROKEN_DEVICES = """
import os, time
from pathlib import Path
from types import SimpleNamespace
from sealift import DeviceError, Engine, drivers

class DeviceCheck:
    checks, compared_with = ["the_first", "the_second"], "library"

    def __init__(self, device, *, seed):
        if device == "cpu:workers=1":
            raise DeviceError("it was unplugged")
        self.device = SimpleNamespace(name=device, role="real", detail="")

    def run(self, check):
        print("what a driver prints", flush=True)
        if check == "the_second":
            HOW.get(self.device.name, print)()
        return SimpleNamespace(passed=True, text="done", messages=1, refused=0)

HOW = {
    "cpu:workers=2": lambda: os.kill(os.getpid(), 9),
    "cpu:workers=3": lambda: (Path(__file__).with_name("hangs").touch(), time.sleep(1000)),
    "cpu:workers=4": lambda: os._exit(0),
}
"""
