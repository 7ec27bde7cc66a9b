"""From which message size on one of two devices is the faster one."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sealift import Card


@runtime_checkable
class Straight(Protocol):
    """What batches take on a device, as a straight line: a `Cost` is one, and a `Line`."""

    @property
    def setup_ns(self) -> float:
        """What every batch takes."""

    @property
    def per_message_ns(self) -> float:
        """What each message adds."""

    @property
    def per_byte_ns(self) -> float:
        """What each byte adds."""


@dataclass(frozen=True)
class Pair:
    """From which message size on one device is at least as fast as another.

    Attributes:
        device: The one.
        other: The other one.
        is_faster: "always", "never", "from" a size, "up to" one, or "between" two.
        message_bytes: That size, or the smaller one of the two; None for always and never.
        message_bytes_most: The larger one of two; else None.
    """

    device: str
    other: str
    is_faster: str
    message_bytes: float | None = None
    message_bytes_most: float | None = None


def pairs(costs: "Mapping[str, Straight | Card]", messages: int) -> tuple[Pair, ...]:
    """Compares every two devices on batches of so many messages.

    Straight lines for all sizes, cards as they are reckoned for sizes up to 16 MiB.
    """
    return tuple(
        _pair(one, other, costs[one], costs[other], messages)
        for one, other in combinations(costs, 2)
    )


def in_words(found: Iterable[Pair]) -> Iterator[str]:
    """Which devices are faster than which others, from which message size on; sentences."""
    always: dict[str, list[str]] = {}
    rest = []
    for pair in found:
        # A break-even under one byte is none.
        small = pair.message_bytes is not None and pair.message_bytes < 1
        if pair.is_faster == "always" or (small and pair.is_faster == "from"):
            always.setdefault(pair.device, []).append(pair.other)
        elif pair.is_faster == "never" or (small and pair.is_faster == "up to"):
            always.setdefault(pair.other, []).append(pair.device)
        else:
            rest.append(_changing(pair))
    for device, others in always.items():
        yield f"{device} is at least as fast as {_listed(others)} at every size"
    yield from rest


def _pair(
    one: str, other: str, cost: "Straight | Card", against: "Straight | Card", messages: int
) -> Pair:
    if isinstance(cost, Straight) and isinstance(against, Straight):
        return Pair(one, other, *_of_lines(cost, against, messages))

    def lead_ns(size: int) -> float:
        return _batch_ns(cost, messages, size) - _batch_ns(against, messages, size)

    return _of_any(one, other, lead_ns)


def _of_lines(one: Straight, other: Straight, messages: int) -> tuple[str, float | None]:
    """From which message size on a batch is at least as fast on one device as on another."""
    setup_ns = (one.setup_ns - other.setup_ns) / messages
    more_ns = setup_ns + one.per_message_ns - other.per_message_ns
    byte_ns = one.per_byte_ns - other.per_byte_ns
    if more_ns <= 0 and byte_ns <= 0:
        return "always", None
    if more_ns >= 0 and byte_ns >= 0:
        return "never", None
    size = -more_ns / byte_ns
    if math.isinf(size):
        return ("always" if more_ns < 0 else "never"), None
    return "from" if byte_ns < 0 else "up to", size


def _of_any(one: str, other: str, lead_ns: Callable[[int], float]) -> Pair:
    """The same where a card is one of the two; its times bend where another part holds it up."""

    def is_first(size: int) -> bool:
        return lead_ns(size) <= 0

    sizes = [0, *(1 << power for power in range(SIZE_POWER + 1))]
    sides = [(size, is_first(size)) for size in sizes]
    changes = [
        _change(low, high, is_first)
        for (low, below), (high, above) in pairwise(sides)
        if below != above
    ]
    begins = sides[0][1]
    if not changes:
        return Pair(one, other, "always" if begins else "never")
    if len(changes) == 1:
        return Pair(one, other, "up to" if begins else "from", changes[0])
    faster, slower = (other, one) if begins else (one, other)
    return Pair(faster, slower, "between", changes[0], changes[-1])


def _change(low: int, high: int, is_first: Callable[[int], bool]) -> int:
    """The least size above one that is on the other side than it, as another one is."""
    there = is_first(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_first(middle) == there else (middle, high)
    return high


def _batch_ns(cost: "Straight | Card", messages: int, message_bytes: int) -> float:
    if isinstance(cost, Straight):
        a_message_ns = cost.per_message_ns + cost.per_byte_ns * message_bytes
        return cost.setup_ns + messages * a_message_ns
    return cost.predict(messages, message_bytes).batch_ns


def _changing(pair: Pair) -> str:
    one, other, size = pair.device, pair.other, _about(pair.message_bytes)
    if pair.is_faster == "between":
        most = _about(pair.message_bytes_most)
        return f"between about {size} and {most} bytes a message {one} is faster than {other}"
    first, then = (other, one) if pair.is_faster == "from" else (one, other)
    return f"up to about {size} bytes a message {first} is faster than {then}, then {then}"


def _about(size: float | None) -> str:
    return f"{float(f'{size or 0.0:.2g}'):,.0f}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Sizes up to 16 MiB are looked at.
SIZE_POWER = 24
