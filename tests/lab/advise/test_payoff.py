"""At which load a card pays, by constants whose answer is known."""

from pathlib import Path

import pytest
from tests.lab.advise.made_load import BATCHES, at_once, card, device

from sealift_lab._lab import Card
from sealift_lab.advise.advice import Payoff
from sealift_lab.advise.load import Candidate, Demand, Device, projected, serve
from sealift_lab.model.workload import Lengths


def served(of: Device, rate_per_s: float | None = None, p99_ns: float | None = None) -> Candidate:
    return serve(of, Demand(rate_per_s, p99_ns), at_once)


def found(
    made: Card,
    *,
    rate_per_s: float | None = 1e6,
    p99_ns: float | None = None,
    core_price: float | None = None,
) -> Payoff:
    real = served(device(), rate_per_s, p99_ns)
    lengths = Lengths.from_counts({128: 1})
    absent = served(projected(made, BATCHES, lengths), rate_per_s, p99_ns)
    return Payoff(absent, real, Demand(rate_per_s, core_price=core_price))


def test_a_card_that_is_quicker_a_message_is_back_earlier_from_the_batch_that_pays_its_way(
    tmp_path: Path,
) -> None:
    made = card(tmp_path, host_ns=5, setup_ns=0, rate_gbit_per_s=80, latency_ns=10_000)
    earlier = found(made).earlier
    assert earlier.messages
    assert earlier.fewest
    assert earlier.most
    assert earlier.fewest < earlier.messages < earlier.most
    # 12.8 ns a message instead of 42.3, after 20 us of ways.
    assert earlier.messages == pytest.approx(20_000 / (600 / 256 + 40 - 12.8), rel=0.02)


def test_cores_are_freed_by_what_a_message_no_longer_costs(tmp_path: Path) -> None:
    host = found(card(tmp_path, host_ns=10), rate_per_s=1e6)
    assert host.cores_freed == pytest.approx((600 / 256 + 40 - 10) * 1e6 / 1e9)
    longest_ns = 600 / 1_024 + 40 - 10
    assert host.frees_core_at_per_s == pytest.approx(1e9 / longest_ns)
    assert host.cores_freed_most == pytest.approx(longest_ns / 30.24, rel=0.03)


def test_a_card_that_cannot_do_as_much_as_frees_a_core_never_does(tmp_path: Path) -> None:
    host = found(card(tmp_path, host_ns=10, setup_ns=200))
    assert host.frees_core_at_per_s is None
    assert 0.1 < host.cores_freed_most < 0.2


def test_a_card_that_costs_more_than_it_saves_frees_nothing_and_never_pays(tmp_path: Path) -> None:
    dear = found(card(tmp_path, host_ns=100), core_price=1e9)
    assert dear.cores_freed == pytest.approx((600 / 256 + 40 - 100) / 1e3)
    assert (dear.frees_core_at_per_s, dear.cores_freed_most) == (None, 0.0)
    assert (dear.core_price, dear.pays) == (None, False)


def test_a_card_pays_where_a_core_costs_its_price_for_what_it_frees(tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10, price=900)
    for price, pays in ((None, None), (20_000, False), (40_000, True)):
        one = found(made, core_price=price)
        assert one.core_price == pytest.approx(900 / 0.03234, rel=0.01)
        assert (one.price, one.described.currency, one.pays) == (900, "USD", pays)


@pytest.mark.parametrize(("rate_per_s", "setup_ns"), [(80e6, 20), (None, 2_500)])
def test_a_rate_beyond_one_card_takes_and_costs_several(
    rate_per_s: float | None, setup_ns: float, tmp_path: Path
) -> None:
    """Without a rate it is a million messages a second."""
    several = found(card(tmp_path, host_ns=10, setup_ns=setup_ns), rate_per_s=rate_per_s)
    assert (several.count, several.price) == (3, 2_700)


def test_a_card_is_needed_where_nothing_here_meets_the_demand(tmp_path: Path) -> None:
    assert found(card(tmp_path, host_ns=5, setup_ns=5), rate_per_s=40e6).is_needed
    assert not found(card(tmp_path, host_ns=5, setup_ns=5), rate_per_s=1e6).is_needed
    late = found(card(tmp_path, latency_ns=1e6), p99_ns=1e5)
    assert (late.is_needed, late.card.used.is_late) == (False, True)


def test_what_is_no_card_is_refused() -> None:
    real = served(device())
    with pytest.raises(ValueError, match="cpu is no card"):
        assert Payoff(real, real, Demand()).price
