"""Prints what GPUs could do at most with the machine code that was accepted: projected.

Usage: python tools/gpu_limits.py [--run FOLDER]

Counts come from python/sealift_lab/data/gpu-machine-code.json; multiprocessors, clocks and rates,
with their sources, from the lab's experiments of document 003. With --run the rates are those that
gpu-rates and gpu-copies of a run measured, and what gpu-messages and gpu-host-to-host measured
stands beside what they allow.
"""

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sealift_lab.experiments.document_003.gpus.limits import (
    BLOCK_BYTES,
    GPUS,
    LANE_BYTES,
    Gpu,
    Limit,
    Messages,
    long_counts,
    long_limit,
    message_counts,
    message_limit,
    rounds,
)
from sealift_lab.judge.rows import results
from sealift_lab.model.results import Results, Row
from sealift_lab.run.read_folder import Run


def main() -> None:
    """Prints the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path, help="a folder with what a GPU's parts do")
    folder: Path | None = parser.parse_args().run
    print("Projected from machine code, for data in the GPU's memory; nothing here is measured.\n")
    print(f"{'GPU':10}{'AES':>6}{'tables':>8}  {'work':32}{'GB/s':>8}{'clocks/block':>14}  limit")
    print("\n".join(lines()))
    if folder is not None:
        print("\nMeasured, and at most by rates as measured, which waiting is not in:\n")
        print("\n".join(measured_lines(results(Run(folder)))))


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


def measured_lines(run: Mapping[str, Results]) -> Iterator[str]:
    """One for each row of messages, with the share of what rates or copies of the run allow."""
    for row in run["gpu-messages"].rows if "gpu-messages" in run else ():
        yield _beside(row, _by_rates(run, row))
    for row in run["gpu-host-to-host"].rows if "gpu-host-to-host" in run else ():
        yield _beside(row, _by_copies(run, row))


def _by_rates(run: Mapping[str, Results], row: Row) -> tuple[float, str] | None:
    """Bytes a second that the unit allows that a lane needs longest, and which one that is."""
    device, key_bits = row.cell["device"], int(row.cell["key_bits"])
    gpu = _gpu(run["gpu-rates"], device) if "gpu-rates" in run else None
    if gpu is None:
        return None
    rates = {
        str(each.cell["instruction"]): each.operations_per_s.value
        for each in run["gpu-rates"].select(device=device)
    }
    strict = row.cell["s_box"] != "tables"
    if str(row.cell["work"]).startswith("counter mode"):
        if strict:
            return None
        # No machine code is of it alone: what it looks up (16 words a round) and moves, it does
        # at least.
        payload_bytes = float(BLOCK_BYTES)
        needs: Mapping[str, float] = {
            "shared": 16 * rounds(key_bits) + 2 * BLOCK_BYTES // WORD_BYTES
        }
    elif int(row.cell["message_bytes"]) == MESSAGE_BYTES:
        payload_bytes = float(MESSAGE_BYTES)
        needs = message_counts(gpu, Messages(key_bits, MESSAGE_BYTES), strict=strict)
    else:
        payload_bytes, needs = float(LANE_BYTES), long_counts(gpu, key_bits, strict=strict)
    words = sum(needs.get(memory, 0) for memory in ("shared", "global", "local"))
    # What one unit works goes at the same rate, so that the fastest is nearest to it.
    alu = max(rates[name] for name in ("LOP3", "PRMT", "SHF"))
    seconds = {
        "logic and additions": needs.get("alu", 0) / alu,
        # Wide products are the same unit's.
        "products": needs.get("fma", 0) / rates["IMAD"] + needs.get("wide", 0) / rates["IMAD.WIDE"],
        "loads and stores": words / rates["LDS"],
    }
    unit = max(seconds, key=seconds.__getitem__)
    return payload_bytes / seconds[unit], unit


def _by_copies(run: Mapping[str, Results], row: Row) -> tuple[float, str] | None:
    """Half of what the largest copies moved both ways at once: a text goes both ways."""
    if "gpu-copies" not in run:
        return None
    both = run["gpu-copies"].select(device=row.cell["device"], direction="both at once")
    largest = max(both, key=lambda each: int(each.cell["copy_bytes"]), default=None)
    if largest is None or largest.payload_mb_per_s is None:
        return None
    return largest.payload_mb_per_s.value * 1e6 / 2, "copies"


def _gpu(rates: Results, device: object) -> Gpu | None:
    """Whose machine code is most like that of the measured GPU, by its compute capability."""
    details = [str(each.facts["detail"]) for each in rates.facts(device=str(device))]
    found = re.search(r"capability (\d+)\.(\d+)", details[0]) if details else None
    capability = 10 * int(found[1]) + int(found[2]) if found else 0
    known = (gpu for least, gpu in ARCHITECTURES if capability >= least)
    return next(known, None)


def _beside(row: Row, most: tuple[float, str] | None) -> str:
    named = ", ".join(f"{name}={value}" for name, value in row.cell.items())
    assert row.payload_mb_per_s is not None, "messages have a payload"
    rate = row.payload_mb_per_s.value * 1e6
    if most is None:
        return f"{named}: {rate / 1e9:.1f} GB/s"
    at_most, unit = most
    return (
        f"{named}: {rate / 1e9:.1f} GB/s, {100 * rate / at_most:.0f} % of the "
        f"{at_most / 1e9:.1f} GB/s that {unit} allow"
    )


def _line(gpu: Gpu, key_bits: int, tables: str, work: str, limit: Limit) -> str:
    return (
        f"{gpu.name:10}{key_bits:6}{tables:>8}  {work:32}{limit.bytes_per_s / 1e9:8.1f}"
        f"{limit.clocks_a_block:14.2f}  {limit.unit}"
    )


MESSAGE_BYTES = 128
WORD_BYTES = 4
# Each stands for what comes before the next one: 8.6 for 8.9, too.
_OF_86, _OF_90 = (
    next(gpu for gpu in GPUS if gpu.architecture == name) for name in ("sm_86", "sm_90")
)
_OF_75 = replace(_OF_86, architecture="sm_75", shared_bytes=64 * 1024)
ARCHITECTURES = ((90, _OF_90), (80, _OF_86), (75, _OF_75))

if __name__ == "__main__":
    main()
