"""Holds the machine code of the GPU kernels to what it was when it was last accepted.

Usage: python tools/gpu_budgets.py [--write]

No GPU is needed: NVRTC compiles the kernels, ptxas makes machine code of that as a driver does, and
nvdisasm shows it. A register too many halves what a multiprocessor holds, a spill or a table that
became local memory costs more than any cleverness gains, and no test of results notices.
python/sealift_lab/data/gpu-machine-code.json holds what each kernel took: registers, and for each
loop, without those inside, instructions by the unit that executes them. Local memory and static
shared memory are never accepted, but in the lab's own kernels, which are to show what that costs.
--write accepts what is found now. Where NVRTC is not installed nothing is checked, and that is
said; SEALIFT_REQUIRE=nvrtc makes it an error.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import machine_code
from accepted import Guard, arguments, fail
from gpu_programs import OF_LAB, Program, programs, source_line
from nvidia_tools import MissingError, Nvrtc, assemble, versions, without

Taken = Mapping[str, Any]
"""What a kernel of a program takes on an architecture, as gpu-machine-code.json has it.

Of `loops` each has the line of source that it stands in ("" is what is in no loop), how many loops
are around it, and instructions by kind.
"""


def main() -> int:
    """Compares, or with --write accepts; 1 when a kernel is not as accepted."""
    asked = arguments(__doc__)
    try:
        head = {"by": f"`make {GUARD.accept}`", "made_with": versions(), "counts": KINDS}
        found = read_code(asked.root, Nvrtc.installed())
        return GUARD.check(asked.root, {**head, "kernels": found}, write=asked.write)
    except MissingError as error:
        return without(error, "the machine code of the GPU kernels is not looked at")
    except (OSError, ValueError, LookupError) as error:
        return fail(error)


def read_code(root: Path, compiler: Nvrtc) -> list[Taken]:
    """What every kernel takes now."""
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda program: [*_read_program(root, program, compiler)], programs(root))
        return [kernel for each in found for kernel in each]


def _read_program(root: Path, program: Program, compiler: Nvrtc) -> Iterator[Taken]:
    ptx = program.ptx(root, compiler, lines=True)
    for architecture in program.architectures:
        listing, log = assemble(ptx, architecture)
        resources = machine_code.resources(log)
        for kernel in sorted(machine_code.kernels(listing), key=lambda one: one.name):
            of = {"program": program.name, "architecture": architecture, "kernel": kernel.name}
            loops = [
                [name, depth, *machine_code.counts(code).values()]
                for name, depth, code in _parts(root, kernel)
            ]
            yield {**of, **resources[kernel.name], "loops": loops}


def _parts(
    root: Path, kernel: machine_code.Kernel
) -> Iterator[tuple[str, int, Sequence[machine_code.Instruction]]]:
    yield "", 0, kernel.outside
    for name, code in sorted(kernel.functions.items()):
        yield f"{name}()", 0, code
    for loop in kernel.loops:
        yield f"{loop.place[0]}: {source_line(root, loop.place)}", loop.depth, loop.own


def _counts(document: Any) -> dict[str, dict[str, int]]:
    """Registers of each kernel, and instructions of each of its loops."""
    found = {}
    for kernel in document["kernels"]:
        name, seen = _name(kernel), Counter[str]()
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


def _refused(document: Any) -> Iterator[str]:
    """Spills, and arrays in memory."""
    for kernel in document["kernels"]:
        for what in ("spilled_bytes", "frame_bytes", "shared_bytes"):
            if kernel[what] and not kernel["program"].startswith(OF_LAB):
                yield f"{_name(kernel)}: {what} is {kernel[what]}, where 0 are allowed."


def _name(kernel: Taken) -> str:
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


KINDS = [*machine_code.COUNTED]
GUARD = Guard(
    "python/sealift_lab/data/gpu-machine-code.json",
    "gpu-budgets-accept",
    _counts,
    _limits,
    _text,
    made_with=lambda document: document["made_with"],
    refused=_refused,
)

if __name__ == "__main__":
    sys.exit(main())
