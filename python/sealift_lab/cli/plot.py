"""`sealift lab plot`: any column of judged rows by any other, as a picture."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sealift.cli.output import echo
from sealift.quantities import parse_number
from sealift_lab.cli import output, parse
from sealift_lab.cli.output import Record
from sealift_lab.cli.parse import Condition, argument, condition, option

if TYPE_CHECKING:
    import altair as alt

    from sealift_lab.run.folder import Run


def _picture_file(text: str) -> Path:
    path = parse.file(text)
    if path.suffix not in FORMS:
        raise ValueError(f"{path.name!r} names no form; end it in {', '.join(FORMS)}")
    return path


def plot(
    folders: Annotated[list[Path], argument("plot", "RUN", parse.folder)],
    x: Annotated[str, option("plot", "--x", metavar="COLUMN")],
    y: Annotated[str, option("plot", "--y", metavar="COLUMN")],
    out: Annotated[Path, option("plot", "--out", "-o", metavar="FILE", of=_picture_file)],
    z: Annotated[str, option("plot", "--z", metavar="COLUMN")] = "",
    where: Annotated[
        list[Condition] | None, option("plot", "--where", metavar="COLUMN=VALUE", of=condition)
    ] = None,
) -> None:
    """Draw any columns of summary.csv against each other.

    Rows that would share a place become lines of their own; more than 16 of them are refused, so a
    whole run needs --where. The column `run` tells several runs apart, and `experiment` several
    experiments. What was computed wrong is not drawn.
    """
    chosen = dict(where or [])
    with output.in_sentences():
        from sealift_lab.measure.storage import write_file

        runs = [output.open_run(folder) for folder in folders]
        records = [each for run in runs for each in _records(run, chosen.get("experiment", ""))]
        drawn = _select(records, [x, y, *([z] if z else []), *chosen], chosen)
        drawn = [each for each in drawn if each.get(x) is not None and _is_number(each.get(y))]
        if not drawn:
            raise ValueError(f"no row has {x} and a number in {y}; name other columns")
        lines = _lines(drawn, x, z)
        if (many := len({*lines})) > LINES_MOST:
            hints = " or ".join(_hints(drawn, {x, y, z, *chosen}))
            raise ValueError(f"{many} lines, and {LINES_MOST} can be told apart; add {hints}")
        write_file(out, _encode(_spec(drawn, lines, x, y), out.suffix))
    echo(str(out))


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


def _select(
    records: Sequence[Record], names: Sequence[str], where: Mapping[str, str]
) -> Sequence[Record]:
    """The rows with these values, as people write them: 4KiB is 4096.

    Raises:
        ValueError: If there is no such column or value; with the nearest ones.
    """
    if not records:
        raise ValueError("nothing was measured; name a run that has rows, as `lab show` has them")
    known = dict.fromkeys(name for record in records for name in record)
    for name in names:
        if name not in known:
            near = parse.nearest(name, known) or f"there are {', '.join(known)}"
            raise ValueError(f"no column {name!r}; {near}")
    for name, value in where.items():
        there = dict.fromkeys(str(each[name]) for each in records if each.get(name) is not None)
        records = [each for each in records if _is(each.get(name), value)]
        if not records:
            near = parse.nearest(value, there) or f"there are {', '.join(list(there)[:VALUES])}"
            raise ValueError(f"no rows with {name}={value}; {near}")
    return records


def _is(held: object, value: str) -> bool:
    if not _is_number(held):
        return str(held) == value
    number = parse_number(value)
    return number is not None and float(number) == held


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _lines(records: Sequence[Record], x: str, z: str) -> list[str]:
    """The line of each row: its z, and other columns where rows would share a place."""

    def count(columns: Sequence[str]) -> int:
        return len({tuple(each.get(column) for column in columns) for each in records})

    names = [z] if z else []
    for name in (each for each in _axes(records) if each not in (x, z)):
        if count([x, *names, name]) > count([x, *names]):
            names.append(name)

    def text(record: Record, name: str) -> str:
        value = record.get(name)
        return str(value) if name == z or isinstance(value, str) else f"{name} {value}"

    return [", ".join(text(each, name) for name in names) or "all" for each in records]


def _axes(records: Sequence[Record]) -> Iterator[str]:
    """Run, experiment and the axes: the columns before `origin` that are no places in a plan."""
    yield from ("run", "experiment")
    names = list(records[0])
    yield from names[names.index("arm") + 1 : names.index("origin")]


def _hints(records: Sequence[Record], used: set[str]) -> list[str]:
    """Which conditions would leave fewer lines: the first value of columns that vary."""
    varied = {name: dict.fromkeys(str(r.get(name)) for r in records) for name in _axes(records)}
    return [
        f"--where {name}={next(iter(values))}"
        for name, values in varied.items()
        if len(values) > 1 and name not in used
    ][:4]


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


FORMS = (".svg", ".png", ".pdf", ".html")
LINES_MOST, VALUES = 16, 12
WIDE_PX, HIGH_PX = 640, 360
# Over so many times the least a scale is logarithmic.
SPREAD = 20
