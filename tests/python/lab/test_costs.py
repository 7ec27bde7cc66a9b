"""The straight line through what batches took."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealift.lab.costs import Line, Point, fit

SHAPES = [(messages, size) for messages in (1, 4, 1_024) for size in (16, 128, 4_096)]
PARTS = st.one_of(st.just(0.0), st.floats(1e-3, 1e5))


def points(line: Line, shapes: list[tuple[int, int]] = SHAPES) -> list[Point]:
    return [Point(count, size, line.batch_ns(count, size)) for count, size in shapes]


@given(PARTS, PARTS, PARTS)
def test_a_line_is_found_again(setup: float, message: float, byte: float) -> None:
    line = Line(setup, message, byte)
    if not any((setup, message, byte)):
        return
    found = fit(points(line))
    assert found.worst_share < 1e-4
    for count, size in SHAPES:
        assert found.batch_ns(count, size) == pytest.approx(line.batch_ns(count, size), rel=1e-4)


def test_the_worst_error_is_that_of_the_worst_point() -> None:
    line = Line(600, 27, 0.046)
    off = [*points(line)[:-1], Point(1_024, 4_096, 1.2 * line.batch_ns(1_024, 4_096))]
    found = fit(off)
    errors = [
        abs(found.batch_ns(each.messages, each.message_bytes) / each.batch_ns - 1) for each in off
    ]
    assert found.worst_share == pytest.approx(max(errors))
    assert 0.02 < found.worst_share < 0.2


def test_small_batches_count_as_much_as_large_ones() -> None:
    """By absolute errors the ten per cent of the batch of a second would be all that counts."""
    points_ = [Point(1, 16, 1_000), Point(1, 16, 1_000), Point(1_000_000, 1_024, 1e9)]
    found = fit(points_)
    assert found.batch_ns(1, 16) == pytest.approx(1_000, rel=1e-3)


def test_no_part_is_below_zero_where_a_free_fit_would_have_it_so() -> None:
    # Larger messages that take less: a byte that costs nothing is the nearest there is.
    found = fit([Point(1, 16, 1_000), Point(1, 1_024, 900), Point(2, 16, 1_500)])
    assert min(found.setup_ns, found.per_message_ns, found.per_byte_ns) == 0.0 == found.per_byte_ns
    # A second message for more than the first: no set-up.
    assert fit([Point(1, 0, 100), Point(2, 0, 300)]).setup_ns == 0.0


@pytest.mark.parametrize("shapes", [[(1, 16)], [(1, 16), (1, 128)], [(1, 16), (4, 16)]])
def test_few_points_are_met(shapes: list[tuple[int, int]]) -> None:
    assert fit(points(Line(600, 27, 0.046), shapes)).worst_share < 1e-6
