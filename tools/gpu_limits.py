"""Prints what GPUs could do at most with the machine code that was accepted: projected.

Usage: python tools/gpu_limits.py [--write | --check] [--root FOLDER]

Counts come from python/sealift_lab/data/gpu-machine-code.json; multiprocessors, clocks and rates,
with their sources, from the lab's experiments of document 003. --write notes down how much of each
unit a message needs for the program that measures GPUs, in crates/sealift-gpu-run/src/work.json: it
knows the rates of the GPU that it measures, and says beside each figure what they allow. --check
says whether that file is of the machine code that was accepted.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sealift_lab.experiments.document_003.gpus.limits import BLOCK_BYTES, GPUS, Gpu, Limit
from sealift_lab.experiments.document_003.gpus.machine_code import (
    LANE_BYTES,
    Messages,
    long_counts,
    long_limit,
    look_ups,
    message_counts,
    message_limit,
    tables_of,
)


def main() -> int:
    """Prints the table, or writes or checks what the program is given."""
    arguments = _arguments()
    file: Path = arguments.root / WORK
    if arguments.write:
        file.write_text(work_text(), encoding="utf-8")
        print(f"{WORK}: written")
        return 0
    if arguments.check:
        is_stale = not file.is_file() or file.read_text(encoding="utf-8") != work_text()
        if is_stale:
            print(f"{WORK} is not of the machine code that was accepted; {ACCEPT} writes it anew.")
        return int(is_stale)
    print("Projected from machine code, for data in the GPU's memory; nothing here is measured.\n")
    print(f"{'GPU':10}{'AES':>6}{'tables':>8}  {'work':32}{'GB/s':>8}{'clocks/block':>14}  limit")
    print("\n".join(lines()))
    return 0


def lines() -> Iterator[str]:
    """One for each GPU, key length, tables or none, and kind of work."""
    for gpu in GPUS:
        for key_bits in (128, 256):
            for strict in (False, True):
                limits = {
                    "messages of 128 B, own keys": message_limit(
                        gpu, Messages(key_bits, MESSAGE_BYTES), strict=strict
                    ),
                    "long texts, one key": long_limit(gpu, key_bits, strict=strict),
                }
                for work, limit in limits.items():
                    yield _line(gpu, key_bits, "no" if strict else "yes", work, limit)


def work_text() -> str:
    """The needs of a lane as the file has them, a line each."""
    text = ",\n".join(f" {json.dumps(one)}" for one in needs())
    return f"[\n{text}\n]\n"


def needs() -> Iterator[dict[str, str | float]]:
    """The units that a lane needs, by architecture, length of keys, tables and kind of work."""
    for gpu in ARCHITECTURES:
        for key_bits in (128, 192, 256):
            for strict in (False, True):
                tables = tables_of(gpu, strict=strict)
                what = {"architecture": gpu.architecture, "key_bits": key_bits, "tables": tables}
                messages = message_counts(gpu, Messages(key_bits, MESSAGE_BYTES), strict=strict)
                long = long_counts(gpu, key_bits, strict=strict)
                yield {"work": "messages", **what, **_units(messages, MESSAGE_BYTES)}
                yield {"work": "long", **what, **_units(long, LANE_BYTES)}
                if not strict:
                    # No machine code is of it alone: what it looks up and moves, it does at least.
                    words = look_ups(key_bits) + 2 * BLOCK_BYTES // WORD_BYTES
                    yield {"work": "counter mode", **what, **_units({"shared": words}, BLOCK_BYTES)}


def _units(counts: Mapping[str, float], payload_bytes: int) -> dict[str, float]:
    """Of what has a rate that is measured: words of all memories go one way."""
    units = {unit: float(counts.get(unit, 0)) for unit in ("alu", "fma", "wide")}
    words = sum(counts.get(memory, 0) for memory in ("shared", "global", "local"))
    return {"payload_bytes": payload_bytes, **units, "words": float(words)}


def _line(gpu: Gpu, key_bits: int, tables: str, work: str, limit: Limit) -> str:
    return (
        f"{gpu.name:10}{key_bits:6}{tables:>8}  {work:32}{limit.bytes_per_s / 1e9:8.1f}"
        f"{limit.clocks_a_block:14.2f}  {limit.unit}"
    )


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--write", action="store_true", help=f"write {WORK}")
    only.add_argument("--check", action="store_true", help="compare it")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


WORK = Path("crates/sealift-gpu-run/src/work.json")
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
