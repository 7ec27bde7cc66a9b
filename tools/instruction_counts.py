"""Counts the instructions that the 128-bit kernels take for a message, and compares.

Usage: python tools/instruction_counts.py [--write]

Runs the benchmark `count` of sealift-kernels under valgrind's callgrind and compares with
crates/sealift-kernels/benches/instruction-counts.json; --write puts what was found there. Counts
are of a release build and of the path that is asked for, so they are the same on every x86-64
machine. Needs nothing but Python, cargo and valgrind.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benches import needed, program

Counts = Mapping[str, float]


def main() -> int:
    """Compares, or with --write notes down; 1 when a count is not as expected."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        rustc = _output(["rustc", "--version"])
        found = counted(program(root, "sealift-kernels", "count"))
        if arguments.write:
            write(root / EXPECTED, found, rustc)
            print(f"{EXPECTED}: {len(found)} counts of {rustc}")
            return 0
        expected, origin = read(root / EXPECTED)
    except (OSError, ValueError, KeyError) as error:
        print(f"instruction_counts: {error}", file=sys.stderr)
        return 1
    wrong = list(differences(expected, found))
    for sentence in wrong:
        print(sentence)
    if wrong and origin != rustc:
        print(f"What was expected is of {origin}; here is {rustc}.")
    if wrong:
        print(f"If this is meant, {ACCEPT} writes what was found to {EXPECTED}.")
    else:
        print(f"{len(found)} instruction counts within {TOLERANCE:.0%} of what was expected")
    return int(bool(wrong))


def counted(benchmark: Path) -> dict[str, float]:
    """The instructions of each case, a message.

    Raises:
        ValueError: If valgrind is missing, fails, or has not counted each case.
    """
    valgrind = needed("valgrind", "valgrind")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            valgrind,
            "--quiet",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/dump",
            f"--toggle-collect={MEASURED}",
            f"--dump-after={MEASURED}",
            str(benchmark),
        ]
        cases = [line.split("\t") for line in _output(command).splitlines()]
        dumps = [Path(folder, f"dump.{number}") for number in range(1, len(cases) + 1)]
        missing = [dump.name for dump in dumps if not dump.exists()]
        if missing or not cases:
            raise ValueError(f"callgrind wrote {len(dumps) - len(missing)} of {len(cases)} dumps")
        sums = [instructions(dump.read_text(encoding="utf-8")) for dump in dumps]
    return {case: sum_ / int(messages) for (case, messages), sum_ in zip(cases, sums, strict=True)}


def instructions(dump: str) -> int:
    """The sum of a dump of callgrind.

    Raises:
        ValueError: If it has none.
    """
    sums = re.findall(r"^(?:totals|summary): (\d+)$", dump, re.M)
    if not sums or int(sums[0]) == 0:
        raise ValueError(f"callgrind counted nothing; is there a function {MEASURED}?")
    return int(sums[0])


def differences(expected: Counts, found: Counts) -> Iterator[str]:
    """A sentence for each count that is not as expected."""
    for case in sorted(expected.keys() | found.keys()):
        if case not in found:
            yield f"{case}: {expected[case]:,.1f} instructions a message expected, and not counted."
        elif case not in expected:
            yield f"{case}: {found[case]:,.1f} instructions a message found, and none expected."
        elif abs(found[case] / expected[case] - 1) > TOLERANCE:
            change = found[case] / expected[case] - 1
            yield (
                f"{case}: {expected[case]:,.1f} instructions a message expected, "
                f"{found[case]:,.1f} found: {abs(change):.1%} {'more' if change > 0 else 'fewer'}, "
                f"where {TOLERANCE:.0%} are allowed."
            )


def read(file: Path) -> tuple[dict[str, float], str]:
    """The expected counts, and the compiler that they are of.

    Raises:
        OSError: If there is no such file.
        KeyError: If it lacks a part.
    """
    document = json.loads(file.read_text(encoding="utf-8"))
    return dict(document["instructions_per_message"]), str(document["rustc"])


def write(file: Path, found: Counts, rustc: str) -> None:
    """Notes down what was found."""
    rounded = {case: round(count, 2) for case, count in found.items()}
    document = {"rustc": rustc, "by": ACCEPT, "instructions_per_message": rounded}
    file.write_text(f"{json.dumps(document, indent=2)}\n", encoding="utf-8")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{command[0]} ended with {done.returncode}; see above")
    return done.stdout.strip()


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="note down what is found")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


ACCEPT = "`make instruction-counts`"
EXPECTED = "crates/sealift-kernels/benches/instruction-counts.json"
MEASURED = "count::measured"
TOLERANCE = 0.03

if __name__ == "__main__":
    sys.exit(main())
