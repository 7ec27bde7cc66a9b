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
    judged,
    least_told,
    median_interval,
    noise_floor,
    of_runs,
    paired_ratios,
    restart_range,
    smallest_difference,
    speed_ratio,
    trust,
    verdicts,
)

FASTER, SLOWER, SAME, UNSURE = Verdict
RATIOS = st.lists(st.floats(min_value=0.5, max_value=2.0), min_size=1, max_size=40)


def said_of(arm: list[float], reference: list[float], floor: float) -> Verdict:
    return verdicts([paired_ratios(arm, reference)], floor)[0]


def read(ratio: Interval, floor: float) -> Verdict:
    """What the table of docs/statistics.md says of an interval."""
    is_loud = floor > 0.1
    high = 1 + max(floor, 0.02) * (3 if is_loud else 1)
    if ratio.blocks < 8:
        return UNSURE
    if ratio.low > high or ratio.high < 1 / high:
        return FASTER if ratio.low > high else SLOWER
    return SAME if not is_loud and 1 / high <= ratio.low and ratio.high <= high else UNSURE


def test_fewer_than_2_percent_of_500_a_a_runs_with_heavy_tails_raise_an_alarm() -> None:
    generator = random.Random(5)
    said = []
    for _ in range(500):
        first, again, other = (heavy_tailed(generator, 30) for _ in range(3))
        said.append(said_of(other, first, noise_floor(first, again)))
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
        found += said_of([factor * ns for ns in other], first, noise_floor(first, again)) is said
    assert found >= 190


def test_a_slow_minute_that_hits_both_arms_hides_no_difference() -> None:
    generator = random.Random(8)
    slow = [1 + 0.5 * (block >= 12) for block in range(30)]
    first, again, other = (
        [ns * factor for ns, factor in zip(heavy_tailed(generator, 30), slow, strict=True)]
        for _ in range(3)
    )
    floor = noise_floor(first, again)
    assert said_of([1.05 * ns for ns in other], first, floor) is SLOWER


def test_under_2_percent_nothing_is_called_a_difference_however_steady_it_is() -> None:
    constant = [0.1] * 30
    assert smallest_difference(0.0) == 0.02
    assert smallest_difference(0.03) == 0.03
    assert said_of(constant, constant, 0.0) is SAME
    assert said_of([0.1019] * 30, constant, 0.0) is SAME
    assert said_of([0.1021] * 30, constant, 0.0) is SLOWER


def test_a_verdict_needs_8_blocks() -> None:
    assert [blocks_needed(confidence) for confidence in (0.99, 0.998)] == [8, 10]
    for blocks, said in ((1, UNSURE), (7, UNSURE), (8, FASTER)):
        assert said_of([1.0] * blocks, [2.0] * blocks, 0.0) is said
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
        (1.29, 1.35, 0.101, UNSURE),
        (2.0, 2.1, 0.101, FASTER),
        (0.99, 1.01, 0.101, UNSURE),
    ],
)
def test_verdicts_follow_interval_and_noise_floor(
    low: float, high: float, floor: float, said: Verdict
) -> None:
    assert verdicts([[low] * 15 + [high] * 15], floor) == (said,)


@given(RATIOS, st.floats(min_value=0, max_value=0.11))
def test_the_verdict_on_one_arm_is_what_its_interval_says(
    ratios: list[float], floor: float
) -> None:
    for restarts in (None, [block % 5 for block in range(len(ratios))]):
        ratio = median_interval(ratios, confidence=VERDICT_CONFIDENCE, restarts=restarts)
        labels = None if restarts is None else [restarts]
        assert verdicts([ratios], floor, restarts=labels) == (read(ratio, floor),)


@given(RATIOS, st.floats(min_value=0, max_value=0.1))
def test_a_verdict_turns_round_with_its_ratio(ratios: list[float], floor: float) -> None:
    opposite = {FASTER: SLOWER, SLOWER: FASTER, SAME: SAME, UNSURE: UNSURE}
    (said,) = verdicts([[1.01 * ratio for ratio in ratios]], floor)
    if said in (FASTER, UNSURE):
        (turned,) = verdicts([[1 / ratio / 1.01 for ratio in ratios]], floor)
        assert turned in (opposite[said], UNSURE)


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
    labels = [restart for restart in range(5) for _ in range(6)]
    agreeing = [ratio for ratio in (1.10, 1.07, 1.08, 1.09, 1.06) for _ in range(6)]
    apart = [ratio for ratio in (1.10, 1.0, 1.08, 1.09, 1.06) for _ in range(6)]
    assert verdicts([agreeing, apart], 0.0, restarts=[labels, labels]) == (FASTER, UNSURE)
    assert verdicts([apart], 0.0) == (FASTER,)


def test_two_or_three_restarts_carry_99_percent_only_where_they_agree() -> None:
    for restarts in (2, 3):
        labels = [block % restarts for block in range(30)]
        apart = [(1.08, 1.10, 1.06)[block % restarts] for block in range(30)]
        assert verdicts([apart], 0.0) == (FASTER,)
        assert verdicts([apart], 0.0, restarts=[labels]) == (UNSURE,)
        assert verdicts([[1.08] * 30], 0.0, restarts=[labels]) == (FASTER,)


def test_runs_are_judged_by_their_restarts_and_their_own_least_difference() -> None:
    labels = [block // 6 for block in range(30)]
    before = [(100.0, 101.0, 99.0, 100.5, 99.5)[label] for label in labels]
    now = [1.06 * ns for ns in before]
    slower = of_runs(now, before, now_restarts=labels, before_restarts=labels)
    assert slower.restarts == 5
    assert judged([(slower, 0.02)]) == (SLOWER,)
    assert judged([(slower, 0.05)]) == (UNSURE,)
    assert judged([(slower, 0.10)]) == (SAME,)
    assert restart_range(before, labels) == pytest.approx(101 / 99 - 1)
    assert restart_range(before, [0] * 30) == 0.0


def test_many_rows_of_two_runs_are_judged_more_carefully_than_one() -> None:
    labels = [block // 6 for block in range(30)]
    before = [(100.0, 101.0, 99.0, 100.5, 99.5)[label] for label in labels]
    same = of_runs(before, before, now_restarts=labels, before_restarts=labels)
    slow = [1.045 * ns for ns in before]
    slower = of_runs(slow, before, now_restarts=labels, before_restarts=labels)
    assert judged([(slower, 0.02)]) == (SLOWER,)
    assert judged([(slower, 0.02), *[(same, 0.02)] * 99])[0] is UNSURE


def test_a_noise_floor_over_3_percent_asks_for_care_and_over_10_for_what_is_far_apart() -> None:
    assert [trust(floor) for floor in (0.03, 0.031, 0.1, 0.101)] == [
        Trust.GOOD,
        Trust.CAUTION,
        Trust.CAUTION,
        Trust.LOUD,
    ]
    assert [least_told(floor) for floor in (0.0, 0.1, 0.2)] == [0.02, 0.1, pytest.approx(0.6)]
    assert verdicts([[1.11] * 30], 0.1) == (FASTER,)
    assert verdicts([[1.0] * 30], 0.1) == (SAME,)
    assert verdicts([[ratio] * 30 for ratio in (1.59, 1.61, 0.63, 0.62, 1.0)], 0.2) == (
        UNSURE,
        FASTER,
        UNSURE,
        SLOWER,
        UNSURE,
    )
    # One block in three that says otherwise is no difference, however far apart the others are.
    assert verdicts([[8.0, 8.0, 1.0] * 10], 0.2) == (UNSURE,)


def test_the_noise_floor_is_the_wider_side_of_the_a_a_interval() -> None:
    assert noise_floor([1.0] * 9, [1.25] * 9) == pytest.approx(0.25)
    assert noise_floor([1.25] * 9, [1.0] * 9) == pytest.approx(0.25)
