"""Closed clients on cards: exact throughput, bounds, and agreement with the simulation."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.experiments.document_002.board import HIFN, Spot
from sealift_lab.experiments.document_002.queueing import bound, spread, throughput

DEMANDS_US = st.floats(0.1, 100.0)


def mean_value_analysis(host_us: float, card_us: float, clients: tuple[int, ...]) -> float:
    """The recursion of Reiser and Lavenberg with a class for each card."""

    @cache
    def solve(population: tuple[int, ...]) -> tuple[float, tuple[float, ...], float]:
        rates, at_cards = [0.0] * len(population), [0.0] * len(population)
        at_host = 0.0
        for card, count in enumerate(population):
            if count:
                less = (*population[:card], count - 1, *population[card + 1 :])
                host_before, cards_before, _ = solve(less)
                host_stay = host_us * (1 + host_before)
                card_stay = card_us * (1 + cards_before[card])
                rates[card] = count / (host_stay + card_stay)
                at_host += rates[card] * host_stay
                at_cards[card] = rates[card] * card_stay
        return at_host, tuple(at_cards), sum(rates)

    return solve(clients)[2]


def test_clients_are_spread_as_evenly_as_possible() -> None:
    assert spread(1, 4) == (1, 0, 0, 0)
    assert spread(6, 4) == (2, 2, 1, 1)
    assert spread(32, 4) == (8, 8, 8, 8)


@pytest.mark.parametrize("clients", [1, 2, 7, 40])
def test_one_card_as_slow_as_its_host_follows_the_closed_form(clients: int) -> None:
    assert throughput(5.0, 5.0, (clients,)) == pytest.approx(clients / (5 * (clients + 1)))


def test_two_clients_with_a_card_each_come_out_as_by_hand() -> None:
    # One alone: 2 us at the host, 3 at its card, so that it is at the host for 2/5 of its time.
    assert throughput(2.0, 3.0, (1, 1)) == pytest.approx(2 / (2 * (1 + 2 / 5) + 3))


@settings(max_examples=60, deadline=None)
@given(DEMANDS_US, DEMANDS_US, st.integers(1, 9), st.integers(1, 4))
def test_convolution_gives_what_mean_value_analysis_gives_and_never_exceeds_the_bound(
    host_us: float, card_us: float, count: int, cards: int
) -> None:
    clients = spread(count, cards)
    exact = throughput(host_us, card_us, clients)
    assert exact == pytest.approx(mean_value_analysis(host_us, card_us, clients), rel=1e-9)
    assert exact <= bound(host_us, card_us, clients) * (1 + 1e-9)
    if count == 1:
        assert exact == pytest.approx(bound(host_us, card_us, clients))


@pytest.mark.parametrize(("threads", "size_bytes"), [(2, 16), (4, 1_024), (32, 1_024)])
def test_the_simulation_agrees_for_exponential_times_and_no_bus(
    threads: int, size_bytes: int
) -> None:
    spot = Spot(threads, size_bytes)
    simulated = HIFN.simulate(
        spot,
        batches=20_000,
        law="all",
        has_bus=False,
        shares_memory=False,
        completions_first=False,
        look_us=0.0,
    )
    assert simulated.mbit_s == pytest.approx(HIFN.analyse(spot), rel=0.02)
