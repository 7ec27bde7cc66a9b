"""Medians and their intervals on series whose right answer is known."""

import itertools
import math
import random
import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_series import heavy_tailed, placed
from sealift.lab.stats import (
    drift,
    is_steady,
    median,
    median_interval,
    noise_floor,
    paired_ratios,
    run_ratio,
    speed_ratio,
    verdicts,
    warm_up_blocks,
)
from sealift.lab.stats.bootstrap import Medians

SERIES = st.lists(st.floats(min_value=1e-3, max_value=1e9), min_size=1, max_size=60)


@given(SERIES)
def test_the_median_is_the_one_of_the_standard_library(values: list[float]) -> None:
    assert median(values) == pytest.approx(statistics.median(values), rel=1e-12)


@given(SERIES, st.integers(min_value=1, max_value=4))
def test_an_interval_holds_the_median_and_widens_with_its_confidence(
    values: list[float], restarts: int
) -> None:
    labels = [place % restarts for place in range(len(values))]
    shown = median_interval(values, restarts=labels)
    judging = median_interval(values, confidence=0.99, restarts=labels)
    assert 0 < judging.low <= shown.low <= shown.median <= shown.high <= judging.high
    if restarts == 1:
        assert min(values) <= judging.low <= judging.high <= max(values)


@pytest.mark.parametrize("blocks", [8, 29, 30])
def test_the_interval_is_the_one_of_a_bootstrap_done_the_long_way(blocks: int) -> None:
    values = heavy_tailed(random.Random(1), blocks)
    generator = random.Random(2)
    drawn = [generator.choices(values, k=blocks) for _ in range(20_000)]
    # Of an even number of blocks each end takes the middle value that is further out.
    lower = sorted(statistics.median_low(draw) for draw in drawn)
    upper = sorted(statistics.median_high(draw) for draw in drawn)
    ours = median_interval(values)
    assert lower[400] <= ours.low <= lower[600]
    assert upper[19_400] <= ours.high <= upper[19_600]
    shown = sorted(statistics.median(draw) for draw in drawn)
    assert ours.low <= shown[500]
    assert shown[19_499] <= ours.high


@pytest.mark.parametrize("restarts", [1, 2])
def test_of_an_even_number_each_bound_holds_for_all_between_the_middle_two(restarts: int) -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    processes = [values[at::restarts] for at in range(restarts)]
    draws = Medians(values, [at % restarts for at in range(4)])
    every = [
        sorted(drawn)
        for picked in itertools.product(processes, repeat=restarts)
        for drawn in itertools.product(*(one for one in picked for _ in range(4 // restarts)))
    ]
    for value in (1.0, 1.5, 2.0, 3.0, 4.0, 8.0):
        at_most = sum(low <= value for _, low, _, _ in every) / len(every)
        at_least = sum(high >= value for _, _, high, _ in every) / len(every)
        assert draws.at_most(value) == pytest.approx(at_most)
        assert draws.at_least(value) == pytest.approx(at_least)


def test_the_bootstrap_over_restarts_is_one_in_two_steps() -> None:
    values, labels = placed(random.Random(3), 3, 9, between=0.05, within=0.01)
    processes = [values[at : at + 9] for at in range(0, 27, 9)]
    generator = random.Random(4)
    draws = sorted(
        statistics.median(
            value
            for one in generator.choices(processes, k=3)
            for value in generator.choices(one, k=9)
        )
        for _ in range(20_000)
    )
    low, high = Medians(values, labels).interval(0.95)
    assert draws[400] <= low <= draws[600]
    assert draws[19_400] <= high <= draws[19_600]


def test_the_interval_over_restarts_holds_that_of_student() -> None:
    values = [ns for ns in (99.0, 100.0, 103.0) for _ in range(10)]
    labels = [block // 10 for block in range(30)]
    logs = [math.log(ns) for ns in (99.0, 100.0, 103.0)]
    # 4.3027 is t at 97.5 % with two degrees of freedom, as every table has it.
    reach = 4.3027 * statistics.stdev(logs) / math.sqrt(3)
    ends = [math.exp(statistics.fmean(logs) + sign * reach) for sign in (-1, 1)]
    interval = median_interval(values, restarts=labels)
    assert (interval.low, interval.high) == pytest.approx(ends, rel=1e-5)


@pytest.mark.parametrize("blocks", [20, 30, 31])
def test_the_95_percent_interval_covers_the_true_median_about_95_times_in_100(blocks: int) -> None:
    generator = random.Random(5)
    covered = 0
    for _ in range(1_000):
        interval = median_interval([generator.expovariate(1) for _ in range(blocks)])
        covered += interval.low <= math.log(2) <= interval.high
    assert 925 <= covered <= 985


def test_restarts_weigh_the_same_however_many_blocks_they_have() -> None:
    assert median([1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 0, 0, 7]) == 4.5
    assert median([1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 0, 7, 7]) == 3.5
    values, labels = [1.0] * 20 + [2.0] * 5 + [3.0] * 5, [0] * 20 + [1] * 5 + [2] * 5
    interval = median_interval(values, restarts=labels)
    assert interval.median == 2.0
    assert run_ratio(values, [2.0] * 9, now_restarts=labels).median == 1.0


def test_two_restarts_far_apart_still_have_an_interval() -> None:
    interval = median_interval([1e-3, 1e9], confidence=0.99, restarts=[0, 1])
    assert 0 < interval.low < 1e-3 < 1e9 < interval.high < math.inf
    assert interval.inverse().high < math.inf


def test_nothing_is_drawn_by_chance() -> None:
    values = heavy_tailed(random.Random(7), 31)
    again = list(values)
    random.Random(8).shuffle(again)
    assert median_interval(values) == median_interval(again)


def test_a_constant_series_has_an_interval_of_no_width() -> None:
    interval = median_interval([0.1] * 30)
    assert (interval.low, interval.median, interval.high) == (0.1, 0.1, 0.1)
    assert noise_floor([0.1] * 30, [0.1] * 30) == 0


def test_one_block_gives_a_figure() -> None:
    interval = median_interval([5.0])
    assert (interval.low, interval.median, interval.high, interval.blocks) == (5.0, 5.0, 5.0, 1)


def test_a_paired_ratio_is_that_of_the_blocks_and_not_of_the_medians() -> None:
    # Half of the time the machine is twice as slow: each block still shows 1.25.
    reference = [100.0, 200.0] * 10
    arm = [80.0, 160.0] * 10
    ratio = speed_ratio(arm, reference)
    assert (ratio.low, ratio.median, ratio.high) == (1.25, 1.25, 1.25)
    assert ratio.inverse().median == pytest.approx(0.8)


def test_the_ratio_of_two_runs_covers_a_planted_one_about_95_times_in_100() -> None:
    generator = random.Random(9)
    covered = sharp = 0
    for _ in range(400):
        before, now = heavy_tailed(generator, 30), heavy_tailed(generator, 24)
        ratio = run_ratio([ns / 1.25 for ns in now], before)
        covered += ratio.low <= 1.25 <= ratio.high
        sharp += ratio.low > 1.2 and ratio.high < 1.3
        assert ratio.blocks == 24
    assert 375 <= covered <= 395
    assert sharp > 380


def test_the_ratio_of_two_runs_turns_round_with_them() -> None:
    generator = random.Random(10)
    one, other = heavy_tailed(generator, 12), heavy_tailed(generator, 15)
    there, back = run_ratio(one, other), run_ratio(other, one).inverse()
    assert (there.low, there.median, there.high) == pytest.approx(
        (back.low, back.median, back.high)
    )


def test_the_ratio_of_two_runs_counts_how_much_restarts_differ() -> None:
    generator = random.Random(11)
    now, labels = placed(generator, 4, 8, between=0.03, within=0.002)
    before, _ = placed(generator, 4, 8, between=0.03, within=0.002)
    plain = run_ratio(now, before)
    nested = run_ratio(now, before, now_restarts=labels, before_restarts=labels)
    assert nested.high - nested.low > 1.2 * (plain.high - plain.low)


def test_no_blocks_and_series_that_do_not_fit_are_clear_errors() -> None:
    with pytest.raises(ValueError, match="no blocks were measured"):
        median_interval([])
    with pytest.raises(ValueError, match="no blocks were measured"):
        run_ratio([], [1.0])
    with pytest.raises(ValueError, match="2 of the arm against 1 of the reference"):
        speed_ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"0\.0 ns an operation"):
        speed_ratio([0.0], [1.0])
    with pytest.raises(ValueError, match=r"-1\.0 ns an operation"):
        run_ratio([1.0], [-1.0])
    with pytest.raises(ValueError, match="nan"):
        median_interval([math.nan])
    with pytest.raises(ValueError, match=r"the median -1\.0: it must be above 0"):
        median_interval([-1.0, 2.0], restarts=[0, 1])
    with pytest.raises(ValueError, match="confidence"):
        median_interval([1.0], confidence=1.0)
    with pytest.raises(ValueError, match="1 restarts are named for 2 blocks"):
        median_interval([1.0, 2.0], restarts=[0])


@pytest.mark.parametrize("restarts", [1, 5])
def test_300_arms_with_30_blocks_are_summed_up_in_under_2_s(restarts: int) -> None:
    generator = random.Random(12)
    groups = [[heavy_tailed(generator, 30) for _ in range(7)] for _ in range(50)]
    labels = [block * restarts // 30 for block in range(30)]
    start = time.process_time()
    for arms in groups:
        floor = noise_floor(arms[0], arms[6], restarts=labels)
        ratios = [paired_ratios(arm, arms[0]) for arm in arms[1:6]]
        for _ in ("against the reference", "against the best"):
            verdicts(ratios, floor, restarts=[labels] * 5)
        for arm in arms[:6]:
            warm_up_blocks(arm, floor)
            is_steady(drift(arm, restarts=labels), floor)
            median_interval(arm, restarts=labels)
            speed_ratio(arm, arms[0], restarts=labels)
    assert time.process_time() - start < 2
