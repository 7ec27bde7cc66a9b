"""`sealift advise`, in this process and in real ones."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import invoke, process, start, wait_for_blocks
from sealift import drivers
from sealift.lab import devices, registry
from sealift.lab.spec import Scope

AMPLE = ("advise", "--sizes", "16", "--keys", "one", "--budget", "2")
# A thin budget, which is said: blocks are few.
SHORT = (*AMPLE[:-1], "1")
REAL = [driver.name for driver in drivers() if driver.role == "real"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_help_explains_where_the_figures_are_and_the_document() -> None:
    shown = invoke("advise", "--help").output
    assert "sealift advise --sizes 128 --keys sessions:1024 --threads 1,2\n" in shown
    assert "--csv and --json have every figure" in " ".join(shown.split())
    assert "NVIDIA CUDA on CPU" in shown
    assert "roles" in shown


def test_advice_as_json_holds_machine_rows_and_answer() -> None:
    ran = invoke(
        "advise", "--sizes", "16,128", "--keys", "sessions:64,fresh", "--budget", "2", "--json"
    )
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["schema"] == "sealift-advice/2"
    cells = {(row["keys"], row["size_bytes"]) for row in document["rows"]}
    assert cells == {(keys, size) for keys in ("sessions:64", "fresh") for size in (16, 128)}
    assert {row["device"] for row in document["rows"]} == set(REAL)
    assert document["answer"]["question"] == "Where should my bulk encryption run?"
    assert document["answer"]["headline"]
    assert {bar["device"] for bar in document["answer"]["bars"]} >= {"cpu", "library"}
    assert document["machine"]["core_clock_ghz"]["value"]
    for each in document["verified"]:
        others = each["facts"]["checked_against"].split(", ")
        assert others
        assert each["cell"]["device"] not in others
        assert each["facts"]["role"] == "real"


def test_csv_has_a_row_for_each_device_and_units_in_its_columns() -> None:
    ran = invoke(*SHORT, "--devices", "library,reference,null", "--csv")
    assert ran.exit_code == 0, ran.stderr
    found = rows(ran.stdout)
    assert [row["device"] for row in found] == ["library", "reference", "null"]
    assert {"size_bytes", "ns_per_operation", "payload_MB_per_s", "verdict"} <= set(found[0])


@pytest.mark.parametrize("workload", ["as-stated", "as-logged"])
def test_document_003s_messages_run_on_every_real_device(workload: str) -> None:
    ran = invoke("advise", "--workload", workload, "--budget", "2", "--csv")
    assert ran.exit_code == 0, ran.stderr
    found = rows(ran.stdout)
    regimes = 3 if workload == "as-stated" else 1
    assert len(found) == regimes * len(REAL)
    assert {row["workload"] for row in found} == {workload.replace("-", " ")}


def test_quick_measures_the_documents_messages_and_every_size() -> None:
    ran = invoke("advise", "--quick", "--budget", "4", "--csv")
    assert ran.exit_code == 0, ran.stderr
    groups = {(row["workload"], row["size_bytes"], row["keys"]) for row in rows(ran.stdout)}
    assert len(groups) == 3 + 1 + 7


def test_a_null_device_is_no_advice() -> None:
    ran = invoke(*SHORT, "--devices", "null")
    assert "No answer: " in ran.stdout
    document = json.loads(invoke(*SHORT, "--devices", "library,null", "--json").stdout)
    assert [row["device"] for row in document["rows"]] == ["library", "null"]
    assert document["answer"]["headline"].endswith("AWS-LC, the only device measured")


def test_what_is_for_tests_only_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "role", lambda name: "test only" if name == "library" else "real")
    for words in (("--size", "128"), ("--sizes", "16", "--keys", "one")):
        # Measured, it would take an hour.
        ran = invoke("advise", *words, "--devices", "library", "--budget", "3600")
        assert ran.exit_code == 2
        assert "no advice is to run on what is for tests only, and library is; leave" in ran.stderr


def test_several_threads_are_measured() -> None:
    ran = invoke(*SHORT, "--threads", "1,2", "--devices", "library", "--csv")
    assert [row["threads"] for row in rows(ran.stdout)] == ["1", "2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--devices", "libary"], "no device is called 'libary' (did you mean 'library'?)"),
        (["--devices", "gpu"], "no driver is called 'gpu'; GPUs are the devices cuda and opencl"),
        (["--devices", "h200"], "no driver is called 'h200'; GPUs are the devices cuda and opencl"),
        (["--devices", "CUDA"], "no device is called 'CUDA' (did you mean 'cuda'?)"),
        (["--devices", "libary"], "; `sealift devices` shows them"),
        (["--devices", "UPMEM"], "no driver has this name; there are cpu, library, "),
        (["--devices", "cpu:isa=aesni,workers=2,qat"], "'qat' is an accelerator"),
        (
            ["--devices", "cpu,table"],
            "'table' is for the lab's comparisons only, by `sealift lab run aes-gcm-by-threads`",
        ),
        (["--devices", "ipp"], "(or vendor-library); here there are cpu, library, "),
        (["--devices", "cpu:isa=avx"], '"avx" is no instruction-set path'),
        (["--devices", "library,library"], "a device stands twice"),
        (["--devices", "library:bogus=1"], "bogus"),
        (["--devices", ""], "no device is called ''"),
        (["--sizes", "16,x"], "part 'x': 'x' is no size in bytes"),
        (["--sizes", "0"], "'0' is no size in bytes; write a whole number from 1 to"),
        (["--sizes", ""], "an empty part in the list of sizes"),
        (["--keys", "sesions:3"], "keys 'sesions:3'; write one, fresh or sessions:N"),
        (["--keys", ""], "keys ''; write one, fresh or sessions:N"),
        (["--mix", "50/50"], "mix '50/50'; write seal, open, or weights"),
        (["--mix", ""], "mix ''; write seal, open, or weights"),
        (["--key-bits", "100"], "'100' is no size of an AES key; write 128, 192 or 256"),
        (["--key-bits", ""], "'' is no size of an AES key"),
        (["--threads", "0"], "'0' is no number of threads"),
        (["--threads", "1k"], "--threads 1000: this machine has "),
        (["--threads", ""], "'' is no number of threads"),
        (["--batch", "0"], "--batch: '0' is no number of messages; write a whole number from 1 to"),
        (["--batch", "5G"], "write a whole number from 1 to 4,294,967,295, as in 4k"),
        (["--budget", "0.001"], "is too short to measure anything; allow"),
        (["--budget", "0"], "'0' is no time; write seconds, as in 90, or 3m"),
        (["--budget", "-1"], "'-1' is no time"),
        (["--seconds", "nan"], "'nan' is no time"),
        (["--seconds", "3d"], "'3d' is no time"),
        (
            ["--seed", "99999999999999999999"],
            "is no seed; write a whole number from 0 to 18,446",
        ),
        (["--out", ""], "'' is no folder; name one"),
        (["--csv", "--json"], "give one"),
        (["--quick", "--sizes", "16"], "--sizes 16 has no effect with --quick"),
        (["--workload", "as-logged", "--keys", "one"], "--keys one has no effect"),
        (["--workload", "as-stated", "--mix", "seal"], "--mix seal has no effect"),
        (["--quick", "--workload", "as-logged"], "leave out --workload"),
        (["--workload", "as-writ"], "as-stated"),
        (["--run", "nowhere"], "nowhere is not there; name the folder of a run"),
        (["--run", "x", "--sizes", "16"], "--sizes 16 has no effect with --run"),
        (["--run", "x", "--out", "y"], "--out y has no effect with --run"),
        (["--run", "x", "--quick"], "--quick has no effect with --run, which measures nothing"),
        (["--run", "x", "--workload", "as-logged"], "--workload as-logged has no effect with"),
    ],
)
def test_wrong_usage_says_what_would_be_right_and_ends_with_2(
    arguments: list[str], said: str
) -> None:
    ran = invoke("advise", *arguments)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize("folder", ["/proc/self/new", "/dev/null"])
def test_a_folder_that_takes_no_files_is_told_before_anything_is_measured(folder: str) -> None:
    start_s = time.monotonic()
    ran = invoke("advise", "--budget", "100", "--out", folder)
    assert ran.exit_code in (2, 5), ran.output
    assert folder.rpartition("/")[0] in ran.stderr
    assert "name" in ran.stderr
    assert time.monotonic() - start_s < 80


@pytest.mark.parametrize("keys", ["one", "sessions:4294967295"])
def test_messages_beyond_the_machines_memory_are_refused_with_the_figures(keys: str) -> None:
    ran = invoke("advise", "--sizes", "68719476704", "--keys", keys, "--budget", "2")
    assert ran.exit_code == 3, ran.output
    assert "GB" in ran.stderr
    assert "nothing was measured" in ran.stderr


def test_a_machine_without_kernels_measures_the_library_alone_and_says_so() -> None:
    ran = process(*SHORT, "--devices", "cpu,library", SEALIFT_ISA="model")
    assert ran.returncode == 0, ran.stderr
    assert "cpu is absent: the environment variable SEALIFT_ISA allows the model only" in ran.stderr
    assert "On your CPU, with AWS-LC, the only device measured." in ran.stdout
    none = process(*SHORT, "--devices", "cpu", SEALIFT_ISA="model")
    assert (none.returncode, none.stdout) == (3, "")
    assert "no device is left to measure" in none.stderr


def test_a_folder_keeps_the_run_and_advises_again_without_measuring(tmp_path: Path) -> None:
    folder = tmp_path / "2026-11-21" / "here"
    ran = process(*SHORT, "--out", str(folder))
    assert ran.returncode == 0, ran.stderr
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["command"] == ["sealift", *SHORT, "--out", str(folder)]
    again = invoke("advise", "--run", str(folder))
    assert again.exit_code == 0, again.stderr
    assert again.stdout == ran.stdout
    assert f"\n  Page       sealift lab report {folder}\n" in ran.stdout
    twice = invoke(*SHORT, "--out", str(folder))
    assert (twice.exit_code, twice.stdout) == (2, "")
    assert "holds a run already" in twice.stderr


def test_piped_output_is_the_plain_short_answer() -> None:
    ran = process(*SHORT, FORCE_COLOR="", NO_COLOR="")
    assert ran.returncode == 0, ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr
    assert ran.stdout.startswith("Where should my bulk encryption run?\n")
    assert len(ran.stdout.split()) < 80
    assert len(ran.stdout.splitlines()) <= 15
    assert "█ " in ran.stdout
    assert "aes-gcm-by-size" in ran.stderr


def test_a_run_that_nobody_keeps_leaves_no_folder_and_names_none(tmp_path: Path) -> None:
    ran = process(*SHORT, cwd=tmp_path, TMPDIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in ran.stderr


def test_a_full_standard_output_is_told_and_the_folder_is_still_written(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as sink:
        ran = subprocess.run(
            [sys.executable, "-m", "sealift", *SHORT, "--out", str(tmp_path / "kept")],
            stdout=sink,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 5, ran.stderr
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (tmp_path / "kept" / "summary.csv").exists()


def test_ctrl_c_answers_with_what_is_complete_and_ends_with_130(tmp_path: Path) -> None:
    running = start(*SHORT[:-1], "60", TMPDIR=str(tmp_path))
    wait_for_blocks(running, 2, tmp_path)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 130, stderr
    assert "Interrupted after about " in " ".join(stdout.split())
    assert "Traceback" not in stderr


def test_ctrl_c_before_anything_is_complete_says_so() -> None:
    running = start("advise", "--sizes", "65536", "--keys", "fresh", "--threads", "16")
    assert running.stderr is not None
    running.stderr.readline()
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=120)
    assert (running.returncode, stdout) == (130, ""), stderr
    assert "interrupted" in stderr
    assert "Traceback" not in stderr


def test_a_thin_budget_is_told_before_anything_is_measured_and_an_ample_one_is_not() -> None:
    many = ("advise", "--sizes", "16:16384:*2", "--keys", "one", "--devices", "library")
    ran = invoke(*many, "--budget", "3")
    first, *others = ran.stderr.splitlines()
    assert first.startswith("sealift: a budget of 3 s is thin for aes-gcm-by-size: ")
    assert first.endswith(" would do")
    assert not any("is thin" in line for line in others)
    ran = invoke(*AMPLE)
    assert "is thin" not in ran.stderr


def test_every_peer_of_the_lab_is_told_from_a_name_that_nobody_knows() -> None:
    scope = Scope(quick=False, cores=4, devices=("library", "cpu"))
    cells = [
        cell
        for experiment in registry.all_experiments()
        for group in experiment.groups(scope)
        for cell in group
    ]
    named = (str(cell["device"]) for cell in cells if "device" in cell)
    peers = {re.split(":|, ", name)[0] for name in named}
    peers -= {driver.name for driver in drivers()}
    assert {"table", "ipp"} <= peers
    for peer in peers:
        assert "is for the lab's comparisons only" in invoke("advise", "--devices", peer).stderr
