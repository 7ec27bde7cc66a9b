"""Runs of the waiting experiment: here, and in a process of their own that signals may end.

python -m tests.lab.run.driving FOLDER BUDGET_S FILE
"""

import contextlib
import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.lab.run import made_up as made

from sealift_lab.experiments import registry
from sealift_lab.model.experiment import Scope
from sealift_lab.model.run import LOCK
from sealift_lab.run import start
from sealift_lab.run.outcome import Done
from sealift_lab.run.planner import Request

MODULE = "tests.lab.run.driving"
WAITING = Path(__file__).with_name("waiting.py")


def experiment_file(
    folder: Path, *who: str, name: str = "waiting", pause_s_max: float = 0.0005
) -> Path:
    """The waiting experiment with arms of these names."""
    text = WAITING.read_text(encoding="utf-8").replace('("first", "second")', repr(who))
    text = text.replace("PAUSE_S_MAX = 0.0005", f"PAUSE_S_MAX = {pause_s_max}")
    path = folder / f"{name.replace('-', '_')}.py"
    path.write_text(text.replace('name="waiting"', f'name="{name}"'), encoding="utf-8")
    return path


def request(*files: Path, **changes: Any) -> Request:
    """Two processes of four blocks, within 60 seconds."""
    scope = Scope(quick=True, cores=1, devices=())
    experiments = [(each, each.groups(scope)) for each in map(registry.load, files)]
    fields: dict[str, Any] = {"command": ("run",), "budget_s": 60, "processes": 2, "blocks": 4}
    return Request(experiments, **fields | changes)


def said(act: Callable[[], Done]) -> tuple[Done, str]:
    """How a run ended, and what it said."""
    text, path = io.StringIO(), list(sys.path)
    try:
        # Opening all devices takes a second.
        machine = patch.object(start, "surroundings", lambda: made.MACHINE)
        with contextlib.redirect_stderr(text), machine:
            done = act()
    finally:
        # A file of one's own may import those beside it.
        sys.path[:] = path
    assert "Traceback" not in text.getvalue()
    return done, text.getvalue()


def run(out: Path, *files: Path, **changes: Any) -> tuple[Done, str]:
    """Runs here; the processes that measure are real."""
    return said(lambda: start.run(request(*files, out=out, **changes)))


def begin(out: Path, file: Path, *, budget_s: float = 60) -> "subprocess.Popen[str]":
    """A run in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", MODULE, str(out), str(budget_s), str(file)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        # A process started from a shell's background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and standard error."""
    out, text = process.communicate(timeout=60)
    assert out == ""
    assert "Traceback" not in text, text
    return process.returncode, text


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end_s = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end_s, "it never came to that"
        time.sleep(0.02)


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
    asked = request(Path(source), out=Path(place), budget_s=float(seconds), blocks=60)
    sys.exit(start.run(asked).code)
