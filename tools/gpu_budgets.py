"""Holds the machine code of the GPU kernels to what it was when it was last accepted.

Usage: python tools/gpu_budgets.py [--write]

No GPU is needed: NVRTC compiles the kernels, ptxas makes machine code of that as a driver does, and
nvdisasm shows it. A register too many halves what a multiprocessor holds, a spill or a table that
became local memory costs more than any cleverness gains, and no test of results notices.
python/sealift_lab/data/gpu-machine-code.json holds what each kernel took: registers, and for each
loop, without those inside, instructions by the unit that works them; a table of the longest is
printed. Local memory and static shared memory are never accepted, but in the lab's own kernels,
which are to show what that costs. --write notes down what is found now. Where NVRTC is not
installed nothing is checked, and that is said; SEALIFT_REQUIRE=nvrtc makes it an error.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine_code
from gpu_programs import OF_LAB, Compiler, Program, programs, source_line
from machine_code import COUNTED, Kernel, Resources
from nvidia_tools import MissingError, Nvrtc, assembled, versions, without


def main() -> int:
    """Compares, or with --write notes down; 1 when a kernel is not as expected."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        made_with = versions()
        found = list(read_code(root, Nvrtc.installed()))
        print(*table(found), sep="\n")
        wrong = list(refused(found))
        if arguments.write and not wrong:
            write(root / EXPECTED, found, made_with)
            print(f"{EXPECTED}: {len(found)} kernels")
            return 0
        if not arguments.write:
            expected, origin = read(root / EXPECTED)
            wrong += differences(expected, found)
            if wrong and origin != made_with:
                print(f"What was expected is of {_told(origin)}; here is {_told(made_with)}.")
    except MissingError as error:
        return without(error, "the machine code of the GPU kernels is not looked at")
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"gpu_budgets: {error}", file=sys.stderr)
        return 1
    for sentence in wrong:
        print(sentence)
    if wrong:
        print(f"If a count is meant, {ACCEPT} writes what was found to {EXPECTED}.")
    else:
        print(f"{len(found)} GPU kernels take what they took")
    return int(bool(wrong))


@dataclass(frozen=True, slots=True)
class Part:
    """A loop of a kernel, without the loops inside, or a function that it calls.

    Attributes:
        loop: The line of source that it stands in, or the name; "" is what is in no loop.
        depth: How many loops are around it.
        counts: Instructions by kind.
    """

    loop: str
    depth: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What a kernel of a program takes on an architecture."""

    program: str
    architecture: str
    kernel: str
    resources: Resources
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        """What it is told by."""
        return f"{self.program}, {self.architecture}, {self.kernel}"


def read_code(root: Path, compiler: Compiler) -> Iterator[Found]:
    """What every kernel takes now.

    Raises:
        OSError: If a source is not there.
        ValueError: If one does not compile, or its code is not understood.
    """
    with ThreadPoolExecutor() as pool:
        for found in pool.map(lambda program: _of_program(root, program, compiler), programs(root)):
            yield from found


def refused(found: Iterable[Found]) -> Iterator[str]:
    """A sentence for each kernel with what is not accepted: spills, arrays in memory."""
    for one in found:
        if one.program.startswith(OF_LAB):
            continue
        amounts = {
            "bytes of spilled registers": one.resources.spilled_bytes,
            "bytes of local memory": one.resources.frame_bytes,
            "bytes of static shared memory": one.resources.shared_bytes,
        }
        for what, amount in amounts.items():
            if amount:
                yield f"{one}: {amount} {what}, where 0 are allowed."


def table(found: Iterable[Found]) -> Iterator[str]:
    """A line for each kernel that works texts: what it takes, and its longest loop."""
    yield f"{'program':26}{'for':8}{'kernel':14}{'registers':>9}  instructions of its longest loop"
    for one in found:
        longest = max(one.parts, key=lambda part: part.counts["issued"] if part.loop else 0)
        if one.kernel in HOT:
            counts = ", ".join(f"{count} {kind}" for kind, count in longest.counts.items() if count)
            takes = f"{one.kernel:14}{one.resources.registers:9}"
            yield f"{one.program:26}{one.architecture:8}{takes}  {counts}"


def differences(expected: Sequence[Found], found: Sequence[Found]) -> Iterator[str]:
    """A sentence for each kernel, register and count that is not as expected."""
    before, now = ({str(one): one for one in each} for each in (expected, found))
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"{name}: expected, and not found."
        elif name not in before:
            yield f"{name}: found, and not expected."
        else:
            yield from _differences(before[name], now[name])


def read(file: Path) -> tuple[list[Found], dict[str, str]]:
    """What was expected, and of which tools that is.

    Raises:
        OSError: If there is no such file.
        ValueError: If it is no JSON.
        KeyError: If a part of it is missing.
        TypeError: If a part of it is too much.
    """
    document = json.loads(file.read_text(encoding="utf-8"))
    kinds = document["counts"]
    return [_read(kernel, kinds) for kernel in document["kernels"]], dict(document["made_with"])


def write(file: Path, found: Iterable[Found], made_with: Mapping[str, str]) -> None:
    """Notes down what was found, a line for each loop."""
    head = {"by": ACCEPT, "made_with": made_with, "counts": KINDS}
    lines = ",\n".join(_line(one) for one in found)
    text = json.dumps(head, indent=1).removesuffix("\n}")
    file.write_text(f'{text},\n "kernels": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _of_program(root: Path, program: Program, compiler: Compiler) -> list[Found]:
    ptx = program.ptx(root, compiler, lines=True)
    return [
        found
        for architecture in program.architectures
        for found in _of_architecture(root, program, ptx, architecture)
    ]


def _of_architecture(root: Path, program: Program, ptx: str, architecture: str) -> Iterator[Found]:
    code = assembled(ptx, architecture)
    resources = machine_code.resources(code.log)
    for kernel in sorted(machine_code.kernels(code.listing), key=lambda one: one.name):
        parts = tuple(_parts(root, kernel))
        takes = resources[kernel.name]
        yield Found(program.name, architecture, kernel.name, takes, parts)


def _parts(root: Path, kernel: Kernel) -> Iterator[Part]:
    yield Part("", 0, machine_code.counts(kernel.outside))
    for name, code in sorted(kernel.functions.items()):
        yield Part(f"{name}()", 0, machine_code.counts(code))
    for loop in kernel.loops:
        own = (kernel.code[place] for place in loop.own)
        line = source_line(root, loop.place)
        yield Part(f"{loop.place[0]}: {line}", loop.depth, machine_code.counts(own))


def _differences(before: Found, now: Found) -> Iterator[str]:
    if now.resources.registers > before.resources.registers:
        yield (
            f"{now}: {now.resources.registers} registers found, "
            f"{before.resources.registers} expected."
        )
    expected, found = (dict(_numbered(one.parts)) for one in (before, now))
    for name in expected.keys() | found.keys():
        if name not in found:
            yield f"{now}, {name}: expected, and not found."
        elif name not in expected:
            yield f"{now}, {name}: found, and not expected."
        else:
            for kind in KINDS:
                was, is_ = expected[name].counts[kind], found[name].counts[kind]
                if abs(is_ - was) > max(SLACK, was * TOLERANCE):
                    yield f"{now}, {name}: {is_} {kind} found, {was} expected."


def _numbered(parts: Iterable[Part]) -> Iterator[tuple[str, Part]]:
    """Each with a name that no other has."""
    seen: Counter[str] = Counter()
    for part in parts:
        seen[part.loop] += 1
        name = f"loop {part.loop}" if part.loop else "outside of loops"
        yield (f"{name} ({seen[part.loop]})" if seen[part.loop] > 1 else name), part


def _line(one: Found) -> str:
    head = {"program": one.program, "architecture": one.architecture, "kernel": one.kernel}
    parts = ",\n".join(
        "   " + json.dumps([part.loop, part.depth, *(part.counts[kind] for kind in KINDS)])
        for part in one.parts
    )
    text = json.dumps(head | asdict(one.resources)).removesuffix("}")
    return f'  {text}, "loops": [\n{parts}\n  ]}}'


def _read(kernel: dict[str, Any], kinds: Sequence[str]) -> Found:
    parts = tuple(
        Part(loop, depth, dict(zip(kinds, counts, strict=True)))
        for loop, depth, *counts in kernel.pop("loops")
    )
    program, architecture, name = (kernel.pop(of) for of in ("program", "architecture", "kernel"))
    return Found(program, architecture, name, Resources(**kernel), parts)


def _told(made_with: Mapping[str, str]) -> str:
    return ", ".join(f"{package} {version}" for package, version in made_with.items())


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="note down what is found")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


ACCEPT = "`make gpu-budgets-accept`"
EXPECTED = "python/sealift_lab/data/gpu-machine-code.json"
KINDS = ["issued", *COUNTED]
# Counts may move so much: by this share, or by so many instructions where that is more.
TOLERANCE = 0.02
SLACK = 4
# The kernels that work texts.
HOT = ("many", "long_pieces")

if __name__ == "__main__":
    sys.exit(main())
