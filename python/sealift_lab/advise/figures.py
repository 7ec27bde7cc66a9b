"""Every figure of the advice on a load with its origin, and all of it as a JSON document."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import combinations

import polars as pl

from sealift_lab.advise.advice import Advice, Payoff
from sealift_lab.advise.load import Candidate, Device
from sealift_lab.claim.answer import Answer
from sealift_lab.judge.lines import stretches
from sealift_lab.model.results import Estimate, Origin, Results
from sealift_lab.run.read_folder import Run
from sealift_lab.show.export import rows_frame

Record = dict[str, object]
"""A figure: a value in each column of `SCHEMA`; None where there is none."""


def figures(advice: Advice) -> list[Record]:
    """All of them: services, costs, break-even sizes, cards."""
    return [
        *(record for each in advice.candidates for record in _services(each)),
        *(record for each in advice.candidates for record in _costs(each.device)),
        *_break_even(advice),
        *(record for each in advice.payoffs for record in _card(each)),
    ]


def figures_frame(advice: Advice) -> pl.DataFrame:
    """The figures as a table, one row each."""
    return pl.DataFrame(figures(advice), schema=SCHEMA)


def run_document(run: Run, results: Mapping[str, Results], answer: Answer) -> Record:
    """The answer of a run, its machine, every row and every report, as plain values."""
    ending = run.ending
    return {
        "schema": "sealift-advice/3",
        "run": str(run.path),
        "command": list(run.plan.command),
        "ending": ending and asdict(ending),
        "machine": {name: asdict(fact) for name, fact in run.machine.facts.items()},
        "answer": asdict(answer),
        "rows": rows_frame(run.plan, results).to_dicts(),
        "verified": [asdict(each) for found in results.values() for each in found.reports],
    }


def load_document(advice: Advice, results: Mapping[str, Results], answer: Answer) -> Record:
    """The same of a load: with the messages, the demand, each device's rank, and each figure."""
    lengths = advice.lengths
    return {
        **run_document(advice.run, results, answer),
        "schema": "sealift-load-advice/3",
        "messages": {
            **advice.work,
            "mean_bytes": lengths.mean_bytes,
            "bytes_min": lengths.counts[0][0],
            "bytes_max": lengths.counts[-1][0],
        },
        "demand": asdict(advice.demand),
        "devices": [_device(each) for each in advice.candidates],
        "left_out": dict(advice.left_out),
        "figures": figures(advice),
    }


def _device(candidate: Candidate) -> Record:
    comparison, card = candidate.comparison, candidate.device.card
    return {
        "device": candidate.name,
        "origin": candidate.device.origin.value,
        "rank": candidate.place,
        "rank_is_projected": card is not None,
        "verdict_on_first_of_rank": comparison and comparison.verdict.value,
        "state": candidate.used.state.value,
        "batch": candidate.used.batch.messages,
        # Constants of a card that were measured on this machine.
        "measured_here": {
            each.name: {"value": each.value, "unit": each.unit, "source": each.source}
            for each in (card.constants if card else ())
            if each.measured
        },
    }


def _record(value: Estimate | float | None, **columns: object) -> Record:
    """One figure, with four significant digits."""
    found = value if isinstance(value, Estimate | None) else Estimate(value)
    ends = (found.value, found.low, found.high) if found else (None,) * 3
    rounded = [None if end is None else float(f"{end:.4g}") for end in ends]
    plain = {"against": "", "batch": None, "text": "", "origin": Origin.MEASURED, "is_used": False}
    record = plain | columns | dict(zip(("value", "low", "high"), rounded, strict=True))
    return {name: record[name] for name in SCHEMA} | {"origin": str(record["origin"])}


def _services(candidate: Candidate) -> Iterator[Record]:
    for service in candidate.services:
        figures: dict[str, Estimate | float] = {
            "messages_per_s_at_most": service.batch.per_s,
            "batch_ns": service.batch.batch_ns,
            "host_ns_per_message": service.batch.host_ns,
        }
        if service.devices_needed is not None and service.cores_busy is not None:
            figures["devices_needed"] = service.devices_needed
            figures["cores_busy"] = service.cores_busy
        if service.p99_ns is not None:
            figures["p99_ns"] = service.p99_ns
        for name, value in figures.items():
            origin = Origin.SIMULATED if name == "p99_ns" else candidate.device.origin
            yield _record(
                value,
                about="service",
                device=candidate.name,
                batch=service.batch.messages,
                figure=name,
                origin=origin,
                is_used=service is candidate.used,
            )


def _costs(device: Device) -> Iterator[Record]:
    """The parts of its cost lines; how far off the worst batch is, where they were fitted."""
    of = {"about": "cost", "device": device.name, "origin": device.origin}
    lines = {1: device.alone, None: device.line} if device.card is None else {None: device.line}
    for batch, line in lines.items():
        for part, value in asdict(line).items():
            if device.card is None or part != "worst_share":
                yield _record(value, batch=batch, figure=part, **of)


def _break_even(advice: Advice) -> Iterator[Record]:
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


def _compared(one: Device, other: Device, messages: int, places: list[int]) -> Iterator[Record]:
    """The sizes over which one compares with the other in one way, by their cost lines."""
    found = stretches(
        lambda size: one.batch_ns(messages, size),
        lambda size: other.batch_ns(messages, size),
        places,
        max(each.line_of(messages).worst_share for each in (one, other)),
    )
    is_projected = Origin.PROJECTED in (one.origin, other.origin)
    of = {"about": "break-even", "device": one.name, "against": other.name, "batch": messages}
    of["origin"] = Origin.PROJECTED if is_projected else Origin.MEASURED
    for verdict, *ends in found:
        for name, size in zip(("from_bytes", "to_bytes"), ends, strict=True):
            yield _record(size, figure=name, text=verdict.value, **of)


def _card(found: Payoff) -> Iterator[Record]:
    of = {"device": found.card.name, "against": found.real.name, "origin": Origin.PROJECTED}
    of["about"], described = "card", found.described
    values = {
        "cards": found.count,
        "earlier_from_messages": found.earlier.messages,
        "times_as_long": found.times,
        "at_messages_per_s": found.rate_per_s,
        "cores_freed": found.cores_freed,
        "cores_freed_at_most": found.cores_freed_most,
        "frees_core_at_messages_per_s": found.frees_core_at_per_s,
    }
    if described.watts is not None:
        values["watts"] = described.watts * found.count
    for name, value in values.items():
        yield _record(value, figure=name, **of)
    if found.price is not None:
        currency = described.currency or ""
        yield _record(found.price, figure="price", text=currency, **of)
        yield _record(found.core_price, figure="pays_over_core_price", text=currency, **of)
    if found.pays is not None:
        yield _record(None, figure="pays", text="yes" if found.pays else "no", **of)


SCHEMA: Mapping[str, type[pl.DataType]] = {
    # "service", "cost", "break-even" or "card".
    "about": pl.String,
    "device": pl.String,
    # The other device, where two are compared.
    "against": pl.String,
    # Messages a batch; None where it is for all, or, of a cost, for all of several.
    "batch": pl.Int64,
    # What it is, the unit last.
    "figure": pl.String,
    # None for never, or for none.
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    # What is no number: a verdict, a currency.
    "text": pl.String,
    "origin": pl.String,
    # Whether these are the batches that the device should have under the load.
    "is_used": pl.Boolean,
}
