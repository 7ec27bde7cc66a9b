"""Cells: axis names with plain values, as they come back from JSON."""

import math
from collections.abc import Mapping

Value = str | int | float
Cell = Mapping[str, Value]
"""One point of an experiment: a value for each of its axes."""


def fits(cell: Cell, where: Cell) -> bool:
    """Whether a cell has these values on these axes."""
    return where.items() <= cell.items()


def why_not_stored(value: object) -> str:
    """Why a value can't be stored in a run folder and read by other programs, or ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"is of type {type(value).__name__}; right would be text or a number"
    if isinstance(value, str):
        return "" if is_text(value) else "has half of a surrogate pair; right would be whole text"
    if isinstance(value, int):
        in_range = INTEGER_MIN <= value <= INTEGER_MAX
        return "" if in_range else "is beyond 64 bits; right would be a smaller number, or text"
    return "" if math.isfinite(value) else "is no finite number"


def is_text(value: object) -> bool:
    """Whether a value is text that UTF-8 has."""
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False


INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
