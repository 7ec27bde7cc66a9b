"""From how many messages a batch on a card is done earlier than one on a device that is here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sealift.lab.breakeven.lines import Spot, card_ns
from sealift.lab.by_size import MESSAGES_MOST
from sealift.lab.stats import Interval

if TYPE_CHECKING:
    from sealift import Card


@dataclass(frozen=True)
class Needed:
    """How many messages of one size a batch has to have.

    It stands on the device's measured time a message, as if it were the same in batches of every
    length: shorter ones than the measured one cost it a little more.

    Attributes:
        size_bytes: Of a message.
        messages: The least number by the median of what was measured; None for never.
        fewest: The same where the device is as slow as its 95 % interval allows.
        most: The same where it is as fast; None for never.
        times: How many times as long as the device the card takes in the longest batch.
    """

    size_bytes: float
    messages: int | None
    fewest: int | None
    most: int | None
    times: Interval


def needed(card: "Card", spot: Spot) -> Needed:
    """From how many messages a batch on a card is done earlier.

    Args:
        card: Idle when the batch comes.
        spot: What was measured of a device.
    """
    size, ns = spot.size_bytes, spot.ns
    return Needed(
        size_bytes=size,
        messages=_least(card, size, ns.median),
        fewest=_least(card, size, ns.high),
        most=_least(card, size, ns.low),
        times=ns.inverse().scaled(card_ns(card, MESSAGES_MOST, size)),
    )


def _least(card: "Card", size_bytes: float, device_ns: float) -> int | None:
    """By doubling and then by halves; the longest batch that is tried stands for all longer."""
    high = 1
    while card_ns(card, high, size_bytes) >= device_ns:
        if high >= MESSAGES_MOST:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if card_ns(card, middle, size_bytes) >= device_ns:
            low = middle
        else:
            high = middle
    return high
