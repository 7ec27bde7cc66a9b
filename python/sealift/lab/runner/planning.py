"""What a run is to do: its plan, and the steps in which the plan is carried out."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sealift import _sealift
from sealift.lab.measure import SAMPLE_S_MIN, lead_in_s
from sealift.lab.progress import Forecast, Step
from sealift.lab.spec import CELLS_MAX, Experiment
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.store import Plan, PlannedExperiment, Run
from sealift.lab.store.files import kept_bytes
from sealift.lab.store.run import took_s
from sealift.lab.values import Cell, is_text


@dataclass(frozen=True)
class Ask:
    """What is asked for.

    Attributes:
        experiments: Each with its cells, from `Experiment.groups`.
        command: The command line that asks for it.
        out: A new folder; None for one named after the time, below `runs`.
        budget_s: Seconds of wall clock for everything; None for 60 when quick, else 300.
        restarts: Over how many processes the blocks of an experiment are shared out; None for 1
            when quick or where the budget has no room for more, else 5.
        seed: Of everything that is drawn.
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts that were asked for, for the record.
        is_kept: Whether the folder stays, so that a resume may be spoken of.
    """

    experiments: Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]
    command: tuple[str, ...]
    out: Path | None = None
    budget_s: float | None = None
    restarts: int | None = None
    seed: int = 1
    quick: bool = False
    threads: tuple[int, ...] = ()
    is_kept: bool = True


@dataclass(frozen=True)
class Work:
    """One step: a process, and up to how many blocks it measures.

    Attributes:
        step: For the forecast.
        blocks: How many blocks each group is to have afterwards.
        blocks_least: How many each is to have even if that takes longer than its share.
    """

    step: Step
    blocks: int
    blocks_least: int


def make_plan(ask: Ask) -> Plan:
    """Shares a time budget out over experiments and blocks.

    Experiments that the budget has no room for stand in the plan, too: for a resume.

    Raises:
        ValueError: If there is nothing to run, a number is out of range, or the budget is too short
            for every group of cells; the message then names the budget that would do.
    """
    budget_s = (QUICK_BUDGET_S if ask.quick else BUDGET_S) if ask.budget_s is None else ask.budget_s
    if not any(groups for _, groups in ask.experiments):
        raise ValueError("nothing to measure; name at least one experiment that has cells here")
    if not 0 < budget_s < math.inf:
        raise ValueError(f"a budget of {budget_s:g} s; right would be a finite time above 0")
    if ask.restarts is not None and not 1 <= ask.restarts <= BLOCKS:
        raise ValueError(f"{ask.restarts} restarts; right would be 1 to {BLOCKS}")
    names = [experiment.name for experiment, _ in ask.experiments]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the experiment {min(twice)!r} is named twice")
    cells = sum(len(group) for _, groups in ask.experiments for group in groups)
    if cells > CELLS_MAX:
        raise ValueError(f"{cells:,} cells; right would be {CELLS_MAX:,} at most in a run")
    whole = [_planned(experiment, groups) for experiment, groups in ask.experiments]
    essential = [experiment.essential for experiment, _ in ask.experiments]
    restarts = ask.restarts
    if restarts is None:
        full = _trimmed(whole, essential, budget_s, RESTARTS)
        restarts = 1 if ask.quick else _restarts(full, budget_s)
    planned = _trimmed(whole, essential, budget_s, restarts)
    return Plan(
        version=_sealift.__version__,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=tuple(kept_bytes(word).decode() for word in ask.command),
        seed=ask.seed,
        budget_s=budget_s,
        quick=ask.quick,
        restarts=restarts,
        threads=ask.threads,
        experiments=tuple(_fitted(planned, budget_s, restarts)),
    )


def works(run: Run, *, finish: bool) -> list[Work]:
    """The steps that are left to do: all of one experiment, then all of the next.

    Args:
        run: What there is already.
        finish: Whether all blocks are to be measured even if that takes longer than planned.
    """
    return [
        work
        for planned in run.plan.experiments
        for turn in range(run.plan.restarts)
        if (work := _work(run, planned, turn, finish=finish)).step.blocks
    ]


def enough_s(experiment: Experiment, groups: Sequence[Sequence[Cell]], restarts: int = 1) -> float:
    """About what an experiment takes with blocks enough for most verdicts, in seconds."""
    step = _step(_planned(experiment, groups), restarts)
    return step.known_s + step.prepared_s + step.enough_s


def changed_files(plan: Plan) -> Iterator[str]:
    """The experiment files of one's own that are not as they were when the plan was made."""
    for planned in plan.experiments:
        if planned.file is not None and _sha256(planned.file) != planned.file_sha256:
            yield planned.file


def with_hashes(experiments: Sequence[PlannedExperiment]) -> tuple[PlannedExperiment, ...]:
    """The same experiments with their files as they are now."""
    return tuple(
        replace(each, file_sha256=None if each.file is None else _sha256(each.file))
        for each in experiments
    )


def _planned(experiment: Experiment, groups: Sequence[Sequence[Cell]]) -> PlannedExperiment:
    file = None if experiment.file is None else str(experiment.file)
    if file is not None and not is_text(file):
        raise ValueError(f"{file!a}: a path that is no UTF-8 can't be kept in a plan; rename it")
    return PlannedExperiment(
        name=experiment.name,
        id=experiment.id,
        file=file,
        operation=experiment.operation,
        compare=experiment.compare,
        weight=experiment.weight,
        blocks=BLOCKS if experiment.is_timed else 1,
        groups=tuple(tuple(dict(cell) for cell in group) for group in groups),
        file_sha256=None if file is None else _sha256(file),
        title=experiment.title,
        why=experiment.why,
        axes=tuple(replace(axis, values=()) for axis in experiment.axes),
        plots=tuple(replace(plot, where=dict(plot.where)) for plot in experiment.plots),
        legend=dict(experiment.legend),
        origin=experiment.origin,
        takes_s=experiment.takes_s,
    )


def _restarts(planned: Sequence[PlannedExperiment], budget_s: float) -> int:
    """One where the time of the first experiment is too short to begin a process five times."""
    first = _step(next(each for each in planned if each.groups), RESTARTS)
    needed_s = first.known_s + first.prepared_s + first.enough_s
    return RESTARTS if needed_s <= budget_s else 1


def _trimmed(
    planned: Sequence[PlannedExperiment],
    essential: Sequence[int | None],
    budget_s: float,
    restarts: int,
) -> list[PlannedExperiment]:
    """Without the last groups of experiments that may leave some out, where these need all time."""
    trimmed = []
    for each, least in zip(planned, essential, strict=True):
        if each.takes_s is not None or not each.groups:
            trimmed.append(each)
            continue
        kept = each
        while least and len(kept.groups) > least and _whole_s(kept, restarts) > budget_s:
            kept = replace(kept, groups=kept.groups[:-1])
        left_out = each.groups[len(kept.groups) :]
        whole_s = _whole_s(each, restarts) if left_out else 0.0
        trimmed.append(replace(kept, left_out=left_out, whole_s=whole_s))
    return trimmed


def _whole_s(planned: PlannedExperiment, restarts: int) -> float:
    """What enough blocks for most verdicts take, and the arms.

    One operation may take longer than a sample as short as usual.
    """
    blocks = max(restarts, blocks_least(planned), BLOCKS_ENOUGH)
    sampled_s = blocks * _samples(planned) * taken_s(4 * SAMPLE_S_USUAL)
    return restarts * prepared_s(planned) + sampled_s


def _fitted(
    planned: Sequence[PlannedExperiment], budget_s: float, restarts: int
) -> Iterator[PlannedExperiment]:
    """With fewer blocks where samples would get too short to say much."""
    # Who is first has all of the time where that is too short for more.
    smallest_s = next(_smallest_s(each) for each in planned if each.groups)
    if smallest_s > budget_s:
        raise ValueError(
            f"a budget of {budget_s:g} s is too short to measure anything; allow "
            f"{math.ceil(smallest_s)} s or more"
        )
    whole = [_step(each, restarts) for each in planned]
    forecast = Forecast([step for step in whole if step.blocks], budget_s, grace_s=0.0)
    for each, step in zip(planned, whole, strict=True):
        share_s = forecast.planned_s(each.name)
        if not each.is_timed or share_s is None:
            yield each
            continue
        block_s = _samples(each) * taken_s(SAMPLE_S_USUAL)
        fits = int((share_s - step.prepared_s) / block_s + ROUNDED)
        least = max(restarts, blocks_least(each))
        yield replace(each, blocks=min(each.blocks, max(least, fits)))


def _smallest_s(planned: PlannedExperiment) -> float:
    """The least time in which a group of an experiment gets a verdict; 0 of what is computed."""
    if not planned.is_timed:
        return 0.0
    arms = min(map(len, planned.groups))
    # Of the lab's own the arms of a cell are often there at once.
    return START_S / 2 + blocks_least(planned) * (arms + 1) * taken_s(SAMPLE_S_MIN)


def taken_s(sample_s: float) -> float:
    """What a sample takes with all that belongs to it."""
    return sample_s + lead_in_s(sample_s) + BETWEEN_S


def blocks_least(planned: PlannedExperiment) -> int:
    """How many blocks a verdict on each arm of an experiment needs."""
    comparisons = max(1, max((len(group) for group in planned.groups), default=1) - 1)
    return min(planned.blocks, blocks_needed(1 - (1 - VERDICT_CONFIDENCE) / comparisons))


def prepared_s(planned: PlannedExperiment) -> float:
    """About what a process takes until it measures an experiment."""
    return START_S + PREPARED_S * sum(map(len, planned.groups))


def rest_s(run: Run, rest: Sequence[Work]) -> float:
    """About how long some steps take, at the pace of what was measured.

    Args:
        run: What there is already.
        rest: From `works`: what it lacks.
    """
    whole_s = sum(_usual_s(_step(each, run.plan.restarts)) for each in run.plan.experiments)
    left_s = sum(_usual_s(work.step) for work in rest)
    done_s = max(0.0, whole_s - left_s)
    # A few blocks tell little of a pace.
    pace = (took_s(run.sensors) + PACE_S) / (done_s + PACE_S)
    return left_s * min(PACE_MOST, max(1.0, pace))


def _usual_s(step: Step) -> float:
    """What a step takes with samples as short as usual."""
    return step.known_s or step.prepared_s + step.samples * taken_s(SAMPLE_S_USUAL)


def blocks_enough(planned: PlannedExperiment, restarts: int) -> int:
    """How many blocks most verdicts need; more with several restarts, because these differ, too."""
    return max(restarts, blocks_least(planned), BLOCKS if restarts > 1 else BLOCKS_ENOUGH)


def _work(run: Run, planned: PlannedExperiment, turn: int, *, finish: bool) -> Work:
    def up_to(blocks: int, turns: int) -> int:
        return math.ceil(blocks * turns / run.plan.restarts)

    target = up_to(planned.blocks, turn + 1)
    enough = min(planned.blocks, blocks_enough(planned, run.plan.restarts))
    least = target if finish else up_to(enough, turn + 1)
    begin = up_to(planned.blocks, turn)
    added = added_least = samples = 0
    for group, cells in enumerate(planned.groups):
        if not run.missing(planned.name, group):
            continue
        done = max(begin, len(run.blocks(planned.name, group)))
        added += max(0, target - done)
        added_least += max(0, least - done)
        samples += (len(cells) + 1) * max(0, target - done)
    share = added / (planned.blocks * max(1, len(planned.groups)))
    whole = _step(planned, run.plan.restarts)
    step = replace(
        whole,
        weight=planned.weight * share,
        blocks=added,
        blocks_least=added_least,
        samples=samples,
        prepared_s=whole.prepared_s / run.plan.restarts,
        enough_s=whole.enough_s * share,
        least_s=whole.least_s * share,
    )
    return Work(step, target, least)


def _step(planned: PlannedExperiment, restarts: int) -> Step:
    """All of an experiment as one step."""
    sample_s = taken_s(SAMPLE_S_USUAL)
    least = max(restarts, blocks_least(planned))
    groups = len(planned.groups)
    if not planned.is_timed:
        computed_s = planned.takes_s or math.inf
        return Step(planned.name, planned.weight, groups, groups, 0, computed_s)
    return Step(
        experiment=planned.name,
        weight=planned.weight,
        blocks=planned.blocks * groups,
        blocks_least=blocks_enough(planned, restarts) * groups,
        samples=planned.blocks * _samples(planned),
        prepared_s=restarts * prepared_s(planned),
        enough_s=min(planned.blocks, blocks_enough(planned, restarts))
        * _samples(planned)
        * sample_s,
        least_s=least * _samples(planned) * sample_s,
    )


def _samples(planned: PlannedExperiment) -> int:
    """Of one block of each group."""
    return sum(len(group) + 1 for group in planned.groups)


def _sha256(file: str) -> str:
    """Of a file; "" of one that can't be read, which is told when it is to be run."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""


QUICK_BUDGET_S, BUDGET_S = 60.0, 300.0
# Where noise is a few percent, which is usual.
BLOCKS_ENOUGH = 30
# Longer samples scatter little less: many short ones know a ratio better than few long ones.
BLOCKS = 60
# Where there is little time, fewer blocks are better than shorter samples.
SAMPLE_S_USUAL = 0.003
# Comparing results, keeping a sample, telling of it.
BETWEEN_S = 0.0005
# Machines that are busy are slower, up to so many times; nothing is expected to be faster.
PACE_S, PACE_MOST = 10.0, 5.0
# Of a block: shares of a budget add up to it, but for rounding.
ROUNDED = 1e-6
# A process of the lab's own, and an arm: 0.02 to 0.06 s on a quiet 2-core AMD EPYC, twice that on a
# busy one, and one of 1 GiB a second and more.
START_S, PREPARED_S = 1.0, 0.1
# Student's t at 99 % reaches 9.9 standard errors over three restarts and 4.6 over five.
RESTARTS = 5
