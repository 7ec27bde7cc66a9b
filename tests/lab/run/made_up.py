"""Run folders that no machine measured, as tests need them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sealift_lab.measure.write_folder import Journal, create
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart
from sealift_lab.model.run import (
    SAMPLES,
    SCHEMA,
    Fact,
    Plan,
    PlannedExperiment,
    ReportLine,
    SampleLine,
    Surroundings,
)

MACHINE = Surroundings(
    facts={
        "cpu_model": Fact("Some CPU"),
        "cpu_flags": Fact(["aes", "vaes"]),
        "cores_quota": Fact(None, "no quota"),
    },
    sensors={"load_1min": Fact(0.5)},
)


def planned(**changes: Any) -> PlannedExperiment:
    """Two groups of two arms each, three blocks in each process."""
    groups: list[list[Cell]] = [
        [{"size_bytes": size, "device": device} for device in ("library", "cpu")]
        for size in (16, 128)
    ]
    fields: dict[str, Any] = {
        "name": "by-size",
        "compare": "device",
        "groups": groups,
        "blocks": 3,
        "title": "Made up",
        "axes": [Axis("size_bytes", "size"), Axis("device", "device")],
        "charts": [Chart("size_bytes", "device", "time", "Time", where={"size_bytes": 16})],
    }
    return PlannedExperiment(**fields | changes)


def plan(*experiments: PlannedExperiment, **changes: Any) -> Plan:
    """A plan of these experiments, or of one made-up one, in one process."""
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "version": "0.1.0",
        "created": "2026-11-21T14:21:00Z",
        "command": ["sealift", "lab", "run"],
        "seed": 1,
        "budget_s": 60.0,
        "processes": 1,
        "experiments": list(experiments) or [planned()],
    }
    return Plan(**fields | changes)


def folder(path: Path, of: Plan | None = None) -> Path:
    """A run folder without samples."""
    create(path, of or plan(), MACHINE)
    return path


def line(arm: int, *, again: bool = False, **changes: Any) -> dict[str, Any]:
    """A line of samples.jsonl."""
    ns = 1_000_000 + 1_000 * arm
    sample = SampleLine("by-size", 0, arm, again, 0, 0, ns, 1_000, 16_000, 0, 1.0, 0)
    return asdict(sample) | changes


def block(group: int, number: int, arms: Sequence[int] = (0, 1), **changes: Any) -> list[Any]:
    """The lines of a block; the arm named first is sampled again."""
    fields = {"group": group, "block": number} | changes
    return [*(line(arm, **fields) for arm in sorted(arms)), line(arms[0], again=True, **fields)]


def report(arm: int, **changes: Any) -> dict[str, Any]:
    """A line of verify.jsonl."""
    return asdict(ReportLine("by-size", 0, arm, 0, {})) | changes


def add(path: Path, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Adds lines to a file of a folder."""
    with Journal(path / name) as journal:
        journal.add(lines)


def fill(path: Path) -> None:
    """All blocks of the made-up experiment."""
    for number in range(3):
        for group in (0, 1):
            add(path, SAMPLES, block(group, number))
