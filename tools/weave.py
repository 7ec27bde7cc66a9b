"""Checks in the machine code that AES and carry-less multiplications alternate in the hot loops.

Usage: python tools/weave.py [--write]

An out-of-order processor keeps its AES ports busy only if the instructions for AES and GHASH come
mixed; a compiler that sorts them costs nearly half the speed, and no other test notices.
crates/sealift-kernels/benches/weave.json holds what each loop of those kernels looked like when
it was last found fast: how many of both, how many of a kind in a row, how many vector registers
went to the stack. --write accepts what is found now. Needs nothing but Python, cargo and objdump.
"""

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from accepted import Guard, output, program


def find(root: Path) -> dict[str, Any]:
    """The loops of the benchmark `count`, which has all kernels."""
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", "-Mintel"]
    listing = output([*command, str(program(root, "sealift-kernels", "count"))])
    made_with = output(["rustc", "--version"]).strip()
    counts = woven_loops(listing)
    return {"by": f"`make {GUARD.accept}`", "made_with": made_with, "counts": counts}


def woven_loops(listing: str) -> dict[str, dict[str, int]]:
    """The innermost loops with both kinds in the woven kernels of a disassembly.

    Those of a function with as many of both are counted together: of the rest the most counts.
    """
    found: dict[str, dict[str, int]] = {}
    for function in re.split(r"^(?=[0-9a-f]+ <.+>:$)", listing, flags=re.M):
        name = re.match(r"[0-9a-f]+ <(.+)>:\n", function)
        if name is None or not WOVEN.match(name[1]):
            continue
        for kinds in _innermost(function):
            weave = [kind for kind in kinds if kind in ("aes", "clmul")]
            aes, clmul = (weave.count(kind) for kind in ("aes", "clmul"))
            subject = f"{name[1]}, loop of {aes} aes and {clmul} clmul"
            before = found.get(subject, {})
            now = {
                "aes in a row": _longest_run(weave, "aes"),
                "clmul in a row": _longest_run(weave, "clmul"),
                "stack stores": kinds.count("store"),
            }
            most = {unit: max(number, before.get(unit, 0)) for unit, number in now.items()}
            found[subject] = {"loops": before.get("loops", 0) + 1, **most}
    if not found:
        raise ValueError(f"no function of {WOVEN.pattern} has a loop with AES and multiplications")
    return dict(sorted(found.items()))


def _innermost(function: str) -> Iterator[Sequence[str]]:
    """The kinds of instructions in each loop with both kinds and no other such loop inside."""
    code = INSTRUCTION.findall(function)
    kinds = [_kind(name, operands) for _, name, operands in code]
    places = {address: place for place, (address, _, _) in enumerate(code)}
    ends: dict[int, int] = {}
    for place, (_, name, operands) in enumerate(code):
        start = places.get(operands.partition(" <")[0], len(code)) if name[0] == "j" else len(code)
        if start <= place:
            ends[start] = place + 1
    woven = [range(*loop) for loop in ends.items() if {"aes", "clmul"} <= {*kinds[slice(*loop)]}]
    for loop in woven:
        inside = (o for o in woven if o != loop and loop.start <= o.start and o.stop <= loop.stop)
        if not any(inside):
            yield kinds[loop.start : loop.stop]


def _kind(name: str, operands: str) -> str:
    return next((kind for kind, of in KINDS.items() if of.match(f"{name} {operands}")), "")


def _longest_run(weave: Sequence[str], kind: str) -> int:
    """The most of a kind in a row, where the end is followed by the beginning again."""
    runs = [len(list(run)) for of, run in itertools.groupby([*weave, *weave]) if of == kind]
    return min(max(runs), len(weave))


def _limits(unit: str, before: float) -> tuple[float, float]:
    """How many more in a row or on the stack pass: 2, or a quarter where that is more."""
    return (before, before) if unit == "loops" else (0, before + max(2, before // 4))


# The kernels for many messages, and for one long message what each instruction set makes of it.
WOVEN = re.compile(r"sealift_kernels::x86_64::(?:wide::|narrow::|text::pieces::|\w+::long$)")
KINDS = {
    "aes": re.compile(r"v?aesenc(?:last)? "),
    "clmul": re.compile(r"v?pclmul\w* "),
    "store": re.compile(r"\w+ [XYZ]MMWORD PTR \[r[sb]p[^]]*\](?:\{\w+\})?,[xyz]mm\d+"),
}
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\w+) *(.*)$", re.M)
GUARD = Guard("crates/sealift-kernels/benches/weave.json", "weave-accept", _limits)

if __name__ == "__main__":
    sys.exit(GUARD.main(__doc__, find))
