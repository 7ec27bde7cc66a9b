"""An experiment file for tests: arms that wait, and do what their names say."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from sealift.lab.spec import Axis, Context, Experiment, Sample, Skip, WrongResultError
from sealift.lab.values import Cell, Value


class Waiting:
    """Waits, and counts how often it was asked."""

    def __init__(self, who: str, folder: Path) -> None:
        """Does at once what some names say."""
        self._who = who
        self._folder = folder
        self._asked = 0
        if who == "absent":
            raise Skip("not on this machine; plug it in")
        if who == "wrong at once":
            raise WrongResultError("tag 3 is wrong")
        if who == "raises at once":
            raise KeyError("nothing there")
        if who == "no memory once" and self._once():
            raise Skip("too little memory is free; end something", may_pass=True)
        if who == "raises once" and self._once():
            raise KeyError("gone for now")
        if who == "no room once" and self._once():
            raise OSError(errno.ENOSPC, "No space left on device", "mine.csv")
        if who == "prints":
            print("said on standard output")
        if who == "slow to prepare":
            # Its parent hears that it prepares before others see it.
            time.sleep(0.5)
            self._once()
            time.sleep(300)
        if who == "rather slow to prepare":
            time.sleep(2.0)

    def sample(self, seconds: float) -> Sample:
        """Waits for the time asked for."""
        self._asked += 1
        if self._asked > LATER:
            self._misbehave()
        if self._who == "bad sample":
            return Sample(1.5, 1, 0, 0, 1.0, 0)  # type: ignore[arg-type]
        begin_ns = time.perf_counter_ns()
        time.sleep(0.8 if self._who == "takes long" else min(seconds, PAUSE_S_MAX))
        return Sample(
            ns=time.perf_counter_ns() - begin_ns,
            operations=1_000,
            bytes=16_000,
            involuntary_switches=0,
            cpu_share=1.0,
            steal_ns=0,
        )

    def verified(self) -> Mapping[str, Value]:
        """What was counted."""
        if self._who == "bad facts":
            return {"facts": [1]}  # type: ignore[dict-item]
        return {"checked_against": "itself", "asked": self._asked}

    def _misbehave(self) -> None:
        if self._who == "wrong later":
            raise WrongResultError("tag 7 is wrong")
        if self._who == "raises later":
            raise KeyError("gone")
        if self._who == "killed once" and self._once():
            with (self._folder / "samples.jsonl").open("a", encoding="utf-8") as file:
                file.write('{"experiment":"mad')
            os.kill(os.getpid(), signal.SIGKILL)
        if self._who == "killed always":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._who == "leaves" and self._once():
            os._exit(7)
        if self._who == "leaves quietly" and self._once():
            sys.exit(0)
        if self._who == "forks" and self._once() and not os.fork():
            time.sleep(100)
            os._exit(0)
        if self._who == "interrupts itself" and self._once():
            raise KeyboardInterrupt
        if self._who == "fills the disk" and self._once():
            # The kernel lets no file of this process grow further, as a full disk would.
            size = (self._folder / "samples.jsonl").stat().st_size + 100
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        if self._who == "deaf":
            heard = self._folder / "made-up-deaf-heard"
            signal.signal(signal.SIGTERM, lambda *_: heard.touch())
            self._once()
            time.sleep(60)
        if self._who == "starts a process" and self._once():
            subprocess.Popen(["sleep", "100"])

    def _once(self) -> bool:
        marker = self._folder / f"made-up-{self._who.replace(' ', '-')}"
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def arm(cell: Cell, context: Context) -> Waiting:
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
