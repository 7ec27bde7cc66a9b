"""Carries out the plan of a run folder, process by process, and writes how that ended."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from sealift.exit_code import ExitCode
from sealift_lab.experiments import registry
from sealift_lab.judge.judge import narrow, results
from sealift_lab.machine.sensors import Sensors, sampling
from sealift_lab.measure.child import Child
from sealift_lab.measure.job import Again, GroupJob, Job
from sealift_lab.measure.journal import Journal, NotWrittenError
from sealift_lab.measure.loop import Ending as LoopEnding
from sealift_lab.measure.stop import Stop, signals
from sealift_lab.model.run import ENDING, NOTES, SENSORS, Ending
from sealift_lab.model.units import format_duration
from sealift_lab.run.folder import Run
from sealift_lab.run.outcome import Done, Trouble, exit_code, say_ending
from sealift_lab.run.pace import Pace
from sealift_lab.run.progress import Progress, show_progress
from sealift_lab.run.schedule import STRIKES, Schedule, Step
from sealift_lab.run.state import read_state
from sealift_lab.run.writing import mend, reserve, write_ending

AfterTask = Callable[[Path], None]
"""Shows what a folder holds up to now: at most every ten seconds while a run goes on, and at its
end. What it raises is reported, and ends nothing."""


def carry_out(
    path: Path,
    lock: int,
    *,
    budget_s: float,
    notes: Sequence[str],
    after_task: AfterTask,
    begin_s: float,
    is_kept: bool = True,
) -> Done:
    """Measures what is missing, writes the ending, and says what to do next.

    Args:
        path: A run folder, held.
        lock: The descriptor that holds it.
        budget_s: Seconds for everything; 0 for as long as all of it takes.
        notes: Written to notes.jsonl first.
        after_task: Called with the folder.
        begin_s: When the budget began, on the monotonic clock.
        is_kept: Whether the folder stays, so that a resume may be spoken of.

    Raises:
        FolderError: If the folder is damaged.
    """
    run = Run(path)
    with show_progress(run.plan) as progress, signals() as stop:
        session = _Session(run, lock, progress, stop, after_task)
        session.budget_s, session.is_kept = budget_s, is_kept
        session.end_s = begin_s + budget_s if budget_s else math.inf
        try:
            session.measure(notes)
            return session.end()
        except KeyboardInterrupt:
            return session.end_at_once()


class _Session:
    """The state of `carry_out`."""

    def __init__(
        self, run: Run, lock: int, progress: Progress, stop: Stop, after_task: AfterTask
    ) -> None:
        self.budget_s, self.end_s, self.is_kept = 0.0, math.inf, True
        self._path, self._plan, self._lock = run.path, run.plan, lock
        self._progress, self._stop = progress, stop
        self._after_task = after_task
        self._pace = Pace()
        self._schedule = Schedule(run.plan, self._pace)
        self._trouble = Trouble()
        self._state = read_state(run)
        self._narrow = {each.name: self._judged(run, each.name) for each in run.plan.experiments}
        self._said = set(run.notes)
        self._shown_s, self._show_every_s, self._closing_s = time.monotonic(), SHOW_EVERY_S, 0.0
        self._has_hung = False

    def measure(self, notes: Sequence[str]) -> None:
        """Takes steps as long as there are some and there is time."""
        self._closing_s = min(CLOSING_S_MAX, CLOSING_SHARE * self.budget_s)
        if self._state.is_whole:
            self._progress.say(f"{self._path}: nothing is missing, so nothing is measured")
            return
        if not self.budget_s:
            rest = format_duration(self._schedule.rest_s(self._state))
            self._progress.say(f"the rest takes about {rest}; Ctrl-C keeps what is complete")
        try:
            with self._writing(notes):
                while not self._stop.is_requested and (step := self._next()):
                    self._take(step)
                    if not self._stop.is_requested:
                        self._show_meanwhile()
        except NotWrittenError as error:
            self._trouble.not_written = str(error)

    def end(self) -> Done:
        """Writes the ending, has everything shown, and says what to do next."""
        run = Run(self._path)
        self._state = state = read_state(run)
        ending = self._trouble.ending(run.plan, state, self._stop.signal, self.budget_s)
        # What is resumed without a budget may be of another day, or of another machine.
        if self.budget_s and ending.ending in ("complete", "time was up"):
            self._tried("costs", lambda: self._finish(run))
        is_written = self._tried("ending", lambda: write_ending(self._path, ending))
        is_written &= self._tried("page", lambda: self._after_task(self._path))
        return self._done(ending, exit_code(state, ending, is_written=is_written))

    def end_at_once(self) -> Done:
        """After a second signal: leaves everything as it is."""
        ending = Ending("interrupted", "a second signal came")
        return self._done(ending, ExitCode.INTERRUPTED)

    def _done(self, ending: Ending, code: int) -> Done:
        # What was given up here is tried again by a resume.
        rest_s = Schedule(self._plan, self._pace).rest_s(self._state) if self.is_kept else 0.0
        say_ending(self._path, self._state, ending, self._progress.say, rest_s)
        return Done(self._path, ending, code)

    @contextmanager
    def _writing(self, notes: Sequence[str]) -> Iterator[None]:
        """Keeps open what is written while a run goes on."""
        (self._path / ENDING).unlink(missing_ok=True)
        with (
            reserve(self._path),
            Journal(self._path / NOTES) as self._notes,
            Journal(self._path / SENSORS) as self._readings,
            sampling(Sensors(), self._store_reading),
        ):
            for note in notes:
                self._note(note)
            yield

    def _next(self) -> Step | None:
        left_s = self.end_s - self._closing_s - time.monotonic()
        rest_s = min(left_s, self._schedule.rest_s(self._state))
        self._progress.plan(self._state, rest_s + self._closing_s)
        return self._schedule.next(self._state, self._narrow, left_s)

    def _take(self, step: Step) -> None:
        job = self._job(step)
        if step.experiment.is_timed:
            arms = sum(len(each.arms) for each in job.groups)
            self._pace.begin(job.experiment, arms, step.sample_s)
        self._progress.begin(job.experiment)
        self._progress.show()
        self._has_hung = False
        child = Child(job, self._progress.say)
        with self._stop.stopping(child):
            self._listen(step, job, child)
        self._pace.prepared()
        if child.failed and not self._has_hung and not self._stop.is_requested:
            self._fail(
                f"{job.experiment}: process {job.process} {child.failed}; its complete blocks are "
                "kept, what it had checked is not counted"
            )
        # A process that ended in good order leaves nothing half-written.
        if child.failed or self._stop.is_requested:
            mend(self._path)
        self._take_stock(step, has_failed=bool(child.failed))

    def _job(self, step: Step) -> Job:
        now_s, latest_s = time.monotonic(), math.inf
        if self.budget_s:
            latest_s = min(now_s + step.most_s, self.end_s - self._closing_s)
        return Job(
            folder=self._path,
            experiment=step.experiment.name,
            process=self._state.processes.get(step.experiment.name, 0),
            groups=[
                GroupJob(e.group, list(e.places), e.blocks, blocks, e.reference, blocks)
                for e, blocks in step.tasks
            ],
            until_s=min(now_s + step.seconds, latest_s),
            latest_s=latest_s,
            parent=os.getpid(),
            lock=self._lock,
        )

    def _listen(self, step: Step, job: Job, child: Child) -> None:
        """Follows the events of a process, and ends one that hangs beyond its time."""
        heard_s = time.monotonic()
        silence_s = HANG_S if self.budget_s else ENDLESS_HANG_S
        due_s = job.latest_s if self.budget_s else job.until_s
        for event in child.events():
            now_s = time.monotonic()
            if event is not None:
                heard_s = now_s
                self._heard(step, event)
            elif not self._has_hung and now_s > max(due_s, heard_s) + silence_s:
                self._has_hung = True
                self._fail(
                    f"{job.experiment}: process {job.process} gave no sign for "
                    f"{now_s - heard_s:.0f} s, though its time was up, and was stopped; it is not "
                    "started again in this run"
                )
                child.stop()
            self._progress.show()

    def _heard(self, step: Step, event: Mapping[str, Any]) -> None:
        match event:
            case {"event": "preparing", "cell": cell}:
                self._progress.prepare(cell)
            case {"event": "measuring"}:
                self._pace.prepared()
            case {"event": "block", "group": group, "ns_per_operation": times}:
                self._pace.block(group, len(times) + 1)
                for arm in times:
                    self._trouble.raised.pop((step.experiment.name, group, int(arm)), None)
                self._progress.block(group, {int(arm): ns for arm, ns in times.items()})
            case {"event": "skipped", "group": group, "arm": arm, "text": text, "again": again}:
                self._skipped(step, group, arm, text, again)
            case {"event": "wrong", "group": group, "arm": arm, "text": text}:
                self._say(f"{_named(step, group, arm)}: computed wrong: {text}")
            case {"event": "failed" | "note", "text": text}:
                self._fail(f"{step.experiment.name}: {text}")
            case {"event": "not written", "text": text}:
                self._trouble.not_written = text
                self._stop.request()
            case {"event": "ending", "ending": LoopEnding.INTERRUPTED}:
                if not self._stop.is_requested and not self._has_hung:
                    self._fail(f"{step.experiment.name}: its process was interrupted from inside")

    def _skipped(self, step: Step, group: int, arm: int, text: str, again: str) -> None:
        said = f"{_named(step, group, arm)}: {text}"
        if again == Again.FAILED:
            self._trouble.raised[step.experiment.name, group, arm] = said
        elif again == Again.TRANSIENT:
            self._trouble.absent.add((step.experiment.name, group))
        # What no process had time for is said at the end.
        if again != Again.NO_TIME:
            self._say(said)

    def _take_stock(self, step: Step, *, has_failed: bool) -> None:
        """What a process has added; what gave nothing or failed is tried once more."""
        name, run = step.experiment.name, Run(self._path)
        self._state = read_state(run)
        now = {each.group: (each.blocks, each.lacking) for each in self._state.groups[name]}
        still = [
            each.group for each, _ in step.tasks if now[each.group] == (each.blocks, each.lacking)
        ]
        begun = [each.group for each, _ in step.tasks]
        for group in now if self._has_hung else begun if has_failed else still:
            self._schedule.strike(name, group, STRIKES if self._has_hung else 1)
        self._narrow[name] = self._judged(run, name)

    def _judged(self, run: Run, name: str) -> Mapping[int, bool]:
        """Which groups of an experiment have narrow intervals; none before one is finished."""
        planned = next(each for each in run.plan.experiments if each.name == name)
        groups = self._state.groups[name]
        if not any(each.blocks and not each.lacking for each in groups):
            return {}
        samples = run.samples.filter(pl.col("experiment") == name)
        return narrow(samples, planned)

    def _finish(self, run: Run) -> None:
        """Has the lab's own experiments store what the engine looks for."""
        found = results(run)
        known = {each.name: each for each in registry.all_experiments()}
        names = [each.name for each in run.plan.experiments if each.file is None]
        texts = [known[name].on_finish(found[name]) for name in names if name in known]
        for text in filter(None, texts):
            self._progress.say(text)

    def _fail(self, text: str) -> None:
        self._trouble.failed.append(text)
        self._note(text)

    def _note(self, text: str) -> None:
        if self._say(text):
            self._notes.add([{"note": text}])

    def _say(self, text: str) -> bool:
        """Says it once: each arm stands in many groups and processes."""
        if text in self._said:
            return False
        self._said.add(text)
        self._progress.say(text)
        return True

    def _store_reading(self, at_s: float, values: Mapping[str, float]) -> bool:
        """Called in the thread that reads the sensors; false ends it."""
        created_s = datetime.fromisoformat(self._plan.created).timestamp()
        try:
            self._readings.add([{"at_s": round(max(0.0, at_s - created_s), 3), "values": values}])
        except NotWrittenError as error:
            self._trouble.not_written = str(error)
            self._stop.request()
            return False
        return True

    def _show_meanwhile(self) -> None:
        begin_s = time.monotonic()
        if begin_s - self._shown_s < self._show_every_s:
            return
        self._tried("page", lambda: self._after_task(self._path))
        self._shown_s = time.monotonic()
        took_s = self._shown_s - begin_s
        self._show_every_s = max(SHOW_EVERY_S, took_s / SHOW_SHARE)
        # The last page takes as long, and printing.
        self._closing_s = 2 * took_s + min(CLOSING_S_MAX, CLOSING_SHARE * self.budget_s)

    def _tried(self, what: str, write: Callable[[], None]) -> bool:
        """Whether something was written; an error is reported, and ends nothing."""
        try:
            write()
        except NotWrittenError as error:
            self._progress.say(str(error))
        except Exception as error:
            self._progress.say(f"the {what} was not written: {type(error).__name__}: {error}")
        else:
            return True
        return False


def _named(step: Step, group: int, arm: int) -> str:
    """An arm by its experiment and the compared value."""
    planned = step.experiment
    return f"{planned.name}, {planned.groups[group][arm][planned.compare]}"


SHOW_EVERY_S = 10.0
# Of the time: pages of long runs on busy machines take seconds.
SHOW_SHARE = 0.05
# Of the budget, for summing up and printing, beside what pages are known to take.
CLOSING_SHARE, CLOSING_S_MAX = 0.1, 3.0
# For one slow sample; other experiments have the rest of the time. A resume without a budget waits.
HANG_S, ENDLESS_HANG_S = 10.0, 600.0
