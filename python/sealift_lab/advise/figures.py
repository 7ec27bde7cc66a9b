"""The answer of a run, and all of the advice on a load, as JSON documents."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations

from sealift_lab.advise.advice import Advice, Payoff
from sealift_lab.advise.load import Candidate, Service
from sealift_lab.claim.answer import Answer
from sealift_lab.judge.lines import stretches
from sealift_lab.model.results import Origin, Results
from sealift_lab.run.read_folder import Run
from sealift_lab.show.export import rows_frame

Document = dict[str, object]
"""A JSON object. Estimates have a `value`, with the ends `low` and `high` of its interval."""


def run_document(run: Run, results: Mapping[str, Results], answer: Answer) -> Document:
    """The answer of a run, its machine, every row and every report."""
    return {
        "schema": "sealift-advice/3",
        "run": str(run.path),
        "command": run.plan.command,
        "ending": run.ending,
        "machine": run.machine.facts,
        "answer": answer,
        "rows": rows_frame(run.plan, results).to_dicts(),
        "verified": [each for found in results.values() for each in found.reports],
    }


def load_document(advice: Advice, results: Mapping[str, Results], answer: Answer) -> Document:
    """The same of a load: the messages, the demand, and every figure, with its origin."""
    lengths = advice.lengths
    return {
        **run_document(advice.run, results, answer),
        "schema": "sealift-load-advice/4",
        "messages": {
            **advice.work,
            "mean_bytes": lengths.mean_bytes,
            "bytes_min": lengths.counts[0][0],
            "bytes_max": lengths.counts[-1][0],
        },
        "demand": advice.demand,
        "devices": [*map(_device, advice.candidates)],
        "left_out": advice.left_out,
        "break_even": [*_break_even(advice)],
        "cards": [*map(_card, advice.payoffs)],
    }


def _device(candidate: Candidate) -> Document:
    """A device with its rank, all its batches, and the lines that tell its costs."""
    comparison, device = candidate.comparison, candidate.device
    return {
        "device": candidate.name,
        "origin": device.origin,
        "rank": candidate.place,
        "rank_is_projected": device.card is not None,
        "verdict_on_first_of_rank": comparison and comparison.verdict,
        "state": candidate.used.state,
        "batch": candidate.used.batch.messages,
        "batches": [*map(_batch, candidate.services)],
        "cost_alone": device.alone,
        "cost_in_batches": device.line,
        # Constants of a card that were measured on this machine.
        "measured_here": {
            each.name: {"value": each.value, "unit": each.unit, "source": each.source}
            for each in (device.card.constants if device.card else ())
            if each.measured
        },
    }


def _batch(service: Service) -> Document:
    return {
        "messages": service.batch.messages,
        "messages_per_s_at_most": service.batch.per_s,
        "batch_ns": service.batch.batch_ns,
        "host_ns_per_message": service.batch.host_ns,
        "devices_needed": service.devices_needed,
        "cores_busy": service.cores_busy,
        "simulated_p99_ns": service.p99_ns,
    }


def _break_even(advice: Advice) -> Iterator[Document]:
    """By message size which of two devices is faster, alone and in the batches of the best one."""
    sizes = [round(row.payload_bytes) for row in advice.results.rows]
    low, high = min(sizes), max(sizes)
    between = (1 << power for power in range(high.bit_length()))
    places = sorted({low, *(size for size in between if low < size < high), high})
    devices = [each.device for each in advice.candidates]
    for messages in sorted({1, advice.best.used.batch.messages}):
        there = [device for device in devices if messages in device.by_messages]
        for one, other in combinations(there, 2):
            found = stretches(
                partial(one.batch_ns, messages),
                partial(other.batch_ns, messages),
                places,
                max(each.line_of(messages).worst_share for each in (one, other)),
            )
            yield {
                "device": one.name,
                "against": other.name,
                "batch": messages,
                "origin": Origin.PROJECTED if one.card or other.card else Origin.MEASURED,
                "sizes": [
                    {"verdict": verdict, "from_bytes": first, "to_bytes": last}
                    for verdict, first, last in found
                ],
            }


def _card(found: Payoff) -> Document:
    """What a card would save; None for never, or where it is not known."""
    watts = found.described.watts
    return {
        "card": found.card.name,
        "against": found.real.name,
        "origin": Origin.PROJECTED,
        "cards": found.count,
        "earlier_from_messages": found.earlier.messages,
        "times_as_long": found.times,
        "at_messages_per_s": found.rate_per_s,
        "cores_freed": found.cores_freed,
        "cores_freed_at_most": found.cores_freed_most,
        "frees_core_at_messages_per_s": found.frees_core_at_per_s,
        "watts": None if watts is None else watts * found.count,
        "price": found.price,
        "currency": found.described.currency,
        "pays_over_core_price": found.core_price,
        "pays": found.pays,
    }
