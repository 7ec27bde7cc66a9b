"""Points as a Vega-Lite specification: plain dicts, because the specification is the interface."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from sealift.lab.result import Origin
from sealift.lab.units import format_measure
from sealift.lab.values import Value

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one, as JSON has it."""


@dataclass(frozen=True)
class Point:
    """One value in a figure.

    Attributes:
        x: Where it stands; None for a value that holds everywhere: a line across.
        y: The value.
        low: Lower end of its 95 % interval; None where none is known.
        high: Upper end.
        series: Which line it belongs to.
        origin: Where it comes from.
    """

    x: Value | None
    y: float
    low: float | None
    high: float | None
    series: str
    origin: Origin = Origin.MEASURED


@dataclass(frozen=True)
class Labels:
    """What is written on a figure.

    Attributes:
        title: What it shows.
        x: Name of the axis that is varied.
        y: Name and unit of what was measured.
        series: What the lines are; empty where there is one line that needs no name.
        x_is_size: Whether x counts bytes, so that 1024 reads 1 KiB.
    """

    title: str
    x: str
    y: str
    series: str
    x_is_size: bool = False


@dataclass(frozen=True)
class Scales:
    """Which axes are logarithmic."""

    log_x: bool = False
    log_y: bool = False


def specification(
    points: Sequence[Point], labels: Labels, scales: Scales, colours: Mapping[str, str]
) -> Spec:
    """A figure as a Vega-Lite specification that is as wide as its place.

    Numbers below give lines with their 95 % band; names give points with interval bars, one name a
    row, so that they can be read.

    Args:
        points: What is drawn, at least one of it with a place.
        labels: What is written on it.
        scales: Which axes are logarithmic, where all values are above 0.
        colours: The colour of each series but the published ones, which are grey.
    """
    numeric = _is_numeric(points)
    scales = _possible(points, scales)
    inks = _inks(points, colours)
    layers = (_lines if numeric else _bars)(points, labels, scales, inks)
    return {
        "$schema": SCHEMA,
        "description": describe(points, labels),
        "width": "container",
        "height": LINES_HIGH_PX if numeric else _rows_high_px(points),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": _data(points, labels)},
        "layer": layers,
        "config": CONFIG,
    }


def describe(points: Sequence[Point], labels: Labels) -> str:
    """The figure in words, for those who can't see it."""
    kind = "Lines" if _is_numeric(points) else "Points with intervals"
    own: dict[str, list[Point]] = {}
    for point in points:
        own.setdefault(point.series, []).append(point)
    shown = "; ".join(_described(name, those, labels) for name, those in own.items())
    return f"{labels.title}. {kind}: {labels.y}, by {labels.x}. {shown}."


def room_px(spec: Spec) -> int:
    """About how high a figure is drawn, its axis and legend included."""
    colour = spec["layer"][0]["encoding"]["color"]
    return int(spec["height"]) + AXIS_PX + _legend_rows(colour) * LEGEND_ROW_PX


def format_bytes(size: float) -> str:
    """A size as figures label it: `512 B`, `16 KiB`, `1 MiB`."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit:,.0f} {name}"
    return f"{size:,.6g} B"


def shown(value: float | None) -> str:
    """A figure of either sign with four significant digits."""
    if value is None:
        return "not known"
    return f"-{format_measure(-value)}" if value < 0 else format_measure(value)


def palette(series: Sequence[str]) -> dict[str, str]:
    """A colour for each of some series that were measured, told apart by colour-blind people."""
    return dict(zip(series, islice(cycle(COLOURS), len(series)), strict=True))


def shades(colour: str, count: int) -> list[str]:
    """Shades of a colour, from one that still shows on white to the colour itself."""
    steps = [FAINTEST * (count - 1 - place) / max(1, count - 1) for place in range(count)]
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return [
        "#" + "".join(f"{round(part + (255 - part) * step):02x}" for part in parts)
        for step in steps
    ]


def _legend_rows(colour: Spec) -> int:
    legend, names = colour["legend"], colour["scale"]["domain"]
    if legend is None:
        return 0
    split = LEGEND_PART if "labelExpr" in legend else None
    lines = sum(1 + (name.count(split) if split else 0) for name in names)
    return 2 + lines // int(legend["columns"])


def _possible(points: Sequence[Point], scales: Scales) -> Scales:
    """Without the logarithm of what is not above 0."""
    xs = [point.x for point in points if isinstance(point.x, int | float)]
    ys = [end for point in points for end in (point.y, point.low) if end is not None]
    return Scales(log_x=scales.log_x and min(xs, default=1) > 0, log_y=scales.log_y and min(ys) > 0)


def _lines(
    points: Sequence[Point], labels: Labels, scales: Scales, inks: Mapping[str, str]
) -> list[Spec]:
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "title": labels.x,
        **_x_axis(points, labels, scales),
    }
    y: Spec = {"field": "y", "type": "quantitative", "title": labels.y}
    y |= _value_axis(points, log=scales.log_y)
    shared = {"x": x, "y": y, "color": _colour(labels, inks)}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    tooltip = {"tooltip": _tooltip(labels)}
    across = {"y": y, "color": shared["color"]} | tooltip
    layers = [
        _layer("area", {"fillOpacity": 0.16, "strokeOpacity": 0}, shared | ends, BETWEEN),
        _layer("rule", {"strokeWidth": 1.5}, shared | ends | FADING, BETWEEN),
        _layer("line", {"strokeWidth": 2}, shared | DASHED | FADING, PLACED),
        _layer("point", _point(points), shared | SHAPED | FADING | tooltip, PLACED),
        *_across("y", across),
    ]
    return _drawn(layers, points)


def _bars(
    points: Sequence[Point], labels: Labels, scales: Scales, inks: Mapping[str, str]
) -> list[Spec]:
    names = list(dict.fromkeys(str(point.x) for point in points if point.x is not None))
    value: Spec = {"field": "y", "type": "quantitative", "title": labels.y}
    value |= _value_axis(points, log=scales.log_y)
    row = {"field": "x", "type": "nominal", "title": labels.x, "sort": names, "axis": ROW_AXIS}
    shared: Spec = {"x": value, "y": row, "color": _colour(labels, inks)}
    if (count := _lane_count(points)) > 1:
        lanes = list(range(count))
        shared["yOffset"] = {"field": "lane", "type": "ordinal", "scale": {"domain": lanes}}
    if all(point.series == str(point.x) for point in points):
        shared["color"]["legend"] = None
    ends = {"x": {**value, "field": "low"}, "x2": {"field": "high"}}
    tooltip = {"tooltip": _tooltip(labels)}
    across = {"x": value, "color": shared["color"]} | tooltip
    layers = [
        _layer("rule", {"strokeWidth": 3, "strokeCap": "round"}, shared | ends | FADING, BETWEEN),
        _layer("point", _point(points), shared | SHAPED | FADING | tooltip, PLACED),
        *_across("x", across),
    ]
    return _drawn(layers, points)


def _drawn(layers: Sequence[Spec], points: Sequence[Point]) -> list[Spec]:
    """The layers that have something to draw; the first of them takes clicks on the legend."""
    there = {
        BETWEEN: any(point.x is not None and point.low is not None for point in points),
        PLACED: any(point.x is not None for point in points),
        EVERYWHERE: any(point.x is None for point in points),
    }
    first, *others = (layer for layer in layers if there[layer["transform"][0]["filter"]])
    return [{**first, "params": CLICKS}, *others]


def _across(along: str, encoding: Spec) -> list[Spec]:
    """A dashed line for each value that holds everywhere, with its name at the end."""
    name: Spec = {"text": {"field": "series"}, along: encoding[along], "color": encoding["color"]}
    place: Spec = (
        {"align": "right", "baseline": "bottom", "dy": -3, "x": "width"}
        if along == "y"
        else {"align": "left", "baseline": "top", "dx": 4, "y": 2}
    )
    return [
        _layer("rule", {"strokeDash": [6, 4], "strokeWidth": 1.5}, encoding, EVERYWHERE),
        _layer("text", place, name, EVERYWHERE),
    ]


def _point(points: Sequence[Point]) -> Spec:
    crowded = len(points) > CROWDED * len(_series(points))
    return {"filled": True, "size": 8 if crowded else 55}


def _layer(mark: str, how: Spec, encoding: Spec, drawn: str) -> Spec:
    return {
        "transform": [{"filter": drawn}],
        "mark": {"type": mark, **how},
        "encoding": encoding,
    }


def _x_axis(points: Sequence[Point], labels: Labels, scales: Scales) -> Spec:
    values = sorted({point.x for point in points if isinstance(point.x, int | float)})
    axis: Spec = {"labelOverlap": "greedy", "grid": False}
    if len(values) <= TICKS_MOST:
        axis["values"] = values
    if labels.x_is_size:
        axis["labelExpr"] = BYTES
    elif all(isinstance(value, int) for value in values):
        axis["format"] = ",d"
    scale = {"type": "log", "base": 2} if scales.log_x else {}
    return {"axis": axis, "scale": scale | {"nice": False, "padding": 10}}


def _value_axis(points: Sequence[Point], *, log: bool) -> Spec:
    if not log:
        return {"scale": {"zero": True}, "axis": {"tickCount": 6}}
    ends = [end for each in points for end in (each.low, each.y, each.high) if end is not None]
    marks = _marks(min(ends), max(ends))
    scale = {"type": "log", "domain": [marks[0], marks[-1]], "nice": False, "clamp": True}
    decades = [mark for mark in marks if math.log10(mark).is_integer()]
    shown = marks if len(marks) <= TICKS_MOST else decades
    return {
        "scale": scale,
        "axis": {"values": shown, "format": ",~g" if marks[-1] < WIDE else "~s"},
    }


def _marks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten that enclose two values; all nine where these are few."""
    coarse = _marks_of((1, 2, 5), low, high)
    return coarse if len(coarse) >= TICKS_LEAST else _marks_of(range(1, 10), low, high)


def _marks_of(factors: Iterable[int], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 2)
    steps = tuple(factors)
    marks = [factor * 10.0**power for power in powers for factor in steps]
    first = max(mark for mark in marks if mark <= low)
    last = min(mark for mark in marks if mark >= high and mark > first)
    return [mark for mark in marks if first <= mark <= last]


def _colour(labels: Labels, inks: Mapping[str, str]) -> Spec:
    legend: Spec | None = {
        "title": labels.series or None,
        "orient": "bottom",
        "columns": 2 if max(map(len, inks)) <= LEGEND_NARROW else 1,
        "labelLimit": 260,
        "symbolType": "circle",
        "symbolSize": 90,
    }
    if not labels.series and len(inks) == 1:
        legend = None
    scale = {"domain": list(inks), "range": list(inks.values())}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _tooltip(labels: Labels) -> list[Spec]:
    return [
        {"field": "series", "title": labels.series or "series"},
        {"field": "at", "title": labels.x},
        {"field": "value", "title": labels.y},
        {"field": "interval", "title": "95 % interval"},
        {"field": "origin", "title": "origin"},
    ]


def _data(points: Sequence[Point], labels: Labels) -> list[Spec]:
    lanes = _lanes(points)
    return [_datum(point, lanes[point.x][point.series], labels) for point in points]


def _datum(point: Point, lane: int, labels: Labels) -> Spec:
    known = point.low is not None and point.high is not None
    interval = f"[{shown(point.low)}..{shown(point.high)}]" if known else "not known"
    return {
        "x": point.x if _is_number(point.x) or point.x is None else str(point.x),
        "y": point.y,
        "low": point.low,
        "high": point.high,
        "series": point.series,
        "lane": lane,
        "at": _place(point.x, labels),
        "value": shown(point.y),
        "interval": interval,
        "origin": "measured here" if point.origin is Origin.MEASURED else point.origin.value,
    }


def _described(series: str, own: Sequence[Point], labels: Labels) -> str:
    least, most = min(own, key=lambda point: point.y), max(own, key=lambda point: point.y)
    name = series.replace(LEGEND_PART, " ") or "values"
    if least is most:
        return f"{name}: {shown(most.y)} at {_place(most.x, labels)}"
    return (
        f"{name}: from {shown(least.y)} at {_place(least.x, labels)} "
        f"to {shown(most.y)} at {_place(most.x, labels)}"
    )


def _place(x: Value | None, labels: Labels) -> str:
    if x is None:
        return "every place"
    if labels.x_is_size and isinstance(x, int | float):
        return format_bytes(x)
    return f"{x:,}" if isinstance(x, int) else str(x)


def _inks(points: Sequence[Point], colours: Mapping[str, str]) -> dict[str, str]:
    """The colour of each series that is drawn, published ones last."""
    printed = dict.fromkeys(each.series for each in points if each.origin is Origin.PUBLISHED)
    others = [name for name in _series(points) if name not in printed]
    greys = dict(zip(printed, cycle(GREYS), strict=False))
    return {name: colours[name] for name in others} | greys


def _series(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.series for point in points))


def _is_numeric(points: Sequence[Point]) -> bool:
    return all(_is_number(point.x) for point in points if point.x is not None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _rows_high_px(points: Sequence[Point]) -> int:
    names = len({point.x for point in points if point.x is not None})
    return max(ROWS_HIGH_LEAST_PX, names * (ROW_PX * _lane_count(points) + ROW_GAP_PX))


def _lane_count(points: Sequence[Point]) -> int:
    return max(map(len, _lanes(points).values()))


def _lanes(points: Sequence[Point]) -> Mapping[Value | None, Mapping[str, int]]:
    """In which lane of its row each series stands: those of one row stand below each other."""
    rows: dict[Value | None, dict[str, int]] = {}
    for point in points:
        row = rows.setdefault(point.x, {})
        row.setdefault(point.series, len(row))
    return rows


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
"""Of Vega-Lite, as vl-convert carries it: what figures are drawn with, here and on the page."""

# Okabe and Ito's, without the yellow and the black, which vanish on a light and on a dark page.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d")
# Of the way to white.
FAINTEST = 0.65
GREYS = ("#7d8794", "#a2abb6", "#626c79", "#bcc3cb")

BYTES = (
    "datum.value >= 1048576 ? format(datum.value / 1048576, ',~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, ',~r') + ' KiB' : "
    "format(datum.value, ',~r') + ' B'"
)
PLACED, BETWEEN = "isValid(datum.x)", "isValid(datum.x) && isValid(datum.low)"
EVERYWHERE = "!isValid(datum.x)"
CLICKS = [
    {
        "name": "chosen",
        "select": {"type": "point", "fields": ["series"], "toggle": "true"},
        "bind": "legend",
    }
]
FADING = {"opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.12}}
DASHED = {
    "strokeDash": {
        "condition": [
            {"test": "datum.origin == 'published'", "value": [4, 3]},
            {"test": "datum.origin == 'projected'", "value": [8, 4]},
        ],
        "value": [1, 0],
    }
}
# A second sign of origin beside the colour.
SHAPED = {
    "shape": {
        "condition": [
            {"test": "datum.origin == 'published'", "value": "diamond"},
            {"test": "datum.origin == 'projected'", "value": "square"},
        ],
        "value": "circle",
    }
}
# Points on a line, from which on they are dots on it.
CROWDED = 25
ROW_AXIS = {"labelLimit": 220, "grid": False}
TICKS_MOST, TICKS_LEAST = 10, 4
LEGEND_NARROW = 20
AXIS_PX, LEGEND_ROW_PX = 44, 17
# Where a legend splits its labels, what stands behind it is another line.
LEGEND_PART = "\n"
WIDE = 1_000_000
LINES_HIGH_PX = 300
ROW_PX, ROW_GAP_PX, ROWS_HIGH_LEAST_PX = 13, 12, 60
FONT = "system-ui, sans-serif"
CONFIG = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": "#dfe4ea",
        "domainColor": "#9aa5b1",
        "tickColor": "#9aa5b1",
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
}
