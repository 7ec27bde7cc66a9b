"""Which steps a run takes, on simulated machines: quiet, slow, and with long operations."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab.run import made_up as made

from sealift_lab.measure.loop import Block, GroupTask, Task, measure
from sealift_lab.model.arm import Sample, Value
from sealift_lab.model.experiment import Axis
from sealift_lab.model.results import Origin
from sealift_lab.model.run import Plan, PlannedExperiment, ReportLine
from sealift_lab.run.read_folder import Run
from sealift_lab.run.schedule import (
    PROCESSES_MOST,
    SHORT_S,
    GroupState,
    Pace,
    Schedule,
    State,
    Step,
    read_state,
)


@dataclass
class Machine:
    """A simulated machine: its clock, how slow it is, and how long an operation takes."""

    start_s: float = 0.3
    arm_s: float = 0.05
    operation_s: float = 0.0
    now_s: float = 0.0
    steps: list[Step] = field(default_factory=list)

    def clock_s(self) -> float:
        return self.now_s

    def sample(self, seconds: float) -> Sample:
        """Of every arm; between two samples and their lead-ins there is a millisecond or two."""
        self.now_s += max(seconds, self.operation_s) + 0.00075
        return Sample(1, 1, 0, 0, 1.0, 0)

    def report(self) -> Mapping[str, Value]:
        return {}

    def take(self, step: Step, pace: Pace, state: State, latest_s: float) -> State:
        """Prepares and measures as a process does, until the time is up."""
        name = step.experiment.name
        self.steps.append(step)
        if not step.experiment.is_timed:
            self.now_s += step.seconds
            return _with(state, name, [replace(each, lacking=0) for each, _ in step.tasks])
        until_s, latest_s = self.now_s + step.seconds, min(latest_s, self.now_s + step.most_s)
        pace.begin(step)
        self.now_s = min(latest_s, self.now_s + self.start_s + step.arms * self.arm_s)
        pace.prepared()
        taken = Taken(step, pace)
        groups = [GroupTask([self for _ in of.places], 0, blocks) for of, blocks in step.tasks]
        seconds = max(0.0, until_s - self.now_s)
        task = Task(groups, seconds, latest_s - self.now_s, seed="1")
        measure(task, taken, clock_s=self.clock_s)
        measured = [
            replace(
                group,
                blocks=group.blocks + taken.done[place],
                lacking=max(0, group.lacking - taken.done[place]),
                processes=group.processes + (taken.done[place] > 0),
                reference=0,
            )
            for place, (group, _) in enumerate(step.tasks)
        ]
        return _with(state, name, measured)


@dataclass
class Taken:
    """Counts blocks."""

    step: Step
    pace: Pace
    done: Counter[int] = field(default_factory=Counter)

    def block(self, group: int, number: int, block: Block) -> None:
        assert number == self.done[group]
        self.done[group] += 1
        self.pace.block(self.step.tasks[group][0].group, len(block.samples) + 1)

    def wrong(self, group: int, arm: int, reason: str) -> None:
        raise AssertionError(f"{group}, {arm}: {reason}")


def run(
    plan: Plan,
    machine: Machine,
    budget_s: float,
    *,
    is_narrow: bool = True,
    state: State | None = None,
) -> State:
    """What is measured of a plan in a time."""
    pace = Pace(lambda: machine.now_s)
    schedule, state = Schedule(plan, pace), state or begin(plan)
    end_s = machine.now_s + budget_s
    narrow = {e.name: dict.fromkeys(range(len(e.groups)), is_narrow) for e in plan.experiments}
    while step := schedule.next(state, narrow, end_s - machine.now_s):
        assert len(machine.steps) < 5_000, "it never ends"
        before = state
        state = machine.take(step, pace, state, end_s)
        for group, _ in step.tasks:
            name, number = step.experiment.name, group.group
            if state.groups[name][number] == before.groups[name][number]:
                schedule.strikes[name, number] += 1
    return state


def begin(plan: Plan, for_tests: Sequence[str] = ()) -> State:
    groups = {
        each.name: [
            GroupState(n, range(len(cells)), plan.processes * each.blocks if each.is_timed else 1)
            for n, cells in enumerate(each.groups)
        ]
        for each in plan.experiments
    }
    return State(groups, {}, frozenset({*groups} - {*for_tests}), is_wrong=False)


def experiments(*groups: int, arms: int = 3) -> list[PlannedExperiment]:
    """Experiments with so many groups each."""
    return [
        made.planned(
            name=f"number-{chr(97 + number)}",
            blocks=10,
            axes=[Axis("size_bytes", "size"), Axis("device", "device")],
            groups=[
                [{"size_bytes": size, "device": device} for device in range(arms)]
                for size in range(count)
            ],
        )
        for number, count in enumerate(groups)
    ]


def plan(*groups: int, processes: int = 8, arms: int = 3) -> Plan:
    return made.plan(*experiments(*groups, arms=arms), processes=processes, budget_s=300)


def finished(state: State) -> Mapping[str, int]:
    return {name: sum(not each.lacking for each in groups) for name, groups in state.groups.items()}


def half_done(state: State) -> int:
    """Groups that were begun and have less than half of their blocks."""
    groups = [each for groups in state.groups.values() for each in groups]
    return sum(each.is_begun and each.blocks < each.lacking for each in groups)


@settings(max_examples=60, deadline=None)
@given(
    budget_s=st.floats(6, 600),
    slowness=st.floats(0.5, 12),
    operation_s=st.sampled_from((0.0, 0.015, 0.1)),
    groups=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    processes=st.sampled_from((1, 8)),
)
def test_any_budget_finishes_something_within_its_time(
    budget_s: float, slowness: float, operation_s: float, groups: Sequence[int], processes: int
) -> None:
    machine = Machine(0.3 * slowness, 0.05 * slowness, operation_s)
    of = plan(*groups, processes=processes)
    state = run(of, machine, budget_s)
    # The last sample may be under way then.
    sample_s = max(2 * operation_s, SHORT_S)
    assert machine.now_s <= budget_s + 2 * sample_s
    # One group in one process takes this, and as long again to learn it.
    first_s = 0.45 * slowness + 4 * 80 * sample_s
    if budget_s >= 4 * first_s:
        assert sum(finished(state).values()) >= 1
    # What operations take is found out when they are begun; what preparing takes is known then.
    if budget_s >= 4 * first_s and not operation_s:
        assert half_done(state) <= max(len(step.tasks) for step in machine.steps)


def test_a_run_of_everything_begins_with_what_is_most_wanted_and_ends_in_time() -> None:
    machine = Machine()
    computed = made.planned(name="model", origin=Origin.SIMULATED, estimated_s=2.0, blocks=1)
    of = plan(*[25] * 20)
    of = replace(of, experiments=[replace(computed, weight=0.01), *of.experiments])
    state = run(of, machine, 300)
    done = dict(finished(state))
    assert done.pop("model") == 2
    assert machine.now_s <= 300
    assert machine.now_s >= 270, "time is left over"
    # Each experiment that was begun has its first group, in all processes, and nothing half done.
    assert list(done.values()) == sorted(done.values(), key=lambda count: not count)
    assert sum(map(bool, done.values())) >= 15
    assert half_done(state) == 0
    assert all(not state.groups[name][0].lacking for name in done if done[name])


def test_what_is_narrow_is_left_and_what_is_wide_gets_more_processes() -> None:
    machine = Machine()
    narrow = run(plan(3), machine, 600)
    assert {each.processes for each in narrow.groups["number-a"]} == {8}
    assert machine.now_s < 60, "narrow intervals end a run before its time"
    wide = run(plan(3), Machine(), 600, is_narrow=False)
    assert {each.processes for each in wide.groups["number-a"]} == {PROCESSES_MOST}


def test_without_room_for_8_processes_fewer_have_more_blocks() -> None:
    machine = Machine(start_s=0.5, arm_s=1.0)
    (state,) = run(plan(1), machine, 20).groups["number-a"]
    assert machine.now_s <= 20
    assert state.lacking == 0
    assert 2 <= state.processes < 8


def test_a_quick_run_measures_one_process_of_each() -> None:
    of = made.plan(*experiments(*[2] * 10), processes=1, budget_s=60)
    of = replace(of, experiments=[replace(each, blocks=30) for each in of.experiments])
    machine = Machine()
    state = run(of, machine, 60)
    assert machine.now_s <= 60
    assert {each.processes for groups in state.groups.values() for each in groups[:1]} == {1}
    assert half_done(state) == 0


def test_what_is_computed_is_made_once_and_left_out_where_time_is_too_short() -> None:
    short = made.planned(name="short", origin=Origin.SIMULATED, estimated_s=2.0, blocks=1)
    long = made.planned(name="long", origin=Origin.PROJECTED, estimated_s=50.0, blocks=1)
    machine = Machine()
    state = run(made.plan(long, short, processes=8), machine, 20)
    assert [step.experiment.name for step in machine.steps] == ["short"]
    assert len(machine.steps[0].tasks) == 2
    assert finished(state) == {"long": 0, "short": 2}


def test_a_resume_finishes_what_was_begun_before_anything_else() -> None:
    of = plan(2, 2)
    state = begin(of)
    begun = replace(state.groups["number-b"][1], blocks=10, lacking=70, processes=1, reference=0)
    machine = Machine()
    run(of, machine, 20, state=_with(state, "number-b", [begun]))
    first = machine.steps[0]
    assert (first.experiment.name, first.tasks[0][0].group) == ("number-b", 1)
    assert machine.now_s <= 20


@pytest.mark.parametrize("is_narrow", [True, False])
def test_without_a_budget_everything_is_measured(is_narrow: bool) -> None:  # noqa: FBT001
    state = run(plan(30, 2), Machine(), math.inf, is_narrow=is_narrow)
    assert finished(state) == {"number-a": 30, "number-b": 2}


def test_a_group_that_gives_no_blocks_is_tried_twice() -> None:
    class Broken(Machine):
        def take(self, step: Step, pace: Pace, state: State, latest_s: float) -> State:
            del pace, latest_s
            self.steps.append(step)
            self.now_s += 1
            return state

    machine = Broken()
    run(plan(2), machine, 300)
    assert len(machine.steps) == 2


def _with(state: State, name: str, groups: Sequence[GroupState]) -> State:
    new = {each.group: each for each in groups}
    changed = [new.get(each.group, each) for each in state.groups[name]]
    return replace(state, groups={**state.groups, name: changed})


def test_what_only_devices_for_tests_measure_gets_one_process_and_then_what_is_left() -> None:
    whole = plan(6, 6)
    state = begin(whole, for_tests=["number-a"])
    machine = Machine()
    done = run(whole, machine, 60, state=state)
    steps = [step.experiment.name for step in machine.steps]
    assert steps[0] == "number-a"
    assert "number-a" not in steps[1 : len(steps) - steps[::-1].index("number-b")]
    assert finished(done)["number-b"] == 6
    assert finished(run(whole, Machine(), math.inf, state=state)) == {"number-a": 6, "number-b": 6}


@pytest.mark.parametrize("role", ["real", "test only"])
def test_devices_for_tests_only_answer_no_question(a_run: Callable[..., Run], role: str) -> None:
    lines = [ReportLine("made-up", 0, arm, 0, {"role": role}) for arm in range(2)]
    lines.append(ReportLine("made-up", 0, 0, 1, {}, "no time was left", may_pass=True))
    run = a_run({16: (10.0, 20.0)}, processes=1, reports=lines)
    assert read_state(run).results == ({"made-up"} if role == "real" else set())
