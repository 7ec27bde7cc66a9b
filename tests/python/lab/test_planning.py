"""What a run plans, and in which steps it carries that out."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sealift.cli.times import thin
from sealift.lab import registry, runner, store
from sealift.lab.measure import SAMPLE_S_MIN, Block
from sealift.lab.result import Origin
from sealift.lab.runner.planning import BLOCKS, blocks_least, taken_s, works
from sealift.lab.spec import Axis, Experiment, Sample, Scope
from sealift.lab.timed import timed


def experiment(**changes: object) -> Experiment:
    fields: dict[str, object] = {
        "name": "sums",
        "title": "Sums",
        "axes": (Axis("n", "numbers", (10, 100)), Axis("who", "who", ("a", "b", "c"))),
        "compare": "who",
        "arm": lambda cell, _: timed(lambda: sum(range(int(cell["n"])))),
    }
    return Experiment(**fields | changes)  # type: ignore[arg-type]


def ask(*experiments: Experiment, **changes: object) -> runner.Ask:
    scope = Scope(quick=True, cores=1, devices=())
    fields: dict[str, object] = {
        "experiments": [(each, each.groups(scope)) for each in experiments],
        "command": ("sealift", "lab", "run"),
    }
    return runner.Ask(**fields | changes)  # type: ignore[arg-type]


def test_a_plan_has_more_blocks_and_restarts_when_there_is_time() -> None:
    quick, long = (runner.make_plan(ask(experiment(), quick=quick)) for quick in (True, False))
    assert (quick.budget_s, quick.restarts, quick.experiments[0].blocks) == (60, 1, BLOCKS)
    assert (long.budget_s, long.restarts, long.experiments[0].blocks) == (300, 5, BLOCKS)
    assert quick.experiments[0].groups[1][2] == {"n": 100, "who": "c"}


def test_groups_that_are_not_essential_are_left_out_where_time_is_too_short_and_told(
    tmp_path: Path,
) -> None:
    counts = Axis("n", "numbers", tuple(range(1, 41)))
    who = Axis("who", "who", ("a", "b", "c"))
    many = experiment(axes=(counts, who), essential=3)

    def planned(budget_s: float) -> store.PlannedExperiment:
        return runner.make_plan(ask(many, budget_s=budget_s)).experiments[0]

    whole, short = planned(3_600.0), planned(20.0)
    assert (len(whole.groups), whole.left_out, whole.left_out_text) == (40, (), "")
    assert 3 <= len(short.groups) < 40
    assert (*short.groups, *short.left_out) == whole.groups
    assert short.left_out_text.endswith(
        f"n 40: --budget {short.budget_for_all_s} would have room for all of it"
    )
    assert not planned(short.budget_for_all_s).left_out
    assert planned(short.budget_for_all_s - 1).left_out
    plan = runner.make_plan(ask(many, budget_s=20.0))
    (tmp_path / "plan.json").write_text(json.dumps(plan.as_dict()))
    assert store.read_plan(tmp_path) == plan


@pytest.mark.parametrize("essential", [0, -1, True, 1.5])
def test_essential_groups_that_can_not_be_are_refused(essential: object) -> None:
    with pytest.raises(ValueError, match="right would be 1 or more, or None"):
        experiment(essential=essential)


def test_a_quick_run_of_everything_has_time_for_most_blocks_with_usual_samples() -> None:
    scope = Scope(quick=True, cores=2, devices=("library", "cpu", *CPUS))
    everything = [(each, each.groups(scope)) for each in registry.all_experiments()]
    plan = runner.make_plan(ask(experiments=everything, quick=True))
    weights = sum(each.weight for each in plan.experiments if each.groups)
    for each in plan.experiments:
        if not each.groups:
            continue
        samples = each.blocks * sum(len(group) + 1 for group in each.groups)
        # Half of the time is left for processes to begin and arms to get ready.
        measured_s = plan.budget_s / 2 * each.weight / weights
        assert BLOCKS / 2 < each.blocks <= BLOCKS
        assert measured_s / samples >= taken_s(SAMPLE_S_MIN) / 2, each.name


def test_what_computing_takes_is_no_time_for_blocks() -> None:
    model = experiment(name="model", origin=Origin.SIMULATED, takes_s=6.0)
    for budget_s in (5.0, 20.0):
        with_it = runner.make_plan(ask(experiment(), model, budget_s=budget_s + 6.0, restarts=1))
        alone = runner.make_plan(ask(experiment(), budget_s=budget_s, restarts=1))
        assert with_it.experiments[0] == alone.experiments[0]
        assert with_it.experiments[1].blocks == 1
    assert runner.make_plan(ask(model, budget_s=0.1)).experiments[0].blocks == 1


def test_a_short_budget_gives_fewer_blocks_and_never_too_few() -> None:
    plan = runner.make_plan(ask(experiment(), budget_s=3.0, restarts=1))
    least = blocks_least(plan.experiments[0])
    assert least < plan.experiments[0].blocks < BLOCKS
    with pytest.raises(ValueError, match=r"too short to measure anything; allow 1 s") as caught:
        runner.make_plan(ask(experiment(), budget_s=0.05, restarts=1))
    assert "0.05 s" in str(caught.value)
    runner.make_plan(ask(experiment(), budget_s=1, restarts=1))


Sketch = tuple[float, int, int]
"""Of an experiment: its weight, how many groups it has, and arms in each."""
SKETCHES = st.lists(
    st.tuples(
        st.floats(0.01, 100) | st.sampled_from([0.5, 1.0, 1.5, 3.0]),
        st.integers(0, 40),
        st.integers(1, 8),
    ),
    min_size=1,
    max_size=6,
).filter(lambda sketches: any(groups for _, groups, _ in sketches))


def sketched(sketches: list[Sketch], **changes: object) -> runner.Ask:
    chosen = []
    for at, (weight, groups, arms) in enumerate(sketches):
        axes = (
            Axis("n", "n", tuple(range(max(1, groups)))),
            Axis("who", "who", tuple("abcdefgh"[:arms])),
        )
        one = experiment(name=f"sums-{at}", axes=axes, weight=weight)
        chosen.append((one, one.groups(Scope(quick=True, cores=1, devices=())) if groups else ()))
    return ask(experiments=chosen, **changes)


def refused(sketches: list[Sketch], budget_s: float, restarts: int = 5) -> int | None:
    """The budget that an error names; None where there is no error."""
    try:
        runner.make_plan(sketched(sketches, budget_s=budget_s, restarts=restarts))
    except ValueError as error:
        return int(str(error).split("; allow ")[1].split(" s or more")[0])
    return None


@given(SKETCHES, st.floats(0.001, 400), st.sampled_from([1, 3, 5, 60]))
def test_the_least_budget_that_an_error_names_does_and_one_less_does_not(
    sketches: list[Sketch], budget_s: float, restarts: int
) -> None:
    least = refused(sketches, budget_s, restarts)
    if least is not None:
        assert budget_s < least
        assert refused(sketches, least, restarts) is None
        assert least == 1 or refused(sketches, least - 1, restarts) == least


@given(SKETCHES, st.floats(4, 400))
# Shares of a budget that add up to it, but for rounding.
@example([(24.0, 1, 1), (24.0, 1, 1), (1.5, 1, 1), (0.5, 1, 8)], 4.0)
def test_the_budget_that_is_said_to_do_is_called_thin_no_more(
    sketches: list[Sketch], budget_s: float
) -> None:
    told = list(thin(sketched(sketches, budget_s=budget_s)))
    assert len(told) <= 1
    for line in told:
        named = re.search(r"--budget (\d+) would do", line)
        assert named, line
        assert list(thin(sketched(sketches, budget_s=float(named[1])))) == []


def test_experiments_that_a_budget_has_no_room_for_are_planned_whole_for_a_resume() -> None:
    counts = Axis("n", "numbers", tuple(range(1, 41)))
    who = Axis("who", "who", ("a", "b", "c"))
    large = experiment(name="large", axes=(counts, who))
    plan = runner.make_plan(ask(experiment(), large, experiment(name="last"), budget_s=30.0))
    assert [each.blocks for each in plan.experiments] == [BLOCKS, BLOCKS, BLOCKS]
    assert len(plan.experiment("large").groups) == 40
    # The first is begun in any case, with as few blocks as a verdict takes.
    first = runner.make_plan(ask(large, experiment(), budget_s=10.0)).experiments[0]
    assert first.blocks == blocks_least(first)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"budget_s": 0}, "a budget of 0 s; right would be"),
        ({"budget_s": float("inf")}, "a budget of inf s"),
        ({"restarts": 0}, "0 restarts; right would be 1 to 60"),
        ({"restarts": 61}, "61 restarts"),
        ({"experiments": []}, "nothing to measure"),
    ],
)
def test_a_plan_that_can_not_be_says_why(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        runner.make_plan(ask(experiment(), **changes))


def test_one_name_is_planned_once() -> None:
    with pytest.raises(ValueError, match="'sums' is named twice"):
        runner.make_plan(ask(experiment(), experiment()))


def test_an_experiment_without_cells_here_stands_in_the_plan_and_takes_no_time(
    tmp_path: Path,
) -> None:
    plan = runner.make_plan(ask(experiment(), experiment(name="none", cells=lambda _: ())))
    store.create(tmp_path / "run", plan, store.Surroundings({}))
    read = store.read(tmp_path / "run")
    assert read.plan.experiment("none").groups == ()
    steps = [work.step for work in works(read, finish=False)]
    assert [step.experiment for step in steps] == ["sums"] * 5
    assert sum(step.weight for step in steps) == pytest.approx(1.0)
    assert [step.blocks for step in steps] == [24] * 5
    assert [step.samples for step in steps] == [96] * 5


def test_restarts_share_blocks_out_and_a_resume_takes_what_is_missing(tmp_path: Path) -> None:
    plan = runner.make_plan(ask(experiment(), experiment(name="other", weight=2.0), restarts=3))
    store.create(tmp_path / "run", plan, store.Surroundings({}))
    read = store.read(tmp_path / "run")
    turns = works(read, finish=False)
    assert [work.step.experiment for work in turns] == [*["sums"] * 3, *["other"] * 3]
    assert [work.blocks for work in turns[:3]] == [20, 40, 60]
    assert [work.blocks_least for work in turns[:3]] == [20, 40, 60]
    alone = replace(read, plan=replace(plan, restarts=1))
    assert [work.blocks_least for work in works(alone, finish=False)] == [30, 30]
    assert [work.blocks_least for work in works(read, finish=True)[:3]] == [20, 40, 60]
    sample = Sample(1_000_000, 1, 0, 0, 1.0, 0)
    block = Block((sample, sample), 0, sample)
    measured = {
        ("sums", 0): ((0, block),) * 24,
        ("sums", 1): ((0, block),) * 20,
    }
    rest = works(replace(read, measured=measured), finish=True)
    assert [(work.step.experiment, work.step.blocks) for work in rest] == [
        ("sums", 36),
        ("sums", 40),
        ("other", 40),
        ("other", 40),
        ("other", 40),
    ]


CPUS = ("cpu:isa=aesni", "cpu:isa=vaes256", "cpu:isa=vaes512")
