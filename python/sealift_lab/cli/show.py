"""`sealift lab show`: a run on the terminal."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sealift_lab.cli import output
from sealift_lab.cli.help import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from sealift_lab.model.results import Results
    from sealift_lab.run.folder import Run


def show(
    folder: output.Folder,
    rows: Annotated[bool, option("show", "--rows")] = False,
) -> None:
    """Show what a run found: the answer, and a line for each experiment."""
    with output.in_sentences():
        from sealift_lab.judge.judge import results

        run = output.open_run(folder)
        found = results(run)
        output.show(*(_rows(run, found) if rows else _findings(run, found)))


def print_answer(folder: Path) -> None:
    """Prints the answer of a run, and where to go from there."""
    from sealift_lab.claim.answer import answer
    from sealift_lab.judge.judge import results
    from sealift_lab.model.run import PAGE
    from sealift_lab.run.folder import Run

    run, page = Run(folder), folder / PAGE
    where = ("Page", str(page)) if page.exists() else ("Run", str(folder))
    links = [where, ("All rows", f"sealift lab show {shlex.quote(str(folder))} --rows")]
    output.show_answer(answer(run, results(run)), links)


def _findings(run: "Run", results: "Mapping[str, Results]") -> "Iterator[RenderableType]":
    from rich.text import Text

    from sealift_lab.claim.answer import answer
    from sealift_lab.claim.declared import plans, published
    from sealift_lab.claim.findings import finding
    from sealift_lab.show.terminal import answer_text, findings_text

    pairs = published(run, results)
    yield answer_text(answer(run, results), (), output.terminal_width())
    yield Text()
    yield findings_text(
        {
            each.name: finding(
                each, results[each.name], [p for p in pairs if p[1].experiment == each.name]
            )
            for each in plans(run)
        }
    )


def _rows(run: "Run", results: "Mapping[str, Results]") -> "Iterator[RenderableType]":
    from rich.text import Text

    from sealift_lab.claim.declared import plans
    from sealift_lab.show.tables import computed_table, rows_table
    from sealift_lab.show.terminal import table_text

    for place, each in enumerate(plans(run)):
        found = results[each.name]
        table = rows_table if each.is_timed and found.rows else computed_table
        yield Text(f"{each.name}: {each.title}" if place == 0 else f"\n{each.name}: {each.title}")
        if found.rows or any(report.facts for report in found.reports):
            yield table_text(table(each, found))
        else:
            yield Text("nothing was measured")
