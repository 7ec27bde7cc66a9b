"""Which samples are clean, and which blocks are kept."""

import pytest

from sealift.lab.stats import Flags, keep_clean


@pytest.mark.parametrize(
    "flags",
    [
        Flags(8_000_000, 0, 1.0, 0),
        Flags(8_000_000, 0, 0.99, 0),
        Flags(8_000_000, 1, 1.0, 0),
        Flags(250_000_000, 40, 1.0, 0),
        Flags(8_000_000, 0, 1.0, 10_000_000),
        Flags(8_000_000, 0, 1.0, 0, clock_share=0.975),
        Flags(8_000_000, 0, 1.0, 0, clock_share=1.025),
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
        Flags(8_000_000, 0, 1.0, 0, clock_share=0.965),
        Flags(8_000_000, 0, 1.0, 0, clock_share=1.035),
    ],
)
def test_switches_lost_cpu_time_steal_or_another_clock_make_a_sample_unclean(flags: Flags) -> None:
    assert not flags.clean


def test_clean_blocks_are_kept_and_all_of_them_when_under_half_are_clean() -> None:
    kept = keep_clean([True, False, True, True])
    assert (kept.blocks, kept.clean_share, kept.busy) == ((0, 2, 3), 0.75, False)
    assert keep_clean([True, False]).blocks == (0,)
    busy = keep_clean([True, False, False])
    assert (busy.blocks, busy.busy) == ((0, 1, 2), True)


def test_no_blocks_are_a_clear_error() -> None:
    with pytest.raises(ValueError, match="no blocks were measured"):
        keep_clean([])
