"""Runs, here and in processes of their own, and looks at the folders that they leave."""

import contextlib
import inspect
import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab import drive_runner, made_up_experiment
from lab.drive_runner import BLOCKS as BLOCKS
from sealift.lab import registry, report, runner, store
from sealift.lab.spec import Scope
from sealift.lab.store import names
from sealift.lab.summary import summarise


def experiment_file(
    folder: Path, *who: str, name: str = "made-up", pause_s_max: float = 0.001
) -> Path:
    """The made-up experiment with arms of these names."""
    text = inspect.getsource(made_up_experiment)
    text = text.replace('("first", "second")', repr(who)).replace('"made-up"', repr(name))
    text = text.replace("PAUSE_S_MAX = 0.001", f"PAUSE_S_MAX = {pause_s_max}")
    path = folder / f"{name.replace('-', '_')}.py"
    path.write_text(text, encoding="utf-8")
    return path


def asked(*files: Path, **changes: Any) -> runner.Ask:
    """What to ask the runner for in this process."""
    scope = Scope(quick=True, cores=1, devices=())
    experiments = [registry.load(file) for file in files]
    chosen = [(each, each.groups(scope)) for each in experiments]
    fields: dict[str, Any] = {"command": ("run",), "restarts": 1, "quick": True}
    return runner.Ask(chosen, **fields | changes)


def slow_file(folder: Path) -> Path:
    """One whose samples take the time that is asked for."""
    return experiment_file(folder, "first", "second", pause_s_max=9)


def start(*words: str | Path | float, prefix: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """A process that runs, resumes or replays."""
    process = subprocess.Popen(
        [*prefix, sys.executable, str(DRIVER), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        # A process started from a shell's background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    STARTED.append(process)
    return process


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and standard error."""
    out, said = process.communicate(timeout=120)
    assert out == ""
    assert "Traceback" not in said, said
    return process.returncode, said


def run(*words: str | Path | float) -> tuple[int, str]:
    """Runs, resumes or replays here, which starts the processes that measure all the same."""
    said, path = io.StringIO(), list(sys.path)
    try:
        with contextlib.redirect_stderr(said):
            code = drive_runner.main(*map(str, words))
    finally:
        # A file of one's own may import those beside it.
        sys.path[:] = path
    assert "Traceback" not in said.getvalue()
    return code, said.getvalue()


def limited(size: int, *words: str | Path | float) -> "subprocess.Popen[str]":
    """A process that can't make files grow beyond a size in bytes."""
    return start(*words, prefix=("prlimit", f"--fsize={size}"))


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it never came to that"
        time.sleep(0.02)


def blocks_begun(folder: Path, least: int = 2) -> Callable[[], bool]:
    """Whether some blocks are there."""

    def begun() -> bool:
        samples = folder / names.SAMPLES
        return samples.exists() and samples.read_bytes().count(b'"again":true') >= least

    return begun


def workers_of(folder: Path) -> list[int]:
    """The processes that measure into a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sealift.lab.worker" in words and str(folder).encode() in words:
            found.append(int(each.name))
    return found


def check(folder: Path, *, whole: bool) -> store.Run:
    """That the folder reads, has a page, and the blocks that were planned where it is whole."""
    read = store.read(folder)
    assert "<html" in report.page(read)
    summarise(read)
    assert not (folder / names.RESERVE).exists()
    assert read.is_whole == whole
    if whole:
        for planned in read.plan.experiments:
            for group in range(len(planned.groups)):
                assert len(read.blocks(planned.name, group)) == planned.blocks
    return read


DRIVER = Path(drive_runner.__file__)
STARTED: "list[subprocess.Popen[str]]" = []
