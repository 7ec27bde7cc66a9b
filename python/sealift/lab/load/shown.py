"""Shows the advice on a load: text, CSV and JSON. Shows only, never measures."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sealift.lab.export import summary_records
from sealift.lab.load.advice import Advice
from sealift.lab.load.amounts import number
from sealift.lab.load.device import Figure
from sealift.lab.load.entries import entries
from sealift.lab.load.ranking import Ranked
from sealift.lab.load.saying import answer, ties
from sealift.lab.load.serving import State
from sealift.lab.load.sources import sources
from sealift.lab.load.worth import worth
from sealift.lab.pairs import in_words
from sealift.lab.record import csv_text
from sealift.lab.shortfall import shortfall
from sealift.lab.units import format_measure
from sealift.lab.wording import measured_here


def text(advice: Advice) -> str:
    """The answer, the table behind it, when a card would pay, and where the figures come from.

    What the run lacks comes before all of it.
    """
    lacking = shortfall(advice.run)
    parts = (
        [*([lacking] if lacking else []), *answer(advice)],
        [*_table(advice), *ties(advice.ranked)],
        _even(advice),
    )
    shown = [list(part) for part in (*parts, worth(advice), sources(advice))]
    return "\n\n".join("\n".join(part) for part in shown if part) + "\n"


def csv(advice: Advice) -> str:
    """A row for each figure, with its origin and what the run lacks."""
    lacking = shortfall(advice.run)
    records = [entry.as_dict() | {"shortfall": lacking} for entry in entries(advice)]
    return csv_text(records, list(records[0]))


def json_text(advice: Advice) -> str:
    """Everything: the answer, who stands where, and each figure with its origin."""
    run, lengths = advice.run, advice.seen.lengths
    document: dict[str, Any] = {
        "schema": "sealift-load-advice/1",
        "run": str(run.path),
        "command": list(run.plan.command),
        "ending": None if run.ending is None else asdict(run.ending),
        "shortfall": shortfall(run) or None,
        "machine": {name: asdict(fact) for name, fact in run.machine.facts.items()},
        "messages": {
            **advice.seen.cell,
            "mean_bytes": lengths.mean_bytes,
            "least_bytes": lengths.least_bytes,
            "most_bytes": lengths.most_bytes,
        },
        "demand": {**asdict(advice.demand), "core_price": advice.core_price},
        "answer": answer(advice),
        "devices": [_device(each) for each in advice.ranked],
        "left_out": dict(advice.seen.left_out),
        "figures": [entry.as_dict() for entry in entries(advice)],
        "rows": summary_records(run, advice.found),
        "verified": [asdict(each) for each in run.verified],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _device(ranked: Ranked) -> dict[str, Any]:
    served = ranked.served
    card = served.device.card
    return {
        "device": ranked.name,
        "origin": served.device.origin.value,
        "rank": ranked.rank,
        "rank_is_projected": ranked.is_projected,
        "verdict_on_first_of_rank": None if ranked.judged is None else ranked.judged.verdict,
        "state": served.state.value,
        "batch": served.used.batch.messages,
        **({"measured_here": measured_here(card)} if card else {}),
    }


def _table(advice: Advice) -> Iterator[str]:
    with_rate = advice.demand.rate_per_s is not None
    head = ["rank", "device", "origin", "batch", "messages/s", "MB/s", "one alone us", "batch us"]
    head += ["host ns/message", *(["cores busy", "p99 us at most"] if with_rate else []), ""]
    rows = [head, *(_cells(each, advice, with_rate=with_rate) for each in advice.ranked)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(_aligned(row, widths)).rstrip()


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if place in LEFT or place == len(row) - 1 else cell.rjust(width)


def _cells(ranked: Ranked, advice: Advice, *, with_rate: bool) -> list[str]:
    device, used = ranked.served.device, ranked.served.used
    speed = used.batch.per_s.value
    under_load = [_figure(used.cores_busy), _us(used.p99_ns)] if with_rate else []
    return [
        f"{'~' if ranked.is_projected else ''}{ranked.rank}",
        ranked.name,
        device.origin.value,
        f"{used.batch.messages:,}",
        format_measure(speed),
        format_measure(speed * advice.seen.lengths.mean_bytes / 1e6),
        _us(device.batches[0].batch_ns),
        _us(used.batch.batch_ns),
        format_measure(used.batch.host_ns.value),
        *under_load,
        _note(ranked),
    ]


def _note(ranked: Ranked) -> str:
    used = ranked.served.used
    if used.state is State.OVERLOADED and used.devices_needed is not None:
        return f"can't keep up: needs {number(used.devices_needed)} of them"
    return NOTES.get(used.state, "")


def _even(advice: Advice) -> Iterator[str]:
    cards = [each.name for each in advice.ranked if each.is_projected]
    for count, found in advice.pairs.items():
        yield "One message at a time:" if count == 1 else f"In batches of {count:,}:"
        yield from (f"  {line}" for line in in_words(found, cards))


def _us(figure: Figure | None) -> str:
    return "" if figure is None else format_measure(figure.value / 1e3)


def _figure(value: float | None) -> str:
    if value is not None and 0 < value < FIGURE_MIN:
        return f"under {FIGURE_MIN}"
    return "" if value is None else format_measure(value)


NOTES = {
    State.LATE: "not shown to be in time",
    State.NEAR_FULL: "too near to full to say",
}
# Nobody notices less of a core.
FIGURE_MIN = 0.0001
# Columns of words.
LEFT = (1, 2)
