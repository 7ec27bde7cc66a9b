"""What a device does with one's messages in batches of several sizes, measured or projected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sealift_lab._lab import Card
from sealift_lab.judge.cost import BatchTime, CostLine, fit
from sealift_lab.model.lengths import Lengths
from sealift_lab.model.results import Estimate, Origin, Row


@dataclass(frozen=True)
class Batch:
    """A device with messages that come in batches of one size.

    Attributes:
        messages: In a batch.
        batch_ns: From handing over a batch to its results, on an idle device.
        host_ns: Time of this machine's processors for each message.
        per_s: Messages a second at most.
        row: Where it was measured; None where it was projected.
    """

    messages: int
    batch_ns: Estimate
    host_ns: Estimate
    per_s: Estimate
    row: Row | None = None


@dataclass(frozen=True)
class Device:
    """A device with one's messages.

    Attributes:
        name: Of the device.
        origin: MEASURED here, or PROJECTED from a card.
        workers: How many batches it works side by side; 1 for a card, whose parts take turns.
        message_bytes: Mean length of one's messages.
        batches: Ascending; 1 is among them.
        alone: Cost of one message of any size.
        line: Cost of batches of several messages of any size.
        card: What it was projected from; None where it was measured.
        lengths: Of one's messages, where they differ; else None.
    """

    name: str
    origin: Origin
    workers: int
    message_bytes: float
    batches: tuple[Batch, ...]
    alone: CostLine
    line: CostLine
    card: Card | None = None
    lengths: Lengths | None = None

    @property
    def largest(self) -> Batch:
        """What it does in its largest batches."""
        return self.batches[-1]

    @property
    def by_messages(self) -> Mapping[int, Batch]:
        """Its batches by the number of their messages."""
        return {each.messages: each for each in self.batches}

    def batch_ns(self, messages: int, size_bytes: float) -> float:
        """Predicted time of one of its batches with messages of any size."""
        if self.card is not None:
            return self.card.predict(messages, round(size_bytes)).batch_ns
        line = self.alone if messages == 1 else self.line
        own = BatchTime(messages, self.message_bytes, self.by_messages[messages].batch_ns.value)
        return line.through(own).batch_ns(messages, size_bytes)


def measured(
    name: str, own: Sequence[Row], rows: Sequence[Row], threads: int, lengths: Lengths
) -> Device:
    """A device that was measured.

    Args:
        name: Of the device.
        own: Its rows of one's own messages.
        rows: All its rows; other sizes tell the cost of a byte.
        threads: How many worked; each one's processor time counts.
        lengths: Of one's own messages.
    """
    points = [
        BatchTime(batch, row.payload_bytes, row.time.value * threads * batch)
        for row in rows
        for batch in [int(row.cell["batch"])]
    ]
    # A message alone pays for its hand-over and fetches its own data: one line would not do.
    alone = [point for point in points if point.messages == 1]
    together = [point for point in points if point.messages > 1]
    # A single batch may have other sizes alone only, and one size tells no cost of a byte.
    has_sizes = len({point.message_bytes for point in together}) > 1
    return Device(
        name=name,
        origin=Origin.MEASURED,
        workers=threads,
        message_bytes=own[0].payload_bytes,
        batches=tuple(sorted((_of_row(r, threads) for r in own), key=lambda b: b.messages)),
        alone=fit(alone or points),
        line=fit(together if has_sizes else points),
        lengths=lengths if len(lengths.counts) > 1 else None,
    )


def projected(card: Card, batches: Iterable[int], lengths: Lengths) -> Device:
    """A device that is not here, by its description, in batches of so many messages."""
    cost = card.cost()
    line = CostLine(cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    size = round(lengths.mean_bytes)
    return Device(
        name=card.name,
        origin=Origin.PROJECTED,
        workers=1,
        message_bytes=lengths.mean_bytes,
        batches=tuple(_of_card(card, count, size) for count in sorted(batches)),
        alone=line,
        line=line,
        card=card,
        lengths=lengths if len(lengths.counts) > 1 else None,
    )


def _of_row(row: Row, threads: int) -> Batch:
    messages = int(row.cell["batch"])
    # A row has the time of all threads together, in which each does its share.
    host_ns = row.time.scaled(threads)
    return Batch(messages, host_ns.scaled(messages), host_ns, row.operations_per_s, row)


def _of_card(card: Card, messages: int, message_bytes: int) -> Batch:
    found = card.predict(messages, message_bytes)
    return Batch(
        messages,
        batch_ns=Estimate(found.batch_ns),
        host_ns=Estimate(found.host_ns / messages),
        per_s=Estimate(messages * 1e9 / found.interval_ns),
    )
