"""Tables of documents that are made of run folders, every one judged anew by the lab's judge."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sealift_lab.claim.answer import command_text
from sealift_lab.claim.declared import plans, published
from sealift_lab.claim.replication import fact
from sealift_lab.claim.words import axis_title, tick_text, value_text
from sealift_lab.judge.rows import results
from sealift_lab.model.arm import Cell, Value, fits
from sealift_lab.model.experiment import Chart
from sealift_lab.model.results import ArmReport, Estimate, Results, Row, Verdict
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_estimate, format_number
from sealift_lab.run.read_folder import Run
from sealift_lab.show.charts import picture
from sealift_lab.show.tables import Table, markdown, published_table, source_markdown


@dataclass(frozen=True)
class Source:
    """A file or a run folder below `results/<date>/<machine>/`, with a link to it from the page."""

    path: Path
    link: str

    @property
    def machine(self) -> str:
        """The machine that it is of."""
        return self.path.parent.name

    @property
    def origin(self) -> str:
        """Date and machine, with a link to the figures."""
        return f"{self.path.parent.parent.name} on {self.machine}; [figures]({self.link})"


@dataclass(frozen=True)
class Findings:
    """A run folder, and what was found of its experiments, by their names."""

    run: Run
    plans: Mapping[str, PlannedExperiment]
    results: Mapping[str, Results]


@dataclass(frozen=True)
class Column:
    """A column of a grid.

    Attributes:
        figures: Names in `FIGURES`, or of computed facts; those that are there are joined.
        where: Which rows it shows.
        title: What stands over it; the values of `where` and of the axes across when left out.
    """

    figures: tuple[str, ...]
    where: Cell = field(default_factory=dict)
    title: str = ""


Values = Value | tuple[Value, ...]
"""The value of an axis, or several."""
Part = Callable[[Findings], str]
"""A part of a page, without where its figures are from."""
Block = Callable[[Sequence[Source]], str]
"""A part of a page from the newest source of each machine, the newest of all last."""


@cache
def load(path: Path) -> Findings:
    """Reads and judges a run folder, once."""
    run = Run(path)
    return Findings(run, {each.name: each for each in plans(run)}, results(run))


def run_block(folder: str, *parts: Part) -> tuple[str, Block]:
    """A run folder, and a block of parts with where it was measured, or that it is computed.

    What was measured names the newest run of each other machine, too.
    """

    def block(sources: Sequence[Source]) -> str:
        *others, newest = sources
        found = load(newest.path)
        is_measured = any(each.rows for each in found.results.values())
        also = [f"Also measured {each.origin}." for each in others if is_measured]
        origin = " ".join([caption(found, newest.link), *also])
        return "\n\n".join([*(part(found) for part in parts), origin])

    return folder, block


def caption(found: Findings, link: str) -> str:
    """Where and when figures were measured, and by which command; of computed ones the command."""
    if any(each.rows for each in found.results.values()):
        return source_markdown(found.run, link)
    origin = " and ".join(dict.fromkeys(each.origin.value for each in found.plans.values()))
    return (
        f"{origin.capitalize()}, not measured: the same version gives the same on any machine. "
        f"`{command_text(found.run)}`, [all rows]({link})."
    )


def grid(
    experiment: str,
    down: str,
    columns: str | Sequence[Column | str],
    across: str = "",
    **where: Values,
) -> Part:
    """Some axes of an experiment down, others across.

    Args:
        experiment: Its name.
        down: The axes of which each combination is a line, apart by spaces.
        columns: Repeated for each combination of the axes across; a figure may stand for a column.
        across: These axes.
        where: Which rows are taken; a tuple has several values.
    """
    values = {axis: of if isinstance(of, tuple) else (of,) for axis, of in where.items()}

    def is_taken(cell: Cell) -> bool:
        return all(cell.get(axis) in those for axis, those in values.items())

    def part(found: Findings) -> str:
        planned, of = found.plans[experiment], found.results[experiment]
        sound = [row for row in of.rows if not row.wrong]
        facts = [row for row in of.facts() if is_taken(row.cell)]
        timed = [row for row in sound if is_taken(row.cell)]
        rows: Sequence[Row | ArmReport] = timed if planned.is_timed else facts
        shown = [
            (_title(planned, column, place), column, {**place, **column.where})
            for place in _places(rows, across.split())
            for column in map(_column, [columns] if isinstance(columns, str) else columns)
        ]
        lines = [
            [
                *(tick_text(axis, value, planned.names) for axis, value in place.items()),
                *(_text(timed, facts, {**place, **at}, column) for _, column, at in shown),
            ]
            for place in _places(rows, down.split())
        ]
        heads = [axis_title(planned, axis) for axis in down.split()]
        return text_table([*heads, *(title for title, *_ in shown)], lines, len(heads))

    return part


def published_figures(word: str) -> Part:
    """The published figures whose description has a word, beside those of the run."""

    def part(found: Findings) -> str:
        pairs, _ = published(found.run, found.results)
        table = published_table([pair for pair in pairs if word in pair[0].what])
        return text_table(table.columns[1:5], [row[1:5] for row in table.rows])

    return part


def errors_of(experiment: str, models: Iterable[str]) -> Part:
    """How far models are off the published cells: on average, and at most."""

    def part(found: Findings) -> str:
        texts = []
        for model in models:
            facts = (each.facts for each in found.results[experiment].facts())
            name = f"{model}, Mbit/s, error in %"
            off = [abs(float(each[name])) for each in facts if name in each]
            texts.append(f"{model} {sum(off) / len(off):.1f} % ({max(off):.1f} % at most)")
        return f"Mean error over these cells: {', '.join(texts)}."

    return part


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A table as Markdown, whose first columns are text and the others figures."""
    return markdown(Table(head, [*rows], range(texts, len(head))))


def pivot(corner: str, cells: Mapping[tuple[str, str], str]) -> str:
    """Texts by line and column as such a table; both stay in the order in which they come."""
    lines, columns = (dict.fromkeys(place[at] for place in cells) for at in (0, 1))
    rows = ([line, *(cells.get((line, column), "") for column in columns)] for line in lines)
    return text_table([corner, *columns], rows)


def speed_picture(path: Path) -> str:
    """The picture of speed by message size, with the conditions that `SPEED` has."""
    found = load(path)
    return picture(found.plans[BY_SIZE], found.results[BY_SIZE], SPEED)


def _places(rows: Iterable[Row | ArmReport], axes: Sequence[str]) -> list[Cell]:
    """Each combination of values once: numbers ascend, texts stay in the order of the rows."""
    places = dict.fromkeys(tuple(row.cell[axis] for axis in axes) for row in rows)
    seen = [*dict.fromkeys(value for place in places for value in place)]

    def rank(place: Iterable[Value]) -> list[float]:
        return [seen.index(each) if isinstance(each, str) else each for each in place]

    return [dict(zip(axes, place, strict=True)) for place in sorted(places, key=rank)]


def _column(column: Column | str) -> Column:
    if isinstance(column, Column):
        return column
    return Column((column,), title="" if column in FIGURES else column)


def _title(planned: PlannedExperiment, column: Column, place: Cell) -> str:
    shown = place if column.title else {**place, **column.where}
    words = (value_text(axis, value, planned) for axis, value in shown.items())
    unit = column.figures[0] if column.figures[0] in FIGURES else ""
    return ", ".join(filter(None, (*words, column.title, unit)))


def _text(timed: Iterable[Row], facts: Iterable[ArmReport], at: Cell, column: Column) -> str:
    of: Iterable[Row | ArmReport] = timed if column.figures[0] in FIGURES else facts
    fitting = [row for row in of if fits(row.cell, at)]
    if len(fitting) > 1:
        raise ValueError(f"{len(fitting)} rows of {fitting[0].experiment} have {dict(at)}")
    texts = (_figure(row, name) for row in fitting for name in column.figures)
    return ", ".join(filter(None, texts))


def _figure(row: Row | ArmReport, name: str) -> str:
    if isinstance(row, Row):
        return FIGURES[name](row)
    found = fact(row, name) if name in row.facts else ""
    return format_number(found.value) if isinstance(found, Estimate) else found


def _speed(row: Row, factor: float) -> str:
    speed = row.payload_mb_per_s
    return format_estimate(speed.scaled(factor)) if speed else ""


def _ratio(row: Row, ratio: Estimate | None) -> str:
    """A ratio to the reference, and the verdict on it."""
    return f"{format_estimate(ratio)}, {VERDICTS[row.verdict]}" if ratio and row.verdict else "1"


FIGURES: Mapping[str, Callable[[Row], str]] = {
    "GB/s": lambda row: _speed(row, 1e-3),
    "MB/s": lambda row: _speed(row, 1.0),
    "Mbit/s": lambda row: _speed(row, 8.0),
    "ns": lambda row: format_estimate(row.time),
    "µs": lambda row: format_estimate(row.time.scaled(1e-3)),
    "times as fast": lambda row: _ratio(row, row.ratio),
    "times as long": lambda row: _ratio(row, row.ratio and row.ratio.inverse()),
}
VERDICTS = {each: each.value for each in Verdict} | {Verdict.INCONCLUSIVE: "not settled"}
BY_SIZE = "aes-gcm-by-size"
SPEED = Chart(
    "size_bytes",
    "device",
    "MB/s",
    "AES-128-GCM, sealed, one thread",
    where={"keys": "sessions:1024", "threads": 1},
    log_x=True,
    log_y=True,
)
