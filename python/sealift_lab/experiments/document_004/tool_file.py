"""The file that the published copy tool writes, six columns of text: 004-R2."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift_lab.model.results import Row


@dataclass(frozen=True)
class ToolLine:
    """One line of the file.

    Attributes:
        experiment: Direction and memory: `App writes to host-heap`.
        size_bytes: Length of a copy.
        function: Copy function: `glibc_memcpy`.
        gb_per_s: Payload in 10**9 bytes a second; None where the file prints 0.000.
        runs: How often the function was timed.
        threads: Workers; 0 for none.
    """

    experiment: str
    size_bytes: int
    function: str
    gb_per_s: float | None
    runs: int
    threads: int


def format_file(lines: Iterable[ToolLine]) -> str:
    """The file. Small figures have more than the tool's three decimals, so that none is 0.000."""
    return "".join(f"{line}\n" for line in (HEADER, *map(_format, lines)))


def parse_file(text: str) -> tuple[ToolLine, ...]:
    """Parses a file that the tool or Sealift wrote; older ones lack the number of threads.

    Raises:
        ValueError: Naming the line, its text and what would be right.
    """
    rows = list(csv.reader(text.splitlines(), skipinitialspace=True))
    if not rows or not rows[0] or rows[0][0].strip() != COLUMNS[0]:
        begin = ", ".join(rows[0]) if rows else ""
        raise ValueError(f"line 1: {begin!r} is no head of the tool's; right would be {HEADER!r}")
    return tuple(_parse(number, row) for number, row in enumerate(rows[1:], 2) if row)


def lines_of(rows: Iterable[Row]) -> list[ToolLine]:
    """The rows of a run that are copies, as the tool would have named them.

    Raises:
        ValueError: If none of them is a copy.
    """
    lines = [_line_of(row) for row in rows if row.cell.keys() >= NEEDED and not row.wrong]
    if not lines:
        raise ValueError(
            "no row of this run is a copy by length and function; right would be a run of "
            "copy-by-length or another experiment of document 004"
        )
    return lines


def _line_of(row: Row) -> ToolLine:
    memory = str(row.cell.get("memory", "heap"))
    # Axes that the tool doesn't have.
    more = [str(row.cell[name]) for name in MORE_AXES if name in row.cell]
    speed, threads = row.payload_mb_per_s, int(row.cell["threads"])
    return ToolLine(
        experiment=" ".join([f"App writes to {PLACES.get(memory, memory)}", *more]),
        size_bytes=int(row.cell["size_bytes"]),
        function=f"{row.cell['function']}_memcpy",
        gb_per_s=speed.value / 1_000 if speed else None,
        runs=row.blocks,
        threads=0 if threads == 1 else threads,
    )


def _format(line: ToolLine) -> str:
    speed = line.gb_per_s or 0.0
    decimals = 3 if speed >= SMALL_GB_PER_S or not speed else 9
    cells = (line.experiment, line.size_bytes, line.function, f"{speed:.{decimals}f}")
    return ", ".join(map(str, (*cells, line.runs, line.threads)))


def _parse(number: int, row: Sequence[str]) -> ToolLine:
    cells = [cell.strip() for cell in row]
    if len(cells) not in (len(COLUMNS) - 1, len(COLUMNS)):
        raise ValueError(f"line {number}: {len(cells)} columns; right would be {len(COLUMNS)}")
    experiment, size, function, speed, runs, *threads = cells
    return ToolLine(
        experiment,
        _parse_number(number, "length", size, least=1),
        function,
        _parse_speed(number, speed),
        _parse_number(number, "number of runs", runs, least=1),
        _parse_number(number, "number of threads", threads[0], least=0) if threads else 0,
    )


def _parse_number(line: int, what: str, text: str, *, least: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:DIGITS_MAX]) < least:
        raise ValueError(f"line {line}: a {what} of {text!r}; right would be {least} or more")
    return int(text[:DIGITS_MAX])


def _parse_speed(line: int, text: str) -> float | None:
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
NEEDED = {"size_bytes", "function", "threads"}
MORE_AXES = ("state", "way", "threading", "offset")
PLACES = {"heap": "host-heap", "shm": "host-mmap", "region": "escape-mmap"}
SMALL_GB_PER_S = 0.1
DIGITS_MAX = 18
