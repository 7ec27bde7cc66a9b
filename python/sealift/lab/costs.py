"""A straight line through what batches took: a set-up, so much a message, so much a byte."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations


@dataclass(frozen=True)
class Point:
    """What one batch takes.

    Attributes:
        messages: How many it has.
        message_bytes: Their mean length.
        batch_ns: Nanoseconds.
    """

    messages: int
    message_bytes: float
    batch_ns: float


@dataclass(frozen=True)
class Line:
    """What batches of any shape take, by what some took.

    Attributes:
        setup_ns: What every batch takes, however small.
        per_message_ns: What each message adds.
        per_byte_ns: What each byte adds.
        worst_share: By how much it is off the point that it fits worst; 0.1 is 10 %.
    """

    setup_ns: float
    per_message_ns: float
    per_byte_ns: float
    worst_share: float = 0.0

    def batch_ns(self, messages: int, message_bytes: float) -> float:
        """What a batch takes."""
        a_message_ns = self.per_message_ns + self.per_byte_ns * message_bytes
        return self.setup_ns + messages * a_message_ns

    def through(self, point: Point) -> "Line":
        """The same line, scaled so that it meets a point."""
        factor = point.batch_ns / self.batch_ns(point.messages, point.message_bytes)
        return Line(
            setup_ns=factor * self.setup_ns,
            per_message_ns=factor * self.per_message_ns,
            per_byte_ns=factor * self.per_byte_ns,
            worst_share=self.worst_share,
        )


def fit(points: Sequence[Point]) -> Line:
    """The line with the least squares of relative errors, none of its three parts below 0.

    Relative, so that batches of a microsecond count as much as those of a millisecond.

    Args:
        points: One at least, in which all batches take time.
    """
    rows = [
        (1 / point.batch_ns, point.messages / point.batch_ns, _bytes(point) / point.batch_ns)
        for point in points
    ]
    parts = min(_candidates(rows), key=lambda parts: sum(_error(row, parts) ** 2 for row in rows))
    return Line(*parts, worst_share=max(abs(_error(row, parts)) for row in rows))


_Row = tuple[float, float, float]


def _bytes(point: Point) -> float:
    return point.messages * point.message_bytes


def _error(row: _Row, parts: _Row) -> float:
    return sum(share * part for share, part in zip(row, parts, strict=True)) - 1


def _candidates(rows: Sequence[_Row]) -> Iterator[_Row]:
    """The best line for every choice of parts that are not 0; the best that may be is among them.

    A message each is always one: its column has no 0.
    """
    every = (combinations(range(3), used) for used in (3, 2, 1))
    for columns in chain.from_iterable(every):
        found = _solved(rows, columns)
        if found is not None and min(found) >= 0:
            parts = dict(zip(columns, found, strict=True))
            yield parts.get(0, 0.0), parts.get(1, 0.0), parts.get(2, 0.0)


def _solved(rows: Sequence[_Row], columns: Sequence[int]) -> list[float] | None:
    """The least squares over some columns, each scaled to a largest share of 1."""
    scales = [max(row[column] for row in rows) for column in columns]
    if not all(scales):
        return None
    scaled = [
        [row[column] / scale for column, scale in zip(columns, scales, strict=True)] for row in rows
    ]
    size = len(columns)
    matrix = [
        [sum(row[i] * row[j] for row in scaled) for j in range(size)]
        + [sum(row[i] for row in scaled)]
        for i in range(size)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(matrix[row][i]))
        if abs(matrix[pivot][i]) < SINGULAR:
            return None
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for other in range(size):
            if other != i:
                factor = matrix[other][i] / matrix[i][i]
                matrix[other] = [
                    a - factor * b for a, b in zip(matrix[other], matrix[i], strict=True)
                ]
    return [matrix[i][size] / matrix[i][i] / scales[i] for i in range(size)]


# Of columns whose entries are at most 1: nearer than this they are one and the same.
SINGULAR = 1e-9
