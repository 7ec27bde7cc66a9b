"""The lab reads the folders of the program that checks and measures GPUs."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import run_report
from command import invoke
from conftest import skip
from sealift.exit_code import ExitCode
from sealift_lab.experiments.document_003.gpus.cells import PROCESSOR
from sealift_lab.experiments.registry import all_experiments
from sealift_lab.judge.judge import results
from sealift_lab.model.experiment import Scope
from sealift_lab.model.run import Ending, ReportLine
from sealift_lab.model.values import Cell
from sealift_lab.run.folder import Run
from sealift_lab.run.state import read_state
from sealift_lab.show.page import page

ROOT = Path(__file__).parents[2]
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug"


@pytest.fixture(scope="module")
def program() -> Path:
    program = BUILT / "sealift-gpu"
    if not program.exists() or not (BUILT / "libfake_cuda.so").exists():
        skip("gpu-run", f"{BUILT} lacks sealift-gpu or libfake_cuda.so: call `make test-python`")
    run_report.ran("gpu-run")
    return program


def run(program: Path, out: Path, steps: tuple[str, ...], *words: str) -> Run:
    """Works steps of the program, and reads what it left."""
    asked = [word for step in steps for word in ("--step", step)]
    command = [str(program), "--out", str(out), *asked, *words]
    played = {"SEALIFT_LIBCUDA": str(BUILT / "libfake_cuda.so")}
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **played}
    )
    if ran.returncode == NOTHING_THERE:
        skip("opencl", ran.stderr.strip())
    assert ran.returncode == 0, ran.stderr
    run_report.ran("opencl")
    found = Run(out)
    assert found.notes == []
    return found


@pytest.fixture(scope="module")
def played(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All steps but the suite for devices, on a libcuda without a GPU."""
    out = tmp_path_factory.mktemp("played") / "run"
    steps = ("rates", "copies", "messages", "host", "cores", "grids")
    return run(program, out, steps, "--device", "cuda:0", "--budget", "600")


def test_a_gpu_that_is_played_is_checked_and_has_no_row(played: Run) -> None:
    assert played.ending == Ending("complete")
    (device,) = played.machine.devices
    assert (device.spec, device.role, device.state) == ("cuda:0", "test only", "present")
    assert not any(each.rows for each in results(played).values())
    assert [(each.experiment, each.group, each.arm) for each in played.reports] == [
        (each.name, group, arm)
        for each in played.plan.experiments
        for group, cells in enumerate(each.groups)
        for arm in range(len(cells))
    ]
    assert all("simulated" in each.skipped for each in played.reports)
    driver = played.machine.facts["nvidia_driver"]
    assert driver.value or driver.reason


def test_the_lab_shows_a_folder_of_another_program(played: Run, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    ended = invoke("lab", "report", str(played.path), "--out", str(file))
    assert ended.exit_code == 0, ended.stderr
    assert "simulated" in file.read_text(encoding="utf-8")
    assert invoke("lab", "show", str(played.path)).exit_code == 0


@pytest.mark.parametrize("words", [["replay"], ["run", "--resume"]])
def test_the_lab_measures_no_folder_of_another_program_anew(
    played: Run, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = invoke("lab", *words, str(played.path))
    assert ended.exit_code == ExitCode.USAGE
    assert ended.stderr == (
        f"sealift: {played.path} was measured by sealift-gpu, which the lab does not start; on a "
        "machine with that device: sealift-gpu --step rates --step copies --step messages "
        "--step host --step cores --step grids --device cuda:0 --budget 600; "
        f"`sealift lab report {played.path}` shows what it found\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        "gpu-rates",
        "gpu-copies",
        "gpu-messages",
        "gpu-core-beside-cpu",
        "gpu-beside-cpu",
        "gpu-threads-per-block",
        "gpu-blocks",
        "gpu-grid",
        "gpu-generations",
    ],
)
def test_whatever_a_played_gpu_can_work_is_checked(played: Run, name: str) -> None:
    found = [(cell, line) for cell, line in reports(played) if line.experiment == name]
    checked = [cell for cell, line in found if int(line.facts.get("results_checked", 0)) > 0]
    # Cores, and what goes through the engine, are compared with nothing that is played.
    assert checked == [
        cell
        for cell, _ in found
        if "core" not in str(cell["device"]) and cell.get("data") != "host to host"
    ]


def test_the_labs_experiments_are_planned_as_the_lab_plans_them(played: Run) -> None:
    planned = {each.name: each for each in played.plan.experiments if each.file is None}
    known = {
        each.name: each
        for each in all_experiments()
        if each.name.startswith("gpu-") and each.is_timed
    }
    assert planned
    assert planned.keys() == known.keys()
    scope = Scope(quick=False, cores=2, devices=())
    for name, ours in known.items():
        theirs = planned[name]
        assert (theirs.id, theirs.operation, theirs.compare) == (
            ours.id,
            ours.operation,
            ours.compare,
        )
        assert [(axis.name, axis.title) for axis in theirs.axes] == [
            (axis.name, axis.title) for axis in ours.axes
        ]
        assert ways(theirs.groups) == ways(ours.groups(scope)), name


def test_rows_are_read_and_those_of_a_processor_are_called_so(
    program: Path, tmp_path: Path
) -> None:
    found = run(
        program, tmp_path / "run", ("copies", "messages"), "--device", "opencl:0", "--budget", "8"
    )
    rows = [row for each in results(found).values() for row in each.rows]
    # Where the time is too short for a cell, that is said, and of the run, too.
    measured = [cell for cell, line in reports(found) if not line.skipped]
    assert [row.cell for row in rows] == measured
    assert {"direction", "key_bits"} <= {axis for cell in measured for axis in cell}
    assert found.ending is not None
    whole = read_state(found).is_whole
    assert found.ending.ending == ("complete" if whole else "time was up")
    assert all(row.payload_bytes > 0 and not row.wrong for row in rows)
    (device,) = found.machine.devices
    is_processor = device.role == "test only"
    label = PROCESSOR if is_processor else device.spec
    assert {str(cell["device"]) for cell, _ in reports(found)} == {label}
    text = page(found, results(found))
    assert "Copies between host and GPU" in text
    assert ("measured on opencl:0, which is for tests only" in text.casefold()) == is_processor


def test_what_a_device_has_nothing_of_is_told_once_and_is_no_run(
    program: Path, tmp_path: Path
) -> None:
    command = [str(program), "--device", "opencl:0", "--out", str(tmp_path / "run")]
    ran = subprocess.run([*command, "--step", "rates"], capture_output=True, text=True, check=False)
    if "there is no GPU to measure" in ran.stderr:
        skip("opencl", ran.stderr.strip())
    told = "Rates of instructions on opencl:0: these are instructions of NVIDIA's GPUs"
    assert ran.stderr.count("NVIDIA's GPUs") == ran.stderr.count(told) == 1
    assert ran.returncode == NOTHING_THERE
    assert not (tmp_path / "run").exists()
    steps = ["--step", "rates", "--step", "copies", "--budget", "5"]
    ran = subprocess.run([*command, *steps], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count(told) == 1
    found = Run(tmp_path / "run")
    assert [each.name for each in found.plan.experiments] == ["gpu-copies"]
    if found.machine.devices[0].role == "test only":
        assert "No GPU: opencl:0 is OpenCL on a processor" in ran.stderr
    assert " samples]\n" in ran.stderr


def test_opencl_without_a_driver_names_one_for_a_run_without_a_gpu(program: Path) -> None:
    ran = subprocess.run(
        [str(program), "--device", "opencl:0"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OCL_ICD_VENDORS": "/nowhere"},
    )
    assert ran.returncode == NOTHING_THERE
    if "libOpenCL.so.1 is not on this machine" in ran.stderr:
        skip("opencl", ran.stderr.strip())
    assert "or, for a run without a GPU, PoCL (Debian: pocl-opencl-icd)" in ran.stderr


def reports(run: Run) -> Iterator[tuple[Cell, ReportLine]]:
    """What became of each arm, with its cell."""
    groups = {each.name: each.groups for each in run.plan.experiments}
    for line in run.reports:
        yield groups[line.experiment][line.group][line.arm], line


def ways(groups: Sequence[Sequence[Cell]]) -> set[tuple[object, ...]]:
    """In which ways cells differ that are no numbers and no devices."""
    return {tuple(cell.get(axis) for axis in WAYS) for group in groups for cell in group}


WAYS = ("code", "mode", "data", "type")
NOTHING_THERE = 3
