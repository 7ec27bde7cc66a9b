"""Compares Engine::run and the kernels with other libraries, case by case.

Usage: python benches/peers.py [--out FOLDER] [--case NAME]... [--seconds SECONDS] [--core N]
                               [--binary FILE] [--seed N] [--list]

A case is some messages, under one key, many or a fresh key each. Every arm works the same messages
in turn, in one process kept to one core:

- the engine: Engine::detect() with its default policy and devices, all messages in one call;
- the kernels alone, with expanded keys and checked columns;
- ports: the AES and GHASH instructions alone, on registers, which is the peak of this processor;
- every library that is found, called for each message, with keys expanded beforehand: AWS-LC, ring,
  RustCrypto and graviola are linked, BoringSSL, OpenSSL, Intel's IPP and ipsec-mb are opened.

All outputs are compared with those of two other implementations before anything is timed. Ratios
are against the fastest library of the same case: medians of pairs with 95 % intervals. A library
that is absent is a line with the reason.

--case NAME     that case only, or all whose names begin so; may be repeated
--seconds S     of measuring all cases together; 150 by default, 8 blocks of each are taken anyway
--core N        the core to keep to; the last that may be used by default
--out FOLDER    also writes peers.json and peers-samples.csv there
--binary FILE   the command `peers`, as `make bench-peers` builds it
--list          prints the names of the cases, and measures nothing
"""

import argparse
import csv
import io
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from out_folder import check_writable
from peer_bench import Bench
from peer_cases import Case, cases
from peer_table import Comparison, Measured, behind, compare, table
from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.store import NotWrittenError, write_file


def main() -> int:
    """Measures, prints, and writes the results."""
    arguments = _arguments()
    try:
        chosen = _chosen(arguments.case)
        if arguments.list:
            print("\n".join(f"{case.name}: {case.title}" for case in chosen))
            return 0
        _check(arguments)
        bench = Bench(arguments.binary, core=arguments.core, seed=arguments.seed)
        peers = bench.peers()
    except ValueError as error:
        print(f"peers: {error}", file=sys.stderr)
        return ExitCode.USAGE
    present = [name for name, each in peers.items() if "detail" in each]
    measured, ended = _measure(bench, chosen, present, arguments.seconds)
    comparisons = [each for each in map(compare, measured) if each is not None]
    if not comparisons:
        print("peers: no case was complete", file=sys.stderr)
        return ended or ExitCode.NOTHING_RAN
    print("\n".join([*map(_described, peers.items()), "", table(comparisons), behind(comparisons)]))
    if ended:
        print("peers: interrupted, so nothing was written", file=sys.stderr)
    elif arguments.out is not None:
        try:
            _write(arguments.out, measured, comparisons, peers)
        except NotWrittenError as error:
            print(f"peers: {error}", file=sys.stderr)
            return ExitCode.NOT_WRITTEN
    return ended


def _described(peer: tuple[str, dict[str, Any]]) -> str:
    name, facts = peer
    if "reason" in facts:
        return f"absent: {name}: {facts['reason']}"
    released = f", released {facts['released']}" if facts["released"] else ""
    return f"{name}: {facts['detail']}{released}"


def _measure(
    bench: Bench, chosen: Sequence[Case], peers: Sequence[str], total_s: float
) -> tuple[list[Measured], int]:
    """One case after the other; after Ctrl-C those that are complete."""
    start_s, measured = time.monotonic(), []
    seconds = total_s / len(chosen)
    try:
        for number, case in enumerate(chosen):
            _print_progress(number, len(chosen), case, start_s, seconds)
            measured.append(bench.run(case, peers, seconds))
    except KeyboardInterrupt:
        return measured, ExitCode.INTERRUPTED
    return measured, 0


def _print_progress(number: int, total: int, case: Case, start_s: float, seconds: float) -> None:
    passed_s = time.monotonic() - start_s
    each_s = passed_s / number if number else seconds * 1.2
    left_s = each_s * (total - number)
    print(f"[{number + 1}/{total}] {case.title}; about {left_s:.0f} s left", file=sys.stderr)


def _write(
    folder: Path,
    measured: Sequence[Measured],
    comparisons: Sequence[Comparison],
    peers: dict[str, Any],
) -> None:
    document = {
        "schema": "sealift-peers/2",
        "command": shlex.join(["python", "benches/peers.py", *sys.argv[1:]]),
        "machine": machine.describe().as_dict(),
        "peers": peers,
        "cases": [each.record() for each in comparisons],
        "absent": {each.case.name: dict(each.absent) for each in measured if each.absent},
    }
    samples = io.StringIO()
    writer = csv.writer(samples, lineterminator="\n")
    writer.writerow(SAMPLE_COLUMNS)
    writer.writerows(row for each in measured for row in _samples(each))
    write_file(folder / "peers-samples.csv", samples.getvalue())
    write_file(folder / "peers.json", json.dumps(document, indent=1, allow_nan=False) + "\n")


def _samples(measured: Measured) -> Iterator[tuple[object, ...]]:
    for number, block in enumerate(measured.blocks):
        for place, arm in enumerate(measured.arms):
            for sample in block.of(place):
                figures = (getattr(sample, name) for name in SAMPLE_COLUMNS[3:])
                yield (measured.case.name, number, arm, *figures)


def _chosen(names: Sequence[str]) -> tuple[Case, ...]:
    every = cases()
    for name in names:
        if not any(case.name.startswith(name) for case in every):
            known = ", ".join(case.name for case in every)
            raise ValueError(f"there is no case {name!r}; there are {known}")
    return tuple(
        case for case in every if not names or any(case.name.startswith(name) for name in names)
    )


def _check(arguments: argparse.Namespace) -> None:
    """Refuses what can't be measured or written, before anything is."""
    if not 0 < arguments.seconds < float("inf"):
        raise ValueError(
            f"{arguments.seconds:g} s of measuring; right would be a finite time above 0"
        )
    if not 0 <= arguments.seed < 2**64:
        raise ValueError(
            f"{arguments.seed} is no seed; right would be a whole number from 0 to {2**64 - 1:,}"
        )
    if not os.access(arguments.binary, os.X_OK):
        raise ValueError(
            f"{arguments.binary} is not an executable file; `make bench-peers` builds it"
        )
    allowed = os.sched_getaffinity(0)
    if arguments.core is not None and arguments.core not in allowed:
        cores = ", ".join(map(str, sorted(allowed)))
        raise ValueError(f"core {arguments.core} may not be used; right would be one of {cores}")
    if arguments.out is not None:
        check_writable(arguments.out)


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("--case", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=150.0, help=argparse.SUPPRESS)
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--binary", type=Path, default=BINARY, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


BINARY = Path(__file__).parent.parent / "target" / "peers" / "release" / "peers"
SAMPLE_COLUMNS = (
    *("case", "block", "arm", "ns", "operations", "bytes"),
    *("involuntary_switches", "cpu_share", "steal_ns", "clock_ghz"),
)

if __name__ == "__main__":
    sys.exit(main())
