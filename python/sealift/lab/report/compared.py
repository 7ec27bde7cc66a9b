"""The table of published figures beside what was found here."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from sealift.lab.published import Comparison, Kind, Match, claimed, rules
from sealift.lab.report.markup import CARDS, Html, folded, join, table, tag
from sealift.lab.report.material import Material
from sealift.lab.report.order import place
from sealift.lab.report.sections import DOCUMENTS
from sealift.lab.report.words import with_interval
from sealift.lab.result import Origin
from sealift.lab.units import as_printed


def compared(material: Material) -> Html:
    """How much of each document agrees, differs or is not settled; folded every figure."""
    every = [each for shown in material.shown for each in shown.comparisons]
    if not every:
        return Html()
    titles = {
        each.figure: shown.experiment.title
        for shown in material.shown
        for each in shown.comparisons
    }
    ordered = sorted(every, key=lambda each: place(each.figure))
    groups = [
        _group(figure, titles[figure], list(group), material.extent.listed)
        for figure, group in groupby(ordered, key=lambda each: each.figure)
    ]
    documents = [
        document_counts(name, list(group))
        for name, group in groupby(ordered, key=lambda each: each.figure.partition("-")[0])
    ]
    label = "Published figures by document"
    shown = table(COUNTED, documents, label=label, numbers=COUNTED[1:])
    judged = tag("p", " ".join(rules(every)), class_="muted")
    return tag(
        "section",
        tag("h2", "Beside what was published"),
        shown,
        folded("Every figure, its interval and its verdict", judged, *groups),
        class_="card",
        id="published",
    )


def document_counts(name: str, every: Sequence[Comparison]) -> tuple[str, ...]:
    """A row: how many figures, agreeing ones, others, and those that tell nothing."""
    # What numbers were fitted to tells of the fit, and is no agreement.
    free = [each for each in every if not each.is_fitted_to]
    matches = Counter(each.match for each in free)
    agree, differ = (sum(matches[each] for each in those) for those in (AGREE, DIFFER))
    apart = [f"{matches[each]:,} {told}" for each, told in APART.items() if matches[each]]
    if fitted := len(every) - len(free):
        apart.append(f"{fitted:,} fitted to")
    title = DOCUMENTS[name][0].partition(": ")[2] if name in DOCUMENTS else "of your own"
    unsettled = matches[Match.UNSETTLED]
    counts = (f"{count:,}" for count in (len(every), agree, differ, unsettled))
    told = [tag("span", ", ".join(apart), class_="why")] if apart else []
    return (join([f"{name} {title[:1].upper()}{title[1:]}", *told]), *counts)


def _group(figure: str, title: str, group: Sequence[Comparison], most: int | None) -> Html:
    counts = {match: sum(each.match is match for each in group) for match in Match}
    chips = [_chip(match, f"{count:,} {match.value}") for match, count in counts.items() if count]
    summary = tag("summary", tag("strong", figure), " ", title, " ", *chips)
    label = f"{figure}: {title}"
    rows = table(HEADER, [_cells(each) for each in group[:most]], label=label, class_=CARDS)
    return tag("details", summary, rows, class_="figure-group")


def _cells(each: Comparison) -> tuple[str, ...]:
    return (
        each.what,
        _published(each),
        _here(each) if each.here else _nothing(each),
        with_interval(each.ratio),
        _chip(each.match, each.match.value),
        each.noted,
    )


def _here(each: Comparison) -> Html:
    value = with_interval(each.here, each.unit)
    if each.origin is Origin.MEASURED:
        return value
    return join([value, " ", tag("span", each.origin.value, class_=f"origin {each.origin.value}")])


def _nothing(each: Comparison) -> Html:
    text = NOTHING.get(each.kind, "not run")
    return tag("span", text, class_="muted")


def _chip(match: Match, text: str) -> Html:
    return tag("span", text, class_=f"verdict {COLOURS[match]}")


def _published(each: Comparison) -> Html:
    if not (text := claimed(each, as_printed)):
        return tag("span", each.unit, title=each.source)
    value = tag("span", f"{text} {each.unit}", title=each.source)
    if each.kind is not Kind.COUNT or each.span is None or each.span.low == each.span.high:
        return value
    ends = f"[{as_printed(each.span.low)}..{as_printed(each.span.high)}] by its rounding"
    return join([value, " ", tag("span", ends, class_="interval")])


HEADER = ("what", "published", "here", "here / published", "verdict", "with what, or why not")
NOTHING = {
    Kind.WITHIN: "nothing to measure",
    Kind.GIVEN: "put in, not found",
    Kind.BEYOND: "not in the model",
}
COUNTED = ("document", "figures", "agree", "differ", "not settled")
AGREE = (
    Match.REPRODUCED,
    Match.HOLDS,
    Match.ALIKE,
    Match.IN_SHAPE,
    Match.READING_HOLDS,
    Match.PROJECTED,
)
DIFFER = (
    Match.FASTER,
    Match.SLOWER,
    Match.LARGER,
    Match.SMALLER,
    Match.DIFFERS,
    Match.NO_EFFECT,
    Match.READING_FAILS,
    Match.CONTRADICTED,
)
APART = {
    Match.NOT_RUN: "not run",
    Match.GIVEN: "given to the model",
    Match.BEYOND: "beyond the model",
    Match.AGAINST_ITSELF: "at odds with itself",
}
COLOURS = {
    Match.REPRODUCED: "good",
    Match.HOLDS: "good",
    Match.ALIKE: "fine",
    Match.FASTER: "fine",
    Match.SLOWER: "fine",
    Match.LARGER: "fine",
    Match.SMALLER: "fine",
    Match.DIFFERS: "fine",
    Match.NO_EFFECT: "fine",
    Match.READING_HOLDS: "fine",
    Match.READING_FAILS: "fine",
    Match.IN_SHAPE: "good",
    Match.PROJECTED: "plain",
    Match.GIVEN: "plain",
    Match.BEYOND: "plain",
    Match.UNSETTLED: "plain",
    Match.NOT_RUN: "plain",
    Match.CONTRADICTED: "bad",
    Match.AGAINST_ITSELF: "bad",
}
