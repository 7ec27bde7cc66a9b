"""The parent of measuring processes: starts one after the other, follows them, and ends them."""

import json
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from queue import Empty, Queue
from subprocess import PIPE
from types import FrameType
from typing import Any, BinaryIO

from sealift_lab.machine.sensors import Sensors, sampling
from sealift_lab.measure.process import COMMAND, Again, GroupJob, Job
from sealift_lab.measure.write_folder import Journal, NotWrittenError, mend
from sealift_lab.model.run import NOTES, SENSORS, Ending, Plan, PlannedExperiment

Event = Mapping[str, Any]
ArmKey = tuple[str, int, int]
"""An experiment, a group of it, and the place of an arm there."""


class Parent:
    """Has the jobs of a run done, and collects what went wrong.

    Attributes:
        is_ending: Whether the run is to end: a signal came, or something could not be written.
        has_failed: Whether the last process ended before its work was done.
        raised: Arms that raised something and were not measured since, and what.
        ever_raised: What arms raised, whatever came afterwards.
        absent: Arms that may be there another time.
        excluded: Arms that are not there, or computed something wrong.
    """

    def __init__(self, folder: Path, lock: int, plan: Plan, say: Callable[[str], None]) -> None:
        """Starts nothing yet; `lock` holds the folder, `say` prints a sentence."""
        self._folder, self._lock, self._say = folder, lock, say
        self._created_s = datetime.fromisoformat(plan.created).timestamp()
        self._child: Child | None = None
        self.signal = self.not_written = ""
        self.is_ending = self.has_hung = self.has_failed = False
        self.failures: list[str] = []
        self.raised: dict[ArmKey, str] = {}
        self.ever_raised: list[str] = []
        self.absent: set[ArmKey] = set()
        self.excluded: set[ArmKey] = set()
        self.sentences: set[str] = set()

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM request the end of the run, as long as the `with` lasts."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self._handle) for each in numbers}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Stores notes and readings of sensors, as long as the `with` lasts.

        A file that can't be written ends it with a NotWrittenError, and is known to `ending`.
        """
        try:
            with (
                Journal(self._folder / NOTES) as self._notes,
                Journal(self._folder / SENSORS) as self._readings,
                sampling(Sensors(), self._store_reading),
            ):
                yield
        except NotWrittenError as error:
            self.not_written = str(error)
            raise

    @property
    def ending(self) -> Ending | None:
        """How the run ended, if it was not by itself."""
        if self.not_written:
            return Ending("not written", self.not_written)
        return Ending("interrupted", f"{self.signal} came") if self.signal else None

    def events(
        self,
        planned: PlannedExperiment,
        process: int,
        groups: Sequence[GroupJob],
        *,
        until_s: float = math.inf,
        latest_s: float = math.inf,
    ) -> Generator[Mapping[str, Any] | None, None, None]:
        """Has a process measure; gives its events, and None twice a second without any.

        What its end says of the run is handled here, and what it left half-written is cut off. One
        that is silent for long when its time is up, or without a time for very long, is stopped.
        """
        due_s, silence_s = latest_s, HANG_S
        if math.isinf(latest_s):
            due_s, silence_s = 0.0 if math.isinf(until_s) else until_s, ENDLESS_HANG_S
        event_s, times_s, pid = time.monotonic(), (until_s, latest_s), os.getpid()
        job = Job(self._folder, planned.name, process, groups, *times_s, pid, self._lock)
        self.has_hung = False
        self._child = child = Child(job, self._say)
        try:
            # A signal that came while it was started reached no child.
            if self.is_ending:
                child.stop()
            for event in child.events():
                now_s = time.monotonic()
                if event is not None:
                    event_s = now_s
                    self._handle_event(planned, event)
                elif not self.has_hung and now_s > max(due_s, event_s) + silence_s:
                    self.has_hung = True
                    self.fail(
                        f"{planned.name}: process {process} gave no sign for "
                        f"{now_s - event_s:.0f} s and was stopped; it is not started again in "
                        "this run"
                    )
                    child.stop()
                yield event
        finally:
            self._child = None
            child.kill()
        self.has_failed = bool(child.failed)
        if child.failed and not self.has_hung and not self.is_ending:
            self.fail(
                f"{planned.name}: process {process} {child.failed}; its complete blocks are "
                "kept, what it had checked is not counted"
            )
        if child.failed or self.is_ending:
            mend(self._folder)

    def request_end(self) -> None:
        """Ends the process that measures; no other is to be started."""
        self.is_ending = True
        if self._child:
            self._child.stop()

    def fail(self, text: str) -> None:
        """Something failed."""
        self.failures.append(text)
        self.note(text)

    def note(self, text: str) -> None:
        """Says a sentence, and stores it, if it is new."""
        if self.say(text):
            self._notes.add([{"note": text}])

    def say(self, text: str) -> bool:
        """Says a sentence once, as each arm stands in many groups and processes; whether it did."""
        if text in self.sentences:
            return False
        self.sentences.add(text)
        self._say(text)
        return True

    def _handle(self, number: int, _: FrameType | None) -> None:
        """Handles a signal; a second one raises KeyboardInterrupt, which ends the run at once."""
        if self.signal:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number).name
        self.request_end()

    def _handle_event(self, planned: PlannedExperiment, event: Mapping[str, Any]) -> None:
        match event:
            case {"event": "block", "group": group, "ns_per_operation": times}:
                for arm in times:
                    self.raised.pop((planned.name, group, int(arm)), None)
            case {"event": "skipped" | "wrong" as kind, "group": group, "arm": arm, "text": text}:
                wrong = "computed wrong: " if kind == "wrong" else ""
                compared = planned.groups[group][arm][planned.compare]
                sentence = f"{planned.name}, {compared}: {wrong}{text}"
                at = planned.name, group, arm
                match event.get("again"):
                    case Again.FAILED:
                        self.raised[at] = sentence
                        self.ever_raised.append(sentence)
                    case Again.TRANSIENT:
                        self.absent.add(at)
                    case Again.NO_TIME:
                        # Said of all at the end.
                        return
                    case _:
                        self.excluded.add(at)
                self.say(sentence)
            case {"event": "failed" | "note", "text": text}:
                self.fail(f"{planned.name}: {text}")
            case {"event": "not written", "text": text}:
                self.not_written = text
                self.request_end()
            case {"event": "ending", "ending": "interrupted"}:
                if not self.is_ending and not self.has_hung:
                    self.fail(f"{planned.name}: its process was interrupted from outside")

    def _store_reading(self, at_s: float, values: Mapping[str, float]) -> bool:
        """Called in the thread that reads the sensors; false ends it."""
        passed_s = round(max(0.0, at_s - self._created_s), 3)
        try:
            self._readings.add([{"at_s": passed_s, "values": values}])
        except NotWrittenError as error:
            self.not_written = str(error)
            self.request_end()
        return not self.not_written


class Child:
    """A process that does a job; it holds the lock of the folder, too, as long as it lives."""

    def __init__(self, job: Job, say: Callable[[str], None]) -> None:
        """Starts it; `say` gets each line of its standard error, in a thread of its own."""
        # It begins with them blocked, so that none comes before it can handle them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            # As this process got it: libraries of OpenCL change theirs, as `sealift check` says.
            around = dict(os.environ)
            self._process = subprocess.Popen(
                COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE, pass_fds=(job.lock,), env=around
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._say = say
        self._is_stopped = self._has_ended_well = False
        self._last_line = ""
        self._events: Queue[str] = Queue()
        pipes = (self._process.stdout, self._events.put), (self._process.stderr, self._take_error)
        self._readers = [threading.Thread(target=_read, args=pipe, daemon=True) for pipe in pipes]
        for reader in self._readers:
            reader.start()
        assert self._process.stdin is not None, "opened as a pipe"
        # One that has ended already is heard of by `events`.
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(str(job).encode())

    def events(self) -> Iterator[dict[str, Any] | None]:
        """Its events until it has ended, and None twice a second while there are none.

        A process that it started, and that lives on, may hold its pipes open: their ends are not
        waited for.
        """
        while self._process.poll() is None:
            try:
                line = self._events.get(timeout=TICK_S)
            except Empty:
                yield None
                continue
            if line:
                yield self._event(line)
            else:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(TICK_S)
        for reader in self._readers:
            reader.join(PIPE_GRACE_S)
        while not self._events.empty():
            if line := self._events.get():
                yield self._event(line)

    def stop(self) -> None:
        """Sends SIGTERM, and SIGKILL if it has not ended ten seconds later."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._process.terminate()
        killer = threading.Timer(GRACE_S, self._process.kill)
        killer.daemon = True
        killer.start()

    def kill(self) -> None:
        """Ends it at once, if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def failed(self) -> str:
        """Why it ended before its work was done, or ""; known when there are no more events."""
        code = self._process.returncode
        if code < 0:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        if code:
            return f"ended with code {code}: {self._last_line}".removesuffix(": ")
        return "" if self._has_ended_well else "left with code 0 before its work was done"

    def _event(self, line: str) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(line)
        self._has_ended_well |= event["event"] in LAST_EVENTS
        return event

    def _take_error(self, line: str) -> None:
        if line.strip():
            self._last_line = line.rstrip()
            self._say(self._last_line)


def answering(
    measured: Iterable[str],
    computed: Iterable[str],
    reports: Iterable[tuple[str, Mapping[str, Any]]],
) -> frozenset[str]:
    """Experiments of which something was measured, on a device for users, or computed.

    Reports are those of all arms: the experiment and its facts, empty where an arm was left out.
    """
    reported = [(name, facts) for name, facts in reports if facts]
    names = {name for name, _ in reported}
    # Devices that are for tests only answer no question.
    real = {name for name, facts in reported if facts.get("role", "real") == "real"}
    return frozenset({*measured, *names.intersection(computed)} - (names - real))


def _read(pipe: BinaryIO, take: Callable[[str], None]) -> None:
    """Whole lines of a pipe, and "" at its end; a killed process can leave half a line."""
    with TextIOWrapper(pipe, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.endswith("\n"):
                take(line)
    take("")


FOR_TESTS = "only devices that are for tests could be measured, so there is no answer: {}"
TICK_S = 0.5
# For one slow sample; without an end it may take minutes.
HANG_S, ENDLESS_HANG_S = 10.0, 600.0
LAST_EVENTS = ("ending", "failed", "not written")
GRACE_S, PIPE_GRACE_S = 10.0, 1.0
