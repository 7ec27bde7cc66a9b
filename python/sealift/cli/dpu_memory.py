"""What is written into a simulated DPU's memory, and read out of it, as options say it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sealift.cli import said
from sealift.cli.dpu_files import content, of_file
from sealift.cli.options import count
from sealift.cli.said import fail
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift._sealift import DpuRun


def write(dpu: "DpuRun", texts: Sequence[str]) -> None:
    """Writes what SYMBOL=VALUE says: a number, `hex:` and bytes, or `@` and a file."""
    symbols: set[str] = set()
    for text in texts:
        symbol = text.partition("=")[0]
        if symbol in symbols:
            fail(ExitCode.USAGE, f"--write {text}: {symbol} is written before; give one of them")
        symbols.add(symbol)
        _write(dpu, text)


def _write(dpu: "DpuRun", text: str) -> None:
    symbol, equals, value = text.partition("=")
    if not symbol or not equals:
        fail(ExitCode.USAGE, f"--write {text}: {_forms('SYMBOL')}")
    if value.startswith("@"):
        data = content(value[1:])
    elif value.startswith(HEX):
        data = _of_hex(dpu, text)
    else:
        data = _of_number(dpu, text)
    with of_file("--write"):
        dpu.write(symbol, data)


def wanted(text: str) -> tuple[str, int | None]:
    """Reads SYMBOL, or SYMBOL:N for its first N bytes."""
    symbol, colon, length = text.rpartition(":")
    if text and not colon:
        return text, None
    if not symbol:
        fail(ExitCode.USAGE, f"--read {text}: write SYMBOL, or SYMBOL:N for its first N bytes")
    return symbol, said.read(f"--read {text}", count(0, 2**30, "number of bytes"), length)


def read(dpu: "DpuRun", symbol: str, length: int | None) -> bytes:
    """The bytes of a symbol, or its first ones."""
    with of_file("--read"):
        return dpu.read(symbol, length)


def _of_hex(dpu: "DpuRun", text: str) -> bytes:
    symbol, _, value = text.partition(f"={HEX}")
    try:
        data = bytes.fromhex(value)
    except ValueError:
        data = b""
    if not data:
        fail(
            ExitCode.USAGE,
            f"--write {text}: {value!r} is no row of bytes of two hex digits each, as in 00040000",
        )
    with of_file("--write"):
        size = len(dpu.read(symbol))
    if size in NUMBERS and len(data) < size:
        fail(
            ExitCode.USAGE,
            f"--write {text}: {symbol} has {size} bytes, and {HEX} gives {len(data)}; give all of "
            "them",
        )
    return data


def _of_number(dpu: "DpuRun", text: str) -> bytes:
    from sealift.errors import InputError

    symbol, _, value = text.partition("=")
    # Zeros in front would be hex for one reader and octal for another.
    if not re.fullmatch(r"-?(0|[1-9][0-9]{0,19}|0x[0-9a-fA-F]{1,16})", value):
        fail(ExitCode.USAGE, f"--write {text}: {value!r} is no number; {_forms(symbol)}")
    number = int(value, 0)
    with of_file("--write"):
        dpu.read(symbol, 0)
    try:
        size = dpu.number_bytes(symbol)
    except InputError as error:
        fail(ExitCode.USAGE, f"--write {text}: {error}; {_bytes_of(symbol)}")
    least, most = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    if not least <= number <= most:
        fail(
            ExitCode.USAGE,
            f"--write {text}: {symbol} has {size} bytes, which hold {least} to {most}",
        )
    return (number & most).to_bytes(size, "little")


def _bytes_of(symbol: str) -> str:
    return f"write {symbol}={HEX}BYTES, or {symbol}=@FILE"


def _forms(symbol: str) -> str:
    return (
        f"write a number as {symbol}=1024 or {symbol}=0x400, bytes as {symbol}={HEX}00040000, "
        f"those of a file as {symbol}=@FILE"
    )


HEX = "hex:"
# Bytes that a number may have.
NUMBERS = (1, 2, 4, 8)
