"""How long messages are: one length or many, read from a file, short enough to stand in a cell."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from pathlib import Path

from sealift.lab.workload import MAX_TEXT_LEN, MAX_WEIGHT, Weighted


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
        pairs = [re.fullmatch(r"([0-9]+)x([0-9]+)", part) for part in text.split()]
        if not pairs or not all(pairs):
            raise ValueError(f"lengths {text!r}; right would be 40x58 576x33")
        return cls.of(Counter({int(pair[1]): int(pair[2]) for pair in pairs if pair}))

    def __str__(self) -> str:
        """The form that `parse` reads."""
        return " ".join(f"{size}x{count}" for size, count in self.counts)

    @property
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

    def condensed(self) -> "Lengths":
        """At most `CONDENSED` of these lengths, with about the same mean.

        Where there are more they are cut into parts that hold alike much, half by messages and half
        by bytes, so that rare long ones keep their weight. Each part is left with the two of its
        lengths that lie around its mean, in the numbers that give this mean.
        """
        if len(self.counts) <= CONDENSED:
            return self._reduced(dict(self.counts))
        kept: Counter[int] = Counter()
        for part in self._parts(CONDENSED // 2):
            kept.update(_around_mean(part))
        return self._reduced(kept)

    def _parts(self, parts: int) -> Iterator[Weighted]:
        total, total_bytes = self.messages, self.messages * self.mean_bytes
        found: dict[int, list[tuple[int, int]]] = {}
        passed = 0.0
        for size, count in self.counts:
            own = (count / total + size * count / total_bytes) / 2
            found.setdefault(int((passed + own / 2) * parts), []).append((size, count))
            passed += own
        return map(tuple, found.values())

    def _reduced(self, counts: Mapping[int, int]) -> "Lengths":
        """The same proportions in small numbers, within what a workload takes."""
        least = -(-sum(counts.values()) // MAX_WEIGHT)
        fitting = {size: max(1, count // least) for size, count in counts.items() if count}
        common = gcd(*fitting.values())
        return Lengths.of({size: count // common for size, count in fitting.items()})


def _around_mean(part: Weighted) -> Mapping[int, int]:
    """The two lengths around the mean of some, as often as gives that mean."""
    total = sum(count for _, count in part)
    mean = sum(size * count for size, count in part) / total
    below = max(size for size, _ in part if size <= mean)
    above = min(size for size, _ in part if size >= mean)
    if below == above:
        return {below: total}
    high = round(total * (mean - below) / (above - below))
    return {below: total - high, above: high}


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


# AES-GCM on so many lengths took as long as on all (753 to 5,382 of them) but for 0 to 5 %, on the
# mean length alone 13 to 39 % less (AMD EPYC, cpu and library, batches of 16 and 1,024).
CONDENSED = 64
COUNT_MAX = 2**53
DIGITS_MAX = 20
A_FILE = (
    "right would be a header with a column bytes and, if lengths repeat, one count, or one number "
    "a line"
)
