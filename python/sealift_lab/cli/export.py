"""`sealift lab export`: samples or rows for other programs."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.help import option
from sealift_lab.cli.output import fail, parsed

if TYPE_CHECKING:
    from sealift_lab.run.folder import Run


class What(StrEnum):
    """Which of a run's figures."""

    SAMPLES = "samples"
    SUMMARY = "summary"


class Kind(StrEnum):
    """The kind of file."""

    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MEMCPY_TEST = "memcpy_test"


KINDS = f"[{'|'.join(Kind)}]"


def export(
    folder: output.Folder,
    form: Annotated[str | None, option("export", "--format", metavar=KINDS)] = None,
    out: Annotated[str | None, option("export", "--out", "-o", metavar="FILE")] = None,
    what: Annotated[str, option("export", "--what", metavar="[samples|summary]")] = "samples",
) -> None:
    """Write what a run measured or computed for other programs."""
    chosen = parsed("--what", parse.choice(What), what)
    kind = None if form is None else parsed("--format", parse.choice(Kind), form)
    place = None if out is None else parsed("-o", parse.file, out)
    if place is None and kind is Kind.PARQUET and sys.stdout.isatty():
        fail(ExitCode.USAGE, "Parquet is no text; name a file with -o")
    with output.in_sentences():
        from sealift_lab.run.writing import write_file
        from sealift_lab.show.export import form_of

        kind = Kind(form_of(place)) if kind is None else kind
        content = _encode(output.open_run(folder), chosen, kind)
        if place is None:
            output.show_bytes(content)
            return
        write_file(place, content)
    typer.echo(place)


def _encode(run: "Run", what: What, kind: Kind) -> bytes:
    from sealift_lab.judge.judge import results
    from sealift_lab.show.export import encode, rows_frame, samples_frame

    if kind is Kind.MEMCPY_TEST:
        from sealift_lab.experiments.document_004.tool_file import format_file, lines_of

        rows = [row for found in results(run).values() for row in found.rows]
        return format_file(lines_of(rows)).encode()
    if what is What.SAMPLES:
        return encode(samples_frame(run.plan, run.samples), kind)
    return encode(rows_frame(run.plan, results(run)), kind)
