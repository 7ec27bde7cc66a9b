"""Verdicts on series whose right answer is known."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_series import heavy_tailed
from sealift.lab.stats import (
    VERDICT_CONFIDENCE,
    Interval,
    Trust,
    Verdict,
    blocks_needed,
    holm,
    median_interval,
    noise_floor,
    paired_ratios,
    smallest_difference,
    speed_ratio,
    trust,
    verdict,
    verdicts,
)

FASTER, SLOWER, SAME, UNSURE = Verdict
RATIOS = st.lists(st.floats(min_value=0.5, max_value=2.0), min_size=1, max_size=40)


def judged(arm: list[float], reference: list[float], floor: float) -> Verdict:
    return verdict(speed_ratio(arm, reference, confidence=VERDICT_CONFIDENCE), floor)


def test_fewer_than_2_percent_of_500_a_a_runs_with_heavy_tails_raise_an_alarm() -> None:
    generator = random.Random(5)
    said = []
    for _ in range(500):
        first, again, other = (heavy_tailed(generator, 30) for _ in range(3))
        said.append(judged(other, first, noise_floor(first, again)))
    assert sum(one in (FASTER, SLOWER) for one in said) < 10
    # An instrument that never says anything would pass the line above.
    assert said.count(SAME) > 150


def test_the_99_percent_interval_alone_keeps_close_to_its_nominal_level() -> None:
    generator = random.Random(6)
    alarms = 0
    for _ in range(500):
        first, other = heavy_tailed(generator, 30), heavy_tailed(generator, 30)
        ratio = speed_ratio(other, first, confidence=0.99)
        alarms += not ratio.low <= 1 <= ratio.high
    assert alarms < 15


@pytest.mark.parametrize(("factor", "said"), [(1.05, SLOWER), (1 / 1.05, FASTER)])
def test_a_planted_difference_of_5_percent_is_found(factor: float, said: Verdict) -> None:
    generator = random.Random(7)
    found = 0
    for _ in range(200):
        first, again, other = (heavy_tailed(generator, 30) for _ in range(3))
        found += judged([factor * ns for ns in other], first, noise_floor(first, again)) is said
    assert found >= 190


def test_a_slow_minute_that_hits_both_arms_hides_no_difference() -> None:
    generator = random.Random(8)
    slow = [1 + 0.5 * (block >= 12) for block in range(30)]
    first, again, other = (
        [ns * factor for ns, factor in zip(heavy_tailed(generator, 30), slow, strict=True)]
        for _ in range(3)
    )
    floor = noise_floor(first, again)
    assert judged([1.05 * ns for ns in other], first, floor) is SLOWER


def test_under_2_percent_nothing_is_called_a_difference_however_steady_it_is() -> None:
    constant = [0.1] * 30
    assert smallest_difference(0.0) == 0.02
    assert smallest_difference(0.03) == 0.03
    assert judged(constant, constant, 0.0) is SAME
    assert judged([0.1019] * 30, constant, 0.0) is SAME
    assert judged([0.1021] * 30, constant, 0.0) is SLOWER


def test_a_verdict_needs_8_blocks() -> None:
    assert [blocks_needed(confidence) for confidence in (0.99, 0.998)] == [8, 10]
    for blocks, said in ((1, UNSURE), (7, UNSURE), (8, FASTER)):
        assert judged([1.0] * blocks, [2.0] * blocks, 0.0) is said
        assert verdicts([[2.0] * blocks], 0.0) == (said,)
        assert verdicts([[1.0] * blocks], 0.0) == (SAME if blocks == 8 else UNSURE,)


@pytest.mark.parametrize(
    ("low", "high", "floor", "said"),
    [
        (1.04, 1.05, 0.03, FASTER),
        (1.01, 1.05, 0.03, UNSURE),
        (0.99, 1.01, 0.03, SAME),
        (0.95, 0.96, 0.03, SLOWER),
        (0.95, 0.99, 0.03, UNSURE),
        (1.015, 1.03, 0.0, UNSURE),
        (0.5, 1.5, 0.03, UNSURE),
        (2.0, 2.1, 0.101, UNSURE),
    ],
)
def test_verdicts_follow_interval_and_noise_floor(
    low: float, high: float, floor: float, said: Verdict
) -> None:
    assert verdict(Interval((low + high) / 2, low, high, 0.99, 30), floor) is said


@given(RATIOS, st.floats(min_value=0, max_value=0.11))
def test_one_arm_alone_gets_the_same_verdict_either_way(ratios: list[float], floor: float) -> None:
    assert verdicts([ratios], floor) == (
        verdict(median_interval(ratios, confidence=VERDICT_CONFIDENCE), floor),
    )


@given(RATIOS, st.floats(min_value=0, max_value=0.1))
def test_a_verdict_turns_round_with_its_ratio(ratios: list[float], floor: float) -> None:
    ratio = median_interval(ratios, confidence=0.99)
    opposite = {FASTER: SLOWER, SLOWER: FASTER}
    said = verdict(ratio, floor)
    if said in opposite and ratio.low > 1.0201 * (1 + floor):
        assert verdict(ratio.inverse(), floor) is opposite[said]


def test_holm_gives_what_his_procedure_gives_by_hand() -> None:
    # Of 4: the least times 4, the next times 3, and so on, never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.4, 0.6]) == pytest.approx((0.8, 0.8))
    assert holm([0.7, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


def test_several_arms_are_judged_more_carefully_than_one() -> None:
    # 23 of 30 blocks are beyond 2 %: clear enough at 99 %, and not at 99.9 %.
    ratios = [1.05] * 23 + [1.0] * 7
    apart = [2.0] * 30
    alone = verdicts([ratios], 0.0)
    assert alone == (FASTER,)
    assert verdicts([ratios] + [[1.0] * 30] * 9, 0.0)[0] is UNSURE
    # Arms that are clear make room for the next one, and Bonferroni would not.
    assert verdicts([*([apart] * 9), ratios], 0.0) == (FASTER,) * 10


def test_200_families_of_6_equal_arms_rarely_have_a_false_verdict_in_them() -> None:
    generator = random.Random(13)
    alarms = 0
    for _ in range(200):
        reference, again = heavy_tailed(generator, 30, 0.03), heavy_tailed(generator, 30, 0.03)
        arms = [heavy_tailed(generator, 30, 0.03) for _ in range(6)]
        said = verdicts(
            [paired_ratios(arm, reference) for arm in arms], noise_floor(reference, again)
        )
        alarms += bool({FASTER, SLOWER} & set(said))
    assert alarms <= 4


def test_restarts_that_disagree_carry_no_verdict() -> None:
    labels = [restart for restart in range(3) for _ in range(10)]
    agreeing = [1.10] * 10 + [1.06] * 10 + [1.08] * 10
    lucky = [1.10] * 10 + [1.0] * 7 + [1.06] * 3 + [1.08] * 10
    assert verdicts([agreeing, lucky], 0.0, restarts=[labels, labels]) == (FASTER, UNSURE)
    assert verdicts([lucky], 0.0) == (FASTER,)


def test_a_noise_floor_over_3_percent_asks_for_care_and_over_10_for_silence() -> None:
    assert [trust(floor) for floor in (0.03, 0.031, 0.1, 0.101)] == [
        Trust.GOOD,
        Trust.CAUTION,
        Trust.CAUTION,
        Trust.RANGES_ONLY,
    ]
    assert verdicts([[2.0] * 30], 0.1) == (FASTER,)
    assert verdicts([[2.0] * 30], 0.101) == (UNSURE,)


def test_the_noise_floor_is_the_wider_side_of_the_a_a_interval() -> None:
    assert noise_floor([1.0] * 9, [1.25] * 9) == pytest.approx(0.25)
    assert noise_floor([1.25] * 9, [1.0] * 9) == pytest.approx(0.25)
