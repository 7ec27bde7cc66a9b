"""The GPU programs that sealift-gpu ships as PTX, as its sources list them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nvidia_tools import Nvrtc


@dataclass(frozen=True, slots=True)
class Program:
    """A set of kernels that is compiled at once.

    Attributes:
        name: As its file is called.
        capability: The oldest compute capability that it is for, in tenths.
        sources: Files behind each other.
        defines: What they are compiled with.
    """

    name: str
    capability: int
    sources: Sequence[str]
    defines: Mapping[str, int]

    @property
    def architectures(self) -> tuple[str, ...]:
        """Those whose machine code is looked at."""
        return tuple(f"sm_{one}" for one in ARCHITECTURES if one >= self.capability)

    def ptx(self, root: Path, compiler: Nvrtc, *, lines: bool = False) -> str:
        """What NVRTC makes of it.

        Left out are the two lines around each piece of inline assembly, a sixth of the text, and
        the numbers of calls: they go on from whatever the process compiled before.

        Args:
            root: Of the tree.
            compiler: NVRTC.
            lines: Whether PTX says which source line each instruction is of; it is the same else.
        """
        options = [f"--gpu-architecture=compute_{self.capability}"]
        options += [f"--define-macro={name}={value}" for name, value in self.defines.items()]
        options += ["--generate-line-info"] * lines
        # As the host gives them to OpenCL, too.
        parts = [(name, (root / KERNELS / name).read_text("utf-8")) for name in self.sources]
        source = "".join(f'#line 1 "{name}"\n{text}' for name, text in parts)
        try:
            return LEFT_OUT.sub("", compiler.ptx(source, options))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error


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
    for found, what in (
        (of_drivers, f"{VARIANTS} gives no numbers of tables and copies"),
        (sources, f"{VARIANTS} includes no file of {KERNELS}"),
        (of_lab, f"{LAB} names no program"),
    ):
        if not found:
            raise ValueError(what)
    return of_drivers + of_lab


def source_line(root: Path, place: tuple[str, int]) -> str:
    """The text of a line of a kernel's source, without spaces around; "" where there is none."""
    file, line = place
    path = next((root / KERNELS).rglob(file or "none"), None)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


CRATE = Path("crates/sealift-gpu")
KERNELS = CRATE / "kernels"
VARIANTS = CRATE / "src/variant.rs"
LAB = CRATE / "src/bench/program.rs"
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
