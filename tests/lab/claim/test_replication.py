"""By its kind a published figure and the same of a run become a claim."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealift_lab.claim.replication import (
    Replication,
    count,
    evaluate,
    published_claim,
    replication,
    summary,
)
from sealift_lab.claim.words import relation_words
from sealift_lab.model.published import (
    Fact,
    Figure,
    Kind,
    Missing,
    Number,
    Published,
    Rate,
    Scaled,
    Sum,
    Time,
    Times,
)
from sealift_lab.model.results import (
    ArmReport,
    Estimate,
    Ledger,
    Origin,
    Relation,
    Results,
    Row,
    Verdict,
)


def printed(
    kind: Kind, value: float, *, unit: str = "x", origin: Origin = Origin.MEASURED, **more: float
) -> Published:
    return Published(
        "003-T4", "speed-up", value, unit, "table 4", kind, Missing("-"), origin=origin, **more  # type: ignore[arg-type]
    )  # fmt: skip


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
    claim = published_claim(printed(kind, value), Estimate(math.sqrt(low * high), low, high))
    assert claim.relation is relation
    if relation is Relation.INCONCLUSIVE:
        assert claim.reason


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
    exact = published_claim(printed(kind, value), Estimate(here, here, here)).relation
    wide = published_claim(printed(kind, value), Estimate(here, here / widen, here * widen))
    allowed = {exact, Relation.INCONCLUSIVE, Relation.IN_SHAPE}
    if kind is Kind.RATIO:  # about 1 as a whole: no such effect, on whichever side its middle lies
        allowed.add(Relation.DIFFERS)
    assert wide.relation in allowed


def test_only_values_of_the_same_machine_are_ever_reproduced() -> None:
    exactly = Estimate(100, 99, 101)
    assert published_claim(printed(Kind.VALUE, 100), exactly).relation is Relation.SAME
    slower = published_claim(printed(Kind.VALUE, 100, unit="ns"), Estimate(200, 190, 210))
    assert slower.relation is Relation.SLOWER


def test_counts_round_to_their_print_and_a_printed_zero_is_strict() -> None:
    count_of_8 = printed(Kind.COUNT, 8, low=7.5, high=8.5)
    assert published_claim(count_of_8, Estimate(8.2)).relation is Relation.REPRODUCED
    assert published_claim(count_of_8, Estimate(9)).relation is Relation.DIFFERS
    none = printed(Kind.COUNT, 0, low=0, high=0)
    assert published_claim(none, Estimate(1)).relation is Relation.CONTRADICTED


def test_arithmetic_is_judged_by_the_documents_other_figures_and_counted_apart() -> None:
    wrong = printed(Kind.ARITHMETIC, 8, low=9, high=10)
    claim = published_claim(wrong, "nothing is measured")
    assert (claim.relation, claim.ledger) == (Relation.DIFFERS, Ledger.ARITHMETIC)
    assert relation_words(claim) == "its own figures give another value"


def test_too_few_blocks_and_missing_rows_keep_their_reasons() -> None:
    few = published_claim(printed(Kind.RATIO, 2), Estimate(2, reason="3 blocks; 95 % needs 6"))
    assert (few.relation, few.reason) == (Relation.INCONCLUSIVE, "3 blocks; 95 % needs 6")
    none = published_claim(printed(Kind.RATIO, 2), "no GPU")
    assert (none.relation, none.reason) == (Relation.UNTESTED, "no GPU")


def test_only_independent_evidence_counts_as_reproduced_and_ledgers_stay_apart() -> None:
    exact = Estimate(10, 9.9, 10.1)
    figures = [
        printed(Kind.NUMBER, 10, origin=Origin.SIMULATED),
        printed(Kind.NUMBER, 10, origin=Origin.SIMULATED, is_fitted=True),
        printed(Kind.LIMIT, 10, origin=Origin.PROJECTED),
        printed(Kind.RATIO, 10),
    ]
    pairs = [(each, published_claim(each, exact)) for each in figures]
    outcomes = [replication(claim) for _, claim in pairs]
    assert outcomes == [
        Replication.REPRODUCED,
        Replication.NOT_INDEPENDENT,
        Replication.NOT_INDEPENDENT,
        Replication.REPRODUCED,
    ]
    assert count(pairs) == {
        ("003", Ledger.MEASURED): {Replication.REPRODUCED: 1},
        ("003", Ledger.MODELLED): {Replication.REPRODUCED: 1, Replication.NOT_INDEPENDENT: 2},
    }
    absent = printed(Kind.RATIO, 10)
    assert summary([*pairs, (absent, published_claim(absent, "no GPU"))]) == [
        ("Measured", "1 published figure agrees, 1 not here"),
        ("Modelled", "1 published figure agrees"),
    ]


def test_inputs_of_a_model_are_counted_apart_from_what_is_not_here() -> None:
    given = published_claim(printed(Kind.GIVEN, 10), Estimate(10))
    absent = published_claim(printed(Kind.RATIO, 10), "no GPU")
    assert [replication(given), replication(absent)] == [
        Replication.NO_RESULT,
        Replication.UNTESTED,
    ]


HALF = Estimate(0.5, 0.49, 0.51)


def row(device: str, ns: float, ratio: Estimate | None = None, size: int = 128) -> Row:
    cell, time = {"device": device, "size": size}, Estimate(ns, ns - 1, ns + 1)
    of = (Verdict.SLOWER if ratio else None, "", True, 30, 5, 0.01, 1.0)
    return Row("e", size, 0, cell, "device", time, 128, "library", ratio, *of)


def seven(*_: Row) -> Estimate:
    return Estimate(7.0)


def never(*_: Row) -> Estimate:
    raise AssertionError("both stand in one group")


RESULTS = Results(
    [row("library", 100), row("cpu", 200, HALF), row("cpu", 50, size=64)],
    [
        ArmReport("e", {"device": "cuda", "size": 128}, {}, skipped="no GPU"),
        ArmReport("e", {"device": "model"}, {"cycles": 11, "cycles, least": 9, "cycles, most": 12}),
        ArmReport("e", {"device": "none"}, {"cycles, why none": "it has no pipeline"}),
    ],
)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (Rate({"device": "library"}), 1280.0),
        (Rate({"device": "library"}, "operations"), 1e7),
        (Time({"device": "library"}), 100.0),
        (Times({"device": "cpu", "size": 128}, {"device": "library"}), 0.5),
        (Times({"device": "library"}, {"device": "cpu", "size": 128}), 2.0),
        (Times({"device": "cpu", "size": 64}, {"device": "library"}), 7.0),
        (Scaled(Time({"device": "library"}), 0.001), 0.1),
        (Sum((Time({"device": "library"}), Number(1, 0, 2))), 101.0),
        (Fact({"device": "model"}, "cycles"), 11.0),
    ],
)
def test_a_figure_is_had_from_rows_and_facts(figure: Figure, expected: float) -> None:
    found = evaluate(figure, RESULTS, seven)
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        (Missing("not published"), "not published"),
        (Time({"device": "cuda"}), "no GPU"),
        (Time({"device": "cpu"}), "2 rows fit device cpu; right would be one"),
        (Times({"device": "library"}, {"device": "fpga"}), "not among the cells of this run"),
        (Sum((Number(1), Time({"device": "cuda"}))), "no GPU"),
        (Scaled(Missing("none"), 2), "none"),
        (Fact({"device": "none"}, "cycles"), "it has no pipeline"),
    ],
)
def test_what_a_run_lacks_has_a_reason(figure: Figure, reason: str) -> None:
    assert evaluate(figure, RESULTS, seven) == reason


def test_ends_of_sums_and_of_turned_ratios_stay_in_order() -> None:
    turned = evaluate(Times({"device": "library"}, {"device": "cpu", "size": 128}), RESULTS, never)
    assert turned == Estimate(2.0, 1 / 0.51, 1 / 0.49)
    total = evaluate(Sum((Number(1, 0, 3), Number(10, 9, 20))), RESULTS, never)
    assert total == Estimate(11, 9, 23)
    assert evaluate(Sum((Number(1, 0, 3), Number(10))), RESULTS, never) == Estimate(11)
