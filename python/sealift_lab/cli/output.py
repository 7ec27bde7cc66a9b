"""How commands print, report errors in one sentence, and end with an exit code.

Results go to standard output, everything else to standard error.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import parse
from sealift_lab.cli.help import argument, option
from sealift_lab.model.values import Value

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sealift_lab.claim.answer import Answer
    from sealift_lab.run.folder import Run

Folder = Annotated[str, argument("shared", "RUN")]
Json = Annotated[bool, option("shared", "--json")]
Csv = Annotated[bool, option("shared", "--csv")]
Record = Mapping[str, Value | bool | None]
"""A row for programs: columns with values."""
T = TypeVar("T")
S = TypeVar("S")


class Form(StrEnum):
    """What goes to standard output."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def form(*, as_csv: bool = False, as_json: bool = False) -> Form:
    """The form that `--csv` and `--json` choose; both together end the program."""
    if as_csv and as_json:
        fail(ExitCode.USAGE, "--csv and --json both want standard output; give one")
    return Form.CSV if as_csv else Form.JSON if as_json else Form.TABLE


def eprint(*lines: str) -> None:
    """Prints lines on standard error, each with the name of the program."""
    for line in lines:
        typer.echo(f"sealift: {line}", err=True)


def fail(code: int, message: str) -> NoReturn:
    """Prints why the program ends, and ends it."""
    eprint(message)
    raise typer.Exit(code)


def parsed(option: str, parser: Callable[[S], T], value: S) -> T:
    """A parsed value; a ValueError ends the program with the option's name and code 2."""
    try:
        return parser(value)
    except ValueError as error:
        fail(ExitCode.USAGE, f"{option}: {error}")


def parsed_count(option: str, least: int, most: int, noun: str, text: str) -> int:
    """A whole number, parsed as `parsed` does with `parse.count`."""
    return parsed(option, parse.count(least, most, noun), text)


def option_parser(option: str, parser: Callable[[str], T]) -> Callable[[str | T], T]:
    """The same for `typer.Option(parser=...)`, which also gets defaults."""

    def parse_text(value: str | T) -> T:
        return parsed(option, parser, value) if isinstance(value, str) else value

    return parse_text


@contextmanager
def in_sentences() -> Iterator[None]:
    """Turns an error inside into one sentence on standard error and its exit code."""
    from sealift.errors import SealiftError
    from sealift_lab.measure.journal import NotWrittenError
    from sealift_lab.model.sample import Skip, WrongResultError

    try:
        yield
    except typer.Exit:
        # To Python it is a RuntimeError.
        raise
    except WrongResultError as error:
        fail(ExitCode.WRONG_RESULT, str(error))
    except NotWrittenError as error:
        fail(ExitCode.NOT_WRITTEN, str(error))
    except ValueError as error:
        fail(ExitCode.USAGE, str(error))
    except OSError as error:
        if error.filename is None:
            # Of standard output; the root command says what to do about it.
            raise
        fail(ExitCode.NOT_WRITTEN, f"{error.filename}: {error.strerror}; name another place")
    except (SealiftError, Skip, MemoryError, RuntimeError) as error:
        fail(ExitCode.NOTHING_RAN, str(error))
    except KeyboardInterrupt:
        fail(ExitCode.INTERRUPTED, "interrupted")


def open_run(text: str) -> "Run":
    """The run of a folder, its plan read.

    Raises:
        FolderError: If it is no run folder.
    """
    from sealift_lab.run.folder import Run

    run = Run(parsed("RUN", parse.folder, text))
    _ = run.plan
    return run


def show(*parts: "RenderableType") -> None:
    """Prints for people; where no terminal reads, tables are as wide as they need."""
    from rich.console import Console, Group
    from rich.table import Table

    if sys.stdout.isatty():
        Console(highlight=False).print(Group(*parts))
        return
    endless = Console(width=WIDTH_MAX)
    tables = [part for part in parts if isinstance(part, Table)]
    width = max([WIDTH, *(endless.measure(table).maximum for table in tables)])
    text = io.StringIO()
    Console(file=text, width=width, color_system=None).print(Group(*parts))
    typer.echo("\n".join(map(str.rstrip, text.getvalue().splitlines())))


def show_answer(answer: "Answer", links: Sequence[tuple[str, str]] = ()) -> None:
    """Prints the answer of a run, then where to go from there: names with paths or commands.

    Paths are never broken into lines, so that they can be copied and read by scripts.
    """
    from sealift_lab.show.terminal import answer_text

    show(answer_text(answer, (), terminal_width()))
    if links:
        typer.echo()
        typer.echo("\n".join(f"  {line}" for line in columns(links)))


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of aligned columns, without the imports that `show` needs."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def show_json(document: object, indent: int | None = 2) -> None:
    """Prints JSON; what JSON doesn't know is written as text."""
    text = json.dumps(document, indent=indent, allow_nan=False, ensure_ascii=False, default=str)
    typer.echo(text)


def show_csv(records: Sequence[Record]) -> None:
    """Prints CSV with the columns of all records."""
    columns = dict.fromkeys(name for record in records for name in record)
    text = io.StringIO()
    writer = csv.DictWriter(text, [*columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    typer.echo(text.getvalue(), nl=False)


def show_bytes(content: bytes) -> None:
    """Writes a file's content to standard output."""
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def terminal_width() -> int:
    """Characters of a line."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else WIDTH


WIDTH, WIDTH_MAX = 80, 10_000
