"""Which process comes next, so that something is finished whenever the time is up.

Experiments come in the plan's order, groups in each experiment's, most wanted first. In the first
round an experiment has its weight's share of the time, or what its first group takes; it measures
as many groups as that has room for in all their processes, and then more processes of those whose
intervals are still wide. In the second round experiments have what is left. Costs are those of the
processes before, and each step is chosen anew, so that a slow machine finishes fewer groups.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealift_lab.model.run import Plan, PlannedExperiment
from sealift_lab.run.pace import LONG_S, SHORT_S, Pace
from sealift_lab.run.planner import PROCESSES
from sealift_lab.run.state import GroupState, State

Narrow = Mapping[str, Mapping[int, bool]]
"""By experiment and group whether all intervals are narrow enough."""

Task = tuple[GroupState, int]
"""A group, and how many blocks of it are measured."""


@dataclass(frozen=True)
class Step:
    """One process.

    Attributes:
        experiment: What it measures.
        tasks: Group by group, most wanted first.
        seconds: What it takes, by what is known.
        sample_s: What each of its samples takes with all that belongs to it.
    """

    experiment: PlannedExperiment
    tasks: Sequence[Task]
    seconds: float
    sample_s: float = SHORT_S

    @property
    def most_s(self) -> float:
        """After which it is ended; machines are slower, and operations longer, than is known."""
        return max(SLOWER_MOST * self.seconds, self.seconds + GRACE_S)


class Schedule:
    """Chooses the steps of a run."""

    def __init__(self, plan: Plan, pace: Pace) -> None:
        """Begins with the first round.

        Args:
            plan: Of the run.
            pace: What steps take.
        """
        self._plan = plan
        self._pace = pace
        self._round = SHARES
        # What had its turn in the first round, and what was measured then: the shares of the others
        # are kept for the second round.
        self._visited: set[str] = set()
        self._served: set[str] = set()
        # The current experiment, its time, and how much was left when it began.
        self._current: PlannedExperiment | None = None
        self._own_s = self._begin_left_s = self._left_s = 0.0
        self._strikes: Counter[tuple[str, int]] = Counter()

    def strike(self, experiment: str, group: int, strikes: int = 1) -> None:
        """A process gave no block of a group, which is left alone after the second time."""
        self._strikes[experiment, group] += strikes

    def next(self, state: State, narrow: Narrow, left_s: float) -> Step | None:
        """The next process; None where nothing more can be finished in the time that is left.

        Args:
            state: How far the run has come.
            narrow: Of the experiments that have finished groups.
            left_s: Seconds that are left; infinite for as long as it takes.
        """
        self._left_s = left_s
        if self._current and (step := self._more(self._current, state, narrow)):
            return step
        self._current = None
        while self._round <= EXTENSIONS:
            for each in self._in_order(state):
                if self._round == EXTENSIONS:
                    step = self._extension(each, state, narrow, left_s)
                else:
                    step = self._first(each, state)
                if step:
                    return step
            self._round += 1
        return None

    def rest_s(self, state: State) -> float:
        """About what everything takes that a resume would measure."""
        planned = self._plan.experiments
        return sum(self._finish_s(each, self._todo(each, state)) for each in planned)

    def _in_order(self, state: State) -> Sequence[PlannedExperiment]:
        """What an earlier session has begun, then what has no time yet, as they are wanted."""
        return sorted(
            self._plan.experiments,
            key=lambda each: (not self._begun(each, state), each.name in self._served),
        )

    def _first(self, of: PlannedExperiment, state: State) -> Step | None:
        """The first process of an experiment in this round."""
        todo = self._todo(of, state)
        if not todo or (self._round == SHARES and of.name in self._visited):
            return None
        own_s = self._share_s(of, todo, state) if self._round == SHARES else self._left_s
        self._visited.add(of.name)
        if step := self._fitting(of, todo, own_s):
            self._current, self._own_s, self._begin_left_s = of, own_s, self._left_s
            self._served.add(of.name)
        return step

    def _share_s(self, of: PlannedExperiment, todo: Sequence[GroupState], state: State) -> float:
        """A share by weight, or what the first group takes where that is not most of the time."""
        weights = sum(
            each.weight
            for each in self._plan.experiments
            if each.name not in self._served and self._todo(each, state)
        )
        is_endless = math.isinf(self._left_s)
        share_s = self._left_s if is_endless else self._left_s * of.weight / weights
        first_s = ROUNDED * SLACK * self._finish_s(of, todo[:1])
        return max(share_s, first_s) if first_s <= self._left_s / 2 else share_s

    def _more(self, of: PlannedExperiment, state: State, narrow: Narrow) -> Step | None:
        """More of the current experiment: what was begun is finished, even if that takes longer."""
        own_s = most_s = self._left_s
        if not math.isinf(self._left_s):
            used_s = self._begin_left_s - self._left_s
            own_s, most_s = self._own_s - used_s, SLOWER_MOST * self._own_s - used_s
        begun = self._begun(of, state)
        return (
            self._fitting(of, begun, own_s)
            or self._fitting(of, begun, most_s)
            or self._fitting(of, begun[:1], self._left_s / 2)
            or self._extension(of, state, narrow, own_s)
            or self._fitting(of, self._todo(of, state), own_s)
        )

    def _todo(self, of: PlannedExperiment, state: State) -> list[GroupState]:
        """What lacks blocks, begun groups first."""
        groups = state.groups[of.name]
        lacking = [e for e in groups if e.lacking and self._strikes[of.name, e.group] < STRIKES]
        return sorted(lacking, key=lambda each: not each.is_begun)

    def _begun(self, of: PlannedExperiment, state: State) -> list[GroupState]:
        return [each for each in self._todo(of, state) if each.is_begun]

    def _extension(
        self, of: PlannedExperiment, state: State, narrow: Narrow, time_s: float
    ) -> Step | None:
        """One more process of the finished groups whose intervals are wide.

        Under 8 processes an interval is narrow where they happen to agree, so others are left.
        """
        if self._plan.processes < PROCESSES or not self._plan.budget_s:
            return None
        wide = [
            (each, of.blocks)
            for each in state.groups[of.name]
            if each.blocks
            and not each.lacking
            and each.reference in each.places
            and each.processes < PROCESSES_MOST
            and self._strikes[of.name, each.group] < STRIKES
            and not narrow.get(of.name, {}).get(each.group, True)
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
            tasks = [(each, 1) for each in todo]
            return Step(of, tasks, cost_s) if cost_s <= time_s else None
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

    def _finish_s(self, of: PlannedExperiment, todo: Sequence[GroupState]) -> float:
        """What it takes to finish some groups."""
        if not of.is_timed or not todo:
            return self._pace.computing_s(of) if todo else 0.0
        arms = sum(len(each.places) for each in todo)
        preparing_s = max(map(self._turns, todo)) * self._pace.preparing_s(of, arms)
        return preparing_s + sum(each.lacking * self._block_s(of, each) for each in todo)

    def _block_s(self, of: PlannedExperiment, group: GroupState) -> float:
        return self._pace.block_s(of.name, group.group, len(group.places))

    def _turns(self, group: GroupState) -> int:
        """In how many more processes a group is measured."""
        return max(1, self._plan.processes - group.processes)


SHARES, REST, EXTENSIONS = range(3)
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
