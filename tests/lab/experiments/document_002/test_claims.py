"""Claims of document 002 in words: kinds, values, and which of them are evidence."""

from collections.abc import Callable

import pytest

from sealift_lab.experiments.document_002.claims import (
    CLAIMS,
    EXPERIMENT,
    HERE,
    TABLE,
    THREE_OVER_FOUR,
    rows,
)
from sealift_lab.model.published import Fact, Kind, Missing, Published, table
from sealift_lab.model.results import Results

Compute = Callable[[str], Results]
GIVEN = {
    *("7751-util", "7751-bus-max", "clock-int-a", "clock-int-b", "5820-bus-max", "5820-rated"),
    *("5820-max", "mem-write", "mem-writes", "spl-delay", "shared-irq"),
}
BEYOND = {"7751-bridge", "user-time-16k", "isa-bus", "slow-slot", "mem-reads"}
NOT_SO = {
    *("small-int", "large-int", "5820-small-int-high", "kernel-time", "kernel-time-16k"),
    *("convoy", THREE_OVER_FOUR),
}


@pytest.fixture(name="claims")
def fixture_claims(computed: Compute) -> dict[str, tuple[Published, float | None]]:
    """By claim: the published figure, and the mean that seeds gave."""
    results = computed("002-X1")
    found = {}
    for row, published in zip(rows(), EXPERIMENT.published(results), strict=True):
        (report,) = results.facts(claim=row["claim_id"])
        value = report.facts.get(HERE)
        found[row["claim_id"]] = (published, None if value is None else float(value))
    return found


def test_each_claim_has_a_kind_and_the_model_gives_those_that_it_should(
    claims: dict[str, tuple[Published, float | None]],
) -> None:
    assert claims.keys() == CLAIMS.keys()
    assert {*claims} == {*(row["claim_id"] for row in table(TABLE)), THREE_OVER_FOUR}
    assert {name for name, (each, _) in claims.items() if each.kind is Kind.GIVEN} == GIVEN
    assert {name for name, (each, _) in claims.items() if each.kind is Kind.BEYOND} == BEYOND
    for name, (published, value) in claims.items():
        assert isinstance(published.here, Missing) == (value is None) == (name in GIVEN | BEYOND)
        if value is not None:
            is_number = published.kind is Kind.NUMBER
            is_so = 0.9 <= value / published.value <= 1.1 if is_number else value > 1.025
            assert is_so == (name not in NOT_SO), (name, value)


def test_arithmetic_on_fitted_throughputs_is_no_evidence(
    claims: dict[str, tuple[Published, float | None]],
) -> None:
    agreeing = {name for name in claims if name not in GIVEN | BEYOND | NOT_SO}
    fitted = {name for name in agreeing if CLAIMS[name].is_fitted}
    assert len(agreeing) == 15
    assert fitted == {
        *("7751-peak", "7751-bus", "7751-bus-util", "5820-peak", "5820-bus", "5820-bus-util"),
        *("5820-util", "5820-small-int-low", "5820-8k-int", "16k-int", "transfer"),
    }
    assert all(
        published.is_fitted == CLAIMS[name].is_fitted for name, (published, _) in claims.items()
    )


def test_three_cards_stand_over_four_as_two_printed_numbers_make_it(
    claims: dict[str, tuple[Published, float | None]],
) -> None:
    three, value = claims[THREE_OVER_FOUR]
    assert three.value == pytest.approx(841.7 / 801.81, rel=1e-5)
    assert (three.unit, three.kind) == ("x", Kind.SHAPE)
    assert value is not None
    assert value < 1.02
    assert isinstance(three.here, Fact)
    assert claims["3x5820"][0].value == 841.7
