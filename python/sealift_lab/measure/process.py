"""The process that measures one experiment: `python -m sealift_lab.measure.process`.

It reads its job as JSON from standard input, adds blocks and reports to the run folder, and writes
one event a line as JSON to standard output. What an experiment prints itself goes to standard
error. The parent ends it with SIGTERM; when the parent is gone, the kernel kills it.
"""

import ctypes
import json
import math
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from operator import itemgetter
from pathlib import Path
from typing import Any

from sealift_lab._lab import NotMeasurableError
from sealift_lab.experiments import registry
from sealift_lab.measure.loop import Block, Ending, GroupTask, Task, measure
from sealift_lab.measure.write_folder import NO_ROOM, Journal, NotWrittenError, write_all
from sealift_lab.model.arm import (
    Arm,
    Cell,
    Computed,
    Context,
    Sample,
    Skip,
    Value,
    WrongResultError,
    why_not_stored,
)
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import PLAN, REPORTS, SAMPLES, ReportLine

Tell = Callable[[Mapping[str, Any]], None]
"""Passes an event to the parent."""

ArmPlace = tuple[int, int]
"""A group, and the place of an arm in it, as in the plan."""


@dataclass(frozen=True)
class GroupJob:
    """Which arms of a group a process measures, and how many blocks, numbered from the first on.

    The reference is what earlier processes compared with; None for the first arm that can be made.
    """

    group: int
    arms: Sequence[int]
    first_block: int
    blocks: int
    reference: int | None = None


@dataclass(frozen=True)
class Job:
    """What one process is to do; JSON on its standard input.

    Attributes:
        process: Number of this process among those that measure the experiment, from 0; stored as
            `restart`.
        groups: What is measured, most wanted first.
        until_s: When it should be over, on the monotonic clock, which is one for all processes: it
            decides the length of samples; infinity for the usual one.
        latest_s: When it ends whatever it lacks, on the same clock; infinity for never.
        parent: Process id of the parent.
        lock: Descriptor that holds the folder, inherited from the parent.
    """

    folder: Path
    experiment: str
    process: int
    groups: Sequence[GroupJob]
    until_s: float
    latest_s: float
    parent: int
    lock: int

    def __str__(self) -> str:
        """The form that `parse` takes; too long for a command line where there are many groups."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def parse(cls, text: str) -> "Job":
        """Parses what `str` gives."""
        plain = json.loads(text)
        groups = [GroupJob(**each) for each in plain["groups"]]
        return cls(**plain | {"folder": Path(plain["folder"]), "groups": groups})


class Again(StrEnum):
    """Why an arm that is left out now is tried again by the next process; empty for never."""

    NEVER = ""
    FAILED = "failed"
    TRANSIENT = "transient"
    NO_TIME = "no time"


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
        axes = {axis["name"] for axis in planned.get("axes", ())}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableError(f"{path}: {type(error).__name__}: {error}") from error
    try:
        file = planned.get("file")
        experiment = registry.find(job.experiment, None if file is None else Path(file))
    except ValueError as error:
        raise UnusableError(str(error)) from error
    if axes != {axis.name for axis in experiment.axes}:
        raise UnusableError("it has other axes today than in this plan; measure it in a new run")
    with Journal(job.folder / SAMPLES) as samples, Journal(job.folder / REPORTS) as reports:
        _keep_from_forks(samples.file, reports.file)
        bench = Bench(job, experiment, planned["groups"], context, samples, reports, tell)
        try:
            bench.prepare()
            ending = bench.measure()
        finally:
            # What was checked up to now is stored, however the work ends.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bench.write_reports()
    tell({"event": "ending", "ending": ending})


@dataclass
class Bench:
    """Prepares and measures the groups of a job; listens to the block loop.

    Attributes:
        groups: The planned cells.
        order: For each group in the loop its arms, in the order that they have there.
    """

    job: Job
    experiment: Experiment
    groups: Sequence[Sequence[Cell]]
    context: Context
    samples: Journal
    reports: Journal
    tell: Tell
    arms: "dict[ArmPlace, _GuardedArm]" = field(default_factory=dict)
    tried: int = 0
    order: list[list[ArmPlace]] = field(default_factory=list)

    def prepare(self) -> None:
        """Makes the arms; of groups that are timed, as many as there is time to measure.

        Computed arms are results, so their reports are written at once.
        """
        begin_s = time.monotonic()
        for each in self.job.groups:
            if self.tried and not self._has_time(each, begin_s):
                self._leave_out((each.group, arm) for arm in each.arms)
            else:
                self._prepare(each)

    def measure(self) -> Ending:
        """Takes the blocks; none of what is computed."""
        if not self.experiment.is_timed:
            return Ending.COMPLETE
        tasks = list(self._tasks())
        self.tell({"event": "measuring"})
        now_s = time.monotonic()
        seed = f"{self.context.seed}/{self.experiment.name}/{self.job.process}"
        seconds = max(0.0, self.job.until_s - now_s)
        return measure(Task(tasks, seconds, self.job.latest_s - now_s, seed), self)

    def block(self, group: int, number: int, block: Block) -> None:
        """Stores a block; called by the loop."""
        order = self.order[group]
        samples = zip(order, block.samples, strict=True)
        taken = {at: sample for at, sample in samples if sample is not None}
        lines = [(at, taken[at], False) for at in sorted(taken)]
        lines.append((order[block.aa_arm], block.aa_sample, True))
        head, tail = {"experiment": self.experiment.name}, {"restart": self.job.process}
        self.samples.add(
            {**head, "group": group, "arm": arm, "again": again, **tail, "block": number}
            # A class of an experiment's own may have more fields.
            | {name: getattr(sample, name) for name in TIMING}
            for (group, arm), sample, again in lines
        )
        clocks = [sample.clock_ghz for sample in taken.values() if sample.clock_ghz]
        self.tell(
            {
                "event": "block",
                "group": order[0][0],
                "ns_per_operation": {at[1]: each.ns_per_operation for at, each in taken.items()},
                "payload_bytes": {
                    at[1]: each.bytes / each.operations for at, each in taken.items()
                },
                "clock_ghz": sum(clocks) / len(clocks) if clocks else None,
            }
        )

    def wrong(self, group: int, arm: int, reason: str) -> None:
        """Stores that an arm ended; called by the loop."""
        at = self.order[group][arm]
        guarded = self.arms.pop(at)
        facts = self._facts(guarded, at)
        if guarded.has_failed:
            text = f"failed while it was measured: {reason}"
            self._report(at, facts, skipped=text, again=Again.FAILED)
        else:
            self._report(at, facts, wrong=reason)

    def write_reports(self) -> None:
        """Writes the reports of the arms that are left; called once, however measuring ended."""
        for at, arm in sorted(self.arms.items(), key=itemgetter(0)):
            self._report(at, self._facts(arm, at))
        self.arms = {}

    def _has_time(self, job: GroupJob, begin_s: float) -> bool:
        now_s, latest_s = time.monotonic(), self.job.latest_s
        if not self.experiment.is_timed or math.isinf(latest_s):
            return now_s < latest_s
        arms_s = (now_s - begin_s) / self.tried * len(job.arms)
        chosen = {job.group, *(group for group, _ in self.arms)}
        samples = sum(
            (len(each.arms) + 1) * each.blocks for each in self.job.groups if each.group in chosen
        )
        return now_s + arms_s + samples * SAMPLE_S <= latest_s

    def _prepare(self, job: GroupJob) -> None:
        is_timed, places = self.experiment.is_timed, [(job.group, arm) for arm in job.arms]
        if is_timed:
            # Memory that is taken first lies elsewhere: always the same arm's, it would be a bias.
            seed = f"{self.context.seed}/{self.experiment.name}/{self.job.process}/{job.group}"
            random.Random(seed).shuffle(places)
        for number, at in enumerate(places):
            if is_timed and time.monotonic() > self.job.latest_s:
                made = [each for each in places if self.arms.pop(each, None)]
                self._leave_out([*made, *places[number:]])
                return
            cell = dict(self.groups[job.group][at[1]])
            self.tell({"event": "preparing", "group": job.group, "arm": at[1], "cell": cell})
            arm = self._make(at, cell)
            if arm and is_timed:
                self.arms[at] = arm
            elif arm:
                self._report(at, self._facts(arm, at))

    def _make(self, at: ArmPlace, cell: Cell) -> "_GuardedArm | None":
        self.tried += 1
        try:
            arm = self.experiment.arm(cell, self.context)
            if isinstance(arm, Computed) == self.experiment.is_timed:
                raise TypeError(
                    "a Computed is not sampled; give the experiment an origin= or is_sampled=False"
                    if self.experiment.is_timed
                    else f"{type(arm).__name__} is no Computed, and nothing is timed here"
                )
            return _GuardedArm(arm, self.experiment.file)
        except Skip as skip:
            again = Again.TRANSIENT if skip.is_transient else Again.NEVER
            self._report(at, {}, skipped=str(skip) or NO_REASON, again=again)
        except WrongResultError as error:
            self._report(at, {}, wrong=str(error))
        except NotWrittenError:
            raise
        except Exception as error:
            reason = f"failed: {_describe(error, self.experiment.file)}"
            self._report(at, {}, skipped=reason, again=Again.FAILED)
        return None

    def _tasks(self) -> Iterator[GroupTask]:
        """The groups whose reference could be made; notes where it could not."""
        for each in self.job.groups:
            made = sorted(at for at in self.arms if at[0] == each.group)
            if not made:
                continue
            first = made[0] if each.reference is None else (each.group, each.reference)
            if first in made:
                order = [first, *(at for at in made if at != first)]
                self.order.append(order)
                arms = [self.arms[at] for at in order]
                yield GroupTask(arms, each.first_block, each.blocks)
            else:
                self._note(
                    f"{self._named(first)} could not be measured in process {self.job.process}, "
                    "so what is compared with it was not measured either"
                )

    def _leave_out(self, places: Iterable[ArmPlace]) -> None:
        for at in places:
            self._report(at, {}, skipped=NO_TIME, again=Again.NO_TIME)

    def _facts(self, arm: "_GuardedArm", at: ArmPlace) -> Mapping[str, Value]:
        """Facts that can be stored; a bool as text, because integers are added up."""
        try:
            facts = {
                name: str(value) if isinstance(value, bool) else value
                for name, value in arm.report().items()
            }
            for name, value in facts.items():
                if why := why_not_stored(name) or why_not_stored(value):
                    raise TypeError(f"report() has {name}={value!r}, which {why}")
        except Exception as error:
            self._note(
                f"{self._named(at)} gave no report: {_describe(error, self.experiment.file)}"
            )
            return {}
        return {str(name): value for name, value in facts.items()}

    def _report(
        self,
        at: ArmPlace,
        facts: Mapping[str, Value],
        *,
        skipped: str = "",
        wrong: str | None = None,
        again: Again = Again.NEVER,
    ) -> None:
        why = "" if wrong is None else wrong or NO_REASON
        name, process = self.experiment.name, self.job.process
        line = ReportLine(name, *at, process, facts, skipped, why, bool(again))
        self.reports.add([asdict(line)])
        event = {"group": at[0], "arm": at[1], "text": skipped or why}
        if skipped:
            self.tell({"event": "skipped", **event, "again": again})
        elif why:
            self.tell({"event": "wrong", **event})

    def _note(self, text: str) -> None:
        self.tell({"event": "note", "text": text})

    def _named(self, at: ArmPlace) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.groups[at[0]][at[1]].items())


@dataclass
class _GuardedArm:
    """An arm whose own mistakes are told apart from wrong results."""

    arm: Arm
    file: Path | None
    has_failed: bool = False

    def sample(self, seconds: float) -> Sample:
        try:
            sample = self.arm.sample(seconds)
            if not isinstance(sample, Sample):
                raise TypeError(f"sample() gave {sample!r}; right would be a Sample")
        except (WrongResultError, NotWrittenError):
            raise
        except Exception as error:
            text = _describe(error, self.file)
            self.has_failed = True
            raise WrongResultError(text) from error
        return sample

    def report(self) -> Mapping[str, Value]:
        return self.arm.report()


def _describe(error: Exception, file: Path | None) -> str:
    """Type and text of an exception, and the line of one's own file that led there.

    A disk that is full under a file of the experiment's own ends the run, which can be resumed.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        path = Path(str(error.filename or "a file of the experiment"))
        raise NotWrittenError(path, error) from error
    if file is None and isinstance(error, NotMeasurableError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)] or frames
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


# -P: a file in the current folder hides no module of Python's own.
COMMAND = (sys.executable, "-P", "-m", "sealift_lab.measure.process")
TIMING = tuple(each.name for each in fields(Sample))
NO_TIME, NO_REASON = "no time was left to prepare it", "no reason was given"
# The shortest sample with its lead-in and what is between: only what can be measured is prepared.
SAMPLE_S = 0.0085
PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main()
