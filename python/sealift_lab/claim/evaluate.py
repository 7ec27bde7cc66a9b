"""Figures of a run from the expressions of `model.figure`: an estimate, or why there is none."""

from collections.abc import Callable, Sequence

from sealift_lab.model.figure import Fact, Figure, Missing, Number, Rate, Scaled, Sum, Time, Times
from sealift_lab.model.results import ArmReport, Estimate, Results, Row
from sealift_lab.model.values import Cell

Ratio = Callable[[Row, Row], Estimate]
"""Times as fast the first row is as the second one; from the judge, which has the samples."""


def evaluate(figure: Figure, results: Results, ratio: Ratio) -> Estimate | str:
    """The figure in its own unit, or the reason why the run doesn't have it.

    Args:
        figure: The expression.
        results: What the run found of the experiment.
        ratio: For rows that no row of `results` compares.
    """
    match figure:
        case Missing(reason):
            return reason
        case Number(value, low, high):
            return Estimate(value, low, high)
        case Fact(where, name):
            return _fact(results, where, name)
        case Time(where):
            row = _row(results, where)
            return row if isinstance(row, str) else row.time
        case Rate(where, of):
            row = _row(results, where)
            if isinstance(row, str):
                return row
            rate = row.operations_per_s if of == "operations" else row.payload_mb_per_s
            return rate or "its operations have no payload"
        case Times(where, other):
            rows = _row(results, where), _row(results, other)
            missing = next((row for row in rows if isinstance(row, str)), None)
            return missing or _times(*rows, ratio)  # type: ignore[arg-type]
        case Scaled(inner, factor):
            found = evaluate(inner, results, ratio)
            return found if isinstance(found, str) else found.scaled(factor)
        case Sum(figures):
            return _sum([evaluate(each, results, ratio) for each in figures])


def _row(results: Results, where: Cell) -> Row | str:
    """The one row that fits."""
    rows = list(results.select(**where))
    if not rows:
        return results.why_missing(**where)
    if len(rows) > 1:
        return f"{len(rows)} rows fit {_text(where)}; right would be one"
    return f"computed wrong: {rows[0].wrong}" if rows[0].wrong else rows[0]


def _times(one: Row, other: Row, ratio: Ratio) -> Estimate:
    if one.group == other.group:
        if one.ratio and one.reference == other.subject:
            return one.ratio
        if other.ratio and other.reference == one.subject:
            return other.ratio.inverse()
    return ratio(one, other)


def _sum(parts: Sequence[Estimate | str]) -> Estimate | str:
    """The ends are sums of ends: the parts were measured apart, so nothing narrows them."""
    found = [part for part in parts if not isinstance(part, str)]
    if len(found) < len(parts):
        return next(part for part in parts if isinstance(part, str))
    lows, highs = [part.low for part in found], [part.high for part in found]
    value = sum(part.value for part in found)
    reason = next((part.reason for part in found if part.reason), "")
    if None in lows or None in highs:
        return Estimate(value, reason=reason)
    return Estimate(value, sum(filter(None, lows)), sum(filter(None, highs)), reason)


def fact(report: ArmReport, name: str) -> Estimate | str:
    """A fact of a report with its ends over seeds, or why there is none.

    Args:
        report: Of one arm.
        name: Of the fact, with its unit.
    """
    value, low, high = (report.facts.get(f"{name}{end}") for end in ("", LEAST, MOST))
    if value is None:
        return str(report.facts.get(f"{name}{WHY_NONE}") or f"it has no {name}")
    if isinstance(value, str):
        return value
    if isinstance(low, int | float) and isinstance(high, int | float):
        return Estimate(value, low, high)
    return Estimate(value)


def _fact(results: Results, where: Cell, name: str) -> Estimate | str:
    reports = list(results.facts(**where))
    if not reports:
        return results.why_missing(**where)
    if len(reports) > 1:
        return f"{len(reports)} cells fit {_text(where)}; right would be one"
    return fact(reports[0], name)


def _text(where: Cell) -> str:
    return ", ".join(f"{name} {value}" for name, value in where.items())


LEAST, MOST, WHY_NONE = ", least", ", most", ", why none"
