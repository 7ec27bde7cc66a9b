"""In which batches a device should work a load, and which device comes first."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from made_load import BATCHES, card, device
from made_rows import pair
from sealift.lab.load.device import Device, InBatches, projected
from sealift.lab.load.fill import fill_ns_p99
from sealift.lab.load.ranking import Judge, rank
from sealift.lab.load.serving import Demand, Served, State, serve
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Interval, Verdict


def at_once(_: Device, batch: InBatches, batches_per_s: float) -> float:
    """Batches that never wait for each other."""
    assert batches_per_s * batch.messages < batch.per_s.value
    return batch.batch_ns.value


def served(of: Device | None = None, **wishes: float) -> Served:
    return serve(of or device(), Demand(**wishes), at_once)  # type: ignore[arg-type]


@pytest.mark.parametrize("batch", [1, 2, 4, 64])
def test_the_wait_for_a_full_batch_is_what_drawn_messages_wait(batch: int) -> None:
    draw = random.Random(5)
    waits: list[float] = []
    while len(waits) < 200_000:
        come = [0.0]
        for _ in range(batch - 1):
            come.append(come[-1] + draw.expovariate(1.0))
        waits += [come[-1] - each for each in come]
    drawn_p99 = sorted(waits)[int(0.99 * len(waits))]
    assert fill_ns_p99(batch, 1e9) == pytest.approx(drawn_p99, rel=0.03)
    assert fill_ns_p99(batch, 1e6) == pytest.approx(1_000 * fill_ns_p99(batch, 1e9))


def test_the_wait_for_ten_million_messages_is_told_at_once() -> None:
    begin_s = time.monotonic()
    most = fill_ns_p99(10_000_000, 1e9)
    # Summed up it takes minutes.
    assert time.monotonic() - begin_s < 30
    waits = [*(fill_ns_p99(batch, 1e9) for batch in (4_001, 4_002, 4_003)), most]
    # One message more waits for 0.99 of its time more, also from a sum to what is all but equal.
    assert waits[1] - waits[0] == pytest.approx(0.99, abs=0.05)
    assert waits[2] - waits[1] == pytest.approx(0.99, rel=0.02)
    assert waits[3] == pytest.approx(9_900_000, rel=1e-3)


def test_without_a_rate_the_largest_batch_counts() -> None:
    found = served()
    assert found.used.batch.messages == 1_024
    assert (found.state, found.used.cores_busy, found.used.p99_ns) == (State.MEETS, None, None)


def test_a_long_deadline_allows_the_batch_that_costs_least_and_a_short_one_a_small_one() -> None:
    """640 ns a message alone, 41.3 and 42.3 in batches of 1,024 and 256: within 2 % is the same."""
    assert served(rate_per_s=1e6, p99_ns=1e9).used.batch.messages == 1_024
    assert served(device(setup_ns=100), rate_per_s=1e6, p99_ns=1e9).used.batch.messages == 256
    # 64 messages fill in 63 us on average, 99 of 100 wait under 72 us for that.
    close = served(rate_per_s=1e6, p99_ns=80_000)
    assert close.used.batch.messages == 64
    assert close.used.p99_ns is not None
    assert close.used.p99_ns.value == pytest.approx(71_598 + 600 + 64 * 40, rel=1e-3)
    assert close.used.p99_ns.origin is Origin.SIMULATED
    assert served(rate_per_s=1e6, p99_ns=5_000).used.batch.messages == 1


def test_cores_and_devices_follow_from_the_rate() -> None:
    used = served(rate_per_s=1e6, batch=1).used
    assert used.cores_busy == pytest.approx(0.64)
    assert used.devices_needed == pytest.approx(0.64)
    two = served(device(workers=2), rate_per_s=1e6, batch=1).used
    assert two.cores_busy == pytest.approx(0.64)
    assert two.devices_needed == pytest.approx(0.32)


def test_without_a_deadline_a_batch_fills_within_a_millisecond() -> None:
    assert served(rate_per_s=1e6).used.batch.messages == 256
    assert served(rate_per_s=40_000).used.batch.messages == 16
    assert served(rate_per_s=100).used.batch.messages == 1


def test_a_deadline_that_nothing_meets_is_told_with_the_batch_that_is_back_first() -> None:
    found = served(rate_per_s=1e6, p99_ns=100)
    assert (found.state, found.used.batch.messages) == (State.LATE, 1)
    # One at a time it can't keep up, and in fours it can.
    found = served(rate_per_s=4.5e6, p99_ns=100)
    assert (found.state, found.used.batch.messages) == (State.LATE, 4)


def test_a_rate_beyond_a_device_is_told_with_how_many_of_them_it_takes() -> None:
    found = served(rate_per_s=1e8)
    assert (found.state, found.used.batch.messages) == (State.OVERLOADED, 1_024)
    assert found.used.devices_needed == pytest.approx((600 / 1_024 + 40) / 10)
    assert found.used.p99_ns is None


def test_over_90_percent_busy_by_the_slow_end_nothing_is_said_of_p99() -> None:
    made = device(batches=(1, 1_024))
    # As measured 24.6 million a second; the slow end is 1 % below.
    most = made.largest.per_s.value
    free = served(made, rate_per_s=0.88 * most, p99_ns=1e9).used
    assert (free.state, free.p99_ns is None) == (State.MEETS, False)
    for share in (0.895, 0.95, 0.9999):
        near = served(made, rate_per_s=share * most, p99_ns=1e9).used
        assert (near.state, near.p99_ns) == (State.NEAR_FULL, None), share
    assert served(made, rate_per_s=1.001 * most).state is State.OVERLOADED


def test_of_batches_that_cannot_keep_up_one_that_is_in_time_is_taken() -> None:
    slow = device(setup_ns=600, message_ns=40)
    found = served(slow, rate_per_s=30e6, p99_ns=20_000)
    assert (found.state, found.used.is_late) == (State.OVERLOADED, False)
    assert found.used.batch.messages == 256
    assert served(slow, rate_per_s=30e6).used.batch.messages == 1_024


def test_a_batch_that_was_asked_for_is_kept_to() -> None:
    found = served(rate_per_s=1e6, p99_ns=1_000, batch=64)
    assert (found.state, found.used.batch.messages, len(found.every)) == (State.LATE, 64, 1)


def test_a_card_is_reckoned_in_the_same_batches(tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10, setup_ns=20)
    found = projected(made, BATCHES, 128.0)
    assert [each.messages for each in found.batches] == list(BATCHES)
    for each in found.batches:
        told = made.predict(each.messages, 128)
        assert each.batch_ns.value == told.batch_ns
        assert each.host_ns.value == pytest.approx(10)
        assert each.per_s.value == pytest.approx(each.messages * 1e9 / told.interval_ns)
        assert {each.batch_ns.origin, each.host_ns.origin, each.per_s.origin} == {Origin.PROJECTED}
        assert each.bound_by == told.bound_by
    assert found.batch_ns(5_000) == made.predict(5_000, 128).batch_ns


def test_batches_between_the_measured_ones_lie_on_a_straight_line() -> None:
    found = device(setup_ns=600, message_ns=40)
    assert found.batch_ns(1) == 640
    assert found.batch_ns(100) == pytest.approx(600 + 100 * 40)
    assert found.batch_ns(2_048) == pytest.approx(2 * found.batch_ns(1_024))


def judge_of(verdicts: dict[tuple[str, ...], Verdict]) -> Judge:
    def judge(batch: int, against: str, name: str) -> Row | None:
        assert batch in BATCHES
        return pair(1.0, verdicts.get((against, name), Verdict.SLOWER))[1]

    return judge


def ranks(*everyone: Served, **verdicts: Verdict) -> list[tuple[str, int]]:
    told = {tuple(key.split("_")): verdict for key, verdict in verdicts.items()}
    found = rank(everyone, judge_of(told))
    return [(each.name, each.rank) for each in found]


def test_the_device_that_costs_the_processor_least_comes_first() -> None:
    a, b, c = (served(device(name, message_ns=ns), rate_per_s=1e6) for name, ns in NAMED)
    assert ranks(a, b, c) == [("c", 1), ("b", 2), ("a", 3)]
    speed = [served(device(name, message_ns=ns)) for name, ns in NAMED]
    assert ranks(*speed) == [("c", 1), ("b", 2), ("a", 3)]


def test_what_lies_far_beyond_the_noise_has_a_rank_of_its_own_though_there_is_no_verdict() -> None:
    every = [served(device(name, message_ns=ns)) for name, ns in (("a", 20.0), ("b", 60.0))]
    noisy = replace(pair(1.0, Verdict.UNSURE)[1], noise_floor=0.12)

    def ranked(low: float, high: float) -> list[int]:
        row = replace(noisy, ratio=Interval((low + high) / 2, low, high, 0.95, 60))
        return [each.rank for each in rank(every, lambda *_: row)]

    assert ranked(0.30, 0.36) == [1, 2]
    assert ranked(0.70, 0.76) == [1, 1]
    assert ranked(0.30, 0.76) == [1, 1]


def test_devices_that_noise_does_not_tell_apart_share_a_rank() -> None:
    every = [served(device(name, message_ns=ns), rate_per_s=1e6) for name, ns in NAMED]
    assert ranks(*every, c_b=Verdict.SAME) == [("c", 1), ("b", 1), ("a", 3)]
    assert ranks(*every, c_a=Verdict.UNSURE) == [("c", 1), ("a", 1), ("b", 3)]
    assert ranks(*every, c_b=Verdict.FASTER, b_a=Verdict.SAME) == [("c", 1), ("b", 2), ("a", 2)]


def test_who_does_what_is_asked_comes_before_who_is_cheaper() -> None:
    quick = served(device("quick", setup_ns=100, message_ns=90), rate_per_s=4e6, p99_ns=2_500)
    cheap = served(device("cheap", setup_ns=5_000, message_ns=5), rate_per_s=4e6, p99_ns=2_500)
    assert (quick.state, cheap.state) == (State.MEETS, State.LATE)
    assert ranks(cheap, quick, quick_cheap=Verdict.SAME) == [("quick", 1), ("cheap", 2)]


def test_cards_stand_after_what_was_measured_with_the_place_that_they_would_take(
    tmp_path: Path,
) -> None:
    real = served(device(message_ns=40), rate_per_s=1e6)
    found = [
        serve(projected(card(tmp_path, name=name, host_ns=ns), BATCHES, 128), DEMAND, at_once)
        for name, ns in (("dear", 900), ("cheap", 5))
    ]
    ranked = rank([*found, real], judge_of({}))
    assert [(each.name, each.rank, each.is_projected) for each in ranked] == [
        ("cpu", 1, False),
        ("cheap", 1, True),
        ("dear", 2, True),
    ]


NAMED = (("a", 90), ("b", 60), ("c", 40))
DEMAND = Demand(rate_per_s=1e6)
