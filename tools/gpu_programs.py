"""The GPU programs that sealift-gpu ships as PTX, as its sources tell them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Compiler(Protocol):
    """What makes PTX of CUDA C, as NVRTC does."""

    def ptx(self, source: str, options: Sequence[str]) -> str:
        """The PTX of a program.

        Raises:
            ValueError: If it does not compile; holds what is wrong.
        """


@dataclass(frozen=True, slots=True)
class Program:
    """A set of kernels that is compiled at once.

    Attributes:
        name: As its file is called.
        capability: The oldest that it is for, in tenths.
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

    def ptx(self, root: Path, compiler: Compiler, *, lines: bool = False) -> str:
        """What NVRTC makes of it.

        Args:
            root: Of the tree.
            compiler: NVRTC.
            lines: Whether PTX says which source line each instruction is of; it is the same else.

        Raises:
            OSError: If a source is not there.
            ValueError: If it does not compile.
        """
        options = [
            f"--gpu-architecture=compute_{self.capability}",
            *(f"--define-macro={name}={value}" for name, value in self.defines.items()),
        ]
        if lines:
            options.append("--generate-line-info")
        try:
            return _without_remarks(compiler.ptx(self._source(root), options))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _source(self, root: Path) -> str:
        """The sources behind each other, as the host gives them to OpenCL, too."""
        parts = [(name, (root / KERNELS / name).read_text("utf-8")) for name in self.sources]
        return "".join(f'#line 1 "{name}"\n{text}' for name, text in parts)


def programs(root: Path) -> list[Program]:
    """Those that CUDA devices are given: by drivers, then by the lab.

    Raises:
        OSError: If the crate is not there.
        ValueError: If it names none.
    """
    return [*_of_drivers(root), *_of_lab(root)]


def _of_drivers(root: Path) -> list[Program]:
    """One table for all lanes is for tests of OpenCL alone."""
    text = (root / VARIANTS).read_text(encoding="utf-8")
    numbers = [(int(tables), int(copies)) for tables, copies in NUMBERS.findall(text)]
    found = [
        _of_driver(key_words, tables, copies, INCLUDED.findall(text))
        for key_words in KEY_WORDS
        for tables, copies in sorted(numbers)
        if not tables or copies == LANES
    ]
    if not found:
        raise ValueError(f"{VARIANTS} gives no numbers of tables and copies")
    if not found[0].sources:
        raise ValueError(f"{VARIANTS} includes no file of {KERNELS}")
    return found


def _of_driver(key_words: int, tables: int, copies: int, sources: Sequence[str]) -> Program:
    """The kernels for one key length with one kind of tables.

    Turing is the oldest that today's drivers serve. Four tables for each lane take 192 KiB of
    shared memory, which Hopper was the first to have.
    """
    name = f"aes{32 * key_words}-tables{tables}-copies{copies}"
    capability = HOPPER if tables == MOST_TABLES else TURING
    defines = {"KEY_WORDS": key_words, "TABLES": tables, "COPIES": copies}
    return Program(name, capability, sources, defines)


def _of_lab(root: Path) -> list[Program]:
    """What only the lab uses."""
    text = (root / LAB).read_text(encoding="utf-8")
    found = [
        Program(
            name, int(capability), (*LAB_HEADS, f"lab/{file}"), {"TABLES": 0, define: int(value)}
        )
        for name, capability, file, define, value in MADE.findall(text)
    ]
    if not found:
        raise ValueError(f"{LAB} names no program")
    return found


def source_line(root: Path, place: tuple[str, int]) -> str:
    """The text of a line of a kernel's source, without spaces around; "" where there is none."""
    file, line = place
    places = (root / KERNELS / file, root / KERNELS / "lab" / file)
    path = next((path for path in places if path.is_file()), None)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _without_remarks(ptx: str) -> str:
    """Without the two lines around each piece of inline assembly, a sixth of the text.

    And without the numbers of calls: they go on from whatever the process compiled before.
    """
    return CALL_NUMBER.sub("", REMARK.sub("", ptx))


CRATE = Path("crates/sealift-gpu")
KERNELS = CRATE / "kernels"
VARIANTS = CRATE / "src/variant.rs"
LAB = CRATE / "src/bench/program.rs"
KEY_WORDS = (4, 6, 8)
MOST_TABLES = 4
LANES = 32
TURING, HOPPER = 75, 90
ARCHITECTURES = (TURING, 86, HOPPER)
NUMBERS = re.compile(r"Self::\w+ => \((\d+), (\d+)\)")
REMARK = re.compile(r"^[ \t]*// (?:begin|end) inline asm\n", re.M)
CALL_NUMBER = re.compile(r" *// callseq [\d, ]+$", re.M)
OF_LAB = "lab-"
LAB_HEADS = ("dialect.h", "message.h", "lab/lab.h")
MADE = re.compile(r'"(lab-[\w-]+)" for (\d+): "([\w.]+)" with (\w+) = (\d+);')
INCLUDED = re.compile(r'include_str!\("\.\./kernels/([\w.]+)"\)')
