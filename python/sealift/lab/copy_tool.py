"""The published copy tool's experiments, measured well: what `sealift lab copy` does."""

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from sealift.lab.copying import PUBLISHED_FUNCTIONS, REGION, SIZES
from sealift.lab.measure import lead_in_s
from sealift.lab.memcpy_test import Line
from sealift.lab.native import NativeArm, copy, published_copy
from sealift.lab.spec import Skip
from sealift.lab.stats import SHOWN_CONFIDENCE, Interval, blocks_needed, median_interval


@dataclass(frozen=True)
class Tool:
    """What is asked of the tool.

    Attributes:
        ids: Of its experiments, in order.
        lengths: How many of its ten lengths, the shortest first.
        runs: How many samples of each function and length; of the published way how many copies.
        threads: Workers; 0 for none.
        value: Added to the source's bytes, which count up from 0.
        is_found: Whether a region that is read was written by another process, and stays as it is.
        region: Path, offset and length of a device's memory; None without one.
        as_published: Whether it is measured in the published way.
        seed: Of the order of samples.
    """

    ids: tuple[int, ...]
    lengths: int
    runs: int
    threads: int
    value: int
    is_found: bool
    region: tuple[Path, int, int] | None
    as_published: bool
    seed: int = 1


@dataclass(frozen=True)
class Copied:
    """One function at one length.

    Attributes:
        line: As the tool's file has it.
        gb_per_s: Payload in 10**9 bytes a second, all threads together; None where the samples are
            too few for one.
        skipped: Why it was not measured, or "".
    """

    line: Line
    gb_per_s: Interval | None
    skipped: str = ""


def copies(tool: Tool, number: int) -> Iterator[Copied]:
    """Measures one experiment of the tool, length by length.

    Args:
        tool: What is asked.
        number: Of the experiment.

    Raises:
        WrongResultError: If something was copied wrong, or a region doesn't hold the pattern.
        ValueError: If a number is out of range.
    """
    for size_bytes in LENGTHS[: tool.lengths]:
        yield from _length(tool, number, size_bytes)


def _length(tool: Tool, number: int, size_bytes: int) -> Iterator[Copied]:
    arms: dict[str, NativeArm] = {}
    skipped: dict[str, str] = {}
    for function in PUBLISHED_FUNCTIONS.values():
        try:
            arms[function] = _arm(tool, number, function, size_bytes)
        except Skip as skip:
            skipped[function] = str(skip)
    samples = _samples(tool, arms)
    for name, function in PUBLISHED_FUNCTIONS.items():
        # Its third copy is not ported: what stands for it goes by its own name.
        told = name if function in ("glibc", "sse2") else f"{function}_memcpy"
        if function in skipped:
            yield Copied(_line(tool, number, size_bytes, told, None), None, skipped[function])
            continue
        ns = samples[function]
        speed = size_bytes / statistics.median(ns)
        yield Copied(_line(tool, number, size_bytes, told, speed), _interval(ns, size_bytes))


def _samples(tool: Tool, arms: dict[str, NativeArm]) -> dict[str, list[float]]:
    """Nanoseconds a copy of each arm, in turns whose order is drawn."""
    taken: dict[str, list[float]] = {function: [] for function in arms}
    order, draw = list(arms), random.Random(tool.seed)
    for _ in range(1 if tool.as_published else tool.runs):
        if not tool.as_published:
            draw.shuffle(order)
        for function in order:
            if not tool.as_published:
                arms[function].sample(lead_in_s(SAMPLE_S))
            sample = arms[function].sample(0 if tool.as_published else SAMPLE_S)
            taken[function].append(sample.ns_per_operation)
    return taken


def _arm(tool: Tool, number: int, function: str, size_bytes: int) -> NativeArm:
    if tool.as_published:
        return published_copy(
            list(PUBLISHED_FUNCTIONS.values()).index(function),
            size_bytes,
            before=[size for size in LENGTHS if size < size_bytes],
            runs=tool.runs,
            threads=tool.threads,
            seed=tool.seed,
        )
    memory = MEMORIES[number // 2]
    writes = number % 2 == 0
    found = tool.is_found and memory == REGION and not writes
    return copy(
        {
            "function": function,
            "bytes": size_bytes,
            "threads": max(1, tool.threads),
            "source": "heap" if writes else memory,
            "target": memory if writes else "heap",
            # A region is one for all threads, as there.
            "buffers": "shared" if memory == REGION else "private",
            "content": "found" if found else "counting",
            "seed": tool.value,
            "region": tool.region,
            "folder": Path(gettempdir()),
        }
    )


def _line(tool: Tool, number: int, size_bytes: int, function: str, speed: float | None) -> Line:
    return Line(NAMES[number], size_bytes, function, speed, tool.runs, tool.threads)


def _interval(ns: Sequence[float], size_bytes: int) -> Interval | None:
    if len(ns) < blocks_needed(SHOWN_CONFIDENCE):
        return None
    return median_interval(ns, confidence=SHOWN_CONFIDENCE).inverse().scaled(size_bytes)


LENGTHS = (*SIZES, 256 << 20)
"""The tool's ten; the last one on request."""
NAMES = (
    "App writes to host-heap",
    "App reads from host-heap",
    "App writes to host-mmap",
    "App reads from host-mmap",
    "App writes to escape-mmap",
    "App reads from escape-mmap",
)
"""The tool's experiments by their numbers; Sealift's region stands for its ESCAPE memory."""
MEMORIES = ("heap", "shm", REGION)
REGION_IDS = (4, 5)
READ_REGION = 5
SAMPLE_S = 0.005
