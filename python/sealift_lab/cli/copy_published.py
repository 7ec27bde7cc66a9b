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
from sealift_lab.cli.parse import Region
from sealift_lab.experiments.document_004 import tool
from sealift_lab.experiments.document_004.copies import READ, REGION, SHARED_BYTES
from sealift_lab.measure.native import (
    PUBLISHED_BYTES,
    PublishedExperiment,
    published_experiment,
    published_tool,
)
from sealift_lab.measure.write_folder import write_file
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
    """Copies, prints the tool's lines, and writes its file."""
    eprint(*_differences(work))
    ids = "".join(f"{number} " for number in work.ids)
    echo(
        f"PAGE_MASK=0x{mmap.PAGESIZE - 1:08x} data_off={work.value} source_init={work.init} "
        f"payload_len_num={len(work.sizes)} runs={work.runs} thread count={work.threads} "
        f"sleep={work.pause_s:g} num_mem_pairs={len(work.ids)} [ {ids}]"
    )
    if work.threads:
        echo(f"Starting {work.threads} worker threads")
    application = published_tool(runs=work.runs, threads=work.threads)
    echo(
        f"App Memory uses host Heap [len=0x{PUBLISHED_BYTES:x} Bytes] at virtual address "
        f"0x{application.address:x}"
    )
    lines: list[tool.ToolLine] = []
    try:
        for number in work.ids:
            time.sleep(work.pause_s)
            memory, length = _memory(number, work.region)
            done = published_experiment(
                application,
                memory=memory,
                bytes=length,
                direction=_direction(number, work.init),
                value=work.value,
                lengths=work.sizes,
                folder=Path(gettempdir()),
                region=work.region,
            )
            found = [*_lines(work, number, done)]
            lines += found
            echo("\n".join(_texts(work, number, length, done, found)))
    finally:
        # What was measured until an interruption or a wrong result, too.
        write_file(file, tool.format_file(lines, small_decimals=3))
        eprint(f"written: {file}")


def _memory(number: int, region: Region | None) -> tuple[str, int]:
    """The kind of the memory that is called shared, and how long it is."""
    memory = tool.MEMORIES[number].removeprefix(READ)
    if memory == REGION and region is not None:
        return memory, min(region.length, PUBLISHED_BYTES)
    return memory, PUBLISHED_BYTES if memory == "heap" else SHARED_BYTES


def _direction(number: int, init: int) -> str:
    if not tool.MEMORIES[number].startswith(READ):
        return "writes"
    return "reads what is there" if init else "reads"


def _lines(work: Work, number: int, done: PublishedExperiment) -> Iterator[tool.ToolLine]:
    for size_bytes, times in zip(work.sizes, done.ns, strict=False):
        for function, ns in zip(tool.TOOL_NAMES.values(), times, strict=True):
            speed = Estimate(size_bytes * work.runs / max(1, ns))
            name = tool.NAMES[number]
            yield tool.ToolLine(name, size_bytes, function, speed, work.runs, work.threads)


def _texts(
    work: Work,
    number: int,
    length: int,
    done: PublishedExperiment,
    lines: Sequence[tool.ToolLine],
) -> Iterator[str]:
    """What the tool prints of an experiment."""
    yield "-" * 86
    if _direction(number, work.init) != "reads what is there":
        yield f"    sour data [len=0x{length:x} bytes]: {_words(done.source)}"
    memory, offset = tool.MEMORIES[number].removeprefix(READ), 0
    if memory != "heap":
        yield (
            f"    Shared mmap'ed DDR [len=0x{length:x} Bytes] starts at virtual address "
            f"0x{done.address:x}"
        )
    if memory == REGION and work.region is not None:
        offset = work.region.offset
    yield (
        f"{number}) {tool.NAMES[number]} (fd={done.file}, vir-addr=0x{done.address:x}, "
        f"phy-addr=0x{offset:x}, len={length / 1e6:f} MB)"
    )
    for line in lines:
        speed = line.gb_per_s.value if line.gb_per_s else 0.0
        delta_s = line.size_bytes / speed / 1e9
        yield (
            f"{line.size_bytes:8d} bytes using {line.function} = {speed:7.3f} GB/s "
            f"({line.runs} runs: ave delta = {delta_s:.9f} secs)"
        )
    last = work.sizes[len(done.ns) - 1] if done.ns else 0
    if len(done.ns) < len(work.sizes):
        yield (
            f"    Cannot run test with payload length (0x{work.sizes[len(done.ns)]:x}) > mapped "
            f"length (0x{length:x})"
        )
    yield f"    dest data [len=0x{last:x} bytes]: {_words(done.target)}"
    yield (
        f"Deallocating memory: fd={done.file} pa_virt_addr=0x{done.address:x} "
        f"pa_map_len=0x{length:x} mem_typ_pair_indexM={number}"
    )
    yield "run_per_mem_type_pair Done"


def _words(words: Sequence[int]) -> str:
    last, before, *first = (f"{word:x}" for word in words)
    return f"0x {last} {before} ... {' '.join(first)}"


def _differences(work: Work) -> Iterator[str]:
    """What is not as there, by what is asked for."""
    memories = {tool.MEMORIES[number].removeprefix(READ): number for number in work.ids}
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
    if work.init and "App reads from host-mmap" in (tool.NAMES[number] for number in work.ids):
        yield (
            "-i 1: nobody else can have written memory without a name, so experiment 3 reads "
            "zeros; two processes meet in a region, as /dev/shm/NAME:0:LENGTH, with 4 and 5"
        )
    if work.pause_s:
        yield "-z waits once before each experiment; the tool sleeps after each byte that it copies"
