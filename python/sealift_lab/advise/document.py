"""Advice as one document of plain values, for JSON: the answer, and every figure behind it."""

from collections.abc import Mapping
from dataclasses import asdict

from sealift_lab.advise.advice import Advice
from sealift_lab.advise.figures import figures
from sealift_lab.advise.load import Candidate
from sealift_lab.claim.answer import Answer
from sealift_lab.model.results import Results
from sealift_lab.run.folder import Run
from sealift_lab.show.export import rows_frame

Document = dict[str, object]


def run_document(run: Run, results: Mapping[str, Results], answer: Answer) -> Document:
    """The answer of a run, its machine, every row and every report."""
    ending = run.ending
    return {
        "schema": "sealift-advice/3",
        "run": str(run.path),
        "command": list(run.plan.command),
        "ending": ending and asdict(ending),
        "machine": {name: asdict(fact) for name, fact in run.machine.facts.items()},
        "answer": {**asdict(answer), "lead": answer.lead},
        "rows": rows_frame(run.plan, results).to_dicts(),
        "verified": [asdict(each) for found in results.values() for each in found.reports],
    }


def load_document(advice: Advice, results: Mapping[str, Results], answer: Answer) -> Document:
    """The same of a load: with the messages, the demand, each device's rank, and each figure."""
    lengths = advice.lengths
    return {
        **run_document(advice.run, results, answer),
        "schema": "sealift-load-advice/3",
        "messages": {
            **advice.work,
            "mean_bytes": lengths.mean_bytes,
            "bytes_min": lengths.bytes_min,
            "bytes_max": lengths.bytes_max,
        },
        "demand": asdict(advice.demand),
        "devices": [_device(each) for each in advice.candidates],
        "left_out": dict(advice.left_out),
        "figures": [each.record for each in figures(advice)],
    }


def _device(candidate: Candidate) -> Document:
    comparison, card = candidate.comparison, candidate.device.card
    return {
        "device": candidate.name,
        "origin": candidate.device.origin.value,
        "rank": candidate.place,
        "rank_is_projected": candidate.is_projected,
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
