"""How far each group of a run has come: what a resume needs, and what ends a run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sealift_lab.model.run import Plan, PlannedExperiment, ReportLine
from sealift_lab.run.folder import GROUP, Run


@dataclass(frozen=True)
class GroupState:
    """How far a group has come.

    Attributes:
        group: Its place among the experiment's groups.
        places: The arms that may still be measured: not wrong, not absent for good.
        lacking: How many blocks it still lacks; 1 of what is to be computed; 0 when it is done.
        blocks: How many complete blocks there are.
        processes: In how many processes they were measured.
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
        groups: By experiment a state for each planned group.
        processes: By experiment the number of the next process that measures it.
        results: Experiments of which something was measured, or computed.
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


def read_state(run: Run) -> State:
    """How far a run has come, from its samples and reports."""
    samples, plan = run.samples, run.plan
    rows = samples.group_by(GROUP).agg(
        pl.sum("again").cast(pl.Int64),
        pl.n_unique("restart"),
        pl.col("arm").filter(pl.col("block") == 0).min(),
    )
    counts = {(name, group): (*of,) for name, group, *of in rows.rows()}
    last = dict(samples.group_by("experiment").agg(pl.max("restart")).rows())
    reports: dict[tuple[str, int], list[ReportLine]] = defaultdict(list)
    for line in run.reports:
        reports[line.experiment, line.group].append(line)
        last[line.experiment] = max(last.get(line.experiment, 0), line.restart)
    computed = {each.name for each in plan.experiments if not each.is_timed}
    return State(
        groups={
            each.name: [
                _group(plan, each, group, counts.get((each.name, group)), reports)
                for group in range(len(each.groups))
            ]
            for each in plan.experiments
        },
        processes={name: process + 1 for name, process in last.items()},
        results=frozenset(name for name, _ in counts)
        | {line.experiment for line in run.reports if line.facts and line.experiment in computed},
        is_wrong=any(line.wrong for line in run.reports),
    )


def _group(
    plan: Plan,
    planned: PlannedExperiment,
    group: int,
    counts: Sequence[int] | None,
    reports: Mapping[tuple[str, int], Sequence[ReportLine]],
) -> GroupState:
    blocks, processes, reference = counts or (0, 0, None)
    lines = reports.get((planned.name, group), ())
    wrong = {line.arm for line in lines if line.wrong}
    last = {line.arm: line for line in lines}.values()
    absent = {line.arm for line in last if line.skipped and not line.may_pass}
    computed = {line.arm for line in last if line.facts and not planned.is_timed}
    out = wrong | absent | computed
    places = [arm for arm in range(len(planned.groups[group])) if arm not in out]
    wanted = plan.processes * planned.blocks if planned.is_timed else 1
    is_over = not places if reference is None else reference in wrong
    lacking = 0 if is_over else max(0, wanted - blocks)
    return GroupState(group, places, lacking, blocks, processes, reference)
