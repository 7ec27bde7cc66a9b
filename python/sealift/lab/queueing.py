"""What theory says of closed clients on cards that share a host: mean values, bounds, and fits.

A client hands a request to the host, waits for its card, and begins anew. Each client keeps to one
card. Mean-value analysis (Reiser and Lavenberg, 1980, with a class for each card) is exact for
exponential service at host and cards, first come first served.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, factorial, inf, log

Clients = tuple[int, ...]
"""How many clients each card has, the most first."""


def spread(clients: int, cards: int) -> Clients:
    """Clients on cards, as evenly as may be: on equal cards that is what fewest sessions give."""
    return tuple((clients + cards - 1 - card) // cards for card in range(cards))


def throughput(host_us: float, card_us: float, clients: Clients) -> float:
    """Requests a microsecond, all clients together, by exact mean-value analysis.

    Args:
        host_us: What a request needs of the host, at all its visits together.
        card_us: What it needs of its card.
        clients: Of each card, the most first.
    """
    known: dict[Clients, tuple[float, tuple[float, ...], float]] = {
        (0,) * len(clients): (0.0, (0.0,) * len(clients), 0.0)
    }
    for those in _smaller(clients):
        known[those] = _solved(host_us, card_us, those, known)
    return known[clients][2]


def throughput_at_once(host_us: float, card_us: float, clients: Clients) -> float:
    """What `throughput` gives, as a quotient of sums in place of a recursion: for fits.

    Both are exact for a product form (Buzen, 1973: by its normalising constants).

    Args:
        host_us: What a request needs of the host, at all its visits together.
        card_us: What it needs of its card, above 0.
        clients: Of each card, the most first.
    """
    times = host_us / card_us
    whole = _sum(_ways(clients), times)
    less = (
        clients.count(count) * _sum(_ways(_one_less(clients, count)), times)
        for count in dict.fromkeys(clients)
        if count
    )
    return sum(less) / whole / card_us


def most(host_us: float, card_us: float, clients: Clients) -> float:
    """Requests a microsecond that nothing can beat: min(N / (c + d), 1 / c, K / d)."""
    cards = sum(count > 0 for count in clients)
    alone = sum(clients) / (host_us + card_us)
    return min(alone, 1 / host_us if host_us else inf, cards / card_us if card_us else inf)


def fitted(
    errors: Callable[[Sequence[float]], Sequence[float]], first: Sequence[float]
) -> list[float]:
    """The numbers above 0 with the least sum of squared errors (Levenberg and Marquardt).

    Args:
        errors: Of a model with these numbers, relative to what it is to meet.
        first: Where to begin; better within a factor of two.

    Raises:
        ValueError: If one of them changes nothing, or it takes more steps than it may.
    """
    logs = [log(value) for value in first]
    damping = 1e-3
    found = errors(first)
    for _ in range(STEPS_MOST):
        slopes = [_slope(errors, logs, number, found) for number in range(len(logs))]
        for number, slope in enumerate(slopes):
            if max(map(abs, slope)) < SLOPE_LEAST:
                raise ValueError(f"number {number} of a fit changes nothing; right would be less")
        moved = [a + b for a, b in zip(logs, _step(slopes, found, damping), strict=True)]
        tried = errors([exp(each) for each in moved])
        if _square(tried) < _square(found):
            gain = 1 - _square(tried) / _square(found)
            logs, found, damping = moved, tried, damping / 10
            if gain < GAIN_LEAST:
                break
        else:
            damping *= 10
            if damping > DAMPING_MOST:
                break
    else:
        raise ValueError(f"a fit has not ended after {STEPS_MOST} steps; right would be nearer")
    return [exp(each) for each in logs]


def _sum(ways: Sequence[float], times: float) -> float:
    return sum(count * times**at_host for at_host, count in enumerate(ways))


def _one_less(clients: Clients, count: int) -> Clients:
    """The last card with so many clients has one less, so that the order stays."""
    last = clients.index(count) + clients.count(count) - 1
    return (*clients[:last], count - 1, *clients[last + 1 :])


@lru_cache(maxsize=64)
def _ways(clients: Clients) -> tuple[float, ...]:
    """In how many orders so many clients can stand at the host, by how many do."""
    shares = [1.0]
    for count in clients:
        longer = [0.0] * (len(shares) + count)
        for at, share in enumerate(shares):
            for more in range(count + 1):
                longer[at + more] += share / factorial(more)
        shares = longer
    return tuple(share * factorial(at_host) for at_host, share in enumerate(shares))


@lru_cache(maxsize=64)
def _smaller(clients: Clients) -> tuple[Clients, ...]:
    """All populations up to this one, cards alike and so the most first; fewest clients first."""
    found: list[Clients] = [()]
    for most_here in clients:
        found = [
            (*before, count)
            for before in found
            for count in range(min(most_here, before[-1] if before else most_here) + 1)
        ]
    return tuple(sorted(found, key=sum)[1:])


def _solved(
    host_us: float,
    card_us: float,
    clients: Clients,
    known: dict[Clients, tuple[float, tuple[float, ...], float]],
) -> tuple[float, tuple[float, ...], float]:
    """Clients at the host, clients at each card, and throughput."""
    at_host = total = 0.0
    at_cards = [0.0] * len(clients)
    done = 0
    while done < len(clients) and clients[done]:
        # Cards with as many clients are alike: the last of them has one less, so the order stays.
        count = clients[done]
        last = done + clients[done:].count(count) - 1
        before = known[(*clients[:last], count - 1, *clients[last + 1 :])]
        host_stay_us = host_us * (1 + before[0])
        card_stay_us = card_us * (1 + before[1][last])
        each = count / (host_stay_us + card_stay_us)
        alike = last - done + 1
        at_host += alike * each * host_stay_us
        total += alike * each
        at_cards[done : last + 1] = [each * card_stay_us] * alike
        done = last + 1
    return at_host, tuple(at_cards), total


def _slope(
    errors: Callable[[Sequence[float]], Sequence[float]],
    logs: Sequence[float],
    number: int,
    found: Sequence[float],
) -> list[float]:
    moved = [each + (NUDGE if at == number else 0.0) for at, each in enumerate(logs)]
    tried = errors([exp(each) for each in moved])
    return [(after - before) / NUDGE for after, before in zip(tried, found, strict=True)]


def _step(slopes: Sequence[Sequence[float]], found: Sequence[float], damping: float) -> list[float]:
    """Solves the damped normal equations."""
    matrix = [
        [_dot(one, other) * (1 + damping if i == j else 1.0) for j, other in enumerate(slopes)]
        + [-_dot(one, found)]
        for i, one in enumerate(slopes)
    ]
    for at, pivot in enumerate(matrix):
        for below in matrix[at + 1 :]:
            times = below[at] / pivot[at]
            below[:] = [a - times * b for a, b in zip(below, pivot, strict=True)]
    solved: list[float] = []
    for at in reversed(range(len(matrix))):
        row = matrix[at]
        rest = sum(a * b for a, b in zip(row[at + 1 : -1], solved, strict=True))
        solved.insert(0, (row[-1] - rest) / row[at])
    return solved


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _square(errors: Sequence[float]) -> float:
    return _dot(errors, errors)


STEPS_MOST = 60
# Where no shorter step helps either.
DAMPING_MOST = 1e6
NUDGE = 1e-4
# Of an error by the logarithm of a number.
SLOPE_LEAST = 1e-9
# Of the sum of squares.
GAIN_LEAST = 1e-6
