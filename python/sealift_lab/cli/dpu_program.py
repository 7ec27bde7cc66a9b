"""Programs for DPUs, the systems they run on, and their memory, as options name them.

Errors are ValueErrors with the file or the option in front.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sealift_lab.cli import output, parse
from sealift_lab.cli.help import option

if TYPE_CHECKING:
    from sealift_lab._lab import DpuProgram, DpuRun, DpuSystem

Preset = Annotated[str | None, option("dpu", "--preset", metavar="NAME")]
SystemFile = Annotated[str | None, option("dpu", "--system", metavar="FILE")]
Hazard = Annotated[bool, option("dpu", "--hazard")]
Tasklets = Annotated[str | None, option("dpu", "--tasklets", metavar="N")]
Names = Annotated[list[str] | None, option("dpu", "--define", metavar="NAME=NUMBER")]


def parse_tasklets(text: str) -> int:
    """The number of a DPU's tasklets; a wrong one ends the program."""
    return output.parsed_count("--tasklets", 1, 24, "number of tasklets", text)


def read_file(file: str) -> bytes:
    """The bytes of a file."""
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        why = f"{reason}; name a file of assembly, or an ELF file"
        raise ValueError(f"{file!r}: {why}") from error
    if len(content) > FILE_BYTES_MAX:
        raise ValueError(f"{file}: more than {FILE_BYTES_MAX:,} bytes, as no program has")
    return content


def is_elf(content: bytes) -> bool:
    """Whether a file begins as an ELF file does."""
    return content.startswith(b"\x7fELF")


def load(file: str, content: bytes, names: Sequence[tuple[str, int]]) -> "DpuProgram":
    """The program of a file, assembly or ELF.

    Args:
        file: Its name.
        content: Its bytes.
        names: Numbers that assembly names.

    Raises:
        ValueError: With what is wrong first, by line and column, or by byte.
    """
    from sealift_lab._lab import DpuProgram

    if is_elf(content):
        if names:
            raise ValueError(
                f"{file} is assembled already, and names stand for something only while it is; "
                "give the assembly, or leave --define and --tasklets out"
            )
        with named(file):
            return DpuProgram.read_elf(content)
    if Path(file).suffix in C_SUFFIXES:
        raise ValueError(
            f"{file} is C, and this takes assembly and ELF: give what the vendor's compiler makes "
            "of it"
        )
    try:
        text = content.decode()
        program = DpuProgram.assemble(text, names=names)
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is no text in UTF-8, and the file no ELF file either"
        raise ValueError(f"{file}: {why}") from error
    except ValueError as error:
        how = "; --tasklets says how many there are" if TASKLETS in str(error) else ""
        raise ValueError(f"{file}: {error}{how}") from error
    _check_used(file, text, names)
    return program


def parse_names(texts: Sequence[str], tasklets: str | None) -> list[tuple[str, int]]:
    """Parses NAME=NUMBER; tasklets are one more name."""
    names: dict[str, int] = {}
    for text in texts:
        found = re.fullmatch(r"([A-Za-z_.$][\w.$]*)=(-?(?:0x[0-9a-fA-F]{1,16}|[0-9]{1,18}))", text)
        if found is None:
            raise ValueError(f"--define {text}: write NAME=NUMBER, as in --define COUNT=8")
        if found[1] in names:
            raise ValueError(f"--define {text}: {found[1]} is defined before; give one of them")
        names[found[1]] = int(found[2], 0 if "x" in found[2] else 10)
    if tasklets is not None:
        if TASKLETS in names:
            raise ValueError(
                f"--tasklets {tasklets} and --define {TASKLETS}={names[TASKLETS]} both say what "
                f"{TASKLETS} stands for; give one"
            )
        names[TASKLETS] = parse_tasklets(tasklets)
    return list(names.items())


def open_system(preset: str | None, file: str | None, *, hazard: bool) -> "DpuSystem":
    """The system of a preset or a file."""
    from sealift_lab._lab import DpuSystem

    if preset is not None and file is not None:
        raise ValueError("--preset and --system both say what the DPUs are; give one")
    if file is None:
        with named("--preset"):
            system = DpuSystem.named(preset or PRESET)
    else:
        content = read_file(file)
        with named(file):
            system = DpuSystem.parse(content.decode(errors="replace"))
    return system.with_hazard(on=True) if hazard else system


def write_memory(dpu: "DpuRun", texts: Sequence[str]) -> None:
    """Writes each SYMBOL=VALUE: a number, `hex:` and bytes, or `@` and a file."""
    symbols: set[str] = set()
    for text in texts:
        symbol, equals, value = text.partition("=")
        if symbol in symbols:
            raise ValueError(f"--write {text}: {symbol} is written before; give one of them")
        if not symbol or not equals:
            raise ValueError(f"--write {text}: {_forms('SYMBOL')}")
        symbols.add(symbol)
        if value.startswith("@"):
            data = read_file(value[1:])
        else:
            with named(f"--write {text}"):
                is_hex = value.startswith(HEX)
                data = (_hex if is_hex else _number)(dpu, symbol, value.removeprefix(HEX))
        with named("--write"):
            dpu.write(symbol, data)


def parse_symbol(text: str) -> tuple[str, int | None]:
    """Parses SYMBOL, or SYMBOL:N for its first N bytes."""
    symbol, colon, length = text.rpartition(":")
    if text and not colon:
        return text, None
    with named(f"--read {text}"):
        if not symbol:
            raise ValueError("write SYMBOL, or SYMBOL:N for its first N bytes")
        return symbol, parse.count(0, 2**30, "number of bytes")(length)


@contextmanager
def named(what: str) -> Iterator[None]:
    """Puts a file or an option in front of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


class Reporter:
    """Prints on standard error how far a simulation has come: after two seconds, then every ten."""

    def __init__(self) -> None:
        """Starts the clock."""
        self._start_s = time.monotonic()
        self._next_s = self._start_s + 2

    def report(self, text: Callable[[float], str]) -> None:
        """Prints what `text` makes of the seconds so far, where it is time."""
        if (now_s := time.monotonic()) >= self._next_s:
            self._next_s = now_s + 10
            output.eprint(text(now_s - self._start_s))


def _check_used(file: str, text: str, names: Sequence[tuple[str, int]]) -> None:
    """Refuses names that a program doesn't use: nothing would change."""
    code = COMMENTS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    for name, value in names:
        if re.search(rf"(?<![\w.$]){re.escape(name)}(?![\w.$])", code):
            continue
        is_tasklets = name == TASKLETS
        given = f"--tasklets {value}" if is_tasklets else f"--define {name}={value}"
        how = "; programs boot their tasklets themselves" if is_tasklets else ""
        raise ValueError(f"{given}: {file} does not name {name}, so nothing would change{how}")


def _hex(dpu: "DpuRun", symbol: str, digits: str) -> bytes:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        data = b""
    if not data:
        raise ValueError(f"{digits!r} is no row of bytes of two hex digits each, as in 00040000")
    size = len(dpu.read(symbol))
    if size in NUMBER_BYTES and len(data) < size:
        raise ValueError(
            f"{symbol} has {size} bytes, and {HEX} gives {len(data)}; give all of them"
        )
    return data


def _number(dpu: "DpuRun", symbol: str, text: str) -> bytes:
    # Zeros in front would be hex for one reader and octal for another.
    if not re.fullmatch(r"-?(0|[1-9][0-9]{0,19}|0x[0-9a-fA-F]{1,16})", text):
        raise ValueError(f"{text!r} is no number; {_forms(symbol)}")
    number = int(text, 0)
    dpu.read(symbol, 0)
    try:
        size = dpu.number_bytes(symbol)
    except ValueError as error:
        raise ValueError(f"{error}; write {symbol}={HEX}BYTES, or {symbol}=@FILE") from error
    least, most = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    if not least <= number <= most:
        raise ValueError(f"{symbol} has {size} bytes, which hold {least} to {most}")
    return (number & most).to_bytes(size, "little")


def _forms(symbol: str) -> str:
    return (
        f"write a number as {symbol}=1024 or {symbol}=0x400, bytes as {symbol}={HEX}00040000, "
        f"those of a file as {symbol}=@FILE"
    )


# More than any program of a DPU has, its 64 MiB of data included.
FILE_BYTES_MAX = 256 * 1024 * 1024
C_SUFFIXES = (".c", ".cc", ".cpp", ".h")
# Strings are found, too, so that what begins in one is no comment.
COMMENTS = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|(?://|#)[^\n]*', re.DOTALL)
TASKLETS, PRESET, HEX = "NR_TASKLETS", "upmem-640-266", "hex:"
# Bytes that a number may have.
NUMBER_BYTES = (1, 2, 4, 8)
