"""What stands in a cell: axis names with plain values, as they come back from JSON."""

from collections.abc import Mapping

Value = str | int | float
Cell = Mapping[str, Value]
"""One point of an experiment: a value for each of its axes."""
