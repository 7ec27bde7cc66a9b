"""Runs of the waiting experiment: here, and in a process of their own that signals may end.

python -m tests.lab.run.driving FOLDER BUDGET_S FILE
"""

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.lab.measure import running
from tests.lab.run import made_up as made

from sealift_lab.experiments import registry
from sealift_lab.measure.plan import make_plan
from sealift_lab.model.experiment import Scope
from sealift_lab.model.run import LOCK, Plan
from sealift_lab.run import session
from sealift_lab.run.session import Done


def plan(*files: Path, **changes: Any) -> Plan:
    """Two processes of four blocks, with more time than a busy machine takes."""
    scope = Scope(quick=True, cores=1, devices=())
    experiments = [(each, each.groups(scope)) for each in map(registry.load, files)]
    fields: dict[str, Any] = {"command": ("run",), "budget_s": 600, "processes": 2, "blocks": 4}
    return make_plan(experiments, **fields | changes)


def said(act: Callable[[], Done]) -> tuple[Done, str]:
    """How a run ended, and what it said."""
    text, path = io.StringIO(), list(sys.path)
    try:
        # Opening all devices takes a second.
        machine = patch.object(session, "surroundings", lambda: made.MACHINE)
        with contextlib.redirect_stderr(text), machine:
            done = act()
    finally:
        # A file of one's own may import those beside it.
        sys.path[:] = path
    assert "Traceback" not in text.getvalue()
    return done, text.getvalue()


def run(out: Path, *files: Path, **changes: Any) -> tuple[Done, str]:
    """Runs here; the processes that measure are real."""
    return said(lambda: session.run(plan(*files, **changes), out))


def begin(out: Path, file: Path, *, budget_s: float = 60) -> "subprocess.Popen[str]":
    """A run in a process of its own."""
    return running.start("tests.lab.run.driving", out, str(budget_s), file)


def children_of(folder: Path) -> list[int]:
    """The processes that hold the lock of a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(file.readlink() == folder / LOCK for file in (each / "fd").iterdir()):
                found.append(int(each.name))
    return found


if __name__ == "__main__":
    place, seconds, source = sys.argv[1:]
    wanted = plan(Path(source), budget_s=float(seconds), blocks=60)
    sys.exit(session.run(wanted, Path(place)).code)
