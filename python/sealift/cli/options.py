"""Reads what is given on the command line; imports nothing of the lab until it is asked to."""

import math
import re
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sealift.lab.values import Value
    from sealift.lab.workload import Regime


def thread_counts(text: str) -> tuple[int, ...]:
    """Reads `1,2,4`.

    Raises:
        ValueError: Naming the part that is no number of threads.
    """
    counts = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not 1 <= int(part) <= THREADS_MAX:
            raise ValueError(
                f"{part.strip()!r} is no number of threads; write numbers from 1 to "
                f"{THREADS_MAX:,}, as in 1,2,4"
            )
        counts.append(int(part))
    return tuple(dict.fromkeys(counts))


def seconds(text: str) -> float:
    """Reads `90`, `90s`, `3m` or `1.5h`.

    Raises:
        ValueError: If it is no time above 0, or one without end.
    """
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(s|m|min|h|)", text.strip())
    length = float(match[1]) * SECONDS_OF[match[2]] if match else math.nan
    if not 0 < length < math.inf:
        raise ValueError(f"{text!r} is no time; write seconds, as in 90, or 3m, or 1h")
    return length


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
    value = _number(text, TIMES)
    if not RATE_MIN <= value <= RATE_MAX:
        raise ValueError(
            f"{text!r} is no number of messages a second from {RATE_MIN} to {RATE_MAX:,.0f}; write "
            "one, as in 40000, 40k or 1.5M"
        )
    return value


def price(text: str) -> float:
    """Reads `500`, `1,500` or `1.5k`.

    Raises:
        ValueError: If it is no number above 0, or beyond all prices.
    """
    value = _number(text, TIMES)
    if not 0 < value <= PRICE_MAX:
        raise ValueError(f"{text!r} is no price above 0; write a number, as in 500")
    return value


def microseconds(text: str) -> float:
    """Reads `500`, `1,000`, `500us`, `2ms` or `1s`; gives nanoseconds.

    Raises:
        ValueError: If it is no time above 0.
    """
    ns = _number(text, NS_OF)
    if not 0 < ns < math.inf:
        raise ValueError(f"{text!r} is no time; write microseconds, as in 500, or 2ms")
    return ns


def regimes(text: str) -> "tuple[Regime, ...]":
    """Reads `one,sessions:1024,fresh`; a number alone is one of sessions.

    Raises:
        ValueError: Naming the part that is no key regime.
    """
    from sealift.lab.workload import Regime

    parts = (part.strip() for part in text.split(","))
    named = (f"sessions:{part}" if part.isdecimal() else part for part in parts)
    return tuple(dict.fromkeys(map(Regime.parse, named)))


def conditions(texts: "list[str]") -> "dict[str, Value]":
    """Reads `threads=2` and the like; numbers become numbers.

    Raises:
        ValueError: Naming the text that is none.
    """
    read = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no condition; write COLUMN=VALUE, as in threads=2")
        read[name] = plain_value(value)
    return read


def nearest(name: str, known: "Iterable[str]") -> str:
    """`did you mean a or b?`, or "" where nothing is near."""
    near = get_close_matches(name, list(known))
    return f"did you mean {' or '.join(near)}?" if near else ""


def plain_value(text: str) -> "Value":
    """A number where the text is one, else the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _number(text: str, units: "Mapping[str, float]") -> float:
    """A number as people write it, with a unit behind it; NaN where it is none.

    Raises:
        ValueError: If a comma stands elsewhere than between thousands: some write 1.5 so.
    """
    number = r"([0-9][0-9,_]*\.?[0-9]*(?:[eE][0-9]{1,2})?|\.[0-9]+)"
    match = re.fullmatch(rf"{number}\s*({'|'.join(units)})", text.strip())
    if match is None:
        return math.nan
    whole = re.split("[.eE]", match[1])[0]
    if "," in whole and not re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", whole):
        raise ValueError(
            f"{text!r} has a comma that is not between thousands, as in 40,000; for a part of one "
            "write a point, as in 1.5M"
        )
    return float(re.sub("[,_]", "", match[1])) * units[match[2]]


def _is_dir(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except OSError as error:
        raise ValueError(f"{text!r} can't be named: {error.strerror}; take another name") from error


THREADS_MAX = 1_024
RATE_MIN, RATE_MAX, PRICE_MAX = 0.01, 1e12, 1e12
TIMES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
NS_OF = {"": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
PACKAGES = {"vl_convert": "vl-convert-python"}
SECONDS_OF = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0}
