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
    """A sentence about a budget that leaves few blocks or short samples, or none.

    Raises:
        ValueError: If there can be no such run at all.
    """
    from sealift.lab.runner import make_plan
    from sealift.lab.runner.planning import shared_out

    plan = make_plan(ask)
    there = [each for each in plan.experiments if each.groups and each.is_timed]
    if not there:
        return
    computed_s, weights = shared_out(plan.experiments)
    needed_s = {
        each.name: computed_s + _least_s(each, plan.restarts) * weights / each.weight
        for each in there
    }
    short = [name for name, seconds in needed_s.items() if seconds > plan.budget_s]
    if short:
        enough_s = math.ceil(AMPLE * max(needed_s.values()) / ROUND_S) * ROUND_S
        yield (
            f"a budget of {plan.budget_s:g} s is thin for {_listed(short)}: blocks will be few, or "
            "samples as short as 2 ms, so intervals wide and verdicts rare; --budget "
            f"{enough_s} would do{_but_for_all(there)}"
        )


def _but_for_all(planned: Sequence["PlannedExperiment"]) -> str:
    """What it takes to leave no group out, where some are."""
    whole_s = [each.budget_for_all_s for each in planned if each.left_out]
    return f" for what has room, {max(whole_s)} for all of its groups" if whole_s else ""


def _least_s(planned: "PlannedExperiment", restarts: int) -> float:
    """Seconds for all blocks with samples as short as usual, preparing included."""
    from sealift.lab.runner.planning import BLOCKS, SAMPLE_S_USUAL, taken_s

    arms = sum(map(len, planned.groups))
    # What those of one's own take to be prepared is not known before.
    prepared_s = 0.0 if planned.file else restarts * arms * PREPARED_S
    return prepared_s + BLOCKS * _samples(planned) * taken_s(SAMPLE_S_USUAL)


def _samples(planned: "PlannedExperiment") -> int:
    """Of one block of each group: one for each arm, and a doubled one."""
    return sum(len(cells) + 1 for cells in planned.groups)


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= NAMES_SHOWN else names[: NAMES_SHOWN - 1]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


# An arm of the lab's own takes 0.02 to 0.06 s on a quiet 2-core AMD EPYC, twice that on a busy one,
# and one of 1 GiB a second and more.
PREPARED_S = 0.1
# Leaves samples several milliseconds, and those arms their time.
AMPLE = 2.0
ROUND_S = 5
NAMES_SHOWN = 3
