"""Numbers as people write them on a command line: `1,024`, `40k`, `1.5M`, `64KiB`, `2ms`."""

import re
from collections.abc import Mapping
from fractions import Fraction


def parse_number(text: str, unit: str | None = None) -> Fraction | None:
    """Reads a number; exactly, so that 0.1k is 100.

    Args:
        text: A number, with a comma or an underscore between thousands if at all, and a unit.
        unit: A unit of time that numbers without one have: `s` or `us`. None for counts, sizes
            and rates.

    Returns:
        Of a time its nanoseconds; None where the text is no such number.

    Raises:
        ValueError: If a comma stands elsewhere than between thousands: some write 1.5 so.
    """
    units: Mapping[str, int] = COUNTS if unit is None else {**TIMES_NS, "": TIMES_NS[unit]}
    match = re.fullmatch(rf"{NUMBER}\s*({'|'.join(units)})", text.strip())
    if match is None:
        return None
    whole = re.split("[.eE]", match[1])[0]
    if "," in whole and not re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", whole):
        raise ValueError(
            f"{text!r} has a comma that is not between thousands, as in 40,000; for a part of one "
            "write a point, as in 1.5M"
        )
    return Fraction(re.sub("[,_]", "", match[1])) * units[match[2]]


def parse_count(text: str, least: int, most: int, noun: str) -> int:
    """Reads a whole number: of messages, bytes, keys.

    Args:
        text: As `parse_number` takes it.
        least: The lowest one that is right.
        most: The highest one.
        noun: What it counts, for the error: `number of bytes`.

    Raises:
        ValueError: Naming the text, and what would be right.
    """
    number = parse_number(text)
    if number is None or number.denominator != 1 or not least <= number <= most:
        example = ", as in 4k (4,000) or 4KiB (4,096)" if least <= 4_000 and most > 4_096 else ""
        right = f"write a whole number from {least:,} to {most:,}{example}"
        raise ValueError(f"{text.strip()!r} is no {noun}; {right}")
    return int(number)


def list_parts(text: str) -> list[str]:
    """Splits a list at its commas.

    Raises:
        ValueError: If a part begins with a zero: some write 1,024 for 1024.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if len(part) > 1 and part.startswith("0") and part.isdecimal():
            raise ValueError(
                f"part {part!r} begins with a zero; commas separate the parts of a list, so write "
                "1024, 1_024 or 1k"
            )
    return parts


# Up to two digits of an exponent: more is no number of anything, and takes long.
NUMBER = r"([0-9][0-9,_]*\.?[0-9]*(?:[eE][0-9]{1,2})?|\.[0-9]+)"
_STEPS = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
COUNTS = (
    {"": 1, "B": 1}
    | {f"{name}{end}": 1_000**step for name, step in _STEPS.items() for end in ("", "B")}
    | {
        f"{name}i{end}": 1_024**step
        for name, step in _STEPS.items()
        for end in ("", "B")
        if name != "k"
    }
)
TIMES_NS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
