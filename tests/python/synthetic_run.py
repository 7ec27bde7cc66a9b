"""A run folder with made-up samples: known speeds, seeded noise, no measuring."""

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sealift.lab import registry
from sealift.lab.devices import Found as Device
from sealift.lab.machine import Fact
from sealift.lab.spec import Experiment, Scope
from sealift.lab.store import (
    Ending,
    How,
    Journal,
    Plan,
    PlannedExperiment,
    Surroundings,
    create,
    write_ending,
)
from sealift.lab.store.names import NOTES, SAMPLES, SENSORS, VERIFY
from sealift.lab.values import Cell

SCOPE = Scope(quick=True, cores=2, devices=("library", "cpu"))
ABSENT_REASON = "libcuda.so.1 is not on this machine"
BLOCKS = 20


@dataclass(frozen=True)
class Made:
    """What the made-up machine does.

    Attributes:
        skipped: Device to the reason why it is not measured.
        wrong: Device to what it computes wrong.
        wrong_blocks: How many blocks it took part in before that was noticed.
        ns: Nanoseconds an operation takes; a model of devices when left out.
        noise: Standard deviation of a sample, as a share.
        switches: Share of samples of which a thread was taken off its core.
        seconds: When the sensors were read.
        blocks: How many blocks are complete, of `BLOCKS`.
        restarts: Over how many processes they are shared out.
        ending: How the run ended; None for one that was killed.
        notes: What went wrong meanwhile.
        facts: What arms tell of themselves beside the usual.
    """

    skipped: Mapping[str, str]
    wrong: Mapping[str, str]
    ns: Callable[[Cell], float]
    noise: float = 0.004
    wrong_blocks: int = 0
    switches: float = 0.04
    seconds: Sequence[int] = range(60)
    blocks: int = BLOCKS
    restarts: int = 1
    ending: Ending | None = Ending(How.COMPLETE)  # noqa: RUF009 (frozen)
    notes: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


def model_ns(cell: Cell) -> float:
    """A device has a price a message, a price a byte, and half of what further threads promise."""
    if "buffer_bytes" in cell:
        # As many reads as threads are done in this time: 23 GB/s, and 31 with two.
        return int(cell["buffer_bytes"]) / (23.1 if cell["threads"] == 1 else 31.7)
    message_ns, byte_ns = COSTS.get(str(cell.get("device")), (40.0, 0.1))
    size = float(cell.get("size_bytes", 0))
    keys = {"fresh": 3.0, "one": 0.8}.get(str(cell.get("keys")), 1.0)
    threads = min(int(cell.get("threads", 1)), 2)
    return (message_ns * keys + byte_ns * size) / (1 if threads == 1 else 1.8)


def made(**changes: object) -> Made:
    """The usual made-up machine, with changes."""
    usual: dict[str, object] = {
        "skipped": {"ipp": "the Python package ipp-crypto is not installed"},
        "wrong": {},
        "ns": model_ns,
    }
    return Made(**(usual | changes))  # type: ignore[arg-type]


def write_run(
    path: Path,
    how: Made,
    experiments: Sequence[Experiment] | None = None,
    *,
    scope: Scope = SCOPE,
    seed: int = 7,
) -> Path:
    """Writes the folder of a run: all experiments that have cells there, or those given."""
    timed = [each for each in registry.all_experiments() if each.is_timed]
    every = [each for each in timed if each.groups(scope)]
    chosen = every if experiments is None else experiments
    plan = Plan(
        version="0.1.0",
        created="2026-11-21T14:21:00Z",
        command=("sealift", "lab", "run", "--quick"),
        seed=seed,
        budget_s=60.0,
        quick=scope.quick,
        restarts=how.restarts,
        threads=(),
        experiments=tuple(_planned(each, scope) for each in chosen),
    )
    create(path, plan, SURROUNDINGS)
    generator = random.Random(seed)
    for planned in plan.experiments:
        _fill(path, planned, how, generator)
    with Journal(path / SENSORS) as sensors:
        sensors.add(_reading(second, generator) for second in how.seconds)
    with Journal(path / NOTES) as notes:
        notes.add({"note": note} for note in how.notes)
    if how.ending is not None:
        write_ending(path, how.ending)
    return path


def _planned(experiment: Experiment, scope: Scope) -> PlannedExperiment:
    return PlannedExperiment(
        name=experiment.name,
        id=experiment.id,
        file=None if experiment.file is None else str(experiment.file),
        operation=experiment.operation,
        compare=experiment.compare,
        weight=experiment.weight,
        blocks=BLOCKS,
        groups=experiment.groups(scope),
        file_sha256=_sha256(experiment.file),
        title=experiment.title,
        why=experiment.why,
        axes=tuple(replace(axis, values=()) for axis in experiment.axes),
        plots=experiment.plots,
        legend=experiment.legend,
    )


def _sha256(file: Path | None) -> str | None:
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def _fill(path: Path, planned: PlannedExperiment, how: Made, generator: random.Random) -> None:
    with Journal(path / VERIFY) as verify, Journal(path / SAMPLES) as samples:
        for group, cells in enumerate(planned.groups):
            place = {"experiment": planned.name, "group": group}
            for arm, cell in enumerate(cells):
                verify.add([{**place, "arm": arm, "restart": 0, **_checked(cell, how)}])
            skipped = [str(cell.get("device")) in how.skipped for cell in cells]
            wrong = [str(cell.get("device")) in how.wrong for cell in cells]
            right = [arm for arm in range(len(cells)) if not skipped[arm] and not wrong[arm]]
            early = [arm for arm in range(len(cells)) if not skipped[arm]]
            for block in range(how.blocks if right else 0):
                there = early if block < how.wrong_blocks else right
                arms = [(arm, False) for arm in there] + [(right[block % len(right)], True)]
                restart = block * how.restarts // BLOCKS
                at = {**place, "restart": restart, "block": block}
                samples.add(
                    {**at, "arm": arm, "again": again, **_sample(cells[arm], how, generator)}
                    for arm, again in arms
                )


def _checked(cell: Cell, how: Made) -> dict[str, object]:
    device = str(cell.get("device"))
    skipped, wrong = how.skipped.get(device, ""), how.wrong.get(device, "")
    role = "test only" if device in PEERS else "real"
    checked = {"role": role, "checked_against": "reference", "messages": 8192}
    facts: dict[str, object] = {} if skipped else {**checked, **how.facts}
    return {"facts": facts, "skipped": skipped, "wrong": wrong}


def _sample(cell: Cell, how: Made, generator: random.Random) -> dict[str, object]:
    ns = how.ns(cell) * generator.gauss(1.0, how.noise)
    operations = max(1, round(1_000_000 / ns))
    size = float(cell.get("size_bytes", cell.get("buffer_bytes", cell.get("frame_bytes", 0))))
    return {
        "ns": round(ns * operations),
        "operations": operations,
        "bytes": round(operations * size),
        "involuntary_switches": int(generator.random() < how.switches),
        "cpu_share": 0.999,
        "steal_ns": 0,
        "clock_ghz": round(generator.gauss(3.67, 0.004), 4),
    }


def _reading(second: int, generator: random.Random) -> dict[str, object]:
    values = {
        "load_1min": round(1 + generator.random(), 2),
        "clock_ghz": round(generator.gauss(3.67, 0.01), 3),
    }
    return {"at_s": second, "values": values}


def _device(spec: str, reason: str = "", role: str = "real") -> Device:
    if reason:
        return Device(spec, spec, "absent", None, None, None, reason, spec)
    return Device(spec, spec.split(":")[0], "present", role, f"made-up {spec}", 2, None, spec)


COSTS = {
    "library": (75.0, 0.21),
    "cpu": (24.0, 0.09),
    "cpu:isa=aesni": (40.0, 0.22),
    "cpu:isa=vaes256": (31.0, 0.13),
    "cpu:isa=vaes512": (24.0, 0.09),
    "table": (900.0, 11.0),
}
PEERS = ("table", "ipp")
SURROUNDINGS = Surroundings(
    facts={
        "cpu_model": Fact("A made-up <processor> & more", None),
        "cpuinfo_clock_mhz": Fact(2596.0, None),
        "cpu_flags": Fact(("aes", "vaes", "hypervisor"), None),
        "cores_affinity": Fact(2, None),
        "core_clock_ghz": Fact(3.67, None),
        "kernel": Fact("Linux 6.18", None),
        "cores_quota": Fact(None, "no cgroup on the way up sets cpu.max, so there is no quota"),
    },
    devices=(
        _device("cpu"),
        _device("cpu:isa=aesni"),
        _device("cpu:isa=vaes256"),
        _device("cpu:isa=vaes512"),
        _device("library"),
        _device("reference", role="oracle"),
        _device("cuda", ABSENT_REASON),
    ),
    sensors={
        "load_1min": Fact("/proc/loadavg", None),
        "temperature_c": Fact(None, "no hwmon in /sys/class/hwmon"),
        "power_w": Fact(None, "no powercap in /sys/class/powercap"),
    },
)
