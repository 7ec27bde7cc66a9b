"""A device under a load: in which batches it should work, and what that takes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sealift.lab.load.device import Device, Figure, InBatches
from sealift.lab.load.fill import fill_ns_p99
from sealift.lab.result import Origin
from sealift.lab.units import NS_PER_S

Rehearse = Callable[[Device, InBatches, float], float]
"""Ninety-nine of 100 batches are back within so many nanoseconds, when so many come a second."""


@dataclass(frozen=True)
class Demand:
    """What is asked for.

    Attributes:
        rate_per_s: Messages a second; None where only speed counts.
        p99_ns: Within what 99 of 100 messages are to be back; None for no such wish.
        batch: Messages a batch; None for the best.
    """

    rate_per_s: float | None = None
    p99_ns: float | None = None
    batch: int | None = None


class State(StrEnum):
    """Whether a device does what is asked for, the best first.

    LATE is not shown to be back in time: a p99 in batches is an upper bound. NEAR_FULL keeps up,
    but so nearly that nothing tells how long the queue grows.
    """

    MEETS = "meets"
    LATE = "late"
    NEAR_FULL = "near full"
    OVERLOADED = "overloaded"


@dataclass(frozen=True)
class Service:
    """A device with the load in batches of one length.

    Attributes:
        batch: What it does in such batches.
        state: Whether that is what is asked for.
        devices_needed: How many of them the rate takes: 3.2 is three and a bit; None without rate.
        cores_busy: Processors of this machine that it keeps busy at the rate; None without rate.
        fill_ns: What a message waits on average for the first to the last of its batch.
        p99_ns: Within what 99 of 100 messages are back at the latest, filling included; simulated.
            None where that was not asked or the device is overloaded or near full.
        is_late: Whether that is more than is wished, however many of them there were.
    """

    batch: InBatches
    state: State
    devices_needed: float | None
    cores_busy: float | None
    fill_ns: float
    p99_ns: Figure | None
    is_late: bool = False


@dataclass(frozen=True)
class Served:
    """A device under the load.

    Attributes:
        device: Which.
        used: The service in the batches that suit the demand best.
        every: In all batches that were looked at, ascending.
    """

    device: Device
    used: Service
    every: tuple[Service, ...]

    @property
    def state(self) -> State:
        """Whether it does what is asked for."""
        return self.used.state


def serve(device: Device, demand: Demand, rehearse: Rehearse) -> Served:
    """Looks at a device in all its batches, and chooses.

    Without a rate it is the largest batch. With one it is the batch that costs this machine's
    processors least among those that meet the p99, or, where none is wished, those that keep up and
    are full within a millisecond; the smallest batch where several cost about the same. Where no
    batch does, it is the one that is back first, or can do most of
    those that would be in time.

    Args:
        device: Measured or projected.
        demand: What is asked for.
        rehearse: Works batches in virtual time.
    """
    looked = [
        batch for batch in device.batches if demand.batch is None or batch.messages == demand.batch
    ]
    every = tuple(_service(device, batch, demand, rehearse) for batch in looked)
    return Served(device, _chosen(every, demand), every)


def _service(device: Device, batch: InBatches, demand: Demand, rehearse: Rehearse) -> Service:
    if demand.rate_per_s is None:
        return Service(batch, State.MEETS, None, None, 0.0, None)
    rate = demand.rate_per_s
    needed = rate / batch.per_s.value
    cores = rate * batch.host_ns.value / NS_PER_S
    fill_ns = (batch.messages - 1) / rate * NS_PER_S
    full_ns = fill_ns_p99(batch.messages, rate)
    wished_ns = math.inf if demand.p99_ns is None else demand.p99_ns
    if needed >= 1:
        late = batch.batch_ns.value + full_ns > wished_ns
        return Service(batch, State.OVERLOADED, needed, cores, fill_ns, None, late)
    slow_per_s = batch.per_s.value if batch.per_s.low is None else batch.per_s.low
    if rate / slow_per_s > FULL_SHARE:
        late = batch.batch_ns.value + full_ns > wished_ns
        return Service(batch, State.NEAR_FULL, needed, cores, fill_ns, None, late)
    p99_ns = rehearse(device, batch, rate / batch.messages) + full_ns
    late = p99_ns > wished_ns
    state = State.LATE if late else State.MEETS
    return Service(batch, state, needed, cores, fill_ns, Figure(p99_ns, Origin.SIMULATED), late)


def _chosen(every: Sequence[Service], demand: Demand) -> Service:
    if demand.rate_per_s is None:
        return every[-1]
    suited = [each for each in every if each.state is State.MEETS]
    if demand.p99_ns is None:
        suited = [each for each in suited if each.fill_ns <= FILL_NS_MAX]
    if suited:
        enough_ns = min(each.batch.host_ns.value for each in suited) * (1 + ABOUT)
        return next(each for each in suited if each.batch.host_ns.value <= enough_ns)
    in_time = [(each.p99_ns.value, each) for each in every if each.p99_ns]
    if in_time:
        return min(in_time, key=lambda pair: pair[0])[1]
    states = list(State)
    return min(
        every,
        key=lambda each: (states.index(each.state), each.is_late, -each.batch.per_s.value),
    )


# Where nobody says how long a message may take, waiting for others isn't to be most of it for long.
FILL_NS_MAX = 1e6
# Busier, 20,000 batches from an empty queue on are too few to tell how long it grows.
FULL_SHARE = 0.9
# Differences under 2 % are none: docs/statistics.md.
ABOUT = 0.02
