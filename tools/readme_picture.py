"""Draws payload speed by message size as one SVG file, readable on light and on dark pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby


@dataclass(frozen=True)
class Point:
    """What one device did at one size.

    Attributes:
        name: Of the device.
        size_bytes: Of a message.
        speed: Median, 10**6 bytes a second.
        low: Lower end of its interval.
        high: Upper end.
    """

    name: str
    size_bytes: float
    speed: float
    low: float
    high: float


def picture(rows: Sequence[Point]) -> str:
    """A line for each device, both axes logarithmic, the 95 % interval as a band.

    Args:
        rows: Of one workload.

    Raises:
        ValueError: If there are fewer than two sizes.
    """
    sizes = sorted({row.size_bytes for row in rows})
    if len(sizes) < 2:
        raise ValueError(f"a picture by size needs two sizes or more, and there are {len(sizes)}")
    speeds = [speed for row in rows for speed in (row.low, row.speed, row.high)]
    across = _Axis(sizes[0], sizes[-1], LEFT, WIDTH - RIGHT)
    # To the powers of ten around, so that the lines of the grid are round numbers.
    up = _Axis(10 ** _floor(min(speeds)), 10 ** (1 + _floor(max(speeds))), HEIGHT - BOTTOM, TOP)
    parts = [_grid(sizes, across, up)]
    by_device = sorted(rows, key=lambda row: (row.name, row.size_bytes))
    ends: list[tuple[float, str, str]] = []
    for place, (device, group) in enumerate(groupby(by_device, key=lambda row: row.name)):
        line, colour = list(group), COLOURS[place % len(COLOURS)]
        parts.append(_line(line, colour, across, up))
        ends.append((up.at(line[-1].speed), device, colour))
    parts.append(_names(ends))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12">\n'
        f"<title>Payload speed by message size</title>\n{body}\n</svg>\n"
    )


class _Axis:
    """A logarithmic axis: where a value lies between two points of the picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self._start, self._end = low, high, start, end

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self._start + share * (self._end - self._start), 1)


def _grid(sizes: Sequence[float], across: _Axis, up: _Axis) -> str:
    lines = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    speed = up.low
    while speed <= up.high * 1.001:
        y = up.at(speed)
        lines.append(f'<path d="M{LEFT} {y}H{right}" stroke="{GREY}" stroke-opacity="0.3"/>')
        lines.append(_label(LEFT - 6, y + 4, f"{speed:,.6g}", "end"))
        speed *= 10
    lines += [_label(across.at(size), bottom + 18, f"{size:,.0f}", "middle") for size in sizes]
    lines.append(_label((LEFT + right) / 2, HEIGHT - 6, "bytes of text in a message", "middle"))
    lines.append(_label(LEFT, TOP - 10, "MB/s", "end"))
    return "\n".join(lines)


def _line(rows: list[Point], colour: str, across: _Axis, up: _Axis) -> str:
    points = [
        (across.at(row.size_bytes), up.at(row.speed), up.at(row.low), up.at(row.high))
        for row in rows
    ]
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
    """The devices' names at the ends of their lines, moved apart where they would overlap."""
    lines, free = [], 0.0
    for y, device, colour in sorted(ends):
        free = max(y, free)
        x = WIDTH - RIGHT + 8
        lines.append(f'<text x="{x}" y="{free + 4:.1f}" fill="{colour}">{escape(device)}</text>')
        free += LINE_HEIGHT
    return "\n".join(lines)


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{GREY}">{text}</text>'


def _floor(speed: float) -> int:
    return math.floor(math.log10(speed))


WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 110, 28, 48
LINE_HEIGHT = 14
GREY = "#8b949e"
COLOURS = ("#2f81f7", "#d29922", "#3fb950", "#db61a2", "#a371f7")
