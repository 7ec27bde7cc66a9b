"""What an experiment is: data. Axes, cells, an arm for a cell, what is compared, published, shown.

Standard library only: measuring processes import this.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from sealift_lab.model.arm import Arm, Cell, Context, Value, is_text, why_not_stored
from sealift_lab.model.published import Published
from sealift_lab.model.results import Origin, Results


@dataclass(frozen=True)
class Axis:
    """One thing that is varied.

    Attributes:
        name: The column in results files, with the unit last: `size_bytes`.
        title: What people read on a chart: `message size, bytes`.
        values: What is tried, in order; empty where the experiment's `cells` decides.
    """

    name: str
    title: str
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a name that can't be a column, and values that can't be in one."""
        if not is_text(self.name) or not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(f"axis {self.name!r}; right would be lower_case words, as size_bytes")
        if self.name in RESERVED:
            raise ValueError(f"axis {self.name!r} is a column of results; choose another name")
        if not is_text(self.title):
            raise ValueError(f"axis {self.name}: its title {self.title!r} is no text")
        for value in self.values:
            if why := why_not_stored(value):
                raise ValueError(f"axis {self.name}: the value {value!r} {why}")


@dataclass(frozen=True)
class Scope:
    """What a run is asked for, and what this machine has.

    Attributes:
        cores: How many threads can run at once.
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
class Chart:
    """One chart of an experiment's rows, or of what it computed.

    Attributes:
        series: The axis that tells lines apart.
        y: One of `FIGURES`, of which "ratio" is times as fast as the reference, or the name of a
            computed fact.
        panels: The axis that splits it into small charts, or "".
        where: Which rows are drawn: all whose cells have these values.
    """

    x: str
    series: str
    y: str
    title: str
    panels: str = ""
    where: Cell = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Line:
    """A point drawn beside what was found, in charts of the same `y`: published, projected, fitted.

    At an axis' values; without the x axis it is a line across. The series is in words.
    """

    series: str
    y: str
    value: float
    origin: Origin
    at: Cell = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExperimentBase:
    """What an experiment and its plan have in common; `Experiment` says what each field is."""

    id: str = ""
    question: str = ""
    charts: Sequence[Chart] = ()
    preferred: Cell = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = Origin.MEASURED
    is_sampled: bool = True
    weight: float = 1.0
    estimated_s: float | None = None
    legend: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""

    @property
    def is_timed(self) -> bool:
        """Whether its arms are sampled, in blocks; else they are computed or measured once."""
        return self.origin is Origin.MEASURED and self.is_sampled


@dataclass(frozen=True)
class Experiment(ExperimentBase):
    """What is varied, how a cell becomes an arm, what is compared, published and shown.

    Attributes:
        name: What people call it: `aes-gcm-by-threads`.
        compare: The axis whose values are compared with each other, interleaved block by block;
            the first value of each group is the reference.
        arm: Makes one cell ready to be timed. Raises `Skip` with the reason where that can't be.
        id: The document's name for it: `003-F5`; "" for an experiment of one's own.
        cells: The cells for a scope, most wanted first; all combinations of the axes' values when
            left out. Cells that differ in `compare` alone make a group.
        charts: How rows are drawn; the first one stands on the page, others fold.
        lines_of: Experiments whose lines are drawn, too, as the same run found them.
        preferred: The work that its answer is about, as values of a cell.
        names: Names of values for readers: `{"cpu": "Sealift's kernels"}`.
        advice: What to do where a value of `compare` wins: `{"cpu": "On your CPU, with ..."}`.
        columns: Facts that tables show, with short titles; empty for all of what is computed.
        origin: What isn't MEASURED is computed once: its arms are `Computed`.
        is_sampled: Whether arms of what is measured are sampled, in blocks that are compared. Else
            each is measured once, in the order of the cells, as along a course of time; it is a
            `Computed` of what was found.
        weight: Its share of the time against 1.0 of others.
        estimated_s: About how long it takes in seconds, where it is not sampled.
        check_available: Raises as `arm` does where a cell can't be had; cheaper than the arm.
        on_finish: At the end of a run stores what was found where the engine looks for it, and
            returns what became of that in a sentence.
        legend: What short values in cells stand for.
        notes: Markdown: assumptions, and what is true whatever is measured.
        file: The file of one's own that it was loaded from; the registry sets it.
    """

    name: str
    title: str
    axes: tuple[Axis, ...]
    compare: str
    arm: Callable[[Cell, Context], Arm]
    cells: Callable[[Scope], Iterable[Cell]] | None = None
    operation: str = "message"
    published: Callable[[Results], Sequence[Published]] = lambda _: ()
    lines: Callable[[Results], Sequence[Line]] = lambda _: ()
    lines_of: tuple[str, ...] = ()
    names: Mapping[Value, str] = field(default_factory=dict)
    advice: Mapping[Value, str] = field(default_factory=dict)
    check_available: Callable[[Cell, Context], object] | None = None
    on_finish: Callable[[Results], str] = lambda _: ""
    file: Path | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for what can be seen to be wrong without running anything."""
        if not is_text(self.name) or not re.fullmatch(NAME, self.name):
            raise ValueError(f"experiment {self.name!r}; right would be words-with-hyphens")
        for what in ("title", "id", "question", "operation", "notes"):
            if not is_text(text := getattr(self, what)):
                raise ValueError(f"{self.name}: its {what} {text!r} is no text")
        names = [axis.name for axis in self.axes]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: an axis stands twice in {', '.join(names)}")
        if self.compare not in names:
            raise ValueError(f"{self.name}: compare={self.compare!r}; axes are {', '.join(names)}")
        if self.cells is None and (empty := [axis.name for axis in self.axes if not axis.values]):
            raise ValueError(f"{self.name}: no values for {', '.join(empty)}, and no cells=")
        if not (type(self.weight) in (int, float) and 0 < self.weight < math.inf):
            raise ValueError(f"{self.name}: weight={self.weight!r}; right would be above 0")
        if self.origin is Origin.PUBLISHED or not isinstance(self.origin, Origin):
            right = "Origin.MEASURED, Origin.SIMULATED or Origin.PROJECTED"
            raise ValueError(f"{self.name}: origin={self.origin!r}; right would be {right}")
        for chart in self.charts:
            of = f"{self.name}: the chart {chart.title!r}"
            columns = [chart.x, chart.series, *filter(None, [chart.panels]), *chart.where]
            if unknown := [column for column in columns if column not in names]:
                raise ValueError(f"{of} names {unknown[0]!r}, no axis; axes are {', '.join(names)}")
            if self.is_timed and chart.y not in FIGURES:
                raise ValueError(f"{of} has y={chart.y!r}; right would be {', '.join(FIGURES)}")

    def groups(self, scope: Scope) -> tuple[tuple[Cell, ...], ...]:
        """The cells that are compared with each other, group by group, the reference first."""
        grouped: dict[tuple[Value, ...], dict[Value, Cell]] = {}
        names = [axis.name for axis in self.axes]
        values = product(*(axis.values for axis in self.axes))
        every = (dict(zip(names, each, strict=True)) for each in values)
        for number, cell in enumerate(self.cells(scope) if self.cells else every):
            if number == CELLS_MAX:
                raise ValueError(f"{self.name}: more than {CELLS_MAX:,} cells; make them fewer")
            if set(cell) != set(names):
                axes = ", ".join(sorted(names))
                raise ValueError(
                    f"{self.name}: the cell {cell!r} has other columns than the axes {axes}"
                )
            for name, value in cell.items():
                if why := why_not_stored(value):
                    raise ValueError(f"{self.name}: the cell {dict(cell)}: {name}={value!r} {why}")
            key = tuple(cell[name] for name in names if name != self.compare)
            group = grouped.setdefault(key, {})
            if cell[self.compare] in group:
                raise ValueError(f"{self.name}: the cell {dict(cell)} stands twice")
            group[cell[self.compare]] = dict(cell)
        return tuple(tuple(group.values()) for group in grouped.values())


NAME = r"[a-z][a-z0-9-]*"
CELLS_MAX = 100_000
FIGURES = ("ratio", "MB/s", "operations/s", "time")
# Columns that results and exports have beside the axes.
RESERVED = {
    "experiment", "id", "group", "arm", "origin", "compare", "subject", "reference", "ns", "ns_low",
    "ns_high", "operations_per_s", "payload_bytes", "payload_mb_per_s", "times", "times_low",
    "times_high", "verdict", "reason", "winner", "blocks", "processes", "noise", "clean_share",
    "wrong", "process", "block", "again", "restart", "operations", "bytes", "cpu_share", "steal_ns",
    "involuntary_switches", "clock_ghz",
}  # fmt: skip
