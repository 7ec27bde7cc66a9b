"""The files of a run folder, typed: plan, samples, reports, machine. Units stand last in names.

Dataclasses of the standard library, so that a measuring process writes them without other packages;
`run.read_folder` reads them with msgspec, which checks every field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, ExperimentBase


@dataclass(frozen=True)
class PlannedExperiment(ExperimentBase):
    """What is to be measured of an experiment; fields not named here are those of `Experiment`.

    Attributes:
        blocks: How many blocks a process measures of each group; 1 of what is not sampled.
        names: Names of values for readers; numbers as text, as in `advice`.
        file: Absolute path of an experiment file of one's own; None for the lab's.
        left_out: Groups that the budget had no room for, in runs of Sealift 0.1.0.
    """

    name: str
    compare: str
    groups: Sequence[Sequence[Cell]]
    blocks: int
    title: str = ""
    operation: str = "operation"
    axes: Sequence[Axis] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None
    file_sha256: str | None = None
    left_out: Sequence[Sequence[Cell]] = ()


@dataclass(frozen=True)
class Plan:
    """A run as it was ordered.

    Attributes:
        schema: `sealift-run/2`; `/1` is what Sealift 0.1.0 wrote.
        budget_s: Seconds of wall clock for everything; 0 where processes and blocks were fixed.
        processes: In how many processes each group is measured at least.
        of_all: Whether all experiments were named, so that figures published for those that are
            left out count as not here.
    """

    schema: Literal["sealift-run/1", "sealift-run/2"]
    version: str
    created: str
    command: Sequence[str]
    seed: int
    budget_s: float
    processes: int
    experiments: Sequence[PlannedExperiment]
    quick: bool = False
    threads: Sequence[int] = ()
    of_all: bool = False

    def blocks_of(self, of: PlannedExperiment) -> int:
        """How many blocks all groups of an experiment have in all processes."""
        return len(of.groups) * (self.processes * of.blocks if of.is_timed else 1)


@dataclass(frozen=True)
class SampleLine:
    """A line of samples.jsonl: one timing of an arm in a block.

    A block ends with the line whose `again` is true: the second sample of one of its arms, in each
    block of another, which gives the A/A pair.
    """

    experiment: str
    group: int
    arm: int
    again: bool
    restart: int
    block: int
    ns: int
    operations: int
    bytes: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int
    clock_ghz: float | None = None


@dataclass(frozen=True)
class ReportLine:
    """A line of verify.jsonl: what became of an arm in one process (`restart`)."""

    experiment: str
    group: int
    arm: int
    restart: int
    facts: Mapping[str, Value]
    skipped: str = ""
    wrong: str = ""
    may_pass: bool = False


@dataclass(frozen=True)
class Fact:
    """A property of the machine, or the reason why it is unknown; one of the two is None."""

    value: Value | Sequence[str] | None
    reason: str | None = None


@dataclass(frozen=True)
class DeviceState:
    """A device as a run found it: `state` is "present", "incomplete" or "absent"."""

    spec: str
    driver: str
    state: str
    role: str | None = None
    detail: str | None = None
    workers: int | None = None
    reason: str | None = None
    summary: str = ""


@dataclass(frozen=True)
class Surroundings:
    """machine.json: the machine, its devices and its sensors, each a value or a reason."""

    facts: Mapping[str, Fact]
    devices: Sequence[DeviceState] = ()
    sensors: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A line of sensors.jsonl: seconds since the run began, and the values by name."""

    at_s: float
    values: Mapping[str, float]


@dataclass(frozen=True)
class Ending:
    """ending.json: `complete`, `time was up`, `interrupted`, `failed` or `not written`, and why."""

    ending: str
    reason: str = ""


SCHEMA: Literal["sealift-run/2"] = "sealift-run/2"
PLAN, MACHINE, SAMPLES, REPORTS = "plan.json", "machine.json", "samples.jsonl", "verify.jsonl"
SENSORS, NOTES, ENDING, PAGE = "sensors.jsonl", "notes.jsonl", "ending.json", "report.html"
LOCK, SUMMARY, PUBLISHED = "run.lock", "summary.csv", "published.json"
