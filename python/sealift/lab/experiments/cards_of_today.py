"""A card of today beside those of 2003, each by its description alone: all of it is projected."""

from collections.abc import Iterable, Mapping, Sequence

from sealift import Card, Constant, cards
from sealift.lab.boards import HIFN, SIZE
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import Chart, Labels, Point, Scales


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for size in SIZES:
        for card in cards():
            yield {SIZE.name: size, CARD.name: card.name}


def _arm(cell: Cell, _: Context) -> Computed:
    """Reckons one request alone, and as many in flight as the card holds."""
    size_bytes, card = int(cell[SIZE.name]), _card(str(cell[CARD.name]))
    told = card.predict(1, size_bytes)
    facts: dict[str, Value] = {
        MBIT_S: 8_000 * size_bytes / told.interval_ns,
        ALONE_US: told.batch_ns / 1_000,
        HOST_US: told.host_ns / 1_000,
        LIMIT: told.bound_by,
        CIPHER: card.algorithm,
        WHAT: card.summary,
    }
    return Computed(facts)


def _says(found: Found) -> str:
    """What a card of today would do beside the first of 2003, for the least and the most bytes."""
    known = {
        (int(each.cell[SIZE.name]), str(each.cell[CARD.name])): each.facts
        for each in found.verified
        if each.facts
    }
    if len(known) < len(SIZES) * len(cards()):
        return ""
    return " ".join(
        f"{name} is projected to do {_times(known, name, SIZES[0])} times as much as "
        f"{HIFN.named[0].lower()}{HIFN.named[1:]} of 2003 with {SIZES[0]} B messages and "
        f"{_times(known, name, SIZES[-1])} times with {SIZES[-1]:,} B, of {cipher} in place of "
        f"{_card(HIFN.card).algorithm}; a request takes its host {_was(known, name)} us."
        for name, cipher in ((each.name, each.algorithm) for each in cards())
        if name not in BOARDS
    )


def _times(known: Mapping[tuple[int, str], Mapping[str, Value]], name: str, size: int) -> str:
    one, other = (float(known[size, each][MBIT_S]) for each in (name, HIFN.card))
    return format_measure(one / other)


def _was(known: Mapping[tuple[int, str], Mapping[str, Value]], name: str) -> str:
    now, then = (float(known[SIZES[0], each][HOST_US]) for each in (name, HIFN.card))
    return f"{format_measure(now)} in place of {format_measure(then)}"


def _charts(found: Found) -> Sequence[Chart]:
    points = [
        Point(
            int(each.cell[SIZE.name]),
            float(each.facts[MBIT_S]),
            None,
            None,
            str(each.cell[CARD.name]),
            Origin.PROJECTED,
        )
        for each in found.verified
        if each.facts
    ]
    labels = Labels(
        "What each card would do, by its description", SIZE.title, "Mbit/s", "card", x_is_size=True
    )
    return [Chart(points, labels, Scales(log_x=True, log_y=True))] if points else []


def _listings(_: Found) -> Sequence[Listing]:
    """The constants of all cards side by side, and where each of them comes from."""
    every = {card.name: {each.name: each for each in card.constants} for card in cards()}
    units = {each.name: each.unit for own in every.values() for each in own.values()}
    beside = [
        (name, unit, *(_value(own.get(name)) for own in every.values()))
        for name, unit in units.items()
    ]
    sources = [
        (card, each.name, f"{_value(each)} {each.unit}".strip(), each.source)
        for card, own in every.items()
        for each in own.values()
    ]
    return [
        Listing(
            "The constants of all cards beside each other", ("constant", "unit", *every), beside
        ),
        Listing("Where each of them comes from", ("card", "constant", "value", "source"), sources),
    ]


def _value(constant: Constant | None) -> str:
    if constant is None:
        return "none"
    return f"{constant.value:g}{', fitted' * constant.fitted}"


def _card(name: str) -> Card:
    return next(each for each in cards() if each.name == name)


CARD = Axis("card", "card")
SIZES = (16, 64, 256, 1_024, 4_096, 16_384)
# Those of document 002.
BOARDS = ("quad-hifn-7751", "four-broadcom-5820")
MBIT_S, ALONE_US = "projection, Mbit/s", "a request alone, us"
HOST_US, LIMIT = "host, us a request", "limited by"
CIPHER, WHAT = "rate published for", "what it is"

EXPERIMENT = Experiment(
    name="cards-of-today",
    id="002-M1",
    title="A card of today beside those of 2003, by their descriptions",
    why="What would each card that comes described with Sealift take for one request, and do with "
    "as many in flight as it holds?",
    axes=(SIZE, CARD),
    compare=CARD.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    says=_says,
    charts=_charts,
    listings=_listings,
    weight=0.1,
    order=6,
    origin=Origin.PROJECTED,
    takes_s=0.2,
    stands_on=(
        "A card of today is projected from its description in closed form, as `sealift advise "
        "--device` does: host, link and card one behind the other, without memory that is shared. "
        "Each constant stands in a table with its source; for the boards of 2003 the simulation "
        "knows more.",
    ),
    brief=Brief(
        {
            MBIT_S: "Mbit/s",
            ALONE_US: "alone us",
            HOST_US: "host us",
            LIMIT: "limited by",
            CIPHER: "rate of",
        }
    ),
)
