"""Programs for DPUs, the systems they run on, and their memory, as options name them.

Errors are ValueErrors with the file or the option in front.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

from sealift.cli.output import eprint
from sealift_lab._lab import DpuProgram, DpuRun, DpuSystem
from sealift_lab.cli.parse import count, option


class Name(NamedTuple):
    """What a name stands for in assembly."""

    name: str
    number: int


def _name(text: str) -> Name:
    found = re.fullmatch(r"([A-Za-z_.$][\w.$]*)=(-?(?:0x[0-9a-fA-F]{1,16}|[0-9]{1,18}))", text)
    if found is None:
        raise ValueError(f"{text!r}; write NAME=NUMBER, as in COUNT=8")
    return Name(found[1], int(found[2], 0 if "x" in found[2] else 10))


class Symbol(NamedTuple):
    """A part of a DPU's memory: what a symbol names, or the first bytes of that."""

    name: str
    length: int | None = None


def symbol(text: str) -> Symbol:
    """Parses SYMBOL, or SYMBOL:N for its first N bytes."""
    name, colon, length = text.rpartition(":")
    if text and not colon:
        return Symbol(text)
    if not name:
        raise ValueError("write SYMBOL, or SYMBOL:N for its first N bytes")
    return Symbol(name, count(0, 2**30, "number of bytes")(length))


TASKLETS = count(1, 24, "number of tasklets")
Tasklets = Annotated[int | None, option("dpu", "--tasklets", "N", TASKLETS)]
Names = Annotated[list[Name] | None, option("dpu", "--define", "NAME=NUMBER", _name)]
Preset = Annotated[str | None, option("dpu", "--preset", "NAME")]
SystemFile = Annotated[str | None, option("dpu", "--system", "FILE")]
Hazard = Annotated[bool, option("dpu", "--hazard")]


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


def load(file: str, names: Sequence[Name], tasklets: int | None) -> DpuProgram:
    """The program of a file, assembly or ELF; `tasklets` are one more name for assembly."""
    content = read_file(file)
    numbers: dict[str, int] = {}
    for name, number in [*names, *([Name(NR_TASKLETS, tasklets)] if tasklets else [])]:
        if name in numbers:
            raise ValueError(f"{name} is defined before, as {numbers[name]}; give one of them")
        numbers[name] = number
    if is_elf(content):
        if numbers:
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
        program = DpuProgram.assemble(text, names=[*numbers.items()])
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is no text in UTF-8, and the file no ELF file either"
        raise ValueError(f"{file}: {why}") from error
    except ValueError as error:
        how = "; --tasklets says how many there are" if NR_TASKLETS in str(error) else ""
        raise ValueError(f"{file}: {error}{how}") from error
    code = COMMENTS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    for name in numbers:
        if not re.search(rf"(?<![\w.$]){re.escape(name)}(?![\w.$])", code):
            how = "; programs boot their tasklets themselves" if name == NR_TASKLETS else ""
            raise ValueError(f"{file} does not name {name}, so nothing would change{how}")
    return program


def open_system(preset: str | None, file: str | None, *, hazard: bool) -> DpuSystem:
    """The system of a preset or a file."""
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


def write_memory(dpu: DpuRun, texts: Sequence[str]) -> None:
    """Writes each SYMBOL=VALUE: a number, `hex:` and bytes, or `@` and a file."""
    symbols: set[str] = set()
    for text in texts:
        name, equals, value = text.partition("=")
        with named(f"--write {text}"):
            if name in symbols:
                raise ValueError(f"{name} is written before; give one of them")
            if not name or not equals:
                raise ValueError(_forms("SYMBOL"))
            symbols.add(name)
            if value.startswith("@"):
                data = read_file(value[1:])
            elif value.startswith(HEX):
                data = _hex(dpu, name, value.removeprefix(HEX))
            else:
                data = _number(dpu, name, value)
            dpu.write(name, data)


def _hex(dpu: DpuRun, name: str, digits: str) -> bytes:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        data = b""
    if not data:
        raise ValueError(f"{digits!r} is no row of bytes of two hex digits each, as in 00040000")
    size = len(dpu.read(name))
    if size in NUMBER_BYTES and len(data) < size:
        raise ValueError(f"{name} has {size} bytes, and {HEX} gives {len(data)}; give all of them")
    return data


def _number(dpu: DpuRun, name: str, text: str) -> bytes:
    try:
        number = int(text, 0)
    except ValueError:
        raise ValueError(f"{text!r} is no number; {_forms(name)}") from None
    dpu.read(name, 0)
    try:
        size = dpu.number_bytes(name)
        return number.to_bytes(size, "little", signed=number < 0)
    except OverflowError:
        most = 1 << 8 * size
        raise ValueError(
            f"{name} has {size} bytes, which hold {-most // 2} to {most - 1}"
        ) from None
    except ValueError as error:
        raise ValueError(f"{error}; write {name}={HEX}BYTES, or {name}=@FILE") from error


def _forms(name: str) -> str:
    return (
        f"write a number as {name}=1024 or {name}=0x400, bytes as {name}={HEX}00040000, those of a "
        f"file as {name}=@FILE"
    )


@contextmanager
def named(what: str) -> Iterator[None]:
    """Puts a file or an option in front of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def follow(is_running: Callable[[], bool], text: Callable[[float], str]) -> None:
    """Waits for a simulation; prints on standard error how far it has come, now and then.

    Args:
        is_running: Waits for a while, and returns whether it goes on.
        text: Makes of the seconds so far what is printed: after two, then every ten.
    """
    start_s = time.monotonic()
    next_s = start_s + 2
    while is_running():
        if (now_s := time.monotonic()) >= next_s:
            next_s = now_s + 10
            eprint(text(now_s - start_s))


# More than any program of a DPU has, its 64 MiB of data included.
FILE_BYTES_MAX = 256 * 1024 * 1024
C_SUFFIXES = (".c", ".cc", ".cpp", ".h")
# Strings are found, too, so that what begins in one is no comment.
COMMENTS = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|(?://|#)[^\n]*', re.DOTALL)
NR_TASKLETS, PRESET, HEX = "NR_TASKLETS", "upmem-640-266", "hex:"
# Bytes that a number may have.
NUMBER_BYTES = (1, 2, 4, 8)
