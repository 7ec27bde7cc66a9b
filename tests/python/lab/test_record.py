"""Rows as columns: what a reader of summary.csv may conclude."""

from dataclasses import replace
from typing import Any

import pytest

from made_rows import pair
from sealift.lab.record import record
from sealift.lab.stats import Verdict


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"winner": True, "verdict": Verdict.FASTER}, "yes"),
        ({"winner": True, "verdict": Verdict.SAME}, "yes"),
        ({"winner": True, "verdict": Verdict.UNSURE}, "unknown"),
        ({"winner": True, "verdict": Verdict.FASTER, "blocks": 7}, "unknown"),
        ({"winner": True, "verdict": None, "noise_floor": 0.2}, "unknown"),
        ({"winner": False, "verdict": Verdict.SLOWER}, "no"),
    ],
)
def test_a_winner_is_one_only_where_something_could_be_shown(
    changes: dict[str, Any], said: str
) -> None:
    row = replace(pair(2.0, Verdict.FASTER)[1], **{"blocks": 30, "noise_floor": 0.01, **changes})
    assert record(row, "")["winner"] == said


def test_sizes_keep_all_their_digits() -> None:
    row = pair(2.0, Verdict.FASTER)[1]
    assert record(replace(row, payload_bytes=16_384.0), "")["payload_bytes"] == 16_384
    assert record(replace(row, payload_bytes=28.25), "")["payload_bytes"] == 28.25
