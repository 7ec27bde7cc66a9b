"""Plans: experiments as plan.json describes them."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sealift_lab import _lab
from sealift_lab.model.experiment import CELLS_MAX, Experiment
from sealift_lab.model.run import SCHEMA, Plan, PlannedExperiment
from sealift_lab.model.values import Cell, is_text

Chosen = Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]
"""Experiments, each with its groups from `Experiment.groups`."""


def make_plan(
    chosen: Chosen,
    *,
    command: Sequence[str],
    seed: int,
    processes: int,
    blocks: int,
    quick: bool = False,
    threads: Sequence[int] = (),
) -> Plan:
    """A plan with a fixed number of processes, and of blocks that each measures of each group.

    Experiments are measured in the order of `chosen`; those without groups are left out.

    Raises:
        ValueError: If there is nothing to measure or too much, or a number is out of range.
    """
    for name, value in (("processes", processes), ("blocks", blocks)):
        if value < 1:
            raise ValueError(f"{value} {name}; right would be 1 or more")
    cells = sum(len(group) for _, groups in chosen for group in groups)
    if not cells:
        raise ValueError("nothing to measure; name at least one experiment that has cells here")
    if cells > CELLS_MAX:
        raise ValueError(f"{cells:,} cells; right would be {CELLS_MAX:,} at most in a run")
    return Plan(
        schema=SCHEMA,
        version=_lab.__version__,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=[word.encode(errors="replace").decode() for word in command],
        seed=seed,
        budget_s=0,
        processes=processes,
        experiments=[planned(each, groups, blocks) for each, groups in chosen if groups],
        quick=quick,
        threads=list(threads),
    )


def planned(
    experiment: Experiment, groups: Sequence[Sequence[Cell]], blocks: int
) -> PlannedExperiment:
    """An experiment as a plan describes it, with its blocks a process where it is timed.

    Raises:
        ValueError: If the path of its file can't be stored.
    """
    file = None if experiment.file is None else str(experiment.file)
    if file is not None and not is_text(file):
        raise ValueError(f"{file!a}: a path that is no UTF-8 can't be kept in a plan; rename it")
    return PlannedExperiment(
        name=experiment.name,
        compare=experiment.compare,
        groups=[[dict(cell) for cell in group] for group in groups],
        blocks=blocks if experiment.is_timed else 1,
        id=experiment.id,
        title=experiment.title,
        question=experiment.question,
        operation=experiment.operation,
        axes=[replace(axis, values=()) for axis in experiment.axes],
        charts=[replace(chart, where=dict(chart.where)) for chart in experiment.charts],
        preferred=dict(experiment.preferred),
        names={str(value): name for value, name in experiment.names.items()},
        advice={str(value): text for value, text in experiment.advice.items()},
        columns=dict(experiment.columns),
        notes=experiment.notes,
        origin=experiment.origin,
        weight=experiment.weight,
        estimated_s=experiment.estimated_s,
        legend=dict(experiment.legend),
        file=file,
        file_sha256=None if file is None else sha256_of(file),
    )


def sha256_of(file: str) -> str:
    """Of an experiment file; "" where it can't be read, which fails when it is run."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""
