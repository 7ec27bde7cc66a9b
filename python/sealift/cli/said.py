"""What commands say on standard error, and how they end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

import typer

from sealift.exit_code import ExitCode

Given = TypeVar("Given")
Read = TypeVar("Read")


def told(*lines: str) -> None:
    """Lines on standard error, each with the name of the program."""
    for line in lines:
        typer.echo(f"sealift: {line}", err=True)


def fail(code: int, message: str) -> NoReturn:
    """Says why the program ends, and ends it."""
    told(message)
    raise typer.Exit(code)


def read(option: str, parse: Callable[[Given], Read], value: Given) -> Read:
    """Parses a value; what is wrong with it ends the program with the usage code."""
    try:
        return parse(value)
    except ValueError as error:
        fail(ExitCode.USAGE, f"{option}: {error}")


@contextmanager
def in_sentences() -> Iterator[None]:
    """What goes wrong inside ends the program with one sentence and its code."""
    from sealift.errors import SealiftError
    from sealift.lab.store import StoreError

    try:
        yield
    except typer.Exit:
        # It was told already; to Python it is a RuntimeError.
        raise
    except StoreError as error:
        fail(error.code, str(error))
    except ValueError as error:
        fail(ExitCode.USAGE, str(error))
    except OSError as error:
        if error.filename is None:
            # Standard output has no name; who called says what to do about it.
            raise
        fail(ExitCode.NOT_WRITTEN, f"{error.filename}: {error.strerror}; name another place")
    except (SealiftError, MemoryError, RuntimeError) as error:
        fail(ExitCode.NOTHING_RAN, str(error))
    except KeyboardInterrupt:
        fail(ExitCode.INTERRUPTED, "interrupted")
