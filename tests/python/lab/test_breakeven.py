"""Break-evens: where lines cross, which device is faster, and how long a batch has to be."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_card import made_card
from made_rows import BY_SIZE, pair
from sealift import Card, cards
from sealift.lab.breakeven import drawn, lines, needed
from sealift.lab.breakeven.meeting import meetings
from sealift.lab.by_size import chosen
from sealift.lab.record import Record, record
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Verdict

SIZES = (16, 256, 4_096)
EVEN = {"experiment": BY_SIZE, "keys": "one"}


def by_size(
    *ratios: float, verdicts: Sequence[Verdict] = (), sizes: Sequence[int] = SIZES
) -> list[Row]:
    """Library at 100 ns a message, and cpu so many times as fast at each size."""
    said = verdicts or [Verdict.FASTER if each > 1 else Verdict.SLOWER for each in ratios]
    return [
        row
        for size, ratio, verdict in zip(sizes, ratios, said, strict=True)
        for row in pair(ratio, verdict, size_bytes=size)
    ]


def records(rows: Sequence[Row]) -> list[Record]:
    return [record(row, "") for row in rows]


def test_lines_meet_where_they_are_drawn_to_meet() -> None:
    # 100 against 50 and 200: in logarithms half-way between the sizes.
    (size, ns), *others = meetings([(16, 100), (256, 100)], [(16, 50), (256, 200)])
    assert others == []
    assert size == pytest.approx(64)
    assert ns == pytest.approx(100)


@pytest.mark.parametrize(
    ("other", "where"),
    [
        ([(16, 50), (256, 99)], []),
        ([(16, 101), (256, 102)], []),
        ([(16, 100), (256, 100)], []),
        ([(16, 100), (256, 200)], []),
        ([(512, 50), (4_096, 200)], []),
        ([], []),
        ([(16, 50), (64, 100), (256, 200)], [64]),
        ([(16, 50), (64, 100), (256, 50)], []),
        ([(16, 50), (32, 100), (128, 100), (256, 200)], [64]),
        ([(16, 50), (64, 200), (256, 50)], [32, 128]),
    ],
)
def test_lines_meet_only_where_they_change_sides(
    other: list[tuple[float, float]], where: list[float]
) -> None:
    one: list[tuple[float, float]] = [(16, 100), (256, 100)]
    assert [size for size, _ in meetings(one, other)] == pytest.approx(where)
    assert [size for size, _ in meetings(other, one)] == pytest.approx(where)


TIMES = st.lists(st.floats(1, 1e6), min_size=2, max_size=8)


@given(TIMES, TIMES)
def test_at_a_meeting_both_lines_take_the_same(first: list[float], second: list[float]) -> None:
    one, other = ([(16.0 * 4**at, ns) for at, ns in enumerate(times)] for times in (first, second))
    for size, ns in meetings(one, other):
        assert 16 <= size <= 16 * 4 ** (min(len(first), len(second)) - 1)
        for line in (one, other):
            ((low, before), (high, after)) = next(
                (a, b) for a, b in pairwise(line) if a[0] <= size <= b[0]
            )
            share = math.log(size / low) / math.log(high / low)
            assert math.log(ns) == pytest.approx(
                math.log(before) + share * math.log(after / before), abs=1e-6
            )


def test_the_work_that_was_seen_at_the_most_sizes_is_drawn_and_of_equals_that_of_sessions() -> None:
    few = by_size(2.0, 2.0, sizes=(16, 256))
    many = [replace(row, cell={**row.cell, "keys": "fresh"}) for row in by_size(2.0, 2.0, 2.0)]
    assert chosen([*few, *many]) == many
    sessions = [replace(row, cell={**row.cell, "keys": "sessions:1024"}) for row in many]
    assert chosen([*many, *sessions]) == sessions
    assert chosen(by_size(2.0, sizes=(16,))) == []
    assert chosen([]) == []


def test_what_was_computed_wrong_and_what_no_card_can_be_asked_for_is_left_out() -> None:
    rows = by_size(2.0, 2.0, sizes=(16, 256))
    wrong = [replace(row, wrong="another tag") for row in by_size(2.0, sizes=(1_024,))]
    huge = by_size(2.0, sizes=(2**40,))
    torn = [replace(row, cell={**row.cell, "size_bytes": 20.5}) for row in huge]
    assert chosen([*rows, *wrong, *huge, *torn]) == rows


def test_a_card_stands_beside_what_was_measured_with_the_same_batches(tmp_path: Path) -> None:
    card = made_card(tmp_path, way_ns=10_000)
    library, cpu, projected = lines(by_size(2.0, 2.0, 2.0), [card])
    assert (library.origin, cpu.origin, projected.origin) == (
        Origin.MEASURED,
        Origin.MEASURED,
        Origin.PROJECTED,
    )
    assert [spot.size_bytes for spot in projected.spots] == list(SIZES)
    for spot in projected.spots:
        # 1,024 messages share both ways.
        expected = 100 + spot.size_bytes + 2 * 10_000 / 1_024
        assert spot.ns.median == pytest.approx(expected, rel=0.01)
        assert spot.ns.low == spot.ns.high == spot.ns.median


@pytest.mark.parametrize(("way_ns", "messages"), [(0, 1), (1_000, 58), (10_000, 572)])
def test_a_batch_on_a_card_has_to_be_so_long_that_both_ways_are_paid(
    way_ns: float, messages: int, tmp_path: Path
) -> None:
    # Each message saves 50 - 15 = 35 ns, and both ways cost twice `way_ns`.
    card = made_card(tmp_path, message_ns=10, byte_ns=5 / 16, way_ns=way_ns)
    (_, cpu, _) = lines(by_size(2.0, 2.0, sizes=(16, 256)), [card])
    found = needed(card, cpu.spots[0])
    assert found.messages == pytest.approx(messages, abs=1)
    assert found.messages is not None
    device_ns = cpu.spots[0].ns.median
    assert card.predict(found.messages, 16).batch_ns < found.messages * device_ns
    fewer = found.messages - 1
    assert not fewer or card.predict(fewer, 16).batch_ns >= fewer * device_ns
    assert found.fewest is not None
    assert found.most is not None
    assert found.fewest <= found.messages <= found.most


def test_a_card_that_takes_longer_for_each_message_needs_more_than_any_batch_has(
    tmp_path: Path,
) -> None:
    card = made_card(tmp_path)
    (_, cpu, _) = lines(by_size(2.0, 2.0, 2.0), [card])
    found = [needed(card, spot) for spot in cpu.spots]
    assert [each.messages for each in found] == [None, None, None]
    # 116 ns against 50.
    assert found[0].times.median == pytest.approx(116 / 50, rel=0.01)


def test_the_boards_of_2003_never_break_even_with_what_is_measured_here() -> None:
    rows = by_size(2.0, 2.0, 2.0)
    for card in cards():
        (_, cpu, _) = lines(rows, [card])
        assert all(needed(card, spot).messages is None for spot in cpu.spots)


def drawing(rows: Sequence[Row], *described: Card) -> dict[str, Any]:
    return drawn(records(rows), described, where=EVEN)


def test_the_figure_has_a_line_with_a_band_a_device_and_a_dashed_one_a_card(tmp_path: Path) -> None:
    spec = drawing(by_size(2.0, 2.0, 2.0), made_card(tmp_path))
    own: dict[str, list[dict[str, Any]]] = {}
    for value in spec["data"]["values"]:
        own.setdefault(value["series"], []).append(value)
    assert list(own) == ["library", "cpu", "pretend, projected\na card that never was, of one unit"]
    *measured, card = own.values()
    assert all(value["low"] < value["y"] < value["high"] for each in measured for value in each)
    assert {value["origin"] for each in measured for value in each} == {"measured here"}
    assert {(value["origin"], value["low"]) for value in card} == {("projected", None)}
    assert [value["x"] for value in card] == list(SIZES)
    dashed = spec["layer"][2]["encoding"]["strokeDash"]["condition"]
    assert {"test": "datum.origin == 'projected'", "value": [8, 4]} in dashed


def test_lines_that_cross_are_marked_with_the_size_and_others_are_not() -> None:
    crossed = drawing(by_size(2.0, 0.5, 0.5))
    (ring, label) = crossed["layer"][-2:]
    assert (ring["mark"]["type"], label["mark"]["type"]) == ("point", "text")
    (mark,) = label["data"]["values"]
    assert (mark["x"], mark["label"]) == (pytest.approx(64), "64 B")
    assert "library and cpu cross near 64 B" in crossed["description"]
    apart = drawing(by_size(2.0, 2.0, 2.0))
    assert len(apart["layer"]) == len(crossed["layer"]) - 2
    assert "cross" not in apart["description"]


def test_a_card_beside_batches_of_several_lengths_is_refused_with_what_leaves_one(
    tmp_path: Path,
) -> None:
    rows = by_size(2.0, 2.0, 2.0)
    other = [replace(row, cell={**row.cell, "batch": 16}) for row in rows]
    told = "16 B were measured in batches of 16, 1024, and a card takes another time in each; "
    with pytest.raises(ValueError, match=re.escape(told) + "add --where batch=16"):
        drawing([*rows, *other], made_card(tmp_path))
    one = drawn(records([*rows, *other]), [made_card(tmp_path)], where={**EVEN, "batch": 16})
    assert len(one["data"]["values"]) == 3 * len(SIZES)
