"""Intervals against scipy.stats, which decides nothing in the lab itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from sealift_lab.judge import intervals
from sealift_lab.judge.intervals import Difference, Pool, Vector, blocks_needed, rank

SEEDS = st.integers(0, 2**32 - 1)
CONFIDENCES = st.sampled_from([0.9, 0.95, 0.99])


def drawn(seed: int, n: int) -> Vector:
    return np.random.default_rng(seed).normal(0.02, 0.05, n)


def alone(x: Vector) -> Pool:
    return Pool.from_blocks(x, np.zeros(len(x), np.int64))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(8, 40), CONFIDENCES)
def test_an_interval_over_blocks_holds_what_wilcoxons_test_does_not_refuse(
    seed: int, n: int, confidence: float
) -> None:
    x = drawn(seed, n)
    ends = alone(x).interval(confidence)
    assert ends is not None
    for end, inwards in zip(ends, (1, -1), strict=True):
        inside, outside = (
            stats.wilcoxon(x - (end + step * inwards * 1e-9), method="exact").pvalue
            for step in (1, -1)
        )
        assert inside > 1 - confidence >= outside


@settings(deadline=None)
@given(st.integers(1, 120), CONFIDENCES)
def test_the_rank_of_a_median_is_that_of_the_sign_test(n: int, confidence: float) -> None:
    assert rank(n, confidence, "median") == stats.binom.ppf((1 - confidence) / 2, n, 0.5)


@settings(deadline=None)
@given(SEEDS, st.integers(2, 9), st.integers(2, 9), CONFIDENCES)
def test_intervals_over_processes_are_students_and_welchs(
    seed: int, n: int, m: int, confidence: float
) -> None:
    x, y = drawn(seed, n), drawn(seed + 1, m)
    one, other = (Pool.from_blocks(each, np.arange(len(each))) for each in (x, y))
    student = stats.ttest_1samp(x, 0).confidence_interval(confidence)
    assert one.over_processes(confidence) == pytest.approx(tuple(student))
    welch = stats.ttest_ind(y, x, equal_var=False).confidence_interval(confidence)
    apart = Difference(one, other, is_paired=False).over_processes(confidence)
    assert apart == pytest.approx(tuple(welch))


@settings(deadline=None)
@given(SEEDS, st.integers(6, 30), st.integers(1, 6), st.sampled_from(["median", "hodges-lehmann"]))
def test_an_interval_is_the_wider_of_both_and_holds_its_figure(
    seed: int, n: int, processes: int, kind: intervals.Kind
) -> None:
    labels = np.random.default_rng(seed).integers(0, processes, n)
    pool = Pool.from_blocks(drawn(seed, n), labels, kind)
    ends = pool.interval(0.95)
    assert ends is not None
    assert ends[0] <= pool.value <= ends[1]
    for low, high in filter(None, (pool.over_blocks(0.95), pool.over_processes(0.95))):
        assert ends[0] <= low <= high <= ends[1]


def test_too_few_blocks_carry_no_interval() -> None:
    assert (blocks_needed(0.95), blocks_needed(0.99)) == (6, 8)
    assert alone(drawn(1, 7)).interval(0.99) is None
    assert alone(drawn(1, 8)).interval(0.99) is not None
    with pytest.raises(ValueError, match="no blocks"):
        alone(drawn(1, 0))


def test_two_runs_of_one_process_each_carry_no_interval() -> None:
    one, other = alone(drawn(1, 30)), alone(drawn(2, 30))
    assert Difference(one, other, is_paired=False).interval(0.95) is None
    assert Difference(one, other, is_paired=True).interval(0.95) is not None


def test_a_process_of_few_blocks_weighs_as_much_in_a_median_as_one_of_many() -> None:
    x = np.concatenate([np.full(9, 1.0), np.full(41, 3.0)])
    assert Pool.from_blocks(x, np.repeat([0, 1], [9, 41]), "median").value == 2.0


def test_many_blocks_have_the_rank_of_the_exact_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = rank(200, 0.99)
    monkeypatch.setattr(intervals, "EXACT_MOST", 199)
    assert rank.__wrapped__(200, 0.99, "hodges-lehmann") == pytest.approx(exact, abs=30)
    assert exact > 7_000


@pytest.mark.parametrize("between", [0.006, 0.03])
def test_an_interval_at_99_per_cent_holds_the_truth_when_processes_differ(between: float) -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(8), 10)
    held = 0
    for _ in range(TRIALS):
        x = rng.normal(0, 0.01, 80) + rng.normal(0, between, 8)[labels]
        low, high = Pool.from_blocks(x, labels).interval(0.99) or (1, -1)
        held += low <= 0 <= high
    # Of 300 at 99 %: 289 or fewer would come by chance once in 1,000.
    assert held > 289


TRIALS = 300
