"""The pieces of work of a bench: how many messages each has."""

import pytest

from sealift.lab.grid import Axes, messages_for, sizes_grid, stated_grid
from sealift.lab.workload import FRESH_KEYS, MAX_MESSAGES, ONE_KEY, SEAL_ONLY, Keys, Regime


def sessions(count: int) -> Regime:
    return Regime(Keys.SESSIONS, count)


@pytest.mark.parametrize(
    ("size_bytes", "batch", "regime", "messages"),
    [
        (128, 1_024, ONE_KEY, 8_192),
        (128, 1_024, FRESH_KEYS, 8_192),
        (16_384, 1_024, ONE_KEY, 1_024),
        (16_384, 1_000, ONE_KEY, 2_000),
        (16_384, 1_024, sessions(1_025), 2_048),
        (128, 1_024, sessions(100_000), 100_352),
        (128, 1_024, sessions(MAX_MESSAGES), MAX_MESSAGES),
    ],
)
def test_messages_are_whole_batches_and_as_many_as_sessions(
    size_bytes: int, batch: int, regime: Regime, messages: int
) -> None:
    assert messages_for(size_bytes, batch, regime) == messages


def test_every_grid_has_a_message_for_each_session() -> None:
    axes = Axes(("library",), (1,), 1_024, 1)
    wide = (sessions(50_000),)
    for cell in (
        *sizes_grid(axes, (16, 16_384), wide, SEAL_ONLY, 128),
        *stated_grid(axes, wide),
    ):
        assert cell.workload.messages == 50_176
