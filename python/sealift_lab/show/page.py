"""A run as one page that fetches nothing and needs no script: the answer first, the rest folded."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt

from sealift_lab.claim.answer import answer, command_text
from sealift_lab.claim.claims import absent_devices, experiment_claims, finding
from sealift_lab.claim.declared import left_out, lines, plans, published
from sealift_lab.claim.replication import Pair, Replication, count, document_of, replication
from sealift_lab.claim.words import sentence
from sealift_lab.judge.rows import gauge
from sealift_lab.measure.write_folder import resume_command
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.published import DOCUMENTS
from sealift_lab.model.results import Origin, Relation, Results
from sealift_lab.model.run import Fact, PlannedExperiment
from sealift_lab.model.units import counted, format_number, format_percent
from sealift_lab.run.read_folder import Run
from sealift_lab.show.charts import draw
from sealift_lab.show.tables import counts_table, experiment_table, published_table


def page(run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()) -> str:
    """The page of a run, as HTML; of experiments that aren't `loaded` with what the run stored."""
    first, planned = answer(run, results), plans(run)
    pairs, problems = published(run, results, loaded)
    others = left_out(run)
    # Of those, print that contradicts itself has something to show.
    shown = [*pairs, *(each for each in others if replication(each[1]) is not Replication.UNTESTED)]
    documents = sorted({document_of(each) for each, _ in shown})
    is_mixed = run.plan.quick and any(each.rows for each in results.values())
    aside = [each for each in planned if is_mixed and each.origin is not Origin.MEASURED]
    reached = [each for each in planned if _is_reached(results[each.name])]
    has_own_alone = all(each.file is not None for each in planned)
    seen = set[str]()
    return ENVIRONMENT.get_template(TEMPLATE).render(
        answer=first,
        top=max((bar.rate.high or bar.rate.value for bar in first.bars if bar.rate), default=1),
        parts=[
            _part(run, each, results, pairs, loaded, seen) for each in reached if each not in aside
        ],
        unreached=[each.title or each.name for each in planned if each not in reached],
        resume=resume_command(run.path),
        computed=[
            (each.title, finding(each, results[each.name], _of(each, pairs))) for each in aside
        ],
        rows_most=ROWS_MOST,
        counts=counts_table(count([*pairs, *others])) if pairs or others else None,
        is_whole=run.plan.of_all,
        documents=[
            (
                _title(name),
                published_table([each for each in shown if document_of(each[0]) == name]),
            )
            for name in documents
        ],
        absent=[] if has_own_alone else absent_devices(run.machine, planned),
        notes=[*run.notes, *problems],
        method=_method(run, results),
        facts={name: fact_text(fact) for name, fact in run.machine.facts.items()},
        sensors=[*_sensors(run)],
        again=command_text(run),
        created=run.plan.created,
        version=run.plan.version,
    )


def _is_reached(results: Results) -> bool:
    """Whether something was measured, or could not be for another reason than time."""
    found = (each for each in results.reports if not each.is_left_out)
    return bool(results.rows) or any(each.facts or each.skipped or each.wrong for each in found)


def _part(
    run: Run,
    planned: PlannedExperiment,
    found: Mapping[str, Results],
    pairs: Sequence[Pair],
    loaded: Sequence[Experiment],
    seen: set[str],
) -> Mapping[str, Any]:
    """An experiment on the page; paragraphs of its notes in `seen` are left out, others added."""
    own, results = _of(planned, pairs), found[planned.name]
    beside, claims = lines(run, planned, found, loaded), experiment_claims(planned, results)
    printed = [published for published, _ in own]
    drawn = (draw(planned, results, chart, beside, printed) for chart in planned.charts)
    notes = [text for text in planned.notes.split("\n\n") if text not in seen]
    seen.update(notes)
    return {
        "name": planned.name,
        "title": planned.title or planned.name,
        # A run of all has its published figures in one table.
        "finding": finding(planned, results, () if run.plan.of_all else own),
        "drawings": [drawing for drawing in drawn if drawing],
        "table": experiment_table(planned, results),
        "skipped": [sentence(claim) for claim in claims if claim.relation is Relation.ABSENT],
        "notes": MarkdownIt("commonmark", {"html": False}).render("\n\n".join(notes)),
    }


def _of(planned: PlannedExperiment, pairs: Sequence[Pair]) -> Sequence[Pair]:
    """The published figures of an experiment."""
    return [pair for pair in pairs if pair[1].experiment == planned.name]


def _title(document: str) -> str:
    """`Document 004: ESCAPE Benchmarking (GAPS CLOSURE)`; of one's own the number alone."""
    return ": ".join(filter(None, (f"Document {document}", DOCUMENTS.get(document, ""))))


def _method(run: Run, results: Mapping[str, Results]) -> str:
    """How figures come about, in a few sentences; of computed experiments there is nothing."""
    rows = [row for each in results.values() for row in each.rows]
    if not rows:
        return ""
    text = METHOD.format(
        blocks=_span("block", {row.blocks for row in rows}),
        processes=_span("process", {row.processes for row in rows}),
    )
    if pairs := gauge(run.samples):
        shares = {n: format_percent(getattr(pairs, n)) for n in ("noise", "clean_share")}
        text += NOISE.format(pairs=pairs.pairs, **shares)
    return text


def _span(noun: str, numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{'' if low == high else f'{low:,} to '}{counted(high, noun)}"


def fact_text(fact: Fact) -> str:
    """The value of a fact, or why it is not known."""
    match fact.value:
        case None:
            return fact.reason or "not known"
        case float() as value:
            return format_number(value)
        case str() | int() as value:
            return str(value)
        case values:
            return ", ".join(values)


def _sensors(run: Run) -> Iterator[Mapping[str, str]]:
    """The sensors that changed, each a line; what counts up shows what the run added."""
    for name in dict.fromkeys(name for each in run.readings for name in each.values):
        series = [(each.at_s, each.values[name]) for each in run.readings if name in each.values]
        if name.endswith(COUNTERS):
            series = [(at, value - series[0][1]) for at, value in series]
        low, high = min(value for _, value in series), max(value for _, value in series)
        if low == high:
            continue
        thin = series[:: 1 + len(series) // READINGS_MOST]
        long = max(thin[-1][0], 1e-9)
        # In a box of 100 by 24.
        places = (
            f"{100 * at / long:.1f},{23 - 22 * (value - low) / (high - low):.1f}"
            for at, value in thin
        )
        span = f"{low:,.3g} to {high:,.3g}"
        yield {"name": name.replace("_", " "), "span": span, "line": " ".join(places)}


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters["counted"] = counted
TEMPLATE = "page.html.j2"
METHOD = (
    "{blocks} in {processes} for each row. Times are medians; ratios are "
    "Hodges–Lehmann estimates of paired blocks. Brackets are 95 % intervals, the wider of one over "
    "blocks and one over processes; a verdict stands on 99 %. A difference under 2.5 % is none."
)
NOISE = (
    " In each block one arm is sampled twice: these {pairs:,} pairs scatter by {noise}, "
    "{clean_share} of them undisturbed."
)
# More rows are in exports only.
ROWS_MOST = 150
READINGS_MOST = 100
COUNTERS = "steal_s"
