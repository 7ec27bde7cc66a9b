"""Prints what GPUs could do at most with the machine code that was accepted: projected.

Usage: python tools/gpu_limits.py

Counts come from python/sealift/lab/data/gpu-machine-code.json; multiprocessors, clocks and rates,
with their sources, from sealift.lab.gpus.
"""

import sys
from collections.abc import Iterator

from sealift.lab.gpus import GPUS, Gpu, Limit, Messages, long_limit, message_limit


def main() -> int:
    """Prints the table."""
    print("Projected from machine code, for data in the GPU's memory; nothing here is measured.\n")
    print(f"{'GPU':10}{'AES':>6}{'tables':>8}  {'work':32}{'GB/s':>8}{'clocks/block':>14}  limit")
    for line in lines():
        print(line)
    return 0


def lines() -> Iterator[str]:
    """One for each GPU, key length, way and kind of work."""
    for gpu in GPUS:
        for key_bits in KEY_BITS:
            for strict in (False, True):
                short = Messages(key_bits, MESSAGE_BYTES)
                limit = message_limit(gpu, short, strict=strict)
                way = "no" if strict else "yes"
                yield _line(gpu, key_bits, way, "messages of 128 B, own keys", limit)
                limit = long_limit(gpu, key_bits, strict=strict)
                yield _line(gpu, key_bits, way, "long texts, one key", limit)


def _line(gpu: Gpu, key_bits: int, way: str, work: str, limit: Limit) -> str:
    rate = limit.bytes_per_s / 1e9
    return (
        f"{gpu.name:10}{key_bits:6}{way:>8}  {work:32}{rate:8.1f}"
        f"{limit.clocks_a_block:14.2f}  {limit.unit}"
    )


KEY_BITS = (128, 256)
MESSAGE_BYTES = 128

if __name__ == "__main__":
    sys.exit(main())
