"""Statistics on series whose right answer is known."""

import math
import random
import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealift.lab.stats import (
    Flags,
    Interval,
    Trust,
    Verdict,
    blocks_needed,
    keep_clean,
    median,
    median_interval,
    noise_floor,
    speed_ratio,
    trust,
    verdict,
    verdict_confidence,
    winners,
)

SERIES = st.lists(st.floats(min_value=1e-3, max_value=1e9), min_size=1, max_size=60)


def heavy_tailed(generator: random.Random, blocks: int, scale: float = 0.01) -> list[float]:
    """Times of 100 ns with noise that is often small, sometimes a neighbour's burst."""

    def one() -> float:
        burst = generator.paretovariate(1.5) * 0.1 if generator.random() < 0.1 else 0.0
        return 100.0 * (1 + abs(generator.gauss(0, scale)) + burst)

    return [one() for _ in range(blocks)]


def judged(arm: list[float], reference: list[float], floor: float) -> Verdict:
    return verdict(speed_ratio(arm, reference, confidence=verdict_confidence(1)), floor)


@given(SERIES)
def test_the_median_is_the_one_of_the_standard_library(values: list[float]) -> None:
    assert median(values) == pytest.approx(statistics.median(values), rel=1e-12)


@given(SERIES)
def test_an_interval_holds_the_median_and_stays_inside_the_series(values: list[float]) -> None:
    shown, judging = median_interval(values), median_interval(values, confidence=0.99)
    assert min(values) <= judging.low <= shown.low <= shown.median
    assert shown.median <= shown.high <= judging.high <= max(values)


def test_the_interval_is_the_one_of_a_bootstrap_done_the_long_way() -> None:
    values = heavy_tailed(random.Random(1), 30)
    generator = random.Random(2)
    draws = sorted(statistics.median(generator.choices(values, k=30)) for _ in range(20_000))
    ours = median_interval(values, confidence=0.95)
    for end, place in ((ours.low, 500), (ours.high, 19_499)):
        near = draws[place - 200], draws[min(place + 200, 19_999)]
        assert near[0] <= end <= near[1]


def test_the_95_percent_interval_covers_the_true_median_about_95_times_in_100() -> None:
    generator = random.Random(3)
    covered = 0
    for _ in range(1_000):
        interval = median_interval([generator.expovariate(1) for _ in range(30)])
        covered += interval.low <= math.log(2) <= interval.high
    assert 920 <= covered <= 980


def test_the_same_seed_gives_the_same_interval() -> None:
    values = heavy_tailed(random.Random(4), 31)
    assert median_interval(values, seed=7) == median_interval(list(values), seed=7)


def test_fewer_than_2_percent_of_500_a_a_runs_with_heavy_tails_raise_an_alarm() -> None:
    generator = random.Random(5)
    verdicts = []
    for _ in range(500):
        first, again, other = (heavy_tailed(generator, 30) for _ in range(3))
        verdicts.append(judged(other, first, noise_floor(first, again)))
    alarms = sum(said in (Verdict.FASTER, Verdict.SLOWER) for said in verdicts)
    assert alarms < 10
    # An instrument that never says anything would pass the line above.
    assert sum(said is Verdict.SAME for said in verdicts) > 150


def test_the_99_percent_interval_alone_keeps_close_to_its_nominal_level() -> None:
    generator = random.Random(6)
    alarms = 0
    for _ in range(500):
        first, other = heavy_tailed(generator, 30), heavy_tailed(generator, 30)
        ratio = speed_ratio(other, first, confidence=0.99)
        alarms += not ratio.low <= 1 <= ratio.high
    assert alarms < 15


@pytest.mark.parametrize(("factor", "said"), [(1.05, Verdict.SLOWER), (1 / 1.05, Verdict.FASTER)])
def test_a_planted_difference_of_5_percent_is_found(factor: float, said: Verdict) -> None:
    generator = random.Random(7)
    found = 0
    for _ in range(200):
        first, again, other = (heavy_tailed(generator, 30) for _ in range(3))
        arm = [factor * ns for ns in other]
        found += judged(arm, first, noise_floor(first, again)) is said
    assert found >= 190


def test_a_slow_minute_that_hits_both_arms_hides_no_difference() -> None:
    generator = random.Random(8)
    drift = [1 + 0.5 * (block >= 12) for block in range(30)]
    first, again, other = (
        [ns * slow for ns, slow in zip(heavy_tailed(generator, 30), drift, strict=True)]
        for _ in range(3)
    )
    floor = noise_floor(first, again)
    assert judged([1.05 * ns for ns in other], first, floor) is Verdict.SLOWER


def test_a_constant_series_has_an_interval_of_no_width_and_is_the_same_as_itself() -> None:
    constant = [0.1] * 30
    interval = median_interval(constant)
    assert (interval.low, interval.median, interval.high) == (0.1, 0.1, 0.1)
    assert noise_floor(constant, constant) == 0
    assert judged(constant, constant, 0.0) is Verdict.SAME
    assert judged([0.101] * 30, constant, 0.0) is Verdict.SLOWER


def test_one_block_gives_a_figure_and_no_verdict() -> None:
    interval = median_interval([5.0])
    assert (interval.low, interval.median, interval.high, interval.blocks) == (5.0, 5.0, 5.0, 1)
    assert judged([1.0], [100.0], 0.0) is Verdict.UNSURE


def test_a_verdict_needs_8_blocks_and_more_when_several_are_made() -> None:
    assert blocks_needed(0.99) == 8
    assert blocks_needed(verdict_confidence(5)) == 10
    assert judged([1.0] * 7, [2.0] * 7, 0.0) is Verdict.UNSURE
    assert judged([1.0] * 8, [2.0] * 8, 0.0) is Verdict.FASTER


def test_no_blocks_are_a_clear_error() -> None:
    with pytest.raises(ValueError, match="no blocks were measured"):
        median_interval([])
    with pytest.raises(ValueError, match="no blocks were measured"):
        keep_clean([])
    with pytest.raises(ValueError, match="no arms"):
        winners([], 0.0)


def test_series_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="2 of the arm against 1 of the reference"):
        speed_ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"0\.0 ns a message"):
        speed_ratio([0.0], [1.0])
    with pytest.raises(ValueError, match="nan"):
        median_interval([math.nan])
    with pytest.raises(ValueError, match="confidence"):
        median_interval([1.0], confidence=1.0)


@pytest.mark.parametrize(
    ("low", "high", "floor", "said"),
    [
        (1.03, 1.05, 0.02, Verdict.FASTER),
        (1.01, 1.05, 0.02, Verdict.UNSURE),
        (0.99, 1.01, 0.02, Verdict.SAME),
        (0.95, 0.97, 0.02, Verdict.SLOWER),
        (0.95, 0.99, 0.02, Verdict.UNSURE),
        (0.5, 1.5, 0.02, Verdict.UNSURE),
        (2.0, 2.1, 0.101, Verdict.UNSURE),
    ],
)
def test_verdicts_follow_interval_and_noise_floor(
    low: float, high: float, floor: float, said: Verdict
) -> None:
    assert verdict(Interval((low + high) / 2, low, high, 0.99, 30), floor) is said


@given(SERIES, st.floats(min_value=0, max_value=0.1))
def test_a_verdict_turns_round_with_its_ratio(values: list[float], floor: float) -> None:
    ratio = median_interval(values, confidence=0.99)
    opposite = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    said = verdict(ratio, floor)
    if said in opposite:
        assert verdict(ratio.inverse(), floor * 0.999) is opposite[said]


def test_a_noise_floor_over_3_percent_asks_for_care_and_over_10_for_silence() -> None:
    assert [trust(floor) for floor in (0.03, 0.031, 0.1, 0.101)] == [
        Trust.GOOD,
        Trust.CAUTION,
        Trust.CAUTION,
        Trust.RANGES_ONLY,
    ]


def test_the_noise_floor_is_the_wider_side_of_the_a_a_interval() -> None:
    assert noise_floor([1.0] * 9, [1.25] * 9) == pytest.approx(0.25)
    assert noise_floor([1.25] * 9, [1.0] * 9) == pytest.approx(0.25)


def test_winners_are_the_arms_not_shown_to_be_slower() -> None:
    generator = random.Random(9)
    fast, alike, slow = (heavy_tailed(generator, 30) for _ in range(3))
    arms = [[1.3 * ns for ns in slow], fast, alike]
    assert winners(arms, 0.01) == (1, 2)
    assert winners(arms, 0.2) == (0, 1, 2)


@pytest.mark.parametrize(
    "flags",
    [
        Flags(8_000_000, 0, 1.0, 0),
        Flags(8_000_000, 0, 0.99, 0),
        Flags(8_000_000, 1, 1.0, 0),
        Flags(250_000_000, 40, 1.0, 0),
        Flags(8_000_000, 0, 1.0, 10_000_000),
    ],
)
def test_a_sample_is_clean_when_disturbances_cost_it_under_1_percent(flags: Flags) -> None:
    assert flags.clean


@pytest.mark.parametrize(
    "flags",
    [
        Flags(4_000_000, 1, 1.0, 0),
        Flags(8_000_000, 2, 1.0, 0),
        Flags(250_000_000, 60, 1.0, 0),
        Flags(8_000_000, 0, 0.989, 0),
        Flags(8_000_000, 0, 1.0, 20_000_000),
        Flags(250_000_000, 0, 1.0, 20_000_000),
    ],
)
def test_switches_lost_cpu_time_or_steal_make_a_sample_unclean(flags: Flags) -> None:
    assert not flags.clean


def test_clean_blocks_are_kept_and_all_of_them_when_under_half_are_clean() -> None:
    kept = keep_clean([True, False, True, True])
    assert (kept.blocks, kept.clean_share, kept.busy) == ((0, 2, 3), 0.75, False)
    assert keep_clean([True, False]).blocks == (0,)
    busy = keep_clean([True, False, False])
    assert (busy.blocks, busy.busy) == ((0, 1, 2), True)


def test_6_arms_at_14_sizes_with_30_blocks_are_summed_up_in_under_2_s() -> None:
    generator = random.Random(10)
    sizes = [[heavy_tailed(generator, 30) for _ in range(7)] for _ in range(14)]
    confidence = verdict_confidence(5)
    start = time.process_time()
    for arms in sizes:
        floor = noise_floor(arms[0], arms[6])
        winners(arms[:6], floor)
        for arm in arms[:6]:
            median_interval(arm)
            speed_ratio(arm, arms[0])
            verdict(speed_ratio(arm, arms[0], confidence=confidence), floor)
    assert time.process_time() - start < 2
