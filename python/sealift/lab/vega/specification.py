"""A whole figure as Vega-Lite has it."""

from collections.abc import Mapping, Sequence

from sealift.lab.vega.colours import inks_of
from sealift.lab.vega.data import data_of, rows_high_px
from sealift.lab.vega.figure import LEGEND_PART, Labels, Point, Scales, Spec, is_numeric
from sealift.lab.vega.layers import bars, lines
from sealift.lab.vega.words import describe


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
    numeric = is_numeric(points)
    scales = _possible(points, scales)
    inks = inks_of(points, colours)
    layers = (lines if numeric else bars)(points, labels, scales, inks)
    return {
        "$schema": SCHEMA,
        "description": describe(points, labels),
        "width": "container",
        "height": LINES_HIGH_PX if numeric else rows_high_px(points),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": data_of(points, labels)},
        "layer": layers,
        "config": CONFIG,
    }


def room_px(spec: Spec) -> int:
    """About how high a figure is drawn, its axis and legend included."""
    colour = spec["layer"][0]["encoding"]["color"]
    return int(spec["height"]) + AXIS_PX + _legend_rows(colour) * LEGEND_ROW_PX


def _legend_rows(colour: Spec) -> int:
    legend, names = colour["legend"], colour["scale"]["domain"]
    if legend is None:
        return 0
    split = LEGEND_PART if "labelExpr" in legend else None
    rows = sum(1 + (name.count(split) if split else 0) for name in names)
    return 2 + rows // int(legend["columns"])


def _possible(points: Sequence[Point], scales: Scales) -> Scales:
    """Without the logarithm of what is not above 0."""
    xs = [point.x for point in points if isinstance(point.x, int | float)]
    ys = [end for point in points for end in (point.y, point.low) if end is not None]
    return Scales(log_x=scales.log_x and min(xs, default=1) > 0, log_y=scales.log_y and min(ys) > 0)


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
"""Of Vega-Lite, as vl-convert carries it: what figures are drawn with, here and on the page."""

AXIS_PX, LEGEND_ROW_PX = 44, 17
LINES_HIGH_PX = 300
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
