"""Which conditions leave so few lines of some rows that a figure can be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sealift.lab.record import Record
from sealift.lab.values import Value


@dataclass(frozen=True)
class Drawing:
    """How rows become a drawing.

    Attributes:
        x: Column of the horizontal axis.
        telling: Columns that tell its lines apart; rows that agree in all of them are one line.
        lines: Counts the lines of rows.
        most: How many lines it may have, at least one.
    """

    x: str
    telling: Sequence[str]
    lines: Callable[[Sequence[Record]], int]
    most: int


def narrowing(rows: Sequence[Record], drawing: Drawing) -> dict[str, Value]:
    """Conditions that leave at least one line and no more than the figure may have.

    Args:
        rows: Those of which it has too many lines.
        drawing: What is to be drawn.
    """
    conditions: dict[str, Value] = {}
    left = rows
    while drawing.lines(left) > drawing.most:
        name, value = _next(left, drawing)
        conditions[name] = value
        left = _having(left, name, value)
    return conditions


def varied(rows: Sequence[Record], columns: Sequence[str]) -> dict[str, int]:
    """How many values each of these columns has, where that is more than one."""
    counts = {name: len({row.get(name) for row in rows}) for name in columns}
    return {name: values for name, values in counts.items() if values > 1}


def _next(rows: Sequence[Record], drawing: Drawing) -> tuple[str, Value]:
    """Of what leaves few enough lines the longest and then the most; else the fewest lines.

    One experiment comes before everything else: two have little to do with each other.
    """
    names = varied(rows, drawing.telling)
    options = [
        (name, value)
        for name in ([EXPERIMENT] if EXPERIMENT in names else names)
        for value in dict.fromkeys(row.get(name) for row in rows)
        if value is not None
    ]
    left = {option: _having(rows, *option) for option in options}
    lines = {option: drawing.lines(left[option]) for option in options}
    length = {option: len({row.get(drawing.x) for row in left[option]}) for option in options}
    fitting = [option for option in options if lines[option] <= drawing.most]
    if fitting:
        return max(fitting, key=lambda option: (length[option], lines[option]))
    return min(options, key=lines.__getitem__)


def _having(rows: Sequence[Record], name: str, value: Value) -> list[Record]:
    return [row for row in rows if row.get(name) == value]


EXPERIMENT = "experiment"
