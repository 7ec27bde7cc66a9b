"""A fleet of two real nodes of Ray on this machine, measured by the command."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ray_nodes import WARNINGS, RayNodes, ray_nodes
from sealift.exit_code import ExitCode
from sealift_lab.run.read_folder import Run

pytestmark = [pytest.mark.filterwarnings(each) for each in WARNINGS]


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    with ray_nodes() as nodes:
        yield nodes


def start(address: str, out: Path, seed: int = 1, **variables: str) -> "subprocess.Popen[str]":
    words = ("aes-gcm-by-size", "--quick", "--budget", "8", "--seed", seed, "--fleet", address)
    command = [sys.executable, "-m", "sealift", "lab", "run", *map(str, words), "--out", str(out)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )


def read_to(process: "subprocess.Popen[str]", begin: str) -> None:
    """Reads standard error as far as a line that begins so."""
    assert process.stderr
    assert any(line.startswith(begin) for line in process.stderr)


def test_each_node_is_measured_and_one_page_has_a_column_for_each(
    nodes: RayNodes, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    stdout, stderr = start(nodes.address, out).communicate()
    assert "sealift: 127.0.0.3: aes-gcm-by-size: " in stderr, stderr
    assert stdout.splitlines()[-1] == f"  Page  {out}/report.html"
    runs = [Run(out / name) for name in ("127.0.0.2", "127.0.0.3")]
    assert all(len(run.samples) for run in runs)
    # They share a host.
    endings = [(run.path / "ending.json").stat().st_mtime for run in runs]
    assert endings[0] <= (runs[1].path / "plan.json").stat().st_mtime
    html = (out / "report.html").read_text(encoding="utf-8")
    assert "times 127.0.0.2</th>" in html


def test_a_wrong_token_and_a_dead_address_are_one_sentence(nodes: RayNodes, tmp_path: Path) -> None:
    for address, token, why in (
        (nodes.address, "0" * 64, "refuses the token; set RAY_AUTH_MODE=token"),
        ("127.0.0.9:1", nodes.token, "refused; name HOST:PORT of the head"),
    ):
        process = start(address, tmp_path / "out", RAY_AUTH_TOKEN=token)
        stdout, stderr = process.communicate()
        assert (process.returncode, stdout) == (ExitCode.USAGE, "")
        assert why in stderr.splitlines()[-1]
        assert not (tmp_path / "out").exists()


def test_ctrl_c_leaves_no_process_behind(nodes: RayNodes, tmp_path: Path) -> None:
    seed = 987_654_321
    process = start(nodes.address, tmp_path / "out", seed)
    read_to(process, "sealift: 127.0.0.2: aes-gcm-by-size")
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert stdout.splitlines() == ["127.0.0.2  interrupted", "127.0.0.3  interrupted"]
    for child in processes_with(str(seed)):
        # What is readable of a process once it has ended is its descriptor.
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(child)
            assert select.select([descriptor], [], [], 60)[0]
            os.close(descriptor)
    assert not processes_with(str(seed))


def processes_with(word: str) -> list[int]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word in file.read_text().split("\0"):
                found.append(int(file.parent.name))
    return found


def test_a_node_that_dies_has_a_column_that_says_so(nodes: RayNodes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(nodes.address, out)
    read_to(process, "sealift: 127.0.0.3: aes-gcm-by-size")
    nodes.kill(1)
    stdout, stderr = process.communicate()
    assert process.returncode == ExitCode.PART_FAILED, stderr
    assert "127.0.0.3  the node died" in stdout
    html = (out / "report.html").read_text(encoding="utf-8")
    assert "no run: the node died" in html
    assert "127.0.0.3, MB/s" in html
