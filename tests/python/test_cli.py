"""The command line, in this process and in real ones."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner, Result

from sealift import LimitError, __version__, drivers
from sealift._sealift import Arms
from sealift.cli import app
from sealift.lab import native
from sealift.lab.native import NativeSampler, WrongResultError
from sealift.lab.plan import Cell
from sealift.lab.table import CSV_COLUMNS

SHORT = ("bench", "--sizes", "16", "--keys", "one", "--seconds", "0.5")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="sealift")


def process(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sealift", *arguments]
    environment = os.environ | variables
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )


def test_help_names_the_commands_and_teaches_with_examples() -> None:
    assert "devices" in invoke("--help").output
    assert "bench --quick" in invoke("--help").output
    shown = invoke("bench", "--help").output
    assert "sealift bench --sizes 128 --keys sessions:1024 --threads 1,2\n" in shown
    assert invoke("--version").output == f"sealift {__version__}\n"


def test_help_imports_nothing_of_the_lab() -> None:
    code = (
        "import sys; import sealift.cli; "
        "print([name for name in sys.modules if name.startswith('sealift.lab')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_devices_lists_every_driver_and_each_instruction_set() -> None:
    found = json.loads(invoke("devices", "--json").output)
    by_spec = {device["spec"]: device for device in found}
    assert set(by_spec) >= {driver.name for driver in drivers()}
    assert {"cpu:isa=model", "cpu:isa=aesni", "cpu:isa=vaes256", "cpu:isa=vaes512"} <= set(by_spec)
    for device in found:
        present = device["state"] == "present"
        assert present == (device["reason"] is None) == (device["role"] is not None)
        assert present == (device["workers"] is not None)
    table = invoke("devices").output.splitlines()
    assert table[0].split()[:4] == ["device", "state", "role", "workers"]
    assert [line.split()[0] for line in table[1:]] == [device["spec"] for device in found]


def test_a_short_bench_as_json_holds_machine_plan_rows_and_answer() -> None:
    ran = invoke(
        "bench", "--sizes", "16,128", "--keys", "sessions:64,fresh", "--seconds", "3", "--json"
    )
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["schema"] == "sealift-bench/1"
    real = [driver.name for driver in drivers() if driver.role == "real"]
    cells = {(row["keys"], row["size_bytes"]) for row in document["rows"]}
    assert cells == {(keys, size) for keys in ("sessions:64", "fresh") for size in (16, 128)}
    assert {row["device"] for row in document["rows"]} == set(real)
    assert set(document["checked_against"]) == set(real)
    for device, others in document["checked_against"].items():
        assert others
        assert device not in others
    assert document["plan"]["cells"] == 4
    assert document["answer"]
    clock_ghz = document["machine"]["core_clock_ghz"]["value"]
    for row in document["rows"]:
        cycles = clock_ghz and row["ns_per_message"]["median"] * clock_ghz / row["size_bytes"]
        assert row["cycles_per_byte"] == pytest.approx(cycles)


def test_csv_has_its_header_and_a_row_for_each_device() -> None:
    ran = invoke(*SHORT, "--devices", "library,reference,null", "--csv")
    assert ran.exit_code == 0, ran.stderr
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert list(rows[0]) == list(CSV_COLUMNS)
    assert [row["device"] for row in rows] == ["library", "reference", "null"]


@pytest.mark.parametrize("workload", ["as-stated", "as-logged"])
def test_document_003s_workloads_run_on_every_real_device(workload: str) -> None:
    ran = invoke("bench", "--workload", workload, "--seconds", "2", "--csv")
    assert ran.exit_code == 0, ran.stderr
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    regimes = 3 if workload == "as-stated" else 1
    assert len(rows) == regimes * len([driver for driver in drivers() if driver.role == "real"])
    assert {row["workload"] for row in rows} == {f"003 {workload.replace('-', ' ')}"}


def test_an_unmeasured_null_device_is_said_to_be_unchecked() -> None:
    ran = invoke(*SHORT, "--devices", "null")
    assert "null not at all: it encrypts nothing" in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith(
        "No answer: the first device is not for real work"
    )


def test_the_answer_never_sends_anyone_to_a_null_device() -> None:
    ran = invoke(*SHORT, "--devices", "library,null", "--json")
    document = json.loads(ran.stdout)
    assert [row["device"] for row in document["rows"]] == ["library", "null"]
    assert document["answer"].startswith("For 16 B only library was measured")


def test_a_device_that_does_not_take_the_messages_is_left_out_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = native._build

    def limited(arms: Arms, cell: Cell, device: str, seed: int) -> tuple[int, list[str]]:
        if device == "reference":
            raise LimitError("reference takes 2 messages a batch and this one has 1024")
        return build(arms, cell, device, seed)

    monkeypatch.setattr(native, "_build", limited)
    ran = invoke(*SHORT, "--devices", "library,reference", "--csv")
    assert ran.exit_code == 0
    assert [row["device"] for row in csv.DictReader(io.StringIO(ran.stdout))] == ["library"]
    assert "reference does not do 'AES-128': reference takes 2 messages" in ran.stderr
    alone = invoke(*SHORT, "--devices", "reference")
    assert (alone.exit_code, alone.stdout) == (3, "")
    assert "nothing is left to measure" in alone.stderr


def test_a_wrong_result_ends_with_4(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> NoReturn:
        raise WrongResultError("library gave a wrong result: byte 2 of message 3 differs")

    monkeypatch.setattr(NativeSampler, "sample", wrong)
    ran = invoke(*SHORT)
    assert (ran.exit_code, ran.stdout) == (4, "")
    assert "byte 2 of message 3 differs; nothing of this run is shown" in ran.stderr


def test_a_device_that_is_wrong_from_the_start_is_left_out_and_the_run_ends_with_4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = native._build

    def wrong(arms: Arms, cell: Cell, device: str, seed: int) -> tuple[int, list[str]]:
        if device == "reference":
            raise WrongResultError("reference gave a wrong result: a tag differs")
        return build(arms, cell, device, seed)

    monkeypatch.setattr(native, "_build", wrong)
    ran = invoke(*SHORT, "--devices", "library,reference", "--csv")
    assert ran.exit_code == 4
    assert [row["device"] for row in csv.DictReader(io.StringIO(ran.stdout))] == ["library"]
    assert "reference gave a wrong result: a tag differs (AES-128, keys one)" in ran.stderr


def test_several_threads_are_measured() -> None:
    ran = invoke(*SHORT, "--threads", "1,2", "--devices", "library", "--csv")
    assert [row["threads"] for row in csv.DictReader(io.StringIO(ran.stdout))] == ["1", "2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--devices", "libary"], "no device is called 'libary' (did you mean 'library'?)"),
        (["--devices", "cpu:isa=avx"], '"avx" is no instruction-set path'),
        (["--devices", "library,library"], "a device stands twice"),
        (["--devices", "library:bogus=1"], "bogus"),
        (["--sizes", "16,x"], "part 'x': 'x' is not a size in bytes"),
        (["--sizes", "0"], "0 is outside 1.."),
        (["--keys", "sesions:3"], "keys 'sesions:3'; write one, fresh or sessions:N"),
        (["--mix", "50/50"], "mix '50/50'; write seal, open, or weights"),
        (["--key-bits", "100"], "'100' is no size of an AES key; write 128, 192 or 256"),
        (["--threads", "0"], "'0' is no number of threads"),
        (["--batch", "0"], "greater than or equal to 1"),
        (["--seconds", "0.001"], "is too short for"),
        (["--seconds", "0"], "0 s of measuring; right would be a finite time above 0"),
        (["--seconds", "-1"], "-1 s of measuring; right would be"),
        (["--seconds", "nan"], "nan s of measuring; right would be"),
        (["--seconds", "inf"], "inf s of measuring; right would be"),
        (["--seed", "99999999999999999999"], "18446744073709551615"),
        (["--batch", "5000000000"], "4294967295"),
        (["--sizes", ""], "an empty part in the list of sizes"),
        (["--keys", ""], "keys ''; write one, fresh or sessions:N"),
        (["--mix", ""], "mix ''; write seal, open, or weights"),
        (["--key-bits", ""], "'' is no size of an AES key"),
        (["--devices", ""], "no device is called ''"),
        (["--threads", ""], "'' is no number of threads"),
        (["--out", ""], "'' is no folder; name one"),
        (["--out", "/proc/self"], "/proc/self takes no files"),
        (["--out", "/dev/null"], "/dev/null takes no files"),
        (["--size", "16"], "--sizes"),
        (["--csv", "--json"], "give one"),
        (["--quick", "--sizes", "16"], "--sizes 16 has no effect with --quick"),
        (["--workload", "as-logged", "--keys", "one"], "--keys one has no effect"),
        (["--quick", "--workload", "as-logged"], "leave out --workload"),
        (["--workload", "as-writ"], "as-stated"),
    ],
)
def test_wrong_usage_says_what_would_be_right_and_ends_with_2(
    arguments: list[str], said: str
) -> None:
    ran = invoke("bench", *arguments)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert ran.stdout == ""


def test_an_unknown_command_ends_with_2() -> None:
    assert invoke("bensh").exit_code == 2


def test_messages_beyond_the_machines_memory_are_refused_before_any_is_made() -> None:
    ran = invoke("bench", "--sizes", "68719476704", "--keys", "one")
    assert ran.exit_code == 3
    assert "the messages need" in ran.stderr
    assert "name fewer or smaller sizes" in ran.stderr


@pytest.mark.parametrize("workload", ["plain", "as-stated"])
def test_more_sessions_than_memory_holds_are_refused_with_the_figures(workload: str) -> None:
    ran = invoke("bench", "--workload", workload, "--keys", "sessions:4294967295")
    assert ran.exit_code == 3, ran.output
    assert "GB and" in ran.stderr
    assert "sessions" in ran.stderr


def full(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A run whose standard output has no room."""
    command = [sys.executable, "-m", "sealift", *arguments]
    with Path("/dev/full").open("w") as sink:
        return subprocess.run(
            command, stdout=sink, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )


def test_a_full_standard_output_is_told_and_the_folder_is_still_written(tmp_path: Path) -> None:
    ran = full(*SHORT, "--out", str(tmp_path / "kept"))
    assert ran.returncode == 5, ran.stderr
    assert "standard output took not everything: No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (tmp_path / "kept" / "rows.csv").exists()
    for arguments in (("devices",), ("--help",)):
        ran = full(*arguments)
        assert ran.returncode == 5, ran.stderr
        assert ran.stderr == "sealift: No space left on device; give standard output room\n"


def test_a_folder_that_takes_no_rows_leaves_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sealift.lab.folder.write", broken)
    ran = invoke(*SHORT, "--out", str(tmp_path / "kept"))
    assert ran.exit_code == 5
    assert "ns/message" in ran.stdout
    assert "kept took not everything: No space left on device" in ran.stderr


def test_ctrl_c_while_samples_are_summed_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("sealift.lab.run.summarise", interrupted)
    ran = invoke(*SHORT)
    assert (ran.exit_code, ran.stdout) == (130, "")
    assert "interrupted while the samples were summed up" in ran.stderr
    assert "before anything was measured" not in ran.stderr


def test_a_machine_without_kernels_measures_the_library_alone_and_says_so() -> None:
    ran = process(*SHORT, "--devices", "cpu,library", SEALIFT_ISA="model")
    assert ran.returncode == 0, ran.stderr
    assert "cpu is absent: the environment variable SEALIFT_ISA allows the model only" in ran.stderr
    assert "only library was measured" in ran.stdout
    none = process(*SHORT, "--devices", "cpu", SEALIFT_ISA="model")
    assert (none.returncode, none.stdout) == (3, "")
    assert "no device is left to measure" in none.stderr


def test_a_folder_gets_rows_that_say_how_to_measure_them_again(tmp_path: Path) -> None:
    folder = tmp_path / "2026-11-21" / "here"
    ran = process(*SHORT, "--out", str(folder))
    assert ran.returncode == 0, ran.stderr
    document = json.loads((folder / "rows.json").read_text())
    assert document["command"] == f"sealift {' '.join(SHORT)} --out {folder}"
    rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    assert [row["device"] for row in rows] == [row["device"] for row in document["rows"]]
    again = process(*SHORT, "--out", str(folder))
    assert (again.returncode, again.stdout) == (2, "")
    assert "holds rows.json and rows.csv already" in again.stderr


def test_piped_output_is_a_plain_table_and_progress_goes_to_standard_error() -> None:
    ran = process(*SHORT, FORCE_COLOR="", NO_COLOR="")
    assert ran.returncode == 0, ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "ns/message" in ran.stdout
    assert "measuring" in ran.stderr
    # On a busy machine a caution follows.
    assert "\nFor 16 B" in ran.stdout or "\nRun it on" in ran.stdout


def test_ctrl_c_prints_what_is_complete_and_ends_with_130() -> None:
    command = [sys.executable, "-m", "sealift", *SHORT[:-1], "600"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    while "measuring" not in running.stderr.readline():
        assert running.poll() is None
    # Three samples of a quarter of a second are a block.
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    assert running.returncode == 130, stderr
    assert "ns/message" in stdout
    assert "Partial (interrupted)" in stderr


def test_ctrl_c_before_anything_is_complete_says_so() -> None:
    command = [sys.executable, "-m", "sealift", *SHORT[:-1], "600"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    running.stderr.readline()
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    assert (running.returncode, stdout) == (130, "")
    assert "interrupted" in stderr
