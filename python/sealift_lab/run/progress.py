"""How far a run has come, on standard error: bars on a terminal, plain lines elsewhere.

`show.live` has a larger screen for a terminal.
"""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from sealift_lab.model.arm import Cell
from sealift_lab.model.results import Origin
from sealift_lab.model.run import Plan, PlannedExperiment
from sealift_lab.model.units import format_duration, format_ns
from sealift_lab.run.schedule import State

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


@dataclass(frozen=True)
class Standing:
    """Where a run stands.

    Attributes:
        share: How much of the experiment is done, 0 to 1.
        doing: The arm that is prepared, computed or measured; after a block the fastest one.
        left_s: In how many seconds the run will have ended; None where that is not known.
        group: Of the last block.
        ns_per_operation: Of the arms of that group, by their places: medians of this process.
        payload_bytes: Of an operation of each.
        clock_ghz: Of a core, right after it measured; None where that is not known.
        silent_s: For how many seconds nothing was finished or begun.
    """

    experiment: PlannedExperiment
    share: float
    doing: str
    left_s: float | None
    group: int = 0
    ns_per_operation: Mapping[int, float] = field(default_factory=dict)
    payload_bytes: Mapping[int, float] = field(default_factory=dict)
    clock_ghz: float | None = None
    silent_s: float = 0.0

    def __str__(self) -> str:
        """As a line: `by-size: 43 %, cpu at size_bytes=128: 400 ns/message, about 40 s left`."""
        head = f"{self.experiment.name}: {100 * self.share:.0f} %"
        return ", ".join(filter(None, (head, self.doing, self.silence, self.left)))

    @property
    def silence(self) -> str:
        """`no result for 40 s`; "" where the last news are fresh."""
        if self.silent_s < SILENCE_S:
            return ""
        return f"no result for {format_duration(self.silent_s)}"

    @property
    def left(self) -> str:
        """`about 40 s left`; "" where that is not known."""
        return "" if self.left_s is None else f"about {format_duration(max(1.0, self.left_s))} left"


@dataclass(frozen=True)
class Outlook:
    """What is expected of a process, and of the run.

    Attributes:
        blocks: How many it measures.
        seconds: What it takes.
        later_s: What the run takes behind it.
        most_s: In how many seconds the run ends at the latest; infinity where it has no end.
    """

    blocks: int
    seconds: float
    later_s: float
    most_s: float


class Progress:
    """Shows where a run stands: a bar for what is measured, or a line every ten seconds."""

    def __init__(
        self, plan: Plan, bars: "Bars | None" = None, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Shows nothing yet; `bars` on a terminal, None elsewhere."""
        self._planned = {each.name: each for each in plan.experiments}
        self._total = {each.name: plan.blocks_of(each) for each in plan.experiments}
        self._done: dict[str, float] = defaultdict(float)
        self._current = self._doing = ""
        # What a cell is of an experiment that is not sampled, once it is done.
        self._cell_done = 0.0
        self._group, self._ns = 0, defaultdict[tuple[int, int], list[float]](list)
        self._payload_bytes: Mapping[int, float] = {}
        self._clock_ghz: float | None = None
        self._clock_s, self._end_s, self._shown_s = clock_s, -math.inf, -math.inf
        self._news_s = clock_s()
        # Of the current process, the time of its first block, and how many there are.
        self._outlook: Outlook | None = None
        self._latest_s, self._first_s, self._blocks = math.inf, 0.0, 0
        self._bars = bars
        self._task = bars.add_task("", state="", visible=False) if bars else None

    def plan(self, state: State, left_s: float) -> None:
        """What is done, and in how many seconds everything will be; infinity if that is unknown."""
        for name, groups in state.groups.items():
            self._done[name] = self._total[name] - sum(each.lacking for each in groups)
        self._end_s = self._clock_s() + left_s

    def begin(self, experiment: str, outlook: Outlook | None = None) -> None:
        """A process begins; without an outlook the run ends when `plan` said."""
        self._current, self._doing, self._cell_done = experiment, "preparing", 0.0
        self._news_s = self._clock_s()
        self._ns.clear()
        self._outlook, self._blocks = outlook, 0
        if outlook:
            self._latest_s = self._news_s + outlook.most_s
            self._expect(outlook, outlook.seconds)

    def prepare(self, cell: Cell) -> None:
        """An arm is being prepared, or computed."""
        name, planned = self._current, self._planned[self._current]
        self._news_s = self._clock_s()
        if not planned.is_timed:
            # The one before it is done.
            self._done[name] = min(self._done[name] + self._cell_done, self._total[name])
            self._cell_done = self._total[name] / sum(map(len, planned.groups))
        once = "measuring" if planned.origin is Origin.MEASURED else "computing"
        self._doing = f"{'preparing' if planned.is_timed else once} {self._named(cell)}"

    def block(
        self,
        group: int,
        ns_per_operation: Mapping[int, float],
        payload_bytes: Mapping[int, float] | None = None,
        clock_ghz: float | None = None,
    ) -> None:
        """A block of a group is complete; times, and payload, by the place of the arm."""
        name, self._group, self._news_s = self._current, group, self._clock_s()
        self._payload_bytes, self._clock_ghz = payload_bytes or {}, clock_ghz
        self._done[name] = min(self._done[name] + 1, self._total[name])
        for arm, ns in ns_per_operation.items():
            self._ns[group, arm].append(ns)
        self._blocks += 1
        if self._blocks == 1:
            self._first_s = self._news_s
        elif self._outlook:
            block_s = (self._news_s - self._first_s) / (self._blocks - 1)
            self._expect(self._outlook, block_s * max(0, self._outlook.blocks - self._blocks))

    def show(self) -> None:
        """Something happened, or half a second went by."""
        if (standing := self.standing) is None:
            return
        if self._bars and self._task is not None:
            self._bars.update(
                self._task,
                description=standing.experiment.name,
                completed=standing.share,
                total=1,
                visible=True,
                state=f"{standing.doing}\n{standing.left}",
            )
        elif self._clock_s() - self._shown_s >= LINE_EVERY_S:
            self._shown_s = self._clock_s()
            self._print(str(standing))

    @property
    def standing(self) -> Standing | None:
        """Where the run stands; None before its first process."""
        if not self._current:
            return None
        name, group = self._current, self._group
        times = {arm: median(ns) for (of, arm), ns in self._ns.items() if of == group}
        left_s = self._end_s - self._clock_s()
        return Standing(
            self._planned[name],
            self._done[name] / max(1, self._total[name]),
            self._fastest(times) or self._doing,
            left_s if math.isfinite(left_s) else None,
            group,
            times,
            self._payload_bytes,
            self._clock_ghz,
            self._clock_s() - self._news_s,
        )

    def say(self, text: str) -> None:
        """A sentence that stays."""
        self._print(f"sealift: {text}")

    def _expect(self, outlook: Outlook, process_s: float) -> None:
        """The process takes so many more seconds: other programs may make it slow."""
        end_s = self._clock_s() + process_s + outlook.later_s
        self._end_s = min(end_s, self._latest_s)

    def _print(self, line: str) -> None:
        # A run goes on where nobody listens any more.
        with suppress(OSError):
            if self._bars:
                self._bars.console.print(line, markup=False, highlight=False)
            else:
                print(line, file=sys.stderr, flush=True)

    def _fastest(self, times: Mapping[int, float]) -> str:
        """The arm with the least time, and that; "" before the first block."""
        if not times:
            return ""
        planned, best = self._planned[self._current], min(times, key=times.__getitem__)
        arm = self._named(planned.groups[self._group][best])
        return f"{arm}: {format_ns(times[best])}/{planned.operation}"

    def _named(self, cell: Cell) -> str:
        """An arm by the compared value, and the values of the other axes that vary."""
        planned = self._planned[self._current]
        every = [each for group in planned.groups for each in group]
        others = ", ".join(
            f"{name}={value}"
            for name, value in cell.items()
            if name != planned.compare and any(each[name] != value for each in every)
        )
        compared = cell[planned.compare]
        return f"{compared} at {others}" if others else str(compared)


ShowProgress = Callable[[Plan], AbstractContextManager[Progress]]
"""Shows a run as long as the `with` lasts."""


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
        # Nothing would show it again after SIGKILL.
        console.show_cursor()
        yield Progress(plan, bars)


SILENCE_S = 15.0
# Shown about twice a second, so that a line comes at least every ten.
LINE_EVERY_S = 9.5
