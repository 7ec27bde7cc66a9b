"""One line for each experiment: who wins where, how verdicts and published figures are counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sealift_lab.claim.claims import comparison, skipped, wins, wrong_results
from sealift_lab.claim.published import Pair, count
from sealift_lab.claim.words import sentence
from sealift_lab.model.claim import Claim
from sealift_lab.model.results import Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_number


def finding(planned: PlannedExperiment, results: Results, published: Sequence[Pair] = ()) -> str:
    """What one experiment of a run found, in a line, with its published figures counted."""
    parts = [*_parts(planned, results, published)] or ["Nothing was measured"]
    return f"{'. '.join(part[0].upper() + part[1:] for part in parts)}."


def _parts(
    planned: PlannedExperiment, results: Results, published: Sequence[Pair]
) -> Iterator[str]:
    yield from (sentence(claim) for claim in wrong_results(planned, results))
    sound = [row for row in results.rows if not row.wrong]
    compared = [comparison(planned, row) for row in sound if row.verdict]
    yield from (sentence(claim) for claim in [*wins(planned, sound)][:WINS_MOST])
    if compared:
        yield from _spans(compared)
        counts = Counter(claim.relation.value for claim in compared)
        yield _counted(counts, "comparison")
    elif sound:
        yield f"{len(sound)} measured, nothing compared"
    elif not planned.is_timed and any(each.facts for each in results.reports):
        yield f"{planned.origin.capitalize()}, not measured"
    for each in count(published):
        outcomes = {name.value: many for name, many in each.outcomes.items()}
        yield _counted(outcomes, "published figure", f", {each.ledger}")
    if absent := [claim.subject for claim in skipped(planned, results)]:
        more = f" and {len(absent) - NAMES_MOST} more" if len(absent) > NAMES_MOST else ""
        yield f"Not measured: {', '.join(absent[:NAMES_MOST])}{more}"
    if left_out := len(planned.left_out):
        yield f"{left_out} of {left_out + len(planned.groups)} groups had no time"


def _spans(compared: Sequence[Claim]) -> Iterator[str]:
    """From least to most how many times as fast each arm is; of a few arms only."""
    subjects = dict.fromkeys((claim.subject, claim.other) for claim in compared)
    if len(subjects) > SPANS_MOST:
        return
    for subject, other in subjects:
        ratios = [
            claim.figure.value
            for claim in compared
            if claim.figure and (claim.subject, claim.other) == (subject, other)
        ]
        ends = dict.fromkeys(format_number(each) for each in (min(ratios), max(ratios)))
        yield f"{subject}: {' to '.join(ends)}× {other}"


def _counted(counts: Mapping[str, int], noun: str, more: str = "") -> str:
    """`25 comparisons: 20 faster, 5 same`; of one kind `25 comparisons: all faster`."""
    total = sum(counts.values())
    head = f"{total:,} {noun}{'' if total == 1 else 's'}{more}"
    if len(counts) == 1:
        return f"{head}: {'all ' if total > 1 else ''}{next(iter(counts))}"
    return f"{head}: {', '.join(f'{many:,} {name}' for name, many in counts.items())}"


WINS_MOST, SPANS_MOST, NAMES_MOST = 2, 2, 4
