"""One process of a comparison that `certify` measures: `python -m sealift_lab.judge.trial`.

Two arms of one device on the same work, prepared apart; where the trial says so the second one is
slower. The process reads its trial as JSON, and writes its samples as JSON lines. Standard library
only, as every process that measures; polars is imported by the parent alone.
"""

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealift_lab.judge.plant import Slowed
from sealift_lab.measure.crypto import MANY_KEYS, Work, crypto_arm, crypto_cells, sized
from sealift_lab.measure.loop import Block, GroupTask, Task, measure
from sealift_lab.model.sample import Arm, Context, Skip, WrongResultError
from sealift_lab.model.workload import FRESH_KEYS, ONE_KEY

if TYPE_CHECKING:
    import polars as pl

    from sealift_lab.judge.certify import Trial


def measure_trial(trial: "Trial", process: int) -> "pl.DataFrame":
    """Measures a trial in a fresh process; a `certify.Measure`.

    Raises:
        Skip: If the device is absent.
        WrongResultError: If it computes something wrong.
        RuntimeError: If the process ended otherwise; with its last line.
    """
    import polars as pl

    from sealift_lab.judge.certify import BLOCKS

    job = asdict(trial) | {"process": process, "blocks": BLOCKS}
    ended = subprocess.run(COMMAND, input=json.dumps(job), capture_output=True, text=True)
    if ended.returncode:
        *_, last = ["no reason given", *ended.stderr.split("\n")[:-1]]
        raise ERRORS.get(ended.returncode, RuntimeError)(f"{trial.work}: {last}")
    return pl.DataFrame([json.loads(line) for line in ended.stdout.splitlines()])


def main() -> int:
    """Measures the trial on standard input; returns a key of `ERRORS`, or 0."""
    job = json.load(sys.stdin)
    try:
        listener = _Listener(job["process"])
        measure(_task(job), listener)
    except tuple(ERRORS.values()) as error:
        print(error, file=sys.stderr)
        return next(code for code, kind in ERRORS.items() if isinstance(error, kind))
    print("\n".join(map(json.dumps, listener.lines)))
    return 0


@dataclass
class _Listener:
    """Keeps samples as lines of samples.jsonl."""

    process: int
    lines: list[Mapping[str, Any]] = field(default_factory=list)

    def block(self, group: int, number: int, block: Block) -> None:
        taken = [(arm, False, each) for arm, each in enumerate(block.samples) if each]
        for arm, again, sample in [*taken, (block.aa_arm, True, block.aa_sample)]:
            place = {"experiment": "certify", "group": group, "arm": arm, "again": again}
            self.lines.append({**place, "restart": self.process, "block": number, **asdict(sample)})

    def wrong(self, group: int, arm: int, reason: str) -> None:
        raise WrongResultError(f"arm {arm} of group {group}: {reason}")


def _task(job: Mapping[str, Any]) -> Task:
    number, process, blocks = job["number"], job["process"], job["blocks"]
    arms = [_arm(job["work"], number) for _ in range(2)]
    if job["is_slowed"]:
        arms[1] = Slowed(arms[1])
    group = GroupTask(arms, process * blocks, blocks, blocks)
    seed = f"{number}/{process}/{job['is_slowed']}"
    return Task([group], seconds=math.inf, seconds_max=math.inf, seed=seed)


def _arm(work: str, seed: int) -> Arm:
    _, _, device = work.rpartition(", ")
    (cell,) = crypto_cells([WORKS[work]], devices=[device])
    return crypto_arm(cell, Context(seed=seed, folder=Path()))


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
