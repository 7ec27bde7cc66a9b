"""The table of published figures beside what was found here."""

from collections.abc import Sequence
from itertools import groupby

from sealift.lab.published import Comparison, Kind, Match, claimed, rules
from sealift.lab.report.markup import CARDS, Html, join, table, tag
from sealift.lab.report.material import Material
from sealift.lab.report.order import place
from sealift.lab.report.words import with_interval
from sealift.lab.result import Origin
from sealift.lab.units import as_printed


def compared(material: Material) -> Html:
    """Published, here, their ratio and a verdict; one row a value, grouped by figure."""
    every = [each for shown in material.shown for each in shown.comparisons]
    heading = tag("h2", "Published figures, and here")
    if not every:
        none = tag("p", "No experiment of this run has published figures.", class_="muted")
        return tag("section", heading, none, id="published")
    titles = {
        each.figure: shown.experiment.title
        for shown in material.shown
        for each in shown.comparisons
    }
    ordered = sorted(every, key=lambda each: place(each.figure))
    is_open = len(every) <= ROWS_OPEN
    groups = [
        _group(figure, titles[figure], list(group), material.extent.listed, is_open=is_open)
        for figure, group in groupby(ordered, key=lambda each: each.figure)
    ]
    judged = tag("p", " ".join(rules(every)), class_="muted")
    return tag("section", heading, judged, *groups, id="published")


def _group(
    figure: str, title: str, group: Sequence[Comparison], most: int | None, *, is_open: bool
) -> Html:
    counts = {match: sum(each.match is match for each in group) for match in Match}
    chips = [_chip(match, f"{count:,} {match.value}") for match, count in counts.items() if count]
    summary = tag("summary", tag("strong", figure), " ", title, " ", *chips)
    label = f"{figure}: {title}"
    rows = table(HEADER, [_cells(each) for each in group[:most]], label=label, class_=CARDS)
    return tag("details", summary, rows, class_="figure-group", open=is_open)


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
ROWS_OPEN = 20
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
