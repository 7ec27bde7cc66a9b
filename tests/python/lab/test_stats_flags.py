"""Which samples are clean, and which blocks are kept."""

import pytest

from sealift.lab.stats import Flags, is_one_arms_doing, keep_clean


@pytest.mark.parametrize(
    "flags",
    [
        Flags(8_000_000, 0, 1.0, 0),
        Flags(8_000_000, 0, 0.99, 0),
        Flags(8_000_000, 1, 1.0, 0),
        Flags(250_000_000, 40, 1.0, 0),
        Flags(8_000_000, 0, 1.0, 10_000_000),
        Flags(8_000_000, 0, 1.0, 0, clock_share=0.9),
    ],
)
def test_a_sample_is_clean_when_disturbances_cost_it_little(flags: Flags) -> None:
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


@pytest.mark.parametrize("share", [0.965, 1.035])
def test_a_clock_over_3_percent_from_the_usual_one_is_off(share: float) -> None:
    assert Flags(8_000_000, 0, 1.0, 0, clock_share=share).off_clock


@pytest.mark.parametrize("share", [None, 0.975, 1.025])
def test_an_unknown_clock_and_one_near_the_usual_are_not_off(share: float | None) -> None:
    assert not Flags(8_000_000, 0, 1.0, 0, clock_share=share).off_clock


def test_clean_blocks_are_kept_when_they_are_half_of_all_or_8() -> None:
    kept = keep_clean([True, False, True, True])
    assert (kept.blocks, kept.clean_share, kept.unclean, kept.busy) == (
        (0, 2, 3),
        0.75,
        False,
        False,
    )
    assert keep_clean([True, False]).blocks == (0,)
    few = keep_clean([True] * 8 + [False] * 22)
    assert (few.blocks, few.unclean, few.busy) == (tuple(range(8)), False, True)
    unclean = keep_clean([True] * 7 + [False] * 23)
    assert (unclean.blocks, unclean.unclean, unclean.busy) == (tuple(range(30)), True, True)


def test_samples_off_the_clock_are_one_arms_doing_when_they_gather_there() -> None:
    assert is_one_arms_doing(12, 30, 12, 60)
    assert not is_one_arms_doing(0, 30, 12, 60)
    assert not is_one_arms_doing(6, 30, 12, 60)
    assert not is_one_arms_doing(6, 30, 6, 60)
    assert is_one_arms_doing(6, 30, 6, 180)
    assert not is_one_arms_doing(12, 30, 12, 30)
    assert not is_one_arms_doing(0, 30, 0, 60)


def test_no_blocks_are_a_clear_error() -> None:
    with pytest.raises(ValueError, match="no blocks were measured"):
        keep_clean([])
