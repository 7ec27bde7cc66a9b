"""How long a message waits until its batch is full, when messages come one by one at random."""

import math
from functools import lru_cache


def fill_ns_p99(batch: int, rate_per_s: float) -> float:
    """What 99 of 100 messages wait at most for the rest of their batch.

    Args:
        batch: Messages in it.
        rate_per_s: Messages that come in a second, at random (Poisson).
    """
    return _arrivals_p99(batch) / rate_per_s * 1e9


@lru_cache(maxsize=64)
def _arrivals_p99(batch: int) -> float:
    """The same in mean times between two messages, whatever the rate.

    A message that stands at place i of n waits for n - 1 - i more. So the share of messages that
    wait longer than t is the mean over all places of the chance that fewer than these have come:
    E[max(0, n - 1 - N)] / n, where N, the number that came in t, is Poisson-distributed.
    """
    low, high = 0.0, 2.0 * batch + 10.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _short_of(batch - 1, middle) / batch > LONGER_SHARE:
            low = middle
        else:
            high = middle
    return low


def _short_of(wanted: int, mean: float) -> float:
    """By how many a Poisson number of this mean is short of a wanted one, on average."""
    if not mean:
        return float(wanted)
    if wanted > EXACT_MOST:
        return _short_of_many(wanted, mean)
    log_mean = math.log(mean)
    return sum(
        (wanted - count) * math.exp(count * log_mean - mean - math.lgamma(count + 1))
        for count in range(wanted)
    )


def _short_of_many(wanted: int, mean: float) -> float:
    """The same for a normal distribution; a Poisson one of such a mean is all but equal."""
    spread = math.sqrt(mean)
    z = (wanted - mean) / spread
    below = math.erfc(-z / math.sqrt(2)) / 2
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return (wanted - mean) * below + spread * density


# Sums of more terms take long.
EXACT_MOST = 4_000
LONGER_SHARE = 0.01
HALVINGS = 50
