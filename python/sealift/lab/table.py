"""Shows rows of one experiment as a table for people. Shows only, never measures."""

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from rich.console import Console
from rich.table import Table

from sealift.lab.facts import stands_for, why_none
from sealift.lab.result import Row, Verified
from sealift.lab.spec import Brief
from sealift.lab.stats import Interval, Verdict
from sealift.lab.units import (
    format_estimate,
    format_measure,
    format_noise,
    format_range,
    format_share,
    format_size,
    rate_unit,
)
from sealift.lab.unsettled import said_text, why_unsure
from sealift.lab.values import Value


class Ink(StrEnum):
    """Whether a table may use colour; it says the same without."""

    PLAIN = "plain"
    COLOUR = "colour"


def table_text(rows: Sequence[Row], *, operation: str = "message", ink: Ink = Ink.PLAIN) -> str:
    """The table as text, one line a row, never wrapped.

    What is the same in all rows (threads, key regime and so on) stands once, above the table.

    Args:
        rows: Of one experiment, in the order to show.
        operation: What one operation is.
        ink: Plain for pipes and files, colour for a terminal that has it.

    Raises:
        ValueError: If there are no rows.
    """
    if not rows:
        raise ValueError("no rows to show; measure something first")
    axes = _axes(rows)
    common = [name for name, show in axes.items() if len({show(row) for row in rows}) == 1]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    varied = {name: show for name, show in axes.items() if name not in common}
    columns = varied | _figures(rows, operation)
    for name in columns:
        right = name in RIGHT or name not in (*varied, rows[0].compare, "verdict")
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for row in rows:
        cells = [show(row) for show in columns.values()]
        table.add_row(*cells, style=COLOURS.get(row.verdict) if row.verdict else None)
    heading = "; ".join(f"{name} {axes[name](rows[0])}" for name in common)
    return f"{heading}\n{_drawn(table, ink)}" if heading else _drawn(table, ink)


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
    return f"{heading}\n{_drawn(table, Ink.PLAIN)}" if heading else _drawn(table, Ink.PLAIN)


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


def _axes(rows: Sequence[Row]) -> dict[str, Callable[[Row], str]]:
    shown = {
        TITLES.get(name, name): _shower(name) for name in rows[0].cell if name != rows[0].compare
    }
    return shown | {"origin": lambda row: row.origin.value}


def _shower(name: str) -> Callable[[Row], str]:
    return lambda row: value_text(name, row.cell[name])


def value_text(name: str, value: Value) -> str:
    """The value of an axis as people read it."""
    if name == "size_bytes" and not isinstance(value, str):
        return format_size(value)
    if isinstance(value, float):
        return f"{value:,.4g}"
    return value if isinstance(value, str) else f"{value:,}"


def _figures(rows: Sequence[Row], operation: str) -> dict[str, Callable[[Row], str]]:
    figures: dict[str, Callable[[Row], str]] = {
        rows[0].compare: lambda row: value_text(row.compare, row.subject),
        f"ns/{operation}": lambda row: format_measure(row.ns_per_operation.median),
        "95 % interval": lambda row: _range(row.ns_per_operation),
        rate_unit(operation): lambda row: format_measure(row.operations_per_s.median),
    }
    if any(row.payload_bytes for row in rows):
        figures["MB/s"] = _payload
    if any(row.ratio for row in rows):
        references = sorted({str(row.reference) for row in rows})
        against = references[0] if len(references) == 1 else "the reference"
        figures[f"times {against}"] = _times
        figures["verdict"] = _said
        figures["noise"] = lambda row: format_noise(row.noise_floor)
    figures["clean"] = lambda row: format_share(row.clean_share)
    figures["sampled"] = lambda row: f"{row.blocks:,}"
    return figures


def _payload(row: Row) -> str:
    speed = row.payload_mb_per_s
    return "" if speed is None else format_measure(speed.median)


def _times(row: Row) -> str:
    return "reference" if row.ratio is None else times_text(row.ratio)


def _said(row: Row) -> str:
    if row.wrong:
        return "WRONG RESULT"
    said, why = said_text(row), why_unsure(row)
    return f"{said}: {why}" if why else said


def _range(interval: Interval) -> str:
    return format_range(interval.low, interval.high)


def _drawn(table: Table, ink: Ink) -> str:
    out = io.StringIO()
    Console(
        file=out,
        width=NO_WRAP_WIDTH,
        color_system="standard" if ink is Ink.COLOUR else None,
        force_terminal=ink is Ink.COLOUR,
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
RIGHT = ("size B", "threads", "batch")
COLOURS = {Verdict.FASTER: "green", Verdict.SLOWER: "yellow"}
