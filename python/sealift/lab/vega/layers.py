"""What is drawn: lines with their bands where places are numbers, else rows with interval bars."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sealift.lab.result import Origin
from sealift.lab.vega.axes import value_axis, x_axis
from sealift.lab.vega.data import lane_count
from sealift.lab.vega.figure import Labels, Point, Scales, Spec, series_of


def lines(
    points: Sequence[Point], labels: Labels, scales: Scales, inks: Mapping[str, str]
) -> list[Spec]:
    """Lines over numbers, with their bands.

    Args:
        points: What is drawn.
        labels: What is written on it.
        scales: Which axes are logarithmic.
        inks: The colour of each series.
    """
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "title": labels.x,
        **x_axis(points, labels, scales),
    }
    y: Spec = {"field": "y", "type": "quantitative", "title": labels.y}
    y |= value_axis(points, log=scales.log_y)
    shared = {"x": x, "y": y, "color": _colour(labels, inks)}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    tooltip = {"tooltip": _tooltip(labels)}
    shape = {"shape": _shape(points, shared["color"])}
    across = {"y": y, "color": shared["color"]} | tooltip
    layers = [
        _layer("area", {"fillOpacity": 0.16, "strokeOpacity": 0}, shared | ends, BETWEEN),
        _layer("rule", {"strokeWidth": 1.5}, shared | ends | FADING, BETWEEN),
        _layer("line", {"strokeWidth": 2}, shared | DASHED | FADING, PLACED),
        _layer("point", _point(points), shared | shape | FADING | tooltip, PLACED),
        *_across("y", across),
    ]
    return _drawn(layers, points)


def bars(
    points: Sequence[Point], labels: Labels, scales: Scales, inks: Mapping[str, str]
) -> list[Spec]:
    """A row for each name, with interval bars; the arguments are those of `lines`."""
    names = list(dict.fromkeys(str(point.x) for point in points if point.x is not None))
    value: Spec = {"field": "y", "type": "quantitative", "title": labels.y}
    value |= value_axis(points, log=scales.log_y)
    row = {"field": "x", "type": "nominal", "title": labels.x, "sort": names, "axis": ROW_AXIS}
    shared: Spec = {"x": value, "y": row, "color": _colour(labels, inks)}
    if (count := lane_count(points)) > 1:
        lanes = list(range(count))
        shared["yOffset"] = {"field": "lane", "type": "ordinal", "scale": {"domain": lanes}}
    if all(point.series == str(point.x) for point in points):
        shared["color"]["legend"] = None
    ends = {"x": {**value, "field": "low"}, "x2": {"field": "high"}}
    tooltip = {"tooltip": _tooltip(labels)}
    shape = {"shape": _shape(points, shared["color"])}
    across = {"x": value, "color": shared["color"]} | tooltip
    layers = [
        _layer("rule", {"strokeWidth": 3, "strokeCap": "round"}, shared | ends | FADING, BETWEEN),
        _layer("point", _point(points), shared | shape | FADING | tooltip, PLACED),
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
    crowded = len(points) > CROWDED * len(series_of(points))
    return {"filled": True, "size": 8 if crowded else 55}


def _layer(mark: str, how: Spec, encoding: Spec, drawn: str) -> Spec:
    return {
        "transform": [{"filter": drawn}],
        "mark": {"type": mark, **how},
        "encoding": encoding,
    }


def _colour(labels: Labels, inks: Mapping[str, str]) -> Spec:
    legend: Spec | None = {
        "title": labels.series or None,
        "orient": "bottom",
        "columns": 2 if max(map(len, inks)) <= LEGEND_NARROW else 1,
        "labelLimit": 260,
        "symbolSize": 90,
    }
    if not labels.series and len(inks) == 1:
        legend = None
    scale = {"domain": list(inks), "range": list(inks.values())}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _shape(points: Sequence[Point], colour: Spec) -> Spec:
    """The marker of each series: no two have one colour and one marker.

    Its legend is that of the colour, so that both are told in one.
    """
    origins = {point.series: point.origin for point in points}
    taken: Counter[tuple[str, Sequence[str]]] = Counter()
    chosen = []
    for name, ink in zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True):
        shapes = SHAPES.get(origins[name], OTHER_SHAPES)
        chosen.append(shapes[taken[ink, shapes] % len(shapes)])
        taken[ink, shapes] += 1
    return {**colour, "scale": {"domain": colour["scale"]["domain"], "range": chosen}}


def _tooltip(labels: Labels) -> list[Spec]:
    return [
        {"field": "series", "title": labels.series or "series"},
        {"field": "at", "title": labels.x},
        {"field": "value", "title": labels.y},
        {"field": "interval", "title": labels.interval},
        {"field": "origin", "title": "origin"},
    ]


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
# A second sign of origin beside the colour; where colours come round again, the next one.
SHAPES = {
    Origin.PUBLISHED: ("diamond", "triangle-right", "triangle-left"),
    Origin.PROJECTED: ("square", "triangle-down", "wedge"),
}
OTHER_SHAPES = ("circle", "triangle-up", "cross")
# Points on a line, from which on they are dots on it.
CROWDED = 25
ROW_AXIS = {"labelLimit": 220, "grid": False}
LEGEND_NARROW = 20
