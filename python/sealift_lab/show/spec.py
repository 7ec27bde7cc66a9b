"""Vega-Lite specifications: what the panels of a chart share, and the layers of each.

Text and grid have the colour of the text around them, so that one drawing serves light, dark and
print.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt

from sealift_lab.model.experiment import Chart
from sealift_lab.model.results import Estimate, Origin
from sealift_lab.model.units import format_ns, scale_of
from sealift_lab.model.values import Value


@dataclass(frozen=True)
class Point:
    """A figure at its place in a chart.

    Attributes:
        x: The value of the axis along the chart; None for a line across.
        label: That value for readers.
        series: The line that it belongs to, in words.
        panel: The small chart that it stands in, in words; "" where there is one.
        figure: In the unit of the chart.
        origin: PUBLISHED and PROJECTED lines are broken.
    """

    x: Value | None
    label: str
    series: str
    panel: str
    figure: Estimate
    origin: Origin = Origin.MEASURED


@dataclass(frozen=True)
class Scales:
    """What the panels of a chart share: places, scales and colours."""

    chart: Chart
    every: Sequence[Point]
    colours: Mapping[str, str]
    broken: Mapping[str, bool]
    wide: int
    has_legend: bool

    def spec(self, points: Sequence[Point]) -> alt.LayerChart:
        """The specification of one panel: lines along numbers, else dots beside names."""
        places = {point.x for point in self.every if point.x is not None}
        is_line = len(places) >= LINE_MIN and not any(isinstance(x, str) for x in places)
        return self._lines(points) if is_line else self._dots(points)

    def _lines(self, points: Sequence[Point]) -> alt.LayerChart:
        labels = {p.x: p.label for p in self.every if isinstance(p.x, int | float)}
        at = sorted(labels)
        is_log = self.chart.log_x and at[0] > 0
        scale = alt.Scale(type="log", base=2) if is_log else alt.Scale(nice=False, zero=False)
        axis = alt.Axis(
            values=at,
            labelExpr=_labels({x: labels[x] for x in at}),
            grid=False,
            labelOverlap="greedy",
            labelSeparation=6,
        )
        y, y_axis = self._figures()
        across = [replace(p, x=x) for p in points if p.x is None for x in (at[0], at[-1])]
        data = _data([*(p for p in points if p.x is not None), *across])
        base = alt.Chart(data).encode(
            alt.X("x:Q", title=None, scale=scale, axis=axis), self._colour()
        )
        band = base.mark_area(opacity=0.2).encode(
            alt.Y("low:Q", title=None, scale=y, axis=y_axis), alt.Y2("high")
        )
        line = base.mark_line().encode(y="y:Q", strokeDash=self._dash())
        dots = base.transform_filter("!datum.across").mark_point(filled=True, size=28, opacity=1)
        whisker = base.mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high")
        return self._shaped(*self._margin("y"), band, line, whisker, dots.encode(y="y:Q"))

    def _dots(self, points: Sequence[Point]) -> alt.LayerChart:
        labels = list(dict.fromkeys(p.label for p in self.every if p.x is not None))
        across, axis = self._figures()
        data = _data([p for p in points if p.x is not None])
        names = list(self.colours)
        slots = alt.Axis(labelExpr="split(datum.label, ', ')", labelLimit=190)
        base = alt.Chart(data).encode(
            alt.Y("label:N", title=None, sort=None, axis=slots, scale=alt.Scale(domain=labels)),
            self._colour(),
            alt.YOffset("series:N", scale=alt.Scale(domain=names)),
        )
        whisker = base.mark_rule(strokeWidth=2).encode(
            alt.X("low:Q", title=None, scale=across, axis=axis), alt.X2("high")
        )
        dot = base.mark_point(filled=True, size=56, opacity=1).encode(x="y:Q")
        rules = _data([p for p in points if p.x is None])
        rule = (
            alt.Chart(rules)
            .mark_rule(strokeWidth=2)
            .encode(self._colour(), x="y:Q", strokeDash=self._dash())
        )
        lines = 1 + max(label.count(", ") for label in labels)
        high = len(labels) * max(15 * lines + 6, 13 * len(names) + 8)
        layers = [*self._margin("x"), whisker, dot, *([rule] if rules.values else [])]
        return self._shaped(*layers, height=high)

    def _figures(self) -> tuple[alt.Scale, alt.Axis]:
        """Scale and axis of the figures."""
        text = MARKS.get(self.chart.y, _number_text)
        ends = [end for p in self.every for end in _ends(p.figure)]
        low, high = min(ends), max(ends)
        if not (self.chart.log_y and low > 0):
            axis = alt.Axis(tickCount=6, labelExpr="format(datum.value, ',')")
            return alt.Scale(zero=self.chart.y != "ratio"), axis
        marks = _marks(min(low, 0.9) if self.chart.y == "ratio" else low, high)
        scale = alt.Scale(type="log", domain=[marks[0], marks[-1]], nice=False)
        return scale, alt.Axis(values=marks, labelExpr=_labels({x: text(x) for x in marks}))

    def _margin(self, channel: str) -> list[alt.Chart]:
        """The band of 2.5 % to either side of one: no difference."""
        if self.chart.y != "ratio":
            return []
        band = alt.Chart(alt.InlineData(values=[{"low": 1 / 1.025, "high": 1.025}]))
        ends = {channel: f"{'low'}:Q", f"{channel}2": "high"}
        return [band.mark_rect(color=GREY, opacity=0.45).encode(**ends)]

    def _colour(self) -> alt.Color:
        scale = alt.Scale(domain=[*self.colours], range=[*self.colours.values()])
        columns = 4 if max(map(len, self.colours)) < 14 else 2
        legend = alt.Legend(orient="top", title=None, columns=columns, symbolOpacity=1)
        return alt.Color("series:N", scale=scale, legend=legend if self.has_legend else None)

    def _dash(self) -> alt.StrokeDash:
        dashes = [[5, 4] if is_broken else [1, 0] for is_broken in self.broken.values()]
        scale = alt.Scale(domain=[*self.broken], range=dashes)
        return alt.StrokeDash("series:N", scale=scale, legend=None)

    def _shaped(self, *layers: alt.Chart, height: int = 0) -> alt.LayerChart:
        axis = {"gridColor": "currentColor", "gridOpacity": 0.15, "domain": False}
        axis |= {"ticks": False, "labelPadding": 6}
        chart: alt.LayerChart = (
            alt.layer(*layers)
            .properties(
                width=self.wide,
                height=height or round(self.wide * ASPECT),
                background="transparent",
            )
            .configure(font=FONT, view={"stroke": None}, legend=INK, axis=INK | axis)
        )
        return chart


def _data(points: Sequence[Point]) -> alt.InlineData:
    values = []
    for point in points:
        low, high = _ends(point.figure)
        each = {
            "x": point.x,
            "label": point.label,
            "series": point.series,
            "across": not point.label,
        }
        values.append(each | {"y": point.figure.value, "low": low, "high": high})
    return alt.InlineData(values=values)


def _ends(figure: Estimate) -> tuple[float, float]:
    low, high = figure.low, figure.high
    return (figure.value if low is None else low, figure.value if high is None else high)


def _marks(low: float, high: float) -> list[float]:
    """At most eight round marks on a logarithmic scale, from below the least to above the most."""
    marks: list[float] = []
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        marks = [float(f"{step}e{ten}") for ten in range(-9, 16) for step in steps]
        first = max(at for at, mark in enumerate(marks) if mark <= low)
        marks = marks[first : 1 + next(at for at, mark in enumerate(marks) if mark >= high)]
        if len(marks) <= MARKS_MOST:
            break
    return marks


def _number_text(value: float) -> str:
    """`0.5`, `20,000`, `5 M`."""
    step, prefix = scale_of(value) if value >= 1e6 else (1, "")
    return f"{value / step:,.6g} {prefix}".rstrip()


def _labels(texts: Mapping[int | float, str]) -> str:
    """A Vega expression that knows the label of each mark."""
    labels = ",".join(f"'{value:.12g}':{json.dumps(text)}" for value, text in texts.items())
    return f"{{{labels}}}[format(datum.value, '.12~g')] || ''"


MARKS: Mapping[str, Callable[[float], str]] = {
    "ratio": "{:g}×".format,
    "time": lambda ns: re.sub(r"\.0+ ", " ", format_ns(ns)),
}
FONT = "system-ui, DejaVu Sans, sans-serif"
INK = {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12}
# Fewer numbers make no line.
LINE_MIN = 3
MARKS_MOST = 8
ASPECT = 0.5
GREY = "#8d99a3"
