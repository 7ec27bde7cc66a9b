"""A device under a load: what it does in batches, in which it should work, and its rank.

Messages wait for their batch and for their turn, and are worked. That is simulated: 20,000 batches
come at random (Poisson), and go to free workers in turn.
"""

import heapq
import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

from sealift_lab._lab import Card
from sealift_lab.judge.lines import BatchTime, CostLine, fit
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.model.results import Estimate, Origin, Row, Verdict
from sealift_lab.model.workload import Lengths

Latency = Callable[["Device", "Batch", float], float]
"""Nanoseconds within which 99 of 100 batches are back, when so many come a second."""
Judge = Callable[[int, str, str], Comparison | None]
"""Judges a device against another in batches of a size: messages, the other, the one."""


@dataclass(frozen=True)
class Batch:
    """A device with messages that come in batches of one size.

    Attributes:
        batch_ns: From handing over a batch to its results, on an idle device.
        host_ns: Time of this machine's processors for each message.
        per_s: Messages a second at most.
        row: Where it was measured; None where it was projected.
    """

    messages: int
    batch_ns: Estimate
    host_ns: Estimate
    per_s: Estimate
    row: Row | None = None


@dataclass(frozen=True)
class Device:
    """A device with one's messages.

    Attributes:
        workers: How many batches it works side by side; 1 for a card, whose parts take turns.
        lengths: Of one's messages.
        batches: Ascending; 1 is among them.
        alone: Cost of one message of any size.
        line: Cost of batches of several messages of any size.
        card: What it was projected from; None where it was measured.
    """

    name: str
    workers: int
    message_bytes: float
    batches: Sequence[Batch]
    alone: CostLine
    line: CostLine
    lengths: Lengths
    card: Card | None = None

    @property
    def origin(self) -> Origin:
        """MEASURED here, or PROJECTED from a card."""
        return Origin.PROJECTED if self.card else Origin.MEASURED

    @property
    def largest(self) -> Batch:
        """What it does in its largest batches."""
        return self.batches[-1]

    @property
    def by_messages(self) -> Mapping[int, Batch]:
        """Its batches by the number of their messages."""
        return {each.messages: each for each in self.batches}

    def line_of(self, messages: int) -> CostLine:
        """Cost of its batches of so many messages of any size."""
        return self.alone if messages == 1 else self.line

    def batch_ns(self, messages: int, size_bytes: float) -> float:
        """Predicted time of one of its batches with messages of any size."""
        if self.card is not None:
            return self.card.predict(messages, round(size_bytes)).batch_ns
        line, own_ns = self.line_of(messages), self.by_messages[messages].batch_ns.value
        # The line, scaled so that it meets the batch that was measured.
        at_own = line.batch_ns(messages, self.message_bytes)
        return own_ns * line.batch_ns(messages, size_bytes) / at_own


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
    """A device with the load in batches of one size; without a rate only `batch` and `state`.

    Attributes:
        devices_needed: How many such devices the rate takes, as a fraction.
        cores_busy: Processors of this machine that it keeps busy at the rate.
        fill_ns: Mean wait from the first to the last message of a batch.
        p99_ns: Within what 99 of 100 messages are back at the latest, filling included; simulated.
            None for a device that is overloaded or near full.
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


def measured(
    name: str, own: Sequence[Row], rows: Sequence[Row], threads: int, lengths: Lengths
) -> Device:
    """A device that was measured on so many threads, each of whose processor time counts.

    `own` are its rows of one's own messages; all its rows, of other sizes, tell the cost of a byte.
    """
    # A row has the time of all threads together, in which each does its share.
    points = [
        BatchTime(batch, row.payload_bytes, row.time.value * threads * batch)
        for row in rows
        for batch in [int(row.cell["batch"])]
    ]
    # A message alone pays for its hand-over and fetches its own data: one line would not do.
    alone = [point for point in points if point.messages == 1]
    together = [point for point in points if point.messages > 1]
    # A single batch may have other sizes alone only, and one size tells no cost of a byte.
    has_sizes = len({point.message_bytes for point in together}) > 1
    batches = [
        Batch(n, row.time.scaled(threads * n), row.time.scaled(threads), row.operations_per_s, row)
        for n, row in sorted((int(row.cell["batch"]), row) for row in own)
    ]
    lines = fit(alone or points), fit(together if has_sizes else points)
    return Device(name, threads, own[0].payload_bytes, batches, *lines, lengths)


def projected(card: Card, batches: Iterable[int], lengths: Lengths) -> Device:
    """A device that is not here, by its description, in batches of so many messages."""
    cost = card.cost()
    line = CostLine(cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    projected = []
    for n in sorted(batches):
        found = card.predict(n, round(lengths.mean_bytes))
        host_ns, per_s = Estimate(found.host_ns / n), Estimate(n * 1e9 / found.interval_ns)
        projected.append(Batch(n, Estimate(found.batch_ns), host_ns, per_s))
    return Device(card.name, 1, lengths.mean_bytes, projected, line, line, lengths, card)


def batch_ns_p99(device: Device, batch: Batch, batches_per_s: float) -> float:
    """Nanoseconds within which 99 of 100 batches are back, waiting for their turn included.

    Lengths of messages are drawn, and a batch takes what the cost line gives for its bytes. The
    stages of a card work side by side: its batches wait as for one device as slow as the slowest.
    """
    line, messages = device.line_of(batch.messages), batch.messages
    mean_ns = line.batch_ns(messages, device.lengths.mean_bytes)
    # Time of a batch on one worker when all are busy.
    turn_ns = device.workers * messages * 1e9 / batch.per_s.value
    draw = random.Random(SEED)
    free_at = [0.0] * device.workers
    now_ns, responses = 0.0, []
    # The bytes of a batch count, however they are shared among its messages.
    for size in _drawn_bytes(device.lengths, messages):
        share = line.batch_ns(messages, size / messages) / mean_ns
        now_ns += draw.expovariate(batches_per_s) * 1e9
        begin_ns = max(now_ns, free_at[0])
        heapq.heapreplace(free_at, begin_ns + share * turn_ns)
        responses.append(begin_ns - now_ns + share * batch.batch_ns.value)
    return sorted(responses)[99 * len(responses) // 100]


def fill_ns_p99(batch: int, rate_per_s: float) -> float:
    """Nanoseconds that 99 of 100 messages, coming at random, wait at most for a full batch."""
    return _arrivals_p99(batch) / rate_per_s * 1e9


def serve(device: Device, demand: Demand, latency: Latency = batch_ns_p99) -> Candidate:
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
    real = sorted((each for each in candidates if not each.device.card), key=_key)
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
    cards = sorted((each for each in candidates if each.device.card), key=_key)
    keys = [_key(each) for each in placed]
    placed += [replace(c, place=1 + sum(key < _key(c) for key in keys)) for c in cards]
    return tuple(placed)


def _service(device: Device, batch: Batch, demand: Demand, latency: Latency) -> Service:
    rate, deadline_ns = demand.rate_per_s, demand.p99_ns or math.inf
    if rate is None:
        return Service(batch, State.MEETS)
    needed, fill_ns = rate / batch.per_s.value, fill_ns_p99(batch.messages, rate)
    is_near_full = rate / (batch.per_s.low or batch.per_s.value) > FULL_SHARE
    service = Service(
        batch,
        State.OVERLOADED if needed >= 1 else State.NEAR_FULL,
        devices_needed=needed,
        cores_busy=batch.host_ns.scaled(rate / 1e9),
        fill_ns=(batch.messages - 1) / rate * 1e9,
        is_late=batch.batch_ns.value + fill_ns > deadline_ns,
    )
    if needed >= 1 or is_near_full:
        return service
    p99_ns = latency(device, batch, rate / batch.messages) + fill_ns
    is_late = p99_ns > deadline_ns
    state = State.LATE if is_late else State.MEETS
    return replace(service, state=state, p99_ns=p99_ns, is_late=is_late)


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


@lru_cache(maxsize=64)
def _drawn_bytes(lengths: Lengths, messages: int) -> tuple[int, ...]:
    """Bytes of 20,000 batches; a long one is put together from two of half as many messages."""
    draw = random.Random(f"{SEED} {messages}")
    if messages == 1:
        # In their proportions: chance would be doubled with every doubled batch.
        upto = list(accumulate(count for _, count in lengths.counts))
        marks = ((2 * place + 1) * lengths.messages // (2 * BATCHES) for place in range(BATCHES))
        sizes = [lengths.counts[bisect_right(upto, mark)][0] for mark in marks]
        return tuple(draw.sample(sizes, BATCHES))
    half = _drawn_bytes(lengths, messages // 2)
    parts = [half, half, *([_drawn_bytes(lengths, 1)] if messages % 2 else [])]
    return tuple(map(sum, zip(*(draw.sample(part, BATCHES) for part in parts), strict=True)))


@lru_cache(maxsize=64)
def _arrivals_p99(batch: int) -> float:
    """The wait for a full batch in mean times between two messages, whatever the rate.

    A message at place i of n waits for n - 1 - i more. So the share of messages that wait longer
    than t is the mean over all places of the chance that fewer than these have come:
    E[max(0, n - 1 - N)] / n, where N, the number that came in t, is Poisson-distributed.
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]
    from scipy.special import pdtr  # type: ignore[import-untyped]

    def excess(time: float) -> float:
        short = rest * pdtr(rest, time) - time * pdtr(rest - 1, time)
        return float(short / batch - LONGER_SHARE)

    rest = batch - 1
    return float(brentq(excess, 0.0, 2.0 * batch + 10.0)) if rest else 0.0


SEED = 1
BATCHES = 20_000
LONGER_SHARE = 0.01
OPEN = (Verdict.SAME, Verdict.INCONCLUSIVE)
# Without a deadline, waiting for others is not to be most of a message's time for long.
FILL_NS_MAX = 1e6
# Busier, 20,000 batches from an empty queue on are too few to tell how long it grows.
FULL_SHARE = 0.9
# Costs that differ less count as equal; a verdict needs 2.5 %.
ABOUT = 0.02
