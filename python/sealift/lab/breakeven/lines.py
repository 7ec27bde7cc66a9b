"""What a message takes by size, one line a device: measured here, or projected from a card."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sealift.lab.finding import batch_follows_size, size_of
from sealift.lab.grid import MANY_KEYS
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Interval
from sealift.lab.units import MAX_TEXT_BYTES
from sealift.lab.values import Value

if TYPE_CHECKING:
    from sealift import Card


@dataclass(frozen=True)
class Spot:
    """What a device takes for messages of one size.

    Attributes:
        size_bytes: Of a message.
        batch: How many messages were handed over at once.
        ns: Nanoseconds a message; an interval without width where it was reckoned.
        row: Where it was measured; None where it was reckoned.
    """

    size_bytes: float
    batch: int
    ns: Interval
    row: Row | None = None


@dataclass(frozen=True)
class Line:
    """A device by the size of messages.

    Attributes:
        device: Its name.
        origin: MEASURED or PROJECTED.
        spots: Ascending by size.
        card: What it was reckoned from; None where it was measured.
    """

    device: str
    origin: Origin
    spots: tuple[Spot, ...]
    card: "Card | None" = None

    @property
    def by_size(self) -> Mapping[float, Spot]:
        """Its spots by the size of messages."""
        return {spot.size_bytes: spot for spot in self.spots}


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


def lines(rows: Sequence[Row], cards: Iterable["Card"]) -> list[Line]:
    """A line for each device that was measured, and one for each card with the same batches.

    Args:
        rows: From `chosen`.
        cards: Descriptions of what isn't here.
    """
    measured: dict[str, list[Spot]] = {}
    for row in rows:
        spot = Spot(size_of(row), int(row.cell["batch"]), row.ns_per_operation, row)
        measured.setdefault(str(row.subject), []).append(spot)
    batches = {size_of(row): int(row.cell["batch"]) for row in rows}
    return [
        *(Line(name, Origin.MEASURED, _ordered(spots)) for name, spots in measured.items()),
        *(_of_card(card, batches) for card in cards),
    ]


def card_ns(card: "Card", messages: int, size_bytes: float) -> float:
    """Nanoseconds a message in a batch that an idle card works."""
    return card.predict(messages, round(size_bytes)).batch_ns / messages


def _of_card(card: "Card", batches: Mapping[float, int]) -> Line:
    spots = []
    for size, batch in batches.items():
        ns = card_ns(card, batch, size)
        spots.append(Spot(size, batch, Interval(ns, ns, ns, 1.0, 0)))
    return Line(card.name, Origin.PROJECTED, _ordered(spots), card)


def _ordered(spots: Iterable[Spot]) -> tuple[Spot, ...]:
    return tuple(sorted(spots, key=lambda spot: spot.size_bytes))


def _is_usual(row: Row) -> bool:
    """Whether a card can be asked for the same: folders may come from anywhere."""
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
