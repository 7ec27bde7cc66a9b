"""Figures from records: what an experiment plots, any columns one asks for, and files of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from shlex import quote

from sealift.lab import vega
from sealift.lab.embedding import figure_page
from sealift.lab.narrowing import Drawing, narrowing, varied
from sealift.lab.published import Comparison, Kind
from sealift.lab.record import FIGURES, Record
from sealift.lab.result import Origin
from sealift.lab.spec import Line, Plot
from sealift.lab.store import write_file
from sealift.lab.units import keys_text
from sealift.lab.values import Value
from sealift.lab.vega import Chart, Labels, Point, Scales, Spec


@dataclass(frozen=True)
class Figure:
    """A drawing.

    Attributes:
        plot: The columns it shows, its own facet among what it shows only.
        spec: Its Vega-Lite specification.
    """

    plot: Plot
    spec: Spec

    def command(self, run: str, experiment: str) -> str:
        """The command that draws this figure alone.

        Args:
            run: The run's folder.
            experiment: Whose figure it is.
        """
        chosen = {"experiment": experiment, **self.plot.where}
        words = ["sealift", "lab", "plot", run]
        for option in ("x", "y", "z"):
            words += [f"--{option}", getattr(self.plot, option)]
        for name, value in chosen.items():
            words += ["--where", f"{name}={value}"]
        return " ".join(quote(word) for word in [*words, "-o", f"{experiment}.svg"])


def figures(
    plot: Plot,
    records: Sequence[Record],
    titles: Mapping[str, str],
    published: Sequence[Comparison] = (),
    lines: Sequence[Line] = (),
    *,
    points_most: int | None = None,
) -> tuple[Figure, ...]:
    """A plot of an experiment, one figure for each value of its facet.

    Args:
        plot: Which columns.
        records: Rows of that experiment.
        titles: What people call its axes, by name.
        published: What was printed; drawn in grey where the columns and the facet fit.
        lines: What else stands beside the rows, where column and facet fit.
        points_most: About how many rows a figure may draw, evenly of each line; None for all.

    What was computed wrong is not drawn. Where several rows would share a place, the axes that tell
    them apart make lines of their own.

    Returns:
        None of what was not measured.
    """
    split = [_with_facet(plot, value) for value in _facets(plot, records)]
    # One colour a name in all facets.
    devices: dict[str, str] = {}
    for one in split:
        devices |= _devices(_kept(one, records), one)
    colours = _colours(devices | {each.series: each.series for each in lines})
    printed = published[:points_most]
    return tuple(
        Figure(
            one,
            _figure(one, kept, titles, [*_beside(lines, one), *_printed(printed, one)], colours),
        )
        for one in split
        if (kept := _thinned(_kept(one, records), one, points_most))
    )


def columns(
    records: Sequence[Record],
    *,
    x: str,
    y: str,
    z: str = "",
    where: Mapping[str, Value] | None = None,
    title: str = "",
    titles: Mapping[str, str] | None = None,
    more: Sequence[Point] = (),
    lines_most: int | None = None,
) -> Spec:
    """Any columns against each other.

    An axis is logarithmic where its numbers lie far apart.

    Args:
        records: Rows of one or more runs.
        x: Column of the horizontal axis.
        y: Column with numbers.
        z: Column that colours the lines, or "".
        where: Which rows: those whose columns have these values.
        title: What the figure shows; the columns' names when left out.
        titles: What people call the columns; their names where left out.
        more: Points beside those of the rows, with lines of their own.
        lines_most: How many lines it may have; None for any number.

    Raises:
        ValueError: If a column is none, with the nearest ones; if no row is left, or none of them
            has a number in y; if there are too many lines, with conditions that leave fewer.
    """
    chosen = where or {}
    _check_columns(records, [x, y, *([z] if z else []), *chosen])
    draft = Plot(x=x, y=y, z=z, title=title or f"{y} by {x}", where=chosen)
    _check_rows(records, draft)
    kept = _kept(draft, records)
    if lines_most is not None:
        _check_lines(kept, draft, lines_most)
    log_x = _spread([*(row[x] for row in kept), *(point.x for point in more)])
    log_y = _spread([*(row[y] for row in kept), *(point.y for point in more)])
    plot = replace(draft, log_x=log_x, log_y=log_y)
    colours = _colours(_devices(kept, plot) | {point.series: point.series for point in more})
    return _figure(plot, kept, titles or {}, more, colours) | {"title": plot.title}


def drawn(chart: Chart, points_most: int | None = None) -> Spec:
    """A figure of what is no row.

    Args:
        chart: What is drawn.
        points_most: About how many points it may have, evenly of each line; None for all.
    """
    points = _evenly(chart.points, points_most)
    series = dict.fromkeys(point.series for point in points if point.origin is not Origin.PUBLISHED)
    colours = vega.palette(list(series))
    return vega.specification(points, chart.labels, chart.scales, colours)


def draw(spec: Spec, path: Path) -> None:
    """Writes a figure as a file; needs neither network nor browser.

    Args:
        spec: Its specification; one as wide as its place becomes 640 pixels wide.
        path: Ends in .svg, .png, .pdf or .html.

    Raises:
        ValueError: If it ends in something else.
        NotWrittenError: If it can't be written; then nothing of it is there.
    """
    check_form(path)
    write_file(path, _content(spec, path.suffix))


def check_form(path: Path) -> None:
    """Whether `draw` can write such a file.

    Raises:
        ValueError: If its name ends in something else than `FORMS`.
    """
    if path.suffix not in FORMS:
        raise ValueError(f"{path.name!r} names no form; end it in {', '.join(FORMS)}")


def _content(spec: Spec, form: str) -> str | bytes:
    import vl_convert

    sized = spec | {"width": WIDTH_PX, "background": "white"}
    sized |= {"config": spec.get("config", {}) | {"background": "white"}}
    text = json.dumps(sized)
    version = vega.VERSION
    match form:
        case ".svg":
            return vl_convert.vegalite_to_svg(text, version, allowed_base_urls=[])
        case ".png":
            return vl_convert.vegalite_to_png(text, version, scale=2.0, allowed_base_urls=[])
        case ".pdf":
            return vl_convert.vegalite_to_pdf(text, version, allowed_base_urls=[])
        case ".html":
            return figure_page(sized)
        case _:
            raise AssertionError("checked before")


def _figure(
    plot: Plot,
    kept: Sequence[Record],
    titles: Mapping[str, str],
    more: Sequence[Point],
    colours: Mapping[str, str],
) -> Spec:
    series = _named(kept, plot)
    measured = [_point(row, plot, name) for row, name in zip(kept, series, strict=True)]
    labels = Labels(
        title=plot.title,
        x=_title(plot.x, titles),
        y=_title(plot.y, titles),
        series=_title(plot.z, titles) if plot.z else "",
        x_is_size=plot.x.endswith("_bytes"),
    )
    scales = Scales(log_x=plot.log_x, log_y=plot.log_y)
    return vega.specification([*measured, *more], labels, scales, colours)


def _with_facet(plot: Plot, value: Value | None) -> Plot:
    if value is None:
        return plot
    title = f"{plot.title}: {_titled(plot.facet, value)}"
    return replace(plot, title=title, facet="", where={**plot.where, plot.facet: value})


def _facets(plot: Plot, records: Sequence[Record]) -> list[Value | None]:
    if not plot.facet:
        return [None]
    found = dict.fromkeys(row.get(plot.facet) for row in _kept(plot, records))
    return [value for value in found if value is not None]


def _kept(plot: Plot, records: Iterable[Record]) -> list[Record]:
    return [
        row
        for row in records
        if _fits(row, plot.where)
        and not row.get("wrong")
        and row.get(plot.x) is not None
        and isinstance(row.get(plot.y), int | float)
    ]


def _fits(row: Record, where: Mapping[str, Value]) -> bool:
    # Values from a command line are text; those of a row may be numbers.
    return all(str(row.get(name)) == str(value) for name, value in where.items())


def _thinned(rows: list[Record], plot: Plot, most: int | None) -> list[Record]:
    if most is None or len(rows) <= most:
        return rows
    lines: dict[str, list[Record]] = {}
    for name, row in zip(_named(rows, plot), rows, strict=True):
        lines.setdefault(name, []).append(row)
    some = list(lines.values())[:most]
    return [row for line in some for row in line[:: -(-len(line) * len(some) // most)]]


def _evenly(points: Sequence[Point], most: int | None) -> Sequence[Point]:
    """Some points of each line; all of them where they are few, or stand at names."""
    if most is None or len(points) <= most or not vega.is_numeric(points):
        return points
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(point.series, []).append(point)
    step = -(-len(points) // most)
    return [point for line in lines.values() for point in line[::step]]


def _point(row: Record, plot: Plot, series: str) -> Point:
    return Point(
        row[plot.x],
        _float(row[plot.y]),
        _end(row, f"{plot.y}_low95"),
        _end(row, f"{plot.y}_high95"),
        series,
        Origin(str(row.get("origin", Origin.MEASURED.value))),
    )


def _end(row: Record, column: str) -> float | None:
    value = row.get(column)
    return None if value is None else _float(value)


def _float(value: Value | None) -> float:
    assert isinstance(value, int | float), "rows without a number were left out"
    return float(value)


def _printed(published: Sequence[Comparison], plot: Plot) -> list[Point]:
    """What was printed in the unit of this figure, and stands in it."""
    return [
        Point(
            x=each.at.get(plot.x),
            y=each.published * _unit(each)[1],
            low=None,
            high=None,
            series=f"published: {each.series}",
            origin=Origin.PUBLISHED,
        )
        for each in published
        if each.series
        and each.kind in DRAWN_KINDS
        and _unit(each)[0] == plot.y
        and _fits({**plot.where, **each.at}, plot.where)
    ]


def _unit(published: Comparison) -> tuple[str, float]:
    """The column that a figure stands in, and how many of its units one is."""
    return UNITS.get(published.unit, (published.unit, 1.0))


def _beside(lines: Sequence[Line], plot: Plot) -> list[Point]:
    return [
        Point(each.at.get(plot.x), each.value, None, None, each.series, each.origin)
        for each in lines
        if each.column == plot.y and _fits({**plot.where, **each.at}, plot.where)
    ]


def _devices(rows: Sequence[Record], plot: Plot) -> dict[str, str]:
    """By line its z, which several lines share that other axes tell apart; itself without a z."""
    names = _named(rows, plot)
    if not plot.z:
        return {name: name for name in names}
    return {name: _told(plot.z, row.get(plot.z)) for name, row in zip(names, rows, strict=True)}


def _colours(devices: Mapping[str, str]) -> dict[str, str]:
    """A colour for each device, and a shade of it for each of its lines, the last one strongest.

    The usual devices have the same one in every figure.

    Args:
        devices: By the name of a line.
    """
    lines: dict[str, list[str]] = {}
    for name, device in devices.items():
        lines.setdefault(device, []).append(name)
    inks = vega.palette([*USUAL, *(device for device in lines if device not in USUAL)])
    return {
        name: ink
        for device, names in lines.items()
        for name, ink in zip(names, vega.shades(inks[device], len(names)), strict=True)
    }


def _named(rows: Sequence[Record], plot: Plot) -> list[str]:
    """The line of each row: its z, and the axes that tell apart rows which share z and place."""
    telling = _telling(rows, plot)
    parts = [[_told(plot.z, row.get(plot.z))] if plot.z else [] for row in rows]
    return [
        ", ".join([*part, *(_titled(name, row.get(name)) for name in telling)])
        for row, part in zip(rows, parts, strict=True)
    ]


def _titled(name: str, value: Value | None) -> str:
    told = _told(name, value)
    is_said = name == "keys" and told != value
    return told if is_said else f"{name.removesuffix('_bytes')} {told}"


def _told(name: str, value: Value | None) -> str:
    if name.endswith("_bytes") and isinstance(value, int | float):
        return vega.format_bytes(value)
    if value is None:
        return ""
    return keys_text(value) if name == "keys" else str(value)


def _telling(rows: Sequence[Record], plot: Plot) -> list[str]:
    def place(row: Record) -> tuple[str, str]:
        return str(row.get(plot.x)), str(row.get(plot.z, ""))

    names = dict.fromkeys(name for row in rows for name in row)
    shown = {plot.x, plot.y, plot.z, "id"}
    axes = [name for name in names if name not in FIGURES and name not in shown]
    shared = [list(group) for _, group in groupby(sorted(rows, key=place), key=place)]
    return [
        name for name in axes if any(len({row.get(name) for row in group}) > 1 for group in shared)
    ]


def _check_columns(records: Sequence[Record], names: Iterable[str]) -> None:
    known = list(dict.fromkeys(name for row in records for name in row))
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 3)
            hint = f"the nearest are {', '.join(near)}" if near else f"there are {', '.join(known)}"
            raise ValueError(f"no column is called {name!r}; {hint}")


def _check_rows(records: Sequence[Record], plot: Plot) -> None:
    said = ", ".join(f"{name}={value}" for name, value in plot.where.items())
    fitting = [row for row in records if _fits(row, plot.where)]
    if not fitting:
        for name, value in plot.where.items():
            there = list(dict.fromkeys(str(row.get(name)) for row in records))
            if str(value) not in there:
                raise ValueError(f"no row has {name}={value}; there are {', '.join(there)}")
        raise ValueError(
            f"no row has {said}" if said else "no row to draw; measure something first"
        )
    if not _kept(plot, records):
        raise ValueError(f"column {plot.y!r} has no numbers in these rows; y needs some")


def _check_lines(kept: Sequence[Record], plot: Plot, most: int) -> None:
    def count(rows: Sequence[Record]) -> int:
        return len(set(_named(rows, plot)))

    if (lines := count(kept)) <= most:
        return
    telling = [*([plot.z] if plot.z else []), *_telling(kept, plot)]
    values = varied(kept, telling)
    several = ", ".join(f"{name} ({number} values)" for name, number in values.items())
    fewer = narrowing(kept, Drawing(plot.x, telling, count, most))
    options = " ".join(f"--where {quote(f'{name}={value}')}" for name, value in fewer.items())
    raise ValueError(
        f"{lines} lines in one figure; {most} can be told apart. They differ in {several}: draw "
        f"some of them, as with {options}, or take another --x"
    )


def _spread(values: Iterable[Value | None]) -> bool:
    numbers = [value for value in values if isinstance(value, int | float)]
    return bool(numbers) and min(numbers) > 0 and max(numbers) >= SPREAD * min(numbers)


def _title(name: str, titles: Mapping[str, str]) -> str:
    return titles.get(name) or TITLES.get(name, name)


USUAL = ("cpu", "library", "ipp", "table")
FORMS = (".svg", ".png", ".pdf", ".html")
# What has a value in the unit of a figure.
DRAWN_KINDS = (Kind.VALUE, Kind.NUMBER, Kind.MODEL, Kind.OPEN, Kind.GIVEN)
WIDTH_PX = 640
LINES_MOST = 16
# From here on a linear axis would press most values into one corner.
SPREAD = 30
TITLES = {
    "ns_per_operation": "ns an operation",
    "operations_per_s": "operations a second",
    "payload_MB_per_s": "payload, MB/s",
    "times_reference": "times the reference",
}
# By the unit of what was printed the column that it stands in, and how many of its units one is.
UNITS = {
    "ns": ("ns_per_operation", 1.0),
    "MB/s": ("payload_MB_per_s", 1.0),
    "Mbit/s": ("payload_MB_per_s", 1 / 8),
    "operations/s": ("operations_per_s", 1.0),
    "messages/s": ("operations_per_s", 1.0),
}
