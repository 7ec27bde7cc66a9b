"""The process that measures one experiment, once: `python -m sealift.lab.worker`.

It prepares the arms, measures the blocks that are missing, adds them to the run folder, and tells
its parent how it goes: a line of JSON on standard output for each step. What an experiment prints
itself goes to standard error. The parent ends it with SIGTERM; when the parent is gone, it ends at
once, so that nothing measures for nobody.
"""

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from sealift.lab import registry, store
from sealift.lab.measure import Block, Ending, Task, measure
from sealift.lab.spec import Arm, Context, Experiment, Sample, Skip, WrongResultError
from sealift.lab.stats import Flags
from sealift.lab.store import names
from sealift.lab.store.errors import NO_ROOM
from sealift.lab.values import Cell, Value, why_not_kept


@dataclass(frozen=True)
class Order:
    """What one process is to do.

    Attributes:
        folder: Of the run; held by the parent.
        experiment: Name of a planned experiment.
        restart: The number of this process among those that measure the experiment.
        until_s: When it is to be over, on the monotonic clock, which is one for all processes.
        blocks: How many blocks each group is to have afterwards.
        blocks_least: How many each group is to have even if that takes longer.
        parent: Process id of the parent.
        lock: Descriptor that holds the folder, inherited from the parent.
        finish: Whether everything is to be prepared and measured, however long that takes.
    """

    folder: Path
    experiment: str
    restart: int
    until_s: float
    blocks: int
    blocks_least: int
    parent: int
    lock: int
    finish: bool

    def command(self) -> list[str]:
        """The command line that does it."""
        words = (asdict(self) | {"finish": int(self.finish)}).values()
        # -P: a file in the current folder hides no module of Python's own.
        return [sys.executable, "-P", "-m", __name__, *map(str, words)]

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Order":
        """The order of a command line."""
        folder, experiment, restart, until_s, *rest = words
        blocks, blocks_least, parent, lock, finish = map(int, rest)
        return cls(
            folder=Path(folder),
            experiment=experiment,
            restart=int(restart),
            until_s=float(until_s),
            blocks=blocks,
            blocks_least=blocks_least,
            parent=parent,
            lock=lock,
            finish=bool(finish),
        )


class Again(StrEnum):
    """Why an arm that is left out now is tried again by the next process."""

    NEVER = ""
    FAILED = "failed"
    MAY_PASS = "may pass"
    NO_TIME = "no time"


def main() -> None:
    """Does what the command line orders; what kept it from that is told, too."""
    order = Order.parse(sys.argv[1:])
    _obey(order.parent)
    events = _own_stdout()
    tell = _teller(events)
    os.set_inheritable(order.lock, False)  # noqa: FBT003 (takes no keywords)
    _keep_from_forks(events, order.lock)
    try:
        # The parent blocked them, so that none came before this line.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        _work(order, tell)
    except KeyboardInterrupt:
        tell({"event": "ending", "ending": Ending.INTERRUPTED})
    except store.NotWrittenError as error:
        tell({"event": "not written", "text": str(error)})
    except (store.StoreError, _UnusableError) as error:
        tell({"event": "failed", "text": str(error)})


def _obey(parent: int) -> None:
    """SIGTERM of the parent ends the work; Ctrl-C is the parent's; without a parent all ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _own_stdout() -> int:
    """Takes standard output away from whatever else prints; gives a descriptor of its own."""
    events = os.dup(1)
    os.dup2(2, 1)
    return events


def _teller(events: int) -> Callable[[Mapping[str, Any]], None]:
    def tell(event: Mapping[str, Any]) -> None:
        line = f"{json.dumps(event)}\n".encode()
        while line:
            line = line[os.write(events, line) :]

    return tell


def _keep_from_forks(*descriptors: int) -> None:
    """A process that an experiment forks, and that lives on, is not to hold these open."""

    def let_go() -> None:
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        for each in descriptors:
            # The number stays taken, so that nothing is written into a file opened later.
            os.dup2(nothing, each, inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=let_go)


def _work(order: Order, tell: Callable[[Mapping[str, Any]], None]) -> None:
    run = store.read(order.folder)
    with (
        store.Journal(order.folder / names.SAMPLES) as samples,
        store.Journal(order.folder / names.VERIFY) as verify,
    ):
        _keep_from_forks(samples.fileno(), verify.fileno())
        bench = _Bench(order, run, samples, verify, tell)
        try:
            bench.prepare()
            ending = bench.measure(max(0.0, order.until_s - time.monotonic()))
        finally:
            # What was checked up to now is kept, however the work ends.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bench.keep_verified()
    tell({"event": "ending", "ending": ending})


class _UnusableError(Exception):
    """An experiment can't be found, or its file can't be run."""


class _FailedError(Exception):
    """An arm raised something that the contract doesn't name."""


class _Guarded:
    """An arm that tells its own mistakes from wrong results."""

    def __init__(self, arm: Arm, file: str | None) -> None:
        self._arm = arm
        self._file = file
        self.failed = ""

    def sample(self, seconds: float) -> Sample:
        try:
            sample = self._arm.sample(seconds)
            if not isinstance(sample, Sample):
                raise TypeError(f"sample() gave {sample!r}; right would be a Sample")
        except (WrongResultError, store.NotWrittenError):
            raise
        except Exception as error:
            _check_room(error)
            self.failed = _said(error, self._file)
            # The loop leaves out an arm that raises this.
            raise WrongResultError(self.failed) from error
        return sample

    def verified(self) -> Mapping[str, Value]:
        """Raises `_FailedError` where the arm's own doesn't keep to its contract."""
        try:
            facts = dict(self._arm.verified())
            for name, value in facts.items():
                plain = str(value) if isinstance(value, bool) else value
                if why := why_not_kept(name) or why_not_kept(plain):
                    raise TypeError(f"verified() has {name}={value!r}, which {why}")
        except Exception as error:
            raise _FailedError(_said(error, self._file)) from error
        # A bool is an int to Python, and would be counted.
        return {
            str(name): str(value) if isinstance(value, bool) else value
            for name, value in facts.items()
        }


class _Bench:
    """The arms of one process, and what became of them; hears of blocks from the loop."""

    def __init__(
        self,
        order: Order,
        run: store.Run,
        samples: store.Journal,
        verify: store.Journal,
        tell: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._order = order
        self._run = run
        self._planned = run.plan.experiment(order.experiment)
        self._samples = samples
        self._verify = verify
        self._tell = tell
        # By group the arms that are there, by their places.
        self._arms: dict[int, dict[int, _Guarded]] = {}
        # For each group that is measured: its number, and the places of its arms in the loop.
        self._loop: list[tuple[int, list[int]]] = []

    def prepare(self) -> None:
        """Makes the arms of the groups that lack blocks, one after the other."""
        experiment = _found(self._planned)
        context = Context(self._run.plan.seed, self._run.path, self._planned.legend)
        for group in self._wanted():
            if self._arms and not self._order.finish and time.monotonic() > self._order.until_s:
                self._not_reached(group)
                continue
            for arm, cell in self._right(group):
                self._tell({"event": "preparing", "group": group, "arm": arm, "cell": dict(cell)})
                made = self._made(experiment, group, arm, cell, context)
                if made is not None:
                    self._arms.setdefault(group, {})[arm] = made

    def measure(self, seconds: float) -> Ending:
        """Takes the blocks; none of what is computed, which is there when it is prepared."""
        if not self._planned.is_timed:
            return Ending.COMPLETE
        self._loop = list(self._in_order())
        task = Task(
            arms=[[self._arms[group][arm] for arm in places] for group, places in self._loop],
            done=[len(self._blocks(group)) for group, _ in self._loop],
            blocks=self._order.blocks,
            seconds=seconds,
            blocks_least=self._order.blocks_least,
            seed=f"{self._run.plan.seed}/{self._planned.name}/{self._order.restart}",
        )
        lacking = sum(self._order.blocks - done for done in task.done)
        self._tell({"event": "measuring", "blocks": lacking})
        return measure(task, self)

    def block(self, group: int, block: int, samples: Block) -> None:
        """Keeps a block; the loop calls it."""
        number, places = self._loop[group]
        lines = [
            self._line(number, arm, block, sample, again=False)
            for arm, sample in sorted(zip(places, samples.samples, strict=True))
            if sample is not None
        ]
        doubled = places[samples.doubled]
        lines.append(self._line(number, doubled, block, samples.again, again=True))
        self._samples.add(lines)
        self._tell(self._block_event(number, places, samples))

    def wrong(self, group: int, arm: int, what: str) -> None:
        """Keeps that an arm ended; the loop calls it."""
        number, places = self._loop[group]
        place = places[arm]
        guarded = self._arms[number].pop(place)
        facts = self._facts(guarded, number, place)
        if guarded.failed:
            text = f"{self._named(number, place)} failed while it was measured: {what}"
            # What is said of it is that it was left out, as of one that failed before.
            self._tell({"event": "quiet note", "text": text})
            self._told(number, place, facts, skipped=what, again=Again.FAILED)
        else:
            self._told(number, place, facts, wrong=what)

    def keep_verified(self) -> None:
        """Keeps what the arms that are left have checked."""
        for group, arms in self._arms.items():
            for arm, guarded in arms.items():
                self._told(group, arm, self._facts(guarded, group, arm))

    def _wanted(self) -> list[int]:
        """The groups that lack blocks; first those that a process before had no time for."""
        groups = [
            group
            for group in range(len(self._planned.groups))
            if self._run.missing(self._planned.name, group)
            and len(self._blocks(group)) < self._order.blocks
        ]
        return sorted(groups, key=lambda group: len(self._blocks(group)))

    def _right(self, group: int) -> Iterator[tuple[int, Cell]]:
        """The arms of a group, without those that computed something wrong."""
        for arm, cell in enumerate(self._planned.groups[group]):
            if (self._planned.name, group, arm) not in self._run.wrong:
                yield arm, cell

    def _not_reached(self, group: int) -> None:
        for arm, _ in self._right(group):
            self._told(group, arm, {}, skipped=NO_TIME, again=Again.NO_TIME)

    def _made(
        self, experiment: Experiment, group: int, arm: int, cell: Cell, context: Context
    ) -> _Guarded | None:
        try:
            return _Guarded(experiment.arm(cell, context), self._planned.file)
        except Skip as skip:
            again = Again.MAY_PASS if skip.may_pass else Again.NEVER
            reason = str(skip) or "skipped without a reason"
            self._told(group, arm, {}, skipped=reason, again=again)
        except WrongResultError as error:
            self._told(group, arm, {}, wrong=str(error) or "wrong without a word")
        except store.NotWrittenError:
            raise
        except Exception as error:
            _check_room(error)
            reason = f"failed: {_said(error, self._planned.file)}"
            self._told(group, arm, {}, skipped=reason, again=Again.FAILED)
        return None

    def _in_order(self) -> Iterator[tuple[int, list[int]]]:
        """The groups that can be measured, each with the places of its arms, reference first."""
        for group, arms in self._arms.items():
            places = sorted(arms)
            if not self._blocks(group):
                yield group, places
                continue
            reference = self._run.reference(self._planned.name, group)
            if reference in arms:
                yield group, sorted(places, key=lambda arm: arm != reference)
            else:
                self._note(
                    f"{self._named(group, reference)} could not be measured in restart "
                    f"{self._order.restart}, so what is compared with it was not measured either"
                )

    def _blocks(self, group: int) -> Sequence[tuple[int, Block]]:
        return self._run.blocks(self._planned.name, group)

    def _line(
        self, group: int, arm: int, block: int, sample: Sample, *, again: bool
    ) -> dict[str, Any]:
        return {
            "experiment": self._planned.name,
            "group": group,
            "arm": arm,
            "again": again,
            "restart": self._order.restart,
            "block": block,
            # Those of `Sample`, whatever a class made of it has beside them.
            **{each.name: getattr(sample, each.name) for each in fields(Sample)},
        }

    def _block_event(self, group: int, places: Sequence[int], samples: Block) -> dict[str, Any]:
        taken = samples.taken
        return {
            "event": "block",
            "group": group,
            "ns_per_operation": {
                arm: sample.ns_per_operation
                for arm, sample in zip(places, samples.samples, strict=True)
                if sample is not None
            },
            "samples": len(taken),
            "clean": sum(_is_clean(sample) for sample in taken),
        }

    def _facts(self, guarded: _Guarded, group: int, arm: int) -> Mapping[str, Value]:
        try:
            return guarded.verified()
        except _FailedError as error:
            self._note(f"{self._named(group, arm)} could not say what it checked: {error}")
            return {}

    def _told(
        self,
        group: int,
        arm: int,
        facts: Mapping[str, Value],
        *,
        skipped: str = "",
        wrong: str = "",
        again: Again = Again.NEVER,
    ) -> None:
        self._verify.add(
            [
                {
                    "experiment": self._planned.name,
                    "group": group,
                    "arm": arm,
                    "restart": self._order.restart,
                    "facts": dict(facts),
                    "skipped": skipped,
                    "wrong": wrong,
                    "may_pass": again is not Again.NEVER,
                }
            ]
        )
        for kind, reason in (("skipped", skipped), ("wrong", wrong)):
            if reason:
                event = {"event": kind, "group": group, "arm": arm, "text": reason}
                self._tell(event | {"again": again})

    def _note(self, text: str) -> None:
        self._tell({"event": "note", "text": text})

    def _named(self, group: int, arm: int) -> str:
        cell = self._planned.groups[group][arm]
        return ", ".join(f"{name}={value}" for name, value in cell.items())


def _found(planned: store.PlannedExperiment) -> Experiment:
    try:
        return registry.find(planned.name, None if planned.file is None else Path(planned.file))
    except ValueError as error:
        raise _UnusableError(str(error)) from error


def _said(error: Exception, file: str | None) -> str:
    """Type and text of an exception, and the line of one's own file that led there."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file] or frames
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def _check_room(error: Exception) -> None:
    """What has no room for its file ends the run, which can be resumed when there is some.

    Raises:
        store.NotWrittenError: Instead of such an error.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        path = Path(str(error.filename or "a file of the experiment"))
        raise store.NotWrittenError.of(path, error) from error


def _is_clean(sample: Sample) -> bool:
    flags = Flags(sample.ns, sample.involuntary_switches, sample.cpu_share, sample.steal_ns)
    return flags.clean


NO_TIME = "no time was left to prepare it"
PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main()
