"""How long messages are: one length or many, with how many messages have each; from a file, too.

The mean alone will not do: messages of many lengths take longer than as many of the mean length.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from sealift_lab.model.workload import TEXT_LEN_MAX, Weighted


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in bytes, and how many messages have each.

    Attributes:
        counts: Length and number of messages, ascending by length.
    """

    counts: Weighted

    @classmethod
    def from_counts(cls, counts: Mapping[int, int]) -> "Lengths":
        """Those of a count by length; lengths without messages are left out.

        Raises:
            ValueError: If no message is counted, or all are empty.
        """
        ascending = tuple(sorted((size, count) for size, count in counts.items() if count))
        if not ascending:
            raise ValueError("no messages; write at least one length")
        if ascending[-1][0] == 0:
            raise ValueError("all messages have 0 bytes; right would be texts to encrypt")
        return cls(ascending)

    @classmethod
    def load(cls, path: Path) -> "Lengths":
        """Loads a file: a header with a column `bytes`, maybe one `count`; or a number a line.

        Raises:
            ValueError: Naming the file, the line, the value there and what would be right.
        """
        if path.is_dir():
            raise ValueError(
                f"{path} is a folder; right would be a file of lengths, or --run {path} for a run "
                "that was measured before"
            )
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                return cls.from_counts(_count(file))
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}; {FORM}") from error
        except (ValueError, csv.Error) as error:
            why = "it is no UTF-8 text" if isinstance(error, UnicodeError) else str(error)
            raise ValueError(f"{path}: {why}; {FORM}") from error

    @classmethod
    def parse(cls, text: str) -> "Lengths":
        """Parses what `str` gives: `40x58 576x33 1500x9`.

        Raises:
            ValueError: If it is something else.
        """
        pairs = [re.fullmatch(r"([0-9]{1,11})x([0-9]{1,16})", part) for part in text.split()]
        counts = Counter({int(pair[1]): int(pair[2]) for pair in pairs if pair})
        if not counts or not all(pairs) or max(counts) > TEXT_LEN_MAX:
            raise ValueError(f"lengths {text[:80]!r}; right would be 40x58 576x33")
        return cls.from_counts(counts)

    def __str__(self) -> str:
        """The form that `parse` takes."""
        return " ".join(f"{size}x{count}" for size, count in self.counts)

    @cached_property
    def messages(self) -> int:
        """How many there are."""
        return sum(count for _, count in self.counts)

    @cached_property
    def mean_bytes(self) -> float:
        """The mean length."""
        return sum(size * count for size, count in self.counts) / self.messages

    @property
    def bytes_min(self) -> int:
        """The shortest."""
        return self.counts[0][0]

    @property
    def bytes_max(self) -> int:
        """The longest."""
        return self.counts[-1][0]

    @property
    def name(self) -> str:
        """Short enough for a cell, and another one for other lengths: `753 lengths (4f2a91)`."""
        digest = sha256(str(self).encode()).hexdigest()[:6]
        return f"{len(self.counts):,} lengths ({digest})"

    def thinned(self) -> "Lengths":
        """At most `LENGTHS_MAX` of them, taken at even distances where there are more.

        No more messages than that are measured.
        """
        if len(self.counts) <= LENGTHS_MAX:
            return self
        taken = {}
        passed = mark = 0
        for size, count in self.counts:
            before = mark
            passed += count
            # Rounded: at the end of each step the longer ones would be taken.
            mark = (2 * LENGTHS_MAX * passed + self.messages) // (2 * self.messages)
            taken[size] = mark - before
        return Lengths.from_counts(taken)


def _count(lines: Iterable[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    columns: dict[str, int] = {}
    width = 0
    for number, row in enumerate(csv.reader(lines, skipinitialspace=True), 1):
        fields = [field.strip() for field in row]
        if not any(fields):
            continue
        if not columns:
            columns, width = _columns(fields), len(fields)
            if not _is_number(fields[0]):
                continue
        if len(fields) != width:
            raise ValueError(f"line {number} has {len(fields)} columns, and the first one {width}")
        size = _whole(fields[columns["bytes"]], "length", TEXT_LEN_MAX, number)
        times = columns.get("count")
        counts[size] += 1 if times is None else _whole(fields[times], "count", COUNT_MAX, number)
    return counts


def _columns(first: list[str]) -> dict[str, int]:
    """Columns of length and count; a file that begins with one number has no header."""
    if len(first) == 1 and _is_number(first[0]):
        return {"bytes": 0}
    names = [name.casefold() for name in first]
    if "bytes" not in names:
        raise ValueError(f"no column 'bytes' in its first line, {','.join(first)[:80]!r}")
    return {name: names.index(name) for name in ("bytes", "count") if name in names}


def _whole(text: str, what: str, most: int, line: int) -> int:
    if not _is_number(text) or int(text) > most:
        raise ValueError(f"line {line}: {what} {text[:80]!r} is no whole number from 0 to {most:,}")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX


LENGTHS_MAX = 10_000
COUNT_MAX = 2**53
DIGITS_MAX = 20
FORM = (
    "right would be a header with a column bytes and, if lengths repeat, one count, or one number "
    "a line"
)
