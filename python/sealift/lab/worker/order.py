"""What a process that measures is told to do, as a command line has it."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


@dataclass(frozen=True)
class Order:
    """What one process is to do.

    Attributes:
        folder: Of the run; held by the parent.
        experiment: Name of a planned experiment.
        restart: The number of this process among those that measure the experiment.
        until_s: When it is to be over, on the monotonic clock, which is one for all processes.
        latest_s: When it ends whatever it lacks, on the same clock; infinity for never.
        blocks: How many blocks each group is to have afterwards.
        blocks_least: How many each group is to have even if that takes longer than `until_s`.
        parent: Process id of the parent.
        lock: Descriptor that holds the folder, inherited from the parent.
    """

    folder: Path
    experiment: str
    restart: int
    until_s: float
    latest_s: float
    blocks: int
    blocks_least: int
    parent: int
    lock: int

    def command(self) -> list[str]:
        """The command line that does it."""
        # -P: a file in the current folder hides no module of Python's own.
        return [sys.executable, "-P", "-m", MODULE, *map(str, asdict(self).values())]

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Order":
        """The order of a command line."""
        folder, experiment, restart, until_s, latest_s, *rest = words
        blocks, blocks_least, parent, lock = map(int, rest)
        return cls(
            folder=Path(folder),
            experiment=experiment,
            restart=int(restart),
            until_s=float(until_s),
            latest_s=float(latest_s),
            blocks=blocks,
            blocks_least=blocks_least,
            parent=parent,
            lock=lock,
        )


class Again(StrEnum):
    """Why an arm that is left out now is tried again by the next process."""

    NEVER = ""
    FAILED = "failed"
    MAY_PASS = "may pass"
    NO_TIME = "no time"


MODULE = "sealift.lab.worker"
