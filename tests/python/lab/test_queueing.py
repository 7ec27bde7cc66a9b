"""Mean-value analysis with a class for each card, bounds and fits."""

from itertools import product

import pytest

from sealift.lab.boards import HIFN, Spot
from sealift.lab.queueing import fitted, most, spread, throughput, throughput_at_once


def test_clients_are_spread_as_evenly_as_may_be() -> None:
    assert spread(1, 4) == (1, 0, 0, 0)
    assert spread(6, 4) == (2, 2, 1, 1)
    assert spread(32, 4) == (8, 8, 8, 8)


@pytest.mark.parametrize("clients", [1, 2, 7, 40])
def test_one_card_as_slow_as_its_host_follows_the_closed_form_of_two_equal_queues(
    clients: int,
) -> None:
    assert throughput(5.0, 5.0, (clients,)) == pytest.approx(clients / (5 * (clients + 1)))


def test_two_clients_with_a_card_each_come_out_as_by_hand() -> None:
    # One alone: 2 us at the host, 3 at its card, so that it is at the host for 2/5 of its time.
    assert throughput(2.0, 3.0, (1, 1)) == pytest.approx(2 / (2 * (1 + 2 / 5) + 3))


def test_many_cards_without_a_host_work_as_one_each() -> None:
    for clients in ((1, 0), (3, 3), (5, 2)):
        busy = sum(count > 0 for count in clients)
        assert throughput(0.0, 4.0, clients) == pytest.approx(busy / 4)


def test_the_sums_that_fits_take_give_what_mean_value_analysis_gives() -> None:
    for host_us, card_us, count in product((0.0, 0.5, 50.0), (1.0, 40.0), (0, 1, 2, 3, 5, 32)):
        clients = spread(count, 4)
        exact = throughput(host_us, card_us, clients)
        assert throughput_at_once(host_us, card_us, clients) == pytest.approx(exact, rel=1e-12)


def test_no_throughput_exceeds_the_bounds_and_few_clients_reach_them() -> None:
    for host_us, card_us, count in product((0.5, 5.0, 50.0), (1.0, 40.0), (1, 3, 4, 9, 32)):
        clients = spread(count, 4)
        found, bound = throughput(host_us, card_us, clients), most(host_us, card_us, clients)
        assert found <= bound * (1 + 1e-9)
        if count == 1:
            assert found == pytest.approx(bound)
    assert throughput(5.0, 1.0, spread(32, 4)) == pytest.approx(1 / 5.0, rel=1e-3)


def test_a_fit_finds_the_numbers_that_a_model_was_made_with() -> None:
    def errors(numbers: list[float]) -> list[float]:
        truth = [3 * x + 7 / x for x in (0.5, 1.0, 2.0, 4.0)]
        found = [numbers[0] * x + numbers[1] / x for x in (0.5, 1.0, 2.0, 4.0)]
        return [a / b - 1 for a, b in zip(found, truth, strict=True)]

    assert fitted(errors, [5.0, 5.0]) == pytest.approx([3.0, 7.0], rel=1e-6)  # type: ignore[arg-type]


def test_a_number_that_changes_nothing_can_not_be_fitted() -> None:
    with pytest.raises(ValueError, match="number 1 of a fit changes nothing"):
        fitted(lambda numbers: [numbers[0] / 3 - 1, numbers[0] / 4 - 1], [5.0, 5.0])


def test_a_fit_that_goes_on_and_on_is_told() -> None:
    asked = 0

    def errors(numbers: list[float]) -> list[float]:
        nonlocal asked
        asked += 1
        return [numbers[0] * 0.9**asked]

    with pytest.raises(ValueError, match="has not ended after 60 steps"):
        fitted(errors, [5.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(("threads", "size_bytes"), [(2, 16), (4, 1_024), (7, 256), (32, 1_024)])
def test_the_simulation_agrees_for_exponential_times_and_no_bus(
    threads: int, size_bytes: int
) -> None:
    spot, constants = Spot(threads, size_bytes), HIFN.constants
    simulated = HIFN.simulated(
        spot,
        batches=20_000,
        law="all",
        has_bus=False,
        shares_memory=False,
        completions_first=False,
        look_us=0.0,
    )
    assert simulated.mbit_s == pytest.approx(HIFN.analysed(spot, constants), rel=0.02)
