"""Which process comes next, so that something is finished whenever the time is up.

Experiments come in the plan's order, groups in each experiment's, most wanted first. In the first
round an experiment has its weight's share of the time, or what its first group takes; it measures
as many groups as that has room for in all their processes, and then more processes of those whose
intervals are still wide. In the second round experiments have what is left; last come those that
only devices for tests have measured so far, after a process each. Costs are those of the processes
before, and each step is chosen anew, so that a slow machine finishes fewer groups.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from sealift_lab.measure.plan import BLOCKS, PROCESSES, planned
from sealift_lab.measure.watch_processes import answering
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import Plan, PlannedExperiment, ReportLine

if TYPE_CHECKING:
    from sealift_lab.run.read_folder import Run

Narrow = Mapping[str, Mapping[int, bool]]
"""By experiment and group whether all intervals are narrow enough."""


@dataclass(frozen=True)
class GroupState:
    """How far a group has come.

    Attributes:
        places: The arms that may still be measured: not wrong, not absent for good.
        lacking: How many blocks it still lacks; 1 of what is to be computed; 0 when it is done.
        blocks: How many there are, of so many processes.
        reference: The arm that others are compared with; None before the first block.
    """

    group: int
    places: Sequence[int]
    lacking: int
    blocks: int = 0
    processes: int = 0
    reference: int | None = None

    @property
    def is_begun(self) -> bool:
        """Whether some of its blocks are there, and some lack."""
        return bool(self.blocks and self.lacking)


@dataclass(frozen=True)
class State:
    """How far a run has come.

    Attributes:
        processes: By experiment the number of the next process that measures it.
        results: Experiments of which something was measured, on a device for users, or computed.
        is_wrong: Whether an arm computed something wrong.
    """

    groups: Mapping[str, Sequence[GroupState]]
    processes: Mapping[str, int]
    results: frozenset[str]
    is_wrong: bool

    @property
    def is_whole(self) -> bool:
        """Whether a resume would measure nothing."""
        return not any(each.lacking for groups in self.groups.values() for each in groups)


Task = tuple[GroupState, int]
"""A group, and how many blocks of it are measured."""


def read_state(run: "Run") -> State:
    """How far a run has come, from its samples and reports: what a resume needs."""
    plan, lines = run.plan, defaultdict[tuple[str, int], list[ReportLine]](list)
    for line in run.reports:
        lines[line.experiment, line.group].append(line)
    last = [(name, of.last) for (name, _), of in run.blocks.items()]
    last += [(line.experiment, line.restart) for line in run.reports]

    def state(of: PlannedExperiment, group: int) -> GroupState:
        blocks, reports = run.blocks.get((of.name, group)), lines[of.name, group]
        wrong = {line.arm for line in reports if line.wrong}
        latest = {line.arm: line for line in reports}.values()
        absent = {line.arm for line in latest if line.skipped and not line.may_pass}
        computed = {line.arm for line in latest if line.facts and not of.is_timed}
        out = wrong | absent | computed
        places = [arm for arm in range(len(of.groups[group])) if arm not in out]
        wanted = plan.processes * of.blocks if of.is_timed else 1
        if blocks is None:
            return GroupState(group, places, wanted if places else 0)
        lacking = 0 if blocks.reference in wrong else max(0, wanted - blocks.blocks)
        return GroupState(group, places, lacking, blocks.blocks, blocks.processes, blocks.reference)

    return State(
        groups={e.name: [state(e, n) for n in range(len(e.groups))] for e in plan.experiments},
        processes={name: process + 1 for name, process in sorted(last)},
        results=answering(
            (name for name, _ in run.blocks),
            (each.name for each in plan.experiments if not each.is_timed),
            ((line.experiment, line.facts) for line in run.reports),
        ),
        is_wrong=any(line.wrong for line in run.reports),
    )


class Pace:
    """How long preparing and sampling take: guesses first, then what processes of the run took."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        """Knows nothing yet."""
        self._clock_s = clock_s
        self._slowness: dict[str, float] = {}
        self._measured_s = self._guessed_s = GUESS_WEIGHT_S
        self._sample_s: dict[tuple[str, int], float] = {}
        self._longest_s: dict[str, float] = {}
        # The process that measures, when it began or gave its last block, and what samples took.
        self._step: Step | None = None
        self._is_preparing, self._since_s = False, 0.0
        self._taken_s: dict[int, list[float]] = defaultdict(list)

    def preparing_s(self, of: PlannedExperiment, arms: int) -> float:
        """What a process takes until so many arms are prepared."""
        slowness = self._slowness.get(of.name, self._measured_s / self._guessed_s)
        return slowness * (START_S + PREPARE_S * arms)

    def block_s(self, experiment: str, group: int, arms: int) -> float:
        """What a block of so many arms takes with the shortest useful samples."""
        longest_s = self._longest_s.get(experiment, SHORT_S)
        return (arms + 1) * self._sample_s.get((experiment, group), longest_s)

    def computing_s(self, of: PlannedExperiment) -> float:
        """What it takes to compute an experiment."""
        return (of.estimated_s or COMPUTED_S) * self._measured_s / self._guessed_s

    def begin(self, step: "Step") -> None:
        """A process begins."""
        self._step, self._since_s = step, self._clock_s()
        self._is_preparing = step.experiment.is_timed
        self._taken_s.clear()

    def prepared(self) -> None:
        """Its arms are prepared, and are measured from now on; or it has ended without that."""
        if self._step is None or not self._is_preparing:
            return
        self._is_preparing = False
        now_s = self._clock_s()
        took_s, guess_s = now_s - self._since_s, START_S + PREPARE_S * self._step.arms
        self._slowness[self._step.experiment.name] = took_s / guess_s
        self._measured_s += took_s
        self._guessed_s += guess_s
        self._since_s = now_s

    def block(self, group: int, samples: int) -> None:
        """A block of so many samples is complete."""
        assert self._step is not None, "a block of a process"
        now_s, taken_s, name = self._clock_s(), self._taken_s[group], self._step.experiment.name
        taken_s.append((now_s - self._since_s) / samples)
        self._since_s = now_s
        # One operation may take longer than a sample was to take; else samples can be shorter.
        mean_s, ratio = mean(taken_s), mean(taken_s) / self._step.sample_s
        floor_s = mean_s if ratio > LONGER else SHORT_S * max(1.0, ratio)
        self._sample_s[name, group] = floor_s
        self._longest_s[name] = max(self._longest_s.get(name, 0.0), floor_s)


def estimate_s(
    experiment: Experiment, groups: Sequence[Sequence[Cell]], *, processes: int = PROCESSES
) -> float:
    """About how long all groups of an experiment take on a quiet machine, in seconds."""
    pace, of = Pace(), planned(experiment, groups, BLOCKS)
    if not of.groups or not of.is_timed:
        return pace.computing_s(of) if of.groups else 0.0
    sampling_s = sum(BLOCKS * pace.block_s("", 0, len(cells)) for cells in of.groups)
    return processes * (pace.preparing_s(of, sum(map(len, of.groups))) + sampling_s)


@dataclass(frozen=True)
class Step:
    """One process.

    Attributes:
        tasks: Group by group, most wanted first.
        seconds: What it takes, by what is known.
        sample_s: What each of its samples takes with all that belongs to it.
    """

    experiment: PlannedExperiment
    tasks: Sequence[Task]
    seconds: float
    sample_s: float

    @property
    def arms(self) -> int:
        """How many it prepares."""
        return sum(len(group.places) for group, _ in self.tasks)

    @property
    def blocks(self) -> int:
        """How many it measures."""
        return sum(blocks for _, blocks in self.tasks)

    @property
    def most_s(self) -> float:
        """After which it is ended; machines are slower, and operations longer, than is known."""
        return max(SLOWER_MOST * self.seconds, self.seconds + GRACE_S)


class Schedule:
    """Chooses the steps of a run."""

    def __init__(self, plan: Plan, pace: Pace) -> None:
        """Begins with the first round; `pace` knows what steps take."""
        self._plan, self._pace = plan, pace
        self._round = SHARES
        # What had its turn in the first round, and what was measured then: the shares of the others
        # are kept for the second round.
        self._visited: set[str] = set()
        self._served: set[str] = set()
        # The current experiment, its time, and how much was left when it began.
        self._current: PlannedExperiment | None = None
        self._own_s = self._begin_left_s = 0.0
        # By experiment and group processes that gave no block of it: after the second it is left.
        self.strikes: Counter[tuple[str, int]] = Counter()

    def next(self, state: State, narrow: Narrow, left_s: float) -> Step | None:
        """The next process; None where nothing more can be finished in the time that is left."""
        self._state, self._narrow, self._left_s = state, narrow, left_s
        current = self._current
        if current and not self._is_for_tests(current) and (step := self._more(current)):
            return step
        self._current = None
        while self._round <= EXTENSIONS:
            for each in sorted(self._plan.experiments, key=self._rank):
                is_last = self._round == EXTENSIONS
                if step := self._extension(each, left_s) if is_last else self._first(each):
                    return step
            self._round += 1
        return None

    def rest_s(self, state: State, sample_s: float = 0.0) -> float:
        """About what all takes that a resume would measure, with samples of that length or more."""
        self._state = state
        return sum(
            self._finish_s(each, self._todo(each), sample_s) for each in self._plan.experiments
        )

    def _rank(self, of: PlannedExperiment) -> tuple[bool, bool, bool]:
        """What an earlier session has begun, then what has no time yet, as they are wanted."""
        return self._is_for_tests(of), not self._begun(of), of.name in self._served

    def _is_for_tests(self, of: PlannedExperiment) -> bool:
        """Whether what it has is of devices for tests alone, which answer nothing."""
        has_blocks = any(each.blocks for each in self._state.groups[of.name])
        return has_blocks and of.name not in self._state.results

    def _first(self, of: PlannedExperiment) -> Step | None:
        todo = self._todo(of)
        if not todo or (self._round == SHARES and of.name in self._visited):
            return None
        own_s = self._share_s(of, todo) if self._round == SHARES else self._left_s
        self._visited.add(of.name)
        if step := self._fitting(of, todo, own_s):
            self._current, self._own_s, self._begin_left_s = of, own_s, self._left_s
            self._served.add(of.name)
        return step

    def _share_s(self, of: PlannedExperiment, todo: Sequence[GroupState]) -> float:
        """A share by weight, or what the first group takes where that is not most of the time."""
        weights = sum(
            each.weight
            for each in self._plan.experiments
            if each.name not in self._served and self._todo(each)
        )
        is_endless = math.isinf(self._left_s)
        share_s = self._left_s if is_endless else self._left_s * of.weight / weights
        first_s = ROUNDED * SLACK * self._finish_s(of, todo[:1])
        return max(share_s, first_s) if first_s <= self._left_s / 2 else share_s

    def _more(self, of: PlannedExperiment) -> Step | None:
        """More of the current experiment: what was begun is finished, even if that takes longer."""
        own_s = most_s = self._left_s
        if not math.isinf(self._left_s):
            used_s = self._begin_left_s - self._left_s
            own_s, most_s = self._own_s - used_s, SLOWER_MOST * self._own_s - used_s
        begun = self._begun(of)
        return (
            self._fitting(of, begun, own_s)
            or self._fitting(of, begun, most_s)
            or self._fitting(of, begun[:1], self._left_s / 2)
            or self._extension(of, own_s)
            or self._fitting(of, self._todo(of), own_s)
        )

    def _todo(self, of: PlannedExperiment) -> list[GroupState]:
        """What lacks blocks, begun groups first."""
        groups = self._state.groups[of.name]
        lacking = [e for e in groups if e.lacking and self.strikes[of.name, e.group] < STRIKES]
        return sorted(lacking, key=lambda each: not each.is_begun)

    def _begun(self, of: PlannedExperiment) -> list[GroupState]:
        return [each for each in self._todo(of) if each.is_begun]

    def _extension(self, of: PlannedExperiment, time_s: float) -> Step | None:
        """One more process of the finished groups whose intervals are wide.

        Under 8 processes an interval is narrow where they happen to agree, so others are left.
        """
        if self._plan.processes < PROCESSES or not self._plan.budget_s:
            return None
        wide = [
            (each, of.blocks)
            for each in self._state.groups[of.name]
            if each.blocks
            and not each.lacking
            and each.reference in each.places
            and each.processes < PROCESSES_MOST
            and self.strikes[of.name, each.group] < STRIKES
            and not self._narrow.get(of.name, {}).get(each.group, True)
        ]
        count = self._count(of, wide, 1, time_s)
        return self._step(of, wide[:count], 1, time_s) if count else None

    def _fitting(
        self, of: PlannedExperiment, todo: Sequence[GroupState], time_s: float
    ) -> Step | None:
        """The first of the processes in which as many groups as fit are finished in a time."""
        time_s = min(time_s, self._left_s) / SLACK
        if not todo:
            return None
        if not of.is_timed:
            cost_s = self._pace.computing_s(of)
            return Step(of, [(e, 1) for e in todo], cost_s, SHORT_S) if cost_s <= time_s else None
        wanted = [(each, each.lacking) for each in todo]
        if count := self._count(of, wanted, max(map(self._turns, todo)), time_s):
            tasks = [(e, math.ceil(e.lacking / self._turns(e))) for e in todo[:count]]
            return self._step(of, tasks, max(map(self._turns, todo[:count])), time_s)
        return self._fewer(of, todo[0], time_s)

    def _fewer(self, of: PlannedExperiment, group: GroupState, time_s: float) -> Step | None:
        """Fewer processes of more blocks each; at last one with fewer blocks than are wanted."""
        prepared_s = self._pace.preparing_s(of, len(group.places))
        block_s = self._block_s(of, group)
        for turns in range(self._turns(group) - 1, 0, -1):
            if turns * prepared_s + group.lacking * block_s <= time_s:
                task = group, math.ceil(group.lacking / turns)
                return self._step(of, [task], turns, time_s)
        blocks = min(group.lacking, math.floor(max(0.0, time_s - prepared_s) / block_s))
        is_enough = blocks >= min(group.lacking, BLOCKS_LEAST)
        return self._step(of, [(group, blocks)], 1, time_s) if is_enough else None

    def _count(
        self, of: PlannedExperiment, wanted: Sequence[Task], turns: int, time_s: float
    ) -> int:
        """How many of some groups, with so many blocks in all processes, fit into a time."""
        arms, blocks_s = 0, 0.0
        most_s = turns * min(PROCESS_S_MAX, self._left_s * PROCESS_SHARE_MAX)
        for count, (group, blocks) in enumerate(wanted):
            arms += len(group.places)
            blocks_s += blocks * self._block_s(of, group)
            whole_s = turns * self._pace.preparing_s(of, arms) + blocks_s
            if whole_s > time_s or (count and whole_s > most_s):
                return count
        return len(wanted)

    def _step(
        self, of: PlannedExperiment, tasks: Sequence[Task], turns: int, time_s: float
    ) -> Step:
        """The process, with samples as long as the time of all the turns has room for."""
        prepared_s = self._pace.preparing_s(of, sum(len(group.places) for group, _ in tasks))
        least_s = sum(blocks * self._block_s(of, group) for group, blocks in tasks)
        samples = sum(blocks * (len(group.places) + 1) for group, blocks in tasks)
        sampling_s = max(least_s, min(time_s / turns - prepared_s, samples * LONG_S))
        return Step(of, tasks, prepared_s + sampling_s, sampling_s / samples)

    def _finish_s(
        self, of: PlannedExperiment, todo: Sequence[GroupState], sample_s: float = 0.0
    ) -> float:
        if not of.is_timed or not todo:
            return self._pace.computing_s(of) if todo else 0.0
        arms = sum(len(each.places) for each in todo)
        preparing_s = max(map(self._turns, todo)) * self._pace.preparing_s(of, arms)
        sampling_s = sum(
            each.lacking * max(self._block_s(of, each), sample_s * (len(each.places) + 1))
            for each in todo
        )
        return preparing_s + sampling_s

    def _block_s(self, of: PlannedExperiment, group: GroupState) -> float:
        return self._pace.block_s(of.name, group.group, len(group.places))

    def _turns(self, group: GroupState) -> int:
        """In how many more processes a group is measured."""
        return max(1, self._plan.processes - group.processes)


SHARES, EXTENSIONS = 0, 2
PROCESSES_MOST = 14
# With fewer there is no 99 % interval.
BLOCKS_LEAST = 8
# What was begun is finished, even if the machine is so many times slower than was expected.
SLOWER_MOST, GRACE_S = 3.0, 5.0
# What is to be finished in a time takes a tenth less by what is known: nothing is known exactly.
SLACK, ROUNDED = 1.1, 1 + 1e-9
# More groups are measured by later processes, so that some are finished early, and so that the
# first process of a slow machine isn't the last.
PROCESS_S_MAX, PROCESS_SHARE_MAX = 30.0, 0.25
STRIKES = 2
# A process, and an arm of 0.02 to 0.06 s on a quiet 2-core AMD EPYC, twice that on a busy one; an
# arm of 1 GiB takes a second and more.
START_S, PREPARE_S = 0.5, 0.08
# So that the first processes alone don't tell how slow a machine is.
GUESS_WEIGHT_S = 2.0
COMPUTED_S = 5.0
# A sample of 3 ms, or of 20, with its lead-in and what is between samples.
SHORT_S, LONG_S = 0.0085, 0.0255
LONGER = 1.3
