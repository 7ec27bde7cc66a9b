"""Checks in the machine code that AES and carry-less multiplications alternate in the hot loops.

Usage: python tools/weave.py [--write] [PROGRAM]

An out-of-order processor keeps its AES ports busy only if the instructions for AES and GHASH come
mixed; a compiler that sorts them costs nearly half the speed, and no other test notices.
crates/sealift-kernels/benches/weave.json holds what each loop of those kernels looked like when
it was last found fast: how many of both, how many of a kind in a row, how many vector registers
went to the stack. --write accepts what is found now. PROGRAM is the benchmark `count` of
sealift-kernels when left out, built first. Needs nothing but Python, cargo and objdump.
"""

import itertools
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from accepted import Guard, arguments, fail
from benches import output, program, require

Loops = dict[str, Any]
"""Loops of a function with as many of both kinds, as weave.json has them: of the rest the most."""


def main() -> int:
    """Compares, or with --write accepts; 1 when a loop is not as accepted."""
    asked = arguments(__doc__, "program")
    try:
        built = asked.program or program(asked.root, "sealift-kernels", "count")
        return GUARD.check(asked.root, woven_loops(_disassembly(built)), write=asked.write)
    except (OSError, ValueError, LookupError) as error:
        return fail(error)


def woven_loops(listing: str) -> list[Loops]:
    """The innermost loops with both kinds in the woven kernels of a disassembly."""
    groups: dict[tuple[str, int, int], Loops] = {}
    for function in re.split(r"^(?=[0-9a-f]+ <.+>:$)", listing, flags=re.M):
        name = re.match(r"[0-9a-f]+ <(.+)>:\n", function)
        if name and WOVEN.match(name[1]):
            for kinds in _innermost(function):
                loop = _loop(name[1], kinds)
                key = (name[1], loop["aes"], loop["clmul"])
                groups[key] = _merge(groups[key], loop) if key in groups else loop
    if not groups:
        raise ValueError(f"no function of {WOVEN.pattern} has a loop with AES and multiplications")
    return [groups[key] for key in sorted(groups)]


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
    for loop in sorted(woven, key=lambda loop: (loop.start, loop.stop)):
        if not any(other != loop and _is_inside(other, loop) for other in woven):
            yield kinds[loop.start : loop.stop]


def _is_inside(one: range, other: range) -> bool:
    return other.start <= one.start and one.stop <= other.stop


def _kind(name: str, operands: str) -> str:
    return next((kind for kind, of in KINDS.items() if of.match(f"{name} {operands}")), "")


def _loop(function: str, kinds: Sequence[str]) -> Loops:
    weave = [kind for kind in kinds if kind in ("aes", "clmul")]
    return {
        "function": function,
        "aes": weave.count("aes"),
        "clmul": weave.count("clmul"),
        "loops": 1,
        "aes_in_a_row": _longest_run(weave, "aes"),
        "clmul_in_a_row": _longest_run(weave, "clmul"),
        "stack_stores": kinds.count("store"),
    }


def _longest_run(weave: Sequence[str], kind: str) -> int:
    """The most of a kind in a row, where the end is followed by the beginning again."""
    runs = [len(list(run)) for of, run in itertools.groupby([*weave, *weave]) if of == kind]
    return min(max(runs), len(weave))


def _merge(one: Loops, other: Loops) -> Loops:
    most = {unit: max(one[unit], other[unit]) for unit in UNITS}
    return {**one, **most, "loops": one["loops"] + other["loops"]}


def _disassembly(built: Path) -> str:
    command = [require("objdump", "binutils"), "--disassemble", "--demangle", "--no-show-raw-insn"]
    return output([*command, "-Mintel", str(built)])


def _counts(document: Any) -> dict[str, Loops]:
    return {
        f"{group['function']}, loop of {group['aes']} aes and {group['clmul']} clmul": {
            unit.replace("_", " "): group[unit] for unit in UNITS
        }
        for group in document
    }


def _limits(unit: str, before: float) -> tuple[float, float]:
    """How many more in a row or on the stack pass: 2, or a quarter where that is more."""
    return (before, before) if unit == "loops" else (0, before + max(2, before // 4))


# The kernels for many messages, and for one long message what each instruction set makes of it.
WOVEN = re.compile(r"sealift_kernels::x86_64::(?:wide::|\w+::long$)")
UNITS = ("loops", "aes_in_a_row", "clmul_in_a_row", "stack_stores")
KINDS = {
    "aes": re.compile(r"v?aesenc(?:last)? "),
    "clmul": re.compile(r"v?pclmul\w* "),
    "store": re.compile(r"\w+ [XYZ]MMWORD PTR \[r[sb]p[^]]*\](?:\{\w+\})?,[xyz]mm\d+"),
}
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\w+) *(.*)$", re.M)
GUARD = Guard(
    "crates/sealift-kernels/benches/weave.json",
    "weave-accept",
    _counts,
    _limits,
    lambda groups: "[\n" + ",\n".join(f"  {json.dumps(group)}" for group in groups) + "\n]\n",
)

if __name__ == "__main__":
    sys.exit(main())
