"""Counts the instructions that the 128-bit kernels take for a message, and compares.

Usage: python tools/instruction_counts.py [--write]

Runs the benchmark `count` of sealift-kernels under valgrind's callgrind and compares with
crates/sealift-kernels/benches/instruction-counts.json; --write puts what was found there. Counts
are of a release build and of the path that is asked for, so they are the same on every x86-64
machine. Needs nothing but Python, cargo and valgrind.
"""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from accepted import Guard, output, program


def find(root: Path) -> dict[str, Any]:
    """The instructions of each case, a message."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--toggle-collect={MEASURED}"]
        command += [f"--callgrind-out-file={folder}/dump", f"--dump-after={MEASURED}"]
        printed = output([*command, str(program(root, "sealift-kernels", "count"))])
        counts = {}
        for number, line in enumerate(printed.splitlines(), 1):
            case, messages = line.split("\t")
            total = instructions(Path(folder, f"dump.{number}").read_text(encoding="utf-8"))
            counts[case] = {"instructions a message": round(total / int(messages), 2)}
    made_with = output(["rustc", "--version"]).strip()
    return {"by": f"`make {GUARD.accept}`", "made_with": made_with, "counts": counts}


def instructions(dump: str) -> int:
    """The sum of a dump of callgrind."""
    sums = re.findall(r"^(?:totals|summary): (\d+)$", dump, re.M)
    if not sums or int(sums[0]) == 0:
        raise ValueError(f"callgrind counted nothing; is there a function {MEASURED}?")
    return int(sums[0])


MEASURED = "count::measured"
TOLERANCE = 0.03
GUARD = Guard(
    "crates/sealift-kernels/benches/instruction-counts.json",
    "instruction-counts",
    lambda _, before: (before * (1 - TOLERANCE), before * (1 + TOLERANCE)),
)

if __name__ == "__main__":
    sys.exit(GUARD.main(__doc__, find))
