"""Computed cells of document 002, each experiment once a session, and the run kept of it."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from sealift_lab.experiments.document_002 import EXPERIMENTS
from sealift_lab.model.arm import Context, Skip, Value
from sealift_lab.model.experiment import Scope
from sealift_lab.model.results import ArmReport, Results

KEPT = Path("results/2026-11-23/intelr-xeonr-processor-2-cores/lab-002")


@pytest.fixture(scope="session", name="computed")
def fixture_computed() -> Callable[[str], Results]:
    """By id: the cells of an experiment, computed with seed 1; of 002-Q those of three sizes."""
    return cache(compute)


@pytest.fixture(scope="session", name="kept")
def fixture_kept() -> Mapping[str, Results]:
    """By name: the facts of the run of 2026-11-23, which has seed 1."""
    return {each.name: Results((), list(kept_reports(each.name))) for each in EXPERIMENTS[:-1]}


def compute(name: str) -> Results:
    experiment = next(each for each in EXPERIMENTS if each.id == name)
    context = Context(seed=1, folder=Path())
    reports = []
    for cell in (cell for group in experiment.groups(FULL) for cell in group):
        if name == "002-Q" and cell["buffer_bytes"] not in SIZES:
            continue
        try:
            facts = experiment.arm(cell, context).report()
        except Skip as skip:
            reports.append(ArmReport(experiment.name, cell, {}, skipped=str(skip)))
        else:
            reports.append(ArmReport(experiment.name, cell, facts))
    return Results((), reports)


def kept_reports(name: str) -> Iterator[ArmReport]:
    root = Path(__file__).parents[4] / KEPT
    plan = json.loads((root / "plan.json").read_text(encoding="utf-8"))
    groups = next(each["groups"] for each in plan["experiments"] if each["name"] == name)
    texts = (root / "verify.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [line for line in map(json.loads, texts) if line["experiment"] == name]
    for line in sorted(lines, key=lambda line: (line["group"], line["arm"])):
        facts: dict[str, Value] = line["facts"]
        cell = groups[line["group"]][line["arm"]]
        if name == "cards-beyond" and cell["buffer_bytes"] not in SIZES:
            continue
        yield ArmReport(name, cell, facts, skipped=line["skipped"])


FULL = Scope(quick=False, cores=2, devices=())
SIZES = (16, 1_024, 16_384)
