"""One process of comparisons that `certify` measures: `python -m sealift_lab.judge.trial`.

Three arms of one device on the same work, each prepared apart: two equal ones and a slower one. The
process reads its trial as JSON, and writes its samples as JSON lines. Standard library only, as
every process that measures; polars is imported by the parent alone.
"""

import json
import math
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sealift_lab.measure.crypto import MANY_KEYS, Work, crypto_arm, crypto_cells, sized
from sealift_lab.measure.loop import Block, GroupTask, Task, measure
from sealift_lab.measure.plan import BLOCKS
from sealift_lab.model.arm import Arm, Context, Sample, Skip, Value, WrongResultError
from sealift_lab.model.workload import FRESH_KEYS, ONE_KEY

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Trial:
    """What one process measures: some of `WORKS`, each a group of its own, and two numbers."""

    works: Sequence[str]
    number: int
    process: int


@dataclass(frozen=True)
class Slowed:
    """Does more of the same operations than it counts, so it is slower by `share` on any work.

    A device that waits for a share of its own time slows the part that it waits in alone.
    """

    arm: Arm
    share: float

    def sample(self, seconds: float) -> Sample:
        """Runs the arm, and counts fewer operations."""
        taken = self.arm.sample(seconds)
        operations = max(1, round(taken.operations / (1 + self.share)))
        return replace(taken, operations=operations, bytes=round(taken.bytes / (1 + self.share)))

    def report(self) -> Mapping[str, Value]:
        """What the arm reports."""
        return self.arm.report()


def measure_trial(trial: Trial) -> "pl.DataFrame":
    """Measures a trial in a fresh process: samples of an experiment for each kind of work."""
    import polars as pl

    job = json.dumps(asdict(trial))
    ended = subprocess.run(COMMAND, input=job, capture_output=True, text=True)
    if ended.returncode:
        *_, last = ["no reason given", *ended.stderr.split("\n")[:-1]]
        raise ERRORS.get(ended.returncode, RuntimeError)(f"{', '.join(trial.works)}: {last}")
    return pl.DataFrame([json.loads(line) for line in ended.stdout.splitlines()])


def main() -> int:
    """Measures the trial on standard input; returns a key of `ERRORS`, or 0."""
    trial = Trial(**json.load(sys.stdin))
    try:
        arms = [_arms(work, trial) for work in trial.works]
        groups = [GroupTask(each, trial.process * BLOCKS, BLOCKS) for each in arms]
        seed = f"{trial.number}/{trial.process}"
        measure(Task(groups, seconds=math.inf, seconds_max=math.inf, seed=seed), _Writer(trial))
    except tuple(ERRORS.values()) as error:
        print(error, file=sys.stderr)
        return next(code for code, kind in ERRORS.items() if isinstance(error, kind))
    return 0


@dataclass(frozen=True)
class _Writer:
    trial: Trial

    def block(self, group: int, number: int, block: Block) -> None:
        taken = [(arm, False, each) for arm, each in enumerate(block.samples) if each]
        for arm, again, sample in [*taken, (block.aa_arm, True, block.aa_sample)]:
            line = {"experiment": self.trial.works[group], "group": 0, "arm": arm, "again": again}
            line |= {"restart": self.trial.process, "block": number, **asdict(sample)}
            print(json.dumps(line))

    def wrong(self, group: int, arm: int, reason: str) -> None:
        raise WrongResultError(f"arm {arm} of {self.trial.works[group]}: {reason}")


def _arms(work: str, trial: Trial) -> list[Arm]:
    _, _, device = work.rpartition(", ")
    (cell,) = crypto_cells([WORKS[work]], devices=[device])
    made = [crypto_arm(cell, Context(trial.number, Path())) for _ in range(3)]
    # In drawn order, as a measuring process prepares its arms.
    random.Random(f"{work}/{trial.number}/{trial.process}").shuffle(made)
    one, equal, slower = made
    return [one, equal, Slowed(slower, SLOWER)]


SLOWER = 0.05
WORKS: Mapping[str, Work] = {
    "16 B, 1,024 keys, library": sized(16, MANY_KEYS),
    "128 B, 1,024 keys, cpu": sized(128, MANY_KEYS),
    "128 B, fresh keys, library": sized(128, FRESH_KEYS),
    "1,024 B, one key, cpu": sized(1_024, ONE_KEY),
    "16,384 B, 1,024 keys, library": sized(16_384, MANY_KEYS),
}
COMMAND = (sys.executable, "-P", "-m", "sealift_lab.judge.trial")
ERRORS: Mapping[int, type[Exception]] = {3: Skip, 4: WrongResultError}

if __name__ == "__main__":
    sys.exit(main())
