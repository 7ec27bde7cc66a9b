"""What a message takes by size, one line a device: measured here, or projected from a card."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sealift.lab.finding import size_of
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Interval

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


def lines(rows: Sequence[Row], cards: Iterable["Card"]) -> list[Line]:
    """A line for each device that was measured, and one for each card with the same batches.

    Args:
        rows: From `by_size.chosen`.
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
