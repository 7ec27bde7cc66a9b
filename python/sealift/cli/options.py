"""Reads what is given on the command line; imports nothing of the lab until it is asked to."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sealift.cli.said import read
from sealift.quantities import list_parts, parse_count, parse_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sealift.lab.workload import Regime

Read = TypeVar("Read")


def given(option: str, parse: Callable[[str], Read]) -> Callable[[str | Read], Read]:
    """What turns an option's text into its value, for `typer.Option(parser=...)`.

    Args:
        option: Its name, for what is said of a text that is wrong.
        parse: Raises ValueError for one.
    """

    def parsed(value: str | Read) -> Read:
        # Defaults come this way, too.
        return read(option, parse, value) if isinstance(value, str) else value

    return parsed


def count(least: int, most: int, noun: str) -> Callable[[str], int]:
    """What reads whole numbers, as `quantities.parse_count` does."""
    return partial(parse_count, least=least, most=most, noun=noun)


def seed(text: str) -> int:
    """Reads what everything that is drawn is drawn from."""
    return parse_count(text, 0, 2**64 - 1, "seed")


def tasklets(text: str) -> int:
    """Reads how many tasklets a DPU has."""
    return parse_count(text, 1, 24, "number of tasklets")


def thread_counts(text: str) -> tuple[int, ...]:
    """Reads `1,2,4`.

    Raises:
        ValueError: Naming the part that is no number of threads.
    """
    read_one = count(1, THREADS_MAX, "number of threads")
    return tuple(dict.fromkeys(map(read_one, list_parts(text))))


def seconds(text: str) -> float:
    """Reads `90`, `90s`, `3m`, `1.5h` or `500ms`.

    Raises:
        ValueError: If it is no time above 0, or one without end.
    """
    ns = parse_number(text, "s")
    if not ns or ns >= ENDLESS_NS:
        raise ValueError(f"{text!r} is no time; write seconds, as in 90, or 3m, or 1h")
    return float(ns / 10**9)


def folder(text: str) -> Path:
    """Reads the name of a folder.

    Raises:
        ValueError: If it is empty, or the system takes no such name.
    """
    if not text:
        raise ValueError("'' is no folder; name one, as in results/2026-11-21/laptop")
    _is_dir(text)
    return Path(text)


def file(text: str) -> Path:
    """Reads the name of a file.

    Raises:
        ValueError: If it is empty, a folder or a link of the system's, or the system takes no such
            name.
    """
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


def need(module: str, what: str) -> None:
    """Checks that an optional package is there.

    Args:
        module: Its name when imported.
        what: What it is needed for.

    Raises:
        ValueError: With the command that installs it.
    """
    if find_spec(module) is None:
        package = PACKAGES[module]
        raise ValueError(
            f"{what} is drawn by {package}, which isn't installed: python -m pip install {package}"
        )


def key_bits(text: str) -> int:
    """Reads 128, 192 or 256.

    Raises:
        ValueError: If it is another number.
    """
    if text not in ("128", "192", "256"):
        raise ValueError(f"{text!r} is no size of an AES key; write 128, 192 or 256")
    return int(text)


def rate(text: str) -> float:
    """Reads `40000`, `40,000`, `40k`, `1.5M` or `1e6`.

    Raises:
        ValueError: If it is no number, or one that nobody sends a second.
    """
    value = parse_number(text)
    if value is None or not RATE_MIN <= value <= RATE_MAX:
        raise ValueError(
            f"{text!r} is no number of messages a second from {RATE_MIN} to {RATE_MAX:,.0f}; write "
            "one, as in 40000, 40k or 1.5M"
        )
    return float(value)


def price(text: str) -> float:
    """Reads `500`, `1,500` or `1.5k`.

    Raises:
        ValueError: If it is no number above 0, or beyond all prices.
    """
    value = parse_number(text)
    if not value or value > PRICE_MAX:
        raise ValueError(f"{text!r} is no price above 0; write a number, as in 500")
    return float(value)


def microseconds(text: str) -> float:
    """Reads `500`, `1,000`, `500us`, `2ms` or `1s`; gives nanoseconds.

    Raises:
        ValueError: If it is no time above 0.
    """
    ns = parse_number(text, "us")
    if not ns or ns >= ENDLESS_NS:
        raise ValueError(f"{text!r} is no time; write microseconds, as in 500, or 2ms")
    return float(ns)


def regimes(text: str) -> "tuple[Regime, ...]":
    """Reads `one,sessions:1024,fresh`; a number alone, as 5k, is one of sessions.

    Raises:
        ValueError: Naming the part that is no key regime.
    """
    from sealift.lab.workload import Regime

    parts = list_parts(text)
    named = (f"sessions:{part}" if part[:1].isdecimal() else part for part in parts)
    return tuple(dict.fromkeys(map(Regime.parse, named)))


def conditions(texts: "list[str]") -> dict[str, str]:
    """Reads `threads=2` and the like.

    Raises:
        ValueError: Naming the text that is none.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no condition; write COLUMN=VALUE, as in threads=2")
        found[name] = value
    return found


def nearest(name: str, known: "Iterable[str]") -> str:
    """`did you mean a or b?`, or "" where nothing is near."""
    near = get_close_matches(name, list(known))
    return f"did you mean {' or '.join(near)}?" if near else ""


def _is_dir(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except OSError as error:
        raise ValueError(f"{text!r} can't be named: {error.strerror}; take another name") from error


THREADS_MAX = 1_024
RATE_MIN, RATE_MAX, PRICE_MAX = 0.01, 1e12, 1e12
PACKAGES = {"vl_convert": "vl-convert-python"}
# Longer is no time to wait for: ten years.
ENDLESS_NS = 10 * 365 * 86_400 * 10**9
