"""What a measuring process is to do, as JSON on its standard input; why an arm is left out."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


@dataclass(frozen=True)
class GroupJob:
    """What a process measures of a group.

    Attributes:
        group: Its number in the plan.
        arms: Their places in the plan, without those that are excluded.
        first_block: Number of the first block.
        blocks: How many blocks this process is to measure.
        reference: Place of the arm that earlier processes compared with; None for the first arm
            that can be made.
        blocks_least: How many blocks it is to measure even after `Job.until_s`.
    """

    group: int
    arms: Sequence[int]
    first_block: int
    blocks: int
    reference: int | None = None
    blocks_least: int = 1


@dataclass(frozen=True)
class Job:
    """What one process is to do.

    Attributes:
        folder: Of the run; the parent holds it.
        experiment: Name of a planned experiment.
        process: Number of this process among those that measure the experiment, from 0; stored as
            `restart`.
        groups: What is measured, most wanted first.
        until_s: When it is to be over, on the monotonic clock, which is one for all processes;
            infinity for samples of the usual length until all blocks are done.
        latest_s: When it ends whatever it lacks, on the same clock; infinity for never.
        parent: Process id of the parent.
        lock: Descriptor that holds the folder, inherited from the parent.
        warm_up_blocks: Blocks of each group that are measured first and dropped: 0 or 1.
    """

    folder: Path
    experiment: str
    process: int
    groups: Sequence[GroupJob]
    until_s: float
    latest_s: float
    parent: int
    lock: int
    warm_up_blocks: int = 0

    def __str__(self) -> str:
        """The form that `parse` takes; too long for a command line where there are many groups."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def parse(cls, text: str) -> "Job":
        """Parses what `str` gives."""
        fields = json.loads(text)
        groups = [GroupJob(**each) for each in fields["groups"]]
        return cls(**fields | {"folder": Path(fields["folder"]), "groups": groups})


class Again(StrEnum):
    """Why an arm that is left out now is tried again by the next process; empty for never."""

    NEVER = ""
    FAILED = "failed"
    TRANSIENT = "transient"
    NO_TIME = "no time"


# -P: a file in the current folder hides no module of Python's own.
COMMAND = (sys.executable, "-P", "-m", "sealift_lab.measure.process")
