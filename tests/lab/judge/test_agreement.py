"""The kind of a published figure decides, on the whole interval of a run's figure."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.judge.made_up import printed

from sealift_lab.judge.agreement import agreement
from sealift_lab.model.published import Kind
from sealift_lab.model.results import Estimate, Origin, Relation


@pytest.mark.parametrize(
    ("kind", "value", "here", "relation"),
    [
        (Kind.VALUE, 100, (95, 105), Relation.SAME),
        (Kind.VALUE, 100, (150, 160), Relation.FASTER),
        (Kind.VALUE, 100, (50, 60), Relation.SLOWER),
        (Kind.VALUE, 100, (80, 105), Relation.INCONCLUSIVE),
        (Kind.RATIO, 2, (1.9, 2.1), Relation.REPRODUCED),
        (Kind.RATIO, 2, (3, 4), Relation.DIFFERS),
        (Kind.RATIO, 2, (1.2, 1.5), Relation.DIFFERS),
        (Kind.RATIO, 2, (0.5, 0.6), Relation.CONTRADICTED),
        (Kind.RATIO, 2, (0.98, 1.02), Relation.DIFFERS),
        (Kind.RATIO, 0.5, (1.2, 1.5), Relation.CONTRADICTED),
        (Kind.RATIO, 0.5, (0.1, 0.2), Relation.DIFFERS),
        (Kind.RATIO, 2, (0.8, 1.9), Relation.INCONCLUSIVE),
        (Kind.SLOPE, 1, (0.95, 1.05), Relation.REPRODUCED),
        (Kind.SLOPE, 1, (0.5, 0.6), Relation.DIFFERS),
        (Kind.SHAPE, 1, (1.03, 1.05), Relation.HOLDS),
        (Kind.SHAPE, 1, (0.9, 0.95), Relation.CONTRADICTED),
        (Kind.SHAPE, 1, (0.99, 1.01), Relation.DIFFERS),
        (Kind.SHAPE, 1, (0.99, 1.2), Relation.INCONCLUSIVE),
        (Kind.READING, 1, (0.9, 0.95), Relation.DIFFERS),
        (Kind.NUMBER, 10, (9.5, 10.5), Relation.REPRODUCED),
        (Kind.NUMBER, 10, (12, 13), Relation.CONTRADICTED),
        (Kind.NUMBER, 10, (5, 20), Relation.INCONCLUSIVE),
        (Kind.POINT, 10, (12, 13), Relation.IN_SHAPE),
        (Kind.POINT, 10, (16, 17), Relation.CONTRADICTED),
        (Kind.LIMIT, 10, (9.5, 10.5), Relation.SAME),
        (Kind.GIVEN, 10, (9.5, 10.5), Relation.UNTESTED),
    ],
)
def test_the_kind_decides_by_the_whole_interval(
    kind: Kind, value: float, here: tuple[float, float], relation: Relation
) -> None:
    low, high = here
    found, why = agreement(printed(kind, value), Estimate(math.sqrt(low * high), low, high))
    assert found is relation
    if relation is Relation.INCONCLUSIVE:
        assert why


@given(
    kind=st.sampled_from([k for k in Kind if k not in (Kind.COUNT, Kind.ARITHMETIC)]),
    value=st.floats(0.1, 100).filter(lambda value: value != 1),
    times=st.floats(0.01, 100),
    widen=st.floats(1, 3),
)
def test_a_wider_interval_never_settles_more_nor_otherwise(
    kind: Kind, value: float, times: float, widen: float
) -> None:
    here = value * times
    exact, _ = agreement(printed(kind, value), Estimate(here, here, here))
    wide, _ = agreement(printed(kind, value), Estimate(here, here / widen, here * widen))
    allowed = {exact, Relation.INCONCLUSIVE, Relation.IN_SHAPE}
    if kind is Kind.RATIO:  # about 1 as a whole: no such effect, on whichever side its middle lies
        allowed.add(Relation.DIFFERS)
    assert wide in allowed


def test_of_a_time_more_is_slower() -> None:
    slower, _ = agreement(printed(Kind.VALUE, 100, unit="ns"), Estimate(200, 190, 210))
    assert slower is Relation.SLOWER


def test_counts_round_to_their_print_and_a_printed_zero_is_strict() -> None:
    of_8, of_none = (printed(Kind.COUNT, n, low=n and n - 0.5, high=n and n + 0.5) for n in (8, 0))
    assert agreement(of_8, Estimate(8.2)) == (Relation.REPRODUCED, "")
    assert agreement(of_8, Estimate(9)) == (Relation.DIFFERS, "")
    assert agreement(of_none, Estimate(1)) == (Relation.CONTRADICTED, "")


def test_arithmetic_is_judged_by_the_documents_other_figures_alone() -> None:
    wrong, right = (printed(Kind.ARITHMETIC, 8, low=low, high=10) for low in (9, 7))
    assert agreement(wrong, "nothing is measured") == (Relation.DIFFERS, "")
    assert agreement(right, Estimate(20)) == (Relation.REPRODUCED, "")


def test_a_point_or_a_shape_of_a_model_is_reproduced_in_shape() -> None:
    shape = printed(Kind.SHAPE, 1, origin=Origin.SIMULATED)
    assert agreement(shape, Estimate(1.2, 1.1, 1.3)) == (Relation.IN_SHAPE, "")
    assert agreement(shape, Estimate(1.01)) == (Relation.CONTRADICTED, "")
    assert agreement(printed(Kind.POINT, 10), Estimate(14.9)) == (Relation.IN_SHAPE, "")


def test_too_few_blocks_and_missing_rows_keep_their_reasons() -> None:
    few = Estimate(2, reason="3 blocks; 95 % needs 6")
    assert agreement(printed(Kind.RATIO, 2), few) == (Relation.INCONCLUSIVE, few.reason)
    assert agreement(printed(Kind.RATIO, 2), "no GPU") == (Relation.UNTESTED, "no GPU")
