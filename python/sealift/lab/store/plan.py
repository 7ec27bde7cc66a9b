"""The plan of a run: every cell, seed and budget; a resume and a replay need nothing else."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sealift.lab.result import Origin
from sealift.lab.spec import EXPERIMENT_NAME, Axis, Plot
from sealift.lab.store.errors import StoreError
from sealift.lab.store.shape import Record
from sealift.lab.values import Cell, Value


@dataclass(frozen=True)
class PlannedExperiment:
    """What is to be measured of one experiment.

    Attributes:
        name: Of the experiment.
        id: The document's name for it, or "".
        title: One line that says what it measures.
        why: What it asks, or "".
        axes: Names and titles of what is varied; their values stand in the groups.
        plots: Its figures.
        file: Absolute path of an experiment file of one's own; None for Sealift's.
        operation: What one operation is: `message`.
        compare: The axis whose values are compared with each other.
        weight: Its share of the time, against 1.0 of others.
        blocks: How many blocks each group is to have, over all restarts.
        groups: The cells that are compared with each other, the reference first; none where the
            experiment has no cells on this machine.
        file_sha256: Of `file`, in hexadecimal; None without one.
        legend: What short values in the cells stand for.
        left_out: Groups that the budget had no room for.
        whole_s: Seconds of a budget that would have had room for all groups.
        origin: Where its numbers come from.
        takes_s: About how many seconds it takes, where it is computed and that is known.
    """

    name: str
    id: str
    file: str | None
    operation: str
    compare: str
    weight: float
    blocks: int
    groups: tuple[tuple[Cell, ...], ...]
    file_sha256: str | None = None
    title: str = ""
    why: str = ""
    axes: tuple[Axis, ...] = ()
    plots: tuple[Plot, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[tuple[Cell, ...], ...] = ()
    whole_s: float = 0.0
    origin: Origin = Origin.MEASURED
    takes_s: float | None = None

    @property
    def is_timed(self) -> bool:
        """Whether it is sampled in blocks; else it is computed once."""
        return self.origin is Origin.MEASURED

    @property
    def left_out_text(self) -> str:
        """What the budget had no room for, in words, and the budget that would; "" for nothing."""
        if not self.left_out:
            return ""
        names = [axis.name for axis in self.axes if axis.name != self.compare]
        told = [", ".join(f"{name} {cells[0][name]}" for name in names) for cells in self.left_out]
        if more := len(told[NAMED_MOST:-1]):
            told[NAMED_MOST:-1] = [f"{more:,} more"]
        return f"{'; '.join(told)}: --budget {self.budget_for_all_s} would have room for all of it"

    @property
    def budget_for_all_s(self) -> int:
        """Whole seconds of a budget that would have had room for all groups."""
        return math.ceil(self.whole_s)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        axes = [{"name": axis.name, "title": axis.title} for axis in self.axes]
        return asdict(self) | {"axes": axes}


@dataclass(frozen=True)
class Plan:
    """What a run is to do.

    Attributes:
        version: Of Sealift.
        created: When, as `2026-11-21T14:21:00Z`.
        command: The command line that asked for it.
        seed: Of everything that is drawn.
        budget_s: Seconds of wall clock that the whole run may take.
        quick: Whether the page was to be there within 90 seconds.
        restarts: Over how many processes the blocks of an experiment are shared out.
        threads: Thread counts that were asked for; empty for those of the experiments.
        experiments: In the order in which they are measured.
    """

    version: str
    created: str
    command: tuple[str, ...]
    seed: int
    budget_s: float
    quick: bool
    restarts: int
    threads: tuple[int, ...]
    experiments: tuple[PlannedExperiment, ...]

    @property
    def is_by_program(self) -> bool:
        """Whether `sealift-gpu` measured it, where there may have been no lab."""
        return self.command[:1] == (PROGRAM,)

    def experiment(self, name: str) -> PlannedExperiment:
        """The experiment of a name.

        Raises:
            KeyError: If it isn't planned.
        """
        return {each.name: each for each in self.experiments}[name]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        experiments = [each.as_dict() for each in self.experiments]
        return {"schema": SCHEMA, **asdict(self), "experiments": experiments}


def plan_of(record: Record) -> Plan:
    """A plan from its JSON.

    Raises:
        StoreError: If it isn't one, or is a newer one; says so.
    """
    _check_schema(record)
    experiments = tuple(_experiment(each) for each in record.records("experiments"))
    names = [each.name for each in experiments]
    if twice := {name for name in names if names.count(name) > 1}:
        raise record.wrong(f"the experiment {min(twice)!r} stands twice")
    return Plan(
        version=record.text("version"),
        created=record.text("created"),
        command=tuple(record.texts("command")),
        seed=record.count("seed", least=None),
        budget_s=record.above_0("budget_s"),
        quick=record.flag("quick"),
        restarts=record.count("restarts", least=1),
        threads=tuple(record.counts("threads", least=1)),
        experiments=experiments,
    )


def _check_schema(record: Record) -> None:
    schema = record.plain.get("schema")
    if schema == SCHEMA:
        return
    family, _, number = str(schema).partition("/")
    if family == SCHEMA.partition("/")[0] and number.isdigit():
        raise StoreError(
            f"{record.where}: written as {schema}, and this Sealift reads {SCHEMA}; "
            "take the Sealift that wrote it, or a newer one"
        )
    raise record.wrong(f"no plan of Sealift: its schema is {schema!r}, not {SCHEMA!r}")


def _experiment(record: Record) -> PlannedExperiment:
    groups = _groups(record, "groups")
    # Plans of before anything could be left out have none.
    left_out = _groups(record, "left_out") if "left_out" in record.plain else ()
    compare = record.text("compare")
    axes = tuple(map(_axis, record.records("axes")))
    columns, origin = {axis.name for axis in axes}, origin_of(record)
    if len(columns) != len(axes) or compare not in columns:
        raise record.wrong(f"its axes are to be different ones, and {compare!r} among them")
    for group in (*groups, *left_out):
        for cell in group:
            if cell.keys() != columns:
                raise record.wrong(f"the cell {dict(cell)} has other columns than the axes")
    return PlannedExperiment(
        name=_name(record),
        id=record.text("id"),
        file=record.text_or_none("file"),
        operation=record.text("operation"),
        compare=compare,
        weight=record.above_0("weight"),
        blocks=record.count("blocks", least=1),
        groups=groups,
        file_sha256=record.text_or_none("file_sha256"),
        title=record.text("title"),
        why=record.text("why"),
        axes=axes,
        plots=tuple(
            _plot(each, columns, is_timed=origin is Origin.MEASURED)
            for each in record.records("plots")
        ),
        legend=_legend(record),
        left_out=left_out,
        whole_s=record.above_0("whole_s") if left_out else 0.0,
        origin=origin,
        # Plans of before it could be known say nothing.
        takes_s=None if record.plain.get("takes_s") is None else record.above_0("takes_s"),
    )


def origin_of(record: Record) -> Origin:
    """Where numbers come from; files of before there were others say nothing, and measured.

    Raises:
        StoreError: If it is none that there is.
    """
    if "origin" not in record.plain:
        return Origin.MEASURED
    origin = record.text("origin")
    if origin not in list(Origin):
        raise record.wrong(f"origin is {origin!r}; right would be one of {', '.join(Origin)}")
    return Origin(origin)


def _groups(record: Record, name: str) -> tuple[tuple[Cell, ...], ...]:
    groups = tuple(tuple(map(_cell, group)) for group in record.record_lists(name))
    if not all(groups):
        raise record.wrong("an empty group")
    return groups


def _name(record: Record) -> str:
    name = record.text("name")
    if not re.fullmatch(EXPERIMENT_NAME, name):
        raise record.wrong(f"the name {name!r}; right would be words-with-hyphens")
    return name


def _axis(record: Record) -> Axis:
    with record.accepting():
        return Axis(record.text("name"), record.text("title"))


def _plot(record: Record, axes: Iterable[str], *, is_timed: bool) -> Plot:
    plot = Plot(
        x=record.text("x"),
        y=record.text("y"),
        z=record.text("z"),
        title=record.text("title"),
        facet=record.text("facet"),
        where=record.record("where").values(),
        log_x=record.flag("log_x"),
        log_y=record.flag("log_y"),
    )
    with record.accepting():
        plot.check(axes, is_timed=is_timed)
    return plot


def _legend(record: Record) -> Mapping[str, str]:
    # Plans of before there were legends have none.
    if "legend" not in record.plain:
        return {}
    legend = record.record("legend")
    return {name: legend.text(name) for name in legend.plain}


def _cell(record: Record) -> Mapping[str, Value]:
    return record.values()


SCHEMA = "sealift-run/1"
PROGRAM = "sealift-gpu"
# Of what was left out; no reader goes through hundreds.
NAMED_MOST = 12
