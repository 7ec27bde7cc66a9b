"""From how many messages a batch on a card that isn't here would be done earlier: projected."""

from collections.abc import Iterable, Sequence

from sealift import Card
from sealift.lab.breakeven import Line, Needed, lines, needed
from sealift.lab.by_size import MESSAGES_MOST
from sealift.lab.finding import listed
from sealift.lab.report.by_size import rows_by_size
from sealift.lab.report.markup import Html, join, table, tag
from sealift.lab.report.material import Material
from sealift.lab.report.words import with_interval
from sealift.lab.vega import format_bytes
from sealift.lab.wording import measured_of


def cards_needed(material: Material) -> list[Html]:
    """A table of counts by size, and what the cards are; nothing where sizes were not varied."""
    found = lines(rows_by_size(material), material.cards)
    measured = [line for line in found if not line.card]
    if not measured or len(measured) == len(found):
        return []
    return [
        tag("h3", TITLE),
        _table(found, measured),
        tag("p", ASSUMED, class_="muted"),
        *_cards(material.cards),
    ]


def _table(found: Sequence[Line], measured: Sequence[Line]) -> Html:
    counts = {
        (line.device, device.device): _needed(line.card, device)
        for line in found
        if line.card
        for device in measured
    }
    header = ["message", *(f"{card} before {device}" for card, device in counts)]
    sizes = sorted({size for by_size in counts.values() for size in by_size})
    cells = [
        [format_bytes(size), *(_cell(by_size.get(size)) for by_size in counts.values())]
        for size in sizes
    ]
    return table(header, cells, label=TITLE, numbers=header[1:])


def _needed(card: Card, device: Line) -> dict[float, Needed]:
    return {spot.size_bytes: needed(card, spot) for spot in device.spots}


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


AES_GCM = "AES-GCM"
TITLE = "From how many messages a batch on a card is done earlier"
ASSUMED = (
    "Projected, on an idle card. The measured device is taken to need as long a message in batches "
    "of every length; brackets are what its 95 % interval allows. Never: not in a batch of "
    f"{MESSAGES_MOST:,} messages either, which then takes that many times as long."
)
