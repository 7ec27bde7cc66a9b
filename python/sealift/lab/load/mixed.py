"""How long batches wait and take when their messages differ in length, with drawn lengths."""

import heapq
import random
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from sealift.lab.lengths import Lengths
from sealift.lab.load.device import Device, InBatches
from sealift.lab.units import NS_PER_S


def mixed_ns_p99(device: Device, batch: InBatches, lengths: Lengths, batches_per_s: float) -> float:
    """Nanoseconds within which 99 of 100 batches are back, waiting for their turn included.

    20,000 of them come at random. The lengths of each are drawn, and its time is that of the mean
    batch in the proportion that the fitted line tells. Workers take them as they come.

    Args:
        device: Who works them alone.
        batch: What it does in such batches.
        lengths: Of the messages.
        batches_per_s: Fewer than it can do.
    """
    line = device.alone if batch.messages == 1 else device.line
    of_mean_ns = line.batch_ns(batch.messages, lengths.mean_bytes)
    # A batch's bytes count, however they are shared among its messages.
    times = [
        line.batch_ns(batch.messages, size / batch.messages) / of_mean_ns
        for size in _drawn_bytes(lengths, batch.messages)
    ]
    turn_ns = device.workers * batch.messages * NS_PER_S / batch.per_s.value
    draw = random.Random(SEED)
    free_at = [0.0] * device.workers
    now_ns, responses = 0.0, []
    for share in times:
        now_ns += draw.expovariate(batches_per_s) * NS_PER_S
        begin_ns = max(now_ns, free_at[0])
        heapq.heapreplace(free_at, begin_ns + share * turn_ns)
        responses.append(begin_ns - now_ns + share * batch.batch_ns.value)
    return sorted(responses)[P99 * len(responses) // 100]


@lru_cache(maxsize=64)
def _drawn_bytes(lengths: Lengths, messages: int) -> tuple[int, ...]:
    """Bytes of 20,000 batches; those of long ones are put together from two of half as many."""
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


SEED = 1
BATCHES = 20_000
P99 = 99
