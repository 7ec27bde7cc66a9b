"""Carries out the plan of a run folder, step by step, and writes how that ended."""

import math
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sealift.exit_code import ExitCode
from sealift.lab import store, summary
from sealift.lab.measure import Ending as Interrupted
from sealift.lab.progress import Course, Forecast, Teller, telling
from sealift.lab.record import records_of
from sealift.lab.result import Found
from sealift.lab.runner.child import Child
from sealift.lab.runner.outcome import Done, Trouble, about_text, exit_code, say_ending
from sealift.lab.runner.planning import Work, rest_s, works
from sealift.lab.runner.publishing import leave, publish
from sealift.lab.runner.saying import Saying
from sealift.lab.runner.stop import Stop, heeded
from sealift.lab.sensors import Sensors, sampling
from sealift.lab.store import Ending, How, names
from sealift.lab.worker import Again, Order


def go(
    path: Path,
    lock: int,
    *,
    budget_s: float | None,
    notes: Sequence[str],
    after_task: Callable[[Path], None],
    begin_s: float,
    is_kept: bool = True,
) -> Done:
    """Measures what is missing, one experiment after the other, and writes summary and ending.

    Args:
        path: A run folder, held.
        lock: The descriptor that holds it.
        budget_s: Seconds for everything; None for as long as all blocks take.
        notes: What is to be kept in notes.jsonl before.
        after_task: See `runner.run`.
        begin_s: When the budget began, on the monotonic clock.
        is_kept: Whether the folder stays, so that a resume may be spoken of.

    Raises:
        store.StoreError: If the folder is damaged.
    """
    run = store.read(path)
    finish = budget_s is None
    steps = works(run, finish=finish)
    if budget_s is None:
        budget_s = rest_s(run, steps)
    grace_s = math.inf if finish else max(GRACE_S_MIN, GRACE_SHARE * budget_s)
    spent_s = time.monotonic() - begin_s
    left_s = max(0.0, (1.0 if finish else 1 - GRACE_SHARE) * budget_s - spent_s)
    forecast = Forecast([work.step for work in steps], left_s, grace_s=grace_s)
    forecast.keep(CLOSING_SHARE * left_s)
    done = {
        planned.name: sum(
            len(run.blocks(planned.name, group)) for group in range(len(planned.groups))
        )
        for planned in run.plan.experiments
    }
    course = Course(run.plan.experiments, done, forecast)
    with telling(course) as teller, heeded() as stop:
        if not steps:
            teller.say(f"{path}: nothing is missing, so nothing is measured")
        elif finish:
            teller.say(f"the rest takes {about_text(budget_s)}; Ctrl-C keeps what is complete")
        session = _Session(run, lock, course, teller, stop, after_task)
        session.finish, session.is_kept, session.budget_s = finish, is_kept, budget_s
        try:
            session.measure(steps, notes)
            return session.end()
        except KeyboardInterrupt:
            return session.end_at_once()


class _Session:
    """The state of `go`."""

    def __init__(
        self,
        run: store.Run,
        lock: int,
        course: Course,
        teller: Teller,
        stop: Stop,
        after_task: Callable[[Path], None],
    ) -> None:
        self.finish = False
        self.is_kept = True
        self.budget_s = run.plan.budget_s
        self._run = run
        self._path = run.path
        self._lock = lock
        self._course = course
        self._teller = teller
        self._stop = stop
        self._after_task = after_task
        self._shown_s = time.monotonic()
        self._show_every_s = SHOWN_EVERY_S
        self._restarts = dict(run.restarts)
        self._noted = set(run.notes)
        self._saying = Saying(run.plan, teller.say)
        self._trouble = Trouble()
        self._hung: set[str] = set()
        self._left_out: set[str] = set()
        self._begun: set[str] = set()

    def measure(self, steps: Sequence[Work], notes: Sequence[str]) -> None:
        """Takes the steps, until one of the things happens that end a run."""
        try:
            with self._writing(steps):
                for note in notes:
                    self._note(note)
                for number, work in enumerate(steps):
                    if not self._is_next(number, work.step.experiment):
                        continue
                    self._step(number, work)
                    if self._stop.is_asked:
                        return
                    if number + 1 < len(steps):
                        self._show_meanwhile()
        except store.NotWrittenError as error:
            self._trouble.not_written = str(error)

    def _is_next(self, number: int, name: str) -> bool:
        """Whether to take a step; of experiments that have no time for a verdict only the first.

        One that was begun goes on.
        """
        if name in self._hung or name in self._left_out:
            return False
        has_time = self.finish or not self._begun or self._course.forecast.fits(number)
        if name not in self._begun and not has_time:
            self._left_out.add(name)
            return False
        self._begun.add(name)
        return True

    def end(self) -> Done:
        """Writes summary and ending, has them shown, and says what to do next."""
        run = store.read(self._path)
        ending = self._trouble.ending(run, self._stop.signal, self.budget_s)
        found = summary.summarise(run)
        records = [
            each
            for planned in run.plan.experiments
            for each in records_of(
                found[planned.name], planned.id, compare=planned.compare, origin=planned.origin
            )
        ]
        whole = all(
            [
                self._tried("comparisons", lambda: self._publish(run, found)),
                self._tried("summary", lambda: store.write_summary(self._path, records)),
                self._tried("cost", lambda: self._leave(run, found)),
                self._tried("ending", lambda: store.write_ending(self._path, ending)),
                self._tried("page", lambda: self._after_task(self._path)),
            ]
        )
        left_s = rest_s(run, works(run, finish=True))
        say_ending(run, ending, self._teller.say, is_kept=self.is_kept, left_s=left_s)
        return Done(self._path, ending, exit_code(run, ending, whole=whole))

    def end_at_once(self) -> Done:
        """For who has asked twice: leaves everything as it is."""
        ending = Ending(How.INTERRUPTED, "asked to end twice")
        say_ending(self._run, ending, self._teller.say, is_kept=self.is_kept, left_s=0.0)
        if self.is_kept:
            page = shlex.join(["sealift", "lab", "report", str(self._path)])
            self._teller.say(f"for a page of what was measured: {page}")
        return Done(self._path, ending, ExitCode.INTERRUPTED)

    @contextmanager
    def _writing(self, steps: Sequence[Work]) -> Iterator[None]:
        """What is open while a run goes on; nothing, when nothing is to be measured."""
        if not steps:
            yield
            return
        (self._path / names.ENDING).unlink(missing_ok=True)
        reserve = store.Reserve(self._path)
        try:
            with (
                store.Journal(self._path / names.NOTES) as self._notes,
                store.Journal(self._path / names.SENSORS) as self._readings,
                sampling(Sensors(), self._keep_reading),
            ):
                yield
        finally:
            reserve.give_back()

    def _step(self, number: int, work: Work) -> None:
        name = work.step.experiment
        share_s = self._course.forecast.share_s(number)
        now_s = time.monotonic()
        order = Order(
            folder=self._path,
            experiment=name,
            restart=self._restarts.get(name, 0),
            until_s=now_s + share_s,
            latest_s=now_s + self._course.forecast.most_s(number),
            blocks=work.blocks,
            blocks_least=work.blocks_least,
            parent=os.getpid(),
            lock=self._lock,
        )
        self._restarts[name] = order.restart + 1
        self._course.begin(number, name)
        self._teller.renew()
        child = Child(order, self._teller.say)
        with self._stop.ends(child):
            self._hear(order, child, FINISH_GRACE_S if self.finish else HANG_GRACE_S)
        if child.failed and name not in self._hung and not self._stop.is_asked:
            self._fail(
                f"{name}: the process of restart {order.restart} {child.failed}; its complete "
                "blocks are kept, what it had checked is not counted"
            )
        # One that ended in good order leaves nothing half-written.
        if child.failed or self._stop.is_asked:
            store.mend(self._path)

    def _hear(self, order: Order, child: Child, patience_s: float) -> None:
        """Follows what a process tells, and ends one that hangs beyond its time.

        Args:
            order: What it is to do.
            child: The process.
            patience_s: How long it may tell nothing when its time is up.
        """
        name = order.experiment
        heard_s = time.monotonic()
        for event in child.events():
            now_s = time.monotonic()
            if event is not None:
                heard_s = now_s
                self._heard(name, event)
            elif name not in self._hung and now_s > max(order.until_s, heard_s) + patience_s:
                self._hung.add(name)
                self._fail(
                    f"{name}: the process of restart {order.restart} told nothing for "
                    f"{now_s - heard_s:.0f} s, though its time was up, and was stopped; it is not "
                    "started again in this run"
                )
                child.stop()
            self._teller.renew()

    def _heard(self, name: str, event: Mapping[str, Any]) -> None:
        match event:
            case {"event": "preparing", "cell": cell}:
                self._course.preparing(cell)
            case {"event": "measuring", "blocks": blocks}:
                self._course.measuring(blocks)
            case {"event": "block", "group": group, "ns_per_operation": times}:
                by_arm = {int(arm): ns for arm, ns in times.items()}
                self._course.block(group, by_arm, event["samples"], event["clean"])
            case {"event": "skipped", "group": group, "arm": arm, "text": text, "again": again}:
                self._skipped(name, group, self._saying.named(name, group, arm), text, again)
            case {"event": "wrong", "group": group, "arm": arm, "text": text}:
                named = self._saying.named(name, group, arm)
                self._saying.left_out(named, f"computed wrong: {text}")
            case {"event": "failed" | "note", "text": text}:
                self._fail(f"{name}: {text}")
            case {"event": "quiet note", "text": text}:
                self._fail(f"{name}: {text}", is_said=False)
            case {"event": "not written", "text": text}:
                self._trouble.not_written = text
                self._stop.stop()
            case {"event": "ending", "ending": Interrupted.INTERRUPTED} if self._is_unasked(name):
                self._fail(f"{name}: its process was interrupted, and nobody asked for that")

    def _skipped(self, name: str, group: int, named: str, text: str, again: str) -> None:
        if again == Again.FAILED:
            self._trouble.raised[name, group] = f"{named}: {text}"
            self._saying.failed(named, text)
            return
        if again == Again.MAY_PASS:
            self._trouble.absent.add((name, group))
        # The next process begins with it; what no process had time for is told at the end.
        if again != Again.NO_TIME:
            self._saying.left_out(named, text)

    def _is_unasked(self, name: str) -> bool:
        return not self._stop.is_asked and name not in self._hung

    def _fail(self, text: str, *, is_said: bool = True) -> None:
        self._trouble.failed.append(text)
        self._note(text, is_said=is_said)

    def _note(self, text: str, *, is_said: bool = True) -> None:
        if text not in self._noted:
            self._noted.add(text)
            if is_said:
                self._teller.say(text)
            self._notes.add([{"note": text}])

    def _keep_reading(self, at_s: float, values: Mapping[str, float]) -> bool:
        """Called in the thread that reads the sensors; false ends it."""
        created_s = datetime.fromisoformat(self._run.plan.created).timestamp()
        reading = {"at_s": round(max(0.0, at_s - created_s), 3), "values": values}
        try:
            self._readings.add([reading])
        except store.NotWrittenError as error:
            self._trouble.not_written = str(error)
            self._stop.stop()
            return False
        return True

    def _show_meanwhile(self) -> None:
        begin_s = time.monotonic()
        if begin_s - self._shown_s >= self._show_every_s:
            self._tried("page", lambda: self._after_task(self._path))
            self._shown_s = time.monotonic()
            took_s = self._shown_s - begin_s
            self._show_every_s = max(SHOWN_EVERY_S, took_s / SHOWING_SHARE)
            # What comes last takes as long, and what is printed.
            self._course.forecast.keep(2 * took_s + CLOSING_SHARE * self.budget_s)

    def _tried(self, what: str, write: Callable[[], None]) -> bool:
        """Whether something was written; what it raises is told, and ends nothing."""
        try:
            write()
        except store.NotWrittenError as error:
            self._teller.say(str(error))
        except Exception as error:
            self._teller.say(f"the {what} was not written: {type(error).__name__}: {error}")
        else:
            return True
        return False

    def _publish(self, run: store.Run, found: Mapping[str, Found]) -> None:
        publish(run, found, self._trouble.failed, self._note_late)

    def _leave(self, run: store.Run, found: Mapping[str, Found]) -> None:
        # What is resumed may be of another day, or of another machine.
        if not self.finish:
            leave(run, found, self._teller.say)

    def _note_late(self, text: str) -> None:
        """After the files that grow were closed."""
        if text not in self._noted:
            self._noted.add(text)
            self._teller.say(text)
            with store.Journal(self._path / names.NOTES) as notes:
                notes.add([{"note": text}])


SHOWN_EVERY_S = 10.0
# Of the time: pages of long runs on busy machines take seconds.
SHOWING_SHARE = 0.05
# Of the budget: what is kept for blocks that a verdict needs; and how much that is at least, beyond
# a short budget, since a process takes a second to begin on a busy machine.
GRACE_SHARE, GRACE_S_MIN = 0.05, 3.0
# Of the budget, beside what pages are known to take: for summing up and printing.
CLOSING_SHARE = 0.02
# For one slow sample. What takes longer is not waited for: others have the rest of the time.
HANG_GRACE_S = 10.0
FINISH_GRACE_S = 600.0
