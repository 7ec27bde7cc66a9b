"""Where lines bend, where they cross, and what batches cost."""

import random

import pytest

from sealift_lab.judge.lines import (
    BatchTime,
    BreakEven,
    CostLine,
    break_even,
    breakpoint_of,
    fit,
    stretches,
)
from sealift_lab.model.results import Estimate, Verdict

POWERS = [float(1 << power) for power in range(11)]
F, S, SAME, OPEN = Verdict.FASTER, Verdict.SLOWER, Verdict.SAME, Verdict.INCONCLUSIVE


def bent(at: float, *, noise: float = 0.0, seed: int = 1) -> list[tuple[float, float]]:
    drawn = random.Random(seed)
    return [(x, min(x, at) / at * drawn.lognormvariate(0, noise)) for x in POWERS]


@pytest.mark.parametrize("at", [4.0, 32.0, 128.0])
def test_a_line_that_goes_flat_bends_where_it_does(at: float) -> None:
    found = breakpoint_of([(x, 1_000 * y) for x, y in reversed(bent(at))])
    assert found is not None
    assert [found.value, found.low, found.high] == pytest.approx([at] * 3, rel=0.05)


def test_the_interval_holds_the_bend_about_as_often_as_it_says() -> None:
    found = [breakpoint_of(bent(50.0, noise=0.1, seed=seed)) for seed in range(50)]
    # Of 50 at 95 %: 43 or fewer would come by chance once in 100.
    assert sum(each is not None and each.low <= 50 <= each.high for each in found) >= 43


def test_what_is_straight_has_no_bend() -> None:
    assert breakpoint_of([(x, 3 * x**0.7) for x in POWERS]) is None
    assert breakpoint_of([(x, 5.0) for x in POWERS]) is None
    noise = [
        [(x, x * random.Random(seed + x).lognormvariate(0, 0.1)) for x in POWERS]
        for seed in range(50)
    ]
    assert sum(breakpoint_of(line) is not None for line in noise) <= 5


def test_what_is_no_line_is_refused() -> None:
    line = [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0), (8.0, 8.0), (16.0, 8.0)]
    with pytest.raises(ValueError, match="5 places of a line; two segments need 6"):
        breakpoint_of(line)
    for place, value in ((0, 1), (2, 0)):
        with pytest.raises(ValueError, match=f"a line with {value} at {place}"):
            breakpoint_of([*line, (place, value)])


def test_models_are_told_apart_beyond_the_margin_and_their_error() -> None:
    models = (lambda size: 100 + size, lambda size: 2 * size, [50, 90, 99, 101, 120, 200])
    assert stretches(*models) == [(S, 50, 90), (SAME, 99, 101), (F, 120, 200)]
    assert stretches(*models, error=0.2) == [(S, 50, 50), (OPEN, 90, 120), (F, 200, 200)]


def test_a_break_even_has_the_ends_of_the_measured_time() -> None:
    found = break_even(lambda n: 1_000 / n + 10, Estimate(20, 15, 25), 1 << 16)
    assert found == BreakEven(messages=101, fewest=67, most=201)
    assert break_even(lambda n: 1_000 / n + 10, Estimate(9), 1 << 16).messages is None


def test_a_cost_line_is_found_again_with_no_part_below_0() -> None:
    line = CostLine(500, 12, 0.25)
    shapes = [(1, 16), (1, 4_096), (64, 128), (1_024, 16), (1_024, 16_384)]
    found = fit([BatchTime(n, size, line.batch_ns(n, size)) for n, size in shapes])
    assert [*vars(found).values()] == pytest.approx([500, 12, 0.25, 0], rel=1e-6, abs=1e-9)
    found = fit([BatchTime(1, 16, 100), BatchTime(10, 16, 200), BatchTime(1, 1_000, 90)])
    assert min(found.setup_ns, found.per_message_ns, found.per_byte_ns) >= 0
    assert found.worst_share > 0.01
    alone = fit([BatchTime(1, 64, 80.0)])
    assert alone.batch_ns(1, 64) == pytest.approx(80)
