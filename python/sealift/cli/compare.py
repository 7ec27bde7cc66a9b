"""`sealift lab compare`: sets a run beside a later one, or beside what was published."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import forms, options
from sealift.cli.forms import Shown
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.record import Record
    from sealift.lab.store import Run

# \b keeps the lines as they are.
EXAMPLES = """\b
Exit codes:
  0    compared; with --fail-on slower: nothing that could be judged is slower
  1    --fail-on slower: a row is slower
  2    wrong usage, or a folder that can't be read
  3    nothing to compare; with --fail-on slower: not one row could be judged, so
       that a gate that sees nothing does not let everything through

\b
Examples:
  sealift lab compare runs/monday runs/tuesday
  sealift lab compare runs/monday runs/tuesday --fail-on slower
  sealift lab compare runs/monday published --csv > published.csv
"""


class FailOn(StrEnum):
    """What makes a comparison end with exit code 1."""

    SLOWER = "slower"


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
        str | None,
        typer.Option(
            help="slower: end with 1 when a row is SLOWER, and with 3 when no row can be judged. "
            "Between runs that takes two restarts or more in both, a difference over the column "
            "`least`, and 99 % for all rows together; how many rows could be judged is told.",
            metavar="[slower]",
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
    if fail_on is not None:
        read("--fail-on", forms.one_of(FailOn), fail_on)
    if before == PUBLISHED:
        fail(ExitCode.USAGE, f"the run comes first: sealift lab compare {now} {PUBLISHED}")
    with in_sentences():
        beside = _beside_published(before) if now == PUBLISHED else _beside_run(before, now)
    typer.echo(_shown(beside, form), nl=False)
    if fail_on is not None:
        _end(beside)


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


def _end(beside: _Beside) -> None:
    rows = f"{len(beside.records):,} {'row' if len(beside.records) == 1 else 'rows'}"
    if beside.slower:
        told(f"{beside.slower:,} of {rows} {'is' if beside.slower == 1 else 'are'} slower")
        raise typer.Exit(ExitCode.SLOWER)
    if not beside.judged:
        fail(
            ExitCode.NOTHING_RAN,
            f"--fail-on slower could judge none of {rows}, so nothing is known of what got slower",
        )
    if beside.judged < len(beside.records):
        told(f"--fail-on slower judged {beside.judged:,} of {rows}; none of those is slower")


def _beside_run(before: str, now: str) -> _Beside:
    from sealift.lab.compare import changes_text
    from sealift.lab.compare import compare as compare_runs
    from sealift.lab.stats import Verdict

    compared = compare_runs(_run(before), _run(now))
    told(*compared.notes)
    changes = compared.changes
    if not changes:
        fail(
            ExitCode.NOTHING_RAN,
            f"{before} and {now} have no cell in common that both measured; compare runs of the "
            "same experiments, devices and sizes",
        )
    slower = sum(each.verdict is Verdict.SLOWER for each in changes)
    judged = sum(each.may_be_judged for each in changes)
    return _Beside([each.record for each in changes], changes_text(changes), judged, slower)


def _beside_published(folder: str) -> _Beside:
    from sealift.lab import registry
    from sealift.lab.beside import against_published, published_record, published_text
    from sealift.lab.published import UNJUDGED, Match
    from sealift.lab.summary import summarise

    run = _run(folder)
    beside = against_published(run, summarise(run))
    told(*beside.notes)
    found = beside.comparisons
    if not found:
        if not run.plan.experiments:
            fail(
                ExitCode.NOTHING_RAN,
                f"{folder} has no experiment, and figures were published for experiments only; "
                f"`sealift lab report {folder}` shows what it has",
            )
        ran = ", ".join(each.name for each in run.plan.experiments)
        some = ", ".join(each.name for each in registry.all_experiments() if each.id)
        fail(
            ExitCode.NOTHING_RAN,
            f"{folder} ran {ran}, for which nothing was published; there are figures for {some}",
        )
    unjudged = {Match.NOT_RUN, Match.UNSETTLED, Match.PROJECTED, *UNJUDGED.values()}
    judged = sum(each.match not in unjudged for each in found)
    slower = sum(each.match is Match.SLOWER for each in found)
    text = published_text(found, width=_width())
    return _Beside([published_record(each) for each in found], text, judged, slower)


def _width() -> int | None:
    """Of the terminal; None where something else reads."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def _run(folder: str) -> "Run":
    from sealift.lab import store

    try:
        return store.read(read("RUN", options.folder, folder))
    except store.StoreError as error:
        if options.nearest(folder, [PUBLISHED]):
            raise ValueError(f"{error}; or did you mean `{PUBLISHED}`?") from error
        raise


def _shown(beside: _Beside, form: Shown) -> str:
    from sealift.lab.record import csv_text

    if form is Shown.JSON:
        return json.dumps(beside.records, indent=2, allow_nan=False) + "\n"
    if form is Shown.CSV:
        columns = dict.fromkeys(name for record in beside.records for name in record)
        return csv_text(beside.records, list(columns))
    return beside.text + "\n"


PUBLISHED = "published"
