#!/usr/bin/env python3
"""What tests may require of a machine, and a report of what they ran and skipped.

Rust's tests have the same in crates/sealift-testing: both read its names.txt, and append to the
file that SEALIFT_TEST_REPORT names. `tools/run_report.py FILE` prints that file for people.
"""

import functools
import os
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

NAMES = Path(__file__).parents[1] / "crates/sealift-testing/src/names.txt"
KINDS = {
    "device": "devices",
    "instruction-set": "instruction sets",
    "library": "libraries",
    "suite": "suites",
    "tool": "tools",
}
REASON_MAX = 160


class UnknownNameError(Exception):
    """SEALIFT_REQUIRE names something that no test knows."""


@functools.cache
def names() -> dict[str, str]:
    """The kind of each name that can be required."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: kind for kind, name in pairs}


def required() -> set[str]:
    """The names in SEALIFT_REQUIRE; an UnknownNameError if one is in no list."""
    wanted = {name.strip() for name in os.environ.get("SEALIFT_REQUIRE", "").split(",")} - {""}
    for name in sorted(wanted - names().keys()):
        unknown = f'SEALIFT_REQUIRE names "{name}", which no test knows'
        raise UnknownNameError(f"{unknown} (known: {', '.join(sorted(names()))})")
    return wanted


def ran(name: str) -> None:
    """Reports that something is tested."""
    _append(f"ran\t{name}")


def skipped(name: str, reason: str) -> None:
    """Reports why something is not tested."""
    _append(f"skipped\t{name}\t{' '.join(reason.split())}")


def summary(lines: Iterable[str]) -> list[str]:
    """What ran, a line for each kind; then what did not, a line for each that was skipped.

    A name that ran in one process and was skipped in another ran. Names that can't be required are
    left out.
    """
    tested, reasons = set[str](), dict[str, str]()
    for line in lines:
        what, name, *reason = line.split("\t")
        if what == "ran":
            tested.add(name)
        else:
            reasons.setdefault(name, textwrap.shorten(reason[0], REASON_MAX, placeholder="..."))
    told = []
    for kind, title in KINDS.items():
        there = sorted(name for name in tested if names().get(name) == kind)
        told.append(f"{title} that ran: {', '.join(there) or 'none'}")
    missing = sorted(names().keys() - tested)
    told += [f"did not run: {name}: {reasons[name]}" for name in missing if name in reasons]
    untried = [name for name in missing if name not in reasons]
    return [*told, f"no test tried: {', '.join(untried)}"] if untried else told


def _append(line: str) -> None:
    path = os.environ.get("SEALIFT_TEST_REPORT")
    if path and (path, line) not in _APPENDED:
        _APPENDED.add((path, line))
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


_APPENDED: set[tuple[str, str]] = set()

if __name__ == "__main__":
    print("\n".join(summary(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())))
