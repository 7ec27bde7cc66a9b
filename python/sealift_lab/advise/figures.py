"""Every figure of the advice on a load, one by one, each with its origin: for CSV and JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations

import polars as pl

from sealift_lab.advise.advice import Advice
from sealift_lab.advise.devices import Device
from sealift_lab.advise.load import Candidate, Service
from sealift_lab.advise.payoff import PER_MILLION, Payoff
from sealift_lab.judge.crossings import stretches, verdicts_of_models
from sealift_lab.model.results import Estimate, Origin


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        about: "service", "cost", "break-even" or "card".
        device: Whose it is.
        against: The other device, where two are compared; else "".
        batch: Messages a batch; None where it is for all, or, of a cost, for all of several.
        figure: What it is, the unit last.
        value: A number; None for never, or for none.
        low: Lower end of its 95 % interval; None where it has none.
        high: Upper end.
        text: What is no number: a verdict, a currency; or "".
        origin: Where it comes from.
        is_used: Whether these are the batches that the device should have under the load.
    """

    about: str
    device: str
    against: str = ""
    batch: int | None = None
    figure: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""
    origin: Origin = Origin.MEASURED
    is_used: bool = False

    @property
    def record(self) -> Mapping[str, object]:
        """The same with four significant digits."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        rounded = {n: None if x is None else float(f"{x:.4g}") for n, x in ends.items()}
        return {**asdict(self), "origin": self.origin.value, **rounded}


def figures(advice: Advice) -> list[Figure]:
    """All of them: services, costs, break-even sizes, cards."""
    return [
        *(figure for each in advice.candidates for figure in _services(each)),
        *(figure for each in advice.candidates for figure in _costs(each.device)),
        *_break_even(advice),
        *(figure for each in advice.payoffs for figure in _card(each)),
    ]


def figures_frame(advice: Advice) -> pl.DataFrame:
    """The figures as a table, one row each."""
    kinds = {"batch": pl.Int64(), "is_used": pl.Boolean()}
    kinds |= dict.fromkeys(("value", "low", "high"), pl.Float64())
    schema = {each.name: kinds.get(each.name, pl.String()) for each in fields(Figure)}
    return pl.DataFrame([each.record for each in figures(advice)], schema=schema)


def _services(candidate: Candidate) -> Iterator[Figure]:
    name, origin = candidate.name, candidate.device.origin
    for service in candidate.services:
        first = Figure("service", name, batch=service.batch.messages, origin=origin)
        first = replace(first, is_used=service is candidate.used)
        for what, found in _of_service(service):
            yield replace(first, figure=what, value=found.value, low=found.low, high=found.high)
        if service.p99_ns is not None:
            yield replace(first, figure="p99_ns", value=service.p99_ns, origin=Origin.SIMULATED)


def _of_service(service: Service) -> Iterator[tuple[str, Estimate]]:
    yield "messages_per_s_at_most", service.batch.per_s
    yield "batch_ns", service.batch.batch_ns
    yield "host_ns_per_message", service.batch.host_ns
    if service.devices_needed is not None and service.cores_busy is not None:
        yield "devices_needed", Estimate(service.devices_needed)
        yield "cores_busy", service.cores_busy


def _costs(device: Device) -> Iterator[Figure]:
    """The parts of its cost lines; how far off the worst batch is, where they were fitted."""
    lines = {1: device.alone, None: device.line} if device.card is None else {None: device.line}
    for batch, line in lines.items():
        for part, value in asdict(line).items():
            if device.card is None or part != "worst_share":
                first = Figure("cost", device.name, batch=batch, origin=device.origin)
                yield replace(first, figure=part, value=value)


def _break_even(advice: Advice) -> Iterator[Figure]:
    """By message size which of two devices is faster, alone and in the batches of the best one."""
    sizes = [round(row.payload_bytes) for row in advice.results.rows]
    low, high = min(sizes), max(sizes)
    between = (1 << power for power in range(high.bit_length()))
    places = sorted({low, *(size for size in between if low < size < high), high})
    devices = [each.device for each in advice.candidates]
    for messages in sorted({1, advice.best.used.batch.messages}):
        there = [device for device in devices if messages in device.by_messages]
        for one, other in combinations(there, 2):
            yield from _compared(one, other, messages, places)


def _compared(one: Device, other: Device, messages: int, places: list[int]) -> Iterator[Figure]:
    """The sizes over which one compares with the other in one way, by their cost lines."""
    lines = [each.alone if messages == 1 else each.line for each in (one, other)]
    verdicts = verdicts_of_models(
        lambda size: one.batch_ns(messages, size),
        lambda size: other.batch_ns(messages, size),
        places,
        max(line.worst_share for line in lines),
    )
    first = Figure("break-even", one.name, other.name, messages)
    if Origin.PROJECTED in (one.origin, other.origin):
        first = replace(first, origin=Origin.PROJECTED)
    for verdict, *ends in stretches(verdicts):
        for name, size in zip(("from_bytes", "to_bytes"), ends, strict=True):
            yield replace(first, figure=name, value=size, text=verdict.value)


def _card(found: Payoff) -> Iterator[Figure]:
    first = Figure("card", found.card.name, found.real.name, origin=Origin.PROJECTED)
    values = {
        "cards": found.count,
        "earlier_from_messages": found.earlier.messages,
        "times_as_long": found.times,
        "at_messages_per_s": found.rate_per_s or PER_MILLION,
        "cores_freed": found.cores_freed,
        "cores_freed_at_most": found.cores_freed_most,
        "frees_core_at_messages_per_s": found.frees_core_at_per_s,
    }
    if found.watts is not None:
        values["watts"] = found.watts
    for figure, value in values.items():
        yield replace(first, figure=figure, value=value)
    if found.price is not None:
        money = replace(first, text=found.currency)
        yield replace(money, figure="price", value=found.price)
        yield replace(money, figure="pays_over_core_price", value=found.core_price)
    if found.pays is not None:
        yield replace(first, figure="pays", text="yes" if found.pays else "no")
