"""Run folders that something was measured for."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.running import STARTED, check, experiment_file, run, wait_until, workers_of
from sealift.lab.store import names


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is complete, for tests that damage a copy of it."""
    place = tmp_path_factory.mktemp("whole")
    code, said = run("run", place / "run", 60, 1, experiment_file(place, "first", "second"))
    assert code == 0, said
    check(place / "run", whole=True)
    return place / "run"


@pytest.fixture
def half_run(whole_run: Path, folder: Path) -> Path:
    """A run that was killed half-way."""
    shutil.copytree(whole_run, folder)
    samples = folder / names.SAMPLES
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[: len(lines) // 6 * 3]))
    (folder / names.ENDING).unlink()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "run"
    yield path
    for process in STARTED:
        if process.poll() is None:
            process.kill()
            process.communicate()
    STARTED.clear()
    # One whose parent was killed is gone a moment later.
    wait_until(lambda: not workers_of(path))
