"""The figure of what a message takes by size, and the break-evens between devices and cards."""

from collections.abc import Iterable, Mapping, Sequence, Set
from shlex import quote

from sealift import Card
from sealift.lab.breakeven import (
    DRAWN,
    MESSAGES_MOST,
    Line,
    Needed,
    Pair,
    chosen,
    drawn,
    far_cards,
    leading_text,
    lines,
    needed,
    needed_text,
    pair_text,
    pairs,
    real_records,
)
from sealift.lab.fullest import BY_SIZE
from sealift.lab.record import record
from sealift.lab.report.markup import Html, folded, join, table, tag
from sealift.lab.report.material import Material, Shown
from sealift.lab.report.sections import Section, drawing
from sealift.lab.report.words import listed, with_interval
from sealift.lab.result import Row
from sealift.lab.values import Value
from sealift.lab.vega import format_bytes
from sealift.lab.wording import constants_text, measured_of


def breakeven(material: Material) -> Section | None:
    """Which device is faster from which size on, and what cards would be; None for one size."""
    for shown in material.shown:
        if shown.is_of_the_lab and shown.experiment.name == BY_SIZE:
            records = real_records(material.run, shown.records)
            kept = {id(each) for each in records}
            both = zip(shown.found.rows, shown.records, strict=True)
            rows = _work(material, [row for row, each in both if id(each) in kept])
            return _section(material, shown, rows) if rows else None
    return None


def _work(material: Material, rows: Sequence[Row]) -> Sequence[Row]:
    """The work that is drawn; one's own messages and the sizes beside them in full batches."""
    if material.own is None:
        return chosen(rows)
    full = {id(row) for row in material.own.found.rows}
    # Messages of many lengths stand at their mean, beside those of one.
    return chosen([row for row in rows if id(row) in full], across={"workload"})


def _section(material: Material, shown: Shown, rows: Sequence[Row]) -> Section:
    rows = _thinned(rows, material.extent.points)
    where = _where(shown, rows)
    title = f"What a message takes by size: {constants_text(rows)}"
    records = [record(row, shown.experiment.id) for row in rows]
    found = lines(rows, material.cards)
    far = far_cards(found)
    near = [card for card in material.cards if card.name not in far]
    spec = drawn(records, near, where=where, title=title)
    del spec["title"]
    several = material.own is not None and not material.own.are_alike
    command = "" if several else _command(material, where, near)
    figure = drawing(PLACE, title, spec, command)
    told = _told([line for line in found if line.device not in far])
    beside = tag("div", figure, tag("div", *told, *_cards(near)), class_="beside")
    lead = (tag("p", tag("strong", leading_text(found))), tag("p", LEAD, class_="muted"))
    away = _far(material, found, far)
    html = tag("section", tag("h2", TITLE), *lead, beside, *away, _table(found), id=ID)
    return Section(ID, TITLE, html, {PLACE: spec})


def _far(material: Material, found: Sequence[Line], far: Set[str]) -> Iterable[Html]:
    """The cards that are not drawn, since they would press all else into a corner."""
    if not far:
        return
    cards = [card for card in material.cards if card.name in far]
    those = [pair for pair in pairs(found) if pair.other.device in far]
    told = [*_pairs_told(those), *_cards(cards)]
    named = listed([card.name for card in cards])
    verb = "is" if len(cards) == 1 else "are"
    yield folded(f"{named} {verb} not drawn: slower at every size measured, in any batch", *told)


def _thinned(rows: Sequence[Row], points: int | None) -> Sequence[Row]:
    """Those of few enough sizes, evenly, the first one among them."""
    sizes = sorted({row.cell["size_bytes"] for row in rows})
    if points is None or len(rows) <= points:
        return rows
    kept = set(sizes[:: -(-len(rows) // points)])
    return [row for row in rows if row.cell["size_bytes"] in kept]


def _where(shown: Shown, rows: Sequence[Row]) -> dict[str, Value]:
    """What leaves those rows alone: the axes that vary, but for those that a line runs along."""
    names = [axis.name for axis in shown.experiment.axes if axis.name not in ("size_bytes", Z)]
    varied = [n for n in names if len({each.cell[n] for each in shown.found.rows}) > 1]
    first = rows[0]
    fixed = [n for n in varied if all(each.cell[n] == first.cell[n] for each in rows)]
    return {"experiment": first.experiment, **{name: first.cell[name] for name in fixed}}


def _command(material: Material, where: Mapping[str, Value], cards: Sequence[Card]) -> str:
    words = ["sealift", "lab", "plot", str(material.run.path)]
    for option, column in zip("xyz", DRAWN, strict=True):
        words += [f"--{option}", column]
    for name, value in where.items():
        words += ["--where", f"{name}={value}"]
    for card in cards:
        words += ["--card", card.name]
    return " ".join(quote(word) for word in [*words, "-o", "break-even.svg"])


def _told(found: Sequence[Line]) -> Iterable[Html]:
    return _pairs_told(list(pairs(found)))


def _pairs_told(found: Sequence[Pair]) -> Iterable[Html]:
    """Every pair in words, what was measured first; among alike those first whose lines cross."""
    items: dict[str, list[Html]] = {}
    for pair in sorted(found, key=lambda pair: (_cards_of(pair), not pair.meetings)):
        said = pair_text(pair)
        if pair.other.card and not pair.one.card:
            said += f"; {needed_text(_needed(pair.other, pair.one))}"
        named = tag("strong", f"{pair.one.device}, {pair.other.device}: ")
        items.setdefault(_origins(pair), []).append(tag("li", named, said, "."))
    for origins, those in items.items():
        yield tag("p", tag("span", origins, class_=f"origin {origins.split(',')[0].split()[0]}"))
        yield tag("ul", *those[:PAIRS_SHOWN])
        if more := those[PAIRS_SHOWN:]:
            yield folded(f"{len(more):,} more", tag("ul", *more))


def _origins(pair: Pair) -> str:
    return ("measured here", "projected, against measured here", "projected")[_cards_of(pair)]


def _cards_of(pair: Pair) -> int:
    return sum(line.card is not None for line in (pair.one, pair.other))


def _needed(card: Line, device: Line) -> list[Needed]:
    assert card.card, "asked of cards only"
    return [needed(card.card, spot) for spot in device.spots]


def _table(found: Sequence[Line]) -> Html:
    """From how many messages a batch on a card is done earlier, by size."""
    counts = {
        (card.device, line.device): {each.size_bytes: each for each in _needed(card, line)}
        for card in found
        if card.card
        for line in found
        if not line.card
    }
    if not counts:
        return Html()
    header = ["message", *(f"{card} before {device}" for card, device in counts)]
    sizes = dict.fromkeys(size for by_size in counts.values() for size in by_size)
    cells = [
        [format_bytes(size), *(_cell(by_size.get(size)) for by_size in counts.values())]
        for size in sorted(sizes)
    ]
    inside = table(header, cells, label=NEEDED, numbers=header[1:])
    is_open = any(each.messages for by_size in counts.values() for each in by_size.values())
    return folded(NEEDED, inside, tag("p", ASSUMED, class_="muted"), is_open=is_open)


def _cell(found: Needed | None) -> Html:
    if found is None:
        return tag("span", "not measured", class_="muted")
    if found.messages is None:
        return join(["never: ", with_interval(found.times, "times as long")])
    ends = ["never" if each is None else f"{each:,}" for each in (found.fewest, found.most)]
    spread = tag("span", f"[{'..'.join(ends)}]", class_="interval")
    return join([f"from {found.messages:,} ", spread])


def _cards(cards: Sequence[Card]) -> Iterable[Html]:
    """What the cards are, and where their constants come from."""
    sources: dict[str, list[Card]] = {}
    for card in cards:
        sources.setdefault(card.source, []).append(card)
    for source, those in sources.items():
        named = "; ".join(f"{card.name} is {card.summary}" for card in those)
        others = {card.algorithm.upper() for card in those} - {AES_GCM}
        told = f"{named}. Projected from the constants of {source}."
        # The same for all of them: it is measured once.
        told += next(filter(None, map(measured_of, those)), "")
        if others:
            told += f" Rates are those of {listed(sorted(others))}, not of AES-GCM."
        yield tag("p", told, class_="muted")


ID, PLACE, TITLE = "break-even", "figure-break-even", "Break-even by size of a message"
AES_GCM = "AES-GCM"
Z = "device"
LEAD = (
    "Lower is faster; where two lines cross, the other device takes over. Cards that are not here "
    "are reckoned from their descriptions for the same batches, on a card that is idle."
)
NEEDED = "From how many messages a batch on a card is done earlier, by size"
ASSUMED = (
    "What was measured here is taken to need as long a message in batches of every length as in "
    "the measured one; in brackets what its 95 % interval allows. Never: not in a batch of "
    f"{MESSAGES_MOST:,} messages either, in which the card takes that many times as long."
)
PAIRS_SHOWN = 4
