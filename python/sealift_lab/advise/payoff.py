"""At which load a card that one does not own would pay: in time, in host CPU, in money."""

import math
from dataclasses import dataclass

from sealift_lab.advise.load import Candidate, Demand, State
from sealift_lab.judge.crossings import BreakEven, break_even


@dataclass(frozen=True)
class Payoff:
    """A card beside the best device of this machine.

    Attributes:
        card: The card under the load.
        real: The best device that was measured, under the same load.
        rate_per_s: Of the load; None where none was given, and cores are those of a million.
        count: How many cards the rate takes.
        times: How many times as long as the real device it takes for a batch of that one's size.
        earlier: From how many messages a batch on it is done earlier than the real device.
        cores_freed: Cores that the cards free at the rate; below 0 where they cost more.
        cores_freed_most: Cores that one card frees with all the messages it can do; 0 for none.
        frees_core_at_per_s: From how many messages a second on one card frees a core, in the
            largest batches; None for never.
        price: Of the cards; None where the description has none.
        currency: Of the description, or "".
        core_price: Price of a core from which on the cards pay; None for none at all.
        pays: Whether they pay at the given price of a core; None where either is unknown.
        watts: Of the cards; None where the description has none.
    """

    card: Candidate
    real: Candidate
    rate_per_s: float | None
    count: int
    times: float
    earlier: BreakEven
    cores_freed: float
    cores_freed_most: float
    frees_core_at_per_s: float | None
    price: float | None
    currency: str
    core_price: float | None
    pays: bool | None
    watts: float | None

    @property
    def is_late(self) -> bool:
        """Whether messages would be back from it after the deadline."""
        return self.card.used.is_late

    @property
    def is_needed(self) -> bool:
        """Whether no real device meets the demand, and the card does."""
        return self.real.used.state is not State.MEETS and self.card.used.state is State.MEETS


def payoff(card: Candidate, real: Candidate, demand: Demand) -> Payoff:
    """Sets a projected device against the best real one under the same load.

    Args:
        card: The projected one.
        real: The real one.
        demand: The load; without a rate a million messages a second.

    Raises:
        ValueError: If `card` was not projected from one.
    """
    described = card.device.card
    if described is None:
        raise ValueError(f"{card.device.name} is no card; right would be a projected device")
    rate = demand.rate_per_s or PER_MILLION
    count = math.ceil(rate / card.used.batch.per_s.value)
    freed = (real.used.batch.host_ns.value - card.used.batch.host_ns.value) * rate / 1e9
    largest, able_per_s = card.device.largest, card.device.largest.per_s.value
    saved_ns = real.device.largest.host_ns.value - largest.host_ns.value
    core_at_per_s = 1e9 / saved_ns if saved_ns > 0 else math.inf
    size, at = round(real.device.message_bytes), real.used.batch
    price = None if described.price is None else described.price * count
    pays_from = price / freed if price is not None and freed > 0 else None
    is_paying = None
    if demand.core_price is not None and price is not None:
        is_paying = pays_from is not None and demand.core_price >= pays_from

    def message_ns(messages: int) -> float:
        return described.predict(messages, size).batch_ns / messages

    return Payoff(
        card=card,
        real=real,
        rate_per_s=demand.rate_per_s,
        count=count,
        times=message_ns(at.messages) / at.host_ns.value,
        earlier=break_even(message_ns, at.host_ns, BATCH_MAX),
        cores_freed=freed,
        cores_freed_most=max(0.0, saved_ns * able_per_s / 1e9),
        frees_core_at_per_s=core_at_per_s if core_at_per_s <= able_per_s else None,
        price=price,
        currency=described.currency or "",
        core_price=pays_from,
        pays=is_paying,
        watts=None if described.watts is None else described.watts * count,
    )


PER_MILLION = 1e6
# In larger batches fixed costs weigh nothing any more.
BATCH_MAX = 1 << 20
