"""Which device wins at which message sizes, and on which rows that stands."""

from collections.abc import Sequence, Set
from itertools import groupby

from sealift.lab.finding import Finding, Kind, batch_follows_size, findings, listed, size_of
from sealift.lab.grid import MANY_KEYS
from sealift.lab.result import Row
from sealift.lab.units import MAX_TEXT_BYTES
from sealift.lab.values import Value
from sealift.lab.vega import format_bytes
from sealift.lab.wording import short_name, wins


def chosen(rows: Sequence[Row], *, across: Set[str] = frozenset()) -> list[Row]:
    """The rows of the one piece of work that is seen at the most sizes; none where that is one.

    Among equally many that with 1,024 sessions, and then the one with the fewest threads.

    Args:
        rows: Of devices for real work, by size and whatever else.
        across: Axes that tell no pieces of work apart here, beside size.
    """
    usual = [row for row in rows if not row.wrong and _is_usual(row)]
    varied = {"size_bytes", *across} | ({"batch"} if batch_follows_size(usual) else set())
    works: dict[tuple[tuple[str, Value], ...], list[Row]] = {}
    for row in usual:
        rest = tuple(item for item in row.work if item[0] not in varied)
        works.setdefault(rest, []).append(row)
    best = max(works.values(), key=_rank, default=[])
    return best if _count(best) > 1 else []


def winners_text(rows: Sequence[Row]) -> str:
    """Which device wins at which sizes, in one sentence; "" where there is one size only.

    Args:
        rows: From `chosen`.
    """
    line = sorted(findings(rows), key=lambda each: each.size_bytes)
    names = dict.fromkeys(str(row.subject) for row in rows)
    if len(names) < 2 or len(line) < 2:
        return ""
    spans: dict[str, list[str]] = {}
    for outcome, group in groupby(line, key=_outcome):
        spans.setdefault(outcome, []).append(_span(list(group)))
    if sum(map(len, spans.values())) > SPANS_MOST:
        outcomes = [_outcome(each) for each in line]
        spans = {each: [f"at {outcomes.count(each)} of {len(line)} sizes"] for each in spans}
    told = "; ".join(f"{outcome} {listed(where)}" for outcome, where in spans.items())
    return f"{told[0].upper()}{told[1:]}."


def _outcome(finding: Finding) -> str:
    if finding.winner:
        return wins(short_name(finding.winner))
    return "no difference" if finding.kind is Kind.SAME else "not settled"


def _span(found: Sequence[Finding]) -> str:
    first, last = (format_bytes(found[place].size_bytes) for place in (0, -1))
    return f"at {first}" if first == last else f"from {first} to {last}"


def _is_usual(row: Row) -> bool:
    """Whether a card can be compared on the same: folders may come from anywhere."""
    size, batch = row.cell.get("size_bytes"), row.cell.get("batch")
    return (
        isinstance(size, int)
        and isinstance(batch, int)
        and size <= MAX_TEXT_BYTES
        and batch <= MESSAGES_MOST
    )


def _rank(rows: Sequence[Row]) -> tuple[int, bool, int]:
    cell = rows[0].cell
    return _count(rows), cell.get("keys") == str(MANY_KEYS), -int(cell.get("threads", 1))


def _count(rows: Sequence[Row]) -> int:
    return len({size_of(row) for row in rows})


MESSAGES_MOST = 1 << 20
"""The longest batch that is looked at; set-ups weigh nothing in it any more."""
# More say less than counts do.
SPANS_MOST = 4
