"""Prints what GPUs could do at most with the machine code that was accepted: projected.

Usage: python tools/gpu_limits.py [--write | --check]

Counts come from python/sealift/lab/data/gpu-machine-code.json; multiprocessors, clocks and rates,
with their sources, from sealift.lab.gpus. --write notes down for the program that measures GPUs how
much of each unit a message asks for, in crates/sealift-gpu-run/src/work.json: it knows the rates of
the GPU that it measures, and says beside each figure what they allow. It also writes the tables of
docs/document-003-gpu.md that are projected, between `<!-- projected: NAME -->` and `<!-- end -->`.
--check says whether both are of the machine code that was accepted.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kept_run import table
from sealift.lab.experiments import gpu_grid
from sealift.lab.experiments.gpu_beside_cpu import BATCHES
from sealift.lab.gpus import GPUS, Counts, Gpu, Limit, Messages, long_limit, message_limit
from sealift.lab.gpus.cells import BLOCK_THREADS
from sealift.lab.gpus.grid import Grid
from sealift.lab.gpus.host import message_ns
from sealift.lab.gpus.limits import BLOCK_BYTES
from sealift.lab.gpus.shown import MEGABYTE, document_shares, ours, replicated
from sealift.lab.gpus.work import LANE_BYTES, long_counts, look_ups, message_counts, tables_of
from sealift.lab.units import format_measure


def main() -> int:
    """Prints the table, or writes or checks what the program is given."""
    arguments = _arguments()
    if arguments.write:
        for name, text in texts(arguments.root).items():
            (arguments.root / name).write_text(text, encoding="utf-8")
            print(f"{name}: written")
        return 0
    if arguments.check:
        stale = [
            name
            for name, text in texts(arguments.root).items()
            if _read(arguments.root / name) != text
        ]
        for name in stale:
            print(f"{name} is not of the machine code that was accepted; {ACCEPT} writes it anew.")
        return int(bool(stale))
    print("Projected from machine code, for data in the GPU's memory; nothing here is measured.\n")
    print(f"{'GPU':10}{'AES':>6}{'tables':>8}  {'work':32}{'GB/s':>8}{'clocks/block':>14}  limit")
    for line in lines():
        print(line)
    return 0


def lines() -> Iterator[str]:
    """One for each GPU, key length, way and kind of work."""
    for gpu in GPUS:
        for key_bits in (128, 256):
            for strict in (False, True):
                short = Messages(key_bits, MESSAGE_BYTES)
                limit = message_limit(gpu, short, strict=strict)
                way = "no" if strict else "yes"
                yield _line(gpu, key_bits, way, "messages of 128 B, own keys", limit)
                limit = long_limit(gpu, key_bits, strict=strict)
                yield _line(gpu, key_bits, way, "long texts, one key", limit)


def work() -> Iterator[dict[str, str | float]]:
    """What a lane asks of units, by architecture, length of keys, tables and kind of work."""
    for gpu in ARCHITECTURES:
        for key_bits in (128, 192, 256):
            for strict in (False, True):
                short = Messages(key_bits, MESSAGE_BYTES)
                of_messages = message_counts(gpu, short, strict=strict)
                of_long = long_counts(gpu, key_bits, strict=strict)
                what = {
                    "architecture": gpu.architecture,
                    "key_bits": key_bits,
                    "tables": tables_of(gpu, strict=strict),
                }
                yield {"work": "messages", **what, **_asked(of_messages, MESSAGE_BYTES)}
                yield {"work": "long", **what, **_asked(of_long, LANE_BYTES)}
                if not strict:
                    # No machine code is of it alone: what it looks up and moves, it does at least.
                    words = look_ups(key_bits) + 2 * BLOCK_BYTES // WORD_BYTES
                    yield {"work": "counter mode", **what, **_asked({"shared": words}, BLOCK_BYTES)}


def work_text() -> str:
    """The same as the file has it, a line each."""
    text = ",\n".join(f" {json.dumps(one)}" for one in work())
    return f"[\n{text}\n]\n"


def texts(root: Path) -> dict[Path, str]:
    """What is written, by file: of the page what stands there, with its projected tables anew."""
    page = _read(root / PAGE)
    if sorted(MARKER.findall(page)) != sorted(TABLES):
        told = ", ".join(f"<!-- projected: {name} -->" for name in TABLES)
        raise SystemExit(f"{root / PAGE}: is to have each of {told} once, with <!-- end --> behind")
    anew = MARKER.sub(
        lambda match: f"<!-- projected: {match[1]} -->\n\n{TABLES[match[1]]()}\n\n<!-- end -->",
        page,
    )
    return {WORK: work_text(), PAGE: anew}


def blocks_table() -> str:
    """What GPUs do at most with blocks of 128 threads, and where that bends."""
    rows = []
    for gpu in GPUS:
        one, whole = Grid(1, BLOCK_THREADS), Grid(gpu.multiprocessors, BLOCK_THREADS)
        speeds = (replicated(gpu, one), replicated(gpu, whole), ours(gpu, whole))
        told = (format_measure(speed / MEGABYTE) for speed in speeds)
        rows.append([gpu.name, f"{gpu.multiprocessors}", f"{gpu.clock_hz / 1e6:,.0f}", *told])
    head = (
        "projected, at most",
        "multiprocessors",
        "boost clock, MHz",
        "as published, replicated, one thread block, MB/s",
        "a thread block for each multiprocessor, MB/s",
        "ours, partitioned, resident, as many thread blocks, MB/s",
    )
    return table(head, rows)


def beside_table() -> str:
    """What a message takes at least host to host, by messages at once."""
    rows = [
        [f"{batch:,}", *(format_measure(message_ns(gpu, batch) / 1e3) for gpu in GPUS)]
        for batch in sorted(BATCHES)
    ]
    head = (
        "projected, messages of 128 B at once",
        *(f"{gpu.name}, us a message at least" for gpu in GPUS),
    )
    return table(head, rows)


def caches_text() -> str:
    """How far the document's figures lie below what is projected, and what its tables may do."""
    thread, grid = (f"{100 * share:.0f} %" for share in document_shares())
    return (
        f"The document's one thread does {thread} of what is projected, and its best grid {grid}. "
        f"{gpu_grid.caches_text()}"
    )


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _asked(counts: Counts, payload_bytes: int) -> dict[str, float]:
    """Of what has a rate that is measured: words of all memories go one way."""
    asked = {unit: float(counts.get(unit, 0)) for unit in ("alu", "fma", "wide")}
    words = sum(counts.get(memory, 0) for memory in ("shared", "global", "local"))
    return {"payload_bytes": payload_bytes, **asked, "words": float(words)}


def _line(gpu: Gpu, key_bits: int, way: str, work: str, limit: Limit) -> str:
    rate = limit.bytes_per_s / 1e9
    return (
        f"{gpu.name:10}{key_bits:6}{way:>8}  {work:32}{rate:8.1f}"
        f"{limit.clocks_a_block:14.2f}  {limit.unit}"
    )


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--write", action="store_true", help=f"write {WORK} and {PAGE}")
    asked.add_argument("--check", action="store_true", help="compare both")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


WORK = Path("crates/sealift-gpu-run/src/work.json")
PAGE = Path("docs/document-003-gpu.md")
MARKER = re.compile(r"<!-- projected: (\w+) -->\n.*?<!-- end -->", re.S)
TABLES: Mapping[str, Callable[[], str]] = {
    "blocks": blocks_table,
    "beside": beside_table,
    "caches": caches_text,
}
ACCEPT = "`make gpu-budgets-accept`"
MESSAGE_BYTES = 128
WORD_BYTES = 4
# Each stands for what comes before the next one: 8.6 for 8.9, too.
_OF_86, _OF_90 = (
    next(gpu for gpu in GPUS if gpu.architecture == name) for name in ("sm_86", "sm_90")
)
ARCHITECTURES = (replace(_OF_86, architecture="sm_75", shared_bytes=64 * 1024), _OF_86, _OF_90)

if __name__ == "__main__":
    sys.exit(main())
