"""Closed clients on cards that share a host: exact throughput, and its upper bound.

A client hands a request to the host, waits for its card, and begins anew; each client keeps to one
card. For exponential service, first come first served, the network has a product form with a class
of clients for each card. Buzen's convolution (1973) sums it up, and gives what the recursion of
mean-value analysis (Reiser and Lavenberg, 1980) gives.
"""

from functools import cache, reduce
from math import factorial, inf

Clients = tuple[int, ...]
"""How many clients each card has, the most first."""


def spread(clients: int, cards: int) -> Clients:
    """Clients on cards, as evenly as possible: the result of "fewest sessions" on equal cards."""
    return tuple((clients + cards - 1 - card) // cards for card in range(cards))


def throughput(host_us: float, card_us: float, clients: Clients) -> float:
    """Requests a microsecond, all clients together.

    Args:
        host_us: Demand of a request on the host, all its visits together.
        card_us: Its demand on its card, above 0.
        clients: Of each card, the most first.
    """
    whole = _normalising_constant(clients, host_us / card_us)
    without_one = sum(
        _normalising_constant(_less_one(clients, card), host_us / card_us)
        for card, count in enumerate(clients)
        if count
    )
    return without_one / whole / card_us


def bound(host_us: float, card_us: float, clients: Clients) -> float:
    """Requests a microsecond at most: min(N / (host + card), 1 / host, cards / card)."""
    cards = sum(count > 0 for count in clients)
    alone = sum(clients) / (host_us + card_us)
    return min(alone, 1 / host_us if host_us else inf, cards / card_us if card_us else inf)


def _normalising_constant(clients: Clients, host_over_card: float) -> float:
    orders = _orders(tuple(sorted(clients)))
    return sum(count * host_over_card**at_host for at_host, count in enumerate(orders))


@cache
def _orders(clients: Clients) -> tuple[float, ...]:
    """In how many orders clients can stand at the host, by how many stand there."""
    import numpy as np

    shares = ([1 / factorial(at_host) for at_host in range(count + 1)] for count in clients)
    product = reduce(np.convolve, shares, np.ones(1))
    return tuple(float(share) * factorial(at_host) for at_host, share in enumerate(product))


def _less_one(clients: Clients, card: int) -> Clients:
    return (*clients[:card], clients[card] - 1, *clients[card + 1 :])
