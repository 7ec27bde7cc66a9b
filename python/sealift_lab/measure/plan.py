"""Plans: experiments as plan.json describes them."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

from sealift_lab import _lab
from sealift_lab.model.arm import Cell, is_text
from sealift_lab.model.experiment import CELLS_MAX, Experiment
from sealift_lab.model.run import SCHEMA, Plan, PlannedExperiment

Chosen = Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]
"""Experiments, each with its groups from `Experiment.groups`, most wanted first."""


def make_plan(
    chosen: Chosen,
    *,
    command: Sequence[str],
    budget_s: float | None = None,
    processes: int | None = None,
    blocks: int | None = None,
    seed: int = 1,
    quick: bool = False,
    threads: Sequence[int] = (),
    of_all: bool = False,
) -> Plan:
    """The plan of a run: all of it, though the budget may have no room for the last.

    Experiments without groups are left out. None is a budget of 60 s when quick, else 280 s (0 is
    as long as everything takes); 1 process when quick, else 8; 30 blocks in one process, else 10.

    Raises:
        ValueError: If there is nothing to measure or too much, a name stands twice, or a number is
            out of range.
    """
    if budget_s is None:
        budget_s = QUICK_BUDGET_S if quick else BUDGET_S
    if processes is None:
        processes = 1 if quick else PROCESSES
    if blocks is None:
        blocks = BLOCKS_ALONE if processes == 1 else BLOCKS
    if not 0 <= budget_s < math.inf:
        raise ValueError(f"a budget of {budget_s:g} s; right would be a finite time above 0")
    for name, value in (("processes", processes), ("blocks", blocks)):
        if value < 1:
            raise ValueError(f"{value} {name}; right would be 1 or more")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed {seed}; right would be 0 to 2^64 - 1")
    names = [experiment.name for experiment, _ in chosen]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the experiment {min(twice)!r} is named twice")
    cells = sum(len(group) for _, groups in chosen for group in groups)
    if not cells:
        raise ValueError("nothing to measure; name at least one experiment that has cells here")
    if cells > CELLS_MAX:
        raise ValueError(f"{cells:,} cells; right would be {CELLS_MAX:,} at most in a run")
    return Plan(
        schema=SCHEMA,
        version=_lab.__version__,
        created=_now(),
        command=[word.encode(errors="replace").decode() for word in command],
        seed=seed,
        budget_s=budget_s,
        processes=processes,
        experiments=[planned(each, groups, blocks) for each, groups in chosen if groups],
        quick=quick,
        threads=list(threads),
        of_all=of_all,
    )


def planned(
    experiment: Experiment, groups: Sequence[Sequence[Cell]], blocks: int
) -> PlannedExperiment:
    """An experiment as a plan describes it, with its blocks a process where it is timed."""
    file = None if experiment.file is None else str(experiment.file)
    if file is not None and not is_text(file):
        raise ValueError(f"{file!a}: a path that is no UTF-8 can't be kept in a plan; rename it")
    same = {each.name for each in fields(PlannedExperiment)} & vars(experiment).keys()
    copied = {name: getattr(experiment, name) for name in same}
    return PlannedExperiment(
        **copied
        | {
            "groups": [[dict(cell) for cell in group] for group in groups],
            "blocks": blocks if experiment.is_timed else 1,
            "axes": [replace(axis, values=()) for axis in experiment.axes],
            # Of one's own experiments they may be mappings that are no dicts.
            "charts": [replace(each, where=dict(each.where)) for each in experiment.charts],
            "preferred": dict(experiment.preferred),
            "columns": dict(experiment.columns),
            "legend": dict(experiment.legend),
            # In JSON keys are text.
            "names": {str(value): name for value, name in experiment.names.items()},
            "advice": {str(value): text for value, text in experiment.advice.items()},
            "file": file,
            "file_sha256": None if file is None else _sha256(file),
        }
    )


def planned_again(plan: Plan, command: Sequence[str]) -> Plan:
    """The same plan for a new run: with this Sealift, now, and files as they are now."""
    return replace(
        plan,
        schema=SCHEMA,
        version=_lab.__version__,
        created=_now(),
        command=command,
        experiments=[
            replace(each, file_sha256=None if each.file is None else _sha256(each.file))
            for each in plan.experiments
        ],
    )


def changed_files(plan: Plan) -> Iterator[str]:
    """The experiment files of one's own that are not as they were when the plan was made."""
    for each in plan.experiments:
        if each.file is not None and _sha256(each.file) != each.file_sha256:
            yield each.file


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _sha256(file: str) -> str:
    """Of an experiment file; "" where it can't be read, which fails when it is run."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""


QUICK_BUDGET_S, BUDGET_S = 60.0, 280.0
# IMPLEMENTATION NOTE: ratios differ between processes by 1.3 to 3.3 %, so processes count for more
# than blocks. Where they differ by 1.3 and 3.0 %, 99 % intervals over 8 to 14 processes of 10
# blocks hold in 99.0 and 98.2 % of comparisons, those over one process of 60 blocks in 66.8 and
# 44.5 %: docs/statistics.md, by `sealift lab certify`.
PROCESSES, BLOCKS = 8, 10
BLOCKS_ALONE = 30
