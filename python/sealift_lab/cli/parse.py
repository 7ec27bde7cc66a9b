"""Values of options and arguments; each parser raises ValueError that says what would be right."""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeVar

from sealift.quantities import list_parts, parse_count, parse_number
from sealift_lab.model.workload import KEY_BITS, KeyRegime

Choice = TypeVar("Choice", bound=StrEnum)
Region = tuple[Path, int, int]
"""A device's memory: path, offset and length in bytes."""


def count(least: int, most: int, noun: str) -> Callable[[str], int]:
    """The parser of a whole number, as `quantities.parse_count`."""
    return partial(parse_count, least=least, most=most, noun=noun)


def choice(choices: type[Choice]) -> Callable[[str], Choice]:
    """The parser of one of some words; its error lists them, the nearest first."""
    words = [each.value for each in choices]

    def parse(text: str) -> Choice:
        if text not in words:
            hint = f" ({near})" if (near := nearest(text, words)) else ""
            raise ValueError(f"{text!r} is no choice{hint}; right would be {' or '.join(words)}")
        return choices(text)

    return parse


def seed(text: str) -> int:
    """The seed of everything that is drawn."""
    return parse_count(text, 0, 2**64 - 1, "seed")


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


def seconds(text: str) -> float:
    """A time in seconds: `90`, `90s`, `3m`, `1.5h` or `500ms`."""
    ns = parse_number(text, "s")
    if not ns or ns >= ENDLESS_NS:
        raise ValueError(f"{text!r} is no time; write seconds, as in 90, or 3m, or 1h")
    return float(ns / 10**9)


def latency_ns(text: str) -> float:
    """A time in nanoseconds from microseconds: `500`, `1,000`, `500us`, `2ms` or `1s`."""
    ns = parse_number(text, "us")
    if not ns or ns >= ENDLESS_NS:
        raise ValueError(f"{text!r} is no time; write microseconds, as in 500, or 2ms")
    return float(ns)


def rate(text: str) -> float:
    """Messages a second: `40000`, `40,000`, `40k`, `1.5M` or `1e6`."""
    value = parse_number(text)
    if value is None or not RATE_MIN <= value <= RATE_MAX:
        raise ValueError(
            f"{text!r} is no number of messages a second from {RATE_MIN} to {RATE_MAX:,.0f}; write "
            "one, as in 40000, 40k or 1.5M"
        )
    return float(value)


def price(text: str) -> float:
    """A price in any currency: `500`, `1,500` or `1.5k`."""
    value = parse_number(text)
    if not value or value > PRICE_MAX:
        raise ValueError(f"{text!r} is no price above 0; write a number, as in 500")
    return float(value)


def folder(text: str) -> Path:
    """The name of a folder, which need not exist."""
    if not text:
        raise ValueError("'' is no folder; name one, as in results/2026-11-21/laptop")
    _is_dir(text)
    return Path(text)


def file(text: str) -> Path:
    """The name of a file to write: no folder, and no link of the system's."""
    if not text or _is_dir(text):
        raise ValueError(f"{text!r} is no file; name one")
    path = Path(text)
    # Files are written in a link's place: root would lose /dev/stdout to one.
    if path.is_symlink() and path.parent.resolve().is_relative_to("/dev"):
        raise ValueError(
            f"{text!r} is no file but a link of the system's; name a file, and for standard output "
            "none where that may be left out"
        )
    return path


def conditions(texts: Sequence[str]) -> dict[str, str]:
    """Columns with values, each `threads=2`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no condition; write COLUMN=VALUE, as in threads=2")
        found[name] = value
    return found


def region(text: str) -> Region:
    """A device's memory, `/dev/dax0.0:0:0x200000`; whether it is there is not looked at."""
    path, *numbers = text.rsplit(":", 2)
    if len(numbers) != 2 or not path:
        raise ValueError(f"{text!r}; right would be PATH:OFFSET:LENGTH, as /dev/dax0.0:0:0x200000")
    offset, length = map(_bytes, numbers)
    return Path(path), offset, length


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean a or b?`, or "" where nothing is near."""
    near = get_close_matches(name, list(known))
    return f"did you mean {' or '.join(near)}?" if near else ""


def _bytes(text: str) -> int:
    if re.fullmatch("0x[0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    try:
        return parse_count(text, 0, 2**63 - 1, "number of bytes")
    except ValueError:
        raise ValueError(f"{text!r} is no number of bytes; write 4096, 4KiB or 0x1000") from None


def _is_dir(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except OSError as error:
        raise ValueError(f"{text!r} can't be named: {error.strerror}; take another name") from error


THREADS_MAX = 1_024
RATE_MIN, RATE_MAX, PRICE_MAX = 0.01, 1e12, 1e12
# Ten years.
ENDLESS_NS = 10 * 365 * 86_400 * 10**9
