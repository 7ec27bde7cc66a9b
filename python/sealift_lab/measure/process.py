"""The process that measures one experiment: `python -m sealift_lab.measure.process`.

It reads its job as JSON from standard input, adds blocks and reports to the run folder, and writes
one event a line as JSON to standard output. What an experiment prints itself goes to standard
error. The parent ends it with SIGTERM; when the parent is gone, the kernel kills it.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sealift_lab.experiments import registry
from sealift_lab.measure.bench import Bench, Job, Tell
from sealift_lab.measure.loop import Ending
from sealift_lab.measure.storage import Journal, NotWrittenError, write_all
from sealift_lab.model.arm import Context
from sealift_lab.model.run import PLAN, REPORTS, SAMPLES


def main() -> None:
    """Does the job on standard input; errors are events, too."""
    job = Job.parse(sys.stdin.read())
    _follow(job.parent)
    # Whatever else prints to standard output goes to standard error.
    events = os.dup(1)
    os.dup2(2, 1)
    os.set_inheritable(job.lock, False)  # noqa: FBT003 (takes no keywords)
    _keep_from_forks(events, job.lock)

    def tell(event: Mapping[str, Any]) -> None:
        write_all(events, f"{json.dumps(event)}\n".encode())

    try:
        # The parent blocked them, so that none came before this line.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        _work(job, tell)
    except KeyboardInterrupt:
        tell({"event": "ending", "ending": Ending.INTERRUPTED})
    except NotWrittenError as error:
        tell({"event": "not written", "text": str(error)})
    except UnusableError as error:
        tell({"event": "failed", "text": str(error)})


class UnusableError(Exception):
    """The plan can't be read, or its experiment can't be found or run."""


def _follow(parent: int) -> None:
    """SIGTERM of the parent ends the work; Ctrl-C is the parent's; without a parent all ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _keep_from_forks(*descriptors: int) -> None:
    """A process that an experiment forks, and that lives on, must not hold these open."""

    def close() -> None:
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        for each in descriptors:
            # The number stays taken, so that nothing is written into a file opened later.
            os.dup2(nothing, each, inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=close)


def _work(job: Job, tell: Tell) -> None:
    path = job.folder / PLAN
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        planned = {each["name"]: each for each in plan["experiments"]}[job.experiment]
        context = Context(plan["seed"], job.folder, planned.get("legend", {}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableError(f"{path}: {type(error).__name__}: {error}") from error
    try:
        file = planned.get("file")
        experiment = registry.find(job.experiment, None if file is None else Path(file))
    except ValueError as error:
        raise UnusableError(str(error)) from error
    with Journal(job.folder / SAMPLES) as samples, Journal(job.folder / REPORTS) as reports:
        _keep_from_forks(samples.file, reports.file)
        bench = Bench(job, experiment, planned["groups"], context, (samples, reports), tell)
        try:
            bench.prepare()
            ending = bench.measure()
        finally:
            # What was checked up to now is stored, however the work ends.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bench.write_reports()
    tell({"event": "ending", "ending": ending})


PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main()
