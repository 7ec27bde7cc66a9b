"""A device under a load: the batch in which it should work, what that takes, and its rank."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sealift_lab.advise.devices import Batch, Device
from sealift_lab.advise.latency import Latency, fill_ns_p99
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.model.results import Estimate, Origin, Verdict

Judge = Callable[[int, str, str], Comparison | None]
"""Judges a device against another in batches of a size: messages, the other, the one."""


@dataclass(frozen=True)
class Demand:
    """The load.

    Attributes:
        rate_per_s: Messages a second; None where only speed counts.
        p99_ns: Deadline of 99 of 100 messages; None for none.
        batch: Messages a batch; None for the best number.
        core_price: Price of a core, in the currency of cards; None where it is not known.
    """

    rate_per_s: float | None = None
    p99_ns: float | None = None
    batch: int | None = None
    core_price: float | None = None


class State(StrEnum):
    """Whether a device meets the demand, the best first.

    LATE: not shown to be back in time, because a p99 in batches is an upper bound. NEAR_FULL: keeps
    up, but so nearly that no simulation tells how long its queue grows.
    """

    MEETS = "meets"
    LATE = "late"
    NEAR_FULL = "near full"
    OVERLOADED = "overloaded"


@dataclass(frozen=True)
class Service:
    """A device with the load in batches of one size.

    Attributes:
        batch: What it does in such batches.
        state: Whether that meets the demand.
        devices_needed: How many such devices the rate takes, as a fraction; None without a rate.
        cores_busy: Processors of this machine that it keeps busy at the rate; None without one.
        fill_ns: Mean wait from the first to the last message of a batch.
        p99_ns: Within what 99 of 100 messages are back at the latest, filling included; simulated.
            None without a rate, and of a device that is overloaded or near full.
        is_late: Whether that is beyond the deadline, however many such devices there were.
    """

    batch: Batch
    state: State
    devices_needed: float | None = None
    cores_busy: Estimate | None = None
    fill_ns: float = 0.0
    p99_ns: float | None = None
    is_late: bool = False


@dataclass(frozen=True)
class Candidate:
    """A device under the load.

    Attributes:
        device: Which.
        used: The service in the batch that suits the demand best.
        services: In all batches, ascending.
        place: Its rank, from 1; of a card the one that it would take. 0 before it has one.
        comparison: With the first of its place; None for that one and for cards.
    """

    device: Device
    used: Service
    services: tuple[Service, ...]
    place: int = 0
    comparison: Comparison | None = None

    @property
    def name(self) -> str:
        """Of the device."""
        return self.device.name

    @property
    def is_projected(self) -> bool:
        """Whether nothing of it was measured."""
        return self.device.origin is not Origin.MEASURED


def serve(device: Device, demand: Demand, latency: Latency) -> Candidate:
    """Finds the batch in which a device should work a load.

    Without a rate it is the largest batch. With one it is the batch that costs this machine's
    processors least among those that meet the deadline, or, without a deadline, that keep up and
    are full within a millisecond; the smallest batch where several cost about the same. Where no
    batch does, it is the one that is back first, or can do most of those that would be in time.
    """
    services = tuple(
        _service(device, batch, demand, latency)
        for batch in device.batches
        if demand.batch in (None, batch.messages)
    )
    return Candidate(device, _choice(services, demand), services)


def rank(candidates: Sequence[Candidate], judge: Judge) -> tuple[Candidate, ...]:
    """Orders devices and gives them places: those that were measured, and after them the cards.

    What meets the demand comes first, then what costs this machine's processors less; without a
    rate what does more messages a second. Devices that the judge does not tell from the first of a
    place, in that one's batches, share its place; cards are not judged.
    """
    real = sorted((each for each in candidates if not each.is_projected), key=_key)
    placed: list[Candidate] = []
    while real:
        first, *others = real
        place, real = len(placed) + 1, []
        placed.append(replace(first, place=place))
        for each in others:
            found = judge(first.used.batch.messages, first.name, each.name)
            if found and found.verdict in OPEN and each.used.state is first.used.state:
                placed.append(replace(each, place=place, comparison=found))
            else:
                real.append(each)
    cards = sorted((each for each in candidates if each.is_projected), key=_key)
    keys = [_key(each) for each in placed]
    places = (1 + sum(key < _key(card) for key in keys) for card in cards)
    return (*placed, *(replace(card, place=at) for card, at in zip(cards, places, strict=True)))


def _service(device: Device, batch: Batch, demand: Demand, latency: Latency) -> Service:
    rate = demand.rate_per_s
    if rate is None:
        return Service(batch, State.MEETS)
    needed = rate / batch.per_s.value
    full_ns = fill_ns_p99(batch.messages, rate)
    response_ns, state = batch.batch_ns.value, State.MEETS
    if needed >= 1:
        state = State.OVERLOADED
    elif rate / (batch.per_s.low or batch.per_s.value) > FULL_SHARE:
        state = State.NEAR_FULL
    else:
        response_ns = latency(device, batch, rate / batch.messages)
    p99_ns = response_ns + full_ns
    is_late = p99_ns > (math.inf if demand.p99_ns is None else demand.p99_ns)
    is_simulated = state is State.MEETS
    return Service(
        batch=batch,
        state=State.LATE if is_simulated and is_late else state,
        devices_needed=needed,
        cores_busy=batch.host_ns.scaled(rate / 1e9),
        fill_ns=(batch.messages - 1) / rate * 1e9,
        p99_ns=p99_ns if is_simulated else None,
        is_late=is_late,
    )


def _choice(services: Sequence[Service], demand: Demand) -> Service:
    if demand.rate_per_s is None:
        return services[-1]
    suited = [each for each in services if each.state is State.MEETS]
    if demand.p99_ns is None:
        suited = [each for each in suited if each.fill_ns <= FILL_NS_MAX]
    if suited:
        enough_ns = min(each.batch.host_ns.value for each in suited) * (1 + ABOUT)
        return next(each for each in suited if each.batch.host_ns.value <= enough_ns)
    if in_time := [each for each in services if each.p99_ns is not None]:
        return min(in_time, key=lambda each: each.p99_ns or 0.0)
    order = list(State)
    return min(services, key=lambda s: (order.index(s.state), s.is_late, -s.batch.per_s.value))


def _key(candidate: Candidate) -> tuple[float, float]:
    used = candidate.used
    if used.cores_busy is None:
        return (0.0, -used.batch.per_s.value)
    return (list(State).index(used.state), used.cores_busy.value)


OPEN = (Verdict.SAME, Verdict.INCONCLUSIVE)
# Without a deadline, waiting for others is not to be most of a message's time for long.
FILL_NS_MAX = 1e6
# Busier, 20,000 batches from an empty queue on are too few to tell how long it grows.
FULL_SHARE = 0.9
# Costs that differ less count as equal; a verdict needs 2.5 %.
ABOUT = 0.02
