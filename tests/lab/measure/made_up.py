"""An experiment file for tests: arms that wait, and do what their names say."""

import errno
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from sealift_lab import Arm, Axis, Cell, Context, Experiment, Sample, Skip, WrongResultError
from sealift_lab.model.values import Value


class Waiting:
    """Waits, and counts its samples."""

    def __init__(self, who: str, folder: Path) -> None:
        self._who = who
        self._folder = folder
        self._count = 0
        match who:
            case "absent":
                raise Skip("not on this machine; plug it in")
            case "wrong at once":
                raise WrongResultError("tag 3 is wrong")
            case "raises at once":
                raise KeyError("nothing there")
            case "no memory":
                raise Skip("too little memory is free", is_transient=True)
            case "no room":
                raise OSError(errno.ENOSPC, "No space left on device", "mine.csv")
            case "prints":
                print("printed on standard output")
            case "slow to prepare":
                (folder / "preparing").touch()
                time.sleep(300)

    def sample(self, seconds: float) -> Sample:
        self._count += 1
        if self._count > LATER:
            self._misbehave()
        begin_ns = time.perf_counter_ns()
        time.sleep(min(seconds, PAUSE_S_MAX))
        return Sample(time.perf_counter_ns() - begin_ns, 1_000, 16_000, 0, 1.0, 0)

    def report(self) -> Mapping[str, Value]:
        if self._who == "bad report":
            return {"facts": [1]}  # type: ignore[dict-item]
        return {"checked_against": "itself", "samples": self._count, "is_fast": False}

    def _misbehave(self) -> None:
        match self._who:
            case "wrong later":
                raise WrongResultError("tag 7 is wrong")
            case "raises later":
                raise KeyError("gone")
            case "killed once" if self._once():
                with (self._folder / "samples.jsonl").open("a", encoding="utf-8") as file:
                    file.write('{"experiment":"made')
                os.kill(os.getpid(), signal.SIGKILL)
            case "leaves":
                sys.exit(0)
            case "fills the disk":
                # The kernel lets no file of this process grow further, as a full disk would.
                size = (self._folder / "samples.jsonl").stat().st_size + 100
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def _once(self) -> bool:
        try:
            (self._folder / "once").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def arm(cell: Cell, context: Context) -> Arm:
    """The arm of a cell."""
    return Waiting(str(cell["who"]), context.folder)


LATER = 9
# A test writes other values here: how long a sample may take, and the names of the arms.
PAUSE_S_MAX = 0.001
WHO: tuple[str, ...] = ("first", "second")
EXPERIMENT = Experiment(
    name="made-up",
    title="Waits",
    axes=(Axis("size_bytes", "size, bytes", (16, 128)), Axis("who", "who", WHO)),
    compare="who",
    arm=arm,
)
