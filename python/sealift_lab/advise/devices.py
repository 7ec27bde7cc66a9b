"""What a device does with one's messages in batches of several sizes, measured or projected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sealift_lab._lab import Card
from sealift_lab.judge.lines import BatchTime, CostLine, fit
from sealift_lab.model.results import Estimate, Origin, Row
from sealift_lab.model.workload import Lengths


@dataclass(frozen=True)
class Batch:
    """A device with messages that come in batches of one size.

    Attributes:
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
        origin: MEASURED here, or PROJECTED from a card.
        workers: How many batches it works side by side; 1 for a card, whose parts take turns.
        lengths: Of one's messages.
        batches: Ascending; 1 is among them.
        alone: Cost of one message of any size.
        line: Cost of batches of several messages of any size.
        card: What it was projected from; None where it was measured.
    """

    name: str
    origin: Origin
    workers: int
    message_bytes: float
    batches: tuple[Batch, ...]
    alone: CostLine
    line: CostLine
    lengths: Lengths
    card: Card | None = None

    @property
    def largest(self) -> Batch:
        """What it does in its largest batches."""
        return self.batches[-1]

    @property
    def by_messages(self) -> Mapping[int, Batch]:
        """Its batches by the number of their messages."""
        return {each.messages: each for each in self.batches}

    def line_of(self, messages: int) -> CostLine:
        """Cost of its batches of so many messages of any size."""
        return self.alone if messages == 1 else self.line

    def batch_ns(self, messages: int, size_bytes: float) -> float:
        """Predicted time of one of its batches with messages of any size."""
        if self.card is not None:
            return self.card.predict(messages, round(size_bytes)).batch_ns
        own = BatchTime(messages, self.message_bytes, self.by_messages[messages].batch_ns.value)
        return self.line_of(messages).through(own).batch_ns(messages, size_bytes)


def measured(
    name: str, own: Sequence[Row], rows: Sequence[Row], threads: int, lengths: Lengths
) -> Device:
    """A device that was measured on so many threads, each of whose processor time counts.

    `own` are its rows of one's own messages; all its rows, of other sizes, tell the cost of a byte.
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
    batches = []
    for row in sorted(own, key=lambda row: int(row.cell["batch"])):
        # A row has the time of all threads together, in which each does its share.
        messages, host_ns = int(row.cell["batch"]), row.time.scaled(threads)
        per_s = row.operations_per_s
        batches.append(Batch(messages, host_ns.scaled(messages), host_ns, per_s, row))
    return Device(
        name,
        Origin.MEASURED,
        workers=threads,
        message_bytes=own[0].payload_bytes,
        batches=tuple(batches),
        alone=fit(alone or points),
        line=fit(together if has_sizes else points),
        lengths=lengths,
    )


def projected(card: Card, batches: Iterable[int], lengths: Lengths) -> Device:
    """A device that is not here, by its description, in batches of so many messages."""
    cost = card.cost()
    line = CostLine(cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    predicted = {n: card.predict(n, round(lengths.mean_bytes)) for n in sorted(batches)}
    return Device(
        card.name,
        Origin.PROJECTED,
        workers=1,
        message_bytes=lengths.mean_bytes,
        batches=tuple(
            Batch(
                messages,
                batch_ns=Estimate(each.batch_ns),
                host_ns=Estimate(each.host_ns / messages),
                per_s=Estimate(messages * 1e9 / each.interval_ns),
            )
            for messages, each in predicted.items()
        ),
        alone=line,
        line=line,
        lengths=lengths,
        card=card,
    )
