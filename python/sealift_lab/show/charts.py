"""Charts as SVG from an experiment's declarations: lines or dots, each with its interval.

Text and grid have the colour of the text around them, so that one drawing serves light, dark and
print.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt
import vl_convert

from sealift_lab.claim.answer import distance
from sealift_lab.claim.replication import fact
from sealift_lab.claim.words import axis_title, name_of, tick_text, value_text
from sealift_lab.model.arm import Cell, Value, fits
from sealift_lab.model.experiment import Chart, Line
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Estimate, Origin, Results, Row
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_ns, rate_unit, scale_of


@dataclass(frozen=True)
class Point:
    """A figure at its place in a chart; `x` is None for a line across, texts are for readers."""

    x: Value | None
    label: str
    series: str
    panel: str
    figure: Estimate
    origin: Origin = Origin.MEASURED

    @property
    def ends(self) -> tuple[float, float]:
        """Of its interval; the figure where it has none."""
        value, low, high = self.figure.value, self.figure.low, self.figure.high
        return (value if low is None else low, value if high is None else high)


@dataclass(frozen=True)
class Drawing:
    """A chart: SVG by the title of each panel, and colours of a legend, with what is broken."""

    title: str
    unit: str
    series: Mapping[str, tuple[str, bool]]
    panels: Mapping[str, str]


def draw(
    planned: PlannedExperiment,
    results: Results,
    chart: Chart,
    lines: Sequence[Line] = (),
    printed: Sequence[Published] = (),
    *,
    has_legend: bool = False,
) -> Drawing | None:
    """Draws a chart of one experiment; None where nothing is there to be drawn.

    Beside it stand lines, and published figures that name a series. With `has_legend` each panel
    explains its colours itself, as a file of its own does.
    """
    found = [*points(planned, results, chart)]
    places = {point.x for point in found if point.x is not None}
    if not found:
        return None
    if len(places) == 1:
        # A single place needs no axis: the chart goes along what else varies.
        where = {**chart.where, chart.x: places.pop()}
        chart = replace(chart, x=chart.panels or chart.series, panels="", where=where)
        found = [*points(planned, results, chart)]
    titles = dict.fromkeys(point.panel for point in found)
    beside = _beside(planned, chart, [*lines, *_printed(printed, chart)], {*titles})
    every = [*found, *beside]
    series = _series(planned, chart, every)
    unit = f"{unit_of(planned, chart)} by {axis_title(planned, chart.x)}"
    where_texts = (value_text(*each, planned) for each in chart.where.items())
    heading = ", ".join([chart.title, *(text for text in where_texts if text not in chart.title)])
    width = WIDE_PX[min(len(titles), len(WIDE_PX)) - 1]
    panels = {}
    for title in titles:
        spec = _Scales(chart, every, series, width, has_legend=has_legend)
        prefix = re.sub(r"\W+", "-", f"{planned.name}-{heading}-{chart.y}-{title}").lower()
        label = ", ".join(filter(None, (heading, title)))
        drawn = spec.panel([point for point in every if point.panel == title])
        panels[title] = _svg(drawn, prefix, f"{label}: {unit}")
    return Drawing(heading, unit, series, panels)


def picture(planned: PlannedExperiment, results: Results, chart: Chart) -> str:
    """The first panel of a chart as a file of its own, for light and dark pages."""
    drawing = draw(planned, results, chart, has_legend=True)
    if drawing is None:
        raise ValueError(f"{planned.name}: nothing of the chart {chart.title!r} was measured")
    head, _, rest = next(iter(drawing.panels.values())).partition(">")
    return f"{head}><style>{INKS}</style>{rest}"


def points(planned: PlannedExperiment, results: Results, chart: Chart) -> Iterator[Point]:
    """The figures of a chart; what was computed wrong is left out.

    Where several cells share a place, the one stands there that is nearest to the work that the
    experiment prefers, and of equally near ones the first: plans begin with the most wanted.
    """
    axes = [chart.x, chart.series, *filter(None, [chart.panels])]
    nearest: dict[tuple[Value, ...], tuple[tuple[int, float], Cell, Estimate]] = {}
    for cell, figure in _figures(results, chart):
        if isinstance(figure, Estimate) and fits(cell, chart.where):
            place = tuple(cell[name] for name in axes)
            far = distance(cell, planned.preferred)
            if place not in nearest or far < nearest[place][0]:
                nearest[place] = far, cell, figure
    for _, cell, figure in nearest.values():
        yield Point(
            cell[chart.x],
            tick_text(chart.x, cell[chart.x], planned.names),
            value_text(chart.series, cell[chart.series], planned) or str(cell[chart.series]),
            value_text(chart.panels, cell[chart.panels], planned) if chart.panels else "",
            figure,
        )


def unit_of(planned: PlannedExperiment, chart: Chart) -> str:
    """The unit of a chart's figures, in words: `MB/s`, `times as fast as AWS-LC`."""
    if chart.y == "ratio":
        first = planned.groups[0][0][planned.compare]
        return f"times as fast as {name_of(first, planned.names)}"
    units = {
        "operations/s": rate_unit(planned.operation),
        "time": f"time per {planned.operation}",
    }
    return units.get(chart.y, planned.columns.get(chart.y, chart.y))


def _figures(results: Results, chart: Chart) -> list[tuple[Cell, Estimate | str | None]]:
    if of := ROW_FIGURES.get(chart.y):
        return [(row.cell, of(row)) for row in results.rows if not row.wrong]
    return [(report.cell, fact(report, chart.y)) for report in results.reports]


def _beside(
    planned: PlannedExperiment, chart: Chart, lines: Sequence[Line], panels: set[str]
) -> Iterator[Point]:
    """Published, projected and fitted figures, in each panel that they belong to."""
    for line in lines:
        rest = line.at.keys() - {chart.x, chart.panels}
        is_elsewhere = any(chart.where.get(name, line.at[name]) != line.at[name] for name in rest)
        if line.y != chart.y or is_elsewhere:
            continue
        x, own = line.at.get(chart.x), line.at.get(chart.panels)
        label = "" if x is None else tick_text(chart.x, x, planned.names)
        has_origin = line.origin in line.series
        series = line.series if has_origin else f"{line.series} ({line.origin})"
        for each in panels if own is None else panels & {value_text(chart.panels, own, planned)}:
            yield Point(x, label, series, each, Estimate(line.value), line.origin)


def _printed(printed: Sequence[Published], chart: Chart) -> Iterator[Line]:
    """The published figures whose unit is the chart's."""
    for each in printed:
        y, factor = UNITS.get(each.unit, (each.unit, 1.0))
        if each.series and each.kind in DRAWN and chart.y in (y, each.unit):
            value = each.value * (factor if chart.y == y else 1)
            yield Line(each.series, chart.y, value, Origin.PUBLISHED, each.at)


def _series(
    planned: PlannedExperiment, chart: Chart, every: Sequence[Point]
) -> Mapping[str, tuple[str, bool]]:
    """Colour and dash of a series, the same in all panels: grey for the reference."""
    broken = {point.series: point.origin in BROKEN for point in every}
    first = planned.groups[0][0][planned.compare]
    grey = name_of(first, planned.names) if chart.series == planned.compare else ""
    inks = iter(COLOURS * (1 + len(broken) // len(COLOURS)))
    return {n: (GREY if n == grey else next(inks), is_broken) for n, is_broken in broken.items()}


@dataclass(frozen=True)
class _Scales:
    """What the panels of a chart share: places, scales and colours."""

    chart: Chart
    every: Sequence[Point]
    series: Mapping[str, tuple[str, bool]]
    width: int
    has_legend: bool

    def panel(self, points: Sequence[Point]) -> alt.LayerChart:
        """The Vega-Lite specification of a panel: lines along numbers, else dots beside names."""
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
        x = alt.X("x:Q", title=None, scale=scale, axis=axis)
        base = alt.Chart(data).encode(x, self._colour())
        band = base.mark_area(opacity=0.2).encode(
            alt.Y("low:Q", title=None, scale=y, axis=y_axis), alt.Y2("high")
        )
        line = base.mark_line().encode(y="y:Q", strokeDash=self._dash())
        dots = base.transform_filter("!datum.across").mark_point(filled=True, size=28, opacity=1)
        whisker = base.mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high")
        height = round(self.width * ASPECT)
        return self._layered(height, *self._margin("y"), band, line, whisker, dots.encode(y="y:Q"))

    def _dots(self, points: Sequence[Point]) -> alt.LayerChart:
        labels = list(dict.fromkeys(p.label for p in self.every if p.x is not None))
        across, axis = self._figures()
        slots = alt.Axis(labelExpr="split(datum.label, ', ')", labelLimit=190)
        base = alt.Chart(_data([p for p in points if p.x is not None])).encode(
            alt.Y("label:N", title=None, sort=None, axis=slots, scale=alt.Scale(domain=labels)),
            self._colour(),
        )
        pairs = {(p.label, p.series) for p in self.every if p.x is not None}
        # Where each name has one series, or is one, nothing has to stand below another.
        offsets = len(self.series) if len(pairs) > len(labels) else 1
        if offsets > 1:
            below = alt.Scale(domain=[*self.series])
            base = base.encode(alt.YOffset("series:N", scale=below))
        whisker = base.mark_rule(strokeWidth=2).encode(
            alt.X("low:Q", title=None, scale=across, axis=axis), alt.X2("high")
        )
        layers = [whisker, base.mark_point(filled=True, size=56, opacity=1).encode(x="y:Q")]
        if rules := [p for p in points if p.x is None]:
            rule = alt.Chart(_data(rules)).mark_rule(strokeWidth=2)
            layers.append(rule.encode(self._colour(), x="y:Q", strokeDash=self._dash()))
        lines = 1 + max(label.count(", ") for label in labels)
        height = len(labels) * max(15 * lines + 6, 13 * offsets + 8)
        return self._layered(height, *self._margin("x"), *layers)

    def _figures(self) -> tuple[alt.Scale, alt.Axis]:
        """Scale and axis of the figures."""
        text = MARKS.get(self.chart.y, _number_text)
        ends = [end for point in self.every for end in point.ends]
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
        ends = {channel: "low:Q", f"{channel}2": "high"}
        return [band.mark_rect(color=GREY, opacity=0.45).encode(**ends)]

    def _colour(self) -> alt.Color:
        colours = [colour for colour, _ in self.series.values()]
        scale = alt.Scale(domain=[*self.series], range=colours)
        columns = 4 if max(map(len, self.series)) < 14 else 2
        legend = alt.Legend(orient="top", title=None, columns=columns, symbolOpacity=1)
        return alt.Color("series:N", scale=scale, legend=legend if self.has_legend else None)

    def _dash(self) -> alt.StrokeDash:
        dashes = [[5, 4] if is_broken else [1, 0] for _, is_broken in self.series.values()]
        scale = alt.Scale(domain=[*self.series], range=dashes)
        return alt.StrokeDash("series:N", scale=scale, legend=None)

    def _layered(self, height: int, *layers: alt.Chart) -> alt.LayerChart:
        axis = {"gridColor": "currentColor", "gridOpacity": 0.15, "domain": False}
        axis |= {"ticks": False, "labelPadding": 6}
        size = {"width": self.width, "height": height}
        chart: alt.LayerChart = (
            alt.layer(*layers)
            .properties(**size, background="transparent")
            .configure(font=FONT, view={"stroke": None}, legend=INK, axis=INK | axis)
        )
        return chart


def _data(points: Sequence[Point]) -> alt.InlineData:
    values = []
    for point in points:
        low, high = point.ends
        place = {"x": point.x, "label": point.label, "across": not point.label}
        figure = {"series": point.series, "y": point.figure.value, "low": low, "high": high}
        values.append(place | figure)
    return alt.InlineData(values=values)


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


def _svg(chart: alt.LayerChart, prefix: str, label: str) -> str:
    """The drawing, as wide as its place. Ids are its own: clip paths of several are found by id."""
    svg = vl_convert.vegalite_to_svg(chart.to_dict(validate=False))
    svg = re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r"([0-9]\.[0-9]{2})[0-9]+", r"\1", svg)
    svg = re.sub(r'(id="|url\(#)', rf"\1{prefix}-", svg)
    label = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    width = re.search(r'width="([0-9.]+)', svg)
    most = f"{STRETCH * float(width[1]):.0f}px" if width else "100%"
    head = f'<svg role="img" aria-label="{label}" style="width:100%;height:auto;max-width:{most}" '
    return head + svg.removeprefix("<svg ")


ROW_FIGURES: Mapping[str, Callable[[Row], Estimate | None]] = {
    "ratio": lambda row: row.ratio,
    "MB/s": lambda row: row.payload_mb_per_s,
    "operations/s": lambda row: row.operations_per_s,
    "time": lambda row: row.time,
}
# Kinds of published figures that have a value in the unit of a chart.
DRAWN = (Kind.VALUE, Kind.NUMBER, Kind.POINT, Kind.GIVEN)
# By the unit of print what a chart draws, and how many of its units one is.
UNITS = {
    "ns": ("time", 1.0),
    "Mbit/s": ("MB/s", 1 / 8),
    "messages/s": ("operations/s", 1.0),
    "x": ("ratio", 1.0),
}
BROKEN = (Origin.PUBLISHED, Origin.PROJECTED, Origin.SIMULATED)
MARKS: Mapping[str, Callable[[float], str]] = {
    "ratio": "{:g}×".format,
    "time": lambda ns: re.sub(r"\.0+ ", " ", format_ns(ns)),
}
COLOURS = [
    *("#0b6bb5", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d"),
    "#6b8e23",
]
GREY = "#8d99a3"
FONT = "system-ui, DejaVu Sans, sans-serif"
INK = {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12}
INKS = "svg{color:#14202b}@media(prefers-color-scheme:dark){svg{color:#e8edf2}}"
# Of the only panel, of one of two, of one of more.
WIDE_PX = (480, 400, 240)
# How much wider than drawn a panel may be shown.
STRETCH = 1.15
ASPECT = 0.5
# Fewer numbers make no line.
LINE_MIN = 3
MARKS_MOST = 8
