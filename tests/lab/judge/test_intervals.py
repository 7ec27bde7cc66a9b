"""Intervals against scipy.stats, which decides nothing in the lab itself, and verdicts on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from sealift_lab.judge import intervals
from sealift_lab.judge.intervals import Difference, Pool, Vector, blocks_needed, mean_at, rank
from sealift_lab.judge.verdicts import MARGIN, compare, verdict
from sealift_lab.model.results import Verdict

SEEDS = st.integers(0, 2**32 - 1)
CONFIDENCES = st.sampled_from([0.9, 0.95, 0.99])
SHARES, WIDTHS = st.floats(-0.3, 0.3), st.floats(0, 0.3)


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


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 150), st.sampled_from([1e-9, 0.01, 1.0]), st.floats(0, 1))
def test_means_of_two_are_selected_as_if_all_were_sorted(
    seed: int, n: int, step: float, at: float
) -> None:
    # The larger the step, the more values are equal.
    x = np.sort((drawn(seed, n) / step).round() * step)
    one, other = np.triu_indices(n)
    every = np.sort((x[one] + x[other]) / 2)
    place = round(at * (len(every) - 1))
    assert mean_at(x, place) == every[place]


def test_many_blocks_take_little_memory_and_the_same_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # By the normal distribution their rank is nearly that of the exact one.
    exact = rank(200, 0.99)
    monkeypatch.setattr(intervals, "EXACT_MOST", 199)
    assert rank.__wrapped__(200, 0.99, "hodges-lehmann") == pytest.approx(exact, abs=30)
    few = alone(drawn(1, 450))
    monkeypatch.setattr(intervals, "ALL_MEANS_MOST", 400)
    assert (alone(few.x).value, alone(few.x).interval(0.99)) == (few.value, few.interval(0.99))
    many = alone(drawn(1, 20_000))
    assert many.value == pytest.approx(0.02, abs=0.002)


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


def test_too_few_blocks_or_processes_carry_no_interval() -> None:
    assert (blocks_needed(0.95), blocks_needed(0.99)) == (6, 8)
    assert alone(drawn(1, 7)).interval(0.99) is None
    assert alone(drawn(1, 8)).interval(0.99) is not None
    one, other = alone(drawn(1, 30)), alone(drawn(2, 30))
    assert Difference(one, other, is_paired=False).interval(0.95) is None
    assert Difference(one, other, is_paired=True).interval(0.95) is not None
    with pytest.raises(ValueError, match="no blocks"):
        alone(drawn(1, 0))


def test_a_process_of_few_blocks_weighs_as_much_in_a_median_as_one_of_many() -> None:
    x = np.concatenate([np.full(9, 1.0), np.full(41, 3.0)])
    assert Pool.from_blocks(x, np.repeat([0, 1], [9, 41]), "median").value == 2.0


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (0.05, 0.01, 0.09, Verdict.FASTER),
        (-0.05, -0.09, -0.01, Verdict.SLOWER),
        (0.005, -0.02, 0.02, Verdict.SAME),
        (0.01, 0.005, 0.015, Verdict.SAME),  # a difference, and not as large as counts
        (0.02, 0.01, 0.03, Verdict.INCONCLUSIVE),
        (0.05, -0.01, 0.11, Verdict.INCONCLUSIVE),
    ],
)
def test_a_verdict_asks_whether_there_is_a_difference_and_how_large(
    value: float, low: float, high: float, told: Verdict
) -> None:
    assert verdict(value, (low, high)) is told
    assert verdict(value, None) is Verdict.INCONCLUSIVE


@settings(deadline=None)
@given(SHARES, WIDTHS, WIDTHS, WIDTHS, WIDTHS)
def test_noise_buys_no_verdict_and_the_other_way_is_the_opposite(
    value: float, below: float, above: float, more: float, most: float
) -> None:
    quiet = verdict(value, (value - below, value + above))
    noisy = verdict(value, (value - below - more, value + above + most))
    assert noisy in (quiet, Verdict.INCONCLUSIVE)
    turned = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    assert verdict(-value, (-value - above, -value + below)) is turned.get(quiet, quiet)


def pool(value: float, scatter: float, between: float, processes: int, blocks: int) -> Pool:
    """Blocks and processes evenly around a value, as wide as is said."""
    labels = np.repeat(np.arange(processes), blocks)
    x = np.tile(np.linspace(-scatter, scatter, blocks), processes)
    return Pool.from_blocks(value + x + np.linspace(-between, between, processes)[labels], labels)


@pytest.mark.parametrize(
    ("cause", "as_it_is", "mended"),
    [
        ("7 blocks; an interval at 99 % needs 8", (0.05, 0.001, 0, 1, 7), (0.05, 0.001, 0, 1, 8)),
        ("only 2 processes", (0.05, 0.001, 0.01, 2, 12), (0.05, 0.001, 0.01, 8, 12)),
        ("8 processes differ", (0.05, 0.001, 0.08, 8, 12), (0.05, 0.001, 0.01, 8, 12)),
        ("samples scatter", (0.05, 0.5, 0.001, 8, 12), (0.05, 0.01, 0.001, 8, 12)),
        ("near the 2.5 %", (MARGIN - 0.002, 0.03, 0, 8, 12), (0.05, 0.03, 0, 8, 12)),
    ],
)
def test_the_cause_that_is_named_gives_a_verdict_when_it_alone_is_mended(
    cause: str,
    as_it_is: tuple[float, float, float, int, int],
    mended: tuple[float, float, float, int, int],
) -> None:
    found = compare(pool(*as_it_is))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert cause in found.ratio.reason
    assert compare(pool(*mended)).verdict is Verdict.FASTER


def test_a_far_ratio_is_settled_however_noisy_the_machine() -> None:
    found = compare(pool(np.log(2_700), 0.3, 0.1, 8, 12), clean_share=0.1)
    assert (found.verdict, found.ratio.reason) == (Verdict.FASTER, "")
    scattered = compare(pool(0.05, 0.5, 0.001, 8, 12), clean_share=0.2)
    assert "80.0 % of samples disturbed" in scattered.ratio.reason
    one = compare(pool(0.05, 0.001, 0.0, 1, 1)).ratio
    assert (one.low, one.high) == (None, None)
    assert one.reason == "1 block; an interval at 99 % needs 8"
