"""Planted warm-ups and drifts are found, and what is warm and steady is left alone."""

import math
import random

import pytest

from made_series import heavy_tailed
from sealift.lab.stats import drift, is_steady, noise_floor, warm_up_blocks


def noisy(generator: random.Random, blocks: int, scale: float = 0.01) -> list[float]:
    return [100 * (1 + generator.gauss(0, scale)) for _ in range(blocks)]


@pytest.mark.parametrize(
    ("blocks", "cold", "cut"),
    [(30, 5, (5,)), (30, 8, (10,)), (60, 12, (10, 15)), (60, 13, (15,)), (10, 2, (2,))],
)
def test_a_planted_warm_up_is_cut_off(blocks: int, cold: int, cut: tuple[int, ...]) -> None:
    generator = random.Random(1)
    found = 0
    for _ in range(100):
        times = noisy(generator, blocks)
        times[:cold] = [ns * 1.3 for ns in times[:cold]]
        found += warm_up_blocks(times, 0.01) in cut
    assert found >= 95


def test_a_warm_up_that_fades_is_cut_where_it_is_small() -> None:
    generator = random.Random(2)
    for _ in range(50):
        times = [
            ns * (1 + 0.5 * math.exp(-block / 3)) for block, ns in enumerate(noisy(generator, 60))
        ]
        assert warm_up_blocks(times, 0.01) in (10, 15)


def test_a_warm_series_keeps_its_blocks_even_when_a_neighbour_bursts_at_its_start() -> None:
    generator = random.Random(3)
    kept = 0
    for _ in range(500):
        times = heavy_tailed(generator, 30)
        times[1] *= 3
        kept += warm_up_blocks(times, 0.01) == 0
    assert kept >= 440


def test_a_warm_up_within_the_noise_is_no_reason_to_lose_blocks() -> None:
    times = [102.5] * 5 + [100.0] * 25
    assert warm_up_blocks(times, 0.01) == 5
    assert warm_up_blocks(times, 0.03) == 0


def test_at_most_half_of_the_blocks_are_cut_and_none_of_very_few() -> None:
    assert warm_up_blocks([200.0] * 28 + [100.0] * 2, 0.01) <= 15
    assert warm_up_blocks([200.0, 100.0, 100.0], 0.01) == 0
    assert warm_up_blocks([], 0.01) == 0


def test_steady_noise_counts_as_steady() -> None:
    generator = random.Random(4)
    steady = 0
    for _ in range(300):
        first, again = heavy_tailed(generator, 30), heavy_tailed(generator, 30)
        steady += is_steady(drift(first), noise_floor(first, again))
    assert steady >= 297


@pytest.mark.parametrize("share", [0.1, -0.1])
def test_a_planted_drift_is_measured_and_flagged(share: float) -> None:
    generator = random.Random(5)
    flagged = 0
    for _ in range(100):
        times = [ns * (1 + share) ** (block / 29) for block, ns in enumerate(noisy(generator, 30))]
        found = drift(times)
        assert found.low <= found.median <= found.high
        assert found.median == pytest.approx(1 + share, abs=0.04)
        flagged += not is_steady(found, 0.01)
    assert flagged >= 95


def test_bursts_are_no_drift() -> None:
    generator = random.Random(6)
    times = noisy(generator, 30)
    for block in (24, 26, 28, 29):
        times[block] *= 4
    assert is_steady(drift(times), 0.01)


def test_only_blocks_of_one_restart_are_compared() -> None:
    generator = random.Random(7)
    times = [ns * 1.5 if block >= 15 else ns for block, ns in enumerate(noisy(generator, 30))]
    labels = [block // 15 for block in range(30)]
    assert not is_steady(drift(times), 0.01)
    assert is_steady(drift(times, restarts=labels), 0.01)


def test_blocks_that_were_left_out_keep_their_time() -> None:
    times = [100 * 1.01**block for block in range(30)]
    every_third = list(range(0, 30, 3))
    found = drift([times[block] for block in every_third], places=every_third)
    assert found.median == pytest.approx(1.01**27)
    assert drift(times).median == pytest.approx(1.01**29)


def test_one_block_does_not_drift() -> None:
    found = drift([5.0])
    assert (found.low, found.median, found.high) == (1.0, 1.0, 1.0)
    assert is_steady(found, 0.0)


def test_what_is_no_time_is_refused() -> None:
    for call in (lambda: drift([1.0, 0.0]), lambda: warm_up_blocks([1.0, math.nan], 0.0)):
        with pytest.raises(ValueError, match="a time must be above 0"):
            call()
