"""Cards that are not on this machine, as `sealift explain --device` shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sealift.cli.output import format_measure
from sealift_lab.cli import hardware

if TYPE_CHECKING:
    from sealift_lab._lab import Card


@dataclass(frozen=True)
class CardProjection:
    """Projected times of a card; the commands of `sealift` know it as `sealift.cli.lab.Projection`.

    Attributes:
        name: The card's.
        card: Its description.
    """

    name: str
    card: "Card"

    def entry(self, messages: int, message_bytes: int, best_ns: float) -> dict[str, object]:
        """The JSON of a batch that takes `best_ns` on the device that gets it."""
        prediction = self.card.predict(messages, message_bytes)
        return {
            "device": self.name,
            "origin": "projected",
            "predicted_ns": prediction.batch_ns,
            "predicted_messages_per_s": messages * 1e9 / prediction.batch_ns,
            "queued_messages_per_s": messages * 1e9 / prediction.interval_ns,
            "host_ns": prediction.host_ns,
            "bound_by": prediction.bound_by,
            "would_finish_first": prediction.batch_ns < best_ns,
            "times_as_long": prediction.batch_ns / best_ns,
            "source": self.card.source,
            "measured_here": {
                each.name: {"value": each.value, "unit": each.unit, "source": each.source}
                for each in self.card.constants
                if each.measured
            },
        }

    def row(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        """The row of the table."""
        columns = ("predicted_ns", "predicted_messages_per_s", "host_ns")
        figures = (format_measure(entry[column]) for column in columns)
        return (f"{self.name} (projected)", *figures, "", f"(bound by the {entry['bound_by']})")

    def remark(self, entry: Mapping[str, Any], device: str, policy: str) -> str:
        """Whether the card would get the batch instead of a device, and by how much."""
        ratio = entry["times_as_long"]
        # The default policy: the device that is predicted to finish first gets the batch.
        under = "" if policy == "earliest-finish" else " under earliest-finish"
        if entry["would_finish_first"]:
            times = f"{device} takes {format_measure(1 / ratio)} times as long"
        else:
            times = f"it takes {format_measure(ratio)} times as long as {device}"
        would = "would" if entry["would_finish_first"] else "would not"
        cipher = self.card.algorithm
        rate = "" if cipher == "aes-gcm" else f" (rate of {cipher} taken for AES-GCM)"
        return f"{self.name} (projected) {would} get it{under} if it were here: {times}{rate}"

    def sources(self) -> str:
        """Where the card's constants come from, and which were measured or fitted."""
        return f"Projected: {self.name}: {self.card.summary}; from {' '.join(self._notes())}"

    def _notes(self) -> Iterator[str]:
        yield f"{self.card.source}."
        for each in self.card.constants:
            if each.measured:
                value = format_measure(each.value)
                yield f"{each.name} is {value} {each.unit}, {each.source}."
        if self.card.algorithm != "aes-gcm":
            yield f"Its rate is that of {self.card.algorithm}."
        fitted = [
            f"{each.name} = {each.value:g}{each.unit and f' {each.unit}'} ({each.source})"
            for each in self.card.constants
            if each.fitted
        ]
        if fitted:
            yield f"Fitted: {'; '.join(fitted)}."
        if any(each.name.startswith("board.") for each in self.card.constants):
            yield (
                "This is its closed form; `sealift lab run 'cards-*'` simulates such boards event "
                "by event, with the bus, memory and interrupts that units share, and may give "
                "slightly different times."
            )


def parse_cards(texts: Sequence[str]) -> list[CardProjection]:
    """Cards by their names, or by the files that describe them.

    Raises:
        ValueError: As `hardware.parse_cards`.
    """
    return [CardProjection(card.name, card) for card in hardware.parse_cards(texts)]
