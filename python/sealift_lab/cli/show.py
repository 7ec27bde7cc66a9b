"""`sealift lab show`, `report` and `export`: a run on the terminal, as a page, as a file."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from rich.console import RenderableType
from rich.text import Text

from sealift.cli.output import echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.claim.answer import answer
from sealift_lab.claim.claims import finding
from sealift_lab.claim.declared import encode_declared, plans, published
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, option
from sealift_lab.experiments.document_004.tool import format_file, lines_of
from sealift_lab.judge.rows import results
from sealift_lab.measure.write_folder import write_file
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.results import Results
from sealift_lab.model.run import PAGE, PUBLISHED, SUMMARY, PlannedExperiment
from sealift_lab.run.read_folder import Run
from sealift_lab.show.export import encode, form_of, rows_frame, samples_frame
from sealift_lab.show.tables import experiment_table
from sealift_lab.show.terminal import TableText, findings_text


def show(
    folder: output.Folder,
    rows: Annotated[bool, option("show", "--rows")] = False,
) -> None:
    """Show what a run found: the answer, and a line for each experiment."""
    run = output.open_run(folder)
    found = results(run)
    if rows:
        parts = [p for each in plans(run) for p in (Text(), *_rows(each, found[each.name]))]
        output.show(*parts[1:])
    else:
        pairs, _ = published(run, found)
        of = {each.name: [p for p in pairs if p[1].experiment == each.name] for each in plans(run)}
        findings = {e.name: finding(e, found[e.name], of[e.name]) for e in plans(run)}
        output.show_answer(answer(run, found))
        output.show(Text(), findings_text(findings))


def _rows(planned: PlannedExperiment, found: Results) -> Iterator[RenderableType]:
    yield Text(f"{planned.name}: {planned.title}")
    if found.rows or any(report.facts for report in found.reports):
        yield TableText(experiment_table(planned, found))
    else:
        yield Text("nothing was measured")


def report(
    folders: Annotated[list[Path], argument("report", "RUN", parse.folder)],
    out: Annotated[Path | None, option("report", "--out", "FILE", parse.file)] = None,
) -> None:
    """Write the page of a run anew, or one page of several runs, and print its path.

    The page is made of the samples. Where the folder's summary.csv is missing or holds something
    else than they say, it is written anew too, unless --out names another place. The page of
    several runs has a column for each, compared with the first.
    """
    folder, *others = folders
    if others:
        if out is None:
            raise ValueError(f"the page of {len(folders)} runs needs --out FILE")
        write_runs_report(folders, {}, out)
        echo(str(out))
        return
    page, is_mended = write_report(folder, place=out)
    echo(str(page))
    if is_mended:
        eprint(f"{folder / SUMMARY} was not what the samples say, and was written anew")


def write_report(
    folder: Path, loaded: Sequence[Experiment] = (), place: Path | None = None
) -> tuple[Path, bool]:
    """Writes the page of a run, and its summary where that says something else.

    Published figures of `loaded`, experiments of one's own, count only so. The page goes to
    `place`, if that is given, and nothing else is written then. Returns the page, and whether the
    summary was written.
    """
    # What draws charts takes half a second to import.
    from sealift_lab.show.page import page

    run = output.open_run(folder)
    found = results(run)
    path, summary = place or run.path / PAGE, run.path / SUMMARY
    if loaded and not place:
        # What is shown elsewhere has no experiments of a user's own.
        write_file(run.path / PUBLISHED, encode_declared(run, found, loaded))
    write_file(path, page(run, found, loaded))
    content = encode(rows_frame(run.plan, found), "csv")
    if place or (summary.is_file() and summary.read_bytes() == content):
        return path, False
    write_file(summary, content)
    return path, True


def write_runs_report(folders: Sequence[Path], absent: Mapping[str, str], place: Path) -> None:
    """Writes the page of runs; columns have the parts of their paths in which they differ.

    Args:
        folders: Of the runs, each once; the others are compared with the first.
        absent: Titles of columns without a run, and why there is none.
        place: The file.
    """
    from sealift_lab.show.runs_page import runs_page

    paths = [folder.resolve() for folder in folders]
    if twice := {str(path) for path in paths if paths.count(path) > 1}:
        raise ValueError(f"{min(twice)} is named twice; name each run once")
    common = Path(os.path.commonpath([path.parent for path in paths]))
    parts = [list(path.relative_to(common).parts) for path in paths]
    while min(map(len, parts)) > 1 and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    names = map("/".join, parts)
    runs = {name: output.open_run(path) for name, path in zip(names, paths, strict=True)}
    write_file(place, runs_page(runs, absent))


Kind = Literal["csv", "json", "jsonl", "parquet", "memcpy_test"]


def export(
    folder: output.Folder,
    kind: Annotated[Kind | None, option("export", "--format")] = None,
    out: Annotated[Path | None, option("export", "--out -o", "FILE", parse.file)] = None,
    what: Annotated[Literal["samples", "summary"], option("export", "--what")] = "samples",
) -> None:
    """Write what a run measured or computed for other programs."""
    if out is None and kind == "parquet" and sys.stdout.isatty():
        fail(ExitCode.USAGE, "Parquet is no text; name a file with -o")
    content = _encode(output.open_run(folder), what, kind or form_of(out))
    if out is None:
        output.show_bytes(content)
    else:
        write_file(out, content)
        echo(str(out))


def _encode(run: Run, what: str, kind: str) -> bytes:
    if kind == "memcpy_test":
        rows = [row for found in results(run).values() for row in found.rows]
        return format_file(lines_of(rows)).encode()
    if what == "samples":
        return encode(samples_frame(run.plan, run.samples), kind)
    return encode(rows_frame(run.plan, results(run)), kind)
