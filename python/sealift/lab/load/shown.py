"""The advice on a load as CSV and JSON."""

import json
from dataclasses import asdict
from typing import Any

from sealift.lab.export import summary_records
from sealift.lab.load.advice import Advice
from sealift.lab.load.answer import answer
from sealift.lab.load.entries import entries
from sealift.lab.load.ranking import Ranked
from sealift.lab.record import csv_text
from sealift.lab.shortfall import shortfall
from sealift.lab.wording import measured_here


def csv(advice: Advice) -> str:
    """A row for each figure, with its origin and what the run lacks."""
    lacking = shortfall(advice.run)
    records = [entry.as_dict() | {"shortfall": lacking} for entry in entries(advice)]
    return csv_text(records, list(records[0]))


def json_text(advice: Advice) -> str:
    """Everything: the answer, who stands where, and each figure with its origin."""
    run, lengths = advice.run, advice.seen.lengths
    document: dict[str, Any] = {
        "schema": "sealift-load-advice/2",
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
        "answer": asdict(answer(advice)),
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
