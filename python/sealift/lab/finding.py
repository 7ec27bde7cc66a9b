"""What the rows of one piece of work allow to say, and how pieces of work are named."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sealift.lab.result import Row
from sealift.lab.stats import Interval, Trust, Verdict, smallest_difference
from sealift.lab.units import keys_text
from sealift.lab.values import Value


class Kind(StrEnum):
    """What may be said, the most useful first."""

    WINNER = "winner"
    SAME = "same"
    UNSURE = "unsure"
    NOISY = "noisy"
    ALONE = "alone"


@dataclass(frozen=True)
class Finding:
    """What may be said about one piece of work.

    Attributes:
        kind: Whether there is a winner, or why there is none.
        devices: For a winner the winner and the device that it is compared with; else those
            between which it is open.
        ratio: How many times as fast the winner is as the other; None without a winner.
        rows: What each device did.
    """

    kind: Kind
    devices: tuple[str, ...]
    ratio: Interval | None
    rows: tuple[Row, ...]

    @property
    def size_bytes(self) -> float:
        """Mean size of a message."""
        return size_of(self.rows[0])

    @property
    def winner(self) -> str | None:
        """The device that was shown to be faster than every other."""
        return self.devices[0] if self.kind is Kind.WINNER else None

    @property
    def noise_floor(self) -> float:
        """How far the same code differed from itself, as a share."""
        return self.rows[0].noise_floor

    @property
    def smallest_difference(self) -> float:
        """The least difference that is called one here, as a share."""
        return smallest_difference(self.noise_floor)


def findings(rows: Iterable[Row]) -> list[Finding]:
    """What may be said about each piece of work.

    A device wins when every other one was shown to be slower. Devices are the same when they were
    shown to be equal up to the noise floor; what the samples could not settle stays open.

    Args:
        rows: Of any number of pieces of work.
    """
    works: dict[tuple[tuple[str, Value], ...], list[Row]] = {}
    for row in rows:
        works.setdefault(row.work, []).append(row)
    return [_finding(work) for work in works.values()]


def batch_follows_size(rows: Iterable[Row]) -> bool:
    """Whether batches differ only because large messages come in smaller ones."""
    batches: dict[float, set[Value | None]] = {}
    for row in rows:
        batches.setdefault(size_of(row), set()).add(row.cell.get("batch"))
    return all(len(each) == 1 for each in batches.values())


def size_of(row: Row) -> float:
    """Mean size of a message, in bytes."""
    return float(row.cell["size_bytes"])


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _finding(rows: Sequence[Row]) -> Finding:
    everyone = tuple(str(row.subject) for row in rows)
    best = [row for row in rows if row.winner]
    if len(rows) == 1:
        return Finding(Kind.ALONE, everyone, None, tuple(rows))
    if len(best) == 1 and (won := _won(best[0], rows)):
        return won
    if rows[0].trust is Trust.LOUD:
        return Finding(Kind.NOISY, everyone, None, tuple(rows))
    contenders = tuple(str(row.subject) for row in best)
    # Rows are judged against the reference, so only a draw with it is known to be one.
    drawn = len(best) > 1 and all(row.verdict in (None, Verdict.SAME) for row in best)
    if drawn and any(row.ratio is None for row in best):
        return Finding(Kind.SAME, contenders, None, tuple(rows))
    return Finding(Kind.UNSURE, contenders if len(best) > 1 else everyone, None, tuple(rows))


def _won(best: Row, rows: Sequence[Row]) -> Finding | None:
    if best.ratio is not None:
        if best.verdict is not Verdict.FASTER:
            return None
        devices = (str(best.subject), str(best.reference))
        return Finding(Kind.WINNER, devices, best.ratio, tuple(rows))
    others = (row for row in rows if row is not best)
    next_best = min(others, key=lambda row: row.ns_per_operation.median)
    if next_best.ratio is None or next_best.verdict is not Verdict.SLOWER:
        return None
    devices = (str(best.subject), str(next_best.subject))
    return Finding(Kind.WINNER, devices, next_best.ratio.inverse(), tuple(rows))


def _counted(one: str, many: str) -> Callable[[Value], str]:
    return lambda value: one if value == 1 else many.format(value)


QUALIFIERS: dict[str, Callable[[Value], str]] = {
    "keys": keys_text,
    "mix": lambda mix: f"mix {mix}",
    "threads": _counted("1 thread", "{:,} threads"),
    "batch": _counted("one at a time", "batches of {:,}"),
}
