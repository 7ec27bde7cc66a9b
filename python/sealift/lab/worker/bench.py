"""The arms of one process, from being made to what they have checked."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from sealift.lab import registry, store
from sealift.lab.crowding import as_designed
from sealift.lab.measure import Block, Ending, Task, measure
from sealift.lab.spec import Computed, Context, Experiment, Sample, Skip, WrongResultError
from sealift.lab.stats import Flags
from sealift.lab.values import Cell, Value
from sealift.lab.worker.guarded import FailedError, Guarded, check_room, said
from sealift.lab.worker.order import Again, Order

Tell = Callable[[Mapping[str, Any]], None]
"""Is given an event for the parent."""


class Bench:
    """The arms of one process, and what became of them; hears of blocks from the loop."""

    def __init__(
        self,
        order: Order,
        run: store.Run,
        samples: store.Journal,
        verify: store.Journal,
        tell: Tell,
    ) -> None:
        """Measures nothing yet.

        Args:
            order: What is to be done.
            run: The run as it is.
            samples: Gets the samples, a block at a time.
            verify: Gets what became of each arm.
            tell: Is given each event for the parent.
        """
        self._order = order
        self._run = run
        self._planned = run.plan.experiment(order.experiment)
        self._samples = samples
        self._verify = verify
        self._tell = tell
        # By group the arms that are there, by their places.
        self._arms: dict[int, dict[int, Guarded]] = {}
        # For each group that is measured: its number, and the places of its arms in the loop.
        self._loop: list[tuple[int, list[int]]] = []

    def prepare(self) -> None:
        """Makes the arms of the groups that lack blocks, one after the other.

        Of what is timed only so many that there is time to measure them.
        """
        experiment = _found(self._planned)
        context = Context(self._run.plan.seed, self._run.path, self._planned.legend)
        begin_s = time.monotonic()
        for group in self._wanted():
            if self._arms and not self._has_time(group, begin_s):
                self._not_reached(group, [arm for arm, _ in self._right(group)])
            else:
                self._prepare(experiment, group, context)

    def _has_time(self, group: int, begin_s: float) -> bool:
        """Whether one more group can be prepared, and measured beside those that are."""
        now_s = time.monotonic()
        if not self._planned.is_timed:
            return now_s < self._order.latest_s
        prepared = sum(map(len, self._arms.values()))
        arms = len(self._planned.groups[group])
        prepared_s = (now_s - begin_s) / prepared * arms
        samples = sum(
            (len(self._planned.groups[each]) + 1)
            * max(1, self._order.blocks_least - len(self._blocks(each)))
            for each in (*self._arms, group)
        )
        return now_s + prepared_s + samples * SAMPLE_S <= self._order.latest_s

    def _prepare(self, experiment: Experiment, group: int, context: Context) -> None:
        arms = list(self._right(group))
        for place, (arm, cell) in enumerate(arms):
            if self._planned.is_timed and time.monotonic() > self._order.latest_s:
                made = self._arms.pop(group, {})
                self._not_reached(group, [*made, *(number for number, _ in arms[place:])])
                return
            self._tell({"event": "preparing", "group": group, "arm": arm, "cell": dict(cell)})
            if guarded := self._made(experiment, group, arm, cell, context):
                self._arms.setdefault(group, {})[arm] = guarded

    def measure(self) -> Ending:
        """Takes the blocks; none of what is computed, which is there when it is prepared."""
        if not self._planned.is_timed:
            return Ending.COMPLETE
        self._loop = list(self._in_order())
        now_s = time.monotonic()
        task = Task(
            arms=[[self._arms[group][arm] for arm in places] for group, places in self._loop],
            done=[len(self._blocks(group)) for group, _ in self._loop],
            blocks=self._order.blocks,
            seconds=max(0.0, self._order.until_s - now_s),
            blocks_least=self._order.blocks_least,
            seed=f"{self._run.plan.seed}/{self._planned.name}/{self._order.restart}",
            seconds_most=self._order.latest_s - now_s,
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
        """The groups that lack blocks; first those that a process before had time for.

        What has blocks of several processes is worth more than more groups with those of one.
        """
        groups = [
            group
            for group in range(len(self._planned.groups))
            if self._run.missing(self._planned.name, group)
            and len(self._blocks(group)) < self._order.blocks
        ]
        return sorted(groups, key=lambda group: -len(self._blocks(group)))

    def _right(self, group: int) -> Iterator[tuple[int, Cell]]:
        """The arms of a group, without those that computed something wrong."""
        for arm, cell in enumerate(self._planned.groups[group]):
            if (self._planned.name, group, arm) not in self._run.wrong:
                yield arm, cell

    def _not_reached(self, group: int, arms: Sequence[int]) -> None:
        for arm in arms:
            self._told(group, arm, {}, skipped=NO_TIME, again=Again.NO_TIME)

    def _made(
        self, experiment: Experiment, group: int, arm: int, cell: Cell, context: Context
    ) -> Guarded | None:
        try:
            made = experiment.arm(cell, context)
            _check_kind(made, is_timed=self._planned.is_timed)
            return Guarded(made, self._planned.file)
        except Skip as skip:
            again = Again.MAY_PASS if skip.may_pass else Again.NEVER
            reason = str(skip) or "skipped without a reason"
            self._told(group, arm, {}, skipped=reason, again=again)
        except WrongResultError as error:
            self._told(group, arm, {}, wrong=str(error) or "wrong without a word")
        except store.NotWrittenError:
            raise
        except Exception as error:
            check_room(error)
            reason = f"failed: {said(error, self._planned.file)}"
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
        cells = self._planned.groups[group]
        taken = as_designed(samples, [cells[place] for place in places]).taken
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

    def _facts(self, guarded: Guarded, group: int, arm: int) -> Mapping[str, Value]:
        try:
            return guarded.verified()
        except FailedError as error:
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


def _check_kind(made: object, *, is_timed: bool) -> None:
    """What is computed and what is timed are never taken for each other."""
    if isinstance(made, Computed) and is_timed:
        raise TypeError("a Computed is no measurement; give the experiment an origin=")
    if not isinstance(made, Computed) and not is_timed:
        raise TypeError(f"{type(made).__name__} is no Computed, and nothing is timed here")


class UnusableError(Exception):
    """An experiment can't be found, or its file can't be run."""


def _found(planned: store.PlannedExperiment) -> Experiment:
    try:
        return registry.find(planned.name, None if planned.file is None else Path(planned.file))
    except ValueError as error:
        raise UnusableError(str(error)) from error


def _is_clean(sample: Sample) -> bool:
    flags = Flags(sample.ns, sample.involuntary_switches, sample.cpu_share, sample.steal_ns)
    return flags.clean


NO_TIME = "no time was left to prepare it"
# As short as one may be, with its lead-in and what is between: what is prepared is to be measured.
SAMPLE_S = 0.0085
