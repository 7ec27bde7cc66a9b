"""Where an axis has its marks."""

import math
from collections.abc import Iterable, Sequence

from sealift.lab.vega.figure import Labels, Point, Scales, Spec


def x_axis(points: Sequence[Point], labels: Labels, scales: Scales) -> Spec:
    """The axis of places that are numbers: each of them marked where these are few."""
    values = sorted({point.x for point in points if isinstance(point.x, int | float)})
    axis: Spec = {"labelOverlap": "greedy", "grid": False}
    if len(values) <= TICKS_MOST:
        axis["values"] = values
    if labels.x_is_size:
        axis["labelExpr"] = BYTES
    elif all(isinstance(value, int) for value in values):
        axis["format"] = ",d"
    scale = {"type": "log", "base": 2} if scales.log_x else {}
    return {"axis": axis, "scale": scale | {"nice": False, "padding": 10}}


def value_axis(points: Sequence[Point], *, log: bool) -> Spec:
    """The axis of values, from 0 on or logarithmic."""
    if not log:
        return {"scale": {"zero": True}, "axis": {"tickCount": 6}}
    ends = [end for each in points for end in (each.low, each.y, each.high) if end is not None]
    marks = _marks(min(ends), max(ends))
    scale = {"type": "log", "domain": [marks[0], marks[-1]], "nice": False, "clamp": True}
    decades = [mark for mark in marks if math.log10(mark).is_integer()]
    shown = marks if len(marks) <= TICKS_MOST else decades
    return {
        "scale": scale,
        "axis": {"values": shown, "format": ",~g" if marks[-1] < WIDE else "~s"},
    }


def _marks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten that enclose two values; all nine where these are few."""
    coarse = _marks_of((1, 2, 5), low, high)
    return coarse if len(coarse) >= TICKS_LEAST else _marks_of(range(1, 10), low, high)


def _marks_of(factors: Iterable[int], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 2)
    steps = tuple(factors)
    marks = [factor * 10.0**power for power in powers for factor in steps]
    first = max(mark for mark in marks if mark <= low)
    last = min(mark for mark in marks if mark >= high and mark > first)
    return [mark for mark in marks if first <= mark <= last]


BYTES = (
    "datum.value >= 1048576 ? format(datum.value / 1048576, ',~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, ',~r') + ' KiB' : "
    "format(datum.value, ',~r') + ' B'"
)
TICKS_MOST, TICKS_LEAST = 10, 4
WIDE = 1_000_000
