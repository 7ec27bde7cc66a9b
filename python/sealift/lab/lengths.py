"""How long messages are: one length or many, with how many there are of each; from a file, too.

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

from sealift.lab.workload import MAX_TEXT_LEN, Weighted


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in bytes, and how many messages have each.

    Attributes:
        counts: Length and number of messages, ascending by length.
    """

    counts: Weighted

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> "Lengths":
        """Those of a count.

        Raises:
            ValueError: If no message is counted, or all are empty.
        """
        kept = tuple(sorted((size, count) for size, count in counts.items() if count))
        if not kept:
            raise ValueError("no messages; write at least one length")
        if kept[-1][0] == 0:
            raise ValueError("all messages have 0 bytes; right would be texts to encrypt")
        return cls(kept)

    @classmethod
    def read(cls, path: Path) -> "Lengths":
        """Reads a file: a header with a column `bytes`, maybe one `count`; or a number a line.

        Raises:
            ValueError: Naming the file, the line, what stands there and what would be right.
        """
        if path.is_dir():
            raise ValueError(
                f"{path} is a folder; right would be a file of lengths, or --run {path} for a run "
                "that was measured before"
            )
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                return cls.of(_counted(file))
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}; {A_FILE}") from error
        except (ValueError, csv.Error) as error:
            # What is no UTF-8 is a ValueError, too.
            told = "it is no UTF-8 text" if isinstance(error, UnicodeError) else str(error)
            raise ValueError(f"{path}: {told}; {A_FILE}") from error

    @classmethod
    def parse(cls, text: str) -> "Lengths":
        """Reads what `str` gives: `40x58 576x33 1500x9`.

        Raises:
            ValueError: If it is something else.
        """
        pairs = [re.fullmatch(r"([0-9]{1,11})x([0-9]{1,16})", part) for part in text.split()]
        counts = Counter({int(pair[1]): int(pair[2]) for pair in pairs if pair})
        if not counts or not all(pairs) or max(counts) > MAX_TEXT_LEN:
            raise ValueError(f"lengths {text[:80]!r}; right would be 40x58 576x33")
        return cls.of(counts)

    def __str__(self) -> str:
        """The form that `parse` reads."""
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
    def least_bytes(self) -> int:
        """The shortest."""
        return self.counts[0][0]

    @property
    def most_bytes(self) -> int:
        """The longest."""
        return self.counts[-1][0]

    @property
    def name(self) -> str:
        """Short enough for a cell, and another one for other lengths: `753 lengths (4f2a91)`."""
        told = sha256(str(self).encode()).hexdigest()[:6]
        return f"{len(self.counts):,} lengths ({told})"

    def thinned(self) -> "Lengths":
        """At most `LENGTHS_MOST` of them, taken at even distances where there are more.

        No more messages than that are measured.
        """
        if len(self.counts) <= LENGTHS_MOST:
            return self
        kept = {}
        passed = mark = 0
        for size, count in self.counts:
            before = mark
            passed += count
            # Rounded: at the end of each step the longer ones would be taken.
            mark = (2 * LENGTHS_MOST * passed + self.messages) // (2 * self.messages)
            kept[size] = mark - before
        return Lengths.of(kept)


def _counted(lines: Iterable[str]) -> Counter[int]:
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
        size = _whole(fields[columns["bytes"]], "length", MAX_TEXT_LEN, number)
        times = columns.get("count")
        counts[size] += 1 if times is None else _whole(fields[times], "count", COUNT_MAX, number)
    return counts


def _columns(first: list[str]) -> dict[str, int]:
    """Where length and count stand; a file that begins with one number has no header."""
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


LENGTHS_MOST = 10_000
COUNT_MAX = 2**53
DIGITS_MAX = 20
A_FILE = (
    "right would be a header with a column bytes and, if lengths repeat, one count, or one number "
    "a line"
)
