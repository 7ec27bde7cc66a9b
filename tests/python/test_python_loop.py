"""The loop-against-batch benchmark, run once for a few seconds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import python_loop
from command import script

BENCH = Path(__file__).parents[2] / "benches" / "python_loop.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_every_arm_is_measured_and_compared_with_its_interval(tmp_path: Path) -> None:
    ran = run("--seconds", "3", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    document = json.loads((tmp_path / "python-loop.json").read_text())
    assert [row["caller"] for row in document["rows"]] == [
        "pyca loop, new AESGCM",
        "pyca loop, kept AESGCM",
        "sealift loop, new AESGCM",
        "sealift loop, kept AESGCM",
        "seal_batch, lists",
        "seal_batch, columns",
        "Engine::run in Rust",
        "pyca encrypt",
        "sealift encrypt",
    ]
    assert len(document["ratios"]) == 6
    for pair, ratio in document["ratios"].items():
        assert 0 < ratio["low"] <= ratio["median"] <= ratio["high"], pair
    assert "seal_batch, lists / pyca loop, new AESGCM: " in ran.stdout


def test_too_little_time_is_refused_with_one_that_would_do() -> None:
    ran = script(python_loop.main, "--seconds", "0.01")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "allow 0." in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seconds", "0"), "0 s of measuring; right would be a finite time above 0"),
        (("--seconds", "inf"), "inf s of measuring; right would be a finite time above 0"),
        (("--seed", "-1"), "'-1' is no whole number from 0 to 18,446,744,073,709,551,615"),
        (("--seed", str(2**64)), "is no whole number from 0 to"),
        (("--out", ""), "'' is no folder"),
        (("--out", "/proc/self"), "/proc/self takes no files"),
    ],
)
def test_wrong_usage_ends_with_2_before_anything_runs(
    arguments: tuple[str, str], said: str
) -> None:
    ran = script(python_loop.main, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
