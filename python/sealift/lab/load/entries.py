"""Every figure of the advice on a load, one by one, each with its origin."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sealift.lab.load.advice import Advice
from sealift.lab.load.device import Device, Figure
from sealift.lab.load.payoff import PER_MILLION, Payoff
from sealift.lab.load.ranking import Ranked
from sealift.lab.load.serving import Service
from sealift.lab.result import Origin


@dataclass(frozen=True)
class Entry:
    """One figure.

    Attributes:
        about: "service", "cost", "break-even" or "card".
        device: Whose it is.
        against: The other device, where two are compared; else "".
        batch: Messages a batch; None where it is for all, or, of a cost, for all of several.
        figure: What it is, the unit last.
        value: A number, or in what way a device is faster; None for never, or for none.
        origin: Where it comes from.
        low95: Lower end of its 95 % interval; None where it has none.
        high95: Upper end.
        used: Whether these are the batches that the device should have under the load.
    """

    about: str
    device: str
    against: str
    batch: int | None
    figure: str
    value: float | str | None
    origin: str
    low95: float | None = None
    high95: float | None = None
    used: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        numbers = {name: _rounded(getattr(self, name)) for name in ("value", "low95", "high95")}
        return {**vars(self), **numbers, "used": "yes" if self.used else "no"}


def entries(advice: Advice) -> Iterator[Entry]:
    """All of them: services, costs, break-even sizes, cards."""
    for each in advice.ranked:
        yield from _services(each)
    for each in advice.ranked:
        yield from _costs(each.served.device)
    yield from _break_even(advice)
    for found in advice.payoffs:
        yield from _card(found)


def _rounded(value: float | str | None) -> float | str | None:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _services(ranked: Ranked) -> Iterator[Entry]:
    served = ranked.served
    for service in served.every:
        for name, figure in _figures(service, served.device.origin):
            yield Entry(
                "service",
                served.device.name,
                "",
                service.batch.messages,
                name,
                figure.value,
                figure.origin.value,
                figure.low,
                figure.high,
                service is served.used,
            )


def _figures(service: Service, origin: Origin) -> Iterator[tuple[str, Figure]]:
    batch = service.batch
    yield "messages_per_s_at_most", batch.per_s
    yield "batch_ns", batch.batch_ns
    yield "host_ns_per_message", batch.host_ns
    if service.devices_needed is not None and service.cores_busy is not None:
        yield "devices_needed", Figure(service.devices_needed, origin)
        yield "cores_busy", Figure(service.cores_busy, origin)
    if service.p99_ns is not None:
        yield "p99_ns", service.p99_ns


def _costs(device: Device) -> Iterator[Entry]:
    lines = {1: device.alone, None: device.line} if device.card is None else {None: device.line}
    for batch, line in lines.items():
        parts = {
            "setup_ns": line.setup_ns,
            "per_message_ns": line.per_message_ns,
            "per_byte_ns": line.per_byte_ns,
        }
        if device.card is None:
            parts["worst_error_share"] = line.worst_share
        for name, value in parts.items():
            yield Entry("cost", device.name, "", batch, name, value, device.origin.value)


def _break_even(advice: Advice) -> Iterator[Entry]:
    for batch, found in advice.pairs.items():
        for pair in found:
            at = ("break-even", pair.device, pair.other, batch)
            yield Entry(*at, "is_faster", pair.is_faster, pair.origin)
            yield Entry(*at, "message_bytes", pair.message_bytes, pair.origin)
            yield Entry(*at, "from_bytes", pair.least_bytes, pair.origin)
            yield Entry(*at, "to_bytes", pair.most_bytes, pair.origin)
            if pair.message_bytes_most is not None:
                yield Entry(*at, "message_bytes_most", pair.message_bytes_most, pair.origin)


def _card(found: Payoff) -> Iterator[Entry]:
    name, real = found.served.device.name, found.real.device.name

    def entry(figure: str, value: float | str | None) -> Entry:
        return Entry("card", name, real, None, figure, value, Origin.PROJECTED.value)

    yield entry("cards", found.cards)
    yield entry("earlier_from_messages", found.time.messages)
    yield entry("times_as_long", found.time.times)
    yield entry("at_messages_per_s", found.rate_per_s or PER_MILLION)
    yield entry("cores_freed", found.host.cores_freed)
    yield entry("cores_freed_at_most", found.host.cores_freed_most)
    yield entry("frees_core_at_messages_per_s", found.host.frees_core_at_per_s)
    if found.money is not None:
        yield entry("price", found.money.price)
        yield entry("currency", found.money.currency)
        yield entry("pays_over_core_price", found.money.core_price)
        if found.money.pays is not None:
            yield entry("pays", "yes" if found.money.pays else "no")
    if found.watts is not None:
        yield entry("watts", found.watts)
