"""A published figure and the same of a run become a claim, which is counted."""

import pytest
from tests.lab.judge.made_up import printed

from sealift_lab.claim.replication import (
    Replication,
    count,
    evaluate,
    published_claim,
    replication,
)
from sealift_lab.claim.words import relation_words
from sealift_lab.model.published import (
    Fact,
    Figure,
    Kind,
    Missing,
    Number,
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


def test_arithmetic_on_the_print_is_counted_apart() -> None:
    claim = published_claim(printed(Kind.ARITHMETIC, 8, low=9, high=10), "nothing is measured")
    assert (claim.relation, claim.ledger) == (Relation.DIFFERS, Ledger.ARITHMETIC)
    assert relation_words(claim) == "its own figures give another value"


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
