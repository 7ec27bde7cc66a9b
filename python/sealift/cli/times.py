"""How long experiments take, and for how much of a run a time budget is too short."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sealift.lab.runner import Ask
    from sealift.lab.spec import Experiment, Scope


def needed_s(experiment: "Experiment", scope: "Scope") -> float:
    """About how long an experiment takes with samples enough for most verdicts, in seconds.

    0 where it has no cells. What is computed takes what it says of itself.
    """
    from sealift.lab.runner.planning import RESTARTS, enough_s

    groups = experiment.groups(scope)
    return enough_s(experiment, groups, 1 if scope.quick else RESTARTS) if groups else 0.0


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
    for planned, (experiment, _) in zip(plan.experiments, ask.experiments, strict=True):
        if planned.is_timed and planned.groups and planned.blocks < BLOCKS_ENOUGH:
            enough = math.ceil(enough_s(experiment, planned.groups, plan.restarts))
            yield (
                f"a budget of {plan.budget_s:g} s is thin for {planned.name}: few verdicts, wide "
                f"intervals; --budget {enough} would do"
            )
