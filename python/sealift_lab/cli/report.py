"""`sealift lab report`: writes the page of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift_lab.cli import output, parse
from sealift_lab.cli.help import option
from sealift_lab.cli.output import eprint, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sealift_lab.model.experiment import Experiment
    from sealift_lab.model.results import Results
    from sealift_lab.run.folder import Run


def report(
    folder: output.Folder,
    opens: Annotated[bool, option("report", "--open")] = False,
    out: Annotated[str | None, option("report", "--out", metavar="FILE")] = None,
) -> None:
    """Write the page of a run anew, and print its path.

    The page is made of the samples. Where the folder's summary.csv is missing or holds something
    else than they say, it is written anew too, unless --out names another place.
    """
    place = None if out is None else parsed("--out", parse.file, out)
    with output.in_sentences():
        from sealift_lab.judge.judge import results
        from sealift_lab.model.run import PAGE

        run = output.open_run(folder)
        found = results(run)
        page = place or run.path / PAGE
        _write_page(run, found, page)
        typer.echo(page)
        if place is None and (summary := _write_summary(run, found)):
            eprint(f"{summary} was missing, or not what the samples say, and was written anew")
    if opens:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            eprint("no browser was found; open the file by hand")


def write_report(folder: Path, loaded: "Sequence[Experiment]" = ()) -> None:
    """Writes page and summary of a run folder, whole or in part.

    Args:
        folder: Of the run.
        loaded: Experiments of one's own, whose published figures count only so.

    Raises:
        FolderError: If it is damaged.
        NotWrittenError: If it takes no files.
    """
    from sealift_lab.judge.judge import results
    from sealift_lab.model.run import PAGE
    from sealift_lab.run.folder import Run

    run = Run(folder)
    found = results(run)
    _write_page(run, found, folder / PAGE, loaded)
    _write_summary(run, found)


def _write_page(
    run: "Run",
    results: "Mapping[str, Results]",
    page: Path,
    loaded: "Sequence[Experiment]" = (),
) -> None:
    from sealift_lab.run.writing import write_file
    from sealift_lab.show.page import page as page_of

    write_file(page, page_of(run, results, loaded))


def _write_summary(run: "Run", results: "Mapping[str, Results]") -> Path | None:
    """Writes summary.csv where it holds something else than the samples say; returns it then."""
    from sealift_lab.model.run import SUMMARY
    from sealift_lab.run.writing import write_file
    from sealift_lab.show.export import encode, rows_frame

    summary, content = run.path / SUMMARY, encode(rows_frame(run.plan, results), "csv")
    if summary.is_file() and summary.read_bytes() == content:
        return None
    write_file(summary, content)
    return summary
