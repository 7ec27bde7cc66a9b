"""`sealift lab plot`: any column of judged rows by any other, as a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import altair as alt
import polars as pl
import vl_convert

from sealift.cli.output import echo
from sealift.quantities import parse_number
from sealift_lab.claim import declared
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, option
from sealift_lab.experiments import registry
from sealift_lab.experiments.document_004 import tool
from sealift_lab.judge.rows import results
from sealift_lab.measure.write_folder import write_file
from sealift_lab.model.experiment import Line
from sealift_lab.model.results import Origin
from sealift_lab.show.export import rows_frame


def _picture_file(text: str) -> Path:
    path = parse.file(text)
    if path.suffix not in FORMS:
        raise ValueError(f"{path.name!r} names no form; end it in {', '.join(FORMS)}")
    return path


def _condition(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise ValueError(f"{text!r} is no condition; write COLUMN=VALUE, as in threads=2")
    return name, value


WHERE = option("plot", "--where", "COLUMN=VALUE", _condition)


def plot(
    places: Annotated[list[Path], argument("plot", "RUN", parse.folder)],
    x: Annotated[str, option("plot", "--x", "COLUMN")],
    y: Annotated[str, option("plot", "--y", "COLUMN")],
    out: Annotated[Path, option("plot", "--out -o", "FILE", _picture_file)],
    z: Annotated[str, option("plot", "--z", "COLUMN")] = "",
    where: Annotated[list[Any] | None, WHERE] = None,
) -> None:
    """Draw any columns of summary.csv, or of the published copy tool's files, by each other.

    Rows that would share a place become lines of their own; more than 16 of them are refused, so a
    whole run needs --where. The column `run` tells several runs apart, and `experiment` several
    experiments. What was computed wrong is not drawn.
    """
    chosen: dict[str, str] = dict(where or [])
    sources = [
        _tool_rows(place) if place.is_file() else _rows(place, chosen.get("experiment", ""))
        for place in places
    ]
    frame = pl.concat((rows for rows, _ in sources), how="diagonal_relaxed")
    for name in filter(None, (x, y, z, *chosen)):
        if name not in frame.columns:
            near = parse.nearest(name, frame.columns) or f"there are {', '.join(frame.columns)}"
            raise ValueError(f"no column {name!r}; {near}")
    drawn = _select(frame, chosen).filter(pl.col(x).is_not_null(), pl.col(y).is_not_null())
    if drawn.is_empty() or not drawn[y].dtype.is_numeric():
        raise ValueError(f"no row has {x} and a number in {y}; name other columns")
    names = _line_columns(drawn, x, z)
    if (many := drawn.n_unique(names) if names else 1) > LINES_MOST:
        hints = [
            f"--where {name}={drawn[name][0]}"
            for name in _axes(drawn)
            if name not in (x, y, z, *chosen) and drawn[name].n_unique() > 1
        ]
        right = f"add {' or '.join(hints[:4])}"
        raise ValueError(f"{many} lines, and {LINES_MOST} can be told apart; {right}")
    # Only of what is drawn: --where may have left out runs and experiments.
    there = set(drawn.select("run", "experiment").iter_rows())
    lines = [
        line for _, of in sources for place, lines in of.items() if place in there for line in lines
    ]
    picture = FORMS[out.suffix](_spec(drawn, names, lines, x, y, z))
    write_file(out, picture.encode() if isinstance(picture, str) else picture)
    echo(str(out))


Source = tuple[pl.DataFrame, Mapping[tuple[str, str], Sequence[Line]]]
"""Rows, and the lines that their experiments declare, by run and experiment."""


def _tool_rows(file: Path) -> Source:
    """The lines of a file of the published copy tool's, each with the name of the file."""
    try:
        lines = tool.parse_file(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    rows = [
        {
            "experiment": line.experiment,
            "arm": number,
            "size_bytes": line.size_bytes,
            "threads": line.threads,
            "function": line.function,
            "runs": line.runs,
            "origin": Origin.MEASURED.value,
            THROUGHPUT: speed.value,
            "payload_mb_per_s": speed.value * MB_PER_GB,
        }
        for number, line in enumerate(lines)
        # The tool rounds what is under 0.0005 GB/s to 0, which has no place on its scale.
        if (speed := line.gb_per_s) and speed.value
    ]
    if not rows:
        raise ValueError(f"{file} has no figures below its head; name one that was measured")
    beside = map(registry.find, tool.EXPERIMENT.lines_of)
    drawn = [line for each in beside for line in each.lines(declared.NOTHING)]
    return (
        pl.DataFrame(rows).with_columns(run=pl.lit(file.name)),
        {(file.name, line.experiment): drawn for line in lines},
    )


def _rows(folder: Path, experiment: str) -> Source:
    """What was measured, each row with the name of its run's folder."""
    run = output.open_run(folder)
    # A column of several experiments may have numbers of one and texts of another.
    named = [each for each in run.plan.experiments if each.name == experiment]
    plan = replace(run.plan, experiments=named or run.plan.experiments)
    found = results(run)
    frame = rows_frame(plan, found)
    frame = frame.filter(origin=Origin.MEASURED.value) if "origin" in frame.columns else frame
    if frame.is_empty():
        raise ValueError("nothing was measured; name a run that has rows, as `lab show` has them")
    name = run.path.resolve().name
    return (
        frame.filter(pl.col("wrong").is_null()).with_columns(run=pl.lit(name)),
        {(name, each.name): declared.lines(run, each, found) for each in plan.experiments},
    )


def _select(frame: pl.DataFrame, where: Mapping[str, str]) -> pl.DataFrame:
    """The rows with these values, as people write them: 4KiB is 4096."""
    for name, value in where.items():
        column, number = pl.col(name), parse_number(value)
        is_number = number is not None and frame[name].dtype.is_numeric()
        same = column == float(number or 0) if is_number else column.cast(pl.String) == value
        if (selected := frame.filter(same)).is_empty():
            there = frame[name].drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
            near = parse.nearest(value, there) or f"there are {', '.join(there[:VALUES])}"
            raise ValueError(f"no rows with {name}={value}; {near}")
        frame = selected
    return frame


def _line_columns(frame: pl.DataFrame, x: str, z: str) -> list[str]:
    """What tells lines apart: z, and other columns where rows would share a place."""
    names = [z] if z else []
    for name in _axes(frame):
        if name not in (x, z) and frame.n_unique([x, *names, name]) > frame.n_unique([x, *names]):
            names.append(name)
    return names


def _axes(frame: pl.DataFrame) -> list[str]:
    """Run, experiment and the axes: the columns before `origin` that are no places in a plan."""
    names = frame.columns
    return ["run", "experiment", *names[names.index("arm") + 1 : names.index("origin")]]


def _spec(
    frame: pl.DataFrame, names: Sequence[str], lines: Sequence[Line], x: str, y: str, z: str
) -> str:
    """The Vega-Lite specification: lines along numbers, points at names, each with its interval.

    Lines across are drawn where the column has their unit.
    """

    def line(row: Mapping[str, object]) -> str:
        parts = ((name, row[name]) for name in names)
        texts = (str(v) if n == z or isinstance(v, str) else f"{n} {v}" for n, v in parts)
        return ", ".join(texts) or "all"

    data = [
        {
            "x": row[x],
            "y": row[y],
            **{end: row.get(f"{y}_{end}") or row[y] for end in ("low", "high")},
            "line": line(row),
        }
        for row in frame.iter_rows(named=True)
    ]
    is_number = frame[x].dtype.is_numeric()
    across = alt.X("x:Q", scale=_scale(frame[x])) if is_number else alt.X("x:N", sort=None)
    legend = alt.Legend(orient="top", columns=3, labelLimit=300)
    colour = alt.Color("line:N", title=None, sort=None, legend=legend)
    base = alt.Chart(alt.InlineData(values=data)).encode(across.title(x), colour)
    figures = alt.Y("y:Q", title=y, scale=_scale(frame[y]))
    layers = [
        base.mark_rule().encode(alt.Y("low:Q", title=y), alt.Y2("high")),
        base.mark_point(filled=True).encode(figures),
        *([base.mark_line().encode(figures)] if is_number else []),
    ]
    unit, factor = UNITS.get(y, ("", 1.0))
    if rules := {
        f"{line.series} ({line.origin})": line.value * factor
        for line in lines
        if line.y == unit and not line.at
    }:
        values = [{"line": name, "y": value} for name, value in rules.items()]
        across_all = alt.Chart(alt.InlineData(values=values)).encode(figures, colour)
        layers.append(across_all.mark_rule(strokeDash=[5, 4]))
    chart = alt.layer(*layers).properties(title=f"{y} by {x}", background="white", **SIZE_PX)
    return str(chart.to_json())


def _scale(column: pl.Series) -> alt.Scale:
    least, most = float(str(column.min())), float(str(column.max()))
    is_wide = least > 0 and most >= SPREAD * least
    return alt.Scale(type="log") if is_wide else alt.Scale(zero=False)


# Pictures are drawn without network and browser.
FORMS: Mapping[str, Callable[[str], str | bytes]] = {
    ".svg": partial(vl_convert.vegalite_to_svg, allowed_base_urls=[]),
    ".png": partial(vl_convert.vegalite_to_png, scale=2, allowed_base_urls=[]),
    ".pdf": partial(vl_convert.vegalite_to_pdf, allowed_base_urls=[]),
    ".html": partial(vl_convert.vegalite_to_html, bundle=True),
}
LINES_MOST, VALUES = 16, 12
THROUGHPUT, MB_PER_GB = "throughput_gb_s", 1_000
# By column the unit of lines across, and how many of the column's units one is.
UNITS = {"payload_mb_per_s": ("MB/s", 1.0), THROUGHPUT: ("MB/s", 1 / MB_PER_GB)}
SIZE_PX = {"width": 640, "height": 360}
# Over so many times the least a scale is logarithmic.
SPREAD = 20
