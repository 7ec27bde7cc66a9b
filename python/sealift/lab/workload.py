"""What to run, as data: how long messages are, under which keys, and what is done to them.

A `Workload` holds plain numbers only. The native builder makes keys, nonces and texts from its
`columns()`, which are the same for every device and every run with the same seed.
"""

import csv
import itertools
import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from importlib.resources import files

Weighted = tuple[tuple[int, int], ...]
"""Values with their weights; only the proportion of the weights matters."""


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
            raise ValueError(
                f"{self.sessions:,} sessions for keys {self.keys.value!r}; "
                f"right would be {least:,}..{most:,}"
            )

    @classmethod
    def parse(cls, text: str) -> "Regime":
        """Reads `one`, `fresh` or `sessions:1024` (also `sessions:1,024`).

        Raises:
            ValueError: Naming the text and the three forms.
        """
        kind, _, count = text.partition(":")
        digits = count.replace(",", "").replace("_", "")
        if kind == Keys.SESSIONS and digits.isascii() and digits.isdigit():
            return cls(Keys.SESSIONS, int(digits))
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
            _check_whole(f"mix weight {name}", weight, 0, MAX_WEIGHT)
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


@dataclass(frozen=True)
class Shape:
    """One kind of message: its operation, its lengths in bytes, and its weight."""

    operation: Operation
    key_bits: int
    nonce_len: int
    aad_len: int
    text_len: int
    tag_len: int
    weight: int


@dataclass(frozen=True)
class Columns:
    """The messages of a workload in the order in which they run, one value a message.

    Attributes:
        operation: Codes of `Operation`.
        key_len: 16, 24 or 32 bytes.
        nonce_len: In bytes.
        aad_len: In bytes.
        text_len: In bytes.
        tag_len: In bytes.
    """

    operation: "array[int]"
    key_len: "array[int]"
    nonce_len: "array[int]"
    aad_len: "array[int]"
    text_len: "array[int]"
    tag_len: "array[int]"


@dataclass(frozen=True)
class Workload:
    """A stream of messages, described well enough to be built again to the byte.

    Attributes:
        name: What people call it.
        text_len: Lengths of the texts in bytes, weighted.
        nonce_len: Lengths of the nonces in bytes (12 is the plain case), weighted.
        aad_len: Lengths of the additional data in bytes, weighted.
        tag_len: Lengths of the tags in bytes, weighted.
        key_bits: Key sizes in bits, weighted.
        mix: Weights of the operations.
        regime: Under which keys.
        messages: How many messages there are: as many as sessions, or more.
        seed: Of the order of the messages, and of the bytes that the builder makes.
        joint: The shapes counted together, where it isn't enough to combine the fields above
            freely; their weights must then add up to those of the fields.
    """

    name: str
    text_len: Weighted
    nonce_len: Weighted
    aad_len: Weighted
    tag_len: Weighted
    key_bits: Weighted
    mix: Mix
    regime: Regime
    messages: int
    seed: int
    joint: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        """Checks every value.

        Raises:
            ValueError: Naming the field, the value and what would be right.
        """
        if not self.name:
            raise ValueError("a workload without a name; give it one, it labels the results")
        _check_weighted("text_len", self.text_len, range(MAX_TEXT_LEN + 1))
        _check_weighted("nonce_len", self.nonce_len, range(1, 129))
        _check_weighted("aad_len", self.aad_len, range(MAX_AAD_LEN + 1))
        _check_weighted("tag_len", self.tag_len, TAG_LENS)
        _check_weighted("key_bits", self.key_bits, KEY_BITS)
        _check_whole("messages", self.messages, 1, MAX_MESSAGES)
        _check_whole("seed", self.seed, 0, 2**64 - 1)
        if self.messages < self.regime.sessions:
            raise ValueError(
                f"{self.regime.sessions:,} sessions for {self.messages:,} messages: some would "
                f"never be used; right would be {self.regime.sessions:,} messages or more"
            )
        if self.joint:
            self._check_joint()

    @property
    def text_len_mean(self) -> float:
        """Mean length of a text in bytes."""
        weight = sum(weight for _, weight in self.text_len)
        return sum(length * share for length, share in self.text_len) / weight

    def shapes(self) -> tuple[Shape, ...]:
        """Every kind of message with its weight, the operations outermost."""
        return self.joint or tuple(self._free_shapes())

    def columns(self) -> Columns:
        """The messages themselves, as columns for the native builder.

        Shapes are dealt out in exact proportion, as near as whole messages allow, and then
        shuffled by the seed: two devices and two runs get the same messages in the same order.
        """
        dealt = list(_deal(self.shapes(), self.messages))
        random.Random(self.seed).shuffle(dealt)
        return Columns(
            operation=array("B", (shape.operation for shape in dealt)),
            key_len=array("B", (shape.key_bits // 8 for shape in dealt)),
            nonce_len=array("B", (shape.nonce_len for shape in dealt)),
            aad_len=array("I", (shape.aad_len for shape in dealt)),
            text_len=array("Q", (shape.text_len for shape in dealt)),
            tag_len=array("B", (shape.tag_len for shape in dealt)),
        )

    def _free_shapes(self) -> Iterator[Shape]:
        operations = zip(Operation, (self.mix.seal, self.mix.open, self.mix.bad), strict=True)
        for (operation, part), bits, nonce, aad, text, tag in itertools.product(
            operations, self.key_bits, self.nonce_len, self.aad_len, self.text_len, self.tag_len
        ):
            weight = part * bits[1] * nonce[1] * aad[1] * text[1] * tag[1]
            if weight:
                yield Shape(operation, bits[0], nonce[0], aad[0], text[0], tag[0], weight)

    def _check_joint(self) -> None:
        for field in ("text_len", "nonce_len", "aad_len", "tag_len", "key_bits"):
            told, counted = dict(getattr(self, field)), dict(_margin(self.joint, field))
            if told != counted:
                raise ValueError(f"{field} is {told}, but the joint shapes add up to {counted}")
        if self.mix != _joint_mix(self.joint):
            raise ValueError(
                f"mix is {self.mix}, but the joint shapes add up to {_joint_mix(self.joint)}"
            )


def as_stated(regime: Regime | None = None, *, messages: int = 8_192, seed: int = 3) -> Workload:
    """Document 003's workload as its text states it.

    128-byte messages, nonces of 12 bytes, tags of 16, no additional data; a third for each key
    size; half seals, a quarter opens, a quarter opens with a wrong tag.

    Args:
        regime: Under which keys; the text doesn't say. 1,024 sessions when left out.
        messages: How many.
        seed: Of order and bytes.
    """
    return Workload(
        name="003 as stated",
        text_len=((128, 1),),
        nonce_len=((12, 1),),
        aad_len=((0, 1),),
        tag_len=((16, 1),),
        key_bits=tuple((bits, 1) for bits in KEY_BITS),
        mix=Mix(50, 25, 25),
        regime=regime or Regime(Keys.SESSIONS, 1_024),
        messages=messages,
        seed=seed,
    )


def as_logged(*, messages: int | None = None, seed: int = 3) -> Workload:
    """Document 003's workload as its log and its input file show it.

    The 37,800 NIST CAVP AES-GCM records that have a text: 13, 16, 32 or 51 bytes (28 on
    average), nonces of 1, 12 and 128 bytes, tags of 4 to 16, and a fresh key for each message.

    Args:
        messages: How many; all 37,800 when left out.
        seed: Of order and bytes.
    """
    joint = _as_logged_shapes()
    return Workload(
        name="003 as logged",
        text_len=_margin(joint, "text_len"),
        nonce_len=_margin(joint, "nonce_len"),
        aad_len=_margin(joint, "aad_len"),
        tag_len=_margin(joint, "tag_len"),
        key_bits=_margin(joint, "key_bits"),
        mix=_joint_mix(joint),
        regime=FRESH_KEYS,
        messages=sum(shape.weight for shape in joint) if messages is None else messages,
        seed=seed,
        joint=joint,
    )


def of_size(
    size_bytes: int,
    regime: Regime,
    mix: Mix,
    *,
    messages: int,
    key_bits: int = 128,
    seed: int = 1,
) -> Workload:
    """Messages of one length, as the field's benchmarks have them.

    Nonces of 12 bytes, tags of 16, no additional data.

    Args:
        size_bytes: Length of each text.
        regime: Under which keys.
        mix: Which operations.
        messages: How many.
        key_bits: Size of every key.
        seed: Of order and bytes.
    """
    return Workload(
        name=f"AES-{key_bits}",
        text_len=((size_bytes, 1),),
        nonce_len=((12, 1),),
        aad_len=((0, 1),),
        tag_len=((16, 1),),
        key_bits=((key_bits, 1),),
        mix=mix,
        regime=regime,
        messages=messages,
        seed=seed,
    )


def _deal(shapes: tuple[Shape, ...], messages: int) -> Iterator[Shape]:
    """Takes shapes at even distances through their summed weights: exact, and without luck."""
    total = sum(shape.weight for shape in shapes)
    upcoming = iter(shapes)
    shape = next(upcoming)
    passed = shape.weight
    for message in range(messages):
        mark = (2 * message + 1) * total // (2 * messages)
        while passed <= mark:
            shape = next(upcoming)
            passed += shape.weight
        yield shape


@lru_cache(maxsize=1)
def _as_logged_shapes() -> tuple[Shape, ...]:
    table = files("sealift.lab") / "data" / "003-as-logged.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    return tuple(
        Shape(
            operation,
            int(row["key_bits"]),
            int(row["nonce_bytes"]),
            int(row["aad_bytes"]),
            int(row["text_bytes"]),
            int(row["tag_bytes"]),
            int(row[column]),
        )
        for operation, column in zip(Operation, ("seals", "opens", "bad"), strict=True)
        for row in rows
        if int(row[column])
    )


def _margin(shapes: Iterable[Shape], field: str) -> Weighted:
    counts: Counter[int] = Counter()
    for shape in shapes:
        counts[getattr(shape, field)] += shape.weight
    return tuple(sorted(counts.items()))


def _joint_mix(shapes: Iterable[Shape]) -> Mix:
    counts = dict(_margin(shapes, "operation"))
    return Mix(*(counts.get(operation, 0) for operation in Operation))


def _check_weighted(field: str, pairs: Weighted, allowed: range | tuple[int, ...]) -> None:
    if not pairs:
        raise ValueError(f"{field} is empty; it needs at least one (value, weight) pair")
    for value, weight in pairs:
        if value not in allowed:
            raise ValueError(f"{field} of {value:,}; right would be {_described(allowed)}")
        _check_whole(f"weight of {field} {value:,}", weight, 0, MAX_WEIGHT)
    if not any(weight for _, weight in pairs):
        raise ValueError(f"{field} has no weight above 0 in {pairs}")
    if len({value for value, _ in pairs}) != len(pairs):
        raise ValueError(f"{field} names a value twice in {pairs}; add their weights")


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} of {value!r}; right would be a whole number {least:,}..{most:,}")


def _described(allowed: range | tuple[int, ...]) -> str:
    if isinstance(allowed, range):
        return f"{allowed.start:,}..{allowed.stop - 1:,} bytes"
    return "one of " + ", ".join(str(value) for value in allowed)


KEY_BITS = (128, 192, 256)
TAG_LENS = (4, 8, 12, 13, 14, 15, 16)
# The longest text of one GCM message: 2**39 - 256 bits (SP 800-38D).
MAX_TEXT_LEN = 2**36 - 32
MAX_AAD_LEN = 2**32 - 1
MAX_MESSAGES = 2**32 - 1
MAX_SESSIONS = 2**32 - 1
MAX_WEIGHT = 2**53
ONE_KEY = Regime(Keys.ONE, 1)
FRESH_KEYS = Regime(Keys.FRESH, 0)
SEAL_ONLY = Mix(1, 0, 0)
OPEN_ONLY = Mix(0, 1, 0)
