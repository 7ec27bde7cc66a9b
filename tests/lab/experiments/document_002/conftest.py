"""Computed cells of document 002, each experiment once a session, and the run kept of it."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from sealift_lab.experiments.document_002 import EXPERIMENTS
from sealift_lab.judge.rows import results
from sealift_lab.model.arm import Context, Skip
from sealift_lab.model.experiment import Scope
from sealift_lab.model.results import ArmReport, Results
from sealift_lab.run.read_folder import Run

KEPT = Path("results/2026-11-26/amd-epyc-25-17-2-cores/lab-002")


@pytest.fixture(scope="session")
def computed() -> Callable[[str], Results]:
    """By id: the cells of an experiment, computed with seed 1; of 002-Q those of three sizes."""
    return cache(compute)


@pytest.fixture(scope="session")
def kept() -> Mapping[str, Results]:
    """By name: the facts of the run of 2026-11-26, which has seed 1."""
    return results(Run(Path(__file__).parents[4] / KEPT))


def compute(name: str) -> Results:
    experiment = next(each for each in EXPERIMENTS if each.id == name)
    reports = []
    for cell in (cell for group in experiment.groups(FULL) for cell in group):
        if name == "002-Q" and cell["buffer_bytes"] not in (16, 1_024, 16_384):
            continue
        try:
            facts = experiment.arm(cell, Context(seed=1, folder=Path())).report()
        except Skip as skip:
            reports.append(ArmReport(experiment.name, cell, {}, skipped=str(skip)))
        else:
            reports.append(ArmReport(experiment.name, cell, facts))
    return Results((), reports)


FULL = Scope(quick=False, cores=2, devices=())
