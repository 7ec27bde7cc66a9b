"""Messages as data: lengths, keys, operations, in an order that a seed gives.

The native builder makes keys, nonces and texts from the `columns()` of a `Workload`, the same for
every device and every run with the same seed. Of one's own messages `Lengths` holds all lengths:
messages of many take longer than as many of the mean.
"""

import csv
import random
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, product
from pathlib import Path

from sealift.quantities import parse_number

Weighted = tuple[tuple[int, int], ...]
"""Values with their weights; only the proportion of the weights matters."""


class Operation(IntEnum):
    """What is done to a message, with the code that crosses to native code."""

    SEAL = 0
    OPEN = 1
    FORGED = 2
    """An open that must fail: the tag is wrong by one bit."""
    VERIFY = 3
    """Only the tag is compared, and no text comes out."""


class Keys(StrEnum):
    """How many keys a workload has; this changes the speed of small messages most."""

    ONE = "one"
    SESSIONS = "sessions"
    FRESH = "fresh"


@dataclass(frozen=True)
class KeyRegime:
    """Under which keys messages are sealed or opened: installed ones, or a raw one a message.

    With several key sizes "one" is one key of each size, and sessions are shared out by the weights
    of the sizes. Fresh keys have 0 sessions.
    """

    keys: Keys
    sessions: int

    def __post_init__(self) -> None:
        """Raises ValueError for a number of sessions that the kind of keys can't have."""
        least, most = {Keys.ONE: (1, 1), Keys.FRESH: (0, 0)}.get(self.keys, (1, MESSAGES_MAX))
        if not least <= self.sessions <= most:
            right = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            raise ValueError(f"{self.sessions:,} keys; right would be {right}")

    @classmethod
    def parse(cls, text: str) -> "KeyRegime":
        """Parses `one`, `fresh` or `sessions:1024` (also `sessions:1,024`, `sessions:5k`)."""
        kind, _, count = text.partition(":")
        number = parse_number(count) if kind == Keys.SESSIONS else None
        if number is not None and number.denominator == 1:
            return cls(Keys.SESSIONS, int(number))
        if text in (Keys.ONE, Keys.FRESH):
            return ONE_KEY if text == Keys.ONE else FRESH_KEYS
        raise ValueError(f"keys {text!r}; write one, fresh or sessions:N, as in sessions:1024")

    def __str__(self) -> str:
        """The form that `parse` takes."""
        return f"sessions:{self.sessions}" if self.keys is Keys.SESSIONS else self.keys.value


@dataclass(frozen=True)
class Mix:
    """Weights of the operations: seals, opens that succeed, opens of forged messages, verifies."""

    seal: int
    open: int
    forged: int
    verify: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError for weights below 0, or none above it."""
        for name, weight in vars(self).items():
            if type(weight) is not int or not 0 <= weight <= WEIGHT_MAX:
                right = f"a whole number 0..{WEIGHT_MAX:,}"
                raise ValueError(f"mix weight {name} of {weight!r}; right would be {right}")
        if not any(self.weights):
            raise ValueError("a mix of 0/0/0 does nothing; one weight must be above 0")

    @classmethod
    def parse(cls, text: str) -> "Mix":
        """Parses `seal`, `open`, or weights seal/open/forged, as in `50/25/25`, and /verify."""
        if text in (words := {"seal": SEAL_ONLY, "open": OPEN_ONLY}):
            return words[text]
        if not re.fullmatch(r"[0-9]+(/[0-9]+){2,3}", text):
            right = "seal, open, or weights seal/open/forged: 50/25/25"
            raise ValueError(f"mix {text!r}; write {right}")
        return cls(*map(int, text.split("/")))

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """In the order of `Operation`."""
        return self.seal, self.open, self.forged, self.verify

    def __str__(self) -> str:
        """Per cent of seals, opens and failing opens, and of verifies if any: `50/25/25`."""
        return "/".join(f"{100 * part / sum(self.weights):.4g}" for part in self._shown)

    @property
    def exact(self) -> str:
        """Per cent, or the weights where per cent would not be parsed as the same mix."""
        is_whole = all(100 * weight % sum(self.weights) == 0 for weight in self.weights)
        return str(self) if is_whole else "/".join(map(str, self._shown))

    @property
    def _shown(self) -> tuple[int, ...]:
        return self.weights if self.verify else self.weights[:3]


@dataclass(frozen=True)
class Shape:
    """One kind of message: operation, lengths in bytes, and weight; native code refuses others."""

    operation: Operation
    key_bits: int
    nonce_len: int
    aad_len: int
    text_len: int
    tag_len: int
    weight: int


@dataclass(frozen=True)
class Workload:
    """A stream of messages, described well enough to be built again to the byte.

    The seed is that of the order of the messages, and of the bytes that the builder makes.
    """

    name: str
    shapes: tuple[Shape, ...]
    regime: KeyRegime
    messages: int
    seed: int

    @property
    def text_len_mean(self) -> float:
        """Mean length of a text in bytes."""
        weight = sum(shape.weight for shape in self.shapes)
        return sum(shape.text_len * shape.weight for shape in self.shapes) / weight

    def columns(self) -> "dict[str, array[int]]":
        """The messages in the order in which they run, for the native builder.

        Shapes are dealt out in exact proportion, as near as whole messages allow, and then
        shuffled by the seed: two devices and two runs get the same messages in the same order.
        """
        places = _spread([shape.weight for shape in self.shapes], self.messages)
        dealt = [self.shapes[place] for place in places]
        random.Random(self.seed).shuffle(dealt)
        columns = {"key_len": array("B", [shape.key_bits // 8 for shape in dealt])}
        for name, code in COLUMNS.items():
            columns[name] = array(code, [getattr(shape, name) for shape in dealt])
        return columns


def of_size(
    size: int, regime: KeyRegime, mix: Mix, *, messages: int, key_bits: int = 128, seed: int = 1
) -> Workload:
    """Messages of one length in bytes under keys of one size, with the shapes of `combine`."""
    shapes = combine(mix, ((size, 1),), key_bits=((key_bits, 1),))
    return Workload(f"AES-{key_bits}", shapes, regime, messages, seed)


def combine(mix: Mix, text_len: Weighted, *, key_bits: Weighted = ((128, 1),)) -> tuple[Shape, ...]:
    """Every operation with every key size and text length, their weights multiplied.

    Nonces have 12 bytes, tags 16, and there is no additional data, as in the field's benchmarks.
    """
    every = product(zip(Operation, mix.weights, strict=True), key_bits, text_len)
    return tuple(
        Shape(operation, bits, 12, 0, length, 16, weight)
        for (operation, of_mix), (bits, of_bits), (length, of_length) in every
        if (weight := of_mix * of_bits * of_length)
    )


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in bytes, and how many messages have each, ascending by length."""

    counts: Weighted

    @classmethod
    def from_counts(cls, counts: Mapping[int, int]) -> "Lengths":
        """Those with a count above 0."""
        ascending = tuple(sorted((size, count) for size, count in counts.items() if count))
        if not ascending:
            raise ValueError("no messages; write at least one length")
        if ascending[-1][0] == 0:
            raise ValueError("all messages have 0 bytes; right would be texts to encrypt")
        return cls(ascending)

    @classmethod
    def load(cls, path: Path) -> "Lengths":
        """Loads a file: a header with a column `bytes`, maybe one `count`; or a number a line."""
        if path.is_dir():
            right = f"a file of lengths, or --run {path} for a run that was measured before"
            raise ValueError(f"{path} is a folder; right would be {right}")
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                return cls.from_counts(_count(file))
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}; {FORM}") from error
        except (ValueError, csv.Error) as error:
            why = "it is no UTF-8 text" if isinstance(error, UnicodeError) else str(error)
            raise ValueError(f"{path}: {why}; {FORM}") from error

    @classmethod
    def parse(cls, text: str) -> "Lengths":
        """Parses what `str` gives: `40x58 576x33 1500x9`."""
        pairs = [re.fullmatch(r"([0-9]{1,11})x([0-9]{1,16})", part) for part in text.split()]
        counts = Counter({int(pair[1]): int(pair[2]) for pair in pairs if pair})
        if not counts or not all(pairs) or max(counts) > TEXT_LEN_MAX:
            raise ValueError(f"lengths {text[:80]!r}; right would be 40x58 576x33")
        return cls.from_counts(counts)

    def __str__(self) -> str:
        """The form that `parse` takes."""
        return " ".join(f"{size}x{count}" for size, count in self.counts)

    @cached_property
    def messages(self) -> int:
        """How many there are."""
        return sum(count for _, count in self.counts)

    @cached_property
    def mean_bytes(self) -> float:
        """The mean length."""
        return sum(size * count for size, count in self.counts) / self.messages

    @property
    def name(self) -> str:
        """Short enough for a cell, and another one for other lengths: `753 lengths (4f2a91)`."""
        digest = sha256(str(self).encode()).hexdigest()[:6]
        return f"{len(self.counts):,} lengths ({digest})"

    def thinned(self) -> "Lengths":
        """At most `LENGTHS_MAX`, as no more messages are measured; taken at even distances."""
        if len(self.counts) <= LENGTHS_MAX:
            return self
        places = _spread([count for _, count in self.counts], LENGTHS_MAX)
        return Lengths.from_counts(Counter(self.counts[place][0] for place in places))


def _spread(weights: Sequence[int], many: int) -> Iterator[int]:
    """Places in the middle of even steps through the summed weights: nothing is drawn."""
    passed = list(accumulate(weights))
    marks = ((2 * step + 1) * passed[-1] // (2 * many) for step in range(many))
    return (bisect_right(passed, mark) for mark in marks)


def _count(lines: Iterable[str]) -> Counter[int]:
    counts, header = Counter[int](), ["bytes"]
    every = enumerate(csv.reader(lines, skipinitialspace=True), 1)
    rows = [(number, [*map(str.strip, row)]) for number, row in every if any(map(str.strip, row))]
    # A file that begins with one number has no header.
    if rows and not (len(rows[0][1]) == 1 and NUMBER.fullmatch(rows[0][1][0])):
        _, first = rows.pop(0)
        if "bytes" not in (header := [text.casefold() for text in first]):
            raise ValueError(f"no column 'bytes' in its first line, {','.join(first)[:80]!r}")
    for number, texts in rows:
        if len(texts) != (width := len(header)):
            raise ValueError(f"line {number} has {len(texts)} columns, and the first one {width}")
        # Of columns with the same name the first one counts.
        of = dict(zip(reversed(header), reversed(texts), strict=True))
        times = _whole(of.get("count", "1"), "count", WEIGHT_MAX, number)
        counts[_whole(of["bytes"], "length", TEXT_LEN_MAX, number)] += times
    return counts


def _whole(text: str, what: str, most: int, line: int) -> int:
    if not NUMBER.fullmatch(text) or int(text) > most:
        raise ValueError(f"line {line}: {what} {text[:80]!r} is no whole number from 0 to {most:,}")
    return int(text)


COLUMNS = {"operation": "B", "nonce_len": "B", "aad_len": "I", "text_len": "Q", "tag_len": "B"}
NUMBER = re.compile(r"[0-9]{1,20}")
MESSAGES_MAX = 2**32 - 1
LENGTHS_MAX = 10_000
WEIGHT_MAX = 2**53
# The longest text of one GCM message: 2**39 - 256 bits (SP 800-38D).
TEXT_LEN_MAX = 2**36 - 32
KEY_BITS = (128, 192, 256)
ONE_KEY = KeyRegime(Keys.ONE, 1)
FRESH_KEYS = KeyRegime(Keys.FRESH, 0)
SEAL_ONLY = Mix(1, 0, 0)
OPEN_ONLY = Mix(0, 1, 0)
FORM = (
    "right would be a header with a column bytes and, if lengths repeat, one count, or one number "
    "a line"
)
