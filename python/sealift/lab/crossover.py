"""Between which measured sizes the fastest device changes, for each key regime."""

from collections.abc import Sequence
from itertools import pairwise

from sealift.lab.finding import (
    Finding,
    batch_follows_size,
    findings,
    listed,
    qualifier,
    size_of,
    sizes_text,
)
from sealift.lab.result import Row
from sealift.lab.units import format_size
from sealift.lab.values import Value
from sealift.lab.wording import constants_text


def crossover(rows: Sequence[Row]) -> str:
    """Where the winner changes, as sentences; "" when there is one size only.

    A change is bracketed by the two nearest sizes at which a device was shown to win. Sizes
    between them, at which nothing was shown, widen the bracket.

    Args:
        rows: Of devices by size, of any number of key regimes.
    """
    if len({size_of(row) for row in rows}) < 2:
        return ""
    qualify = qualifier(rows)
    told: dict[str, list[str]] = {}
    for line in _lines(rows):
        if len(line) > 1:
            told.setdefault(_changes(line), []).append(qualify(line[0].rows[0]))
    parts = [what if len(told) == 1 else f"{listed(names)}: {what}" for what, names in told.items()]
    return f"By size ({constants_text(rows)}): {'; '.join(parts)}." if parts else ""


def _lines(rows: Sequence[Row]) -> list[list[Finding]]:
    """Findings that differ in nothing but size, ascending."""
    varied = {"size_bytes", "batch"} if batch_follows_size(rows) else {"size_bytes"}
    lines: dict[tuple[tuple[str, Value], ...], list[Finding]] = {}
    for finding in findings(rows):
        rest = tuple(item for item in finding.rows[0].work if item[0] not in varied)
        lines.setdefault(rest, []).append(finding)
    return [sorted(line, key=lambda finding: finding.size_bytes) for line in lines.values()]


def _changes(line: Sequence[Finding]) -> str:
    won = [finding for finding in line if finding.winner]
    sizes = [finding.size_bytes for finding in line]
    if not won:
        return f"no device was shown to win from {_span(sizes)}"
    pairs = [(below, above) for below, above in pairwise(won) if below.winner != above.winner]
    if not pairs:
        return _one_winner(won, line, sizes)
    return ", then ".join(
        f"the winner changes from {below.winner} to {above.winner} between "
        f"{format_size(below.size_bytes)} and {format_size(above.size_bytes)} B"
        for below, above in pairs
    )


def _one_winner(won: Sequence[Finding], line: Sequence[Finding], sizes: Sequence[float]) -> str:
    if len(won) == len(line):
        return f"{won[0].winner} wins at every size from {_span(sizes)}"
    settled = sizes_text([finding.size_bytes for finding in won], sizes)
    rest = sizes_text([each.size_bytes for each in line if not each.winner], sizes)
    return f"{won[0].winner} wins at {settled}, and at {rest} no device was shown to"


def _span(sizes: Sequence[float]) -> str:
    return f"{format_size(sizes[0])} to {format_size(sizes[-1])} B"
