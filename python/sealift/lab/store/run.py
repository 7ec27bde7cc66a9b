"""A run as it was read: plan, samples in blocks, what was checked, how it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

from sealift.lab.devices import Found as Device
from sealift.lab.machine import Fact
from sealift.lab.measure import Block
from sealift.lab.published import Comparison
from sealift.lab.result import Verified
from sealift.lab.store.plan import Plan


class How(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    TIME_UP = "time was up"
    INTERRUPTED = "interrupted"
    NOT_WRITTEN = "a file could not be written"
    FAILED = "a part failed"


@dataclass(frozen=True)
class Ending:
    """How a run ended, and why so.

    Attributes:
        how: Which kind of end.
        reason: A sentence; "" when complete.
    """

    how: How
    reason: str = ""


@dataclass(frozen=True)
class Surroundings:
    """Where a run was measured.

    Attributes:
        facts: Of the machine, by name with the unit last, `core_clock_ghz` among them.
        devices: Those that were there, and the absent ones with reasons.
        sensors: What each could tell at the beginning, by name with the unit last.
    """

    facts: Mapping[str, Fact]
    devices: tuple[Device, ...] = ()
    sensors: Mapping[str, Fact] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "facts": {name: asdict(fact) for name, fact in self.facts.items()},
            "devices": [device.as_dict() for device in self.devices],
            "sensors": {name: asdict(fact) for name, fact in self.sensors.items()},
        }


@dataclass(frozen=True)
class Reading:
    """What the sensors told at one moment.

    Attributes:
        at_s: Seconds since the run was created.
        values: By name with the unit last; a sensor that told nothing is left out.
    """

    at_s: float
    values: Mapping[str, float]


@dataclass(frozen=True)
class Check:
    """A check of the suite for devices, as `sealift-gpu` worked it.

    Attributes:
        device: What was checked, as it was opened.
        name: Of the check.
        passed: Whether nothing was wrong.
        said: What was done, or what was wrong.
    """

    device: str
    name: str
    passed: bool
    said: str


@dataclass(frozen=True)
class Run:
    """A run folder, read and checked.

    Attributes:
        path: Of the folder.
        plan: What was to be done.
        machine: Where it was measured.
        verified: For each planned cell, in the plan's order, what was checked. Integer counts of
            several restarts are added up. An arm that was measured at all counts as not skipped.
        sensors: Ascending in time.
        ending: None when the run was killed, or still goes on.
        notes: What went wrong, and what was left out while reading: sentences.
        measured: By experiment and group: for each complete block its restart, and the block.
        references: By experiment and group the place of the arm that the others are compared with,
            once there is a block.
        over: Groups that get no more blocks, because they were computed, their reference computed
            something wrong or none of their arms can be measured on this machine: experiment and
            group.
        wrong: Arms that computed something wrong: experiment, group, arm.
        restarts: By experiment how many processes have measured it so far.
        published: By experiment of one's own what it says of published figures, once the run has
            ended; those of Sealift's are asked when they are shown.
        checks: Of the suite for devices, where `sealift-gpu` worked it.
    """

    path: Path
    plan: Plan
    machine: Surroundings
    verified: tuple[Verified, ...]
    sensors: tuple[Reading, ...]
    ending: Ending | None
    notes: tuple[str, ...]
    measured: Mapping[tuple[str, int], tuple[tuple[int, Block], ...]]
    references: Mapping[tuple[str, int], int]
    over: frozenset[tuple[str, int]] = frozenset()
    wrong: frozenset[tuple[str, int, int]] = frozenset()
    restarts: Mapping[str, int] = field(default_factory=dict)
    published: Mapping[str, tuple[Comparison, ...]] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    def blocks(self, name: str, group: int) -> Sequence[tuple[int, Block]]:
        """The complete blocks of a group, each with its restart.

        A block has a place for each planned arm of the group, None where the arm was skipped or
        wrong. The sample at the place of the reference is never None.

        Args:
            name: Of the experiment.
            group: Its number in the plan.
        """
        return self.measured.get((name, group), ())

    def reference(self, name: str, group: int) -> int:
        """The place of the arm that the others are compared with.

        The first one, or, where that was skipped, the first one that was there.
        """
        return self.references.get((name, group), 0)

    def missing(self, name: str, group: int) -> int:
        """How many blocks of a group are still to be measured."""
        if (name, group) in self.over:
            return 0
        return self.plan.experiment(name).blocks - len(self.blocks(name, group))

    def has_begun(self, name: str) -> bool:
        """Whether anything was measured of an experiment, or found out of all of its groups."""
        groups = range(len(self.plan.experiment(name).groups))
        return any(self.blocks(name, group) for group in groups) or all(
            (name, group) in self.over for group in groups
        )

    def count_missing(self) -> tuple[int, int]:
        """How many blocks of all groups are still to be measured, and how many were planned."""
        missing = planned = 0
        for experiment in self.plan.experiments:
            for group in range(len(experiment.groups)):
                missing += self.missing(experiment.name, group)
                planned += experiment.blocks
        return missing, planned

    @property
    def has_results(self) -> bool:
        """Whether anything was measured, or computed where that is what was planned."""
        computed = {each.name for each in self.plan.experiments if not each.is_timed}
        return any(self.measured.values()) or any(
            each.facts for each in self.verified if each.experiment in computed
        )

    @property
    def is_whole(self) -> bool:
        """Whether a resume would measure nothing."""
        return self.count_missing()[0] == 0


def took_s(readings: Sequence[Reading]) -> float:
    """Seconds of measuring: a run that was resumed later was not measured in between.

    Args:
        readings: Of its sensors, about one a second.
    """
    times_s = [0.0, *(reading.at_s for reading in readings)]
    gaps_s = (after - before for before, after in pairwise(times_s))
    return sum(gap_s for gap_s in gaps_s if gap_s <= PAUSE_S)


# Sensors are read once a second; a busy machine may be late.
PAUSE_S = 10
