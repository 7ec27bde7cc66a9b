"""Verdicts, and the causes that are named where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.judge.intervals import Pool
from sealift_lab.judge.verdicts import MARGIN, compare, compare_exact, verdict
from sealift_lab.model.results import Estimate, Verdict

SHARES = st.floats(-0.3, 0.3)
WIDTHS = st.floats(0, 0.3)


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
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
    value: float, low: float, high: float, said: Verdict
) -> None:
    assert verdict(value, (low, high)) is said
    assert verdict(value, None) is Verdict.INCONCLUSIVE


@settings(deadline=None)
@given(SHARES, WIDTHS, WIDTHS, WIDTHS, WIDTHS)
def test_noise_buys_no_verdict(
    value: float, below: float, above: float, more: float, most: float
) -> None:
    quiet = verdict(value, (value - below, value + above))
    noisy = verdict(value, (value - below - more, value + above + most))
    assert noisy in (quiet, Verdict.INCONCLUSIVE)


@settings(deadline=None)
@given(SHARES, WIDTHS)
def test_what_is_faster_one_way_is_slower_the_other(value: float, half: float) -> None:
    turned = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    one = verdict(value, (value - half, value + half))
    assert verdict(-value, (-value - half, -value + half)) is turned.get(one, one)


def pool(value: float, scatter: float, between: float, processes: int, blocks: int) -> Pool:
    """Blocks and processes evenly around a value, as wide as is said."""
    labels = np.repeat(np.arange(processes), blocks)
    x = np.tile(np.linspace(-scatter, scatter, blocks), processes)
    return Pool.from_blocks(value + x + np.linspace(-between, between, processes)[labels], labels)


def test_the_cause_that_is_named_is_the_cause() -> None:
    """Each cause, mended alone, gives a verdict."""
    cases = {
        "7 blocks; an interval at 99 % needs 8": (
            (0.05, 0.001, 0.0, 1, 7),
            (0.05, 0.001, 0.0, 1, 8),
        ),
        "only 2 processes": ((0.05, 0.001, 0.01, 2, 12), (0.05, 0.001, 0.01, 8, 12)),
        "8 processes differ": ((0.05, 0.001, 0.08, 8, 12), (0.05, 0.001, 0.01, 8, 12)),
        "samples scatter": ((0.05, 0.5, 0.001, 8, 12), (0.05, 0.01, 0.001, 8, 12)),
        "near the 2.5 %": ((MARGIN - 0.002, 0.03, 0.0, 8, 12), (0.05, 0.03, 0.0, 8, 12)),
    }
    for cause, (as_it_is, mended) in cases.items():
        found = compare(pool(*as_it_is))
        assert found.verdict is Verdict.INCONCLUSIVE
        assert cause in found.ratio.reason
        assert compare(pool(*mended)).verdict is Verdict.FASTER


def test_a_far_ratio_is_settled_however_noisy_the_machine() -> None:
    found = compare(pool(np.log(2_700), 0.3, 0.1, 8, 12), clean_share=0.1)
    assert found.verdict is Verdict.FASTER
    assert found.ratio.reason == ""


def test_disturbed_samples_are_named_where_scatter_is_the_cause() -> None:
    found = compare(pool(0.05, 0.5, 0.001, 8, 12), clean_share=0.2)
    assert "80.0 % of samples disturbed" in found.ratio.reason


def test_few_blocks_have_no_printed_interval_either() -> None:
    found = compare(pool(0.05, 0.001, 0.0, 1, 1))
    assert (found.ratio.low, found.ratio.high) == (None, None)
    assert found.ratio.reason == "1 block; an interval at 99 % needs 8"


def test_a_measured_time_is_judged_against_an_exact_one() -> None:
    time = Estimate(100.0, 98.0, 102.0)
    exact = {110.0: Verdict.FASTER, 90.0: Verdict.SLOWER, 100.0: Verdict.SAME}
    assert {ns: compare_exact(time, ns) for ns in exact} == exact
    assert compare_exact(Estimate(100.0), 200.0) is Verdict.INCONCLUSIVE
