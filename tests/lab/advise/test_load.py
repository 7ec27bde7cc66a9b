"""In which batches a device should work a load, and which device comes first."""

import random
from pathlib import Path

import pytest
from tests.lab.advise.made_load import BATCHES, at_once, card, device

from sealift_lab.advise.load import (
    Candidate,
    Demand,
    Device,
    Judge,
    State,
    fill_ns_p99,
    projected,
    rank,
    serve,
)
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.model.results import Estimate, Origin, Verdict
from sealift_lab.model.workload import Lengths

LENGTHS = Lengths.from_counts({128: 1})


def served(of: Device | None = None, **demand: float) -> Candidate:
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


NAMED = (("a", 90), ("b", 60), ("c", 40))
