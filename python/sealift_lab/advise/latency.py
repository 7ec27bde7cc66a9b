"""How long messages take under a load: waiting for their batch, for their turn, and being worked.

Simulated: the engine's own scheduler works batches in virtual time.
"""

import heapq
import random
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate

from scipy.special import pdtr  # type: ignore[import-untyped]

from sealift_lab._lab import Cost, Engine, rehearse
from sealift_lab.advise.devices import Batch, Device
from sealift_lab.machine.devices import real_devices
from sealift_lab.model.lengths import Lengths

Latency = Callable[[Device, Batch, float], float]
"""Nanoseconds within which 99 of 100 batches are back, when so many come a second."""


def batch_ns_p99(device: Device, batch: Batch, batches_per_s: float) -> float:
    """Nanoseconds within which 99 of 100 batches are back, waiting for their turn included.

    20,000 batches come at random (Poisson) and take what was measured or projected. Messages that
    differ in length are drawn; their batches go to free workers in turn.

    A simulation really seals its messages, so it is given small ones, and times are scaled: waiting
    in proportion to a batch's time depends on how busy the device is, and on nothing else. The
    stages of a card work side by side: its batches wait as for one device as slow as the slowest.
    """
    if device.lengths is not None:
        return _mixed_ns_p99(device, batch, device.lengths, batches_per_s)
    cost = _any_cost()
    short_ns = cost.setup_ns + cost.per_message_ns + cost.per_byte_ns * MESSAGE_BYTES
    scale = _turn_ns(device, batch) / short_ns
    found = rehearse(
        [(device.name, cost, device.workers)],
        # Fewer don't wait for each other either.
        batches_per_s=max(1.0, batches_per_s * scale),
        messages=1,
        message_bytes=MESSAGE_BYTES,
    )
    return batch.batch_ns.value + scale * max(0.0, found.response_ns_p99 - short_ns)


def fill_ns_p99(batch: int, rate_per_s: float) -> float:
    """Nanoseconds that 99 of 100 messages, coming at random, wait at most for a full batch."""
    return _arrivals_p99(batch) / rate_per_s * 1e9


def _turn_ns(device: Device, batch: Batch) -> float:
    """Time of a batch on one worker when all are busy."""
    return device.workers * batch.messages * 1e9 / batch.per_s.value


@lru_cache(maxsize=1)
def _any_cost() -> Cost:
    name, *_ = real_devices()
    return Engine([name]).costs()[name]


def _mixed_ns_p99(device: Device, batch: Batch, lengths: Lengths, batches_per_s: float) -> float:
    """The same for drawn lengths: each batch takes its share of the mean batch by the cost line."""
    line = device.alone if batch.messages == 1 else device.line
    mean_ns = line.batch_ns(batch.messages, lengths.mean_bytes)
    turn_ns = _turn_ns(device, batch)
    draw = random.Random(SEED)
    free_at = [0.0] * device.workers
    now_ns, responses = 0.0, []
    # The bytes of a batch count, however they are shared among its messages.
    for size in _drawn_bytes(lengths, batch.messages):
        share = line.batch_ns(batch.messages, size / batch.messages) / mean_ns
        now_ns += draw.expovariate(batches_per_s) * 1e9
        begin_ns = max(now_ns, free_at[0])
        heapq.heapreplace(free_at, begin_ns + share * turn_ns)
        responses.append(begin_ns - now_ns + share * batch.batch_ns.value)
    return sorted(responses)[99 * len(responses) // 100]


@lru_cache(maxsize=64)
def _drawn_bytes(lengths: Lengths, messages: int) -> tuple[int, ...]:
    """Bytes of 20,000 batches; a long one is put together from two of half as many messages."""
    draw = random.Random(f"{SEED} {messages}")
    if messages == 1:
        return tuple(draw.sample(_in_proportion(lengths), BATCHES))
    half = _drawn_bytes(lengths, messages // 2)
    parts = [half, half, *([_drawn_bytes(lengths, 1)] if messages % 2 else [])]
    return tuple(map(sum, zip(*(draw.sample(part, BATCHES) for part in parts), strict=True)))


def _in_proportion(lengths: Lengths) -> list[int]:
    """So many lengths in their proportions: chance would be doubled with every doubled batch."""
    upto = list(accumulate(count for _, count in lengths.counts))
    marks = ((2 * place + 1) * lengths.messages // (2 * BATCHES) for place in range(BATCHES))
    return [lengths.counts[bisect_right(upto, mark)][0] for mark in marks]


@lru_cache(maxsize=64)
def _arrivals_p99(batch: int) -> float:
    """The wait for a full batch in mean times between two messages, whatever the rate.

    A message at place i of n waits for n - 1 - i more. So the share of messages that wait longer
    than t is the mean over all places of the chance that fewer than these have come:
    E[max(0, n - 1 - N)] / n, where N, the number that came in t, is Poisson-distributed.
    """
    low, high, rest = 0.0, 2.0 * batch + 10.0, batch - 1
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = rest * pdtr(rest, middle) - middle * (pdtr(rest - 1, middle) if rest else 0.0)
        low, high = (middle, high) if short / batch > LONGER_SHARE else (low, middle)
    return low


# Long enough that whole nanoseconds are exact, short enough that 20,000 take no time.
MESSAGE_BYTES = 4_096
SEED = 1
BATCHES = 20_000
LONGER_SHARE = 0.01
HALVINGS = 50
