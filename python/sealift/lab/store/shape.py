"""Typed access to JSON that somebody else wrote: what doesn't fit is told with file and line."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sealift.lab.store.errors import StoreError
from sealift.lab.values import INTEGER_MIN, Value, is_text, why_not_kept


@dataclass(frozen=True)
class Record:
    """An object of JSON, and where it stands.

    Attributes:
        plain: As the JSON parser gave it.
        where: File, line and field, for people.
        hint: What to try when it doesn't fit.
    """

    plain: Mapping[str, Any]
    where: str
    hint: str

    @classmethod
    def parse(cls, text: str | bytes, where: str, hint: str) -> "Record":
        """Reads an object.

        Raises:
            StoreError: If it isn't JSON, or no object.
        """
        try:
            plain = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{where}: not JSON ({error}); {hint}") from error
        if not isinstance(plain, dict):
            raise StoreError(f"{where}: {_short(plain)} where an object belongs; {hint}")
        return cls(plain, where, hint)

    def wrong(self, what: str) -> StoreError:
        """The error to raise."""
        return StoreError(f"{self.where}: {what}; {self.hint}")

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """A ValueError of what is made of the fields becomes a StoreError."""
        try:
            yield
        except StoreError:
            raise
        except ValueError as error:
            raise self.wrong(str(error)) from error

    def text(self, name: str) -> str:
        """A string."""
        value = self._get(name)
        return str(value if _is_text(value) else self._refuse(name, "a string"))

    def text_or_none(self, name: str) -> str | None:
        """A string, or None where there is null or nothing."""
        return None if self.plain.get(name) is None else self.text(name)

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        values = self._list(name)
        if not all(map(_is_text, values)):
            self._refuse(name, "a list of strings")
        return values

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._get(name)
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def count(self, name: str, *, least: int | None = 0, below: int | None = None) -> int:
        """An integer; not under `least`, and under `below`."""
        value = self._get(name)
        if not _is_int(value):
            self._refuse(name, "an integer of at most 64 bits")
        if least is not None and value < least:
            self._refuse(name, f"{least} or more")
        if below is not None and value >= below:
            self._refuse(name, f"a number under {below}")
        return int(value)

    def counts(self, name: str, *, least: int = 0) -> list[int]:
        """A list of integers."""
        values = self._list(name)
        if not all(_is_int(value) and value >= least for value in values):
            self._refuse(name, f"a list of integers of {least} or more")
        return values

    def number(self, name: str) -> float:
        """A finite number of 0 or more."""
        value = self._get(name)
        if not _is_number(value) or value < 0:
            self._refuse(name, "a number of 0 or more")
        return float(value)

    def finite(self, name: str) -> float:
        """A finite number, below 0 too."""
        value = self._get(name)
        return float(value) if _is_number(value) else self._refuse(name, "a finite number")

    def share(self, name: str) -> float:
        """A number from 0 to 1."""
        share = self.number(name)
        return share if share <= 1 else float(self._refuse(name, "a number from 0 to 1"))

    def above_0(self, name: str) -> float:
        """A finite number above 0."""
        return self.number(name) or self._refuse(name, "a number above 0")

    def records(self, name: str) -> Iterator["Record"]:
        """A list of objects."""
        return self._records(self._list(name), name)

    def record_lists(self, name: str) -> Iterator[list["Record"]]:
        """A list of lists of objects."""
        for index, inner in enumerate(self._list(name)):
            if not isinstance(inner, list):
                self._refuse(name, "a list of lists")
            yield list(self._records(inner, f"{name}[{index}]"))

    def record(self, name: str) -> "Record":
        """An object."""
        value = self._get(name)
        if not isinstance(value, dict):
            self._refuse(name, "an object")
        return Record(value, f"{self.where}, {name}", self.hint)

    def values(self) -> dict[str, Value]:
        """The whole object, where all values are plain: strings and finite numbers."""
        for name, value in self.plain.items():
            if not is_text(name) or why_not_kept(value):
                self._refuse(name, "a string or a finite number of at most 64 bits")
        return dict(self.plain)

    def _records(self, values: list[Any], name: str) -> Iterator["Record"]:
        for index, value in enumerate(values):
            where = f"{self.where}, {name}[{index}]"
            if not isinstance(value, dict):
                raise StoreError(f"{where}: {_short(value)} where an object belongs; {self.hint}")
            yield Record(value, where, self.hint)

    def _list(self, name: str) -> list[Any]:
        value = self._get(name)
        return value if isinstance(value, list) else self._refuse(name, "a list")

    def _get(self, name: str) -> Any:
        if name not in self.plain:
            raise self.wrong(f"{name!r} is missing")
        return self.plain[name]

    def _refuse(self, name: str, right: str) -> Any:
        raise self.wrong(f"{name} is {_short(self.plain[name])}; right would be {right}")


def read_object(path: Path, hint: str) -> Record:
    """The object that a file holds.

    Raises:
        StoreError: If it can't be read, isn't JSON, or no object.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}; {hint}") from error
    return Record.parse(text, str(path), hint)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that JSON has")


def _is_int(value: object) -> bool:
    return type(value) is int and INTEGER_MIN <= value <= SEED_MAX


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_text(value)


def _is_number(value: object) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


# The widest of unsigned integers, as the seed is one.
SEED_MAX = 2**64 - 1
SHOWN_CHARACTERS = 60
