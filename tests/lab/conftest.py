"""A made-up run folder, written as the lab writes them, and its judged results."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart
from sealift_lab.model.run import (
    SCHEMA,
    DeviceState,
    Ending,
    Fact,
    Plan,
    PlannedExperiment,
    Reading,
    ReportLine,
    SampleLine,
    Surroundings,
)
from sealift_lab.run.read_folder import Run

NAME = "made-up"
SIZES = (16, 1024, 16384)


def cells(times_ns: Mapping[int, Sequence[float]]) -> list[list[Cell]]:
    return [
        [
            {"size_bytes": size, "device": device}
            for device in ("library", "cpu", "table")[: len(ns)]
        ]
        for size, ns in times_ns.items()
    ]


def make_run(
    folder: Path,
    times_ns: Mapping[int, Sequence[float]],
    *,
    processes: int = 8,
    blocks: int = 4,
    reports: Sequence[ReportLine] = (),
    seed: int = 1,
    experiment: str = NAME,
) -> Run:
    """By message size the nanoseconds of each arm, with 0.3 % of scatter."""
    folder.mkdir(exist_ok=True)
    planned = PlannedExperiment(
        name=experiment,
        compare="device",
        groups=cells(times_ns),
        blocks=blocks,
        title="Messages by size",
        question="Where should my messages go?",
        operation="message",
        axes=(Axis("size_bytes", "message size"), Axis("device", "device")),
        charts=(Chart("size_bytes", "device", "time", "Time", log_x=True, log_y=True),),
        preferred={"size_bytes": 1024},
        names={"cpu": "Kernels", "library": "AWS-LC"},
        advice={"cpu": "On the processor"},
    )
    plan = Plan(
        schema=SCHEMA,
        version="0.1.0",
        created="2026-11-25T12:00:00Z",
        command=["sealift", "lab", "run"],
        seed=1,
        budget_s=60,
        processes=processes,
        experiments=[planned],
    )
    machine = Surroundings(
        facts={"cpu_model": Fact("Example 9000"), "cores_affinity": Fact(2)},
        devices=[
            DeviceState("cpu", "cpu", "present", "real"),
            DeviceState("gpu", "gpu", "absent", reason="no driver (errno 2); install one"),
            DeviceState("gpu:1", "gpu", "absent", reason="no driver"),
        ],
    )
    (folder / "plan.json").write_bytes(msgspec.json.encode(plan))
    (folder / "machine.json").write_bytes(msgspec.json.encode(machine))
    (folder / "ending.json").write_bytes(msgspec.json.encode(Ending("complete")))
    lines = {
        "samples": [*_samples(experiment, times_ns, processes, blocks, seed)],
        "verify": reports,
        "sensors": [Reading(at, {"load_1min": at / 10}) for at in range(5)],
        "notes": [],
    }
    for file, records in lines.items():
        text = b"".join(msgspec.json.encode(each) + b"\n" for each in records)
        (folder / f"{file}.jsonl").write_bytes(text)
    return Run(folder)


def _samples(
    name: str, times_ns: Mapping[int, Sequence[float]], processes: int, blocks: int, seed: int
) -> list[SampleLine]:
    rng = np.random.default_rng(seed)
    lines = []
    for process in range(processes):
        for group, (size, ns) in enumerate(times_ns.items()):
            for block in range(process * blocks, (process + 1) * blocks):
                for turn, arm in enumerate([*range(len(ns)), block % len(ns)]):
                    took = round(1e6 * ns[arm] * np.exp(rng.normal(0, 0.003)))
                    again = turn == len(ns)
                    lines.append(
                        SampleLine(
                            name, group, arm, again, process, block, took, 10**6, size * 10**6,
                            0, 1.0, 0, 2.5,
                        )
                    )  # fmt: skip
    return lines


@pytest.fixture
def a_run(tmp_path: Path) -> Callable[..., Run]:
    def make(times_ns: Mapping[int, Sequence[float]], name: str = "run", **more: object) -> Run:
        return make_run(tmp_path / name, times_ns, **more)  # type: ignore[arg-type]

    return make
