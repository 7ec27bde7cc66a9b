"""The file that the published copy tool writes, six columns of text (document 004)."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift.lab.record import Record


@dataclass(frozen=True)
class Line:
    """One line of the file.

    Attributes:
        experiment: What was copied where: `App writes to host-heap`.
        size_bytes: Length of a copy.
        function: Who copied: `glibc_memcpy`.
        gb_per_s: Payload in 10**9 bytes a second; None where the file has too few digits to tell,
            as in 0.000.
        runs: How often the function was timed.
        threads: Workers; 0 for none.
    """

    experiment: str
    size_bytes: int
    function: str
    gb_per_s: float | None
    runs: int
    threads: int


def text_of(lines: Iterable[Line]) -> str:
    """The file. Small figures have more than the tool's three decimals, so that none is 0.000."""
    return "".join(f"{line}\n" for line in (HEADER, *map(_text, lines)))


def parse(text: str) -> tuple[Line, ...]:
    """Reads a file that the tool or Sealift wrote; older ones lack the number of threads.

    Raises:
        ValueError: Naming the line, what stands there and what would be right.
    """
    rows = list(csv.reader(text.splitlines(), skipinitialspace=True))
    if not rows or not rows[0] or rows[0][0].strip() != COLUMNS[0]:
        begin = ", ".join(rows[0]) if rows else ""
        raise ValueError(f"line 1: {begin!r} is no head of the tool's; right would be {HEADER!r}")
    return tuple(_line(number, row) for number, row in enumerate(rows[1:], 2) if row)


def lines_of(records: Sequence[Record]) -> list[Line]:
    """The rows of a run that are copies, as the tool would have named them.

    Args:
        records: From `summary_records`.

    Raises:
        ValueError: If none of them is a copy.
    """
    lines = [_of_record(row) for row in records if _is_copy(row)]
    if not lines:
        raise ValueError(
            "no row of this run is a copy by length and function; right would be a run of "
            "copy-by-length or another experiment of document 004"
        )
    return lines


def _is_copy(row: Record) -> bool:
    return all(row.get(name) is not None for name in NEEDED) and not row.get("wrong")


def _of_record(row: Record) -> Line:
    memory = str(row.get("memory") or "heap")
    told = [str(row[name]) for name in TELLING if row.get(name) is not None]
    function, threads = str(row["function"]), int(str(row["threads"]))
    return Line(
        experiment=" ".join([f"App writes to {PLACES.get(memory, memory)}", *told]),
        size_bytes=int(str(row["size_bytes"])),
        function=f"{function}_memcpy",
        gb_per_s=float(str(row["payload_MB_per_s"])) / MB_A_GB,
        runs=int(str(row["blocks"])),
        threads=0 if threads == 1 else threads,
    )


def _text(line: Line) -> str:
    speed = 0.0 if line.gb_per_s is None else line.gb_per_s
    decimals = 3 if speed >= SMALL_GB_PER_S or not speed else 9
    cells = (line.experiment, line.size_bytes, line.function, f"{speed:.{decimals}f}")
    return ", ".join(map(str, (*cells, line.runs, line.threads)))


def _line(number: int, row: Sequence[str]) -> Line:
    cells = [cell.strip() for cell in row]
    if len(cells) not in (len(COLUMNS) - 1, len(COLUMNS)):
        raise ValueError(f"line {number}: {len(cells)} columns; right would be {len(COLUMNS)}")
    experiment, size, function, speed, runs, *threads = cells
    return Line(
        experiment,
        _number(number, "length", size, least=1),
        function,
        _speed(number, speed),
        _number(number, "number of runs", runs, least=1),
        _number(number, "number of threads", threads[0], least=0) if threads else 0,
    )


def _number(line: int, what: str, text: str, *, least: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:NUMBER_DIGITS]) < least:
        raise ValueError(f"line {line}: a {what} of {text!r}; right would be {least} or more")
    return int(text[:NUMBER_DIGITS])


def _speed(line: int, text: str) -> float | None:
    whole, _, part = text.partition(".")
    if not (whole + part).isascii() or not (whole + part).isdigit():
        raise ValueError(f"line {line}: a throughput of {text!r}; right would be GB/s, as in 5.785")
    return float(text) or None


COLUMNS = (
    "Experiment Description",
    "Copy length (Bytes)",
    "Copy Type",
    "Throughput (GBps)",
    "Number of Runs",
    "Number of Threads",
)
HEADER = ", ".join(COLUMNS)
NEEDED = ("size_bytes", "function", "threads", "payload_MB_per_s", "blocks")
# Axes that the tool doesn't have.
TELLING = ("state", "way", "threading", "offset")
PLACES = {"heap": "host-heap", "shm": "host-mmap", "region": "escape-mmap"}
MB_A_GB = 1_000
SMALL_GB_PER_S = 0.1
NUMBER_DIGITS = 18
