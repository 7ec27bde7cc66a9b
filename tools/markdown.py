"""Figures and lines of tables as the generated parts of Markdown files have them."""

from typing import Any


def table_line(cells: list[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def interval(ratio: dict[str, float]) -> str:
    """A median with the ends of its interval: `2.41 [2.36..2.46]`."""
    return f"{three(ratio['median'])} [{three(ratio['low'])}..{three(ratio['high'])}]"


def three(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    digits = max(0, 2 - _exponent(value))
    return f"{value:,.{digits}f}"


def processor(machine: dict[str, Any]) -> str:
    """The name of a machine's processor."""
    name: str | None = machine["cpu_model"]["value"]
    return name or "a processor that doesn't name itself"


def _exponent(value: float) -> int:
    return int(f"{value:.2e}".partition("e")[2])
