"""A published figure's expression becomes an estimate of a run, or says why there is none."""

import pytest

from sealift_lab.claim.evaluate import evaluate
from sealift_lab.model.figure import Fact, Figure, Missing, Number, Rate, Scaled, Sum, Time, Times
from sealift_lab.model.results import ArmReport, Estimate, Results, Row, Verdict

HALF = Estimate(0.5, 0.49, 0.51)


def row(device: str, ns: float, ratio: Estimate | None = None, size: int = 128) -> Row:
    return Row(
        experiment="e",
        group=size,
        arm=0,
        cell={"device": device, "size": size},
        compare="device",
        time=Estimate(ns, ns - 1, ns + 1),
        payload_bytes=128,
        reference="library",
        ratio=ratio,
        verdict=Verdict.SLOWER if ratio else None,
        reason="",
        is_winner=True,
        blocks=30,
        processes=5,
        noise=0.01,
        clean_share=1.0,
    )


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
