"""Tables of plain text."""

import io
import textwrap
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from sealift.lab.facts import stands_for, why_none
from sealift.lab.result import Verified
from sealift.lab.spec import Brief
from sealift.lab.stats import Interval
from sealift.lab.units import (
    format_estimate,
    format_measure,
    format_size,
)
from sealift.lab.values import Value


def computed_text(computed: Sequence[Verified], axes: Sequence[str], brief: Brief | None) -> str:
    """What was computed as text, a line for each cell; what is the same in all stands above.

    Args:
        computed: The cells, with what was computed of each.
        axes: Their names.
        brief: What is shown of them; None for all.

    Raises:
        ValueError: If there is none to show.
    """
    where = brief.where if brief else {}
    cells = [each for each in computed if where.items() <= each.cell.items()]
    if not cells:
        raise ValueError("no cells to show; compute something first")
    every = {stands_for(name): stands_for(name) for each in cells for name in each.facts}
    facts = brief.facts if brief else every
    varied = [name for name in axes if len({each.cell[name] for each in cells}) > 1]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in varied:
        table.add_column(TITLES.get(name, name).replace("_", " "), no_wrap=True)
    for name, title in facts.items():
        is_number = all(not isinstance(each.facts.get(name, 0.0), str) for each in cells)
        table.add_column(title, justify="right" if is_number else "left", no_wrap=True)
    for each in cells:
        said = [value_text(name, each.cell[name]) for name in varied]
        table.add_row(*said, *(_fact(_found(each.facts, name)) for name in facts))
    same = (
        f"{name.replace('_', ' ')} {value_text(name, cells[0].cell[name])}"
        for name in axes
        if name not in varied
    )
    heading = "; ".join(same)
    return f"{heading}\n{_drawn(table)}" if heading else _drawn(table)


def _found(facts: Mapping[str, Value], name: str) -> Value:
    """A fact, or why there is none."""
    return facts.get(name, facts.get(why_none(name), ""))


def _fact(value: Value) -> str:
    if isinstance(value, str):
        return value
    return f"{'-' if value < 0 else ''}{format_measure(abs(value))}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Plain columns side by side, one line a row; the last one may be of any length."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def fitted(rows: Sequence[Sequence[str]], width: int | None) -> str:
    """The same for lines of a given length: what has no room beside goes below, in own lines.

    Args:
        rows: Of equal length; the first holds the names of the columns.
        width: In characters; None for any.
    """
    every = aligned(rows)
    if width is None or max(map(len, every.splitlines())) <= width:
        return every
    width = max(WIDTH_LEAST, width)
    count = len(rows[0])
    while count > 1 and max(map(len, aligned([row[:count] for row in rows]).splitlines())) > width:
        count -= 1
    lines = aligned([row[:count] for row in rows]).splitlines()
    below = ("; ".join(filter(None, row[count:])) for row in rows)
    return "\n".join(
        line
        for first, rest in zip(lines, below, strict=True)
        for line in (
            first,
            *textwrap.wrap(rest, width, initial_indent=INDENT, subsequent_indent=INDENT),
        )
    )


def times_text(ratio: Interval) -> str:
    """A ratio with its interval: `2.410 [2.362..2.458]`."""
    return format_estimate(ratio.median, ratio.low, ratio.high)


def value_text(name: str, value: Value) -> str:
    """The value of an axis as people read it."""
    if name == "size_bytes" and not isinstance(value, str):
        return format_size(value)
    if isinstance(value, float):
        return f"{value:,.4g}"
    return value if isinstance(value, str) else f"{value:,}"


def _drawn(table: Table) -> str:
    out = io.StringIO()
    Console(
        file=out,
        width=NO_WRAP_WIDTH,
        color_system=None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    ).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


NO_WRAP_WIDTH = 1_000
# Narrower a word would not fit.
WIDTH_LEAST = 40
INDENT = "    "
TITLES = {"size_bytes": "size B"}
