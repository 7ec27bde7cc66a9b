"""`sealift lab copy --published-method`: the published tool's way, lines and file.

Where the tool maps physical memory, reads past a mapping or sleeps once a byte, this takes shared
memory or a named region, stays inside, waits once, and says so.
"""

import mmap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from sealift.cli.output import echo, eprint
from sealift_lab._lab import PublishedTool
from sealift_lab.cli.parse import Region
from sealift_lab.experiments.document_004 import tool
from sealift_lab.experiments.document_004.copies import (
    READ,
    READ_HEAP,
    READ_SHARED,
    REGION,
    SHARED_BYTES,
)
from sealift_lab.machine.facts import check_memory
from sealift_lab.measure.write_folder import write_file
from sealift_lab.model.arm import Skip
from sealift_lab.model.results import Estimate


class Work(NamedTuple):
    """What the tool is asked for.

    Attributes:
        ids: Of its experiments, in order.
        init: 1 leaves shared memory that is read as it is.
        value: Added to the bytes of a source, which count up from 0.
    """

    ids: Sequence[int]
    sizes: Sequence[int]
    runs: int
    threads: int
    value: int
    init: int
    pause_s: float
    region: Region | None


def run(work: Work, file: Path) -> None:
    """Copies, prints the tool's lines as it goes, and writes its file.

    Raises:
        Skip: If memory is short, or no length fits.
        NotMeasurableError: If there can't be the threads, or a mapping of what is named.
        WrongResultError: If something is copied wrong; the file has what was measured before.
    """
    check_memory(2 * HEAP_BYTES)
    eprint(*_differences(work))
    ids = "".join(f"{number} " for number in work.ids)
    echo(
        f"PAGE_MASK=0x{mmap.PAGESIZE - 1:08x} data_off={work.value} source_init={work.init} "
        f"payload_len_num={len(work.sizes)} runs={work.runs} thread count={work.threads} "
        f"sleep={work.pause_s:g} num_mem_pairs={len(work.ids)} [ {ids}]"
    )
    if work.threads:
        echo(f"Starting {work.threads} worker threads")
    application = PublishedTool(runs=work.runs, threads=work.threads)
    echo(
        f"App Memory uses host Heap [len=0x{HEAP_BYTES:x} Bytes] at virtual address "
        f"0x{application.address:x}"
    )
    lines: list[tool.ToolLine] = []
    try:
        for number in work.ids:
            time.sleep(work.pause_s)
            lines.extend(_experiment(work, number, application))
    finally:
        # What was measured until an interruption or a wrong result, too; no empty file.
        if lines:
            write_file(file, tool.format_file(lines, small_decimals=3))
            eprint(f"written: {file}")
    if not lines:
        raise Skip(f"no memory holds {min(work.sizes):,} bytes; name shorter --lengths")


def _experiment(work: Work, number: int, application: PublishedTool) -> Iterator[tool.ToolLine]:
    """An experiment, length by length."""
    memory, region = tool.MEMORIES[number].removeprefix(READ), work.region
    is_read, offset = tool.MEMORIES[number].startswith(READ), 0
    length = HEAP_BYTES if memory == "heap" else SHARED_BYTES
    if memory == REGION and region is not None:
        length, offset = min(region.length, HEAP_BYTES), region.offset
    address, file, source = application.begin(
        {
            "memory": memory,
            "bytes": length,
            "direction": ("reads what is there" if work.init else "reads") if is_read else "writes",
            "value": work.value,
            "folder": Path(gettempdir()),
            "region": region,
        }
    )
    echo("-" * 86)
    filled = f"    sour data [len=0x{length:x} bytes]: {_words(source)}"
    mapped = (
        f"    Shared mmap'ed DDR [len=0x{length:x} Bytes] starts at virtual address 0x{address:x}"
    )
    if not is_read:
        echo(filled)
    if memory != "heap":
        echo(mapped)
    if is_read and not work.init:
        echo(filled)
    echo(
        f"{number}) {tool.NAMES[number]} (fd={file}, vir-addr=0x{address:x}, "
        f"phy-addr=0x{offset:x}, len={length / 1e6:f} MB)"
    )
    yield from _copies(work, number, length, application)
    echo(
        f"Deallocating memory: fd={file} pa_virt_addr=0x{address:x} pa_map_len=0x{length:x} "
        f"mem_typ_pair_indexM={number}\nrun_per_mem_type_pair Done"
    )


def _copies(
    work: Work, number: int, length: int, application: PublishedTool
) -> Iterator[tool.ToolLine]:
    """The copies of an experiment, as far as its memory is long enough."""
    copied = ""
    for size_bytes in work.sizes:
        if size_bytes > length:
            echo(
                f"    Cannot run test with payload length (0x{size_bytes:x}) > mapped length "
                f"(0x{length:x})"
            )
            break
        times_ns, target = application.copy(size_bytes)
        for function, ns in zip(tool.TOOL_NAMES.values(), times_ns, strict=True):
            speed = size_bytes * work.runs / max(1, ns)
            echo(
                f"{size_bytes:8d} bytes using {function} = {speed:7.3f} GB/s "
                f"({work.runs} runs: ave delta = {ns / work.runs / 1e9:.9f} secs)"
            )
            figures = (size_bytes, function, Estimate(speed), work.runs, work.threads)
            yield tool.ToolLine(tool.NAMES[number], *figures)
        copied = f"    dest data [len=0x{size_bytes:x} bytes]: {_words(target)}"
    if copied:
        echo(copied)


def _words(words: Sequence[int]) -> str:
    last, before, *first = (f"{word:x}" for word in words)
    return f"0x {last} {before} ... {' '.join(first)}"


def _differences(work: Work) -> Iterator[str]:
    """What is not as there, by what is asked for."""
    memories = {tool.MEMORIES[number].removeprefix(READ) for number in work.ids}
    if "shm" in memories:
        yield (
            "host-mmap is shared memory without a name here, 512 KiB; the tool maps the first "
            "512 KiB of physical memory"
        )
        if max(work.sizes) > SHARED_BYTES:
            yield "dest data of host-mmap: the longest length that fits; the tool reads past it"
    if work.region is not None:
        path, offset, length = work.region
        yield f"escape-mmap is {path}:{offset}:{length} here; there /dev/mem at 0x2080000000"
    if work.init and (found := [each for each in work.ids if tool.MEMORIES[each] in UNNAMED]):
        yield (
            f"-i 1: zeros are read by experiment {' and '.join(map(str, found))}, as nobody else "
            "can have written memory without a name; two processes meet in a region, as "
            "/dev/shm/NAME:0:LENGTH, with 4 and 5"
        )
    if work.pause_s:
        yield "-z waits once before each experiment; the tool sleeps after each byte that it copies"


HEAP_BYTES = 256 << 20
"""The tool's memory of its application, of a heap that it calls shared, and most of a region."""
UNNAMED = (READ_HEAP, READ_SHARED)
