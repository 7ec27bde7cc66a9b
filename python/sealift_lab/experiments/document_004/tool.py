"""The published copy tool: its experiments, calibrated or in its own way, and its file, 004-R2."""

import random
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import PUBLISHED_FUNCTIONS, REGION
from sealift_lab.measure.loop import lead_in_s
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context, Skip
from sealift_lab.model.results import Estimate, Row


@dataclass(frozen=True)
class Tool:
    """Settings of the tool.

    Attributes:
        ids: Of its experiments, in order.
        lengths: How many of its ten lengths, the shortest first.
        runs: How many samples of each function and length; of the published way how many copies.
        value: Added to the source's bytes, which count up from 0.
        keeps_region: Whether a region that is read was written by another process, and stays as it
            is.
        region: Path, offset and length of a device's memory.
    """

    ids: tuple[int, ...]
    lengths: int
    runs: int
    threads: int
    value: int
    keeps_region: bool
    region: tuple[Path, int, int] | None
    as_published: bool


@dataclass(frozen=True)
class ToolLine:
    """One line of the tool's file, six columns of text.

    Attributes:
        experiment: Direction and memory: `App writes to host-heap`.
        size_bytes: Length of a copy.
        function: Copy function: `glibc_memcpy`.
        gb_per_s: Payload in 10**9 bytes a second, all threads together, with its 95 % interval
            where the samples carry one; None where it was not measured.
        runs: How often the function was timed.
        threads: Workers; 0 for none.
        skipped: Why it was not measured, or "".
    """

    experiment: str
    size_bytes: int
    function: str
    gb_per_s: Estimate | None
    runs: int
    threads: int
    skipped: str = ""

    def __str__(self) -> str:
        """Small figures have more than the tool's three decimals, so that none is 0.000."""
        speed = self.gb_per_s.value if self.gb_per_s else 0.0
        decimals = 3 if speed >= SMALL_GB_PER_S or not speed else 9
        cells = (self.experiment, self.size_bytes, self.function, f"{speed:.{decimals}f}")
        return ", ".join(map(str, (*cells, self.runs, self.threads)))


def run_tool(tool: Tool, number: int) -> Iterator[ToolLine]:
    """Measures one experiment of the tool by its number, length by length.

    Raises:
        WrongResultError: If something was copied wrong, or a region doesn't hold the pattern.
    """
    for size_bytes in LENGTHS[: tool.lengths]:
        arms: dict[str, Arm] = {}
        skipped: dict[str, str] = {}
        for function in PUBLISHED_FUNCTIONS.values():
            try:
                arms[function] = _arm(tool, number, function, size_bytes)
            except Skip as skip:
                skipped[function] = str(skip)
        samples = _sample(tool, arms)
        for printed, function in PUBLISHED_FUNCTIONS.items():
            # Its third copy is not ported: the one that stands for it goes by its own name.
            name = printed if function in ("glibc", "sse2") else f"{function}_memcpy"
            speed = _estimate(samples[function], size_bytes) if function in samples else None
            what = (NAMES[number], size_bytes, name, speed)
            yield ToolLine(*what, tool.runs, tool.threads, skipped.get(function, ""))


def format_file(lines: Iterable[ToolLine]) -> str:
    """The tool's file."""
    return "".join(f"{line}\n" for line in (HEADER, *lines))


def check_file(text: str) -> None:
    """Raises ValueError for no file of the tool's; older ones have other units in their head."""
    first, *_ = (*text.splitlines(), "")
    if not first.startswith(HEADER.partition(",")[0]):
        raise ValueError(f"line 1: {first!r} is no head of the tool's; right would be {HEADER!r}")


def lines_of(rows: Iterable[Row]) -> list[ToolLine]:
    """The rows of a run that are copies, as the tool would have named them; ValueError if none."""
    lines = [_line_of(row) for row in rows if row.cell.keys() >= NEEDED and not row.wrong]
    if not lines:
        raise ValueError(
            "no row of this run is a copy by length and function; right would be a run of "
            "copy-by-length or another experiment of document 004"
        )
    return lines


def _arm(tool: Tool, number: int, function: str, size_bytes: int) -> Arm:
    folder = Path(gettempdir())
    if tool.as_published:
        cell: Cell = {
            "way": f"{copies.AS_PUBLISHED}, {tool.runs} runs",
            "function": function,
            "size_bytes": size_bytes,
            "threads": tool.threads,
            "queue": "yes" if tool.threads else "no",
        }
        return copies.copy_arm(cell, Context(SEED, folder))
    memory, writes = MEMORIES[number // 2], number % 2 == 0
    is_kept = tool.keeps_region and memory == REGION and not writes
    return native(
        "copy",
        function=function,
        bytes=size_bytes,
        threads=max(1, tool.threads),
        source="heap" if writes else memory,
        target=memory if writes else "heap",
        # A region is one for all threads, as there.
        buffers="shared" if memory == REGION else "private",
        content="found" if is_kept else "counting",
        seed=tool.value,
        region=tool.region,
        folder=folder,
    )


def _sample(tool: Tool, arms: Mapping[str, Arm]) -> dict[str, list[float]]:
    """Nanoseconds a copy of each arm, in turns whose order is drawn."""
    if tool.as_published:
        return {function: [arm.sample(0).ns_per_operation] for function, arm in arms.items()}
    samples: dict[str, list[float]] = {function: [] for function in arms}
    order, draw = list(arms), random.Random(SEED)
    for _ in range(tool.runs):
        draw.shuffle(order)
        for function in order:
            arms[function].sample(lead_in_s(SAMPLE_S))
            samples[function].append(arms[function].sample(SAMPLE_S).ns_per_operation)
    return samples


def _estimate(ns: Sequence[float], size_bytes: int) -> Estimate:
    """Bytes a nanosecond, which are GB/s: the median with the exact interval of the sign test."""
    from sealift_lab.judge.intervals import rank

    ordered = sorted(ns)
    speed = size_bytes / statistics.median(ordered)
    place = rank(len(ordered), 0.95, "median")
    if not place:
        return Estimate(speed, reason=f"{len(ordered)} samples are too few for an interval")
    return Estimate(speed, size_bytes / ordered[-place], size_bytes / ordered[place - 1])


def _line_of(row: Row) -> ToolLine:
    memory = str(row.cell.get("memory", "heap"))
    # Axes that the tool doesn't have.
    more = [str(row.cell[name]) for name in MORE_AXES if name in row.cell]
    speed, threads = row.payload_mb_per_s, int(row.cell["threads"])
    return ToolLine(
        experiment=" ".join([f"App writes to {PLACES.get(memory, memory)}", *more]),
        size_bytes=int(row.cell["size_bytes"]),
        function=f"{row.cell['function']}_memcpy",
        gb_per_s=speed and speed.scaled(1 / 1_000),
        runs=row.blocks,
        threads=0 if threads == 1 else threads,
    )


LENGTHS = (*copies.SIZES, 256 << 20)
"""The tool's ten; the last one on request."""
MEMORIES = ("heap", "shm", REGION)
PLACES = {"heap": "host-heap", "shm": "host-mmap", REGION: "escape-mmap"}
NAMES = tuple(
    f"App {direction} {PLACES[memory]}"
    for memory in MEMORIES
    for direction in ("writes to", "reads from")
)
"""The tool's experiments by their numbers; Sealift's region stands for its ESCAPE memory."""
REGION_IDS = (4, 5)
READ_REGION = 5
SAMPLE_S = 0.005
SEED = 1
HEADER = (
    "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), Number of Runs, "
    "Number of Threads"
)
NEEDED = {"size_bytes", "function", "threads"}
MORE_AXES = ("state", "way", "threading", "offset")
SMALL_GB_PER_S = 0.1
