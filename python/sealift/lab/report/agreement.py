"""Whether two experiments of a run found the same of the same work."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from sealift.lab.crowding import LOAD
from sealift.lab.finding import QUALIFIERS
from sealift.lab.report.material import Shown
from sealift.lab.result import Row
from sealift.lab.stats import smallest_difference
from sealift.lab.table import value_text
from sealift.lab.units import format_estimate
from sealift.lab.values import Value

Pair = tuple[Row, Row]


def disagreements(shown: Sequence[Shown]) -> Iterable[str]:
    """Says of which equal cells two experiments found different times: one of them was disturbed.

    Times differ when their 95 % intervals don't meet and their medians are further apart than the
    larger smallest difference of the two. Experiments of the user's own may give the same axes
    another meaning, and are left out.
    """
    for one, other in combinations([each for each in shown if each.is_of_the_lab], 2):
        if one.experiment.operation == other.experiment.operation:
            pairs = _pairs(one.found.rows, other.found.rows)
            if apart := [pair for pair in pairs if _differ(pair)]:
                yield _told(apart, len(pairs), one.experiment.operation)


def _pairs(ones: Sequence[Row], others: Sequence[Row]) -> list[Pair]:
    """The rows of equal cells."""
    cells = {_cell(row): row for row in others if not row.wrong}
    return [(row, cells[_cell(row)]) for row in ones if not row.wrong and _cell(row) in cells]


def _cell(row: Row) -> tuple[object, ...]:
    # The load follows from threads and cores, and not every experiment says it.
    return tuple(sorted(item for item in row.cell.items() if item[0] != LOAD.name))


def _differ(pair: Pair) -> bool:
    one, other = (row.ns_per_operation for row in pair)
    apart = one.high < other.low or other.high < one.low
    return apart and _times(pair) > 1 + max(smallest_difference(row.noise_floor) for row in pair)


def _times(pair: Pair) -> float:
    one, other = (row.ns_per_operation.median for row in pair)
    return max(one, other) / min(one, other)


def _told(apart: Sequence[Pair], count: int, operation: str) -> str:
    one, other = max(apart, key=_times)
    named = [
        _named(name, value)
        for name, value in one.cell.items()
        if name not in (LOAD.name, one.compare)
    ]
    return (
        f"{one.experiment} and {other.experiment} disagree on {len(apart):,} of {count:,} equal "
        f"cells, most on {one.subject} ({', '.join(named)}): {_ns(one)} and {_ns(other)} "
        f"ns/{operation}. Something changed in between: compare within an experiment, not across."
    )


def _named(name: str, value: Value) -> str:
    if name == "size_bytes":
        return f"{value_text(name, value)} B"
    if name in QUALIFIERS:
        return QUALIFIERS[name](value)
    return value if isinstance(value, str) else f"{name} {value_text(name, value)}"


def _ns(row: Row) -> str:
    took = row.ns_per_operation
    return format_estimate(took.median, took.low, took.high)
