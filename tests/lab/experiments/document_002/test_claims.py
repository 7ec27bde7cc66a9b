"""Claims of document 002 in words: kinds, values, and which of them are evidence."""

from collections.abc import Callable

import pytest

from sealift_lab.experiments.document_002 import claims
from sealift_lab.experiments.document_002.claims import THREE_OVER_FOUR, rows
from sealift_lab.model.published import Kind, Missing, table
from sealift_lab.model.results import Results

NOT_SO = {
    *("small-int-own-lines", "small-int-one-line", "5820-small-int-high", "16k-int"),
    *(f"large-int-{board}-{size}" for board in ("7751", "5820") for size in (8_192, 16_384)),
    *("kernel-time-1024", "kernel-time-8192", THREE_OVER_FOUR),
}
# Arithmetic on fitted throughputs is no evidence.
FITTED = {
    *("7751-peak", "7751-bus", "7751-bus-util", "5820-peak", "5820-bus", "5820-bus-util"),
    *("5820-util", "5820-small-int-low", "5820-8k-int", "transfer"),
}


def test_each_claim_has_a_kind_and_the_model_gives_those_that_it_should(
    computed: Callable[[str], Results],
) -> None:
    results = computed("002-X1")
    published = claims.EXPERIMENT.published(results)
    found = {row["claim_id"]: each for row, each in zip(rows(), published, strict=True)}
    assert found.keys() == claims.CLAIMS.keys()
    stored = {row.get("of", row["claim_id"]) for row in rows()} - {THREE_OVER_FOUR}
    assert (
        stored
        == {row["claim_id"] for row in table(claims.TABLE)}
        == claims.NOTES.keys() - {THREE_OVER_FOUR}
    )
    given, beyond = (
        {name for name, each in found.items() if each.kind is kind}
        for kind in (Kind.GIVEN, Kind.BEYOND)
    )
    agreeing = found.keys() - given - beyond - NOT_SO
    assert (len(given), len(beyond), len(agreeing)) == (12, 4, 19)
    assert {name for name in agreeing if found[name].is_fitted} == FITTED
    for name, each in found.items():
        (report,) = results.facts(claim=name)
        assert isinstance(each.here, Missing) == (claims.HERE not in report.facts)
        if claims.HERE in report.facts:
            value = float(report.facts[claims.HERE])
            is_number = each.kind is Kind.NUMBER
            is_so = 0.9 <= value / each.value <= 1.1 if is_number else value > 1.025
            assert is_so == (name in agreeing), (name, value)
    three = found[THREE_OVER_FOUR]
    assert three.value == pytest.approx(841.7 / 801.81, rel=1e-5), "of two printed numbers"
    assert (three.unit, three.kind) == ("x", Kind.SHAPE)
