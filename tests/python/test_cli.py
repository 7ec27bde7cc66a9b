"""The command line's root, and `sealift devices`."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from command import invoke, process
from sealift import __version__, drivers
from sealift.cli import output
from sealift.cli.output import columns
from sealift.exit_code import ExitCode


def test_help_names_the_commands_and_teaches_with_examples() -> None:
    shown = invoke("--help").output
    for command in ("check", "devices", "advise", "lab", "sealift advise --quick"):
        assert command in shown
    assert invoke("--version").output == f"sealift {__version__}\n"


def test_help_says_what_every_exit_code_means() -> None:
    lines = [line.split(maxsplit=1) for line in invoke("--help").output.splitlines()]
    told = {line[0]: line[1] for line in lines if len(line) == 2 and line[0].isdecimal()}
    assert set(told) == {"0", *(str(int(code)) for code in ExitCode)}


@pytest.mark.parametrize("command", ["", "lab"])
def test_no_line_of_a_list_of_commands_is_cut(command: str) -> None:
    listed = invoke(*command.split(), "--help").output.partition("Commands:")[2]
    assert listed
    assert "..." not in listed.partition("\n\n")[0]


@pytest.mark.parametrize("command", ["", "check", "devices", "explain"])
def test_help_imports_nothing_of_the_lab(command: str) -> None:
    code = (
        "import sys\n"
        "from sealift.cli.root import app\n"
        f"app([*{command.split()!r}, '--help'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.startswith('sealift_lab')])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_without_the_lab_its_commands_are_not_listed_and_say_what_brings_them() -> None:
    shown = without("sealift_lab", "--help")
    assert "advise" not in shown.stdout.partition("Commands:")[2].partition("\n\n")[0]
    assert "python -m pip install sealift-lab" in shown.stdout
    for command in ("advise", "lab", "dpu"):
        ran = without("sealift_lab", command, "--help")
        assert (ran.returncode, ran.stdout) == (ExitCode.USAGE, "")
        assert ran.stderr == (
            f"sealift: `sealift {command}` comes with the package sealift-lab: "
            "python -m pip install sealift-lab\n"
        )
    batch = ("explain", "--messages", "1", "--bytes", "1")
    card = without("sealift_lab", *batch, "--device", "quad-hifn-7751")
    assert card.returncode == ExitCode.USAGE
    assert card.stderr == (
        "sealift: --device: cards are projected by the package sealift-lab: "
        "python -m pip install sealift-lab\n"
    )
    assert without("sealift_lab", "devices").returncode == 0


def test_without_typer_one_sentence_says_what_brings_it() -> None:
    ran = without("typer", "devices")
    assert (ran.returncode, ran.stdout) == (ExitCode.USAGE, "")
    assert ran.stderr == "sealift: commands need: python -m pip install 'sealift[cli]'\n"


def without(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command where a module is not installed."""
    code = f"import sys; sys.modules[{module!r}] = None; from sealift.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(("width", "is_below"), [(80, False), (62, False), (61, True), (45, True)])
def test_where_a_terminal_is_narrow_the_last_column_stands_below_whole(
    width: int,
    is_below: bool,  # noqa: FBT001 (a parameter of the test)
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(output, "sys", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    name, text = "a-name-of-thirty-two-characters.", "It measures what takes many words to tell"
    lines = columns([("experiment", "id", "measures"), (name, "003-F5", text)]).splitlines()
    assert max(map(len, lines)) <= width
    at = next(at for at, line in enumerate(lines) if name in line)
    assert " ".join(" ".join(lines[at:]).split()) == f"{name} 003-F5 {text}"
    assert (lines[at] == f"{name}  003-F5") == is_below


def test_an_unknown_command_ends_with_2_and_names_what_is_near() -> None:
    for command, said in (
        ("bench", "No such command 'bench'"),
        ("advize", "advise"),
        ("gpu", "devices cuda and opencl, and `sealift devices` says what is here"),
        ("CUDA", "`sealift lab run 'gpu-*'` measures them"),
        ("h200", "devices cuda and opencl, and `sealift devices` says what is here"),
        ("lab rnu", "run"),
        ("lab plot", "RUN"),
    ):
        ran = invoke(*command.split())
        assert ran.exit_code == 2
        assert said in ran.stderr


def test_devices_lists_every_driver_and_each_instruction_set() -> None:
    found = json.loads(invoke("devices", "--json").output)
    by_spec = {device["spec"]: device for device in found}
    assert set(by_spec) >= {driver.name for driver in drivers()}
    assert {"cpu:isa=model", "cpu:isa=aesni", "cpu:isa=vaes256", "cpu:isa=vaes512"} <= set(by_spec)
    for device in found:
        present = device["state"] == "present"
        assert present == (device["reason"] is None) == (device["role"] is not None)
        assert present == (device["workers"] is not None)
    devices, apart = invoke("devices").output.split("\n\n")
    table = devices.splitlines()
    assert table[0].split()[:4] == ["device", "state", "role", "workers"]
    whole = [device["spec"] for device in found if device["state"] != "incomplete"]
    assert [line.split()[0] for line in table[1:]] == whole
    # A driver that needs another device is not called absent, and stands apart.
    assert by_spec["fault"]["state"] == "incomplete"
    assert "fault" not in devices
    assert apart.splitlines()[0].split("  ")[0] == "no device alone"
    assert "wraps another device, write fault:fail=7(cpu)" in apart


def test_devices_names_the_library_that_a_machine_without_gpus_lacks(tmp_path: Path) -> None:
    for library in GPU_LIBRARIES.values():
        # Files that are no libraries, found before any other of their names.
        (tmp_path / library).touch()
    ran = process("devices", "--json", LD_LIBRARY_PATH=str(tmp_path), SEALIFT_LIBCUDA="")
    found = {each["spec"]: each for each in json.loads(ran.stdout)}
    for driver, library in GPU_LIBRARIES.items():
        device = found[driver]
        assert (device["state"], device["role"]) == ("absent", None)
        assert device["reason"].startswith(f"{library} is not on this machine (")
        assert "; install " in device["reason"]
        # Nor is it told again for each thing that one could set if it were here.
        assert [spec for spec in found if spec.startswith(driver)] == [driver]


def test_a_full_or_closed_standard_output_has_a_code_of_its_own() -> None:
    room = "sealift: No space left on device; give standard output room\n"
    for command in ("devices", "--help"):
        for sink, code, said in ((">/dev/full", 5, room), ("| true", 141, "")):
            line = f"set -o pipefail; {sys.executable} -m sealift {command} {sink}"
            shell = ["bash", "-c", line]
            ran = subprocess.run(shell, capture_output=True, text=True, timeout=600, check=False)
            assert (ran.returncode, ran.stdout, ran.stderr) == (code, "", said)


GPU_LIBRARIES = {"cuda": "libcuda.so.1", "opencl": "libOpenCL.so.1"}
