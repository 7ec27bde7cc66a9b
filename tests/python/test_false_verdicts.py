"""The proof of the verdicts, on a few comparisons; the whole of it is `make aa`."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import script
from sealift.lab.units import format_share

BENCH = Path(__file__).parents[2] / "benches" / "false_verdicts.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_trial_run_compares_under_every_condition_and_writes_what_it_found(
    tmp_path: Path,
) -> None:
    ran = run("--quick", "--sample-ms", "2", "--out", str(tmp_path / "results"))
    assert ran.returncode == 0, ran.stderr
    document = json.loads((tmp_path / "results" / "false-verdicts-2-ms.json").read_text())
    assert document["quick"]
    assert [each["name"] for each in document["results"]] == ["idle", "loaded", "planted"]
    for result in document["results"]:
        comparisons = document["comparisons"][result["name"]]
        assert result["comparisons"] == len(comparisons) == 3
        assert sum(result["verdicts"].values()) == 3
        # A few prove nothing, whatever they found.
        assert not result["met"]
        assert format_share(result["clean_share"]) in ran.stdout
        for comparison in comparisons:
            median, low, high = comparison["times_reference"]
            assert 0 < low <= median <= high
            assert comparison["sample_ms"] > 0.5
            assert comparison["noise_floor"] > 0
    assert "a planted 5 % slowdown: 3 of 3" in ran.stderr
    assert "0 s left" in ran.stderr


def test_conditions_are_measured_by_name(tmp_path: Path) -> None:
    ran = run("--quick", "--sample-ms", "2", "--only", "planted", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    document = json.loads((tmp_path / "false-verdicts-2-ms.json").read_text())
    assert [each["name"] for each in document["results"]] == ["planted"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, with nothing busy and nothing measured."""
    spec = importlib.util.spec_from_file_location("false_verdicts", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "false_verdicts", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_busy_core", module._nothing)
    monkeypatch.setattr("sys.argv", ["false_verdicts.py"])
    return module


@pytest.mark.parametrize(
    ("idle", "loaded", "found", "code"),
    [(10, 20, 45, 0), (0, 0, 50, 0), (11, 20, 45, 1), (10, 21, 45, 1), (10, 20, 44, 1)],
)
def test_the_bounds_decide_the_exit_code(
    idle: int,
    loaded: int,
    found: int,
    code: int,
    bench: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    false = {"idle": idle, "loaded": loaded}

    def compared(condition: Any, number: int, arguments: Any) -> Any:
        assert (arguments.seed, arguments.sample_ms) == (1, 18)
        said = "SLOWER" if number < false.get(condition.name, found) else "UNSURE"
        return bench.Comparison("128 B", "cpu", said, (0.96, 0.95, 0.97), 0.01, 0.9, 4.0)

    monkeypatch.setattr(bench, "_in_a_process", compared)
    assert bench.main() == code
    said = capsys.readouterr()
    assert said.out.count(": met") == 3 - code
    assert said.err.count("missed: ") == code


def test_ctrl_c_ends_with_its_code_and_keeps_nothing(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "_in_a_process", interrupted)
    assert bench.main() == 130
    assert "interrupted; nothing is kept" in capsys.readouterr().err


def test_a_wrong_result_ends_with_its_code(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = subprocess.CompletedProcess([], 4, "", "cpu gave a wrong result: tag 3\n")
    monkeypatch.setattr(bench.subprocess, "run", lambda *_, **__: failed)
    assert bench.main() == 4
    said = capsys.readouterr().err
    assert "comparison idle/0 ended with 4: cpu gave a wrong result: tag 3" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sample-ms", "1"], "'1' is no length of a sample: 2 to 250 ms are"),
        (("--only", "idle,busy"), "'busy' is no condition: idle, loaded, planted are"),
        (("--seed", "-1"), "'-1' is no whole number from 0 to 18,446,744,073,709,551,615"),
        (("--out", ""), "'' is no folder"),
        (("--out", "/proc/self/here"), "name a folder that can be written"),
        (("--quickly",), "unrecognized arguments"),
    ],
)
def test_wrong_usage_ends_with_2_before_anything_is_measured(
    arguments: tuple[str, ...], said: str, bench: Any
) -> None:
    ran = script(bench.main, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
