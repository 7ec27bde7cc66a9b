"""Runs of the waiting experiment: in this process, in their own, and what their folders hold."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sealift_lab.experiments import registry
from sealift_lab.measure.plan import make_plan
from sealift_lab.measure.process import GroupJob, Job
from sealift_lab.measure.watch_processes import Child
from sealift_lab.measure.write_folder import create
from sealift_lab.model.experiment import Scope
from sealift_lab.model.run import Surroundings

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


def new_run(folder: Path, *who: str, blocks: int = 4) -> Path:
    """A run folder with a plan and no samples."""
    experiment = registry.load(experiment_file(folder, *who))
    groups = experiment.groups(Scope(quick=True, cores=1, devices=()))
    plan = make_plan([(experiment, groups)], command=["test"], processes=1, blocks=blocks)
    create(folder / "run", plan, Surroundings({}))
    return folder / "run"


def job(run: Path, arms: int, **changes: Any) -> Job:
    """A job of four blocks of the first group, planned for 60 seconds."""
    now_s = time.monotonic()
    fields: dict[str, Any] = {
        "folder": run,
        "experiment": "waiting",
        "process": 0,
        "groups": [GroupJob(0, list(range(arms)), 0, 4)],
        "until_s": now_s + 60,
        "latest_s": now_s + 600,
        "parent": os.getpid(),
        "lock": os.open(run / "run.lock", os.O_RDWR | os.O_CREAT),
    }
    return Job(**fields | changes)


def events(of: Job, said: list[str] | None = None) -> tuple[list[dict[str, Any]], str]:
    """All events of a child that does a job, and why it failed."""
    child = Child(of, ([] if said is None else said).append)
    found = [event for event in child.events() if event is not None]
    os.close(of.lock)
    return found, child.failed


def start(module: str, *words: str | Path) -> "subprocess.Popen[str]":
    """A module with these words, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, words)],
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
    out, said = process.communicate(timeout=300)
    assert out == ""
    assert "Traceback" not in said, said
    return process.returncode, said


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file, each of which has its end."""
    path = run / name
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def blocks(run: Path) -> Mapping[int, Sequence[tuple[int, int]]]:
    """By group the process and number of each block; every last line ends one."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    samples = lines(run, "samples.jsonl")
    for line in samples:
        if line["again"]:
            found[line["group"]].append((line["restart"], line["block"]))
    assert not samples or samples[-1]["again"], "the last block is not whole"
    return found


def wait_until(is_so: Callable[[], bool], seconds: float = 300) -> None:
    end_s = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end_s, "it never came to that"
        time.sleep(0.02)


def has_begun(run: Path, least: int = 2) -> bool:
    """Whether some blocks are there."""
    samples = run / "samples.jsonl"
    return samples.exists() and samples.read_bytes().count(b'"again":true') >= least
