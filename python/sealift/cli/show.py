"""`sealift lab report`, `plot`, `compare` and `export`: show what a run's folder holds."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import forms, options
from sealift.cli.forms import Shown, Written
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.record import Record

Folder = Annotated[str, typer.Argument(help="The folder of a run.", metavar="RUN")]


class What(StrEnum):
    """Which of a run's figures."""

    SAMPLES = "samples"
    SUMMARY = "summary"


class FailOn(StrEnum):
    """What makes a comparison end with exit code 1."""

    SLOWER = "slower"


def report(
    folder: Folder,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    out: Annotated[
        str | None,
        typer.Option(help="The file. [default: report.html in the run's folder]", metavar="FILE"),
    ] = None,
) -> None:
    """Write the page of a run anew, and print its path."""
    from sealift.lab import report as pages
    from sealift.lab import store

    place = None if out is None else read("--out", options.file, out)
    with in_sentences():
        options.need("vl_convert", "the page")
        page = pages.write(store.read(read("RUN", options.folder, folder)), place)
    typer.echo(page)
    if show:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            told("no browser was found; open the file by hand")


def plot(
    folders: Annotated[
        list[str], typer.Argument(help="The folders of one or more runs.", metavar="RUN...")
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
) -> None:
    """Draw any columns of summary.csv against each other.

    The column `run` tells several runs apart, and `experiment` several experiments.
    """
    from sealift.lab import plot as figures

    chosen = read("--where", options.conditions, where or [])
    place = read("-o", options.file, out)
    with in_sentences():
        options.need("vl_convert", "a figure")
        figures.check_form(place)
        records = _records(folders)
        _check_experiment(records, chosen)
        spec = figures.columns(records, x=x, y=y, z=z, where=chosen)
        figures.draw(spec, place)
    typer.echo(place)


def compare(
    before: Annotated[str, typer.Argument(help="The folder of the run to compare.", metavar="RUN")],
    now: Annotated[
        str,
        typer.Argument(
            help="The folder of a later run; or `published`, for the documents.",
            metavar="RUN|published",
        ),
    ],
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="slower: end with 1 when a row is SLOWER. Between runs that takes two restarts or "
            "more in both, a difference over the column `least`, and 99 % for all rows together; "
            "rows that can't be judged fail nothing."
        ),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of the table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
) -> None:
    """Set a run beside a later one, or beside what was published.

    Times are those of the first over those of the second: above 1 the second run is faster. Two
    runs have other neighbours, clocks and places in memory, so their verdicts are a reason to look,
    not a proof, and a run of one restart (lab run --quick) gives none. Without --quick a run has
    five.
    """
    form = forms.shown(as_csv=as_csv, as_json=as_json)
    with in_sentences():
        beside = _beside_published(before) if now == PUBLISHED else _beside_run(before, now)
    if not beside.records:
        fail(ExitCode.NOTHING_RAN, "the two have nothing in common to compare")
    typer.echo(_shown(beside, form), nl=False)
    if fail_on is None:
        return
    if beside.judged < len(beside.records):
        told(f"--fail-on slower judged {beside.judged:,} of {len(beside.records):,} rows")
    if beside.slower:
        told(f"{beside.slower:,} of {len(beside.records):,} rows are slower")
        raise typer.Exit(ExitCode.SLOWER)


def export(
    folder: Folder,
    form: Annotated[Written, typer.Option("--format", help="The kind of file.")],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="The file. [default: standard output]", metavar="FILE"),
    ] = None,
    what: Annotated[What, typer.Option(help="Every sample, or a row for each cell.")] = (
        What.SAMPLES
    ),
) -> None:
    """Write what a run measured for other programs."""
    from sealift.lab import export as exports
    from sealift.lab import store
    from sealift.lab.summary import summarise

    place = None if out is None else read("-o", options.file, out)
    if place is None and form is Written.PARQUET and sys.stdout.isatty():
        fail(ExitCode.USAGE, "Parquet is no text; name a file with -o")
    with in_sentences():
        run = store.read(read("RUN", options.folder, folder))
        records = (
            exports.sample_records(run)
            if what is What.SAMPLES
            else exports.summary_records(run, summarise(run))
        )
        content = exports.as_bytes(records, form)
        if place is None:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
            return
        store.write_file(place, content)
    typer.echo(place)


def _records(folders: Sequence[str]) -> "list[Record]":
    """The rows of all runs, each with the name of its run's folder."""
    from sealift.lab import store
    from sealift.lab.export import summary_records
    from sealift.lab.summary import summarise

    records: list[Record] = []
    for text in folders:
        run = store.read(read("RUN", options.folder, text))
        records += [
            {"run": run.path.resolve().name, **each}
            for each in summary_records(run, summarise(run))
        ]
    return records


def _check_experiment(records: "Sequence[Record]", chosen: "Record") -> None:
    """An experiment that is none of the runs' gets the nearest names."""
    name = str(chosen.get("experiment", ""))
    there = dict.fromkeys(str(each["experiment"]) for each in records)
    if name and there and name not in there:
        near = options.nearest(name, there)
        raise ValueError(
            f"no rows of the experiment {name!r}; {near or 'there are ' + ', '.join(there)}"
        )


@dataclass(frozen=True)
class _Beside:
    """Two things beside each other: as columns, as a table, and what may be said of the rows.

    Attributes:
        judged: How many rows could have failed.
        slower: How many of them do.
    """

    records: "Sequence[Record]"
    text: str
    judged: int
    slower: int


def _beside_run(before: str, now: str) -> _Beside:
    from sealift.lab import store
    from sealift.lab.compare import changes_text
    from sealift.lab.compare import compare as compare_runs
    from sealift.lab.stats import Verdict

    first = store.read(read("RUN", options.folder, before))
    compared = compare_runs(first, store.read(read("RUN", options.folder, now)))
    told(*compared.notes)
    changes = compared.changes
    slower = sum(each.verdict is Verdict.SLOWER for each in changes)
    judged = sum(each.may_be_judged for each in changes)
    return _Beside([each.record for each in changes], changes_text(changes), judged, slower)


def _beside_published(folder: str) -> _Beside:
    from sealift.lab import store
    from sealift.lab.compare import against_published, published_record, published_text
    from sealift.lab.published import Match
    from sealift.lab.summary import summarise

    run = store.read(read("RUN", options.folder, folder))
    beside = against_published(run, summarise(run))
    told(*beside.notes)
    found = beside.comparisons
    slower = sum(each.match is Match.SLOWER for each in found)
    judged = sum(each.here is not None for each in found)
    return _Beside(
        [published_record(each) for each in found], published_text(found), judged, slower
    )


def _shown(beside: _Beside, form: Shown) -> str:
    from sealift.lab.record import csv_text

    if form is Shown.JSON:
        return json.dumps(beside.records, indent=2, allow_nan=False) + "\n"
    if form is Shown.CSV:
        columns = dict.fromkeys(name for record in beside.records for name in record)
        return csv_text(beside.records, list(columns))
    return beside.text + "\n"


PUBLISHED = "published"
