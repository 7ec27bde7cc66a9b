"""Programs for DPUs, and the systems that they run on, as the command line names them."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sealift.cli.said import fail
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift._sealift import DpuProgram, DpuSystem

ELF = b"\x7fELF"
# More than any program of a DPU has, its 64 MiB of data included.
FILE_BYTES_MAX = 256 * 1024 * 1024
C_SUFFIXES = (".c", ".cc", ".cpp", ".h")
# Strings are found, too, so that what begins in one is no comment.
COMMENTS = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|(?://|#)[^\n]*', re.DOTALL)
TASKLETS = "NR_TASKLETS"
PRESET = "upmem-640-266"


def content(file: str) -> bytes:
    """The bytes of a file; one that can't be read ends the program with the usage code."""
    try:
        with Path(file).open("rb") as opened:
            found = opened.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fail(ExitCode.USAGE, f"{file!r}: {reason}; name a file of assembly, or an ELF file")
    if len(found) > FILE_BYTES_MAX:
        fail(ExitCode.USAGE, f"{file}: more than {FILE_BYTES_MAX:,} bytes, as no program has")
    return found


def is_elf(found: bytes) -> bool:
    """Whether a file begins as an ELF file does."""
    return found.startswith(ELF)


def is_text(found: bytes) -> bool:
    """Whether a file is text that somebody wrote."""
    plain = found[:1_000]
    return bool(plain) and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in plain)


def program(file: str, found: bytes, names: Sequence[tuple[str, int]]) -> "DpuProgram":
    """The program of a file, assembly or ELF; what is wrong with it ends the program."""
    from sealift._sealift import DpuProgram
    from sealift.errors import InputError

    if is_elf(found):
        if names:
            fail(
                ExitCode.USAGE,
                f"{file} is assembled already, and names stand for something only while it is; "
                "give the assembly, or leave --define and --tasklets out",
            )
        with of_file(file):
            return DpuProgram.read_elf(found)
    if Path(file).suffix in C_SUFFIXES:
        fail(
            ExitCode.USAGE,
            f"{file} is C, and this takes assembly and ELF: give what the vendor's compiler makes "
            "of it",
        )
    try:
        text = found.decode()
    except UnicodeDecodeError as error:
        fail(
            ExitCode.USAGE,
            f"{file}: byte {error.start} is no text in UTF-8, and the file no ELF file either",
        )
    try:
        made = DpuProgram.assemble(text, names=names)
    except InputError as error:
        how = "; --tasklets says how many there are" if TASKLETS in str(error) else ""
        fail(ExitCode.USAGE, f"{file}: {error}{how}")
    code = COMMENTS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    for name, value in names:
        if not re.search(rf"(?<![\w.$]){re.escape(name)}(?![\w.$])", code):
            _unnamed(file, name, value)
    return made


def _unnamed(file: str, name: str, value: int) -> NoReturn:
    """Says that an option would change nothing."""
    if name == TASKLETS:
        asked, how = f"--tasklets {value}", "; programs boot their tasklets themselves"
    else:
        asked, how = f"--define {name}={value}", ""
    fail(ExitCode.USAGE, f"{asked}: {file} does not name {name}, so nothing would change{how}")


@contextmanager
def of_file(file: str) -> Iterator[None]:
    """What is wrong with a file ends the program with the file's name and the usage code."""
    from sealift.errors import InputError

    try:
        yield
    except InputError as error:
        fail(ExitCode.USAGE, f"{file}: {error}")


def defined(texts: Sequence[str], tasklets: int | None) -> list[tuple[str, int]]:
    """Reads NAME=NUMBER; tasklets are one more name."""
    names: dict[str, int] = {}
    for text in texts:
        found = re.fullmatch(r"([A-Za-z_.$][\w.$]*)=(-?(?:0x[0-9a-fA-F]{1,16}|[0-9]{1,18}))", text)
        if found is None:
            fail(ExitCode.USAGE, f"--define {text}: write NAME=NUMBER, as in --define COUNT=8")
        if found[1] in names:
            fail(ExitCode.USAGE, f"--define {text}: {found[1]} is defined before; give one of them")
        names[found[1]] = int(found[2], 0 if "x" in found[2] else 10)
    if tasklets is not None:
        if TASKLETS in names:
            fail(
                ExitCode.USAGE,
                f"--tasklets {tasklets} and --define {TASKLETS}={names[TASKLETS]} both say what "
                f"{TASKLETS} stands for; give one",
            )
        names[TASKLETS] = tasklets
    return list(names.items())


def system(preset: str | None, file: str | None, *, hazard: bool) -> "DpuSystem":
    """The system that options name; what is wrong with them ends the program."""
    from sealift._sealift import DpuSystem

    if preset is not None and file is not None:
        fail(ExitCode.USAGE, "--preset and --system both say what the DPUs are; give one")
    if file is None:
        with of_file("--preset"):
            found = DpuSystem.named(preset or PRESET)
    else:
        found_bytes = content(file)
        with of_file(file):
            found = DpuSystem.parse(found_bytes.decode(errors="replace"))
    return found.with_hazard(on=True) if hazard else found
