"""The lab reads the folders of the program that checks and measures GPUs."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import skip
from sealift.lab import store
from sealift.lab.store import How, Run
from sealift.lab.summary import summarise

ROOT = Path(__file__).parents[2]
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug"


@pytest.fixture(scope="module")
def program() -> Path:
    program = BUILT / "sealift-gpu"
    if not program.exists() or not (BUILT / "libfake_cuda.so").exists():
        skip("gpu-run", f"{BUILT} lacks sealift-gpu or libfake_cuda.so: call `make test-python`")
    return program


def run(program: Path, out: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [str(program), "--out", str(out), "--step", "rates", "--step", "copies", *words]
    played = {"SEALIFT_LIBCUDA": str(BUILT / "libfake_cuda.so")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **played}
    )


def read(out: Path) -> Run:
    found = store.read(out)
    assert found.ending is not None
    assert (found.ending.how, found.notes) == (How.COMPLETE, ())
    assert [each.name for each in found.plan.experiments] == ["gpu-rates", "gpu-copies"]
    return found


def test_a_gpu_that_is_played_is_checked_and_has_no_row(program: Path, tmp_path: Path) -> None:
    ran = run(program, tmp_path / "run", "--device", "cuda:0", "--budget", "600")
    assert ran.returncode == 0, ran.stderr
    found = read(tmp_path / "run")
    (device,) = found.machine.devices
    assert (device.spec, device.role, device.state) == ("cuda:0", "test only", "present")
    assert not found.has_results
    assert found.verified
    assert all("simulated" in each.skipped for each in found.verified)
    copies = [each.facts for each in found.verified if each.experiment == "gpu-copies"]
    assert all(int(facts["results_checked"]) > 0 for facts in copies)
    assert found.machine.facts["nvidia_driver"].value or found.machine.facts["nvidia_driver"].reason


def test_rows_are_read_and_those_of_a_processor_are_called_so(
    program: Path, tmp_path: Path
) -> None:
    ran = run(program, tmp_path / "run", "--device", "opencl:0", "--budget", "5")
    if ran.returncode == 3:
        skip("opencl", ran.stderr.strip())
    assert ran.returncode == 0, ran.stderr
    found = read(tmp_path / "run")
    rows = [row for each in summarise(found).values() for row in each.rows]
    # Where five seconds are too few for a cell, that is said.
    measured = [each.cell for each in found.verified if not each.skipped]
    assert [row.cell for row in rows] == measured
    assert all(row.payload_bytes > 0 and not row.wrong for row in rows)
    (device,) = found.machine.devices
    label = "OpenCL on this processor" if device.role == "test only" else device.spec
    assert {str(each.cell["device"]) for each in found.verified} == {label}
