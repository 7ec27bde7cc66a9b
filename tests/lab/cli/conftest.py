"""Run folders: made up, and measured from a file of one's own."""

from pathlib import Path

import pytest
from tests.lab.measure.running import experiment_file
from tests.lab.run import made_up as made

from sealift_lab.run import session


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with an experiment that waits; the machine is not looked at."""
    # Opening all devices takes a second.
    monkeypatch.setattr(session, "surroundings", lambda: made.MACHINE)
    # A file of one's own may import those beside it.
    monkeypatch.syspath_prepend(tmp_path)
    return experiment_file(tmp_path, "first", "second")
