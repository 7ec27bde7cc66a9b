"""Results as an experiment's arms would give them at speeds that a test chooses."""

from collections.abc import Callable, Iterable

from sealift_lab.claim.replication import Pair, compare_published
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import ArmReport, Claim, Estimate, Results, Row

Speed = Callable[[Cell], float]
"""Payload MB/s of a cell; 0 for one that is skipped."""


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    return [cell for group in experiment.groups(scope) for cell in group]


def results(
    experiment: Experiment,
    scope: Scope,
    speed: Speed = lambda _: 100.0,
    facts: dict[str, Value] | None = None,
) -> Results:
    rows, reports = [], []
    for number, group in enumerate(experiment.groups(scope)):
        first = speed(group[0])
        for arm, cell in enumerate(group):
            if here := speed(cell):
                rows.append(_row(experiment, number, arm, cell, here, here / first if first else 0))
            skipped = "" if here else "left out"
            reports.append(ArmReport(experiment.name, cell, {**(facts or {})}, skipped))
    return Results(rows, reports)


def skipped(experiment: Experiment, scope: Scope, reason: str) -> Results:
    every = cells(experiment, scope)
    return Results((), [ArmReport(experiment.name, cell, {}, reason) for cell in every])


def _row(
    experiment: Experiment, group: int, arm: int, cell: Cell, mb_per_s: float, ratio: float
) -> Row:
    size_bytes = float(cell.get("size_bytes", 128))
    reference = experiment.groups(FULL)[0][0][experiment.compare]
    time, of_reference = narrow(size_bytes / mb_per_s * 1_000), narrow(ratio) if arm else None
    return Row(
        experiment.name, group, arm, cell, experiment.compare, time, size_bytes, reference,
        of_reference if ratio else None, None, "", False, 30, 5, 0.01, 1.0,  # noqa: FBT003
    )  # fmt: skip


def narrow(value: float) -> Estimate:
    return Estimate(value, value * 0.999, value * 1.001)


def compare(experiment: Experiment, found: Results) -> list[Pair]:
    def ratio(one: Row, other: Row) -> Estimate:
        return narrow(other.time.value / one.time.value)

    return compare_published(experiment.published(found), found, ratio, experiment.name)


def by_what(pairs: Iterable[Pair]) -> dict[str, list[Claim]]:
    claims: dict[str, list[Claim]] = {}
    for published, claim in pairs:
        claims.setdefault(published.what, []).append(claim)
    return claims


DEVICES = ("library", "cpu")
QUICK = Scope(quick=True, cores=2, devices=DEVICES)
FULL = Scope(quick=False, cores=2, devices=DEVICES)
