"""What an experiment is: axes, the cells they span, and the arms that are compared with each other.

Data and protocols only. An experiment measures nothing by itself: the runner asks it for arms,
takes their samples in interleaved blocks, and sums them up.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Protocol

from sealift.lab.published import Comparison
from sealift.lab.record import FIGURES, FIXED, SAMPLE_COLUMNS
from sealift.lab.result import Found, Lead, Listing, Origin
from sealift.lab.values import INTEGER_MAX, Cell, Value, is_text, why_not_kept
from sealift.lab.vega import Chart


@dataclass(frozen=True)
class Axis:
    """One thing that is varied.

    Attributes:
        name: The column in results files; a unit stands last: `size_bytes`.
        title: What people read on a plot: `message size, bytes`.
        values: What is tried, in order; empty where the experiment's `cells` decides.
    """

    name: str
    title: str
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        """Refuses a name that can't be a column, and values that can't stand in one.

        Raises:
            ValueError: Naming the axis, the value and what would be right.
        """
        if not _is_text(self.name) or not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(
                f"axis {self.name!r}; right would be lower_case words, as in size_bytes"
            )
        if self.name in TAKEN:
            raise ValueError(
                f"axis {self.name!r}: results have a column of this name already; right would be "
                "another name"
            )
        if not _is_text(self.title):
            raise ValueError(f"axis {self.name}: its title {self.title!r} is no text")
        for value in self.values:
            if why := why_not_kept(value):
                raise ValueError(f"axis {self.name}: the value {value!r} {why}")


@dataclass(frozen=True)
class Sample:
    """What one timed sample of an arm gave.

    Attributes:
        ns: Wall-clock nanoseconds from the first thread's start to the last one's end.
        operations: How many were done in that time, by all threads together.
        bytes: Payload bytes of these operations; 0 where there are none.
        involuntary_switches: Times a measuring thread was taken off its core.
        cpu_share: Thread CPU time over wall time, the least of the threads.
        steal_ns: Time the hypervisor took meanwhile, in nanoseconds.
        clock_ghz: Clock of the core beside the sample by a timed chain; None where unknown.
    """

    ns: int
    operations: int
    bytes: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int
    clock_ghz: float | None = None

    def __post_init__(self) -> None:
        """Refuses what can't have been measured.

        Raises:
            ValueError: Naming the field, the value and what would be right.
        """
        for name, least in LEAST.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= INTEGER_MAX:
                raise ValueError(
                    f"a sample with {name}={value!r}; right would be an int of {least} or more"
                )
        if not (_is_number(self.cpu_share) and 0 <= self.cpu_share <= 1):
            raise ValueError(
                f"a sample with cpu_share={self.cpu_share!r}; right would be a number from 0 to 1"
            )
        clock_ghz = self.clock_ghz
        if clock_ghz is not None and not (_is_number(clock_ghz) and clock_ghz > 0):
            raise ValueError(
                f"a sample with clock_ghz={clock_ghz!r}; right would be a number above 0, or None"
            )

    def together(self, other: "Sample") -> "Sample":
        """One sample out of two; its clock is the mean by time of what is known."""
        both = (self, other)
        clocks = [(each.clock_ghz, each.ns) for each in both if each.clock_ghz is not None]
        ns = sum(ns for _, ns in clocks)

        def added(name: str) -> int:
            # What stands in a file may be anything that fits.
            return min(INTEGER_MAX, int(getattr(self, name)) + int(getattr(other, name)))

        return Sample(
            ns=added("ns"),
            operations=added("operations"),
            bytes=added("bytes"),
            involuntary_switches=added("involuntary_switches"),
            cpu_share=min(self.cpu_share, other.cpu_share),
            steal_ns=added("steal_ns"),
            clock_ghz=sum(clock_ghz * (own / ns) for clock_ghz, own in clocks) if clocks else None,
        )

    @property
    def ns_per_operation(self) -> float:
        """Wall-clock nanoseconds an operation."""
        return self.ns / self.operations


class Arm(Protocol):
    """One cell, prepared and checked, ready to be timed."""

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds` (at least a millisecond) and says how it went.

        Raises:
            WrongResultError: If something was computed wrong; its times mean nothing, and the arm
                is not asked again.
        """

    def verified(self) -> Mapping[str, Value]:
        """What was checked, for the record: `checked_against`, and counts up to now."""


@dataclass(frozen=True)
class Computed:
    """An arm that is not timed: what it verifies is its result.

    For experiments whose origin is not MEASURED.

    Attributes:
        facts: What was computed; text, and floats, which stay as they are where integers of
            several processes would be added up.
    """

    facts: Mapping[str, Value]

    def sample(self, seconds: float) -> Sample:
        """Raises, because there is nothing to time.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"asked for a sample of {seconds:g} s of what is computed, not timed")

    def verified(self) -> Mapping[str, Value]:
        """What was computed."""
        return self.facts


class Skip(Exception):  # noqa: N818 (a result, not an error)
    """An arm that can't be measured here; says why, and what to do about it.

    Attributes:
        may_pass: Whether it might work at another time, as when there is too little memory: the
            next process that measures the experiment, or a resume, tries again.
    """

    def __init__(self, reason: str = "", *, may_pass: bool = False) -> None:
        """Keeps the reason."""
        super().__init__(reason)
        self.may_pass = may_pass


class WrongResultError(RuntimeError):
    """Something was computed wrong while it was prepared or measured."""


@dataclass(frozen=True)
class Context:
    """What an arm may know beside its cell.

    Attributes:
        seed: Of everything that is drawn.
        folder: The run's folder, for files of the experiment's own; their names begin with its id.
        legend: What short values in cells stand for, as in `Experiment`.
    """

    seed: int
    folder: Path
    legend: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """What a run is asked for, and what there is.

    Attributes:
        quick: Whether the page should be there within 90 seconds.
        cores: How many threads can run at once here.
        devices: Real devices that are present, AWS-LC first.
        threads: Thread counts asked for; empty for those of the experiment.
        memories: Memory that a user named beside what every machine has: `region`.
    """

    quick: bool
    cores: int
    devices: tuple[str, ...]
    threads: tuple[int, ...] = ()
    memories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plot:
    """A figure: columns of the summary against each other.

    Attributes:
        x: Column of the horizontal axis: an axis of the experiment.
        y: Column of the vertical axis, as `payload_MB_per_s`.
        z: Column that colours the lines.
        title: What the figure shows.
        facet: Column that splits the figure into small ones beside each other, or "".
        where: Which rows are drawn: all whose columns have these values.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical one is.
    """

    x: str
    y: str
    z: str
    title: str
    facet: str = ""
    where: Mapping[str, Value] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False

    def check(self, axes: Iterable[str], *, is_timed: bool = True) -> None:
        """Refuses columns that the summary of an experiment doesn't have.

        Args:
            axes: The names of the experiment's axes.
            is_timed: Whether it has a summary. Else y names one of the facts that it computes.

        Raises:
            ValueError: Naming the column, and the nearest ones.
        """
        known = [*axes, *FIGURES]
        columns = {"x": self.x, "z": self.z} | ({"y": self.y} if is_timed else {})
        columns |= {"facet": self.facet} if self.facet else {}
        columns |= {f"where[{name!r}]": name for name in self.where}
        for field_name, column in columns.items():
            if column not in known:
                near = get_close_matches(str(column), known) or known
                raise ValueError(
                    f"the plot {self.title!r} has {field_name}={column!r}, which is no column; "
                    f"there are {', '.join(near)}"
                )


@dataclass(frozen=True)
class Line:
    """A value in figures beside what they show: a point of a line, or a line across.

    Attributes:
        series: What it is, in words.
        column: The y of the figures that it stands in.
        value: There.
        origin: Where it comes from.
        at: Axes with values. With the horizontal axis it is a point, else a line across; figures
            that show other values of the others don't have it.
    """

    series: str
    column: str
    value: float
    origin: Origin
    at: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Brief:
    """What matters first of cells that are computed: on a terminal, and first on a page.

    Attributes:
        facts: Those that are shown, each with a short title for its column.
        where: On a terminal only cells with these values are shown.
    """

    facts: Mapping[str, str]
    where: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """What is varied, what is compared, how an arm is made, and what was published.

    Attributes:
        name: What people call it: `aes-gcm-by-threads`.
        title: One line that says what it measures.
        axes: What is varied.
        compare: The axis whose values are compared with each other, interleaved block by block;
            the first value of each group is the reference.
        arm: Makes one cell ready to be timed. Raises `Skip` with the reason where that can't be.
        id: The document's name for it: `003-F5`; empty for an experiment of one's own.
        why: What it asks, in a sentence or two.
        cells: Which cells a scope gets; all combinations of the axes' values when left out.
        operation: What one operation is: `message`.
        published: Compares what was found with what was published.
        says: What a reader can do about what was found, in one sentence; "" for nothing.
        leads: The answer that stands above all of a run, for experiments of the lab; None for none.
        keeps: Leaves what was found where the engine looks for it, and returns what became of that
            in a sentence, "" for nothing; called when all was measured that the run had time for,
            not after a resume, for experiments of the lab.
        plots: Its figures.
        lines: What stands in them beside what was found.
        charts: Figures of its own, of what no column holds; for experiments of the lab.
        listings: Tables beside its rows; for experiments of the lab.
        weight: Its share of the time, against 1.0 of others.
        order: Where it stands among those whose files' names begin with the same word; those with
            the same one in the order of their files.
        file: The file of one's own that it was loaded from; the registry sets it.
        legend: What short values in cells stand for, where that is too long to stand in them; kept
            in the plan.
        essential: How many of its groups, from the first, every run has; those behind them stand
            in a plan only where the budget has room, and are told as left out elsewhere. None for
            all.
        origin: Where its numbers come from. What isn't MEASURED is computed once, in the process
            that would measure it: its arms are `Computed`, it has no rows, and a page shows what
            was computed apart from what was measured.
        tries: Finds out whether a cell can be had, and raises as `arm` does, where that is cheaper
            than making its arm; None where it is not.
        takes_s: About how many seconds all of it takes, where it is computed and that is known:
            it has them, and three times as many on a slow machine, whatever the budget.
        stands_on: What its figures stand on, where it is computed: the model, where its constants
            come from, what is drawn; sentences for the page of an experiment of the lab.
        brief: What of its cells a narrow table shows, where it is computed; None for all.
    """

    name: str
    title: str
    axes: tuple[Axis, ...]
    compare: str
    arm: Callable[[Cell, Context], Arm]
    id: str = ""
    why: str = ""
    cells: Callable[[Scope], Iterable[Cell]] | None = None
    operation: str = "message"
    published: Callable[[Found], Sequence[Comparison]] = lambda _: ()
    says: Callable[[Found], str] = lambda _: ""
    leads: Callable[[Found], Lead | None] = lambda _: None
    keeps: Callable[[Found], str] = lambda _: ""
    plots: tuple[Plot, ...] = ()
    lines: Callable[[Found], Sequence[Line]] = lambda _: ()
    charts: Callable[[Found], Sequence[Chart]] = lambda _: ()
    listings: Callable[[Found], Sequence[Listing]] = lambda _: ()
    weight: float = 1.0
    order: int = 0
    file: Path | None = None
    legend: Mapping[str, str] = field(default_factory=dict)
    essential: int | None = None
    origin: Origin = Origin.MEASURED
    tries: Callable[[Cell, Context], object] | None = None
    takes_s: float | None = None
    stands_on: tuple[str, ...] = ()
    brief: Brief | None = None

    def __post_init__(self) -> None:
        """Checks what can be checked without running anything.

        Raises:
            ValueError: Naming the field, the value and what would be right.
        """
        if not _is_text(self.name) or not re.fullmatch(EXPERIMENT_NAME, self.name):
            raise ValueError(f"experiment {self.name!r}; right would be words-with-hyphens")
        for what in ("title", "id", "why", "operation"):
            if not _is_text(text := getattr(self, what)):
                raise ValueError(f"{self.name}: its {what} {text!r} is no text")
        names = [axis.name for axis in self.axes]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: an axis stands twice in {', '.join(names)}")
        if self.compare not in names:
            raise ValueError(
                f"{self.name}: compare {self.compare!r} is no axis; there are {', '.join(names)}"
            )
        if self.cells is None and (empty := [axis.name for axis in self.axes if not axis.values]):
            raise ValueError(f"{self.name}: no values for {', '.join(empty)}, and no cells=")
        if not _is_number(self.weight) or self.weight <= 0:
            raise ValueError(f"{self.name}: a weight of {self.weight!r}; right would be above 0")
        if not any(self.origin is each for each in (Origin.MEASURED, *COMPUTED)):
            raise ValueError(
                f"{self.name}: its origin {self.origin!r}; right would be Origin.MEASURED, "
                "Origin.SIMULATED or Origin.PROJECTED"
            )
        if self.essential is not None and (type(self.essential) is not int or self.essential < 1):
            raise ValueError(
                f"{self.name}: {self.essential!r} essential groups; right would be 1 or more, or "
                "None for all"
            )
        self._check_takes()
        for plot in self.plots:
            try:
                plot.check(names, is_timed=self.is_timed)
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from error

    @property
    def is_timed(self) -> bool:
        """Whether its arms are sampled."""
        return self.origin is Origin.MEASURED

    def groups(self, scope: Scope) -> tuple[tuple[Cell, ...], ...]:
        """The cells that are compared with each other, group by group, the reference first.

        Raises:
            ValueError: If a cell lacks an axis or has another, stands twice or has a value that
                can't be kept, or if there are more than `CELLS_MAX`.
        """
        cells = self._all() if self.cells is None else self.cells(scope)
        grouped: dict[tuple[Value, ...], dict[Value, Cell]] = {}
        others = [axis.name for axis in self.axes if axis.name != self.compare]
        for number, cell in enumerate(cells):
            if number == CELLS_MAX:
                raise ValueError(
                    f"{self.name}: more than {CELLS_MAX:,} cells; right would be fewer, in a run"
                )
            self._check(cell)
            group = grouped.setdefault(tuple(cell[name] for name in others), {})
            if cell[self.compare] in group:
                raise ValueError(f"{self.name}: the cell {dict(cell)} stands twice")
            group[cell[self.compare]] = cell
        return tuple(tuple(group.values()) for group in grouped.values())

    def axis(self, name: str) -> Axis:
        """The axis of a name.

        Raises:
            KeyError: If there is none.
        """
        return {axis.name: axis for axis in self.axes}[name]

    def _check_takes(self) -> None:
        takes_s = self.takes_s
        if takes_s is None:
            return
        if not _is_number(takes_s) or takes_s <= 0:
            raise ValueError(f"{self.name}: takes_s={takes_s!r}; right would be seconds above 0")
        if self.is_timed:
            raise ValueError(f"{self.name}: takes_s is for what is computed; leave it out")

    def _all(self) -> Iterable[Cell]:
        names = [axis.name for axis in self.axes]
        values = product(*(axis.values for axis in self.axes))
        return (dict(zip(names, each, strict=True)) for each in values)

    def _check(self, cell: Cell) -> None:
        wanted = {axis.name for axis in self.axes}
        if not _is_mapping(cell):
            raise ValueError(f"{self.name}: the cell {cell!r} is no dict of axes and values")
        if set(cell) != wanted:
            raise ValueError(
                f"{self.name}: the cell {dict(cell)} has other columns than the axes "
                f"{', '.join(sorted(wanted))}"
            )
        for name, value in cell.items():
            if why := why_not_kept(value):
                raise ValueError(f"{self.name}: the cell {dict(cell)}: {name}={value!r} {why}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_text(value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -math.inf < value < math.inf


EXPERIMENT_NAME = r"[a-z][a-z0-9-]*"
CELLS_MAX = 100_000
COMPUTED = (Origin.SIMULATED, Origin.PROJECTED)
TAKEN = {*FIXED, *FIGURES, *SAMPLE_COLUMNS}
LEAST = {"ns": 1, "operations": 1, "bytes": 0, "involuntary_switches": 0, "steal_ns": 0}
