"""Runs: new ones, what is missing of old ones, and old ones again, process by process."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sealift.exit_code import ExitCode
from sealift_lab import _lab
from sealift_lab.experiments import registry
from sealift_lab.judge.rows import narrow, results
from sealift_lab.machine.facts import describe
from sealift_lab.machine.sensors import surroundings
from sealift_lab.measure import write_folder
from sealift_lab.measure.plan import changed_files, planned_again
from sealift_lab.measure.process import GroupJob
from sealift_lab.measure.watch_processes import FOR_TESTS, Parent
from sealift_lab.measure.write_folder import FolderError, NotWrittenError
from sealift_lab.model.run import ENDING, PLAN, Ending, Plan
from sealift_lab.model.units import format_duration
from sealift_lab.run.progress import Outlook, ShowProgress, show_progress
from sealift_lab.run.read_folder import EXAMPLE, Run, name_instead
from sealift_lab.run.schedule import LONG_S, STRIKES, Pace, Schedule, Step, read_state

AfterTask = Callable[[Path], None]
"""Shows what a folder holds up to now: at most every ten seconds while a run goes on, and at its
end. What it raises is reported, and ends nothing."""


@dataclass(frozen=True)
class Done:
    """A run that has ended: its folder, how it ended, and 0 or an `ExitCode`."""

    path: Path
    ending: Ending
    code: int


def run(
    plan: Plan,
    out: Path | None = None,
    *,
    notes: Sequence[str] = (),
    after_task: AfterTask = lambda _: None,
    is_kept: bool = True,
    progress: ShowProgress = show_progress,
) -> Done:
    """Measures what a plan has, into a new folder; without a name into one named after the time.

    Notes are stored with it; of a folder that is not kept no resume is spoken. A FolderError if the
    folder is not new, a NotWrittenError if it takes no files.
    """
    begin_s, path = time.monotonic(), out or default_path(datetime.now(UTC))
    with write_folder.hold_new(path) as lock:
        write_folder.create(path, plan, surroundings())
        session = _Session(path, lock, after_task, progress, is_kept=is_kept)
        return session.run(notes, begin_s, plan.budget_s)


def resume(
    path: Path,
    *,
    budget_s: float | None = None,
    after_task: AfterTask = lambda _: None,
    progress: ShowProgress = show_progress,
) -> Done:
    """Measures what is missing in a run folder, without a budget for as long as that takes.

    A FolderError if it is no run folder, is damaged, or another run writes into it.
    """
    begin_s = time.monotonic()
    # What is refused stays as it is.
    read_state(Run(path))
    with write_folder.hold(path) as lock:
        write_folder.mend(path)
        notes = _changes(Run(path))
        return _Session(path, lock, after_task, progress).run(notes, begin_s, budget_s or 0.0)


def replay(
    source: Path,
    out: Path | None,
    *,
    command: Sequence[str],
    after_task: AfterTask = lambda _: None,
) -> Done:
    """Does a run again, by its folder or its plan.json, into a new folder; raises as `run`."""
    is_plan = source.name == PLAN and not source.is_dir()
    if source.is_file() and not is_plan:
        raise FolderError(
            f"{source} is neither the folder of a run nor its {PLAN}; {name_instead(source)}"
        )
    plan = Run(source.parent if is_plan else source).plan
    files = changed_files(plan)
    notes = [f"{file} was changed since the run that is replayed" for file in files]
    return run(planned_again(plan, command), out, notes=notes, after_task=after_task)


def default_path(now: datetime) -> Path:
    """The folder of a run that names none: `runs/2026-11-21T142100Z`, or with a number behind."""
    first = path = EXAMPLE.parent / f"{now.astimezone(UTC):%Y-%m-%dT%H%M%S}Z"
    number = 1
    while path.exists():
        number += 1
        path = first.with_name(f"{first.name}-{number}")
    return path


def _changes(before: Run) -> list[str]:
    changes = [f"{file} was changed since the run began" for file in changed_files(before.plan)]
    if before.plan.version != _lab.__version__:
        changes.append(
            f"resumed with Sealift {_lab.__version__}; what stood there was measured with "
            f"{before.plan.version}"
        )
    was, now = before.machine.facts.get("cpu_model"), describe().get("cpu_model")
    if was and now and was.value != now.value:
        changes.append(f"resumed on another processor: {now.value}; before it was {was.value}")
    return changes


class _Session:
    """Carries out the plan of a run folder, and writes how that ended."""

    def __init__(
        self,
        path: Path,
        lock: int,
        after_task: AfterTask,
        progress: ShowProgress,
        *,
        is_kept: bool = True,
    ) -> None:
        run, self._show_progress = Run(path), progress
        self._path, self._plan = path, run.plan
        self._after_task, self._is_kept = after_task, is_kept
        self._parent = Parent(path, lock, run.plan, lambda text: self._progress.say(text))
        self._parent.sentences.update(run.notes)
        self._pace = Pace()
        self._schedule = Schedule(run.plan, self._pace)
        self._state = read_state(run)
        self._narrow = {each.name: self._judged(run, each.name) for each in run.plan.experiments}
        self._shown_s, self._show_every_s, self._closing_s = time.monotonic(), SHOW_EVERY_S, 0.0

    def run(self, notes: Sequence[str], begin_s: float, budget_s: float) -> Done:
        """Measures until the time is up, 0 for without an end, or all is measured."""
        self._budget_s, self._end_s = budget_s, begin_s + (budget_s or math.inf)
        with self._show_progress(self._plan) as self._progress, self._parent.signals():
            try:
                self._measure(notes)
                return self._end()
            except KeyboardInterrupt:
                # After a second signal all stays as it is.
                ending = Ending("interrupted", "a second signal came")
                return self._done(ending, ExitCode.INTERRUPTED)

    def _measure(self, notes: Sequence[str]) -> None:
        self._closing_s = min(CLOSING_S_MAX, CLOSING_SHARE * self._budget_s)
        if self._state.is_whole:
            self._progress.say(f"{self._path}: nothing is missing, so nothing is measured")
            return
        if not self._budget_s:
            rest = format_duration(self._schedule.rest_s(self._state))
            what = "the rest" if self._state.results else "this"
            self._progress.say(f"{what} takes about {rest}; Ctrl-C keeps what is complete")
        (self._path / ENDING).unlink(missing_ok=True)
        room = write_folder.reserve(self._path)
        with suppress(NotWrittenError), self._parent.writing(), room:
            for note in notes:
                self._parent.note(note)
            while not self._parent.is_ending and (step := self._next()):
                self._take(step)
                if not self._parent.is_ending:
                    self._show_meanwhile()

    def _end(self) -> Done:
        run = Run(self._path)
        self._state = read_state(run)
        ending = self._parent.ending or self._ending()
        # What is resumed without a budget may be of another day, or of another machine.
        if self._budget_s and ending.ending in ("complete", "time was up"):
            self._tried("costs", lambda: self._finish(run))
        is_written = self._tried("ending", lambda: write_folder.write_ending(self._path, ending))
        is_written &= self._tried("page", lambda: self._after_task(self._path))
        return self._done(ending, self._code(ending, is_written=is_written))

    def _done(self, ending: Ending, code: int) -> Done:
        """Says how the run ended, and how to measure the rest."""
        # What was given up here is tried again by a resume.
        rest_s = Schedule(self._plan, self._pace).rest_s(self._state)
        resume = write_folder.resume_command(self._path)
        say = self._progress.say
        measured = [name for name, of in self._state.groups.items() if any(g.blocks for g in of)]
        if for_tests := [name for name in measured if name not in self._state.results]:
            say(FOR_TESTS.format(", ".join(for_tests)))
        if ending.ending == "complete":
            if not self._state.results and not measured:
                say("nothing could be measured, for the reasons above")
            if not self._state.is_whole and self._is_kept and rest_s:
                say(f"to try again what could not be measured now: {resume}")
            return Done(self._path, ending, code)
        # What failed was reported when it did.
        text = ending.ending if ending.ending in ("interrupted", "failed") else ending.reason
        rest = f"; the rest takes about {format_duration(rest_s)}: {resume}"
        say(f"{text}{rest if self._is_kept and rest_s else ''}")
        return Done(self._path, ending, code)

    def _ending(self) -> Ending:
        # Not what lacks blocks only because nothing of it is here now.
        absent = {(name, group) for name, group, _ in self._parent.absent}
        lacks = any(
            each.lacking and (each.blocks or (name, each.group) not in absent)
            for name, groups in self._state.groups.items()
            for each in groups
        )
        # Other arms of a group may have their blocks: one that only raised has failed all the same.
        failed = [*(self._parent.failures if lacks else ()), *self._parent.raised.values()]
        if failed:
            return Ending("failed", "; ".join(dict.fromkeys(failed)))
        return Ending("time was up", self._too_short()) if lacks else Ending("complete")

    def _too_short(self) -> str:
        there = [groups for groups in self._state.groups.values() if groups]
        left_out = sum(all(each.lacking and not each.blocks for each in groups) for groups in there)
        short = f"{self._budget_s:g} s were too short for"
        if 0 < left_out < len(there):
            return f"{short} {left_out} of {len(there)} experiments"
        missing = sum(each.lacking for groups in there for each in groups)
        planned = sum(map(self._plan.blocks_of, self._plan.experiments))
        return f"{short} {missing:,} of {planned:,} blocks"

    def _code(self, ending: Ending, *, is_written: bool) -> int:
        if ending.ending == "not written" or not is_written:
            return ExitCode.NOT_WRITTEN
        if ending.ending == "interrupted":
            return ExitCode.INTERRUPTED
        if self._state.is_wrong:
            return ExitCode.WRONG_RESULT
        if ending.ending == "failed":
            return ExitCode.PART_FAILED
        return 0 if self._state.results else ExitCode.NOTHING_RAN

    def _next(self) -> Step | None:
        left_s = self._end_s - self._closing_s - time.monotonic()
        self._progress.plan(self._state, self._rest_s(left_s) + self._closing_s)
        return self._schedule.next(self._state, self._narrow, left_s)

    def _rest_s(self, left_s: float) -> float:
        """About what a run takes that has so much time: samples are as long as that allows."""
        return min(left_s, self._schedule.rest_s(self._state, LONG_S))

    def _take(self, step: Step) -> None:
        planned, now_s, latest_s = step.experiment, time.monotonic(), math.inf
        if self._budget_s:
            latest_s = min(now_s + step.most_s, self._end_s - self._closing_s)
        until_s = min(now_s + step.seconds, latest_s)
        process = self._state.processes.get(planned.name, 0)
        groups = [
            GroupJob(each.group, list(each.places), each.blocks, blocks, each.reference)
            for each, blocks in step.tasks
        ]
        self._pace.begin(step)
        left_s = self._end_s - now_s
        later_s = max(0.0, self._rest_s(left_s - self._closing_s) - step.seconds) + self._closing_s
        outlook = Outlook(step.blocks, until_s - now_s, later_s, left_s)
        self._progress.begin(planned.name, outlook)
        self._progress.show()
        found = self._parent.events(planned, process, groups, until_s=until_s, latest_s=latest_s)
        with closing(found) as events:
            for event in events:
                if event is not None:
                    self._handle(event)
                self._progress.show()
        self._pace.prepared()
        self._take_stock(step)

    def _handle(self, event: Mapping[str, Any]) -> None:
        match event:
            case {"event": "preparing", "cell": cell}:
                self._progress.prepare(cell)
            case {"event": "measuring"}:
                self._pace.prepared()
            case {"event": "block", "group": group, "ns_per_operation": arms}:
                self._pace.block(group, len(arms) + 1)
                times, payloads = (
                    {int(arm): figure for arm, figure in event[name].items()}
                    for name in ("ns_per_operation", "payload_bytes")
                )
                self._progress.block(group, times, payloads, event["clock_ghz"])

    def _take_stock(self, step: Step) -> None:
        name, run = step.experiment.name, Run(self._path)
        self._state = read_state(run)
        now = {each.group: (each.blocks, each.lacking) for each in self._state.groups[name]}
        if self._parent.has_hung:
            for group in now:
                self._schedule.strikes[name, group] += STRIKES
        else:
            # What gave nothing or failed is tried once more.
            for each, _ in step.tasks:
                if self._parent.has_failed or now[each.group] == (each.blocks, each.lacking):
                    self._schedule.strikes[name, each.group] += 1
        self._narrow[name] = self._judged(run, name)

    def _judged(self, run: Run, name: str) -> Mapping[int, bool]:
        """Which groups of an experiment have narrow intervals; none before one is finished."""
        if not any(each.blocks and not each.lacking for each in self._state.groups[name]):
            return {}
        planned = next(each for each in run.plan.experiments if each.name == name)
        return narrow(run.samples.filter(experiment=name), planned)

    def _finish(self, run: Run) -> None:
        found = results(run)
        own = {each.name for each in run.plan.experiments if each.file is None}
        for each in registry.all_experiments():
            if each.name in own and (text := each.on_finish(found[each.name])):
                self._progress.say(text)

    def _show_meanwhile(self) -> None:
        begin_s = time.monotonic()
        if begin_s - self._shown_s < self._show_every_s:
            return
        self._tried("page", lambda: self._after_task(self._path))
        self._shown_s = time.monotonic()
        took_s = self._shown_s - begin_s
        self._show_every_s = max(SHOW_EVERY_S, took_s / SHOW_SHARE)
        # The last page takes as long, and printing.
        self._closing_s = 2 * took_s + min(CLOSING_S_MAX, CLOSING_SHARE * self._budget_s)

    def _tried(self, what: str, write: Callable[[], None]) -> bool:
        """Whether something was written; an error is reported, and ends nothing."""
        try:
            write()
        except Exception as error:
            why = f"the {what} was not written: {type(error).__name__}: {error}"
            self._progress.say(str(error) if isinstance(error, NotWrittenError) else why)
            return False
        return True


SHOW_EVERY_S = 10.0
# Of the time: pages of long runs on busy machines take seconds.
SHOW_SHARE = 0.05
# Of the budget, for summing up and printing, beside what pages are known to take.
CLOSING_SHARE, CLOSING_S_MAX = 0.1, 3.0
