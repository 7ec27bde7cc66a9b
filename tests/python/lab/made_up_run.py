"""Run folders that nothing was measured for, as tests need them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sealift.lab import store
from sealift.lab.machine import Fact
from sealift.lab.spec import Axis
from sealift.lab.store import names
from sealift.lab.values import Cell


def planned(**changes: Any) -> store.PlannedExperiment:
    """Two groups of two arms each, three blocks."""
    groups: tuple[tuple[Cell, ...], ...] = tuple(
        tuple({"size_bytes": size, "device": device} for device in ("library", "cpu"))
        for size in (16, 128)
    )
    fields: dict[str, Any] = {
        "name": "by-size",
        "id": "003-F5",
        "file": None,
        "operation": "message",
        "compare": "device",
        "weight": 1.0,
        "blocks": 3,
        "groups": groups,
        "title": "Made up",
    }
    fields |= changes
    columns = [name for group in fields["groups"][:1] for name in group[0]]
    axes = {"axes": tuple(Axis(name, f"the {name}") for name in columns)}
    return store.PlannedExperiment(**axes | fields)


def plot(**changes: Any) -> dict[str, Any]:
    """The fields of a figure of the made-up experiment."""
    fields: dict[str, Any] = {
        "x": "size_bytes",
        "y": "ns_per_operation",
        "z": "device",
        "title": "By size",
        "facet": "",
        "where": {},
        "log_x": True,
        "log_y": False,
    }
    return fields | changes


def plan(*experiments: store.PlannedExperiment, **changes: Any) -> store.Plan:
    """A plan of these experiments, or of one made-up one."""
    fields: dict[str, Any] = {
        "version": "0.1.0",
        "created": "2026-11-21T14:21:00Z",
        "command": ("sealift", "lab", "run"),
        "seed": 1,
        "budget_s": 60.0,
        "quick": True,
        "restarts": 1,
        "threads": (),
        "experiments": experiments or (planned(),),
    }
    return store.Plan(**fields | changes)


SURROUNDINGS = store.Surroundings(
    facts={
        "cpu_model": Fact("Some CPU", None),
        "cpu_flags": Fact(("aes", "vaes"), None),
        "cores_quota": Fact(None, "no quota"),
    },
    sensors={"fan_rpm": Fact(None, "no fan"), "load_1min": Fact(0.5, None)},
)


def create(path: Path, of: store.Plan | None = None) -> Path:
    """Makes the folder."""
    store.create(path, of or plan(), SURROUNDINGS)
    return path


def line(
    arm: int, *, group: int = 0, block: int = 0, again: bool = False, **changes: Any
) -> dict[str, Any]:
    """A line of samples.jsonl."""
    fields = {
        "experiment": "by-size",
        "group": group,
        "arm": arm,
        "again": again,
        "restart": 0,
        "block": block,
        "ns": 1_000_000 + 1_000 * arm,
        "operations": 1_000,
        "bytes": 16_000,
        "involuntary_switches": 0,
        "cpu_share": 1.0,
        "steal_ns": 0,
        "clock_ghz": None,
    }
    return fields | changes


def block_lines(
    group: int, block: int, arms: Sequence[int] = (0, 1), **changes: Any
) -> list[dict[str, Any]]:
    """The lines of a block; the one named first is doubled."""
    singles = [line(arm, group=group, block=block, **changes) for arm in sorted(arms)]
    return [*singles, line(arms[0], group=group, block=block, again=True, **changes)]


def add(path: Path, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Adds lines to a file of the folder."""
    with store.Journal(path / name) as journal:
        journal.add(lines)


def told(arm: int, *, group: int = 0, restart: int = 0, **changes: Any) -> dict[str, Any]:
    """A line of verify.jsonl."""
    fields: dict[str, Any] = {
        "experiment": "by-size",
        "group": group,
        "arm": arm,
        "restart": restart,
        "facts": {},
        "skipped": "",
        "may_pass": False,
        "wrong": "",
    }
    return fields | changes


def fill(path: Path) -> None:
    """All blocks of the made-up experiment."""
    for block in range(3):
        for group in (0, 1):
            add(path, names.SAMPLES, block_lines(group, block))
