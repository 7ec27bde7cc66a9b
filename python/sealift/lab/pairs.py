"""From which message size on one of two devices is the faster one, by straight lines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sealift import Cost
    from sealift.lab.costs import Line


@dataclass(frozen=True)
class Pair:
    """From which message size on one device is at least as fast as another.

    Attributes:
        device: The one.
        other: The other one.
        is_faster: "always", "never", "from" or "up to" a size.
        message_bytes: That size; None for always and never.
    """

    device: str
    other: str
    is_faster: str
    message_bytes: float | None


def pairs(costs: "Mapping[str, Cost | Line]", messages: int) -> tuple[Pair, ...]:
    """Compares every two devices on batches of so many messages."""
    return tuple(
        Pair(one, other, *break_even(costs[one], costs[other], messages))
        for one, other in combinations(costs, 2)
    )


def break_even(one: "Cost | Line", other: "Cost | Line", messages: int) -> tuple[str, float | None]:
    """From which message size on a batch is at least as fast on one device as on another.

    Returns:
        ("always", None), ("never", None), ("from", bytes a message) or ("up to", bytes).
    """
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


def in_words(pair: Pair) -> str:
    """Which of two devices is the faster one, from which message size on."""
    one, other, size = pair.device, pair.other, pair.message_bytes
    if size is not None and size >= 1:
        first, then = (other, one) if pair.is_faster == "from" else (one, other)
        about = f"{float(f'{size:.2g}'):,.0f}"
        return f"up to about {about} bytes a message {first} is faster than {then}, then {then}"
    # A break-even under one byte is none.
    is_one = pair.is_faster in ("always", "from")
    faster, slower = (one, other) if is_one else (other, one)
    return f"{faster} is at least as fast as {slower} at every size"
