"""How commands print results, report the lab's errors, and open the runs that they show."""

import csv
import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sealift.cli import output
from sealift.cli.output import ESCAPES, echo, fail
from sealift.exit_code import ExitCode
from sealift_lab.cli.parse import argument, folder, option
from sealift_lab.measure.storage import NotWrittenError
from sealift_lab.model.arm import Skip, Value, WrongResultError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sealift_lab.claim.answer import Answer
    from sealift_lab.run.folder import Run

Folder = Annotated[Path, argument("shared", "RUN", folder)]
Json = Annotated[bool, option("shared", "--json")]
Csv = Annotated[bool, option("shared", "--csv")]
Record = Mapping[str, Value | bool | None]
"""A row for programs: columns with values."""


def form(*, as_csv: bool, as_json: bool) -> str:
    """What goes to standard output: "csv", "json" or "table"; both options end the program."""
    if as_csv and as_json:
        fail(ExitCode.USAGE, "--csv and --json both want standard output; give one")
    return "csv" if as_csv else "json" if as_json else "table"


def in_sentences() -> AbstractContextManager[None]:
    """Turns an error inside into one sentence on standard error and its exit code."""
    return output.in_sentences(CODES)


def open_run(path: Path) -> "Run":
    """The run of a folder, its plan read.

    Raises:
        FolderError: If it is no run folder.
    """
    from sealift_lab.run.folder import Run

    run = Run(path)
    _ = run.plan
    return run


def show(*parts: "RenderableType") -> None:
    """Prints for people; where no terminal reads, tables are as wide as they need."""
    from rich.console import Console, Group
    from rich.segment import Segment, Segments
    from rich.table import Table

    if sys.stdout.isatty():
        console = Console(highlight=False)
        drawn = console.render(Group(*parts))
        escaped = [Segment(text.translate(ESCAPES), style) for text, style, _ in drawn]
        console.print(Segments(escaped), end="")
        return
    endless = Console(width=WIDTH_MAX)
    tables = [part for part in parts if isinstance(part, Table)]
    width = max([WIDTH, *(endless.measure(table).maximum for table in tables)])
    text = io.StringIO()
    Console(file=text, width=width, color_system=None).print(Group(*parts))
    echo("\n".join(map(str.rstrip, text.getvalue().splitlines())))


def show_answer(answer: "Answer", links: Sequence[tuple[str, str]] = ()) -> None:
    """Prints the answer of a run, then where to go from there: names with paths or commands.

    Paths are never broken into lines, so that they can be copied and read by scripts.
    """
    from sealift_lab.show.terminal import answer_text

    show(answer_text(answer, (), terminal_width()))
    if links:
        echo("\n".join(["", *(f"  {name:<8}  {place}" for name, place in links)]))


def show_json(document: object, indent: int | None = 2) -> None:
    """Prints JSON: NaN as null, what JSON doesn't know as text."""
    text = json.dumps(_plain(document), indent=indent, ensure_ascii=False, default=str)
    echo(text)


def _plain(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {name: _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _plain(asdict(value))
    return value


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


def terminal_width() -> int:
    """Characters of a line."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else WIDTH


WIDTH, WIDTH_MAX = 80, 10_000
CODES = {
    WrongResultError: ExitCode.WRONG_RESULT,
    NotWrittenError: ExitCode.NOT_WRITTEN,
    Skip: ExitCode.NOTHING_RAN,
}
