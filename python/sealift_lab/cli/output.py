"""How commands print results, report the lab's errors, and open the runs that they show."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from sealift.cli.output import CODES, ESCAPES, echo
from sealift.exit_code import ExitCode
from sealift_lab import _lab
from sealift_lab.cli.parse import argument, folder, option
from sealift_lab.measure.write_folder import NotWrittenError
from sealift_lab.model.arm import Skip, Value, WrongResultError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sealift_lab.claim.answer import Answer
    from sealift_lab.run.read_folder import Run

Folder = Annotated[Path, argument("shared", "RUN", folder)]
Json = Annotated[bool, option("shared", "--json")]
Csv = Annotated[bool, option("shared", "--csv")]
Record = Mapping[str, Value | bool | None]
"""A row for programs: columns with values."""


def open_run(path: Path) -> "Run":
    """The run of a folder; its plan is read, a `FolderError` where there is none."""
    from sealift_lab.run.read_folder import Run

    run = Run(path)
    _ = run.plan
    return run


def show(*parts: "RenderableType") -> None:
    """Prints for people; where no terminal reads, tables are as wide as they need."""
    from rich.console import Console, Group
    from rich.segment import Segment, Segments

    from sealift_lab.show.terminal import TableText

    if sys.stdout.isatty():
        console = Console(highlight=False)
        drawn = console.render(Group(*parts))
        escaped = [Segment(text.translate(ESCAPES), style) for text, style, _ in drawn]
        console.print(Segments(escaped), end="")
        return
    endless = Console(width=WIDTH_MAX)
    tables = [part for part in parts if isinstance(part, TableText)]
    width = max([WIDTH, *(endless.measure(table).maximum for table in tables)])
    text = io.StringIO()
    Console(file=text, width=width, color_system=None).print(Group(*parts))
    echo("\n".join(map(str.rstrip, text.getvalue().splitlines())))


def show_answer(
    answer: "Answer", links: Sequence[tuple[str, str]] = (), *parts: "RenderableType"
) -> None:
    """Prints the answer of a run, more parts, and where to go from there: names with paths.

    Paths are never broken into lines, so that they can be copied and read by scripts.
    """
    from rich.console import Console

    from sealift_lab.show.terminal import answer_text

    width = Console().width if sys.stdout.isatty() else WIDTH
    show(answer_text(answer, width), *parts)
    if links:
        echo("\n".join(["", *(f"  {name:<8}  {place}" for name, place in links)]))


def show_json(document: object) -> None:
    """Prints JSON: NaN as null, what JSON doesn't know as text."""
    plain = msgspec.json.encode(document, enc_hook=_plain)
    echo(msgspec.json.format(plain).decode())


def _plain(value: object) -> object:
    # Numbers of numpy are of a class of their own.
    return float(value) if isinstance(value, float) else str(value)


def show_csv(records: Sequence[Record]) -> None:
    """Prints CSV with the columns of all records."""
    names = dict.fromkeys(name for record in records for name in record)
    text = io.StringIO()
    writer = csv.DictWriter(text, [*names], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    show_bytes(text.getvalue().encode())


def show_bytes(content: bytes) -> None:
    """Writes a file's content to standard output: as it is, unless a terminal reads."""
    if sys.stdout.isatty():
        echo(content.decode(errors="replace").rstrip("\n"))
        return
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


WIDTH, WIDTH_MAX = 80, 10_000
CODES.update(
    {
        _lab.WrongResultError: ExitCode.WRONG_RESULT,
        WrongResultError: ExitCode.WRONG_RESULT,
        NotWrittenError: ExitCode.NOT_WRITTEN,
        _lab.NotMeasurableError: ExitCode.NOTHING_RAN,
        Skip: ExitCode.NOTHING_RAN,
    }
)
