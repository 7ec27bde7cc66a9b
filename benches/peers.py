"""How fast the kernels are beside other libraries, case by case, and whether that is enough.

Usage: python benches/peers.py [--out FOLDER] [--case NAME]... [--seconds SECONDS] [--core N]
                               [--also ARM]... [--binary FILE] [--seed N] [--list]

Each case is a piece of work (so many bytes, under one key, 1,024 or a fresh one each) that
Sealift's kernels and every library found here do in turn, in one process kept to one core:
AWS-LC, ring, RustCrypto and graviola are linked, OpenSSL, Intel's IPP and libipsec-mb are opened
where they are installed. All outputs are checked before anything is timed and while it is. The
ratio is against the best library of the same case, a median with its 95 % interval; a library
that is absent is named. "Of ports" is the share of what the same instructions of AES and GHASH
reach alone, on registers: the most that this processor allows. Without libipsec-mb (Debian:
libipsec-mb1) the first cases don't count.

--case NAME     that case only, or all whose names begin so; may be repeated
--seconds S     of measuring all cases together; 90 by default, 8 blocks of each are taken anyway
--core N        the core to keep to; the system's choice by default
--also ARM      one more arm and row in every case, as in kernels:isa=aesni
--out FOLDER    also writes peers.json and peers-samples.csv there
--binary FILE   the command `peers`, as `make bench-peers` builds it
--list          names the cases and what is wanted of each, and measures nothing
"""

import argparse
import csv
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from peer_bench import Bench
from peer_cases import Case, Wanted, cases
from peer_table import Arm, Line, Measured, arms_of, lines, table
from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.stats import Interval


def main() -> int:
    """Measures, prints, and writes what is asked for."""
    arguments = _arguments()
    try:
        also = tuple(Wanted(arm=arm) for arm in arguments.also)
        chosen = [replace(case, wanted=case.wanted + also) for case in _chosen(arguments.case)]
        if arguments.list:
            print("\n".join(_listed(case) for case in chosen))
            return 0
        _check(arguments)
        bench = Bench(arguments.binary, core=arguments.core, seed=arguments.seed)
        peers = bench.peers()
    except ValueError as error:
        print(f"peers: {error}", file=sys.stderr)
        return ExitCode.USAGE
    measured, ended = _measure(bench, chosen, list(peers), arguments.seconds)
    said = _said(measured, list(peers))
    if not said:
        print("peers: no case was complete", file=sys.stderr)
        return ended or ExitCode.NOTHING_RAN
    print(table(said))
    for name, each in (peers | _absences(measured)).items():
        if reason := each.get("reason"):
            print(f"absent: {name}: {reason}")
    if arguments.out is not None:
        _write(arguments.out, measured, said, peers)
    return ended


def _measure(
    bench: Bench, chosen: Sequence[Case], peers: Sequence[str], every_s: float
) -> tuple[list[Measured], int]:
    """One case after the other; Ctrl-C keeps what there is."""
    start_s, measured = time.monotonic(), []
    seconds = every_s / len(chosen)
    try:
        for number, case in enumerate(chosen):
            _say_progress(number, len(chosen), case, start_s, seconds)
            measured.append(bench.run(case, peers, seconds))
    except KeyboardInterrupt:
        return measured, ExitCode.INTERRUPTED
    return measured, 0


def _say_progress(number: int, every: int, case: Case, start_s: float, seconds: float) -> None:
    passed_s = time.monotonic() - start_s
    each_s = passed_s / number if number else seconds * 1.3
    left_s = each_s * (every - number)
    print(f"[{number + 1}/{every}] {case.title}; about {left_s:.0f} s left", file=sys.stderr)


def _said(measured: Sequence[Measured], peers: Sequence[str]) -> list[Line]:
    return [line for each in measured if each.blocks for line in lines(each, peers)]


def _absences(measured: Sequence[Measured]) -> dict[str, dict[str, Any]]:
    """Arms that are missing in some cases only, with the first reason."""
    found: dict[str, dict[str, Any]] = {}
    for each in measured:
        for arm, reason in each.absent.items():
            found.setdefault(f"{arm} in {each.case.name}", {"reason": reason})
    return found


def _write(
    folder: Path, measured: Sequence[Measured], said: Sequence[Line], peers: dict[str, Any]
) -> None:
    document = {
        "schema": "sealift-peers/1",
        "command": shlex.join(["python", "benches/peers.py", *sys.argv[1:]]),
        "machine": machine.describe().as_dict(),
        "peers": peers,
        "cases": [_record(each, said) for each in measured],
    }
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    (folder / "peers.json").write_text(text, encoding="utf-8")
    with (folder / "peers-samples.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(SAMPLE_COLUMNS)
        writer.writerows(row for each in measured for row in _samples(each))


def _record(measured: Measured, said: Sequence[Line]) -> dict[str, object]:
    arms = arms_of(measured) if measured.blocks else {}
    return {
        "name": measured.case.name,
        "title": measured.case.title,
        "arms": {name: _figures(arm) for name, arm in arms.items()},
        "absent": dict(measured.absent),
        "lines": [line.record() for line in said if line.case == measured.case.name],
    }


def _figures(arm: Arm) -> dict[str, object]:
    row, cycles = arm.row, arm.cycles
    return {
        "ns_per_message": _ends(row.ns_per_operation),
        "cycles_per_message": cycles and _ends(cycles),
        "payload_bytes": row.payload_bytes,
        "clean_share": row.clean_share,
        "noise_floor": row.noise_floor,
        "blocks": row.blocks,
    }


def _ends(interval: Interval) -> dict[str, float]:
    return {"median": interval.median, "low": interval.low, "high": interval.high}


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


def _listed(case: Case) -> str:
    wanted = "; ".join(
        f"{each.arm} against {each.against}"
        + (f" {each.times:g} x" if each.times else "")
        + (f", {each.cycles:g} cycles" if each.cycles else "")
        + (" (aim)" if each.is_aim else "")
        for each in case.wanted
    )
    return f"{case.name}: {case.title}: {wanted}"


def _check(arguments: argparse.Namespace) -> None:
    """Refuses what can't be measured or written, before anything is."""
    if not 0 < arguments.seconds < float("inf"):
        raise ValueError(
            f"{arguments.seconds:g} s of measuring; right would be a finite time above 0"
        )
    if not os.access(arguments.binary, os.X_OK):
        raise ValueError(f"{arguments.binary} is no command; `make bench-peers` builds it")
    allowed = os.sched_getaffinity(0)
    if arguments.core is not None and arguments.core not in allowed:
        cores = ", ".join(map(str, sorted(allowed)))
        raise ValueError(f"core {arguments.core} may not be used; right would be one of {cores}")
    if arguments.out is not None:
        _check_writable(arguments.out)


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "peers.json").touch()
    except OSError as error:
        raise ValueError(
            f"{folder} takes no files: {error.strerror}; name a folder that can be written"
        ) from error


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("--case", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=90.0, help=argparse.SUPPRESS)
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--also", action="append", default=[], help=argparse.SUPPRESS)
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
