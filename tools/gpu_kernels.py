"""Compiles the kernels of GPUs to the PTX that is shipped, and holds their machine code to limits.

Usage: python tools/gpu_kernels.py [ptx | accept]

A user of a GPU by NVIDIA needs its driver only: the crate holds the kernels as PTX, in
crates/sealift-gpu/ptx. NVRTC compiles them without a GPU; its version is pinned, so that the same
sources are the same PTX everywhere. ptxas makes machine code of that as a driver does, and nvdisasm
shows it. A register too many halves what a multiprocessor holds, a spill or a table that became
local memory costs more than any cleverness gains, and no test of results notices.
python/sealift_lab/data/gpu-machine-code.json holds what each kernel took: registers, and for each
loop, without those inside, instructions by the unit that executes them. Local memory and static
shared memory are never accepted, but in the lab's own kernels, which are to show what that costs.

Both are compared with what is found; `ptx` writes the PTX, `accept` what kernels take. Where NVRTC
is not installed nothing is checked, and that is said; SEALIFT_REQUIRE=nvrtc makes it an error.
"""

import argparse
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine_code
import run_report
from accepted import Guard
from nvidia_tools import MissingError, assemble, compile_ptx, versions

Taken = Mapping[str, Any]
"""What a kernel of a program takes on an architecture, as gpu-machine-code.json has it.

Of `loops` each has the line of source that it stands in ("" is what is in no loop), how many loops
are around it, and instructions by kind.
"""


@dataclass(frozen=True, slots=True)
class Program:
    """Kernels that are compiled at once: files behind each other, with defines.

    `capability` is the oldest compute capability that it is for, in tenths.
    """

    name: str
    capability: int
    sources: Sequence[str]
    defines: Mapping[str, int]

    def ptx(self, root: Path, *, lines: bool = False) -> str:
        """What NVRTC makes of it, with or without the source line that each instruction is of.

        Left out are the two lines around each piece of inline assembly, a sixth of the text, and
        the numbers of calls: they go on from whatever the process compiled before.
        """
        options = [f"--gpu-architecture=compute_{self.capability}"]
        options += [f"--define-macro={name}={value}" for name, value in self.defines.items()]
        options += ["--generate-line-info"] * lines
        # As the host gives them to OpenCL, too.
        parts = [(name, (root / KERNELS / name).read_text("utf-8")) for name in self.sources]
        source = "".join(f'#line 1 "{name}"\n{text}' for name, text in parts)
        try:
            return LEFT_OUT.sub("", compile_ptx(source, options))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error


def main() -> int:
    """Compares, or writes what is asked; 1 when something is not as accepted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("write", choices=["ptx", "accept"], nargs="?", help="what is found")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    asked = parser.parse_args()
    try:
        head = {"by": f"`make {GUARD.accept}`", "made_with": versions(), "counts": KINDS}
        wrong = [*check_ptx(asked.root, write=asked.write == "ptx")]
        kernels = [] if asked.write == "ptx" else read_code(asked.root)
        wrong += refused(kernels)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        if asked.write == "ptx" or wrong:
            return int(bool(wrong))
        document = {**head, "kernels": kernels}
        return GUARD.check(asked.root, document, write=asked.write == "accept")
    except MissingError as error:
        reason = f"{error.name} is not installed here: `make nvrtc` installs it"
        run_report.skipped("nvrtc", reason)
        print(f"the kernels of GPUs are not checked: {reason}", file=sys.stderr)
        return int("nvrtc" in run_report.required())
    except (OSError, ValueError, LookupError) as error:
        print(f"gpu_kernels: {error}", file=sys.stderr)
        return 1


def programs(root: Path) -> list[Program]:
    """Those that CUDA devices are given: by drivers, then by the lab.

    Of drivers, a table that all lanes share is for tests of OpenCL alone. Turing is the oldest that
    today's drivers serve. Four tables for each lane take 192 KiB of shared memory, which Hopper was
    the first to have.
    """
    variants, lab = ((root / file).read_text(encoding="utf-8") for file in (VARIANTS, LAB))
    sources = INCLUDED.findall(variants)
    numbers = sorted((int(tables), int(copies)) for tables, copies in NUMBERS.findall(variants))
    of_drivers = [
        Program(
            f"aes{32 * key_words}-tables{tables}-copies{copies}",
            HOPPER if tables == MOST_TABLES else TURING,
            sources,
            {"KEY_WORDS": key_words, "TABLES": tables, "COPIES": copies},
        )
        for key_words in (4, 6, 8)
        for tables, copies in numbers
        if not tables or copies == LANES
    ]
    of_lab = [
        Program(name, int(oldest), (*LAB_HEADS, f"lab/{file}"), {"TABLES": 0, define: int(value)})
        for name, oldest, file, define, value in MADE.findall(lab)
    ]
    return of_drivers + of_lab


def check_ptx(root: Path, *, write: bool) -> Iterator[str]:
    """A sentence for each file that is not as compiled, or of no program; or makes them anew."""
    found = programs(root)
    with ThreadPoolExecutor() as pool:
        texts = pool.map(lambda program: program.ptx(root), found)
    right = {f"{each.name}.ptx": text for each, text in zip(found, texts, strict=True)}
    if write:
        shutil.rmtree(root / PTX, ignore_errors=True)
        (root / PTX).mkdir()
        for name, text in right.items():
            (root / PTX / name).write_text(text, encoding="utf-8")
    files = {path.name: path.read_text("utf-8") for path in (root / PTX).glob("*")}
    for name in sorted(right.keys() | files.keys()):
        if right.get(name) != files.get(name):
            yield f"{PTX / name} is not what NVRTC makes of the kernels: call `make gpu-ptx`"


def read_code(root: Path) -> list[Taken]:
    """What every kernel takes now."""
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda program: [*_read_program(root, program)], programs(root))
        return [kernel for each in found for kernel in each]


def refused(kernels: Sequence[Taken]) -> Iterator[str]:
    """A sentence for each spill and array in memory, which are never accepted."""
    for kernel in kernels:
        for what in ("spilled_bytes", "frame_bytes", "shared_bytes"):
            if kernel[what] and not kernel["program"].startswith(OF_LAB):
                yield f"{_subject(kernel)}: {what} is {kernel[what]}, where 0 are allowed."


def _read_program(root: Path, program: Program) -> Iterator[Taken]:
    ptx = program.ptx(root, lines=True)
    for architecture in (each for each in ARCHITECTURES if each >= program.capability):
        listing, log = assemble(ptx, f"sm_{architecture}")
        resources = machine_code.resources(log)
        for kernel in sorted(machine_code.kernels(listing), key=lambda one: one.name):
            loops = [
                [part_name(root, part), part.depth, *machine_code.counts(part.code).values()]
                for part in kernel.parts()
            ]
            yield {
                "program": program.name,
                "architecture": f"sm_{architecture}",
                "kernel": kernel.name,
                **resources[kernel.name],
                "loops": loops,
            }


def part_name(root: Path, part: machine_code.Part) -> str:
    """The text of the source's line that a loop ends in, or a function's name, or ""."""
    if part.function:
        return f"{part.function}()"
    file, line = part.place
    paths = (root / KERNELS).rglob(file or "none")
    lines = next((path.read_text(encoding="utf-8").splitlines() for path in paths), [])
    return f"{file}: {lines[line - 1].strip() if 0 < line <= len(lines) else ''}" if file else ""


def _counts(document: Any) -> dict[str, dict[str, int]]:
    """Registers of each kernel, and instructions of each of its loops."""
    found = {}
    for kernel in document["kernels"]:
        name, seen = _subject(kernel), Counter[str]()
        found[name] = {"registers": kernel["registers"]}
        for loop, _, *counts in kernel["loops"]:
            seen[loop] += 1
            part = f"{name}, {f'loop {loop}' if loop else 'outside of loops'}"
            part += f" ({seen[loop]})" if seen[loop] > 1 else ""
            found[part] = dict(zip(document["counts"], counts, strict=True))
    return found


def _limits(unit: str, before: float) -> tuple[float, float]:
    """Fewer registers are welcome; counts may move by 2 %, or by 4 where that is more."""
    margin = max(4, before * 0.02)
    return (0, before) if unit == "registers" else (before - margin, before + margin)


def _subject(kernel: Taken) -> str:
    return ", ".join(kernel[part] for part in ("program", "architecture", "kernel"))


def _text(document: Any) -> str:
    """A line for each loop."""
    *head, _ = json.dumps({**document, "kernels": 0}, indent=1).splitlines()[:-1]
    kernels = []
    for kernel in document["kernels"]:
        loops = ",\n".join(f"   {json.dumps(loop)}" for loop in kernel["loops"])
        takes = json.dumps({**kernel, "loops": []}).removesuffix("]}")
        kernels.append(f"  {takes}\n{loops}\n  ]}}")
    return "\n".join([*head, ' "kernels": [', ",\n".join(kernels), " ]", "}", ""])


KERNELS, PTX = Path("crates/sealift-gpu/kernels"), Path("crates/sealift-gpu/ptx")
VARIANTS = Path("crates/sealift-gpu/src/variant.rs")
LAB = Path("crates/sealift-gpu/src/bench/program.rs")
MOST_TABLES = 4
LANES = 32
TURING, HOPPER = 75, 90
ARCHITECTURES = (TURING, 86, HOPPER)
NUMBERS = re.compile(r"Self::\w+ => \((\d+), (\d+)\)")
LEFT_OUT = re.compile(r"^[ \t]*// (?:begin|end) inline asm\n| *// callseq [\d, ]+$", re.M)
OF_LAB = "lab-"
LAB_HEADS = ("dialect.h", "message.h", "lab/lab.h")
MADE = re.compile(r'"(lab-[\w-]+)" for (\d+): "([\w.]+)" with (\w+) = (\d+);')
INCLUDED = re.compile(r'include_str!\("\.\./kernels/([\w.]+)"\)')
KINDS = [*machine_code.COUNTED]
FILE = "python/sealift_lab/data/gpu-machine-code.json"
GUARD = Guard(FILE, "gpu-budgets-accept", _limits, _counts, _text)

if __name__ == "__main__":
    sys.exit(main())
