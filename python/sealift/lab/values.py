"""What stands in a cell: axis names with plain values, as they come back from JSON."""

import math
from collections.abc import Mapping

Value = str | int | float
Cell = Mapping[str, Value]
"""One point of an experiment: a value for each of its axes."""


def why_not_kept(value: object) -> str:
    """Why a value can't be kept in the files of a run, and read by other programs, or ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"is of type {type(value).__name__}; right would be text or a number"
    if isinstance(value, str):
        return "" if is_text(value) else "has half of a surrogate pair; right would be whole text"
    if isinstance(value, int):
        fits = INTEGER_MIN <= value <= INTEGER_MAX
        return "" if fits else "is beyond 64 bits; right would be a smaller number, or text"
    return "" if math.isfinite(value) else "is no finite number"


def is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
