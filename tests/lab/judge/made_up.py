"""Made-up runs: samples whose truth is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import polars as pl

from sealift_lab.model.arm import Value
from sealift_lab.model.published import Kind, Missing, Published
from sealift_lab.model.results import Origin
from sealift_lab.model.run import SCHEMA, Plan, PlannedExperiment, ReportLine

NAME = "made-up"
DEVICES = ("library", "cpu", "table")


@dataclass(frozen=True)
class MadeUpRun:
    plan: Plan
    samples: pl.DataFrame
    reports: Sequence[ReportLine] = field(default_factory=list)


def make_samples(
    times: Mapping[int, Sequence[float]],
    *,
    processes: int = 8,
    blocks: int = 10,
    scatter: float = 0.003,
    between: float = 0.0,
    seed: int = 1,
    **columns: float | str,
) -> pl.DataFrame:
    """By group the nanoseconds an operation of its arms; processes and blocks scatter by shares."""
    rng = np.random.default_rng(seed)
    lines = []
    for (group, arms_ns), process in product(times.items(), range(processes)):
        here = np.array(arms_ns) * np.exp(rng.normal(0, between, len(arms_ns)))
        for block in range(process * blocks, (process + 1) * blocks):
            for turn, arm in enumerate([*rng.permutation(len(arms_ns)), block % len(arms_ns)]):
                ns = round(10_000 * here[arm] * np.exp(rng.normal(0, scatter)))
                lines.append((group, int(arm), turn == len(arms_ns), process, block, ns))
    names = ["group", "arm", "again", "restart", "block", "ns"]
    usual = {"experiment": NAME, "operations": 10_000, "bytes": 1_280_000, "steal_ns": 0}
    usual |= {"involuntary_switches": 0, "cpu_share": 1.0, "clock_ghz": 2.5}
    return pl.DataFrame(lines, schema=names, orient="row").with_columns(
        **{name: pl.lit(value) for name, value in {**usual, **columns}.items()}
    )


def make_run(
    samples: pl.DataFrame,
    reports: Sequence[ReportLine] = (),
    *,
    processes: int = 8,
    load: str = "a thread a core",
    origin: Origin = Origin.MEASURED,
) -> MadeUpRun:
    groups: list[list[dict[str, Value]]] = [
        [{"size_bytes": 16 << group, "load": load, "device": device} for device in DEVICES]
        for group in range(3)
    ]
    planned = PlannedExperiment(NAME, "device", groups, blocks=10, origin=origin)
    plan = Plan(SCHEMA, "0.2.0", "2026-11-25T12:00:00Z", ["sealift"], 1, 60, processes, [planned])
    return MadeUpRun(plan, samples, reports)


def printed(
    kind: Kind, value: float, *, unit: str = "x", origin: Origin = Origin.MEASURED, **more: float
) -> Published:
    """A speed-up of table 4 of document 003, of this kind and value."""
    return Published(
        "003-T4", "speed-up", value, unit, "table 4", kind, Missing("-"), origin=origin, **more  # type: ignore[arg-type]
    )  # fmt: skip
