"""How far a run has come, on standard error: bars on a terminal, plain lines elsewhere."""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

from sealift.lab.measure import LEAD_IN_SHARE, SAMPLE_S_MAX
from sealift.lab.store import PlannedExperiment
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@dataclass(frozen=True)
class Step:
    """One process that is going to measure an experiment.

    Attributes:
        experiment: Its name.
        weight: Its share of the time, against those of the other steps.
        blocks: How many blocks it is to measure, of all groups together.
        blocks_least: How many of them it measures even if that takes longer than its share.
        samples: How many samples these blocks have.
        computed_s: What it takes where nothing is sampled: about so many seconds, or infinite
            where that isn't known; None for what is sampled.
        prepared_s: About what starting the process and preparing its arms take.
        enough_s: What samples take after that for most verdicts.
        least_s: The same for any verdict.
    """

    experiment: str
    weight: float
    blocks: int
    blocks_least: int
    samples: int
    computed_s: float | None = None
    prepared_s: float = 0.0
    enough_s: float = 0.0
    least_s: float = 0.0

    @property
    def known_s(self) -> float:
        """What it takes whatever the budget; 0 where that isn't known."""
        is_known = self.computed_s is not None and math.isfinite(self.computed_s)
        return self.computed_s or 0.0 if is_known else 0.0

    @property
    def longest_s(self) -> float:
        """What its samples take when each is as long as one may be, or computing takes."""
        if self.computed_s is not None:
            return self.computed_s
        return self.samples * SAMPLE_S_MAX * (1 + LEAD_IN_SHARE)


class Forecast:
    """How long a run still takes: from what was measured, and where nothing was, from shares."""

    def __init__(
        self,
        steps: Sequence[Step],
        budget_s: float,
        *,
        grace_s: float = math.inf,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins now.

        Args:
            steps: In the order in which they are taken.
            budget_s: Seconds for all of them, and for what comes after.
            grace_s: How much more they may take together for blocks that are measured in any case.
                Infinite where all steps are taken, whatever the budget.
            clock_s: Seconds of a monotonic clock.
        """
        self._steps = steps
        self._clock_s = clock_s
        self._end_s = clock_s() + budget_s
        self._grace_s = grace_s
        self._closing_s = 0.0
        self._preparation_s: dict[str, float] = {}
        self._block_s: dict[str, float] = {}
        self._prepared_s = self._estimated_s = 0.0
        self._current = -1
        self._begin_s = clock_s()
        self._granted_s = 0.0
        self._measuring_since_s: float | None = None
        self._blocks = 0
        self._done = 0

    def share_s(self, step: int) -> float:
        """What a step may take: what it needs, and its weight's share of what others leave.

        Experiments that there is no time for get no share. What is computed may take three times
        what it says, however little is left.
        """
        return self._share_s(step, self._end_s)

    def most_s(self, step: int) -> float:
        """What a step may take for blocks that are measured in any case.

        Three times what it needs where the machine is slow, as what is computed: what is begun is
        finished, and later experiments are left out.
        """
        end_s = self._end_s + self._grace_s
        needed_s = SLOWER_MOST * self._enough_needed_s(self._steps[step])
        left_s = max(0.0, end_s - self._closing_s - self._clock_s())
        return max(self._share_s(step, end_s), min(left_s, needed_s))

    def planned_s(self, experiment: str) -> float | None:
        """What an experiment of one step gets, if each takes its share; None where none is left."""
        left_s = self._end_s - self._closing_s - self._clock_s()
        first = [step for step in self._steps if step.experiment == self._steps[0].experiment]
        chosen = self._with_fitting(first, self._steps[len(first) :], left_s)
        for index, step in enumerate(chosen):
            share_s = self._grant_s(chosen[index:], left_s)
            if step.experiment == experiment:
                return share_s
            left_s -= step.known_s or share_s
        return None

    def fits(self, step: int) -> bool:
        """Whether a step's experiment has time for the blocks of a verdict."""
        left_s = self._end_s - self._closing_s - self._clock_s()
        name = self._steps[step].experiment
        steps = [each for each in self._steps[step:] if each.experiment == name]
        return sum(map(self._least_needed_s, steps)) <= left_s

    def _share_s(self, step: int, end_s: float) -> float:
        left_s = max(0.0, end_s - self._closing_s - self._clock_s())
        return self._grant_s(self._chosen(step, left_s), left_s)

    def _chosen(self, index: int, left_s: float) -> list[Step]:
        """A step, those of its experiment, and later ones that there is time for."""
        name = self._steps[index].experiment
        later = self._steps[index:]
        own = [step for step in later if step.experiment == name]
        return self._with_fitting(own, [step for step in later if step.experiment != name], left_s)

    def _with_fitting(
        self, own: Sequence[Step], others: Sequence[Step], left_s: float
    ) -> list[Step]:
        if math.isinf(self._grace_s):
            return [*own, *others]
        chosen = list(own)
        spare_s = left_s - sum(map(self._enough_needed_s, own))
        by_name: dict[str, list[Step]] = defaultdict(list)
        for step in others:
            by_name[step.experiment].append(step)
        for steps in by_name.values():
            needed_s = sum(map(self._enough_needed_s, steps))
            if needed_s <= spare_s:
                chosen += steps
                spare_s -= needed_s
        return chosen

    def _grant_s(self, steps: Sequence[Step], left_s: float) -> float:
        """What the first of some steps may take of what is left for all of them."""
        step = steps[0]
        needed_s = [self._enough_needed_s(each) for each in steps]
        weights = [each.weight for each in steps if not each.known_s]
        spare_s = left_s - sum(needed_s)
        if step.known_s:
            by_weight_s = left_s * step.weight / sum(each.weight for each in steps)
            return max(by_weight_s, SLOWER_MOST * step.known_s)
        if spare_s >= 0:
            return needed_s[0] + spare_s * step.weight / sum(weights)
        sampled_s = sum(
            needs for needs, each in zip(needed_s, steps, strict=True) if not each.known_s
        )
        left_s = max(0.0, left_s - sum(each.known_s for each in steps))
        if not sampled_s:
            return left_s * step.weight / sum(weights)
        return left_s * needed_s[0] / sampled_s

    def _enough_needed_s(self, step: Step) -> float:
        return step.known_s + self._slowness() * step.prepared_s + step.enough_s

    def _least_needed_s(self, step: Step) -> float:
        return step.known_s + self._slowness() * step.prepared_s + step.least_s

    def _slowness(self) -> float:
        """How many times as long as was estimated it took to prepare arms."""
        return (EXPECTED_S + self._prepared_s) / (EXPECTED_S + self._estimated_s)

    def keep(self, seconds: float) -> None:
        """So much of the time is for what comes after the last step."""
        self._closing_s = seconds

    def begin(self, step: int) -> None:
        """A step begins, with preparing."""
        self._granted_s = self.share_s(step)
        self._current = step
        self._begin_s = self._clock_s()
        self._measuring_since_s = None
        self._blocks = self._steps[step].blocks
        self._done = 0

    def measuring(self, blocks: int) -> None:
        """The arms of the step are prepared.

        Args:
            blocks: How many it is going to measure, of those that were planned.
        """
        self._measuring_since_s = self._clock_s()
        self._blocks = blocks
        name = self._steps[self._current].experiment
        self._preparation_s[name] = self._measuring_since_s - self._begin_s
        self._prepared_s += self._preparation_s[name]
        self._estimated_s += self._steps[self._current].prepared_s

    def block(self) -> None:
        """A block is complete."""
        self._done += 1
        self._block_s[self._steps[self._current].experiment] = self._pace_s()

    def left_s(self) -> float:
        """Seconds until the last step has ended."""
        total_s = self._current_left_s() if self._current >= 0 else 0.0
        rest_s = max(0.0, self._end_s - self._closing_s - self._clock_s() - total_s)
        index = max(0, self._current)
        later = self._chosen(index, total_s + rest_s)[self._current >= 0 :] if self._steps else []
        is_known = self._current >= 0 and self._steps[self._current].known_s > 0
        known_s = total_s if is_known else 0.0
        for index, step in enumerate(later):
            takes_s = min(self._grant_s(later[index:], rest_s), self._needed_s(step))
            takes_s = max(takes_s, self._least_s(step))
            rest_s = max(0.0, rest_s - takes_s)
            total_s += takes_s
            known_s += step.known_s
        latest_s = max(0.0, self._end_s + self._grace_s - self._closing_s - self._clock_s())
        return min(total_s, max(latest_s, known_s)) + self._closing_s

    def _current_left_s(self) -> float:
        step = self._steps[self._current]
        now_s = self._clock_s()
        granted_left_s = max(0.0, self._begin_s + self._granted_s - now_s)
        if self._measuring_since_s is None:
            needed_s = self._needed_s(step)
            if step.computed_s is not None:
                needed_s = max(0.0, needed_s - (now_s - self._begin_s))
            return max(self._least_s(step), min(granted_left_s, needed_s))
        if not self._done:
            return max(self._least_s(step), min(granted_left_s, step.longest_s))
        block_s = self._pace_s()
        by_pace_s = block_s * max(0, self._blocks - self._done)
        least_s = block_s * max(0, min(self._blocks, step.blocks_least) - self._done)
        return max(least_s, min(by_pace_s, granted_left_s))

    def _needed_s(self, step: Step) -> float:
        """What a step that has not begun takes at most."""
        is_sampled = step.computed_s is None
        return step.longest_s + is_sampled * self._preparation_guess_s(step.experiment)

    def _least_s(self, step: Step) -> float:
        """What the blocks take that are measured in any case, as all are in a run that is resumed.

        0 where no block of the experiment was measured yet.
        """
        return self._block_s.get(step.experiment, 0.0) * step.blocks_least

    def _pace_s(self) -> float:
        """Seconds a block of the current step, which has some."""
        since_s = self._begin_s if self._measuring_since_s is None else self._measuring_since_s
        return (self._clock_s() - since_s) / self._done

    def _preparation_guess_s(self, experiment: str) -> float:
        known = self._preparation_s
        if experiment in known or not known:
            return known.get(experiment, 0.0)
        return sum(known.values()) / len(known)


class Course:
    """Where a run stands, in words."""

    def __init__(
        self,
        experiments: Sequence[PlannedExperiment],
        done: Mapping[str, int],
        forecast: Forecast,
    ) -> None:
        """Begins with what was measured before.

        Args:
            experiments: Those of the plan.
            done: By experiment how many blocks there are already.
            forecast: Of the steps to come; is told of them through this.
        """
        self.forecast = forecast
        self.experiments = {each.name: each for each in experiments}
        self.done = dict(done)
        self.current = ""
        self._doing = ""
        self._times: dict[tuple[int, int], list[float]] = defaultdict(list)
        self._group = 0
        self._samples = self._clean = 0
        self._varying = {each.name: _varying(each) for each in experiments}

    def begin(self, step: int, experiment: str) -> None:
        """A process begins."""
        self.forecast.begin(step)
        self.current = experiment
        self._doing = "preparing"
        self._times.clear()
        self._samples = self._clean = 0

    def preparing(self, cell: Cell) -> None:
        """An arm is being prepared."""
        compared = self.experiments[self.current].compare
        self._doing = f"preparing {cell[compared]}{self._at(cell)}"

    def measuring(self, blocks: int) -> None:
        """The arms are prepared."""
        self.forecast.measuring(blocks)
        self._doing = "measuring"

    def block(
        self, group: int, ns_per_operation: Mapping[int, float], samples: int, clean: int
    ) -> None:
        """A block is complete.

        Args:
            group: Its group.
            ns_per_operation: By the place of the arm.
            samples: How many samples it has.
            clean: How many of them are clean.
        """
        self.forecast.block()
        self.done[self.current] = self.done.get(self.current, 0) + 1
        self._samples += samples
        self._clean += clean
        self._group = group
        for arm, ns in ns_per_operation.items():
            self._times[group, arm].append(ns)

    def total(self, experiment: str) -> int:
        """How many blocks it is to have."""
        planned = self.experiments[experiment]
        return planned.blocks * len(planned.groups)

    def state(self, experiment: str) -> str:
        """What goes on in an experiment: "" where nothing does."""
        if experiment != self.current:
            return ""
        if not self._times:
            return self._doing
        medians_ns = {
            arm: median(times)
            for (group, arm), times in self._times.items()
            if group == self._group
        }
        best = min(medians_ns, key=medians_ns.__getitem__)
        planned = self.experiments[experiment]
        cell = planned.groups[self._group][best]
        return (
            f"{cell[planned.compare]}{self._at(cell)}: {format_measure(medians_ns[best])} "
            f"ns/{planned.operation}, {100 * self._clean / self._samples:.0f} % clean"
        )

    def left(self) -> str:
        """How long it still takes."""
        seconds = self.forecast.left_s()
        if seconds < MINUTES_FROM_S:
            return f"about {max(1, round(seconds))} s left"
        return f"about {seconds / 60:.0f} min left"

    def _at(self, cell: Cell) -> str:
        varying = self._varying[self.current]
        return f" at {', '.join(f'{name}={cell[name]}' for name in varying)}" if varying else ""


class Teller(Protocol):
    """Shows where a run stands."""

    def renew(self) -> None:
        """Something happened."""

    def say(self, text: str) -> None:
        """A sentence that stays."""


@contextmanager
def telling(course: Course) -> Iterator[Teller]:
    """Bars while standard error is a terminal, a line every ten seconds while it isn't."""
    if not sys.stderr.isatty():
        yield Lines(course)
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_CHARACTERS),
        TaskProgressColumn(),
        TextColumn(
            "{task.fields[state]}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        ),
    )
    bars = Progress(*columns, auto_refresh=False)
    console = Console(stderr=True)
    with Live(
        get_renderable=lambda: Group(bars, Text(course.left())),
        console=console,
        refresh_per_second=REDRAWN_PER_S,
        transient=True,
    ):
        yield Bars(course, bars, lambda text: console.print(Text(f"sealift: {text}")))


class Lines:
    """Plain lines, for what is no terminal."""

    def __init__(self, course: Course, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        """Has said nothing yet."""
        self._course = course
        self._clock_s = clock_s
        self._said_s: float | None = None

    def renew(self) -> None:
        """Says where the run stands, when ten seconds have gone since it last did."""
        now_s = self._clock_s()
        if not self._course.current or (self._said_s and now_s - self._said_s < LINE_EVERY_S):
            return
        self._said_s = now_s
        name = self._course.current
        share = f"{100 * self._course.done.get(name, 0) / self._course.total(name):.0f} %"
        self._print(f"{name}: {share}, {self._course.state(name)}, {self._course.left()}")

    def say(self, text: str) -> None:
        """At once."""
        self._print(f"sealift: {text}")

    def _print(self, line: str) -> None:
        # A run goes on where nobody listens any more.
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


class Bars:
    """One bar an experiment."""

    def __init__(self, course: Course, bars: "Progress", print_line: Callable[[str], None]) -> None:
        """Draws all of them."""
        self._course = course
        self._bars = bars
        self._print_line = print_line
        self._tasks: dict[str, TaskID] = {
            name: bars.add_task(name, total=course.total(name), state="")
            for name in course.experiments
        }
        self.renew()

    def renew(self) -> None:
        """Moves the bars; they are redrawn twice a second."""
        for name, task in self._tasks.items():
            done, state = self._course.done.get(name, 0), self._course.state(name)
            self._bars.update(task, completed=done, state=state)

    def say(self, text: str) -> None:
        """Above the bars."""
        with suppress(OSError):
            self._print_line(text)


def _varying(planned: PlannedExperiment) -> tuple[str, ...]:
    """The axes beside the compared one that have more than one value."""
    values: dict[str, set[Value]] = defaultdict(set)
    for group in planned.groups:
        for cell in group:
            for name, value in cell.items():
                values[name].add(value)
    return tuple(
        name for name, tried in values.items() if name != planned.compare and len(tried) > 1
    )


# Machines are slower than those on which times were found, and busy.
SLOWER_MOST = 3.0
# Of preparing, so that the first arms alone don't tell how slow a machine is.
EXPECTED_S = 2.0
MINUTES_FROM_S = 120
# Asked about twice a second, so that a line comes at least every ten.
LINE_EVERY_S = 9.5
REDRAWN_PER_S = 2
BAR_CHARACTERS = 16
