"""How commands print, report errors in one sentence, and end with an exit code."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import NoReturn, TypeVar

import typer

from sealift.errors import SealiftError
from sealift.exit_code import ExitCode

T = TypeVar("T")
S = TypeVar("S")


def eprint(*lines: str) -> None:
    """Prints lines on standard error, each with the name of the program."""
    for line in lines:
        typer.echo(f"sealift: {line}", err=True)


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


@contextmanager
def in_sentences() -> Iterator[None]:
    """Turns an error inside into one sentence on standard error and its exit code."""
    try:
        yield
    except typer.Exit:
        # To Python it is a RuntimeError.
        raise
    except ValueError as error:
        fail(ExitCode.USAGE, str(error))
    except (SealiftError, MemoryError, RuntimeError) as error:
        fail(ExitCode.NOTHING_RAN, str(error) or "there is no memory for it")
    except KeyboardInterrupt:
        fail(ExitCode.INTERRUPTED, "interrupted")


def table_text(titles: Sequence[str], rows: Sequence[Sequence[str]], right: int = 0) -> str:
    """A table as text; where no terminal reads, lines are as long as they need to be.

    Args:
        titles: Of the columns.
        rows: As many cells each.
        right: How many columns behind the first one are aligned to the right.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, title in enumerate(titles):
        table.add_column(title, justify="right" if 0 < index <= right else "left")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_MAX
    with console.capture() as captured:
        console.print(table)
    return "\n".join(map(str.rstrip, captured.get().splitlines()))


def format_measure(value: float) -> str:
    """Four significant digits with grouped thousands, and no exponent: `1,235,000`, `0.0004123`."""
    return f"{Decimal(f'{value:#.4g}'):,f}" if value else "0"


# Characters; more than any reason of an absent device has.
WIDTH_MAX = 10_000
