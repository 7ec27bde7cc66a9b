"""A run as one page that fetches nothing and needs no script: the answer first, the rest folded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from sealift_lab.claim.answer import answer, command_text
from sealift_lab.claim.claims import absent_devices, skipped
from sealift_lab.claim.declared import lines, plans, problems, published
from sealift_lab.claim.findings import finding
from sealift_lab.claim.published import Pair, count
from sealift_lab.claim.words import sentence
from sealift_lab.judge.judge import gauge
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.results import Results
from sealift_lab.model.run import Fact, PlannedExperiment
from sealift_lab.model.units import format_number, format_percent
from sealift_lab.run.folder import Run
from sealift_lab.show.charts import Drawing, draw
from sealift_lab.show.tables import (
    Table,
    computed_table,
    counts_table,
    published_table,
    rows_table,
)


def page(run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()) -> str:
    """The page of a run, as HTML.

    Args:
        run: The run folder.
        results: What was found of each of its experiments.
        loaded: Experiments of one's own, whose published figures count only so.
    """
    first = answer(run, results)
    pairs = published(run, results, loaded)
    planned = plans(run)
    names = {key: name for each in planned for key, name in each.names.items()}
    place = jinja2.FileSystemLoader(Path(__file__).parent)
    said = set[str]()
    environment = jinja2.Environment(
        loader=place, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(TEMPLATE).render(
        answer=first,
        top=max((bar.rate.high or bar.rate.value for bar in first.bars if bar.rate), default=1),
        parts=[_part(each, results[each.name], pairs, loaded, said) for each in planned],
        counts=counts_table(count(pairs)) if pairs else None,
        documents=_documents(pairs),
        absent=absent_devices(run.machine, names),
        notes=[*run.notes, *problems(run, results, loaded)],
        method=_method(run, results),
        facts={name: _fact_text(fact) for name, fact in run.machine.facts.items()},
        sensors=[*_sensors(run)],
        again=command_text(run),
        created=run.plan.created,
        version=run.plan.version,
    )


@dataclass(frozen=True)
class _Part:
    """An experiment on the page."""

    name: str
    title: str
    finding: str
    drawings: Sequence[Drawing]
    table: Table
    skipped: Sequence[str]
    left_out: int
    notes: str


@dataclass(frozen=True)
class _Sensor:
    """A sensor's line, in a box of 100 by 24."""

    name: str
    span: str
    line: str


def _part(
    planned: PlannedExperiment,
    results: Results,
    pairs: Sequence[Pair],
    loaded: Sequence[Experiment],
    said: set[str],
) -> _Part:
    own = [pair for pair in pairs if pair[1].experiment == planned.name]
    beside = lines(planned, results, loaded)
    printed = [published for published, _ in own]
    drawn = (draw(planned, results, chart, beside, printed) for chart in planned.charts)
    table = rows_table if planned.is_timed and results.rows else computed_table
    return _Part(
        planned.name,
        planned.title or planned.name,
        finding(planned, results, own),
        [drawing for drawing in drawn if drawing],
        _shortened(table(planned, results)),
        [sentence(claim) for claim in skipped(planned, results)],
        max(0, len(table(planned, results).rows) - ROWS_MOST),
        _notes(planned.notes, said),
    )


def _notes(text: str, said: set[str]) -> str:
    """Markdown as HTML, without paragraphs that stand further up on the page."""
    new = [part for part in text.split("\n\n") if part not in said]
    said.update(new)
    return str(MarkdownIt("commonmark", {"html": False}).render("\n\n".join(new)))


def _shortened(table: Table) -> Table:
    return Table(table.columns, table.rows[:ROWS_MOST], table.numbers, table.marks[:ROWS_MOST])


def _documents(pairs: Sequence[Pair]) -> list[tuple[str, Table]]:
    """The published figures of each document."""
    names = dict.fromkeys(each.figure.partition("-")[0] for each, _ in pairs)
    return [
        (name, published_table([p for p in pairs if p[0].figure.partition("-")[0] == name]))
        for name in names
    ]


def _method(run: Run, results: Mapping[str, Results]) -> str:
    """How figures come about, in a few sentences; of computed experiments there is nothing."""
    rows = [row for each in results.values() for row in each.rows]
    if not rows:
        return ""
    pairs = gauge(run.samples)
    blocks, processes = ({getattr(row, name) for row in rows} for name in ("blocks", "processes"))
    noise = (
        NOISE.format(
            pairs=pairs.pairs,
            noise=format_percent(pairs.noise),
            clean=format_percent(pairs.clean_share),
        )
        if pairs
        else ""
    )
    return f"{METHOD.format(blocks=_span(blocks), processes=_span(processes))}{noise}"


def _span(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _fact_text(fact: Fact) -> str:
    value = fact.value
    if value is None:
        return fact.reason or "not known"
    if isinstance(value, float):
        return format_number(value)
    return str(value) if isinstance(value, str | int) else ", ".join(value)


def _sensors(run: Run) -> Iterator[_Sensor]:
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
        places = (
            f"{100 * at / long:.1f},{23 - 22 * (value - low) / (high - low):.1f}"
            for at, value in thin
        )
        title = name.replace("_", " ")
        yield _Sensor(title, f"{low:,.3g} to {high:,.3g}", " ".join(places))


TEMPLATE = "page.html.j2"
METHOD = (
    "{blocks} blocks in {processes} processes for each row. Times are medians; ratios are "
    "Hodges–Lehmann estimates of paired blocks. Brackets are 95 % intervals, the wider of one over "
    "blocks and one over processes; a verdict stands on 99 %. A difference under 2.5 % is none."
)
NOISE = (
    " In each block one arm is sampled twice: these {pairs:,} pairs scatter by {noise}, "
    "{clean} of them undisturbed."
)
# More rows are in exports only.
ROWS_MOST = 150
READINGS_MOST = 100
COUNTERS = "steal_s"
