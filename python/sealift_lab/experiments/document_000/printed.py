"""Rounding of printed numbers."""

from decimal import Decimal


def rounding(text: str) -> tuple[float, float]:
    """The least and the most that round to a printed number: `99.3k` is 99,250 to 99,350."""
    multiple = MULTIPLES.get(text[-1], 1)
    number = Decimal(text.rstrip("km"))
    half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
    return float((number - half) * multiple), float((number + half) * multiple)


MULTIPLES = {"k": 1_000, "m": 1_000_000}
