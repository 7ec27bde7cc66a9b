"""What is to be measured: the plan of a run, from what is asked for."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sealift_lab import _lab
from sealift_lab.measure.plan import make_plan as fixed_plan
from sealift_lab.measure.plan import sha256_of
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import SCHEMA, Plan
from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes:
        experiments: Each with its groups, most wanted first, from `Experiment.groups`.
        command: The command line that asks for it.
        out: A new folder; None for one named after the time, below `runs`.
        budget_s: Seconds of wall clock for everything; None for 60 when quick, else 300; 0 for as
            long as all processes and blocks take.
        processes: In how many processes each group is measured at least; None for 1 when quick,
            else 8.
        blocks: How many blocks each of them measures of a group; None for 30 in one process, else
            10.
        seed: Of everything that is drawn.
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts that were asked for, for the record.
        is_kept: Whether the folder stays, so that a resume may be spoken of.
    """

    experiments: Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]
    command: tuple[str, ...]
    out: Path | None = None
    budget_s: float | None = None
    processes: int | None = None
    blocks: int | None = None
    seed: int = 1
    quick: bool = False
    threads: tuple[int, ...] = ()
    is_kept: bool = True


def make_plan(request: Request) -> Plan:
    """The plan for a request: all of it, though the budget may have no room for the last.

    Raises:
        ValueError: If there is nothing to run, a name stands twice, or a number is out of range.
    """
    budget_s, processes, blocks = request.budget_s, request.processes, request.blocks
    if budget_s is None:
        budget_s = QUICK_BUDGET_S if request.quick else BUDGET_S
    if not 0 <= budget_s < math.inf:
        raise ValueError(f"a budget of {budget_s:g} s; right would be a finite time above 0")
    names = [experiment.name for experiment, _ in request.experiments]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the experiment {min(twice)!r} is named twice")
    processes = (1 if request.quick else PROCESSES) if processes is None else processes
    plan = fixed_plan(
        request.experiments,
        command=request.command,
        seed=request.seed,
        processes=processes,
        blocks=(BLOCKS_ALONE if processes == 1 else BLOCKS) if blocks is None else blocks,
        quick=request.quick,
        threads=request.threads,
    )
    return replace(plan, budget_s=budget_s)


def again(plan: Plan, command: Sequence[str]) -> Plan:
    """The same plan for a new run: with this Sealift, now, and files as they are now."""
    hashes = [None if each.file is None else sha256_of(each.file) for each in plan.experiments]
    return replace(
        plan,
        schema=SCHEMA,
        version=_lab.__version__,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=command,
        experiments=[
            replace(each, file_sha256=sha256)
            for each, sha256 in zip(plan.experiments, hashes, strict=True)
        ],
    )


def changed_files(plan: Plan) -> Iterator[str]:
    """The experiment files of one's own that are not as they were when the plan was made."""
    for each in plan.experiments:
        if each.file is not None and sha256_of(each.file) != each.file_sha256:
            yield each.file


QUICK_BUDGET_S, BUDGET_S = 60.0, 300.0
# IMPLEMENTATION NOTE: rows differ between processes by 1.3-3.3 %, so processes count for more than
# blocks: 99 % intervals over 8 to 14 processes of 10 blocks hold in 99 % of comparisons, those of
# one process of 60 blocks in 36-82 %.
PROCESSES, BLOCKS = 8, 10
BLOCKS_ALONE = 30
