#!/usr/bin/env python3
"""What tests may require of a machine, and a report of what they ran and skipped.

Rust's tests have the same in crates/sealift-testing: both read its names.txt, and append to the
file that SEALIFT_TEST_REPORT names. `tools/run_report.py FILE` prints that file for people.
"""

import argparse
import difflib
import functools
import os
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
LINES_MAX = 30
REASON_MAX = 160
NOTHING_TRIED = "no test tried it"


class UnknownNameError(Exception):
    """SEALIFT_REQUIRE names something that no test knows."""


def main() -> int:
    """Prints the report."""
    parser = argparse.ArgumentParser(description="Prints what tests ran and what they did not.")
    parser.add_argument("report", type=Path, help="the file that SEALIFT_TEST_REPORT named")
    path: Path = parser.parse_args().report
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    print("\n".join(summary(text.splitlines())))
    return 0


@functools.cache
def names() -> dict[str, str]:
    """The kind of each name that can be required."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: kind for kind, name in pairs}


def required() -> set[str]:
    """The names in SEALIFT_REQUIRE.

    Raises:
        UnknownNameError: If one is in no list; with the nearest known name and all of them.
    """
    wanted = {name.strip() for name in os.environ.get("SEALIFT_REQUIRE", "").split(",")} - {""}
    known = sorted(names())
    for name in sorted(wanted - set(known)):
        nearest = difflib.get_close_matches(name, known, n=1)
        meant = f'; did you mean "{nearest[0]}"?' if nearest else ""
        unknown = f'SEALIFT_REQUIRE names "{name}", which no test knows{meant}'
        raise UnknownNameError(f"{unknown} (known: {', '.join(known)})")
    return wanted


def ran(name: str) -> None:
    """Reports that something is tested."""
    _append(f"ran\t{name}")


def skipped(name: str, reason: str) -> None:
    """Reports why something is not tested."""
    _append(f"skipped\t{name}\t{' '.join(reason.split())}")


def summary(lines: Iterable[str]) -> list[str]:
    """What ran, a line for each kind; then what did not, a line for each name.

    There are at most LINES_MAX lines. A name that ran in one process and was skipped in another
    ran. Names that can't be required are left out.
    """
    tested: set[str] = set()
    reasons: dict[str, str] = {}
    for line in lines:
        what, name, *reason = line.split("\t")
        if what == "ran":
            tested.add(name)
        else:
            reasons.setdefault(name, reason[0])
    told = []
    for kind, title in KINDS.items():
        of_kind = [name for name, its_kind in names().items() if its_kind == kind]
        there = sorted(tested.intersection(of_kind))
        told.append(f"{title} that ran: {', '.join(there) or 'none'}")
    missing = sorted(set(names()) - tested, key=lambda name: (name not in reasons, name))
    skips = [f"did not run: {name}: {_short(reasons.get(name, NOTHING_TRIED))}" for name in missing]
    room = LINES_MAX - len(told)
    if len(skips) > room:
        rest = ", ".join(missing[room - 1 :])
        skips = [*skips[: room - 1], f"did not run either: {rest}"]
    return told + skips


def _short(reason: str) -> str:
    return reason if len(reason) <= REASON_MAX else reason[: REASON_MAX - 3] + "..."


def _append(line: str) -> None:
    path = os.environ.get("SEALIFT_TEST_REPORT")
    if path and (path, line) not in _APPENDED:
        _APPENDED.add((path, line))
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


_APPENDED: set[tuple[str, str]] = set()


if __name__ == "__main__":
    raise SystemExit(main())
