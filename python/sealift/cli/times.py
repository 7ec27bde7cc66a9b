"""How long experiments take, and for how much of a run a time budget is too short."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sealift.lab.runner import Ask
    from sealift.lab.spec import Experiment
    from sealift.lab.store import PlannedExperiment


def alone_s(experiment: "Experiment", *, quick: bool) -> float:
    """About how long a run of one experiment takes, in seconds; 0 where it has no cells here.

    It has the whole budget, and ends before when all samples are as long as one may be. What is
    computed takes what it says of itself.
    """
    from sealift.lab.progress import Step
    from sealift.lab.runner import Ask, make_plan
    from sealift.lab.survey import this_scope

    groups = experiment.groups(this_scope(quick=quick))
    if not groups:
        return 0.0
    plan = make_plan(Ask(experiments=((experiment, groups),), command=(), quick=quick))
    (planned,) = plan.experiments
    if not planned.is_timed:
        return min(plan.budget_s, planned.takes_s or plan.budget_s)
    blocks = planned.blocks * len(groups)
    samples = planned.blocks * _samples(planned)
    return min(plan.budget_s, Step(planned.name, planned.weight, blocks, 0, samples).longest_s)


def seconds_text(seconds: float) -> str:
    """As a list has it: whole seconds, never `0 s`; `-` for 0, which is no part of a run."""
    if not seconds:
        return "-"
    return "under 1 s" if seconds < 1 else f"{seconds:.0f} s"


def thin(ask: "Ask") -> Iterator[str]:
    """A sentence about a budget that leaves an experiment too few blocks for most verdicts.

    Raises:
        ValueError: If there can be no such run at all.
    """
    from sealift.lab.runner import make_plan
    from sealift.lab.runner.planning import BLOCKS_ENOUGH, enough_s

    plan = make_plan(ask)
    for planned, (experiment, groups) in zip(plan.experiments, ask.experiments, strict=True):
        if planned.is_timed and planned.groups and planned.blocks < BLOCKS_ENOUGH:
            enough = math.ceil(enough_s(experiment, groups, plan.restarts))
            yield (
                f"a budget of {plan.budget_s:g} s is thin for {planned.name}: few verdicts, wide "
                f"intervals; --budget {enough} would do"
            )
