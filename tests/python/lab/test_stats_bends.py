"""Where lines bend: two segments that meet, on lines whose bend is known."""

import random

import pytest

from sealift.lab.stats import bend

POWERS = [float(1 << power) for power in range(11)]


def bent(at: float, places: list[float], *, before: float = 1.0, after: float = 0.0) -> list[float]:
    """Values of a line that goes with these powers of its places before and behind a bend."""
    return [(min(x, at) / at) ** before * (max(x, at) / at) ** after for x in places]


@pytest.mark.parametrize("at", [4.0, 32.0, 128.0])
def test_a_line_that_goes_flat_bends_where_it_does(at: float) -> None:
    found = bend(list(zip(POWERS, bent(at, POWERS), strict=True)))
    assert found is not None
    assert found.at == pytest.approx(at, rel=1e-6)
    assert [found.before, found.after] == pytest.approx([1, 0], abs=1e-9)
    assert found.low == pytest.approx(at, rel=0.05)
    assert found.high == pytest.approx(at, rel=0.05)
    assert found.points == len(POWERS)


def test_a_bend_between_two_places_is_found_there() -> None:
    places = [float(x) for x in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96)]
    found = bend(list(zip(places, bent(36.0, places), strict=True)))
    assert found is not None
    assert found.at == pytest.approx(36, rel=0.02)


def test_slopes_are_those_of_the_line() -> None:
    line = list(zip(POWERS, bent(16.0, POWERS, before=0.9, after=-0.5), strict=True))
    found = bend(line)
    assert found is not None
    assert [found.before, found.after] == pytest.approx([0.9, -0.5])


def test_neither_order_nor_units_move_a_bend() -> None:
    drawn = random.Random(5)
    line = [
        (x, y * drawn.lognormvariate(0, 0.05))
        for x, y in zip(POWERS, bent(32.0, POWERS), strict=True)
    ]
    one = bend(line)
    other = bend([(x, 1_000 * y) for x, y in reversed(line)])
    assert one is not None
    assert other is not None
    assert other.at == pytest.approx(one.at)
    assert [other.low, other.high] == pytest.approx([one.low, one.high])


def test_the_interval_holds_the_bend_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(DRAWS):
        drawn = random.Random(seed)
        line = [
            (x, y * drawn.lognormvariate(0, 0.1))
            for x, y in zip(POWERS, bent(50.0, POWERS), strict=True)
        ]
        found = bend(line)
        assert found is not None
        assert found.low <= found.at <= found.high
        held += found.low <= 50.0 <= found.high
    # Of 50 at 95 %: 43 or fewer would come by chance once in 100.
    assert held >= 43


def test_what_is_straight_has_no_bend() -> None:
    assert bend([(x, 3 * x**0.7) for x in POWERS]) is None
    assert bend([(x, 5.0) for x in POWERS]) is None
    hardly = bent(32.0, POWERS, before=0.5, after=0.4)
    assert bend(list(zip(POWERS, hardly, strict=True))) is None


def test_noise_alone_seldom_has_a_bend() -> None:
    bends = 0
    for seed in range(DRAWS):
        drawn = random.Random(seed)
        bends += bend([(x, x * drawn.lognormvariate(0, 0.1)) for x in POWERS]) is not None
    assert bends <= DRAWS // 10


def test_an_interval_that_reaches_the_edge_is_open_there() -> None:
    drawn = random.Random(1)
    at = POWERS[-2]
    values = bent(at, POWERS)
    found = bend(
        [(x, y * drawn.lognormvariate(0, 0.05)) for x, y in zip(POWERS, values, strict=True)]
    )
    assert found is not None
    assert found.high == pytest.approx(POWERS[-1])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([(1, 1), (2, 2), (4, 4), (8, 8), (16, 8)], "5 places of a line; two segments need 6"),
        ([(1, 1)] * 9, "1 places"),
        ([(0, 1), (2, 2), (4, 4), (8, 8), (16, 8), (32, 8)], "a line with 1 at 0"),
        ([(1, 1), (2, 0), (4, 4), (8, 8), (16, 8), (32, 8)], "a line with 0 at 2"),
    ],
)
def test_what_is_no_line_is_refused(line: list[tuple[float, float]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bend(line)


DRAWS = 50
