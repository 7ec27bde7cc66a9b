"""At which load a card pays, by constants whose answer is known."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_load import BATCHES, card, device
from sealift import Card
from sealift.lab.load.device import Device, InBatches, projected
from sealift.lab.load.payoff import Payoff, least, payoff
from sealift.lab.load.serving import Demand, Served, serve


def at_once(_: Device, batch: InBatches, __: float) -> float:
    return batch.batch_ns.value


def served(of: Device, rate_per_s: float | None = None, p99_ns: float | None = None) -> Served:
    return serve(of, Demand(rate_per_s=rate_per_s, p99_ns=p99_ns), at_once)


def found(
    made: Card,
    *,
    rate_per_s: float | None = 1e6,
    p99_ns: float | None = None,
    core_price: float | None = None,
    message_ns: float = 40,
) -> Payoff:
    real = served(device(message_ns=message_ns), rate_per_s, p99_ns)
    absent = served(projected(made, BATCHES, 128), rate_per_s, p99_ns)
    return payoff(absent, real, rate_per_s=rate_per_s, core_price=core_price)


@given(st.integers(1, 5_000), st.integers(1, 5_000))
def test_the_least_number_that_suits_is_found(edge: int, most: int) -> None:
    assert least(lambda number: number >= edge, most) == (edge if edge <= most else None)


def test_a_card_that_is_quicker_a_message_is_back_earlier_from_the_batch_that_pays_its_way(
    tmp_path: Path,
) -> None:
    made = card(tmp_path, host_ns=5, setup_ns=0, rate_gbit_per_s=80, latency_ns=10_000)
    time = found(made).time
    assert time.messages is not None
    before, then = time.messages - 1, time.messages
    assert made.predict(then, 128).batch_ns < 600 + 40 * then
    assert made.predict(before, 128).batch_ns >= 600 + 40 * before
    # 12.8 ns a message instead of 40, after 20 us of ways instead of 600 ns.
    assert time.messages == pytest.approx((20_000 - 600) / (40 - 12.8), rel=0.02)
    assert time.times_most == pytest.approx(12.8 / 40.6, rel=0.02)


def test_a_card_that_is_slower_a_message_never_is(tmp_path: Path) -> None:
    time = found(card(tmp_path, setup_ns=400)).time
    assert time.messages is None
    assert time.times_most == pytest.approx(410.2 / 40.6, rel=0.05)
    assert time.times == found(card(tmp_path, setup_ns=400)).time.times > 1


def test_cores_are_freed_by_what_a_message_no_longer_costs(tmp_path: Path) -> None:
    host = found(card(tmp_path, host_ns=10), rate_per_s=1e6).host
    assert host.card_ns == pytest.approx(10)
    assert host.real_ns == pytest.approx(600 / 256 + 40)
    assert host.cores_freed == pytest.approx((600 / 256 + 40 - 10) * 1e6 / 1e9)
    longest_ns = 600 / 1_024 + 40 - 10
    assert host.frees_core_at_per_s == pytest.approx(1e9 / longest_ns)
    able_per_s = 1e9 / 30.24
    assert host.cores_freed_most == pytest.approx(longest_ns * able_per_s / 1e9, rel=0.03)


def test_a_card_that_cannot_do_as_much_as_frees_a_core_never_does(tmp_path: Path) -> None:
    host = found(card(tmp_path, host_ns=10, setup_ns=200)).host
    assert host.frees_core_at_per_s is None
    assert 0.1 < host.cores_freed_most < 0.2


def test_a_card_that_costs_more_than_it_saves_frees_nothing_and_never_pays(tmp_path: Path) -> None:
    told = found(card(tmp_path, host_ns=100), core_price=1e9)
    assert told.host.cores_freed == pytest.approx((600 / 256 + 40 - 100) / 1e3)
    assert (told.host.frees_core_at_per_s, told.host.cores_freed_most) == (None, 0.0)
    assert told.money is not None
    assert (told.money.core_price, told.money.pays) == (None, False)


def test_a_card_pays_where_a_core_costs_its_price_for_what_it_frees(tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10, price=900)
    for core_price, pays in ((None, None), (20_000, False), (40_000, True)):
        told = found(made, core_price=core_price)
        assert told.money is not None
        assert told.money.core_price == pytest.approx(900 / told.host.cores_freed)
        assert told.money.core_price == pytest.approx(900 / 0.03234, rel=0.01)
        assert (told.money.price, told.money.currency, told.money.pays) == (900, "USD", pays)
        assert told.watts == 25


def test_a_rate_beyond_one_card_takes_and_costs_several(tmp_path: Path) -> None:
    told = found(card(tmp_path, host_ns=10, setup_ns=20), rate_per_s=80e6)
    assert told.cards == 3
    assert told.money is not None
    assert (told.money.price, told.watts) == (2_700, 75)


def test_without_a_rate_the_cores_of_a_million_messages_count(tmp_path: Path) -> None:
    told = found(card(tmp_path, host_ns=10), rate_per_s=None)
    assert told.rate_per_s is None
    assert told.host.cores_freed == pytest.approx((600 / 1_024 + 40 - 10) * 1e6 / 1e9)
    assert told.cards == 1


def test_without_a_rate_as_many_cards_count_as_a_million_messages_take(tmp_path: Path) -> None:
    told = found(card(tmp_path, host_ns=10, setup_ns=2_500), rate_per_s=None)
    assert told.cards == 3
    assert told.money is not None
    assert (told.money.price, told.watts) == (2_700, 75)
    assert told.money.core_price == pytest.approx(2_700 / told.host.cores_freed)


def test_a_card_without_a_price_has_none(tmp_path: Path) -> None:
    told = found(card(tmp_path, price=None, watts=None), core_price=100)
    assert (told.money, told.watts) == (None, None)


def test_a_card_is_needed_where_nothing_here_does_what_is_asked(tmp_path: Path) -> None:
    assert found(card(tmp_path, host_ns=5, setup_ns=5), rate_per_s=40e6).is_needed
    assert not found(card(tmp_path, host_ns=5, setup_ns=5), rate_per_s=1e6).is_needed
    late = found(card(tmp_path, latency_ns=1e6), p99_ns=1e5)
    assert (late.is_needed, late.is_late) == (False, True)


def test_what_is_no_card_is_refused() -> None:
    real = served(device())
    with pytest.raises(ValueError, match="cpu is no card"):
        payoff(real, real, rate_per_s=None)
