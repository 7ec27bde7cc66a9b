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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sealift.lab import registry, store
from sealift.lab.measure import Block, Ending, Task, measure
from sealift.lab.spec import Arm, Context, Experiment, Sample, Skip, WrongResultError
from sealift.lab.stats import Flags
from sealift.lab.store import names
from sealift.lab.values import Cell, Value


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
    """

    folder: Path
    experiment: str
    restart: int
    until_s: float
    blocks: int
    blocks_least: int
    parent: int

    def command(self) -> list[str]:
        """The command line that does it."""
        return [sys.executable, "-m", __name__, *(str(each) for each in asdict(self).values())]

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Order":
        """The order of a command line."""
        folder, experiment, restart, until_s, *counts = words
        return cls(Path(folder), experiment, int(restart), float(until_s), *map(int, counts))


def main() -> None:
    """Does what the command line orders; what kept it from that is told, too."""
    order = Order.parse(sys.argv[1:])
    _obey(order.parent)
    tell = _own_stdout()
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


def _own_stdout() -> Callable[[Mapping[str, Any]], None]:
    """Takes standard output away from whatever else prints, and gives a way to tell events."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: Mapping[str, Any]) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    return tell


def _work(order: Order, tell: Callable[[Mapping[str, Any]], None]) -> None:
    run = store.read(order.folder)
    with (
        store.Journal(order.folder / names.SAMPLES) as samples,
        store.Journal(order.folder / names.VERIFY) as verify,
    ):
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
        except WrongResultError:
            raise
        except Exception as error:
            self.failed = _said(error, self._file)
            # The loop leaves out an arm that raises this.
            raise WrongResultError(self.failed) from error
        return sample

    def verified(self) -> Mapping[str, Value]:
        """Raises `_FailedError` where the arm's own doesn't keep to its contract."""
        try:
            facts = dict(self._arm.verified())
            for name, value in facts.items():
                if not isinstance(value, str | int | float):
                    raise TypeError(
                        f"verified() has {name}={value!r}; right would be text, numbers"
                    )
                json.dumps(value, allow_nan=False)
        except Exception as error:
            raise _FailedError(_said(error, self._file)) from error
        return {name: _plain(value) for name, value in facts.items()}


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
        context = Context(seed=self._run.plan.seed, folder=self._run.path)
        for group, arm, cell in list(self._wanted()):
            self._tell({"event": "preparing", "group": group, "arm": arm, "cell": dict(cell)})
            made = self._made(experiment, group, arm, cell, context)
            if made is not None:
                self._arms.setdefault(group, {})[arm] = made

    def measure(self, seconds: float) -> Ending:
        """Takes the blocks."""
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
            for arm, sample in sorted(zip(places, samples, strict=False))
            if sample is not None
        ]
        again = samples[-1]
        assert again is not None, "a block without its doubled sample"
        self._samples.add([*lines, self._line(number, places[0], block, again, again=True)])
        self._tell(self._block_event(number, places, samples))

    def wrong(self, group: int, arm: int, what: str) -> None:
        """Keeps that an arm ended; the loop calls it."""
        number, places = self._loop[group]
        place = places[arm]
        guarded = self._arms[number].pop(place)
        facts = self._facts(guarded, number, place)
        if guarded.failed:
            self._note(f"{self._named(number, place)} failed while it was measured: {what}")
            self._told(number, place, facts, skipped=what)
        else:
            self._told(number, place, facts, wrong=what)

    def keep_verified(self) -> None:
        """Keeps what the arms that are left have checked."""
        for group, arms in self._arms.items():
            for arm, guarded in arms.items():
                self._told(group, arm, self._facts(guarded, group, arm))

    def _wanted(self) -> Iterator[tuple[int, int, Cell]]:
        name = self._planned.name
        for group, cells in enumerate(self._planned.groups):
            done = len(self._blocks(group))
            if not self._run.missing(name, group) or done >= self._order.blocks:
                continue
            for arm, cell in enumerate(cells):
                if (name, group, arm) not in self._run.wrong:
                    yield group, arm, cell

    def _made(
        self, experiment: Experiment, group: int, arm: int, cell: Cell, context: Context
    ) -> _Guarded | None:
        try:
            return _Guarded(experiment.arm(cell, context), self._planned.file)
        except Skip as skip:
            self._told(group, arm, {}, skipped=str(skip) or "skipped without a reason")
        except WrongResultError as error:
            self._told(group, arm, {}, wrong=str(error) or "wrong without a word")
        except Exception as error:
            self._told(group, arm, {}, skipped=f"failed: {_said(error, self._planned.file)}")
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
            **asdict(sample),
        }

    def _block_event(self, group: int, places: Sequence[int], samples: Block) -> dict[str, Any]:
        taken = [sample for sample in samples if sample is not None]
        return {
            "event": "block",
            "group": group,
            "ns_per_operation": {
                arm: sample.ns_per_operation
                for arm, sample in zip(places, samples, strict=False)
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
                }
            ]
        )
        for kind, reason in (("skipped", skipped), ("wrong", wrong)):
            if reason:
                self._tell({"event": kind, "group": group, "arm": arm, "text": reason})

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


def _plain(value: Value) -> Value:
    """A bool is an int to Python, and would be counted."""
    return str(value) if isinstance(value, bool) else value


def _is_clean(sample: Sample) -> bool:
    flags = Flags(sample.ns, sample.involuntary_switches, sample.cpu_share, sample.steal_ns)
    return flags.clean


PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main()
