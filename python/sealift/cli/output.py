"""How commands parse options, print, report errors in one sentence, and end with an exit code."""

import shutil
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import files
from typing import Any, NoReturn, TypeVar

import typer

from sealift.errors import SealiftError
from sealift.exit_code import ExitCode

Parse = Callable[[str], Any] | None
T = TypeVar("T")
S = TypeVar("S")


def echo(text: str = "", *, err: bool = False) -> None:
    """Prints a text; control characters, which a foreign run folder may hold, are escaped."""
    typer.echo(text.translate(ESCAPES), err=err)


def eprint(*lines: str) -> None:
    """Prints lines on standard error, each with the name of the program."""
    for line in lines:
        echo(f"sealift: {line}", err=True)


def fail(code: int, message: str) -> NoReturn:
    """Prints why the program ends, and ends it."""
    eprint(message)
    raise typer.Exit(code)


def parsed(option: str, parse: Callable[[S], T], value: S) -> T:
    """A parsed value; a ValueError ends the program with the option's name and code 2."""
    try:
        return parse(value)
    except ValueError as error:
        fail(ExitCode.USAGE, f"{option}: {error}")


class Help:
    """What the file help.toml of a package says of its commands, and options with these texts."""

    def __init__(self, package: str) -> None:
        """Reads the file."""
        text = (files(package) / "help.toml").read_text(encoding="utf-8")
        self.texts: dict[str, dict[str, str]] = tomllib.loads(text)

    def option(self, command: str, flags: str, metavar: str | None = None, of: Parse = None) -> Any:
        """An option; its text stands under its first flag, `of` parses values, but no defaults."""
        first, *_, last = 2 * flags.split()
        text, parser = self.texts[command][first], _parser(last, of)
        return typer.Option(*flags.split(), help=text, metavar=metavar, parser=parser)

    def argument(self, command: str, metavar: str, of: Parse = None) -> Any:
        """An argument; its text stands under the name that users see."""
        text, parser = self.texts[command][metavar], _parser(metavar, of)
        return typer.Argument(help=text, metavar=metavar, parser=parser)

    def lines(self, command: str, name: str = "examples") -> str:
        """What stands below the options of a command, line by line; "" where there is nothing."""
        text = self.texts[command].get(name, "").rstrip()
        # \b keeps the lines of a paragraph as they are.
        return text and "\b\n" + text.replace("\n\n", "\n\n\b\n")


def _parser(option: str, parse: Parse) -> Callable[[Any], Any] | None:
    if parse is None:
        return None
    return lambda value: parsed(option, parse, value) if isinstance(value, str) else value


@contextmanager
def in_sentences(codes: Mapping[type[Exception], ExitCode] | None = None) -> Iterator[None]:
    """Turns an error inside into one sentence on standard error and its exit code.

    Args:
        codes: Those of errors that only the caller knows.
    """
    try:
        yield
    except typer.Exit:
        # To Python it is a RuntimeError.
        raise
    except KeyboardInterrupt:
        fail(ExitCode.INTERRUPTED, "interrupted")
    except OSError as error:
        if error.filename is None:
            # Of standard output; `main` says what to do about it.
            raise
        fail(ExitCode.NOT_WRITTEN, f"{error.filename}: {error.strerror}; name another place")
    except Exception as error:
        for kind, code in {**(codes or {}), **CODES}.items():
            if isinstance(error, kind):
                fail(code, str(error) or "there is no memory for it")
        raise


def columns(rows: Sequence[Sequence[str]], right: int = 0) -> Iterator[str]:
    """Lines of aligned columns; on a terminal the last column is broken into lines.

    Args:
        rows: As many cells each.
        right: How many columns behind the first one are aligned to the right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = shutil.get_terminal_size().columns - indent if sys.stdout.isatty() else widths[-1]
    for row in rows:
        cells = (
            text.rjust(width) if 0 < place <= right else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        *begin, _ = cells
        first, *rest = textwrap.wrap(row[-1], max(room, LAST_COLUMN_MIN)) or [""]
        yield "  ".join((*begin, first)).rstrip()
        yield from (" " * indent + line for line in rest)


def format_measure(value: float) -> str:
    """Four significant digits with grouped thousands, and no exponent: `1,235,000`, `0.0004123`."""
    return f"{Decimal(f'{value:#.4g}'):,f}" if value else "0"


CODES: Mapping[type[Exception], ExitCode] = {
    ValueError: ExitCode.USAGE,
    SealiftError: ExitCode.NOTHING_RAN,
    MemoryError: ExitCode.NOTHING_RAN,
    RuntimeError: ExitCode.NOTHING_RAN,
}
# As JSON escapes them, so that a document stays one.
ESCAPES = {
    code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
LAST_COLUMN_MIN = 20
