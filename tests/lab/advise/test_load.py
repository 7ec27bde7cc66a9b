"""In which batches a device should work a load, how long that takes, and which device is best."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.optimize import brentq  # type: ignore[import-untyped]
from tests.lab.advise.made_load import BATCHES, at_once, card, device

from sealift_lab._lab import Card, rehearse
from sealift_lab.advise.advice import Payoff
from sealift_lab.advise.load import (
    Batch,
    Candidate,
    Demand,
    Device,
    Judge,
    State,
    batch_ns_p99,
    fill_ns_p99,
    projected,
    rank,
    serve,
)
from sealift_lab.judge.lines import CostLine
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.model.results import Estimate, Origin, Verdict
from sealift_lab.model.workload import Lengths

LENGTHS = Lengths.from_counts({128: 1})
NAMED = (("a", 90), ("b", 60), ("c", 40))


def served(of: Device | None = None, **demand: float | None) -> Candidate:
    return serve(of or device(), Demand(**demand), at_once)  # type: ignore[arg-type]


@pytest.mark.parametrize("batch", [1, 2, 4, 64])
def test_the_wait_for_a_full_batch_is_what_drawn_messages_wait(batch: int) -> None:
    draw = random.Random(5)
    waits: list[float] = []
    while len(waits) < 100_000:
        come = [0.0]
        for _ in range(batch - 1):
            come.append(come[-1] + draw.expovariate(1.0))
        waits += [come[-1] - each for each in come]
    drawn_p99 = sorted(waits)[int(0.99 * len(waits))]
    assert fill_ns_p99(batch, 1e9) == pytest.approx(drawn_p99, rel=0.03)
    assert fill_ns_p99(batch, 1e6) == pytest.approx(1_000 * fill_ns_p99(batch, 1e9))


def test_a_long_deadline_allows_the_batch_that_costs_least_and_a_short_one_a_small_one() -> None:
    """640 ns a message alone, 41.3 and 42.3 in batches of 1,024 and 256: within 2 % is the same."""
    assert served(rate_per_s=1e6, p99_ns=1e9).used.batch.messages == 1_024
    assert served(device(setup_ns=100), rate_per_s=1e6, p99_ns=1e9).used.batch.messages == 256
    # 64 messages fill in 63 us on average, 99 of 100 wait under 72 us for that.
    close = served(rate_per_s=1e6, p99_ns=80_000).used
    assert close.batch.messages == 64
    assert close.p99_ns == pytest.approx(71_598 + 600 + 64 * 40, rel=1e-3)
    assert served(rate_per_s=1e6, p99_ns=5_000).used.batch.messages == 1


def test_cores_and_devices_follow_from_the_rate() -> None:
    for workers in (1, 2):
        used = served(device(workers=workers), rate_per_s=1e6, batch=1).used
        assert used.cores_busy
        assert used.cores_busy.value == pytest.approx(0.64)
        assert used.devices_needed == pytest.approx(0.64 / workers)


def test_without_a_deadline_a_batch_fills_within_a_millisecond() -> None:
    for rate_per_s, batch in ((1e6, 256), (40_000, 16), (100, 1)):
        assert served(rate_per_s=rate_per_s).used.batch.messages == batch


def test_a_deadline_that_nothing_meets_gives_the_batch_that_is_back_first() -> None:
    found = served(rate_per_s=1e6, p99_ns=100).used
    assert (found.state, found.batch.messages) == (State.LATE, 1)
    # One at a time it can't keep up, and in fours it can.
    found = served(rate_per_s=4.5e6, p99_ns=100).used
    assert (found.state, found.batch.messages) == (State.LATE, 4)


def test_over_90_percent_busy_by_the_slow_end_no_p99_is_simulated() -> None:
    made = device(batches=(1, 1_024))
    # As measured 24.6 million a second; the slow end is 1 % below.
    most = made.largest.per_s.value
    free = served(made, rate_per_s=0.88 * most, p99_ns=1e9).used
    assert (free.state, free.p99_ns is None) == (State.MEETS, False)
    for share in (0.895, 0.95, 0.9999):
        near = served(made, rate_per_s=share * most, p99_ns=1e9).used
        assert (near.state, near.p99_ns) == (State.NEAR_FULL, None), share
    assert served(made, rate_per_s=1.001 * most).used.state is State.OVERLOADED


def test_of_batches_that_cannot_keep_up_one_that_is_in_time_is_taken() -> None:
    used = served(rate_per_s=30e6, p99_ns=20_000).used
    assert (used.state, used.is_late, used.batch.messages) == (State.OVERLOADED, False, 256)
    assert served(rate_per_s=30e6).used.batch.messages == 1_024


def test_a_card_is_projected_in_the_same_batches(tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10, setup_ns=20)
    found = projected(made, BATCHES, LENGTHS)
    assert (found.origin, tuple(found.by_messages)) == (Origin.PROJECTED, BATCHES)
    for each in found.batches:
        prediction = made.predict(each.messages, 128)
        assert each.batch_ns.value == prediction.batch_ns
        assert each.host_ns.value == pytest.approx(10)
        assert each.per_s.value == pytest.approx(each.messages * 1e9 / prediction.interval_ns)


def judge_of(**verdicts: Verdict) -> Judge:
    def judge(batch: int, against: str, name: str) -> Comparison:
        assert batch in BATCHES
        return Comparison(Estimate(1.0), verdicts.get(f"{against}_{name}", Verdict.SLOWER))

    return judge


def ranks(*candidates: Candidate, **verdicts: Verdict) -> list[tuple[str, int]]:
    return [(each.name, each.place) for each in rank(candidates, judge_of(**verdicts))]


def test_the_device_that_costs_the_processor_least_comes_first() -> None:
    for demand in ({"rate_per_s": 1e6}, {}):
        every = [served(device(name, message_ns=ns), **demand) for name, ns in NAMED]
        assert ranks(*every) == [("c", 1), ("b", 2), ("a", 3)]


def test_devices_that_the_judge_does_not_tell_apart_share_a_place() -> None:
    every = [served(device(name, message_ns=ns), rate_per_s=1e6) for name, ns in NAMED]
    assert ranks(*every, c_b=Verdict.SAME) == [("c", 1), ("b", 1), ("a", 3)]
    assert ranks(*every, c_a=Verdict.INCONCLUSIVE) == [("c", 1), ("a", 1), ("b", 3)]
    assert ranks(*every, c_b=Verdict.FASTER, b_a=Verdict.SAME) == [("c", 1), ("b", 2), ("a", 2)]


def test_what_meets_the_demand_comes_before_what_is_cheaper() -> None:
    quick = served(device("quick", setup_ns=100, message_ns=90), rate_per_s=4e6, p99_ns=2_500)
    cheap = served(device("cheap", setup_ns=5_000, message_ns=5), rate_per_s=4e6, p99_ns=2_500)
    assert (quick.used.state, cheap.used.state) == (State.MEETS, State.LATE)
    assert ranks(cheap, quick, quick_cheap=Verdict.SAME) == [("quick", 1), ("cheap", 2)]


def test_cards_stand_after_what_was_measured_with_the_place_that_they_would_take(
    tmp_path: Path,
) -> None:
    real = served(device(message_ns=40), rate_per_s=1e6)
    found = [
        served(projected(card(tmp_path, name=name, host_ns=ns), BATCHES, LENGTHS), rate_per_s=1e6)
        for name, ns in (("dear", 900), ("cheap", 5))
    ]
    placed = rank([*found, real], judge_of())
    assert [(each.name, each.place, each.device.card is not None) for each in placed] == [
        ("cpu", 1, False),
        ("cheap", 1, True),
        ("dear", 2, True),
    ]


def at(batch: Batch, busy: float) -> float:
    return busy * batch.per_s.value / batch.messages


@pytest.mark.parametrize("busy", [0.3, 0.7])
def test_a_batch_waits_as_long_as_is_known_of_one_server_that_always_takes_as_long(
    busy: float,
) -> None:
    """Of waits in the M/D/1 queue the tail is known: Tijms, A First Course in Stochastic Models."""
    decay = brentq(lambda x: busy * math.expm1(x) - x, 1e-3, 10)
    weight = (1 - busy) / (busy * math.exp(decay) - 1)
    times = 1 + math.log(weight / 0.01) / decay
    batch = device().batches[0 if busy < 0.5 else -1]
    found = batch_ns_p99(device(), batch, at(batch, busy))
    assert found == pytest.approx(times * batch.batch_ns.value, rel=0.1)


def test_two_workers_wait_less_than_one_that_is_as_busy() -> None:
    one, two = (
        batch_ns_p99(each, each.largest, at(each.largest, 0.7))
        for each in (device(), device(workers=2))
    )
    assert two < 0.75 * one


def test_a_card_waits_as_it_does_when_all_its_parts_are_simulated(tmp_path: Path) -> None:
    made = card(tmp_path, setup_ns=200, latency_ns=50_000)
    model = projected(made, (1, 16), LENGTHS)
    batch = model.largest
    parts = rehearse(
        [made], batches_per_s=at(batch, 0.7), messages=batch.messages, message_bytes=128
    )
    found = batch_ns_p99(model, batch, at(batch, 0.7))
    assert found == pytest.approx(parts.response_ns_p99, rel=0.05)


def test_messages_of_which_one_in_33_is_long_are_not_back_as_soon_as_mean_ones() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    long_ns = 300 + 0.05 * 1_048_576
    one = made.batches[0]
    assert batch_ns_p99(made, one, at(one, 0.001)) == pytest.approx(long_ns, rel=0.01)
    assert batch_ns_p99(made, one, at(one, 0.5)) > 2 * long_ns


def test_the_longer_the_batch_the_less_its_time_differs_from_the_mean() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    times = [
        batch_ns_p99(made, each, at(each, 1e-4)) / each.batch_ns.value
        for each in (made.batches[0], made.batches[3], made.largest)
    ]
    assert times == sorted(times, reverse=True)
    # 1,024 of them have 30.7 long ones, give or take 5.46.
    assert times[-1] == pytest.approx(1 + 2.33 * 5.46 / 30.7, rel=0.05)


def mixed(counts: Mapping[int, int], *, setup_ns: float, byte_ns: float) -> Device:
    lengths, line = Lengths.from_counts(counts), CostLine(setup_ns, 0, byte_ns)
    size = lengths.mean_bytes
    made = device(setup_ns=setup_ns, message_ns=byte_ns * size, size=size)
    return replace(made, alone=line, line=line, lengths=lengths)


def found(
    made: Card,
    *,
    rate_per_s: float | None = 1e6,
    p99_ns: float | None = None,
    core_price: float | None = None,
) -> Payoff:
    real = served(rate_per_s=rate_per_s, p99_ns=p99_ns)
    absent = served(projected(made, BATCHES, LENGTHS), rate_per_s=rate_per_s, p99_ns=p99_ns)
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
    real = served()
    with pytest.raises(ValueError, match="cpu is no card"):
        assert Payoff(real, real, Demand()).price
