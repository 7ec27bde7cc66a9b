"""Carries out the plan of a run folder, step by step, and writes how that ended."""

import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from sealift.exit_code import ExitCode
from sealift.lab import registry, store, summary
from sealift.lab.measure import Ending as Interrupted
from sealift.lab.progress import Course, Forecast, Teller, telling
from sealift.lab.record import record
from sealift.lab.result import Found
from sealift.lab.runner.child import Child
from sealift.lab.runner.planning import Work, works
from sealift.lab.sensors import Sensors, sampling
from sealift.lab.store import Ending, How, names
from sealift.lab.worker import Again, Order


@dataclass(frozen=True)
class Done:
    """A run that has ended.

    Attributes:
        path: Of its folder.
        ending: How.
        code: 0 or an `ExitCode`.
    """

    path: Path
    ending: Ending
    code: int


def go(
    path: Path,
    lock: int,
    *,
    finish: bool,
    notes: Sequence[str],
    after_task: Callable[[Path], None],
    is_kept: bool = True,
) -> Done:
    """Measures what is missing, as planned, and writes summary and ending.

    Args:
        path: A run folder, held.
        lock: The descriptor that holds it.
        finish: Whether all blocks are to be measured even if that takes longer than planned.
        notes: What is to be kept in notes.jsonl before.
        after_task: See `runner.run`.
        is_kept: Whether the folder stays, so that a resume may be spoken of.

    Raises:
        store.StoreError: If the folder is damaged.
    """
    run = store.read(path)
    steps = works(run, finish=finish)
    shares = sum(work.step.weight for work in steps)
    whole = sum(each.weight for each in run.plan.experiments if each.groups)
    forecast = Forecast([work.step for work in steps], run.plan.budget_s * shares / (whole or 1.0))
    done = {
        planned.name: sum(
            len(run.blocks(planned.name, group)) for group in range(len(planned.groups))
        )
        for planned in run.plan.experiments
    }
    course = Course(run.plan.experiments, done, forecast)
    with telling(course) as teller, _heeded() as stop:
        if not steps:
            teller.say(f"{path}: nothing is missing, so nothing is measured")
        session = _Session(run, lock, course, teller, stop, after_task)
        session.finish, session.is_kept = finish, is_kept
        try:
            session.measure(steps, notes)
            return session.end()
        except KeyboardInterrupt:
            return session.end_at_once()


class _Stop:
    """Whether the run is to end, and the process that has to know."""

    def __init__(self) -> None:
        self.signal = ""
        self.is_asked = False
        self._child: Child | None = None

    def asked(self, number: int, _: FrameType | None) -> None:
        """A signal came. The second one is for those who don't want to wait."""
        if self.signal:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number).name
        self.stop()

    def stop(self) -> None:
        """Ends the process that measures, and lets none begin."""
        self.is_asked = True
        if self._child is not None:
            self._child.stop()

    @contextmanager
    def ends(self, child: Child) -> Iterator[None]:
        """A signal ends this process, as long as the `with` lasts."""
        self._child = child
        # One that came while it was started found nobody.
        if self.is_asked:
            child.stop()
        try:
            yield
        finally:
            self._child = None
            child.kill()


@contextmanager
def _heeded() -> Iterator[_Stop]:
    """Ctrl-C and SIGTERM end a run in good order."""
    stop = _Stop()
    before = {each: signal.signal(each, stop.asked) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Session:
    """The state of `go`."""

    def __init__(
        self,
        run: store.Run,
        lock: int,
        course: Course,
        teller: Teller,
        stop: _Stop,
        after_task: Callable[[Path], None],
    ) -> None:
        self.finish = False
        self.is_kept = True
        self._run = run
        self._path = run.path
        self._lock = lock
        self._course = course
        self._teller = teller
        self._stop = stop
        self._after_task = after_task
        self._shown_s = time.monotonic()
        self._restarts = dict(run.restarts)
        self._noted = set(run.notes)
        self._told: set[str] = set()
        self._failed: list[str] = []
        # Groups with arms that raised something, and groups with arms that may be there another
        # time.
        self._raised: dict[tuple[str, int], str] = {}
        self._absent: set[tuple[str, int]] = set()
        self._hung: set[str] = set()
        self._not_written = ""

    def measure(self, steps: Sequence[Work], notes: Sequence[str]) -> None:
        """Takes the steps, until one of the things happens that end a run."""
        try:
            with self._writing(steps):
                for note in notes:
                    self._note(note)
                for number, work in enumerate(steps):
                    if work.step.experiment in self._hung:
                        continue
                    self._step(number, work)
                    if self._stop.is_asked:
                        return
                    if number + 1 < len(steps):
                        self._show_meanwhile()
        except store.NotWrittenError as error:
            self._not_written = str(error)

    def end(self) -> Done:
        """Writes summary and ending, has them shown, and says what to do next."""
        run = store.read(self._path)
        ending = self._ending(run)
        found = summary.summarise(run)
        records = [
            record(row, run.plan.experiment(name).id)
            for name, each in found.items()
            for row in each.rows
        ]
        whole = all(
            [
                self._tried("comparisons", lambda: self._publish(run, found)),
                self._tried("summary", lambda: store.write_summary(self._path, records)),
                self._tried("ending", lambda: store.write_ending(self._path, ending)),
                self._tried("page", lambda: self._after_task(self._path)),
            ]
        )
        self._say_ending(run, ending)
        return Done(self._path, ending, self._code(run, ending, whole=whole))

    def end_at_once(self) -> Done:
        """For who has asked twice: leaves everything as it is."""
        ending = Ending(How.INTERRUPTED, "asked to end twice")
        self._say_ending(self._run, ending)
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
        order = Order(
            folder=self._path,
            experiment=name,
            restart=self._restarts.get(name, 0),
            until_s=time.monotonic() + share_s,
            blocks=work.blocks,
            blocks_least=work.blocks_least,
            parent=os.getpid(),
            lock=self._lock,
            finish=self.finish,
        )
        self._restarts[name] = order.restart + 1
        self._course.begin(number, name)
        self._teller.renew()
        child = Child(order, self._teller.say)
        patience_s = HANG_GRACE_S + share_s
        with self._stop.ends(child):
            self._hear(order, child, max(patience_s, FINISH_GRACE_S) if self.finish else patience_s)
        if child.failed and name not in self._hung and not self._stop.is_asked:
            self._fail(
                f"{name}: the process of restart {order.restart} {child.failed}; its complete "
                "blocks are kept, what it had checked is not counted"
            )
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
                if again == Again.FAILED:
                    self._raised[name, group] = f"{self._named(name, group, arm)}: {text}"
                    text = self._said_once(self._named(name, group, arm), text)
                elif again == Again.MAY_PASS:
                    self._absent.add((name, group))
                self._left_out(name, group, arm, text)
            case {"event": "wrong", "group": group, "arm": arm, "text": text}:
                self._left_out(name, group, arm, f"computed wrong: {text}")
            case {"event": "failed" | "note", "text": text}:
                self._fail(f"{name}: {text}")
            case {"event": "quiet note", "text": text}:
                self._fail(f"{name}: {text}", is_said=False)
            case {"event": "not written", "text": text}:
                self._not_written = text
                self._stop.stop()
            case {"event": "ending", "ending": Interrupted.INTERRUPTED} if self._is_unasked(name):
                self._fail(f"{name}: its process was interrupted, and nobody asked for that")

    def _is_unasked(self, name: str) -> bool:
        return not self._stop.is_asked and name not in self._hung

    def _named(self, name: str, group: int, arm: int) -> str:
        planned = self._run.plan.experiment(name)
        return f"{name}, {planned.groups[group][arm][planned.compare]}"

    def _left_out(self, name: str, group: int, arm: int, why: str) -> None:
        """Says once why an arm is not measured, though it stands in many groups and restarts."""
        text = f"{self._named(name, group, arm)}: {why}"
        if why and text not in self._told:
            self._told.add(text)
            self._teller.say(text)

    def _said_once(self, named: str, error: str) -> str:
        """What is to be said of an arm that raised something: "" where all of it was."""
        said = [text for text in self._told if text.endswith(error)]
        if any(named in text for text in said):
            return ""
        return "failed in the same way" if said else error

    def _fail(self, text: str, *, is_said: bool = True) -> None:
        self._failed.append(text)
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
            self._not_written = str(error)
            self._stop.stop()
            return False
        return True

    def _show_meanwhile(self) -> None:
        if time.monotonic() - self._shown_s >= SHOWN_EVERY_S:
            self._tried("page", lambda: self._after_task(self._path))
            self._shown_s = time.monotonic()

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

    def _ending(self, run: store.Run) -> Ending:
        if self._not_written:
            return Ending(How.NOT_WRITTEN, self._not_written)
        if self._stop.signal:
            return Ending(How.INTERRUPTED, f"{self._stop.signal} came")
        lacking = self._lacking(run)
        if not lacking:
            return Ending(How.COMPLETE)
        raised = [text for group, text in self._raised.items() if group in lacking]
        if failed := [*self._failed, *raised]:
            return Ending(How.FAILED, "; ".join(dict.fromkeys(failed)))
        missing, planned = run.count_missing()
        return Ending(
            How.TIME_UP,
            f"{run.plan.budget_s:g} s were too short for {missing:,} of {planned:,} blocks",
        )

    def _lacking(self, run: store.Run) -> set[tuple[str, int]]:
        """The groups that lack blocks, and not only because nothing of them is here now."""
        return {
            (planned.name, group)
            for planned in run.plan.experiments
            for group in range(len(planned.groups))
            if run.missing(planned.name, group)
            and (run.blocks(planned.name, group) or (planned.name, group) not in self._absent)
        }

    def _publish(self, run: store.Run, found: Mapping[str, Found]) -> None:
        """Keeps what experiments of one's own say of what was published, and how they failed."""
        published = {}
        for planned in run.plan.experiments:
            if planned.file is not None:
                try:
                    experiment = registry.find(planned.name, Path(planned.file))
                    comparisons = tuple(experiment.published(found[planned.name]))
                    store.check_published(comparisons)
                except (Exception, SystemExit) as error:
                    why = f"that failed: {type(error).__name__}: {error}"
                    if any(str(error) in text for text in self._failed):
                        why = "its file can't be run"
                    self._note_late(
                        f"{planned.name}: nothing is compared with what was published, because "
                        f"{why}"
                    )
                else:
                    published[planned.name] = comparisons
        if published:
            store.write_published(self._path, published)

    def _note_late(self, text: str) -> None:
        """After the files that grow were closed."""
        if text not in self._noted:
            self._noted.add(text)
            self._teller.say(text)
            with store.Journal(self._path / names.NOTES) as notes:
                notes.add([{"note": text}])

    def _say_ending(self, run: store.Run, ending: Ending) -> None:
        if ending.how is How.COMPLETE:
            if not run.has_results:
                self._teller.say("nothing could be measured, for the reasons above")
            if not run.is_whole and self.is_kept:
                again = store.resume_command(self._path)
                self._teller.say(f"to try again what could not be measured now: {again}")
            return
        # What failed was told when it did.
        is_told = ending.how in (How.INTERRUPTED, How.FAILED)
        said = ending.how.value if is_told else ending.reason
        if not self.is_kept:
            self._teller.say(said)
            return
        self._teller.say(f"{said}; what was measured is kept in {self._path}")
        self._teller.say(f"to measure the rest: {store.resume_command(self._path)}")

    def _code(self, run: store.Run, ending: Ending, *, whole: bool) -> int:
        if ending.how is How.NOT_WRITTEN or not whole:
            return ExitCode.NOT_WRITTEN
        if ending.how is How.INTERRUPTED:
            return ExitCode.INTERRUPTED
        if any(each.wrong for each in run.verified):
            return ExitCode.WRONG_RESULT
        if ending.how is How.FAILED:
            return ExitCode.PART_FAILED
        return 0 if run.has_results else ExitCode.NOTHING_RAN


SHOWN_EVERY_S = 10.0
# Beside the process's share of the time once more: for a cold start, and for one slow sample.
HANG_GRACE_S = 10.0
FINISH_GRACE_S = 600.0
