"""Counts the instructions that the 128-bit kernels take for a message, and compares.

Usage: python tools/instruction_counts.py [--write]

Runs the benchmark `count` of sealift-kernels under valgrind's callgrind and compares with
crates/sealift-kernels/benches/instruction-counts.json; --write puts what was found there. Counts
are of a release build and of the path that is asked for, so they are the same on every x86-64
machine. Needs nothing but Python, cargo and valgrind.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from accepted import Guard, arguments, fail
from benches import output, program, require


def main() -> int:
    """Compares, or with --write accepts; 1 when a count is not as accepted."""
    asked = arguments(__doc__)
    try:
        found = {
            "rustc": output(["rustc", "--version"]).strip(),
            "by": f"`make {GUARD.accept}`",
            "instructions_per_message": count(program(asked.root, "sealift-kernels", "count")),
        }
        return GUARD.check(asked.root, found, write=asked.write)
    except (OSError, ValueError, LookupError) as error:
        return fail(error)


def count(benchmark: Path) -> dict[str, float]:
    """The instructions of each case, a message."""
    with tempfile.TemporaryDirectory() as folder:
        command = [require("valgrind", "valgrind"), "--quiet", "--tool=callgrind"]
        command += [f"--callgrind-out-file={folder}/dump", f"--toggle-collect={MEASURED}"]
        printed = output([*command, f"--dump-after={MEASURED}", str(benchmark)])
        cases = [line.split("\t") for line in printed.splitlines()]
        dumps = [Path(folder, f"dump.{number}") for number in range(1, len(cases) + 1)]
        missing = [dump.name for dump in dumps if not dump.exists()]
        if missing or not cases:
            raise ValueError(f"callgrind wrote {len(dumps) - len(missing)} of {len(cases)} dumps")
        sums = [instructions(dump.read_text(encoding="utf-8")) for dump in dumps]
    return {
        case: round(total / int(messages), 2)
        for (case, messages), total in zip(cases, sums, strict=True)
    }


def instructions(dump: str) -> int:
    """The sum of a dump of callgrind."""
    sums = re.findall(r"^(?:totals|summary): (\d+)$", dump, re.M)
    if not sums or int(sums[0]) == 0:
        raise ValueError(f"callgrind counted nothing; is there a function {MEASURED}?")
    return int(sums[0])


def _counts(document: Any) -> dict[str, dict[str, float]]:
    cases = document["instructions_per_message"].items()
    return {case: {"instructions a message": number} for case, number in cases}


MEASURED = "count::measured"
TOLERANCE = 0.03
GUARD = Guard(
    "crates/sealift-kernels/benches/instruction-counts.json",
    "instruction-counts",
    _counts,
    lambda _, before: (before * (1 - TOLERANCE), before * (1 + TOLERANCE)),
    lambda document: f"{json.dumps(document, indent=2)}\n",
    made_with=lambda document: document["rustc"],
)

if __name__ == "__main__":
    sys.exit(main())
