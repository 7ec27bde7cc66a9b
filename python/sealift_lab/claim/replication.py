"""A published figure beside the same of a run: by its kind it becomes a claim."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from sealift_lab.claim.words import AGREES
from sealift_lab.judge.agreement import UNJUDGED, agreement
from sealift_lab.model.arm import Cell
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
    Claim,
    Estimate,
    Ledger,
    Relation,
    Results,
    Row,
)

T = TypeVar("T")
Pair = tuple[Published, Claim]
Ratio = Callable[[Row, Row], Estimate]
"""Times as fast the first row is as the second one; from the judge, which has the samples."""


class Replication(StrEnum):
    """What is counted of published figures; only independent evidence counts as reproduced."""

    REPRODUCED = "agreed"
    NOT_INDEPENDENT = "agreed, not independent"
    CONTRADICTED = "contradicted"
    DIFFERS = "different"
    OTHER_MACHINE = "speed of another machine"
    INCONCLUSIVE = "not settled"
    NO_RESULT = "no result of a model"
    UNTESTED = "not here"


def compare_published(
    figures: Sequence[Published], results: Results, ratio: Ratio, experiment: str
) -> list[Pair]:
    """Each published figure of an experiment with the claim that follows from a run."""
    return [
        (each, published_claim(each, evaluate(each.here, results, ratio), experiment))
        for each in figures
    ]


def published_claim(published: Published, here: Estimate | str, experiment: str = "") -> Claim:
    """The claim on one published figure; `here` is the same of a run, or why there is none."""
    relation, reason = agreement(published, here)
    return Claim(
        published.what,
        relation,
        published.figure,
        None if isinstance(here, str) else here,
        published.unit,
        published.ledger,
        reason=reason,
        experiment=experiment,
        published=published.value,
        is_independent=not published.is_fitted and published.kind not in NO_EVIDENCE,
    )


def replication(claim: Claim) -> Replication:
    """How a claim on a published figure is counted."""
    if claim.relation in AGREES and not claim.is_independent:
        return Replication.NOT_INDEPENDENT
    if claim.relation is Relation.UNTESTED and claim.reason in UNJUDGED.values():
        return Replication.NO_RESULT
    return REPLICATIONS.get(claim.relation, Replication.OTHER_MACHINE)


def count(pairs: Sequence[Pair]) -> dict[tuple[str, Ledger], dict[str, int]]:
    """How many figures of each document have which replication; ledgers are never added up."""
    counts = Counter((document_of(each), claim.ledger, replication(claim)) for each, claim in pairs)
    documents = sorted({document for document, *_ in counts})
    every: dict[tuple[str, Ledger], dict[str, int]] = {
        (document, ledger): {o.value: n for o in Replication if (n := counts[document, ledger, o])}
        for document in documents
        for ledger in Ledger
    }
    return {place: outcomes for place, outcomes in every.items() if outcomes}


def document_of(published: Published) -> str:
    """The number of the document, as `003`."""
    return published.figure.partition("-")[0]


def evaluate(figure: Figure, results: Results, ratio: Ratio) -> Estimate | str:
    """A figure of a run in its own unit, or the reason why the run doesn't have it."""
    try:
        return _evaluate(figure, results, ratio)
    except _NoFigureError as error:
        return str(error)


def fact(report: ArmReport, name: str) -> Estimate | str:
    """A fact of a report with its ends over seeds; the text of one, or why there is none."""
    value, low, high = (report.facts.get(f"{name}{end}") for end in ("", LEAST, MOST))
    if value is None:
        return str(report.facts.get(f"{name}{WHY_NONE}") or f"it has no {name}")
    if isinstance(value, str):
        return value
    if isinstance(low, int | float) and isinstance(high, int | float):
        return Estimate(value, low, high)
    return Estimate(value)


class _NoFigureError(Exception):
    """A run doesn't have a figure, for this reason."""


def _evaluate(figure: Figure, results: Results, ratio: Ratio) -> Estimate:
    match figure:
        case Missing(reason):
            raise _NoFigureError(reason)
        case Number(value, low, high):
            return Estimate(value, low, high)
        case Fact(where, name):
            found = fact(_one(results.facts(**where), results, where, "cells"), name)
            if isinstance(found, str):
                raise _NoFigureError(found)
            return found
        case Time(where):
            return _row(results, where).time
        case Rate(where, of):
            row = _row(results, where)
            if of == "operations":
                return row.operations_per_s
            if row.payload_mb_per_s is None:
                raise _NoFigureError("its operations have no payload")
            return row.payload_mb_per_s
        case Times(where, other):
            return _times(_row(results, where), _row(results, other), ratio)
        case Scaled(inner, factor):
            return _evaluate(inner, results, ratio).scaled(factor)
        case Sum(figures):
            return _sum([_evaluate(each, results, ratio) for each in figures])


def _row(results: Results, where: Cell) -> Row:
    row = _one(results.select(**where), results, where, "rows")
    if row.wrong:
        raise _NoFigureError(f"computed wrong: {row.wrong}")
    return row


def _one(fitting: Iterable[T], results: Results, where: Cell, noun: str) -> T:
    """The one that fits."""
    found = [*fitting]
    if not found:
        raise _NoFigureError(results.why_missing(**where))
    if len(found) > 1:
        values = ", ".join(f"{name} {value}" for name, value in where.items())
        raise _NoFigureError(f"{len(found)} {noun} fit {values}; right would be one")
    return found[0]


def _times(one: Row, other: Row, ratio: Ratio) -> Estimate:
    if one.group == other.group:
        if one.ratio and one.reference == other.subject:
            return one.ratio
        if other.ratio and other.reference == one.subject:
            return other.ratio.inverse()
    return ratio(one, other)


def _sum(parts: Sequence[Estimate]) -> Estimate:
    """The ends are sums of ends: the parts were measured apart, so nothing narrows them."""
    lows = [part.low for part in parts if part.low is not None]
    highs = [part.high for part in parts if part.high is not None]
    has_ends = len(lows) == len(highs) == len(parts)
    return Estimate(
        sum(part.value for part in parts),
        sum(lows) if has_ends else None,
        sum(highs) if has_ends else None,
        next((part.reason for part in parts if part.reason), ""),
    )


LEAST, MOST, WHY_NONE = ", least", ", most", ", why none"
# Agreement of these is no evidence: projected, put in, read into a sentence, or print alone.
NO_EVIDENCE = (Kind.LIMIT, Kind.GIVEN, Kind.BEYOND, Kind.READING, Kind.ARITHMETIC)
REPLICATIONS = {
    **dict.fromkeys(
        (Relation.REPRODUCED, Relation.IN_SHAPE, Relation.HOLDS), Replication.REPRODUCED
    ),
    Relation.CONTRADICTED: Replication.CONTRADICTED,
    Relation.DIFFERS: Replication.DIFFERS,
    Relation.INCONCLUSIVE: Replication.INCONCLUSIVE,
    Relation.UNTESTED: Replication.UNTESTED,
}
