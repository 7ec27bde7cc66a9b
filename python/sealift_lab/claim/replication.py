"""A published figure beside the same of a run: by its kind it becomes a claim."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

from sealift_lab.claim.words import AGREES
from sealift_lab.judge.verdicts import MARGIN, verdict
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
    Origin,
    Relation,
    Results,
    Row,
    Verdict,
)

T = TypeVar("T")
Pair = tuple[Published, Claim]
Ratio = Callable[[Row, Row], Estimate]
"""Times as fast the first row is as the second one; from the judge, which has the samples."""


class Replication(StrEnum):
    """What is counted of published figures; only independent evidence counts as reproduced."""

    REPRODUCED = "reproduced"
    NOT_INDEPENDENT = "agree, not independent"
    CONTRADICTED = "contradicted"
    DIFFERS = "differ"
    OTHER_MACHINE = "values of other machines"
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
    relation, reason = _relation(published, here)
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


def summary(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """All documents in a line for each ledger: `Measured`, `3 published figures agree, 5 differ`.

    What agrees is independent evidence; arithmetic on what is printed is left out.
    """
    counts = Counter((claim.ledger, replication(claim)) for _, claim in pairs)
    found = []
    for name, ledger in (("Measured", Ledger.MEASURED), ("Modelled", Ledger.MODELLED)):
        many = {text: sum(counts[ledger, each] for each in of) for text, of in IN_SHORT.items()}
        first, *more = (
            f"{number:,}{ALONE.get(text, text) if number == 1 else text}"
            for text, number in many.items()
        )
        if any(many.values()):
            found.append((name, ", ".join([first, *(each for each in more if each[:2] != "0 ")])))
    return found


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


def _relation(published: Published, here: Estimate | str) -> tuple[Relation, str]:
    if published.kind in UNJUDGED:
        return Relation.UNTESTED, UNJUDGED[published.kind]
    if published.kind is Kind.ARITHMETIC:
        least, most = _span(published)
        agrees = least <= published.value <= most
        return Relation.REPRODUCED if agrees else Relation.DIFFERS, ""
    if isinstance(here, str):
        return Relation.UNTESTED, here
    if here.low is None and here.reason:
        return Relation.INCONCLUSIVE, here.reason
    low = here.value if here.low is None else here.low
    high = here.value if here.high is None else here.high
    if published.kind in SHAPES and published.origin is Origin.MEASURED:
        return _shape(published, here, low, high)
    for least, most, relation, reason in _regions(published):
        if least <= low and high <= most:
            return relation, reason
    return Relation.INCONCLUSIVE, "its interval reaches over a limit"


def _shape(published: Published, here: Estimate, low: float, high: float) -> tuple[Relation, str]:
    """By the judge's rule, as rows are: a difference under its margin is none."""
    if here.reason or low <= 0:
        return Relation.INCONCLUSIVE, here.reason or "its interval reaches to 0"
    match verdict(math.log(here.value), (math.log(low), math.log(high))):
        case Verdict.FASTER:
            return Relation.HOLDS, ""
        case Verdict.SLOWER:
            return JUDGED[published.kind][1], ""
        case Verdict.SAME:
            return Relation.DIFFERS, NO_EFFECT
    return Relation.INCONCLUSIVE, "its interval reaches over 1"


Region = tuple[float, float, Relation, str]


def _regions(published: Published) -> Iterator[Region]:
    """From where to where which relation holds; the first that has the whole interval counts."""
    value, kind = published.value, published.kind
    near, far = sorted(value * (1 + side * NEAR) for side in (-1, 1))
    if kind is Kind.RATIO:
        yield from _ratio(value, near, far)
        return
    inside, below, above = JUDGED[kind]
    if kind in SHAPES:
        near = far = math.exp(MARGIN)
    elif kind is Kind.COUNT:
        near, far = _span(published)
        below = above = Relation.DIFFERS if value else Relation.CONTRADICTED
    elif kind is Kind.VALUE and published.unit in TIMES:
        below, above = above, below
    yield near, far, inside, ""
    if kind is Kind.POINT:
        near, far = sorted((value / ALIKE, value * ALIKE))
        yield near, far, Relation.IN_SHAPE, ""
    yield -math.inf, near, below, ""
    yield far, math.inf, above, ""


def _ratio(value: float, near: float, far: float) -> Iterator[Region]:
    """On the other side of 1 it is contradicted; about 1 there is no such effect."""
    yield near, far, Relation.REPRODUCED, ""
    is_clear = near >= 1 + NEAR or far <= 1 - NEAR
    if is_clear:
        # Less than the margin on either side of 1 is no side.
        yield math.exp(-MARGIN), math.exp(MARGIN), Relation.DIFFERS, NO_EFFECT
    least, most = (min(1.0, near), math.inf) if value > 1 else (-math.inf, max(1.0, far))
    yield -math.inf, least, Relation.CONTRADICTED, ""
    yield most, math.inf, Relation.CONTRADICTED, ""
    yield least, near, Relation.DIFFERS, ""
    yield far, most, Relation.DIFFERS, ""
    if is_clear:
        # Last: what lies on one side of 1 as a whole was found above.
        yield 1 - NEAR, 1 + NEAR, Relation.DIFFERS, NO_EFFECT


def _span(published: Published) -> tuple[float, float]:
    # Of counts and arithmetic both are there: that is checked when they are made.
    return published.low or 0.0, published.high or 0.0


LEAST, MOST, WHY_NONE = ", least", ", most", ", why none"
# A tenth more or less is the same, on another machine and by a model.
NEAR = 0.10
# How far a point may be off whose table or curve has the document's shape there.
ALIKE = 1.5
NO_EFFECT = "no such effect here"
SHAPES = (Kind.SHAPE, Kind.READING)
# What holds for a figure near the print, below it and above it.
JUDGED = {
    Kind.SHAPE: (Relation.IN_SHAPE, Relation.CONTRADICTED, Relation.IN_SHAPE),
    # No document claims what only a reading of it says.
    Kind.READING: (Relation.HOLDS, Relation.DIFFERS, Relation.HOLDS),
    Kind.SLOPE: (Relation.REPRODUCED, Relation.DIFFERS, Relation.DIFFERS),
    Kind.VALUE: (Relation.SAME, Relation.SLOWER, Relation.FASTER),
    Kind.COUNT: (Relation.REPRODUCED, Relation.DIFFERS, Relation.DIFFERS),
    Kind.NUMBER: (Relation.REPRODUCED, Relation.CONTRADICTED, Relation.CONTRADICTED),
    Kind.POINT: (Relation.REPRODUCED, Relation.CONTRADICTED, Relation.CONTRADICTED),
    Kind.LIMIT: (Relation.SAME, Relation.CONTRADICTED, Relation.CONTRADICTED),
}
UNJUDGED = {Kind.GIVEN: "given to the model", Kind.BEYOND: "beyond the model"}
# Agreement of these is no evidence: projected, put in, read into a sentence, or print alone.
NO_EVIDENCE = (Kind.LIMIT, Kind.GIVEN, Kind.BEYOND, Kind.READING, Kind.ARITHMETIC)
IN_SHORT = {
    " published figures agree": (Replication.REPRODUCED,),
    " differ": (Replication.CONTRADICTED, Replication.DIFFERS),
    " not settled": (Replication.INCONCLUSIVE,),
    " not here": (Replication.UNTESTED,),
}
ALONE = {" published figures agree": " published figure agrees", " differ": " differs"}
REPLICATIONS = {
    **dict.fromkeys(
        (Relation.REPRODUCED, Relation.IN_SHAPE, Relation.HOLDS), Replication.REPRODUCED
    ),
    Relation.CONTRADICTED: Replication.CONTRADICTED,
    Relation.DIFFERS: Replication.DIFFERS,
    Relation.INCONCLUSIVE: Replication.INCONCLUSIVE,
    Relation.UNTESTED: Replication.UNTESTED,
}
# Units in which more is slower.
TIMES = {"ns", "µs", "us", "ms", "s", "min", "cycles", "cycles/B", "cycles a byte", "ns/B"}
