"""How far a run has come, on standard error: bars on a terminal, plain lines elsewhere."""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from statistics import median
from typing import TYPE_CHECKING

from sealift_lab.model.arm import Cell
from sealift_lab.model.run import Plan, PlannedExperiment
from sealift_lab.model.units import format_duration, format_ns
from sealift_lab.run.schedule import State

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


class Progress:
    """Shows where a run stands: a bar for what is measured, or a line every ten seconds."""

    def __init__(
        self, plan: Plan, bars: "Bars | None" = None, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Shows nothing yet; `bars` on a terminal, None elsewhere."""
        self._planned = {each.name: each for each in plan.experiments}
        self._total = {each.name: plan.blocks_of(each) for each in plan.experiments}
        self._done: dict[str, int] = defaultdict(int)
        self._current = self._doing = ""
        self._group, self._ns = 0, defaultdict[tuple[int, int], list[float]](list)
        self._clock_s, self._end_s, self._shown_s = clock_s, -math.inf, -math.inf
        self._bars = bars
        self._task = bars.add_task("", state="", visible=False) if bars else None

    def plan(self, state: State, left_s: float) -> None:
        """What is done, and in how many seconds everything will be."""
        for name, groups in state.groups.items():
            self._done[name] = self._total[name] - sum(each.lacking for each in groups)
        self._end_s = self._clock_s() + left_s

    def begin(self, experiment: str) -> None:
        """A process begins."""
        self._current, self._doing = experiment, "preparing"
        self._ns.clear()

    def prepare(self, cell: Cell) -> None:
        """An arm is being prepared, or computed."""
        is_timed = self._planned[self._current].is_timed
        self._doing = f"{'preparing' if is_timed else 'computing'} {self._named(cell)}"

    def block(self, group: int, ns_per_operation: Mapping[int, float]) -> None:
        """A block of a group is complete; the times by the place of the arm."""
        name, self._group = self._current, group
        self._done[name] = min(self._done[name] + 1, self._total[name])
        for arm, ns in ns_per_operation.items():
            self._ns[group, arm].append(ns)

    def show(self) -> None:
        """Something happened, or half a second went by."""
        name, now_s = self._current, self._clock_s()
        done, total = self._done[name], max(1, self._total.get(name, 1))
        left = f"about {format_duration(max(1.0, self._end_s - now_s))} left"
        if self._bars and self._task is not None:
            state = f"{self._state}\n{left}"
            self._bars.update(
                self._task, description=name, completed=done, total=total, visible=True, state=state
            )
        elif now_s - self._shown_s >= LINE_EVERY_S:
            self._shown_s = now_s
            self._print(f"{name}: {100 * done / total:.0f} %, {self._state}, {left}")

    def say(self, text: str) -> None:
        """A sentence that stays."""
        self._print(f"sealift: {text}")

    def _print(self, line: str) -> None:
        # A run goes on where nobody listens any more.
        with suppress(OSError):
            if self._bars:
                self._bars.console.print(line, markup=False, highlight=False)
            else:
                print(line, file=sys.stderr, flush=True)

    @property
    def _state(self) -> str:
        """What goes on; once there are blocks, the fastest arm of the last one's group."""
        times = {a: median(ns) for (group, a), ns in self._ns.items() if group == self._group}
        if not times:
            return self._doing
        planned, best = self._planned[self._current], min(times, key=times.__getitem__)
        arm = self._named(planned.groups[self._group][best])
        return f"{arm}: {format_ns(times[best])}/{planned.operation}"

    def _named(self, cell: Cell) -> str:
        """An arm by the compared value, and the values of the other axes that vary."""
        planned = self._planned[self._current]
        others = ", ".join(f"{name}={cell[name]}" for name in _varying(planned))
        compared = cell[planned.compare]
        return f"{compared} at {others}" if others else str(compared)


@contextmanager
def show_progress(plan: Plan) -> Iterator[Progress]:
    """Shows a run on standard error as long as the `with` lasts."""
    if not sys.stderr.isatty():
        yield Progress(plan)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TaskProgressColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    console = Console(stderr=True)
    with Bars(*columns, console=console, refresh_per_second=2, transient=True) as bars:
        yield Progress(plan, bars)


def _varying(planned: PlannedExperiment) -> list[str]:
    cells = [cell for group in planned.groups for cell in group]
    return [
        name
        for name in cells[0]
        if name != planned.compare and len({cell[name] for cell in cells}) > 1
    ]


# Shown about twice a second, so that a line comes at least every ten.
LINE_EVERY_S = 9.5
