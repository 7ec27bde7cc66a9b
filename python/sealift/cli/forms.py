"""In which forms commands show and write what they have."""

from collections.abc import Callable
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from sealift.cli.said import fail
from sealift.exit_code import ExitCode

Choice = TypeVar("Choice", bound=StrEnum)


class Shown(StrEnum):
    """What goes to standard output."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Written(StrEnum):
    """What kind of file; the lab's export has a writer for each."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MEMCPY_TEST = "memcpy_test"


def one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """What reads one of some words; a ValueError names them all, and the nearest."""

    def parse(text: str) -> Choice:
        words = [choice.value for choice in choices]
        if text not in words:
            near = get_close_matches(text, words, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise ValueError(f"{text!r} is no choice{hint}; right would be {' or '.join(words)}")
        return choices(text)

    return parse


def shown(*, as_csv: bool, as_json: bool) -> Shown:
    """The form that `--csv` and `--json` ask for; both end the program."""
    if as_csv and as_json:
        fail(ExitCode.USAGE, "--csv and --json both want standard output; give one")
    return Shown.CSV if as_csv else Shown.JSON if as_json else Shown.TABLE
