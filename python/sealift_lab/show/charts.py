"""Charts as SVG from an experiment's declarations: lines or dots, each with its interval."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt
import vl_convert

from sealift_lab.claim.evaluate import fact
from sealift_lab.claim.words import axis_title, name_of, tick_text, value_text
from sealift_lab.model.experiment import Chart, Line
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Estimate, Origin, Results, Row
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import rate_unit
from sealift_lab.model.values import Value, fits
from sealift_lab.show.spec import GREY, Point, Scales


@dataclass(frozen=True)
class Panel:
    """A small chart: its title, "" where there is one only, and its drawing."""

    title: str
    svg: str


@dataclass(frozen=True)
class Drawing:
    """A chart, drawn.

    Attributes:
        title: What it shows.
        unit: Of its figures, in words.
        series: Name, colour and whether the line is broken, for a legend.
        panels: One at least.
    """

    title: str
    unit: str
    series: Sequence[tuple[str, str, bool]]
    panels: Sequence[Panel]


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

    Args:
        planned: Names of axes and values.
        results: What was found of it.
        chart: What is drawn along what.
        lines: What is drawn beside it.
        printed: Published figures; those that name a series are drawn, too.
        has_legend: Whether each panel explains its colours itself, as a file of its own does.
    """
    found = list(points(planned, results, chart))
    if not found:
        return None
    if len({point.x for point in found}) == 1:
        chart = _collapsed(chart, found[0].x)
        found = list(points(planned, results, chart))
    every_line = [*lines, *_printed(printed, chart)]
    beside = list(_beside(planned, chart, every_line, {point.panel for point in found}))
    every = [*found, *beside]
    colours = _colours(planned, chart, every)
    broken = {point.series: point.origin in BROKEN for point in every}
    unit = f"{unit_of(planned, chart)} by {axis_title(planned, chart.x)}"
    where = (value_text(*each, planned) for each in chart.where.items())
    heading = ", ".join([chart.title, *(text for text in where if text not in chart.title)])
    panels = []
    titles = dict.fromkeys(point.panel for point in found)
    wide = WIDE_PX[min(len(titles), len(WIDE_PX)) - 1]
    for title in titles:
        scale = Scales(chart, every, colours, broken, wide, has_legend=has_legend)
        spec = scale.spec([point for point in every if point.panel == title])
        prefix = re.sub(r"\W+", "-", f"{planned.name}-{heading}-{chart.y}-{title}").lower()
        label = ", ".join(filter(None, (heading, title)))
        panels.append(Panel(title, _svg(spec, prefix, f"{label}: {unit}")))
    series = [(name, colours[name], broken[name]) for name in colours]
    return Drawing(heading, unit, series, panels)


def picture(
    planned: PlannedExperiment, results: Results, chart: Chart, lines: Sequence[Line] = ()
) -> str:
    """The first panel of a chart as a file of its own, for light and dark pages.

    Raises:
        ValueError: If nothing is there to be drawn.
    """
    drawing = draw(planned, results, chart, lines, has_legend=True)
    if drawing is None:
        raise ValueError(f"{planned.name}: nothing of the chart {chart.title!r} was measured")
    head, _, rest = drawing.panels[0].svg.partition(">")
    return f"{head}><style>{INKS}</style>{rest}"


def points(planned: PlannedExperiment, results: Results, chart: Chart) -> Iterator[Point]:
    """The figures of a chart; what was computed wrong is left out.

    Where several cells share a place, the first one stands there: plans begin with the most wanted.
    """
    places: set[tuple[Value, ...]] = set()
    for cell, figure in _figures(results, chart):
        names = [chart.x, chart.series, *filter(None, [chart.panels])]
        place = tuple(cell[name] for name in names)
        if figure is None or not fits(cell, chart.where) or place in places:
            continue
        places.add(place)
        x = cell[chart.x]
        yield Point(
            x,
            tick_text(chart.x, x, planned.names),
            value_text(chart.series, cell[chart.series], planned) or str(cell[chart.series]),
            value_text(chart.panels, cell[chart.panels], planned) if chart.panels else "",
            figure,
        )


def _figures(
    results: Results, chart: Chart
) -> Iterator[tuple[Mapping[str, Value], Estimate | None]]:
    if chart.y in ROW_FIGURES:
        for row in results.rows:
            yield row.cell, None if row.wrong else ROW_FIGURES[chart.y](row)
        return
    for report in results.reports:
        figure = fact(report, chart.y)
        yield report.cell, None if isinstance(figure, str) else figure


def _collapsed(chart: Chart, x: Value | None) -> Chart:
    """A chart along what else varies: a single place needs no axis."""
    where = chart.where if x is None else {**chart.where, chart.x: x}
    return replace(chart, x=chart.panels or chart.series, panels="", where=where)


def _beside(
    planned: PlannedExperiment, chart: Chart, lines: Sequence[Line], panels: set[str]
) -> Iterator[Point]:
    """Published, projected and fitted figures, in each panel that they belong to."""
    for line in lines:
        rest = {
            name: value for name, value in line.at.items() if name not in (chart.x, chart.panels)
        }
        is_elsewhere = any(chart.where.get(name, value) != value for name, value in rest.items())
        if line.y != chart.y or is_elsewhere:
            continue
        x = line.at.get(chart.x)
        label = "" if x is None else tick_text(chart.x, x, planned.names)
        own = line.at.get(chart.panels)
        panel = None if own is None else value_text(chart.panels, own, planned)
        is_told = line.origin in line.series
        series = line.series if is_told else f"{line.series} ({line.origin})"
        for each in panels if panel is None else panels & {panel}:
            yield Point(x, label, series, each, Estimate(line.value), line.origin)


def _printed(printed: Sequence[Published], chart: Chart) -> Iterator[Line]:
    """The published figures whose unit is the chart's."""
    for each in printed:
        y, factor = UNITS.get(each.unit, (each.unit, 1.0))
        if each.series and each.kind in DRAWN and chart.y in (y, each.unit):
            value = each.value * (factor if chart.y == y else 1)
            yield Line(each.series, chart.y, value, Origin.PUBLISHED, each.at)


def _colours(planned: PlannedExperiment, chart: Chart, every: Sequence[Point]) -> Mapping[str, str]:
    """A colour a series, the same in all panels: grey for the reference of the first group."""
    names = dict.fromkeys(point.series for point in every)
    first = planned.groups[0][0][planned.compare]
    grey = name_of(first, planned.names) if chart.series == planned.compare else ""
    inks = iter(COLOURS * (1 + len(names) // len(COLOURS)))
    return {name: GREY if name == grey else next(inks) for name in names}


def unit_of(planned: PlannedExperiment, chart: Chart) -> str:
    """The unit of a chart's figures, in words: `MB/s`, `times as fast as AWS-LC`."""
    if chart.y == "ratio":
        first = planned.groups[0][0][planned.compare]
        return f"times as fast as {name_of(first, planned.names)}"
    units = {
        "operations/s": rate_unit(planned.operation),
        "time": f"time of a {planned.operation}",
    }
    return units.get(chart.y, planned.columns.get(chart.y, chart.y))


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
COLOURS = ["#0b6bb5", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d"]
# Of the only panel, of one of two, of one of more.
WIDE_PX = (480, 400, 240)
# How much wider than drawn a panel may be shown.
STRETCH = 1.15
INKS = "svg{color:#14202b}@media(prefers-color-scheme:dark){svg{color:#e8edf2}}"
