"""Checks in the machine code that AES and carry-less multiplications alternate in the hot loops.

Usage: python tools/weave.py [--write] [PROGRAM]

An out-of-order processor keeps its AES ports busy only if the instructions for AES and GHASH come
mixed; a compiler that sorts them costs nearly half the speed, and no other test notices.
crates/sealift-kernels/benches/weave.json holds what each loop of those kernels looked like when
it was last found fast: how many of both, how many of a kind in a row, how many vector registers
went to the stack. --write notes down what is found now. PROGRAM is the benchmark `count` of
sealift-kernels when left out, built first. Needs nothing but Python, cargo and objdump.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benches import needed, program


def main() -> int:
    """Compares, or with --write notes down; 1 when a loop is not as expected."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        built = arguments.program or program(root, "sealift-kernels", "count")
        found = grouped(woven_loops(functions(_disassembled(built))))
        if arguments.write:
            write(root / EXPECTED, found)
            print(f"{EXPECTED}: {sum(group.loops for group in found)} loops")
            return 0
        expected = read(root / EXPECTED)
    except (OSError, ValueError, TypeError) as error:
        print(f"weave: {error}", file=sys.stderr)
        return 1
    wrong = list(differences(expected, found))
    for sentence in wrong:
        print(sentence)
    if wrong:
        print(f"If this is meant and as fast, {ACCEPT} writes what was found to {EXPECTED}.")
    else:
        print(f"{sum(group.loops for group in found)} loops are woven as they were")
    return int(bool(wrong))


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, at its address."""

    address: int
    name: str
    operands: str

    @property
    def kind(self) -> str:
        """What it is for the weave: "aes", "clmul", "store" to the stack, or "" for all else."""
        if AES.match(self.name):
            return "aes"
        if CLMUL.match(self.name):
            return "clmul"
        return "store" if VECTOR_STORE.match(self.operands) else ""

    @property
    def target(self) -> int | None:
        """Where it jumps to, if it does."""
        match = JUMP.match(self.operands) if self.name.startswith("j") else None
        return int(match[1], 16) if match else None


@dataclass(frozen=True, slots=True, order=True)
class Loops:
    """Loops of a function with as many instructions of both kinds; of the rest the most in any."""

    function: str
    aes: int
    clmul: int
    loops: int
    aes_in_a_row: int
    clmul_in_a_row: int
    stack_stores: int

    def __str__(self) -> str:
        """What they are told by."""
        return f"{self.function}, loop of {self.aes} aes and {self.clmul} clmul"


def functions(listing: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions of a disassembly, each with its instructions."""
    name, code = "", list[Instruction]()
    for line in listing.splitlines():
        if match := FUNCTION.match(line):
            if code:
                yield name, code
            name, code = match[1], []
        elif match := INSTRUCTION.match(line):
            code.append(Instruction(int(match[1], 16), match[2], match[3]))
    if code:
        yield name, code


def woven_loops(code: Iterable[tuple[str, Sequence[Instruction]]]) -> Iterator[Loops]:
    """Each loop of the woven kernels with both kinds and no other such loop inside."""
    for name, instructions in code:
        if WOVEN.match(name):
            kinds = [instruction.kind for instruction in instructions]
            for first, end in _innermost(instructions, kinds):
                yield _loop(name, kinds[first:end])


def grouped(loops: Iterable[Loops]) -> list[Loops]:
    """Those of one function that have the same counts together.

    Raises:
        ValueError: If there are none at all.
    """
    groups: dict[tuple[str, int, int], Loops] = {}
    for loop in loops:
        key = (loop.function, loop.aes, loop.clmul)
        groups[key] = _together(groups[key], loop) if key in groups else loop
    if not groups:
        raise ValueError(
            f"no function of {WOVEN.pattern} has a loop with AES and carry-less multiplications"
        )
    return sorted(groups.values())


def differences(expected: Sequence[Loops], found: Sequence[Loops]) -> Iterator[str]:
    """A sentence for each loop that is not as expected."""
    now = {(group.function, group.aes, group.clmul): group for group in found}
    before = {(group.function, group.aes, group.clmul): group for group in expected}
    for key in sorted(now.keys() | before.keys()):
        if key not in now:
            yield f"{before[key]}: expected, and not found."
        elif key not in before:
            yield f"{now[key]}: found, and not expected."
        else:
            yield from _differences(before[key], now[key])


def read(file: Path) -> list[Loops]:
    """The expected loops.

    Raises:
        OSError: If there is no such file.
        ValueError: If it is no JSON.
        TypeError: If a part of it is missing or is too much.
    """
    return [Loops(**group) for group in json.loads(file.read_text(encoding="utf-8"))]


def write(file: Path, found: Sequence[Loops]) -> None:
    """Notes down what was found, a line for each group."""
    lines = ",\n".join(f"  {json.dumps(asdict(group))}" for group in found)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _differences(before: Loops, now: Loops) -> Iterator[str]:
    if now.loops != before.loops:
        yield f"{now}: {now.loops} of them found, {before.loops} expected."
    for what, found, expected in (
        ("aes in a row", now.aes_in_a_row, before.aes_in_a_row),
        ("clmul in a row", now.clmul_in_a_row, before.clmul_in_a_row),
        ("vector stores to the stack", now.stack_stores, before.stack_stores),
    ):
        most = expected + max(SLACK, expected // 4)
        if found > most:
            yield f"{now}: {found} {what} found, {expected} expected, at most {most} allowed."


def _together(one: Loops, other: Loops) -> Loops:
    return replace(
        one,
        loops=one.loops + other.loops,
        aes_in_a_row=max(one.aes_in_a_row, other.aes_in_a_row),
        clmul_in_a_row=max(one.clmul_in_a_row, other.clmul_in_a_row),
        stack_stores=max(one.stack_stores, other.stack_stores),
    )


def _loop(function: str, kinds: Sequence[str]) -> Loops:
    weave = [kind for kind in kinds if kind in ("aes", "clmul")]
    return Loops(
        function,
        weave.count("aes"),
        weave.count("clmul"),
        1,
        _longest_run(weave, "aes"),
        _longest_run(weave, "clmul"),
        kinds.count("store"),
    )


def _longest_run(weave: Sequence[str], kind: str) -> int:
    """The most of a kind in a row, where the end is followed by the beginning again."""
    runs = [len(list(run)) for of, run in itertools.groupby([*weave, *weave]) if of == kind]
    return min(max(runs, default=0), len(weave))


def _innermost(code: Sequence[Instruction], kinds: Sequence[str]) -> list[tuple[int, int]]:
    """From and to behind which instruction each loop with both kinds goes."""
    places = {instruction.address: place for place, instruction in enumerate(code)}
    ends: dict[int, int] = {}
    for place, instruction in enumerate(code):
        start = places.get(instruction.target) if instruction.target is not None else None
        if start is not None and start <= place:
            ends[start] = max(ends.get(start, 0), place + 1)
    woven = [(first, end) for first, end in ends.items() if {"aes", "clmul"} <= {*kinds[first:end]}]
    return sorted(
        (first, end)
        for first, end in woven
        if not any(
            first <= other and behind <= end and (other, behind) != (first, end)
            for other, behind in woven
        )
    )


def _disassembled(built: Path) -> str:
    objdump = needed("objdump", "binutils")
    command = [objdump, "--disassemble", "--demangle", "--no-show-raw-insn", "-Mintel", str(built)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ValueError(f"objdump cannot take {built} apart; see above")
    return done.stdout


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="note down what is found")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("program", type=Path, nargs="?", help="a program with the kernels")
    return parser.parse_args()


ACCEPT = "`make weave-accept`"
EXPECTED = "crates/sealift-kernels/benches/weave.json"
# The kernels for many messages, and for one long message what each instruction set makes of it.
WOVEN = re.compile(r"sealift_kernels::x86_64::(?:wide::|\w+::long$)")
# How many more than expected of a kind in a row or on the stack pass; a quarter where that is more.
SLACK = 2
AES = re.compile(r"v?aesenc(?:last)?$")
CLMUL = re.compile(r"v?pclmul\w*$")
VECTOR_STORE = re.compile(r"[XYZ]MMWORD PTR \[r[sb]p[^]]*\](?:\{\w+\})?,[xyz]mm\d+")
JUMP = re.compile(r"([0-9a-f]+) <")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\w+) *(.*)$")

if __name__ == "__main__":
    sys.exit(main())
