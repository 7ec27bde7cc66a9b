"""Printed numbers with the range that their last digit leaves open."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Rounded:
    """A printed number, or what follows from several.

    Attributes:
        value: As printed.
        low: The least that rounds to it.
        high: The most that rounds to it.
    """

    value: float
    low: float
    high: float

    @classmethod
    def printed(cls, text: str) -> "Rounded":
        """Reads a number with a unit: `1.6 G` is 1.55e9 to 1.65e9, `128 Bytes` is 127.5 to 128.5.

        Args:
            text: A number, a space and a unit; `M` and `G` before the unit, or alone, multiply.

        Raises:
            ValueError: If it is written in another way.
        """
        try:
            digits, unit = text.split()
            number = Decimal(digits)
            last = Decimal(1).scaleb(int(number.as_tuple().exponent))
        except (ArithmeticError, ValueError):
            raise ValueError(
                f"{text!r} is no printed number with a unit, such as 87.0 GB"
            ) from None
        factor = MULTIPLES.get(unit[0], 1)
        ends = (number, number - last / 2, number + last / 2)
        return cls(*(float(end * factor) for end in ends))

    def __add__(self, other: "Rounded") -> "Rounded":
        """The sum, with the worst of both."""
        return Rounded(self.value + other.value, self.low + other.low, self.high + other.high)

    def scaled(self, factor: float) -> "Rounded":
        """The same in another unit.

        Args:
            factor: Above 0.
        """
        return Rounded(self.value * factor, self.low * factor, self.high * factor)

    def over(self, other: "Rounded") -> "Rounded":
        """The quotient of two numbers that were rounded apart, with the worst of both."""
        return Rounded(self.value / other.value, self.low / other.high, self.high / other.low)

    def share_beside(self, rest: "Rounded") -> "Rounded":
        """The share of this in the sum of this and the rest, with the worst of both."""
        return Rounded(
            self.value / (self.value + rest.value),
            self.low / (self.low + rest.high),
            self.high / (self.high + rest.low),
        )


MULTIPLES = {"M": 10**6, "G": 10**9}
