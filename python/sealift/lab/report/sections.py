"""The experiments, each folded: a takeaway, and inside its figures, rows and notes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import shorten

from sealift.lab import plot
from sealift.lab.crowding import is_crowded
from sealift.lab.gpus.shown import titled
from sealift.lab.report import order
from sealift.lab.report.cells import SAID_CHARS, fact_names, fact_text
from sealift.lab.report.extent import Extent
from sealift.lab.report.markup import CARDS, Html, folded, join, table, tag
from sealift.lab.report.material import Material, Shown
from sealift.lab.report.words import counted, few, unique, with_interval
from sealift.lab.result import Row
from sealift.lab.store.plan import PROGRAM
from sealift.lab.units import (
    axis_text,
    format_measure,
    format_noise,
    format_share,
    keys_text,
    rate_unit,
)
from sealift.lab.unsettled import said_text, why_unsure
from sealift.lab.vega import Spec, room_px
from sealift.lab.wording import DOCUMENT_003


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        html: All of it.
        specs: The Vega-Lite specifications of its figures, by the id of their place.
    """

    html: Html
    specs: Mapping[str, Spec]


def sections(material: Material) -> Section:
    """The experiments, each folded, in the order of the documents that they reproduce.

    Where there are many, those of a document are folded together.
    """
    ordered = sorted(material.shown, key=_place)
    with_takeaway = len(ordered) <= TAKEAWAYS_MOST
    inside: list[Html] = []
    specs: dict[str, Spec] = {}
    for name, group in groupby(ordered, key=_document):
        title, told = DOCUMENTS.get(name, (f"Document {name}", ""))
        made = [
            _experiment(
                shown, material.command_folder, material.extent, with_takeaway=with_takeaway
            )
            for shown in group
        ]
        specs |= {place: spec for _, drawn in made for place, spec in drawn.items()}
        folds = [html for html, _ in made]
        if with_takeaway:
            inside += [tag("h3", title, title=told or False), *folds]
        else:
            count = counted(len(folds), "experiment", "experiments")
            inside.append(folded(f"{title} ({count})", *folds, class_="of-document"))
    heading = tag("h2", "Experiments")
    html = tag("section", heading, *inside, class_="card", id="experiments") if inside else Html()
    return Section(html, specs)


def drawing(place: str, title: str, spec: Spec, command: str) -> Html:
    """The place of a figure, with its title, what it shows in words, and what draws it alone.

    Args:
        place: Its id.
        title: What stands above it.
        spec: What is drawn.
        command: What draws it alone; "" where no command does.
    """
    described = spec["description"]
    # The room is kept, so that nothing moves when the figure comes.
    room = f"min-height:{room_px(spec)}px"
    plot = tag("div", class_="plot", id=place, role="img", aria_label=described, style=room)
    without = tag("noscript", tag("p", described, class_="muted"))
    alone = [folded("The command that draws these rows alone", tag("code", command))]
    return tag("figure", tag("figcaption", title), plot, without, *(alone if command else []))


def _place(shown: Shown) -> tuple[object, ...]:
    # Experiments of one's own keep the order in which they were named.
    return _document(shown), *(() if shown.is_own else order.place(shown.experiment.id))


def _document(shown: Shown) -> str:
    if shown.is_own:
        return PROGRAM if shown.experiment.file == PROGRAM else OWN
    return shown.experiment.id.split("-")[0] or HERE


def _experiment(
    shown: Shown, run: str, extent: Extent, *, with_takeaway: bool
) -> tuple[Html, dict[str, Spec]]:
    experiment = shown.experiment
    title = titled(experiment.title, shown.found)
    name = " · ".join(filter(None, (experiment.id, experiment.name)))
    takeaway = shorten(shown.takeaway, TAKEAWAY_CHARS, placeholder=" ...")
    brief = [" ", tag("span", takeaway, class_="takeaway")] if with_takeaway else []
    inside = [tag("summary", tag("strong", title), *brief)]
    inside.append(tag("p", name, class_="name"))
    if experiment.why:
        inside.append(tag("p", experiment.why))
    specs: dict[str, Spec] = {}
    if shown.sentence:
        inside.append(tag("p", tag("strong", shown.sentence)))
    if shown.doubt:
        inside.append(tag("p", f"Note: {shown.doubt}.", class_="muted"))
    if shown.why_not:
        done = "measured" if experiment.is_timed else "computed"
        inside.append(tag("p", f"Not {done}: {shown.why_not}.", class_="muted"))
    if shown.found.rows or shown.computed:
        figures = list(_figures(shown, run, extent))
        specs = {place: figure.spec for place, figure, _ in figures}
        if figures:
            inside.append(tag("div", *(html for _, _, html in figures), class_="figures"))
        inside += _undrawn(shown, [figure.plot.title for _, figure, _ in figures])
    if shown.found.rows:
        if any(is_crowded(row.cell) for row in shown.found.rows):
            inside.append(tag("p", CROWDED, class_="muted"))
        inside.append(_rows(shown, extent.rows))
    charts = list(_charts(shown, extent))
    specs |= {place: spec for place, spec, _ in charts}
    if charts:
        inside.append(tag("div", *(html for _, _, html in charts), class_="figures"))
    inside += _listings(shown, extent.listed)
    if shown.computed:
        inside += _computed(shown, extent.rows)
    else:
        inside += [html for fact in LISTED for html in _listed(shown, fact)]
        inside += _verified(shown)
    if shown.found.rows:
        inside += _skipped(shown)
    if left_out := shown.experiment.left_out_text:
        inside.append(tag("p", tag("strong", "Not run, budget: "), left_out, ".", class_="muted"))
    return tag("details", *inside, id=f"experiment-{experiment.name}", class_="experiment"), specs


def _figures(shown: Shown, run: str, extent: Extent) -> Iterable[tuple[str, plot.Figure, Html]]:
    titles = {axis.name: axis.title for axis in shown.experiment.axes}
    drawn = [
        figure
        for each in shown.experiment.plots
        for figure in plot.figures(
            each,
            shown.drawn(each),
            titles,
            shown.comparisons,
            shown.lines,
            points_most=extent.points,
        )
    ]
    for number, figure in enumerate(drawn[: extent.figures], 1):
        place = f"figure-{shown.experiment.name}-{number}"
        is_row = shown.experiment.is_timed
        command = figure.command(run, shown.experiment.name) if is_row else ""
        yield place, figure, drawing(place, figure.plot.title, figure.spec, command)


def _charts(shown: Shown, extent: Extent) -> Iterable[tuple[str, Spec, Html]]:
    """Figures of what is no row; no command draws them alone."""
    for number, each in enumerate(shown.charts[: extent.figures], 1):
        place = f"chart-{shown.experiment.name}-{number}"
        spec = plot.drawn(each, extent.points)
        yield place, spec, drawing(place, each.labels.title, spec, "")


def _listings(shown: Shown, most: int | None) -> Iterable[Html]:
    for each in shown.listings:
        rows = each.rows[:most]
        told = each.title
        if len(rows) < len(each.rows):
            told = f"{told}: the first {len(rows):,} of {len(each.rows):,}"
        is_prose = any(len(cell) > SAID_CHARS for row in rows for cell in row)
        class_ = CARDS if is_prose else ""
        whole = table(each.columns, rows, label=each.title, numbers=each.numbers, class_=class_)
        yield folded(told, whole, is_open=len(rows) <= LISTED_OPEN)


def _undrawn(shown: Shown, titles: Sequence[str]) -> Iterable[Html]:
    for each in shown.experiment.plots:
        if not any(title.startswith(each.title) for title in titles):
            told = f"Not drawn: {each.title}: no row of this run has a number in {each.y} there."
            yield tag("p", told, class_="muted")


def _rows(shown: Shown, most: int | None) -> Html:
    every = shown.found.rows
    rows = every[:most]
    compare = shown.experiment.compare
    axes = [axis for axis in shown.experiment.axes if axis.name != compare]
    fixed = [axis.name for axis in axes if len({row.cell[axis.name] for row in rows}) == 1]
    others = [axis.name for axis in axes if axis.name not in fixed]
    varied = [name for name in others if not _follows(name, others, rows)]
    names = _figure_names(shown)
    columns = [*varied, compare, *names]
    said = (*varied, compare)
    cells = [[*(_value(name, row) for name in said), *_cells(row, names)] for row in rows]
    numbers = [name for name in columns if name not in (*varied, compare, "verdict")]
    label = f"Rows of {shown.experiment.name}"
    told = ", ".join(axis_text(name, rows[0].cell[name]) for name in fixed)
    always = [tag("p", f"In all rows: {told}.", class_="muted")] if told else []
    always += [tag("p", line, class_="muted") for line in _following(others, rows)]
    whole = [*always, table(columns, cells, label=label, numbers=numbers)]
    count = f"{len(every):,} rows"
    told = count if len(rows) == len(every) else f"The first {len(rows):,} of {count}"
    return folded(told, *whole, is_open=len(rows) <= ROWS_OPEN)


def _computed(shown: Shown, most: int | None) -> Iterable[Html]:
    """What was computed, its origin above all: what matters first, and folded all of it."""
    origin = shown.experiment.origin.value
    count = f"{len(shown.computed):,} cells, {origin}"
    facts = fact_names(shown.computed)
    said = tag("p", tag("span", origin, class_=f"origin {origin}"), " ", COMPUTED, class_="muted")
    first = {name: title for name, title in _brief(shown).items() if name in facts}
    is_open = len(shown.computed[:most]) <= COMPUTED_OPEN
    if first and len(first) < len(facts):
        yield folded(count, said, _cells_of(shown, first, most), is_open=is_open)
        every = f"All {len(shown.experiment.axes) + len(facts):,} columns"
        yield folded(every, _cells_of(shown, {name: name for name in facts}, most))
    else:
        whole = _cells_of(shown, {name: name for name in facts}, most)
        yield folded(count, said, whole, is_open=is_open)


def _brief(shown: Shown) -> Mapping[str, str]:
    return shown.brief.facts if shown.brief else {}


def _cells_of(shown: Shown, facts: Mapping[str, str], most: int | None) -> Html:
    """A row for each cell: its axes, and facts under their titles."""
    names = [axis.name for axis in shown.experiment.axes]
    cells = [
        [
            *(str(each.cell[name]) for name in names),
            *(fact_text(each.facts, name) for name in facts),
        ]
        for each in shown.computed[:most]
    ]
    columns = [name.replace("_", " ") for name in (*names, *facts.values())]
    numbers = [
        title.replace("_", " ")
        for name, title in facts.items()
        if all(isinstance(each.facts.get(name, 0.0), float) for each in shown.computed)
    ]
    label = f"What was computed of {shown.experiment.name}"
    return table(columns, cells, label=label, numbers=numbers)


def _following(names: Sequence[str], rows: Sequence[Row]) -> Iterable[str]:
    """What the axes that are left out are, by the axis that they follow."""
    leaders: dict[str, list[str]] = {}
    for name in names:
        if leader := _follows(name, names, rows):
            leaders.setdefault(leader, []).append(name)
    for leader, followers in leaders.items():
        by_value = {row.cell[leader]: row.cell for row in rows}
        told = "; ".join(
            f"{value} is " + ", ".join(axis_text(name, cell[name]) for name in followers)
            for value, cell in by_value.items()
        )
        yield f"By {leader}: {told}."


def _value(name: str, row: Row) -> str:
    return keys_text(row.cell[name]) if name == "keys" else str(row.cell[name])


def _follows(name: str, names: Sequence[str], rows: Sequence[Row]) -> str:
    """The first axis before this one whose value tells what this one's is, or ""."""
    for leader in names[: names.index(name)]:
        pairs = {(row.cell[leader], row.cell[name]) for row in rows}
        if len(pairs) == len({value for value, _ in pairs}) and not _follows(leader, names, rows):
            return leader
    return ""


def _figure_names(shown: Shown) -> list[str]:
    operation = shown.experiment.operation
    names = [f"ns/{operation}", rate_unit(operation)]
    if any(row.payload_mb_per_s for row in shown.found.rows):
        names.append("payload, MB/s")
    if any(row.ratio for row in shown.found.rows):
        names += [f"times {_reference(shown)}", "verdict", "noise floor"]
    return [*names, "clean", "sampled"]


def _reference(shown: Shown) -> str:
    first, *others = dict.fromkeys(row.reference for row in shown.found.rows)
    if others:
        return "the reference"
    # A number says nothing without its name.
    return first if isinstance(first, str) else f"{shown.experiment.compare} {first}"


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    if row.wrong:
        wrong = tag("span", "computed wrong", class_="verdict bad")
        return [wrong, *("" for _ in names[1:])]
    cells: list[str] = [
        with_interval(row.ns_per_operation),
        format_measure(row.operations_per_s.median),
    ]
    if "payload, MB/s" in names:
        cells.append(with_interval(row.payload_mb_per_s))
    if "verdict" in names:
        cells += [with_interval(row.ratio), _verdict(row), format_noise(row.noise_floor)]
    return [*cells, format_share(row.clean_share), f"{row.blocks:,}"]


def _verdict(row: Row) -> Html:
    if row.verdict is None:
        return tag("span", "reference", class_="muted")
    colour = COLOURS.get(row.verdict.value, "plain")
    chip = tag("span", said_text(row), class_=f"verdict {colour}")
    why = why_unsure(row)
    return join([chip, " ", tag("span", why, class_="why")]) if why else chip


def _listed(shown: Shown, fact: str) -> Iterable[Html]:
    """What each arm tells apart from times, where arms tell that."""
    names = [axis.name for axis in shown.experiment.axes]
    told = [
        (*(str(each.cell[name]) for name in names), str(each.facts[fact]))
        for each in shown.found.verified
        if fact in each.facts
    ]
    if told:
        title, origin = LISTED[fact]
        label = f"{title} of {shown.experiment.name}"
        summary = f"{title}, {origin}"
        yield folded(summary, table([*names, fact.replace("_", " ")], told, label=label))


def _verified(shown: Shown) -> Iterable[Html]:
    """What was checked, over all arms: counts add up, words stand once."""
    counts: Counter[str] = Counter()
    words: dict[str, list[str]] = {}
    for each in shown.found.verified:
        for name, value in each.facts.items():
            if name in DESCRIBING:
                continue
            if isinstance(value, str):
                words.setdefault(name, []).append(value)
            else:
                counts[name] += value  # type: ignore[assignment]
    told = [
        f"{name.replace('_', ' ')}: {', '.join(few(unique(said)))}" for name, said in words.items()
    ]
    told += [f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items()]
    if told:
        yield tag("p", tag("strong", "Verified: "), "; ".join(told), ".", class_="muted")


def _skipped(shown: Shown) -> Iterable[Html]:
    skipped = [each for each in shown.found.verified if each.skipped and not each.left_out]
    for reason in unique(each.skipped for each in skipped):
        names = unique(
            str(each.cell[shown.experiment.compare]) for each in skipped if each.skipped == reason
        )
        yield tag(
            "p", tag("strong", f"Not measured, {', '.join(few(names))}: "), reason, class_="muted"
        )


# With more experiments their titles alone are shown.
TAKEAWAYS_MOST, TAKEAWAY_CHARS = 12, 110
ROWS_OPEN, COMPUTED_OPEN = 12, 50
LISTED_OPEN = 60
CROWDED = (
    "More threads than cores take turns on them by design, so preemption makes no sample of theirs "
    "unclean, steal alone does. The other rows of the run tell whether the machine was busy."
)
COMPUTED = "Nothing in this table was measured: no clock of this machine stands behind it."
ROUND_TRIP, STREAMS, LIMIT = "round_trip", "streams", "at_most"
TIMED = "as the last process of each timed them"
LISTED = {
    ROUND_TRIP: ("Round trips", TIMED),
    STREAMS: ("What streamed beside", TIMED),
    LIMIT: ("The most that is possible", "projected from rates that this run measured"),
}
SYSTEM_COUNTS = ("sleeps_of_clients", "sleeps_of_devices", "preemptions", "user_ns", "kernel_ns")
# What an arm is, or has a table of its own; not what was checked of it.
DESCRIBING = {
    "role",
    "detail",
    "cores",
    ROUND_TRIP,
    STREAMS,
    LIMIT,
    "streamed_bytes",
    "streamed_ns",
    "ceiling_bytes",
    "ceiling_ns",
    *SYSTEM_COUNTS,
}
HERE, OWN = "here", "own"
DOCUMENTS = {
    "000": (
        "Document 000: bulk encryption in memory",
        "PIM bulk encryption initial results (UBC, 2020).",
    ),
    "001": (
        "Document 001: what allocating processing units costs",
        "Side effects of Allocating UPMEM Processing Units.",
    ),
    "002": (
        "Document 002: several accelerator cards",
        "The Design of the OpenBSD Cryptographic Framework, section Load Balancing (USENIX 2003).",
    ),
    "003": (
        "Document 003: AES-GCM on CPU and GPU",
        f"{DOCUMENT_003}.",
    ),
    "004": ("Document 004: copying", "ESCAPE Benchmarking (GAPS CLOSURE)."),
    HERE: ("This machine", "What no document asked, and the answer needs."),
    PROGRAM: ("What sealift-gpu alone measures", ""),
    OWN: ("Experiments of your own", ""),
}
COLOURS = {"FASTER": "good", "SAME": "fine", "SLOWER": "bad", "UNSURE": "plain"}
