"""Runs of the made-up experiment: in this process, in their own, and what their folders hold."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sealift_lab.experiments import registry
from sealift_lab.measure.child import Child
from sealift_lab.measure.job import GroupJob, Job
from sealift_lab.measure.journal import write_json
from sealift_lab.measure.plan import make_plan
from sealift_lab.model.experiment import Scope

MADE_UP = Path(__file__).with_name("made_up.py")


def experiment_file(folder: Path, *who: str, pause_s_max: float = 0.001) -> Path:
    """The made-up experiment with arms of these names."""
    text = MADE_UP.read_text(encoding="utf-8")
    text = text.replace('("first", "second")', repr(who))
    text = text.replace("PAUSE_S_MAX = 0.001", f"PAUSE_S_MAX = {pause_s_max}")
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


def new_run(folder: Path, *who: str, blocks: int = 4) -> Path:
    """A run folder with a plan and no samples."""
    (folder / "run").mkdir()
    experiment = registry.load(experiment_file(folder, *who))
    groups = experiment.groups(Scope(quick=True, cores=1, devices=()))
    plan = make_plan([(experiment, groups)], command=["test"], seed=1, processes=1, blocks=blocks)
    write_json(folder / "run/plan.json", asdict(plan))
    return folder / "run"


def job(run: Path, arms: int, **changes: Any) -> Job:
    """A job of four blocks of the first group, within 60 seconds."""
    now_s = time.monotonic()
    fields: dict[str, Any] = {
        "folder": run,
        "experiment": "made-up",
        "process": 0,
        "groups": [GroupJob(0, list(range(arms)), 0, 4)],
        "until_s": now_s + 60,
        "latest_s": now_s + 60,
        "parent": os.getpid(),
        "lock": os.open(run / "run.lock", os.O_RDWR | os.O_CREAT),
    }
    return Job(**fields | changes)


def events(of: Job, said: list[str] | None = None) -> tuple[list[dict[str, Any]], str]:
    """All events of a child that does a job, and why it failed."""
    lines_of_stderr: list[str] = [] if said is None else said
    child = Child(of, lines_of_stderr.append)
    found = [event for event in child.events() if event is not None]
    os.close(of.lock)
    return found, child.failed


def measure(*words: str | Path) -> "subprocess.Popen[str]":
    """`python -m sealift_lab.measure` with these words."""
    return subprocess.Popen(
        [sys.executable, "-m", "sealift_lab.measure", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process started from a shell's background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and standard error."""
    out, said = process.communicate(timeout=60)
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
    """By group the process and number of each block; checks that all are whole, as readers do."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for block in _split(lines(run, "samples.jsonl")):
        first = block[0]
        for name in ("group", "restart", "block"):
            assert {line[name] for line in block} == {first[name]}
        arms = [line["arm"] for line in block]
        assert len(set(arms[:-1])) == len(arms) - 1
        assert arms[-1] in arms[:-1]
        assert first["block"] == len(found[first["group"]])
        found[first["group"]].append((first["restart"], first["block"]))
    return found


def _split(samples: Sequence[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    begin = 0
    for end, line in enumerate(samples, 1):
        if line["again"]:
            yield samples[begin:end]
            begin = end
    assert begin == len(samples), "the last block is not whole"


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end_s = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end_s, "it never came to that"
        time.sleep(0.02)
