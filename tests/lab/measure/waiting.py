"""An experiment file for tests: arms that wait, and do what their names say."""

import errno
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from sealift_lab import Arm, Axis, Cell, Context, Experiment, Sample, Skip, Value, WrongResultError


class Waiting:
    """Waits as long as it is asked to, but no longer than `PAUSE_S_MAX`."""

    def __init__(self, who: str, folder: Path) -> None:
        self._who, self._folder, self._count = who, folder, 0
        match who:
            case "absent":
                raise Skip("not on this machine; plug it in")
            case "wrong at once":
                raise WrongResultError("tag 3 is wrong")
            case "raises always":
                raise KeyError("nothing there")
            case "raises once" if self._is_first():
                raise KeyError("nothing there")
            case "no memory":
                raise Skip("too little memory is free; end something", is_transient=True)
            case "no room once" if self._is_first():
                raise OSError(errno.ENOSPC, "No space left on device", "mine.csv")
            case "prints":
                print("printed on standard output")
            case "slow to prepare" if self._is_first():
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
        samples = self._folder / "samples.jsonl"
        match self._who:
            case "wrong later":
                raise WrongResultError("tag 7 is wrong")
            case "raises later":
                raise KeyError("gone")
            case "killed once" if self._is_first():
                with samples.open("a", encoding="utf-8") as file:
                    file.write('{"experiment":"wai')
                os.kill(os.getpid(), signal.SIGKILL)
            case "leaves":
                sys.exit(0)
            case "fills the disk" if self._is_first():
                # The kernel lets no file of this process grow further, as a full disk would.
                size = samples.stat().st_size + 100
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            case "deaf":
                signal.signal(signal.SIGTERM, lambda *_: (self._folder / "heard").touch())
                self._is_first()
                time.sleep(60)

    def _is_first(self) -> bool:
        try:
            (self._folder / f"{self._who}-once".replace(" ", "-")).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def arm(cell: Cell, context: Context) -> Arm:
    """The arm of a cell."""
    return Waiting(str(cell["who"]), context.folder)


LATER = 9
# A test writes other values here: how long a sample may take, and the names of the arms.
PAUSE_S_MAX = 0.0005
WHO: tuple[str, ...] = ("first", "second")
EXPERIMENT = Experiment(
    name="waiting",
    title="Waits",
    axes=(Axis("size_bytes", "size, bytes", (16, 128)), Axis("who", "who", WHO)),
    compare="who",
    arm=arm,
)
