"""`sealift lab plot`: any column of judged rows by any other, as a picture."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.quantities import parse_number
from sealift_lab.cli import output, parse
from sealift_lab.cli.help import argument, option
from sealift_lab.cli.output import Record, parsed

if TYPE_CHECKING:
    import altair as alt

    from sealift_lab.run.folder import Run


def plot(
    folders: Annotated[list[str], argument("plot", "RUN")],
    x: Annotated[str, option("plot", "--x", metavar="COLUMN")],
    y: Annotated[str, option("plot", "--y", metavar="COLUMN")],
    out: Annotated[str, option("plot", "--out", "-o", metavar="FILE")],
    z: Annotated[str, option("plot", "--z", metavar="COLUMN")] = "",
    where: Annotated[list[str] | None, option("plot", "--where", metavar="COLUMN=VALUE")] = None,
) -> None:
    """Draw any columns of summary.csv against each other.

    Rows that would share a place become lines of their own; more than 16 of them are refused, so a
    whole run needs --where. The column `run` tells several runs apart, and `experiment` several
    experiments. What was computed wrong is not drawn.
    """
    chosen = parsed("--where", parse.conditions, where or [])
    place = parsed("-o", _picture_file, out)
    with output.in_sentences():
        from sealift_lab.run.writing import write_file

        runs = [output.open_run(text) for text in folders]
        records = [each for run in runs for each in _records(run, chosen.get("experiment", ""))]
        drawn = select(records, x=x, y=y, z=z, where=chosen)
        lines = series(drawn, x=x, z=z)
        if (many := len({*lines})) > LINES_MOST:
            raise ValueError(_too_many(drawn, many, {x, y, z, *chosen}))
        write_file(place, _encode(_spec(drawn, lines, x, y), place.suffix))
    typer.echo(place)


def select(
    records: Sequence[Record], *, x: str, y: str, z: str, where: Mapping[str, str]
) -> list[Record]:
    """The rows that can be drawn.

    Args:
        records: Rows of one or more runs.
        x: Column of the horizontal axis.
        y: Column with numbers.
        z: Column that colours the lines, or "".
        where: Columns with values as people write them: 4KiB is 4096.

    Raises:
        ValueError: If there is no such column or value, or no number; with the nearest ones.
    """
    if not records:
        raise ValueError("nothing was measured; name a run that has rows, as `lab show` has them")
    columns = dict.fromkeys(name for record in records for name in record)
    for name in filter(None, (x, y, z, *where)):
        if name not in columns:
            near = parse.nearest(name, columns) or f"there are {', '.join(columns)}"
            raise ValueError(f"no column {name!r}; {near}")
    left = list(records)
    for name, value in where.items():
        there = dict.fromkeys(str(each[name]) for each in left if each.get(name) is not None)
        left = [each for each in left if _is(each.get(name), value)]
        if not left:
            near = parse.nearest(value, there) or f"there are {', '.join(list(there)[:VALUES])}"
            raise ValueError(f"no rows with {name}={value}; {near}")
    drawn = [each for each in left if each.get(x) is not None and _is_number(each.get(y))]
    if not drawn:
        raise ValueError(f"no row has {x} and a number in {y}; name other columns")
    return drawn


def series(records: Sequence[Record], *, x: str, z: str) -> list[str]:
    """The line of each row: its z, and other columns where rows would share a place."""
    names = [z] if z else []
    for name in (each for each in _axes(records) if each not in (x, z)):
        places: dict[tuple[object, ...], set[object]] = {}
        for each in records:
            place = tuple(each.get(column) for column in (x, *names))
            places.setdefault(place, set()).add(each.get(name))
        if any(len(values) > 1 for values in places.values()):
            names.append(name)
    texts = ([_text(each, name, name == z) for name in names] for each in records)
    return [", ".join(each) or "all" for each in texts]


def _records(run: "Run", experiment: str) -> Iterator[Record]:
    """What was measured, each row with the name of its run's folder."""
    from sealift_lab.judge.judge import results
    from sealift_lab.model.results import Origin
    from sealift_lab.show.export import rows_frame

    # A column of several experiments may have numbers of one and texts of another.
    named = [each for each in run.plan.experiments if each.name == experiment]
    plan = replace(run.plan, experiments=named or run.plan.experiments)
    for row in rows_frame(plan, results(run)).iter_rows(named=True):
        if row["origin"] == Origin.MEASURED and not row.get("wrong"):
            yield {"run": run.path.resolve().name, **row}


def _axes(records: Sequence[Record]) -> Iterator[str]:
    """Run, experiment and the axes: the columns before `origin` that are no places in a plan."""
    yield from ("run", "experiment")
    columns = list(records[0])
    yield from columns[columns.index("arm") + 1 : columns.index("origin")]


def _is(held: object, value: str) -> bool:
    if _is_number(held):
        number = parse_number(value)
        return number is not None and float(number) == held
    return str(held) == value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(record: Record, name: str, is_bare: bool) -> str:
    value = record.get(name)
    return str(value) if is_bare or isinstance(value, str) else f"{name} {value}"


def _too_many(records: Sequence[Record], many: int, used: set[str]) -> str:
    """Which conditions would leave fewer lines: the first value of columns that vary."""
    varied = {name: dict.fromkeys(str(r.get(name)) for r in records) for name in _axes(records)}
    hints = [
        f"--where {name}={next(iter(values))}"
        for name, values in varied.items()
        if len(values) > 1 and name not in used
    ]
    return f"{many} lines, and {LINES_MOST} can be told apart; add {' or '.join(hints[:4])}"


def _spec(records: Sequence[Record], lines: Sequence[str], x: str, y: str) -> str:
    """The Vega-Lite specification: lines along numbers, points at names, each with its interval."""
    import altair as alt

    data = [
        {"x": r[x], "y": r[y], "low": _end(r, y, "low"), "high": _end(r, y, "high"), "line": line}
        for r, line in zip(records, lines, strict=True)
    ]
    places = [each["x"] for each in data]
    is_number = all(map(_is_number, places))
    across = alt.X("x:Q", scale=_scale(places)) if is_number else alt.X("x:N", sort=None)
    legend = alt.Legend(orient="top", columns=3)
    base = alt.Chart(alt.InlineData(values=data)).encode(
        across.title(x), alt.Color("line:N", title=None, sort=None, legend=legend)
    )
    figures = alt.Y("y:Q", title=y, scale=_scale([each["y"] for each in data]))
    layers = [
        base.mark_rule().encode(alt.Y("low:Q", title=y), alt.Y2("high")),
        base.mark_point(filled=True).encode(figures),
        *([base.mark_line().encode(figures)] if is_number else []),
    ]
    size = {"width": WIDE_PX, "height": HIGH_PX}
    chart = alt.layer(*layers).properties(title=f"{y} by {x}", background="white", **size)
    return str(chart.to_json())


def _scale(values: Sequence[object]) -> "alt.Scale":
    import altair as alt

    numbers = [value for value in values if isinstance(value, int | float)]
    is_wide = min(numbers) > 0 and max(numbers) >= SPREAD * min(numbers)
    return alt.Scale(type="log") if is_wide else alt.Scale(zero=False)


def _end(record: Record, y: str, end: str) -> object:
    held = record.get(f"{y}_{end}")
    return record[y] if held is None else held


def _encode(spec: str, suffix: str) -> bytes:
    """The picture as a file; needs neither network nor browser."""
    import vl_convert

    match suffix:
        case ".png":
            return vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
        case ".pdf":
            return vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[])
        case ".html":
            return vl_convert.vegalite_to_html(spec, bundle=True).encode()
        case _:
            return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()


def _picture_file(text: str) -> Path:
    path = parse.file(text)
    if path.suffix not in FORMS:
        raise ValueError(f"{path.name!r} names no form; end it in {', '.join(FORMS)}")
    return path


FORMS = (".svg", ".png", ".pdf", ".html")
LINES_MOST = 16
VALUES = 12
WIDE_PX, HIGH_PX = 640, 360
# Over so many times the least a scale is logarithmic.
SPREAD = 20
