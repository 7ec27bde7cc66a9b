"""At which load a card that one doesn't own would pay: in time, in host CPU, in money, or never."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sealift.lab.load.serving import Served, State
from sealift.lab.units import NS_PER_S

if TYPE_CHECKING:
    from sealift import Card


@dataclass(frozen=True)
class InTime:
    """Whether batches of one's own messages are back earlier from a card.

    Attributes:
        messages: From how many messages a batch on; None for never.
        times: How many times as long as the real device the card takes in the batches that the load
            has on the real device.
        times_most: The same in the longest batch that was tried.
    """

    messages: int | None
    times: float
    times_most: float


@dataclass(frozen=True)
class InHost:
    """Whether a card leaves this machine's processors more time.

    Attributes:
        card_ns: Host CPU a message that goes to the card.
        real_ns: Host CPU a message on the real device.
        cores_freed: Cores that it frees at the rate asked for, or at a million messages a second
            where none was; below 0 where it costs more.
        frees_core_at_per_s: From how many messages a second on, in the longest batches, it frees a
            whole core; None for never.
        cores_freed_most: Cores that it frees with all the messages that it can do; 0 for none.
    """

    card_ns: float
    real_ns: float
    cores_freed: float
    frees_core_at_per_s: float | None
    cores_freed_most: float


@dataclass(frozen=True)
class InMoney:
    """What a card costs for what it frees.

    Attributes:
        price: Of as many cards as the rate takes.
        currency: As the card's description has it.
        core_price: What a core would have to cost for the card to pay; None for no price at all,
            because it frees none.
        pays: Whether it pays at the price that was given for a core; None where none was.
    """

    price: float
    currency: str
    core_price: float | None
    pays: bool | None


@dataclass(frozen=True)
class Payoff:
    """At which load a card pays.

    Attributes:
        served: The card under the load.
        real: The best of the real devices.
        cards: How many of them the load takes.
        time: In time.
        host: In host CPU.
        money: In money; None where the card's description has no price.
        watts: Of so many cards; None where the description has none.
        rate_per_s: The load that was asked for; None where cores are those of a million a second.
    """

    served: Served
    real: Served
    cards: int
    time: InTime
    host: InHost
    money: InMoney | None
    watts: float | None
    rate_per_s: float | None

    @property
    def is_late(self) -> bool:
        """Whether messages would not be back from it as soon as asked."""
        return self.served.used.is_late

    @property
    def is_needed(self) -> bool:
        """Whether no real device does what is asked for, and the card does."""
        return self.real.state is not State.MEETS and self.served.state is State.MEETS


def payoff(
    card: Served,
    real: Served,
    *,
    rate_per_s: float | None,
    core_price: float | None = None,
) -> Payoff:
    """Sets a card against the best real device.

    Args:
        card: A projected device under the load.
        real: A measured one under the same load.
        rate_per_s: Messages a second; None for a million.
        core_price: What a core costs, in the card's currency.

    Raises:
        ValueError: If `card` was not projected from one.
    """
    described = card.device.card
    if described is None:
        raise ValueError(f"{card.device.name} is no card")
    rate = PER_MILLION if rate_per_s is None else rate_per_s
    cards = math.ceil(rate / card.used.batch.per_s.value)
    host = _in_host(card, real, rate)
    return Payoff(
        served=card,
        real=real,
        cards=cards,
        time=_in_time(card, real),
        host=host,
        money=_in_money(described, cards, host, core_price),
        watts=None if described.watts is None else described.watts * cards,
        rate_per_s=rate_per_s,
    )


def least(suits: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 on that suits, if all above it do; None if `most` doesn't."""
    if not suits(most):
        return None
    low, high = 0, 1
    while not suits(high):
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suits(middle) else (middle, high)
    return high


def _in_time(card: Served, real: Served) -> InTime:
    def times(messages: int) -> float:
        return card.device.batch_ns(messages) / real.device.batch_ns(messages)

    messages = least(lambda messages: times(messages) < 1, MESSAGES_MOST)
    return InTime(messages, times(real.used.batch.messages), times(MESSAGES_MOST))


def _in_host(card: Served, real: Served, rate_per_s: float) -> InHost:
    card_ns, real_ns = card.used.batch.host_ns.value, real.used.batch.host_ns.value
    longest, able_per_s = card.device.largest, card.device.largest.per_s.value
    saved_ns = real.device.largest.host_ns.value - longest.host_ns.value
    core_at = NS_PER_S / saved_ns if saved_ns > 0 else None
    return InHost(
        card_ns=card_ns,
        real_ns=real_ns,
        cores_freed=(real_ns - card_ns) * rate_per_s / NS_PER_S,
        frees_core_at_per_s=core_at if core_at is not None and core_at <= able_per_s else None,
        cores_freed_most=max(0.0, saved_ns * able_per_s / NS_PER_S),
    )


def _in_money(card: "Card", cards: int, host: InHost, core_price: float | None) -> InMoney | None:
    if card.price is None:
        return None
    price = card.price * cards
    enough = price / host.cores_freed if host.cores_freed > 0 else None
    pays = None if core_price is None else enough is not None and core_price >= enough
    return InMoney(price, card.currency or "", enough, pays)


PER_MILLION = 1e6
# In longer batches set-ups weigh nothing any more.
MESSAGES_MOST = 1 << 20
