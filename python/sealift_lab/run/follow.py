"""Follows a run that another process writes, by the whole lines that its files get."""

import fcntl
import math
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sealift_lab.measure.write_folder import resume_command
from sealift_lab.model.run import LOCK, REPORTS, SAMPLES, Ending, Plan, PlannedExperiment
from sealift_lab.run.progress import Progress
from sealift_lab.run.read_folder import DECODERS, Run, newest
from sealift_lab.run.schedule import State


class Follower:
    """Tells a `Progress` what a run does, read by read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        """Reads nothing yet; the plan of the folder is that of `progress`."""
        self._progress, plan = progress, Run(path).plan
        self._reports, self._samples = Tail(path / REPORTS), Tail(path / SAMPLES)
        self._planned = {each.name: each for each in plan.experiments}
        self._process: tuple[str, int] | None = None
        self._block: dict[int, Any] = {}
        progress.plan(NOTHING, _left_s(plan))

    def read(self) -> None:
        """Passes on what was written since the last time."""
        for line in self._reports.read():
            planned = self._planned.get(line.experiment)
            # Those of what is sampled come when a process is at its end.
            if planned and not planned.is_timed and _has(planned, line.group, line.arm):
                self._begin(line.experiment, line.restart)
                self._progress.prepare(planned.groups[line.group][line.arm])
        for line in self._samples.read():
            planned = self._planned.get(line.experiment)
            if planned is None or not _has(planned, line.group, line.arm):
                continue
            self._begin(line.experiment, line.restart)
            if not line.again:
                self._block[line.arm] = line
                continue
            arms, clocks = self._block, [e.clock_ghz for e in self._block.values() if e.clock_ghz]
            self._block = {}
            self._progress.block(
                line.group,
                {arm: each.ns / each.operations for arm, each in arms.items()},
                {arm: each.bytes / each.operations for arm, each in arms.items()},
                sum(clocks) / len(clocks) if clocks else None,
            )

    def _begin(self, experiment: str, process: int) -> None:
        if self._process != (experiment, process):
            self._process, self._block = (experiment, process), {}
            self._progress.begin(experiment)


class Tail:
    """The whole lines that a file gets; half a last line waits for its end."""

    def __init__(self, path: Path) -> None:
        """Begins with the file's first line; it need not be there yet."""
        self._path, self._at, self._decode = path, 0, DECODERS[path.name].decode

    def read(self) -> Iterator[Any]:
        """The lines since the last time; one that can't be decoded is left out."""
        try:
            with self._path.open("rb") as file:
                # What a killed process left half-written is cut off.
                self._at = file.seek(min(self._at, file.seek(0, 2)))
                text = file.read()
        except FileNotFoundError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            try:
                yield self._decode(line)
            except ValueError:
                continue


def running() -> Path | None:
    """The newest folder under runs/, if its run goes on."""
    path = newest()
    return path if path and ending_of(path) is None else None


def ending_of(path: Path) -> Ending | None:
    """How a run ended, or that it stopped without one; None while a process of it lives.

    Where its lock can't be tried, it goes on until its ending is written.
    """
    try:
        # Its processes hold the lock alone, however long they write nothing.
        with (path / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        pass
    except OSError:
        # It may not be read, or the file system has no locks: only its last file tells.
        return Run(path).ending
    free = f"no process of this machine holds it; `{resume_command(path)}` measures the rest"
    return Run(path).ending or Ending("stopped", free)


def _has(planned: PlannedExperiment, group: int, arm: int) -> bool:
    return group < len(planned.groups) and arm < len(planned.groups[group])


def _left_s(plan: Plan) -> float:
    """Until the budget is used up; infinity without one, and where a resume has another."""
    created_s = datetime.fromisoformat(plan.created).timestamp()
    left_s = created_s + plan.budget_s - time.time()
    return left_s if left_s > 0 else math.inf


NOTHING = State({}, {}, frozenset(), is_wrong=False)
