"""What tests ran and skipped is reported, and .ci/run ends with it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run_report

ROOT = Path(__file__).parents[2]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "report"
    monkeypatch.setenv("SEALIFT_TEST_REPORT", str(path))
    return path


def test_an_unknown_name_is_an_error_that_lists_all_that_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEALIFT_REQUIRE", "cpu, vectors,")
    assert run_report.required() == {"cpu", "vectors"}
    monkeypatch.setenv("SEALIFT_REQUIRE", "cpu,vektors")
    with pytest.raises(run_report.UnknownNameError) as told:
        run_report.required()
    assert str(told.value).startswith(
        'SEALIFT_REQUIRE names "vektors", which no test knows (known: aesni, '
    )


def test_pytest_refuses_an_unknown_name_before_any_test() -> None:
    command = ["python", "-m", "pytest", "--collect-only", "-q", "tests/python/test_package.py"]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "SEALIFT_REQUIRE": "abacus", "PATH": _own_path()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR, ran.stdout + ran.stderr
    assert 'SEALIFT_REQUIRE names "abacus", which no test knows' in ran.stdout + ran.stderr


def test_a_line_is_appended_once_a_process(report: Path) -> None:
    for _ in range(2):
        run_report.ran("cpu")
        run_report.skipped("cuda", "there is no\n driver")
    assert report.read_text(encoding="utf-8") == "ran\tcpu\nskipped\tcuda\tthere is no driver\n"


def test_what_ran_anywhere_ran_and_the_rest_is_named_with_its_reason() -> None:
    lines = [
        "skipped\tcpu\tthis build has no kernels",
        "ran\tcpu",
        "ran\tvaes512",
        "ran\tvectors",
        "ran\twhat no list names",
        "skipped\tcuda\t" + "long " * 100,
    ]
    told = run_report.summary(lines)
    assert told[:5] == [
        "devices that ran: cpu",
        "instruction sets that ran: vaes512",
        "libraries that ran: none",
        "suites that ran: vectors",
        "tools that ran: none",
    ]
    assert told[5].startswith("did not run: cuda: long long")
    assert len(told[5]) < 200
    assert told[6].startswith("no test tried: aesni, ")
    assert len(told) == 7
    assert not any("did not run: cpu" in line for line in told)


def test_what_no_test_tried_is_one_line() -> None:
    *_, last = run_report.summary([])
    assert all(name in last for name in run_report.names())


def test_ci_ends_with_what_ran_and_what_did_not(tmp_path: Path) -> None:
    for file in (".ci/run", "tools/run_report.py", "crates/sealift-testing/src/names.txt"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    commands = tmp_path / "commands"
    commands.mkdir()
    # The steps are one command that says what tests would say; what would install does nothing.
    said = "printf 'ran\\tlibrary\\nskipped\\tcuda\\tno driver\\n' >>\"$SEALIFT_TEST_REPORT\""
    _command(commands / "make", said)
    _command(tmp_path / "tools/check-tools", ":")
    nothing = "cargo cc valgrind objdump chromium cmake c++ perl oclgrind ls apt-get sudo rustup"
    for name in nothing.split():
        _command(commands / name, ":")
    ran = subprocess.run(
        [str(tmp_path / ".ci/run")],
        env={**os.environ, "PATH": f"{commands}:{_own_path()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    steps, _, ending = ran.stdout.partition("\ndevices that ran: ")
    assert steps.count("passed") == 6
    assert ending.splitlines()[0] == "library"
    assert "did not run: cuda: no driver" in ending.splitlines()


def _command(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    path.chmod(0o755)


def _own_path() -> str:
    """PATH, with this interpreter before all."""
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"
