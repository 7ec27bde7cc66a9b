"""Options and arguments, with their texts out of help.toml, and the parsers of their values.

Each parser raises ValueError that says what would be right; `sealift.quantities` reads the numbers.
"""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sealift.cli.output import Help, parsed
from sealift.quantities import list_parts, parse_count, parse_number
from sealift_lab.measure import native
from sealift_lab.model.workload import KEY_BITS, TEXT_LEN_MAX, KeyRegime


class Region(NamedTuple):
    """A device's memory."""

    path: Path
    offset: int
    length: int


HELP = Help("sealift_lab.cli")
option, argument, examples = HELP.option, HELP.argument, HELP.lines


def count(least: int, most: int, noun: str) -> Callable[[str], int]:
    """The parser of a whole number, as `quantities.parse_count`."""
    return partial(parse_count, least=least, most=most, noun=noun)


def thread_counts(text: str) -> tuple[int, ...]:
    """Thread counts, `1,2,4`, each once."""
    parse = count(1, THREADS_MAX, "number of threads")
    return tuple(dict.fromkeys(map(parse, list_parts(text))))


def key_bits(text: str) -> int:
    """The size of an AES key: 128, 192 or 256."""
    if text not in map(str, KEY_BITS):
        raise ValueError(f"{text!r} is no size of an AES key; write 128, 192 or 256")
    return int(text)


def key_regimes(text: str) -> tuple[KeyRegime, ...]:
    """Key regimes, `one,sessions:1024,fresh`; a number alone, as 5k, is one of sessions."""
    parts = (f"sessions:{part}" if part[:1].isdecimal() else part for part in list_parts(text))
    return tuple(dict.fromkeys(map(KeyRegime.parse, parts)))


def number(
    right: str, least: float, most: float, unit: str | None = None, step: int = 1
) -> Callable[[str], float]:
    """The parser of a number, as `quantities.parse_number`, in steps; `right` says what it is."""

    def parse(text: str) -> float:
        value = parse_number(text, unit)
        if value is None or not least <= value / step <= most:
            raise ValueError(f"{text!r} is no {right}")
        return float(value / step)

    return parse


def sizes(text: str) -> tuple[int, ...]:
    """Sizes in bytes, in the order given, each once: `16,64,4KiB`."""
    size = count(1, TEXT_LEN_MAX, "size in bytes")
    return tuple(dict.fromkeys(map(size, list_parts(text))))


def folder(text: str) -> Path:
    """The name of a folder, which need not exist."""
    if not text:
        raise ValueError("'' is no folder; name one, as in results/2026-11-21/laptop")
    return Path(text)


def file(text: str) -> Path:
    """The name of a file to write: no folder, and no link of the system's."""
    path = Path(text)
    if not text or path.is_dir():
        raise ValueError(f"{text!r} is no file; name one")
    # Files are written in a link's place: root would lose /dev/stdout to one.
    if path.is_symlink() and path.parent.resolve().is_relative_to("/dev"):
        raise ValueError(f"{text!r} is no file but a link of the system's; name a file")
    return path


def address(text: str) -> str:
    """Host and port, `10.0.0.1:6379`."""
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError(f"{text!r} is no address; write HOST:PORT, as 10.0.0.1:6379")
    return text


def region(text: str) -> Region:
    """A device's memory, `/dev/dax0.0:0:0x200000`; whether it is there is not looked at."""
    path, *numbers = text.rsplit(":", 2)
    if len(numbers) != 2 or not path:
        raise ValueError(f"{text!r}; right would be PATH:OFFSET:LENGTH, as /dev/dax0.0:0:0x200000")
    return Region(Path(path), *map(_bytes, numbers))


def _bytes(text: str) -> int:
    if re.fullmatch("0x[0-9a-fA-F]{1,15}", text):
        return int(text, 16)
    return parse_count(text, 0, 2**63 - 1, "number of bytes")


def check_region(region: Region | None, *, owned: bool) -> None:
    """Checks that a region is there, and was confirmed to be free; touches nothing of it."""
    if owned != (region is not None):
        raise ValueError(
            "--region and --i-own-this-region go together: what a region holds is overwritten, and "
            "the second one says that nobody else needs it"
        )
    if region is not None:
        parsed("--region", lambda each: native.check_region(*each), region)


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean a or b?`, or "" where nothing is near."""
    near = get_close_matches(name, list(known))
    return f"did you mean {' or '.join(near)}?" if near else ""


TEN_YEARS_S = 10 * 365 * 86_400
seconds = number("time; write seconds, as in 90, or 3m, or 1h", 1e-9, TEN_YEARS_S, "s", 10**9)
pause = number("time of up to a day; write seconds, as in 2, or 500ms", 0, 86_400, "s", 10**9)
latency_ns = number("time; write microseconds, as in 500, or 2ms", 1, TEN_YEARS_S * 10**9, "us")
rate = number("number of messages a second; write one, as in 40000, 40k or 1.5M", 0.01, 1e12)
price = number("price above 0; write a number, as in 500", 1e-9, 1e12)
seed = count(0, 2**64 - 1, "seed")
THREADS_MAX = 1_024
