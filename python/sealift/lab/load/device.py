"""What a device does with one's messages in batches of several lengths, measured or projected."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sealift.lab.costs import Line, Point, fit
from sealift.lab.lengths import Lengths
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Interval
from sealift.lab.units import NS_PER_S

if TYPE_CHECKING:
    from sealift import Card


@dataclass(frozen=True)
class Figure:
    """A number that knows where it comes from.

    Attributes:
        value: In the unit that its name tells.
        origin: Where from.
        low: Lower end of its 95 % interval; None where it has none.
        high: Upper end.
    """

    value: float
    origin: Origin
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class InBatches:
    """What a device does with messages that come in batches of one length.

    Attributes:
        messages: In a batch.
        batch_ns: From handing over a batch to its results, on an idle device.
        host_ns: Time of this machine's processors for each message.
        per_s: Messages a second at most.
        bound_by: What sets that limit, of a card: "host", "link" or "card"; else "".
    """

    messages: int
    batch_ns: Figure
    host_ns: Figure
    per_s: Figure
    bound_by: str = ""


@dataclass(frozen=True)
class Device:
    """A device with one's messages.

    Attributes:
        name: Of the device.
        origin: MEASURED here, or PROJECTED from a card.
        workers: How many batches it works side by side; 1 for a card, whose parts take turns.
        message_bytes: Mean length of one's messages.
        batches: Ascending; 1 is always among them.
        alone: What one message of any size takes.
        line: What batches of several messages take, of any shape.
        card: What it was projected from; None where it was measured.
        lengths: Of one's messages, where they differ; else None.
    """

    name: str
    origin: Origin
    workers: int
    message_bytes: float
    batches: tuple[InBatches, ...]
    alone: Line
    line: Line
    card: "Card | None" = None
    lengths: Lengths | None = None

    @property
    def largest(self) -> InBatches:
        """What it does in its largest batches."""
        return self.batches[-1]

    def batch_ns(self, messages: int) -> float:
        """What a batch of one's messages takes; between two that were measured on a straight line.

        Longer ones than were measured take as much a message as the longest.
        """
        if self.card is not None:
            return self.card.predict(messages, round(self.message_bytes)).batch_ns
        if messages >= self.largest.messages:
            return self.largest.batch_ns.value * messages / self.largest.messages
        for low, high in pairwise(self.batches):
            if messages <= high.messages:
                share = (messages - low.messages) / (high.messages - low.messages)
                return low.batch_ns.value + share * (high.batch_ns.value - low.batch_ns.value)
        return self.largest.batch_ns.value

    def priced(self, messages: int) -> "Line | Card":
        """What batches of so many messages of any size take: the line, meeting one's own."""
        if self.card is not None:
            return self.card
        line = self.alone if messages == 1 else self.line
        return line.through(Point(messages, self.message_bytes, self.batch_ns(messages)))


def measured(own: Sequence[Row], around: Sequence[Row], threads: int) -> list[Device]:
    """The devices that were measured.

    Args:
        own: Rows of one's own messages, in batches of several lengths.
        around: Rows of other sizes, for the lines.
        threads: How many worked; each one's processor time counts.
    """
    names = dict.fromkeys(str(row.subject) for row in own)
    return [_measured(name, _of(name, own), _of(name, around), threads) for name in names]


def projected(card: "Card", batches: Iterable[int], message_bytes: float) -> Device:
    """A device that isn't here, by its description.

    Args:
        card: The description.
        batches: Messages a batch.
        message_bytes: Their mean length.
    """
    cost = card.cost()
    line = Line(cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    return Device(
        name=card.name,
        origin=Origin.PROJECTED,
        workers=1,
        message_bytes=message_bytes,
        batches=tuple(_sorted(_reckoned(card, count, round(message_bytes)) for count in batches)),
        alone=line,
        line=line,
        card=card,
    )


def _measured(name: str, own: list[Row], around: list[Row], threads: int) -> Device:
    points = [_point(row, threads) for row in (*own, *around)]
    # Every message has its own hand-over when it is alone, and its own data: one line won't do.
    alone = [point for point in points if point.messages == 1]
    together = [point for point in points if point.messages > 1]
    # With --batch 1 other sizes are measured alone: one size doesn't tell what a byte costs.
    several = len({point.message_bytes for point in together}) > 1
    return Device(
        name=name,
        origin=Origin.MEASURED,
        workers=threads,
        message_bytes=own[0].payload_bytes,
        batches=tuple(_sorted(_in_batches(row, threads) for row in own)),
        alone=fit(alone or points),
        line=fit(together if several else points),
    )


def _of(name: str, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.subject == name]


def _sorted(batches: Iterable[InBatches]) -> list[InBatches]:
    return sorted(batches, key=lambda each: each.messages)


def _in_batches(row: Row, threads: int) -> InBatches:
    batch = int(row.cell["batch"])
    # A row counts the time of all threads together, in which each does as many.
    message_ns = row.ns_per_operation.scaled(threads)
    return InBatches(
        messages=batch,
        batch_ns=_figure(message_ns.scaled(batch)),
        host_ns=_figure(message_ns),
        per_s=_figure(row.ns_per_operation.inverse().scaled(NS_PER_S)),
    )


def _figure(interval: Interval) -> Figure:
    return Figure(interval.median, Origin.MEASURED, interval.low, interval.high)


def _point(row: Row, threads: int) -> Point:
    batch = int(row.cell["batch"])
    return Point(batch, row.payload_bytes, row.ns_per_operation.median * threads * batch)


def _reckoned(card: "Card", messages: int, message_bytes: int) -> InBatches:
    found = card.predict(messages, message_bytes)

    def figure(value: float) -> Figure:
        return Figure(value, Origin.PROJECTED)

    return InBatches(
        messages=messages,
        batch_ns=figure(found.batch_ns),
        host_ns=figure(found.host_ns / messages),
        per_s=figure(messages * NS_PER_S / found.interval_ns),
        bound_by=found.bound_by,
    )
