"""Student's t against its tables, and what it says of restarts."""

import math
import random

import pytest

from sealift.lab.stats.student import Student, above, quantile

# Two-sided 95 % and 99 %, from the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TABLE = {
    1: (12.706, 63.657),
    2: (4.303, 9.925),
    3: (3.182, 5.841),
    4: (2.776, 4.604),
    5: (2.571, 4.032),
    9: (2.262, 3.250),
    10: (2.228, 3.169),
    30: (2.042, 2.750),
}


@pytest.mark.parametrize(("freedom", "values"), TABLE.items())
def test_quantiles_are_those_of_the_tables(freedom: int, values: tuple[float, float]) -> None:
    found = [quantile(tail, freedom) for tail in (0.025, 0.005)]
    assert [round(value, 3) for value in found] == list(values)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 8])
def test_a_quantile_is_passed_as_often_as_it_says(freedom: int) -> None:
    for tail in (0.4, 0.1, 1e-3, 1e-5):
        assert above(quantile(tail, freedom), freedom) == pytest.approx(tail, rel=1e-6)
        assert above(-quantile(tail, freedom), freedom) == pytest.approx(1 - tail)
    assert above(0.0, freedom) == 0.5


def test_levels_and_intervals_of_restarts_agree() -> None:
    restarts = Student.of([100.0, 103.0, 101.0, 99.0, 102.0])
    low, high = restarts.interval(0.99)
    assert low < 99.0 < 103.0 < high
    assert restarts.at_most(low) == pytest.approx(0.005)
    assert restarts.at_least(high) == pytest.approx(0.005)


def test_restarts_that_agree_leave_no_doubt() -> None:
    same = Student.of([0.1] * 5)
    assert same.interval(0.99) == (0.1, 0.1)
    assert (same.at_most(0.1), same.at_most(0.09), same.at_least(0.11)) == (1.0, 0.0, 0.0)
    assert same.over(same).interval(0.99) == (1.0, 1.0)


def test_welch_freedom_lies_between_the_lesser_and_the_sum() -> None:
    generator = random.Random(1)
    for _ in range(100):
        one, other = (
            Student.of([100 * math.exp(generator.gauss(0, sd)) for _ in range(5)])
            for sd in (0.01, generator.choice((0.001, 0.01, 0.1)))
        )
        assert 4 <= one.over(other).freedom <= 8


def test_the_ratio_of_independent_restarts_covers_the_truth() -> None:
    generator = random.Random(2)
    covered = 0
    for _ in range(1_000):
        one, other = (
            Student.of([100 * math.exp(generator.gauss(0, 0.02)) for _ in range(count)])
            for count in (5, 3)
        )
        low, high = one.over(other).interval(0.95)
        covered += low <= 1 <= high
    assert 935 <= covered <= 990
