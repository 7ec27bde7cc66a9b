"""The table of published figures beside what was found here."""

from collections.abc import Sequence
from itertools import groupby

from sealift.lab.published import IN_WORDS, Comparison, Kind, Match
from sealift.lab.report.markup import CARDS, Html, join, table, tag
from sealift.lab.report.material import Material
from sealift.lab.report.words import as_printed, with_interval
from sealift.lab.result import Origin


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
    ordered = sorted(every, key=lambda each: each.figure)
    is_open = len(every) <= ROWS_OPEN
    groups = [
        _group(figure, titles[figure], list(group), material.extent.rows, is_open=is_open)
        for figure, group in groupby(ordered, key=lambda each: each.figure)
    ]
    return tag("section", heading, tag("p", SAID, class_="muted"), *groups, id="published")


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
    settled = f"{each.note}; not settled: {each.doubt}" if each.doubt else each.note
    return (
        each.what,
        _published(each),
        _here(each) if each.here else _nothing(each),
        with_interval(each.ratio),
        _chip(each.match, each.match.value),
        settled,
    )


def _here(each: Comparison) -> Html:
    value = with_interval(each.here, each.unit)
    if each.origin is Origin.MEASURED:
        return value
    return join([value, " ", tag("span", each.origin.value, class_=f"origin {each.origin.value}")])


def _nothing(each: Comparison) -> Html:
    text = "nothing to measure" if each.kind in (Kind.WITHIN, Kind.BEYOND) else "not run"
    return tag("span", text, class_="muted")


def _chip(match: Match, text: str) -> Html:
    return tag("span", text, class_=f"verdict {COLOURS[match]}")


def _published(each: Comparison) -> Html:
    if each.unit == IN_WORDS:
        return tag("span", IN_WORDS, title=each.source)
    above = "above " if each.kind in (Kind.SHAPE, Kind.READING) else ""
    value = tag("span", f"{above}{as_printed(each.published)} {each.unit}", title=each.source)
    if each.kind is not Kind.COUNT or each.span is None or each.span.low == each.span.high:
        return value
    ends = f"[{as_printed(each.span.low)}..{as_printed(each.span.high)}] by its rounding"
    return join([value, " ", tag("span", ends, class_="interval")])


HEADER = ("what", "published", "here", "here / published", "verdict", "with what, or why not")
SAID = (
    "Absolute values come from other machines, so that nobody expects the same ones here; "
    "ratios should hold. A verdict needs the whole interval, and a margin for noise, on one side "
    "of its limits: a tenth more or less than was published, and for ratios and shapes 1. Counts "
    "are judged by the rounding of their print. What a model of the document's own machine gives "
    "is reproduced within a tenth, and in shape within half as much again; where its times are "
    "drawn, its interval reaches from the least to the most that several seeds gave."
)
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
    Match.IN_SHAPE: "fine",
    Match.BEYOND: "plain",
    Match.UNSETTLED: "plain",
    Match.NOT_RUN: "plain",
    Match.CONTRADICTED: "bad",
    Match.AGAINST_ITSELF: "bad",
}
