"""Measures experiments into a new run folder, with the standard library and the extension alone.

    python -m sealift_lab.measure aes-gcm-by-size --processes 5 --blocks 12 --out run

The folder can be judged elsewhere: `sealift lab show run`.
"""

import argparse
import fcntl
import json
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sealift.exit_code import ExitCode
from sealift_lab.experiments import registry
from sealift_lab.experiments.survey import this_scope
from sealift_lab.machine.sensors import Sensors, sampling
from sealift_lab.machine.surroundings import surroundings
from sealift_lab.measure.bench import SAMPLE_S
from sealift_lab.measure.child import Child
from sealift_lab.measure.job import GroupJob, Job
from sealift_lab.measure.journal import OWN, Journal, NotWrittenError, write_json
from sealift_lab.measure.loop import Ending
from sealift_lab.measure.plan import make_plan
from sealift_lab.measure.stop import Stop, signals
from sealift_lab.model import run as files
from sealift_lab.model.run import Plan, PlannedExperiment
from sealift_lab.model.units import format_duration


def main(words: Sequence[str] | None = None) -> int:
    """Measures what the command line names; returns the exit code."""
    options = _parser().parse_args(words)
    try:
        scope = this_scope(quick=options.quick, threads=options.threads)
        chosen = [(each, each.groups(scope)) for each in registry.select(options.experiment)]
        plan = make_plan(
            chosen,
            command=["python", "-m", PROGRAM, *(sys.argv[1:] if words is None else words)],
            seed=options.seed,
            processes=options.processes,
            blocks=options.blocks,
            quick=options.quick,
            threads=options.threads,
        )
        if empty := [each.name for each, groups in chosen if not groups]:
            _say(f"without cells for this machine and these options: {', '.join(empty)}")
        with _new_folder(options.out) as lock, signals() as stop:
            write_json(options.out / files.MACHINE, asdict(surroundings()))
            write_json(options.out / files.PLAN, asdict(plan))
            return _Session(options.out, lock, plan, stop).run()
    except ValueError as error:
        _say(f"{PROGRAM}: {error}")
        return ExitCode.NOT_WRITTEN if isinstance(error, NotWrittenError) else ExitCode.USAGE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


class _Session:
    """All processes of a plan, one after the other, and what became of them."""

    def __init__(self, folder: Path, lock: int, plan: Plan, stop: Stop) -> None:
        self._folder, self._lock, self._plan, self._stop = folder, lock, plan, stop
        self._progress = _Progress(plan)
        self._blocks: Counter[tuple[str, int]] = Counter()
        # By experiment and group the arm that is compared with, and arms that are not run again.
        self._reference: dict[tuple[str, int], int] = {}
        self._excluded: set[tuple[str, int, int]] = set()
        self._failures: list[str] = []
        self._not_written = ""
        self._is_wrong = self._has_results = False

    def run(self) -> int:
        """Measures, writes ending.json and returns the exit code."""
        try:
            with (
                Journal(self._folder / files.NOTES) as self._notes,
                Journal(self._folder / files.SENSORS) as self._readings,
                sampling(Sensors(), self._store_reading),
            ):
                for planned in self._plan.experiments:
                    for process in range(self._plan.processes if planned.is_timed else 1):
                        if not self._stop.is_requested:
                            self._measure(planned, process)
        except NotWrittenError as error:
            self._not_written = str(error)
        ending, code = self._ending()
        _say(f"{ending.ending}: {ending.reason}" if ending.reason else ending.ending)
        write_json(self._folder / files.ENDING, asdict(ending))
        return code

    def _measure(self, planned: PlannedExperiment, process: int) -> None:
        groups = list(self._groups(planned))
        if not groups:
            return
        # Without a time limit samples have their usual length, and all blocks are measured.
        job = Job(
            folder=self._folder,
            experiment=planned.name,
            process=process,
            groups=groups,
            until_s=math.inf,
            latest_s=math.inf,
            parent=os.getpid(),
            lock=self._lock,
        )
        self._progress.begin(planned)
        child = Child(job, _say)
        with self._stop.stopping(child):
            for event in child.events():
                if event is not None:
                    self._handle(planned, process, event)
        if child.failed and not self._stop.is_requested:
            self._fail(f"{planned.name}: process {process} {child.failed}")
        if child.failed:
            self._blocks = _mend(self._folder / files.SAMPLES)

    def _groups(self, planned: PlannedExperiment) -> Iterator[GroupJob]:
        for group, cells in enumerate(planned.groups):
            key = planned.name, group
            arms = [arm for arm in range(len(cells)) if (*key, arm) not in self._excluded]
            reference = self._reference.get(key)
            if arms and (reference is None or reference in arms):
                yield GroupJob(group, arms, self._blocks[key], planned.blocks, reference)

    def _handle(self, planned: PlannedExperiment, process: int, event: Mapping[str, Any]) -> None:
        group, arm, text = event.get("group", 0), event.get("arm", 0), event.get("text", "")
        place = f"{planned.name}, process {process + 1} of {self._plan.processes}"
        match event["event"]:
            case "preparing":
                self._has_results |= not planned.is_timed
                self._progress.show(f"{place}, preparing {_named(event['cell'])}")
                self._progress.add(_arm_s(planned))
            case "block":
                self._has_results = True
                self._blocks[planned.name, group] += 1
                compared = min(map(int, event["ns_per_operation"]))
                self._reference.setdefault((planned.name, group), compared)
                self._progress.add(SAMPLE_S * (len(planned.groups[group]) + 1))
                self._progress.show(place)
            case "skipped" | "wrong" as kind:
                named = f"{planned.name}, {_named(planned.groups[group][arm])}"
                self._is_wrong |= kind == "wrong"
                again = event.get("again", "")
                if not again:
                    self._excluded.add((planned.name, group, arm))
                if again == "failed":
                    self._failures.append(f"{named}: {text}")
                _say(f"{named}: {'computed wrong: ' if kind == 'wrong' else ''}{text}")
            case "note" | "failed":
                self._fail(f"{planned.name}: {text}")
            case "not written":
                self._not_written = text
                self._stop.request()
            case "ending" if event["ending"] == Ending.INTERRUPTED and not self._stop.is_requested:
                self._fail(f"{planned.name}: process {process} was interrupted from outside")

    def _fail(self, text: str) -> None:
        self._failures.append(text)
        _say(text)
        self._notes.add([{"note": text}])

    def _store_reading(self, _: float, values: Mapping[str, float]) -> bool:
        """Called in the thread that reads the sensors; false ends it."""
        try:
            self._readings.add([{"at_s": self._progress.passed_s, "values": values}])
        except NotWrittenError as error:
            self._not_written = str(error)
            self._stop.request()
            return False
        return True

    def _ending(self) -> tuple[files.Ending, int]:
        if self._not_written:
            return files.Ending("not written", self._not_written), ExitCode.NOT_WRITTEN
        if self._stop.is_requested:
            return files.Ending("interrupted", f"{self._stop.signal} came"), ExitCode.INTERRUPTED
        if self._failures:
            return files.Ending("failed", self._failures[0]), ExitCode.PART_FAILED
        code = ExitCode.WRONG_RESULT if self._is_wrong else 0
        return files.Ending("complete"), code if self._has_results else ExitCode.NOTHING_RAN


class _Progress:
    """Lines on standard error with the time that is left, one every few seconds."""

    def __init__(self, plan: Plan) -> None:
        turns = [(each, plan.processes if each.is_timed else 1) for each in plan.experiments]
        self._planned_s = sum(count * _guess_s(each) for each, count in turns)
        # By the guesses: of processes that have ended, of this one, and what it has done.
        self._before_s = self._process_s = self._done_s = 0.0
        self._begin_s, self._shown_s = time.monotonic(), -math.inf

    @property
    def passed_s(self) -> float:
        """Seconds since the beginning."""
        return round(time.monotonic() - self._begin_s, 3)

    def begin(self, planned: PlannedExperiment) -> None:
        """A process begins."""
        self._before_s += self._process_s
        self._process_s, self._done_s = _guess_s(planned), 0.0

    def add(self, guess_s: float) -> None:
        """A part of its work is done, of which this was the guess."""
        self._done_s = min(self._process_s, self._done_s + guess_s)

    def show(self, text: str) -> None:
        """Prints a line, unless one was printed just before."""
        if self.passed_s - self._shown_s < SHOWN_EVERY_S:
            return
        self._shown_s = self.passed_s
        done_s = self._before_s + self._done_s
        # The guess, at the pace of this machine once some seconds have shown it.
        left_s = (self._planned_s - done_s) * (self.passed_s + PACE_S) / (done_s + PACE_S)
        _say(f"{text}; about {format_duration(left_s)} left")


def _guess_s(planned: PlannedExperiment) -> float:
    """About how long a process takes for an experiment, in seconds."""
    arms = sum(map(len, planned.groups))
    samples = planned.blocks * (arms + len(planned.groups)) if planned.is_timed else 0
    return _arm_s(planned) * arms + SAMPLE_S * samples


def _arm_s(planned: PlannedExperiment) -> float:
    """About how long an arm takes to be prepared, or to be computed."""
    if planned.is_timed:
        return PREPARE_S
    return (planned.estimated_s or COMPUTED_S) / sum(map(len, planned.groups))


@contextmanager
def _new_folder(path: Path) -> Iterator[int]:
    """Makes a folder that is empty or not there, and holds its lock."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if inside := sorted(each.name for each in path.iterdir()):
            raise ValueError(f"{path} holds {inside[0]}; name a folder that is empty or not there")
        lock = os.open(path / files.LOCK, os.O_RDWR | os.O_CREAT | OWN, 0o666)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise NotWrittenError.from_os(path, error) from error
    try:
        yield lock
    finally:
        os.close(lock)


def _mend(path: Path) -> Counter[tuple[str, int]]:
    """Cuts off what a killed process left behind the last complete block; counts those before."""
    blocks: Counter[tuple[str, int]] = Counter()
    end = passed = 0
    with suppress(FileNotFoundError), path.open("rb+") as file:
        for line in file:
            passed += len(line)
            if line.endswith(b"\n") and (sample := json.loads(line))["again"]:
                blocks[sample["experiment"], sample["group"]] += 1
                end = passed
        file.truncate(end)
    return blocks


def _named(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in cell.items())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _thread_counts(text: str) -> tuple[int, ...]:
    if re.fullmatch(r"[1-9]\d{0,5}(,[1-9]\d{0,5})*", text, re.ASCII):
        return tuple(map(int, text.split(",")))
    raise argparse.ArgumentTypeError(f"{text!r}; right would be thread counts, as in 1,2,4")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("experiment", nargs="*", help="names, ids, patterns, or files of one's own; all if none")
    add("--out", type=Path, required=True, metavar="FOLDER", help="of the run; empty or not there")
    add("--processes", type=int, default=5, help="in which each group is measured")
    add("--blocks", type=int, default=12, help="of each group in each process")
    add("--threads", type=_thread_counts, default=(), metavar="N,...", help="thread counts")
    add("--quick", action="store_true", help="only the cells of a quick run")
    add("--seed", type=int, default=1, help="of everything that is drawn")
    return parser


PROGRAM = "sealift_lab.measure"
SHOWN_EVERY_S = 2.0
# An arm takes 0.02 to 0.06 s on a quiet 2-core AMD EPYC, twice that on a busy one.
PREPARE_S, COMPUTED_S, PACE_S = 0.08, 5.0, 2.0

if __name__ == "__main__":
    sys.exit(main())
