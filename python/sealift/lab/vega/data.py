"""The values of a figure, and in which lane of its row each stands."""

from collections.abc import Mapping, Sequence

from sealift.lab.result import Origin
from sealift.lab.values import Value
from sealift.lab.vega.figure import Labels, Point, Spec, is_number
from sealift.lab.vega.words import place_of, shown


def data_of(points: Sequence[Point], labels: Labels) -> list[Spec]:
    """Each point as the figure's marks and words read it."""
    lanes = _lanes(points)
    return [_datum(point, lanes[point.x][point.series], labels) for point in points]


def _datum(point: Point, lane: int, labels: Labels) -> Spec:
    known = point.low is not None and point.high is not None
    interval = f"[{shown(point.low)}..{shown(point.high)}]" if known else "not known"
    return {
        "x": point.x if is_number(point.x) or point.x is None else str(point.x),
        "y": point.y,
        "low": point.low,
        "high": point.high,
        "series": point.series,
        "lane": lane,
        "at": place_of(point.x, labels),
        "value": shown(point.y),
        "interval": interval,
        "origin": "measured here" if point.origin is Origin.MEASURED else point.origin.value,
    }


def rows_high_px(points: Sequence[Point]) -> int:
    """How high a figure of rows is, its axis and legend left out."""
    names = len({point.x for point in points if point.x is not None})
    return max(ROWS_HIGH_LEAST_PX, names * (ROW_PX * lane_count(points) + ROW_GAP_PX))


def lane_count(points: Sequence[Point]) -> int:
    """How many lanes a row has."""
    return max(map(len, _lanes(points).values()))


def _lanes(points: Sequence[Point]) -> Mapping[Value | None, Mapping[str, int]]:
    """In which lane of its row each series stands: those of one row stand below each other."""
    rows: dict[Value | None, dict[str, int]] = {}
    for point in points:
        row = rows.setdefault(point.x, {})
        row.setdefault(point.series, len(row))
    return rows


ROW_PX, ROW_GAP_PX, ROWS_HIGH_LEAST_PX = 13, 12, 60
