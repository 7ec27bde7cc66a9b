"""The published copy tool's experiments, calibrated or in its own way: `sealift lab copy`."""

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from sealift_lab.experiments.document_004.copies import PUBLISHED_FUNCTIONS, REGION, SIZES
from sealift_lab.experiments.document_004.tool_file import ToolLine
from sealift_lab.measure.loop import lead_in_s
from sealift_lab.measure.native import NativeArm, copy, published_copy
from sealift_lab.model.results import Estimate
from sealift_lab.model.sample import Skip


@dataclass(frozen=True)
class Tool:
    """Settings of the tool.

    Attributes:
        ids: Of its experiments, in order.
        lengths: How many of its ten lengths, the shortest first.
        runs: How many samples of each function and length; of the published way how many copies.
        threads: Workers; 0 for none.
        value: Added to the source's bytes, which count up from 0.
        keeps_region: Whether a region that is read was written by another process, and stays as it
            is.
        region: Path, offset and length of a device's memory; None without one.
        as_published: Whether it is measured in the published way.
        seed: Of the order of samples.
    """

    ids: tuple[int, ...]
    lengths: int
    runs: int
    threads: int
    value: int
    keeps_region: bool
    region: tuple[Path, int, int] | None
    as_published: bool
    seed: int = 1


@dataclass(frozen=True)
class ToolResult:
    """One function at one length.

    Attributes:
        line: As the tool's file has it.
        gb_per_s: Payload in 10**9 bytes a second, all threads together, with its 95 % interval
            where the samples carry one; None where it was not measured.
        skipped: Why it was not measured, or "".
    """

    line: ToolLine
    gb_per_s: Estimate | None
    skipped: str = ""


def run_tool(tool: Tool, number: int) -> Iterator[ToolResult]:
    """Measures one experiment of the tool, length by length.

    Args:
        tool: Its settings.
        number: Of the experiment.

    Raises:
        WrongResultError: If something was copied wrong, or a region doesn't hold the pattern.
        ValueError: If a number is out of range.
    """
    for size_bytes in LENGTHS[: tool.lengths]:
        yield from _measure(tool, number, size_bytes)


def _measure(tool: Tool, number: int, size_bytes: int) -> Iterator[ToolResult]:
    arms: dict[str, NativeArm] = {}
    skipped: dict[str, str] = {}
    for function in PUBLISHED_FUNCTIONS.values():
        try:
            arms[function] = _arm(tool, number, function, size_bytes)
        except Skip as skip:
            skipped[function] = str(skip)
    samples = _sample(tool, arms)
    for printed, function in PUBLISHED_FUNCTIONS.items():
        speed = _estimate(samples[function], size_bytes) if function in samples else None
        line = ToolLine(
            NAMES[number],
            size_bytes,
            # Its third copy is not ported: the one that stands for it goes by its own name.
            printed if function in ("glibc", "sse2") else f"{function}_memcpy",
            speed.value if speed else None,
            tool.runs,
            tool.threads,
        )
        yield ToolResult(line, speed, skipped.get(function, ""))


def _sample(tool: Tool, arms: Mapping[str, NativeArm]) -> dict[str, list[float]]:
    """Nanoseconds a copy of each arm, in turns whose order is drawn."""
    samples: dict[str, list[float]] = {function: [] for function in arms}
    order, draw = list(arms), random.Random(tool.seed)
    for _ in range(1 if tool.as_published else tool.runs):
        if not tool.as_published:
            draw.shuffle(order)
        for function in order:
            if not tool.as_published:
                arms[function].sample(lead_in_s(SAMPLE_S))
            sample = arms[function].sample(0 if tool.as_published else SAMPLE_S)
            samples[function].append(sample.ns_per_operation)
    return samples


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
    memory, writes = MEMORIES[number // 2], number % 2 == 0
    is_kept = tool.keeps_region and memory == REGION and not writes
    return copy(
        {
            "function": function,
            "bytes": size_bytes,
            "threads": max(1, tool.threads),
            "source": "heap" if writes else memory,
            "target": memory if writes else "heap",
            # A region is one for all threads, as there.
            "buffers": "shared" if memory == REGION else "private",
            "content": "found" if is_kept else "counting",
            "seed": tool.value,
            "region": tool.region,
            "folder": Path(gettempdir()),
        }
    )


def _estimate(ns: Sequence[float], size_bytes: int) -> Estimate:
    """Bytes a nanosecond, which are GB/s: the median with the exact interval of the sign test."""
    from sealift_lab.judge.intervals import rank

    ordered = sorted(ns)
    speed = size_bytes / statistics.median(ordered)
    place = rank(len(ordered), 0.95, "median")
    if not place:
        return Estimate(speed, reason=f"{len(ordered)} samples are too few for an interval")
    return Estimate(speed, size_bytes / ordered[-place], size_bytes / ordered[place - 1])


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
