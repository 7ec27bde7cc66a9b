"""A stream of messages: its shapes, and the messages in their order."""

import itertools
import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sealift.lab.workload.terms import MAX_WEIGHT, Mix, Operation, Regime, check_whole

Weighted = tuple[tuple[int, int], ...]
"""Values with their weights; only the proportion of the weights matters."""


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
        check_whole("messages", self.messages, 1, MAX_MESSAGES)
        check_whole("seed", self.seed, 0, 2**64 - 1)
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
            told, counted = dict(getattr(self, field)), dict(margin(self.joint, field))
            if told != counted:
                raise ValueError(f"{field} is {told}, but the joint shapes add up to {counted}")
        if self.mix != joint_mix(self.joint):
            raise ValueError(
                f"mix is {self.mix}, but the joint shapes add up to {joint_mix(self.joint)}"
            )


def margin(shapes: Iterable[Shape], field: str) -> Weighted:
    """How often each value of a field stands in some shapes."""
    counts: Counter[int] = Counter()
    for shape in shapes:
        counts[getattr(shape, field)] += shape.weight
    return tuple(sorted(counts.items()))


def joint_mix(shapes: Iterable[Shape]) -> Mix:
    """The operations of some shapes."""
    counts = dict(margin(shapes, "operation"))
    return Mix(*(counts.get(operation, 0) for operation in Operation))


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


def _check_weighted(field: str, pairs: Weighted, allowed: range | tuple[int, ...]) -> None:
    if not pairs:
        raise ValueError(f"{field} is empty; it needs at least one (value, weight) pair")
    for value, weight in pairs:
        if value not in allowed:
            raise ValueError(f"{field} of {value:,}; right would be {_described(allowed)}")
        check_whole(f"weight of {field} {value:,}", weight, 0, MAX_WEIGHT)
    if not any(weight for _, weight in pairs):
        raise ValueError(f"{field} has no weight above 0 in {pairs}")
    if len({value for value, _ in pairs}) != len(pairs):
        raise ValueError(f"{field} names a value twice in {pairs}; add their weights")


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
