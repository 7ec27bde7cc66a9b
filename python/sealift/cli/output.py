"""How commands parse options, print, report errors in one sentence, and end with an exit code."""

import shutil
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
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

    def option(
        self, command: str, flags: str, metavar: str | None = None, of: Parse = None, **how: Any
    ) -> Any:
        """An option; its text stands under its first flag, `of` parses values, but no defaults."""
        first, *_, last = 2 * flags.split()
        how |= {"help": self.texts[command][first], "parser": _parser(last, of)}
        return typer.Option(*flags.split(), metavar=metavar, **how)

    def argument(self, command: str, metavar: str, of: Parse = None, **how: Any) -> Any:
        """An argument; its text stands under the name that users see."""
        how |= {"help": self.texts[command][metavar], "parser": _parser(metavar, of)}
        return typer.Argument(metavar=metavar, **how)

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
def in_sentences() -> Iterator[None]:
    """Turns an error inside into one sentence on standard error and its exit code."""
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
        for kind, code in reversed(CODES.items()):
            if isinstance(error, kind):
                fail(code, str(error) or "there is no memory for it")
        raise


def columns(rows: Sequence[Sequence[str]], right: int = 0) -> str:
    """Lines of aligned columns; on a terminal the last column is broken into lines.

    Where a terminal has no room beside the others, the last column stands below them.

    Args:
        rows: As many cells each.
        right: How many columns behind the first one are aligned to the right.
    """
    *widths, last = [max(map(len, column)) for column in zip(*rows, strict=True)]
    indent = sum(widths) + 2 * len(widths)
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else indent + last
    is_below = room - indent < min(last, LAST_COLUMN_MIN)
    aligned = [f"{'>' if 0 < at <= right else '<'}{width}" for at, width in enumerate(widths)]
    wrap = partial(textwrap.fill, width=room, subsequent_indent=" " * indent)

    def lines(cells: Sequence[str], text: str) -> str:
        head = "".join(f"{cell:{how}}  " for cell, how in zip(cells, aligned, strict=True))
        if not is_below:
            return wrap(head + text).rstrip()
        below = textwrap.fill(text, width=room, initial_indent=BELOW, subsequent_indent=BELOW)
        return "\n".join(filter(None, (head.rstrip(), below)))

    return "\n".join(lines(cells, text) for *cells, text in rows)


def format_measure(value: float) -> str:
    """Four significant digits with grouped thousands, and no exponent: `1,235,000`, `0.0004123`."""
    return f"{Decimal(f'{value:#.4g}'):,f}" if value else "0"


# The last one that fits counts; `sealift_lab.cli.output` adds those of the lab's errors.
CODES: dict[type[Exception], ExitCode] = {
    RuntimeError: ExitCode.NOTHING_RAN,
    MemoryError: ExitCode.NOTHING_RAN,
    SealiftError: ExitCode.NOTHING_RAN,
    ValueError: ExitCode.USAGE,
}
# As JSON escapes them, so that a document stays one.
ESCAPES = {
    code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
LAST_COLUMN_MIN, BELOW = 20, "    "
