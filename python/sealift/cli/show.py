"""`sealift lab report`, `plot` and `export`: show what a run's folder holds."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import forms, options
from sealift.cli.forms import Written
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode
from sealift.quantities import parse_number

if TYPE_CHECKING:
    from sealift import Card
    from sealift.lab.record import Record
    from sealift.lab.store import Run
    from sealift.lab.values import Value
    from sealift.lab.vega import Spec

# \b keeps the lines as they are.
PLOTS = """\b
Columns are those of summary.csv, as
  --x   size_bytes, threads, device and the other axes of the experiment
  --y   payload_MB_per_s, operations_per_s, ns_per_operation, times_reference
  --z   device, keys, run, experiment

\b
Examples:
  sealift lab plot runs/monday --x size_bytes --y payload_MB_per_s --z device \\
      --where experiment=aes-gcm-by-size --where keys=sessions:1024 -o by-size.svg
  sealift lab plot runs/monday runs/tuesday --x size_bytes --y ns_per_operation \\
      --z run --where experiment=aes-gcm-by-size --where device=cpu -o both.html
  sealift lab plot runs/monday --x size_bytes --y ns_per_operation --z device \\
      --where experiment=aes-gcm-by-size --where keys=sessions:1024 \\
      --card quad-hifn-7751 -o break-even.svg
"""
EXPORTS = """\b
Examples:
  sealift lab export runs/monday > samples.csv
  sealift lab export runs/monday --what summary -o rows.jsonl
  sealift lab export runs/monday -o samples.parquet
  sealift lab export runs/monday --format memcpy_test -o results.csv
"""

Folder = Annotated[str, typer.Argument(help="The folder of a run.", metavar="RUN")]


class What(StrEnum):
    """Which of a run's figures."""

    SAMPLES = "samples"
    SUMMARY = "summary"


def report(
    folder: Folder,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    out: Annotated[
        str | None,
        typer.Option(help="The file. [default: report.html in the run's folder]", metavar="FILE"),
    ] = None,
) -> None:
    """Write the page of a run anew, and print its path.

    The page is made of the samples. Where the folder's summary.csv is missing or holds something
    else than they say, it is written anew too, unless --out names another place.
    """
    from sealift.lab import report as pages

    place = None if out is None else read("--out", options.file, out)
    with in_sentences():
        options.need("vl_convert", "the page")
        run = _read(folder)
        page = pages.write(run, place)
        typer.echo(page)
        if place is None:
            _renew_summary(run)
    if show:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            told("no browser was found; open the file by hand")


def plot(
    folders: Annotated[
        list[str], typer.Argument(help="The folders of one or more runs.", metavar="RUN")
    ],
    x: Annotated[str, typer.Option("--x", help="Column of the horizontal axis.", metavar="COLUMN")],
    y: Annotated[
        str,
        typer.Option("--y", help="Column with numbers for the vertical axis.", metavar="COLUMN"),
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", help="The file: .svg, .png, .pdf or .html.", metavar="FILE"),
    ],
    z: Annotated[
        str, typer.Option("--z", help="Column that colours the lines.", metavar="COLUMN")
    ] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="Draw only rows with this value, as in threads=1; may be given again.",
            metavar="COLUMN=VALUE",
        ),
    ] = None,
    card: Annotated[
        list[str] | None,
        typer.Option(
            "--card",
            help="Draw what a card that isn't here is reckoned to take for the same batches, with "
            "--x size_bytes --y ns_per_operation --z device: one of Sealift's by its name, or the "
            "file of a description; may be given again.",
            metavar="NAME|FILE",
        ),
    ] = None,
) -> None:
    """Draw any columns of summary.csv against each other.

    Rows that would share a place become lines of their own; more than 16 of them are refused, so a
    whole run needs --where. The column `run` tells several runs apart, and `experiment` several
    experiments. Under each figure of a run's page stands the command that draws it.
    """
    from sealift.lab import plot as figures

    chosen = read("--where", options.conditions, where or [])
    place = read("-o", options.file, out)
    with in_sentences():
        options.need("vl_convert", "a figure")
        figures.check_form(place)
        runs = [_read(text) for text in folders]
        records = _records(runs)
        _check_experiment(records, chosen)
        chosen = {name: _as_held(records, name, value) for name, value in chosen.items()}
        if card:
            spec = _with_cards(runs, records, (x, y, z), chosen, [_card(text) for text in card])
        else:
            most = None if _is_on_a_page(runs, (x, y, z), chosen) else figures.LINES_MOST
            spec = figures.columns(records, x=x, y=y, z=z, where=chosen, lines_most=most)
        figures.draw(spec, place)
    typer.echo(place)


def export(
    folder: Folder,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The kind of file; memcpy_test is the published copy tool's, a row for each copy. "
            "[default: what FILE ends in, .csv, .jsonl or .parquet; else csv]",
            metavar="[csv|jsonl|parquet|memcpy_test]",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="The file. [default: standard output]", metavar="FILE"),
    ] = None,
    what: Annotated[
        str,
        typer.Option(
            help="Every sample, or a row for each cell, of what is computed, too.",
            metavar="[samples|summary]",
        ),
    ] = What.SAMPLES.value,
) -> None:
    """Write what a run measured or computed for other programs."""
    from sealift.lab import export as exports
    from sealift.lab import store
    from sealift.lab.summary import summarise

    chosen = read("--what", forms.one_of(What), what)
    asked = None if form is None else read("--format", forms.one_of(Written), form)
    place = None if out is None else read("-o", options.file, out)
    if place is None and asked is Written.PARQUET and sys.stdout.isatty():
        fail(ExitCode.USAGE, "Parquet is no text; name a file with -o")
    with in_sentences():
        kind = exports.form_of(place) if asked is None else asked
        run = _read(folder)
        records = (
            exports.sample_records(run)
            if chosen is What.SAMPLES and kind != Written.MEMCPY_TEST
            else exports.summary_records(run, summarise(run))
        )
        content = exports.as_bytes(records, kind)
        if place is None:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
            return
        store.write_file(place, content)
    typer.echo(place)


def _read(folder: str) -> "Run":
    from sealift.lab import store

    return store.read(read("RUN", options.folder, folder))


def _renew_summary(run: "Run") -> None:
    """Makes summary.csv say what the page says."""
    from sealift.lab.export import summary_records
    from sealift.lab.store.writing import renew_summary
    from sealift.lab.summary import summarise

    file = run.path / "summary.csv"
    is_new = run.plan.is_by_program and not file.exists()
    if renew_summary(run.path, summary_records(run, summarise(run))) and not is_new:
        told(f"{file} was missing, or not what the samples say, and was written anew")


def _records(runs: "Sequence[Run]") -> "list[Record]":
    """What was measured in all runs, each row with the name of its run's folder."""
    from sealift.lab.export import summary_records
    from sealift.lab.result import Origin
    from sealift.lab.summary import summarise

    return [
        {"run": run.path.resolve().name, **each}
        for run in runs
        for each in summary_records(run, summarise(run))
        if each["origin"] == Origin.MEASURED
    ]


def _with_cards(
    runs: "Sequence[Run]",
    records: "Sequence[Record]",
    drawn: tuple[str, str, str],
    chosen: "Mapping[str, Value]",
    cards: "Sequence[Card]",
) -> "Spec":
    """The figure of break-evens."""
    from sealift.lab import breakeven, plot

    if drawn != breakeven.DRAWN:
        x, y, z = breakeven.DRAWN
        raise ValueError(f"--card draws nanoseconds by size: take --x {x} --y {y} --z {z} with it")
    if len(runs) != 1:
        raise ValueError(f"--card draws cards beside one run, and here are {len(runs)}; name one")
    real = breakeven.real_records(runs[0], records)
    return breakeven.drawn(real, cards, where=chosen, lines_most=plot.LINES_MOST)


def _card(text: str) -> "Card":
    """One of Sealift's, or that of a description."""
    from sealift import Card, cards

    ours = {each.name: each for each in cards()}
    if text in ours:
        return ours[text]
    if not Path(text).is_file():
        near = options.nearest(text, ours) or f"there are {', '.join(ours)}"
        raise ValueError(f"--card: {text!r} is neither a card of Sealift's ({near}) nor a file")
    return Card.read(text)


def _is_on_a_page(runs: "Sequence[Run]", drawn: tuple[str, str, str], chosen: "Record") -> bool:
    """Whether it is a figure of an experiment: its page draws it, however many lines it has."""
    return any(
        (plot.x, plot.y, plot.z) == drawn
        for run in runs
        for planned in run.plan.experiments
        if planned.name == chosen.get("experiment")
        for plot in planned.plots
    )


def _as_held(records: "Sequence[Record]", name: str, text: str) -> str:
    """A value as rows have it: `4KiB` is 4096 in a column that holds numbers."""
    if not any(isinstance(row.get(name), int | float) for row in records):
        return text
    number = parse_number(text)
    if number is None:
        return text
    return str(int(number) if number.denominator == 1 else float(number))


def _check_experiment(records: "Sequence[Record]", chosen: "Record") -> None:
    """An experiment that is none of the runs' gets the nearest names."""
    name = str(chosen.get("experiment", ""))
    there = dict.fromkeys(str(each["experiment"]) for each in records)
    if name and there and name not in there:
        near = options.nearest(name, there)
        raise ValueError(
            f"no rows of the experiment {name!r}; {near or 'there are ' + ', '.join(there)}"
        )
