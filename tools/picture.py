"""Draws lines on logarithmic axes as one SVG file, readable on light and on dark pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby


@dataclass(frozen=True)
class Point:
    """What one of the things compared did.

    Attributes:
        name: Of what is compared: a line each.
        x: Along the horizontal axis; above 0.
        y: What came of it, the median; above 0.
        low: Lower end of its interval.
        high: Upper end.
    """

    name: str
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Words:
    """What stands on a picture.

    Attributes:
        title: For who can't see it.
        x: What the horizontal axis counts.
        y: The unit of the vertical one.
    """

    title: str
    x: str
    y: str


def picture(rows: Sequence[Point], words: Words) -> str:
    """A line for each name, both axes logarithmic, the interval as a band.

    Args:
        rows: The points of all lines.
        words: What stands on it.

    Raises:
        ValueError: If there are fewer than two places along the horizontal axis.
    """
    places = sorted({row.x for row in rows})
    if len(places) < 2:
        raise ValueError(f"{words.title} needs two sizes or more, and there are {len(places)}")
    values = [value for row in rows for value in (row.low, row.y, row.high)]
    across = _Axis(places[0], places[-1], LEFT, WIDTH - RIGHT)
    # To the powers of ten around, so that the lines of the grid are round numbers.
    low, high = _floor(min(values)), -_floor(1 / max(values))
    up = _Axis(10**low, 10 ** max(high, low + 1), HEIGHT - BOTTOM, TOP)
    parts = [_grid(places, across, up, words)]
    by_name = sorted(rows, key=lambda row: (row.name, row.x))
    ends: list[tuple[float, str, str]] = []
    for place, (name, group) in enumerate(groupby(by_name, key=lambda row: row.name)):
        line, colour = list(group), COLOURS[place % len(COLOURS)]
        parts.append(_line(line, colour, across, up))
        ends.append((up.at(line[-1].y), name, colour))
    parts.append(_names(ends))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12">\n'
        f"<title>{escape(words.title)}</title>\n{body}\n</svg>\n"
    )


class _Axis:
    """A logarithmic axis: where a value lies between two points of the picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self._start, self._end = low, high, start, end

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self._start + share * (self._end - self._start), 1)


def _grid(places: Sequence[float], across: _Axis, up: _Axis, words: Words) -> str:
    lines = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    value = up.low
    while value <= up.high * 1.001:
        y = up.at(value)
        lines.append(f'<path d="M{LEFT} {y}H{right}" stroke="{GREY}" stroke-opacity="0.3"/>')
        lines.append(_label(LEFT - 6, y + 4, f"{value:,.6g}", "end"))
        value *= 10
    lines += [_label(across.at(x), bottom + 18, f"{x:,.0f}", "middle") for x in places]
    lines.append(_label((LEFT + right) / 2, HEIGHT - 6, words.x, "middle"))
    lines.append(_label(LEFT, TOP - 10, words.y, "end"))
    return "\n".join(lines)


def _line(rows: list[Point], colour: str, across: _Axis, up: _Axis) -> str:
    points = [(across.at(row.x), up.at(row.y), up.at(row.low), up.at(row.high)) for row in rows]
    middle = " ".join(f"{x},{y}" for x, y, _, _ in points)
    band = [f"{x},{low}" for x, _, low, _ in points]
    band += [f"{x},{high}" for x, _, _, high in reversed(points)]
    return "\n".join(
        [
            f'<polygon points="{" ".join(band)}" fill="{colour}" fill-opacity="0.25"/>',
            f'<polyline points="{middle}" fill="none" stroke="{colour}" stroke-width="2"/>',
            *(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y, _, _ in points),
        ]
    )


def _names(ends: list[tuple[float, str, str]]) -> str:
    """The names at the ends of their lines, moved apart where they would overlap."""
    lines, free = [], 0.0
    for y, name, colour in sorted(ends):
        free = max(y, free)
        x = WIDTH - RIGHT + 8
        lines.append(f'<text x="{x}" y="{free + 4:.1f}" fill="{colour}">{escape(name)}</text>')
        free += LINE_HEIGHT
    return "\n".join(lines)


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{GREY}">{text}</text>'


def _floor(value: float) -> int:
    return math.floor(math.log10(value))


WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 110, 28, 48
LINE_HEIGHT = 14
GREY = "#8b949e"
COLOURS = ("#2f81f7", "#d29922", "#3fb950", "#db61a2", "#a371f7", "#f0883e")
