"""What is done to messages, and under which keys."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from sealift.quantities import parse_number


class Operation(IntEnum):
    """What is done to a message, with the code that crosses to native code."""

    SEAL = 0
    OPEN = 1
    BAD = 2
    """An open that must fail: the tag is wrong by one bit."""


class Keys(StrEnum):
    """How many keys a workload has; this changes the speed of small messages most."""

    ONE = "one"
    SESSIONS = "sessions"
    FRESH = "fresh"


@dataclass(frozen=True)
class Regime:
    """Under which keys the messages are.

    Attributes:
        keys: One installed key, many installed keys, or a raw key for each message. With
            several key sizes, "one" is one key of each size, and sessions are shared out by
            the weights of the sizes.
        sessions: How many keys are installed; 0 for fresh keys.
    """

    keys: Keys
    sessions: int

    def __post_init__(self) -> None:
        """Refuses a number of sessions that the kind of keys can't have."""
        allowed = {Keys.ONE: (1, 1), Keys.SESSIONS: (1, MAX_SESSIONS), Keys.FRESH: (0, 0)}
        least, most = allowed[self.keys]
        if not least <= self.sessions <= most:
            right = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            raise ValueError(f"{self.sessions:,} keys; right would be {right}")

    @classmethod
    def parse(cls, text: str) -> "Regime":
        """Reads `one`, `fresh` or `sessions:1024` (also `sessions:1,024`, `sessions:5k`).

        Raises:
            ValueError: Naming the text and the three forms.
        """
        kind, _, count = text.partition(":")
        number = parse_number(count) if kind == Keys.SESSIONS else None
        if number is not None and number.denominator == 1:
            return cls(Keys.SESSIONS, int(number))
        if text == Keys.ONE:
            return ONE_KEY
        if text == Keys.FRESH:
            return FRESH_KEYS
        raise ValueError(f"keys {text!r}; write one, fresh or sessions:N, as in sessions:1024")

    def __str__(self) -> str:
        """The form that `parse` reads."""
        return f"sessions:{self.sessions}" if self.keys is Keys.SESSIONS else self.keys.value


@dataclass(frozen=True)
class Mix:
    """Weights of the operations: seals, opens that succeed, opens that must fail."""

    seal: int
    open: int
    bad: int

    def __post_init__(self) -> None:
        """Refuses weights below 0, or none above it."""
        for name, weight in (("seal", self.seal), ("open", self.open), ("bad", self.bad)):
            check_whole(f"mix weight {name}", weight, 0, MAX_WEIGHT)
        if not self.seal + self.open + self.bad:
            raise ValueError("a mix of 0/0/0 does nothing; one weight must be above 0")

    @classmethod
    def parse(cls, text: str) -> "Mix":
        """Reads `seal`, `open`, or three weights seal/open/bad, as in `50/25/25`.

        Raises:
            ValueError: Naming the text and what would be right.
        """
        words = {"seal": SEAL_ONLY, "open": OPEN_ONLY}
        if text in words:
            return words[text]
        parts = text.split("/")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"mix {text!r}; write seal, open, or weights seal/open/bad: 50/25/25")
        return cls(*(int(part) for part in parts))

    def __str__(self) -> str:
        """Per cent of seals, opens and failing opens: `50/25/25`."""
        total = self.seal + self.open + self.bad
        return "/".join(f"{100 * part / total:.4g}" for part in (self.seal, self.open, self.bad))


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuses what is no whole number of a range.

    Raises:
        ValueError: Naming what it is, the value and the range.
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} of {value!r}; right would be a whole number {least:,}..{most:,}")


MAX_SESSIONS = 2**32 - 1
MAX_WEIGHT = 2**53
ONE_KEY = Regime(Keys.ONE, 1)
FRESH_KEYS = Regime(Keys.FRESH, 0)
SEAL_ONLY = Mix(1, 0, 0)
OPEN_ONLY = Mix(0, 1, 0)
