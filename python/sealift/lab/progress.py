"""How far a bench has come, on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn

from sealift.lab.bench import Progress as Step
from sealift.lab.plan import Arm


class Teller(Protocol):
    """Says what goes on."""

    def building(self, arm: Arm) -> None:
        """An arm's messages are being made."""

    def measured(self, step: Step) -> None:
        """A sample was taken."""


@contextmanager
def telling() -> Iterator[Teller]:
    """A bar while standard error is a terminal, a line every ten seconds while it isn't."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task("making messages", total=None, left=""))


class _Bar:
    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def building(self, arm: Arm) -> None:
        self._bar.update(self._task, description=f"checking {_named(arm)}")

    def measured(self, step: Step) -> None:
        self._bar.update(
            self._task,
            description=_named(step.arm),
            completed=step.done,
            total=step.planned,
            left=f"{step.left_s:.0f} s left",
        )


class _Lines:
    def __init__(self) -> None:
        self._told_s: float | None = None

    def building(self, arm: Arm) -> None:
        del arm
        if self._told_s is None:
            self._say("making messages, and checking every device on each of them")

    def measured(self, step: Step) -> None:
        if step.done == 1:
            self._say(f"measuring {step.planned:,} samples")
        elif self._is_time():
            share = f"{100 * step.done / step.planned:.0f} %"
            self._say(f"measured {share}, about {step.left_s:.0f} s left")

    def _is_time(self) -> bool:
        return self._told_s is None or time.monotonic() - self._told_s >= EVERY_S

    def _say(self, line: str) -> None:
        self._told_s = time.monotonic()
        print(line, file=sys.stderr, flush=True)


def _named(arm: Arm) -> str:
    work = arm.cell.workload
    return f"{arm.device}: {work.name}, {work.text_len_mean:,.4g} B, keys {work.regime}"


EVERY_S = 10.0
