"""Conditions that leave few enough lines of too many."""

from collections.abc import Sequence
from itertools import product

import pytest

from sealift.lab.narrowing import Drawing, narrowing, varied
from sealift.lab.record import Record
from sealift.lab.values import Value

AXES = ("experiment", "device", "keys")


def rows_of(sizes: dict[str, int]) -> list[Record]:
    """Two devices under three key regimes, at some sizes of each experiment."""
    return [
        {"experiment": name, "device": device, "keys": keys, "size_bytes": size}
        for name, count in sizes.items()
        for device, keys, size in product(
            ("cpu", "library"), ("one", "many", "fresh"), range(count)
        )
    ]


def lines(rows: Sequence[Record]) -> int:
    return len({tuple(row[name] for name in AXES) for row in rows})


def kept(rows: Sequence[Record], conditions: dict[str, Value]) -> list[Record]:
    return [row for row in rows if all(row[name] == value for name, value in conditions.items())]


def test_the_experiment_with_the_longest_lines_is_chosen_first() -> None:
    rows = rows_of({"short": 1, "long": 7, "middle": 3})
    assert narrowing(rows, Drawing("size_bytes", AXES, lines, 6)) == {"experiment": "long"}
    assert narrowing(rows, Drawing("device", AXES, lines, 6)) == {"experiment": "short"}
    # One device of all three would leave as many as may be.
    assert narrowing(rows, Drawing("size_bytes", AXES, lines, 9)) == {"experiment": "long"}


@pytest.mark.parametrize("most", range(1, 20))
def test_what_is_left_can_be_drawn_and_is_something(most: int) -> None:
    rows = rows_of({"short": 1, "long": 7, "middle": 3})
    conditions = narrowing(rows, Drawing("size_bytes", AXES, lines, most))
    assert 1 <= lines(kept(rows, conditions)) <= most


def test_no_more_lines_are_left_out_than_must_be() -> None:
    rows = rows_of({"one": 2})
    drawing = Drawing("size_bytes", AXES, lines, 3)
    assert narrowing(rows, drawing) == {"device": "cpu"}
    assert narrowing(rows, Drawing("size_bytes", AXES, lines, 2)) == {"keys": "one"}
    assert narrowing(rows, Drawing("size_bytes", AXES, lines, 6)) == {}


def test_a_column_that_some_rows_do_not_have_is_narrowed_by_a_value_that_there_is() -> None:
    rows: list[Record] = [{"load": None}, {"load": "none"}, {"load": "much"}]
    drawing = Drawing("x", ["load"], len, 1)
    assert narrowing(rows, drawing) == {"load": "none"}


def test_columns_that_differ_are_counted() -> None:
    rows = rows_of({"one": 2})
    assert varied(rows, [*AXES, "size_bytes"]) == {"device": 2, "keys": 3, "size_bytes": 2}
