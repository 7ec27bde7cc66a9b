"""Nanoseconds a message by size, with cards as projected lines and marks where lines cross."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sealift.lab import plot
from sealift.lab.breakeven.lines import card_ns
from sealift.lab.breakeven.meeting import Place, meetings
from sealift.lab.record import Record
from sealift.lab.result import Origin
from sealift.lab.store import Run
from sealift.lab.values import Value
from sealift.lab.vega import LEGEND_PART, Point, Spec

if TYPE_CHECKING:
    from sealift import Card

Crossing = dict[str, Any]
"""Where two lines meet: x, y, the label of its size, and which lines."""


def drawn(
    records: Sequence[Record],
    cards: Sequence["Card"],
    *,
    where: Mapping[str, Value],
    title: str = "",
    lines_most: int | None = None,
) -> Spec:
    """The measured rows as lines with their bands, cards as dashed ones, and where lines cross.

    Args:
        records: Rows with `size_bytes`, `batch` and `ns_per_operation`; a line for each device.
        cards: Reckoned for the batches of the rows that are drawn.
        where: Which rows.
        title: What the figure shows.
        lines_most: How many lines the rows may have; None for any number.

    Raises:
        ValueError: As `plot.columns`; and if cards are to be drawn where messages of one size came
            in batches of several lengths.
    """
    spec = plot.columns(
        records,
        x=X,
        y=Y,
        z=Z,
        where=where,
        title=title or "Break-even by size of a message",
        titles=TITLES,
        more=[point for card in cards for point in _points(card, records, where)],
        lines_most=lines_most,
    )
    legend = spec["layer"][0]["encoding"]["color"]["legend"]
    legend |= {"columns": 1, "labelExpr": r"split(datum.label, '\n')", "titleLimit": 0}
    return {**_marked(spec), "height": HIGH_PX}


def real_records(run: Run, records: Sequence[Record]) -> list[Record]:
    """Those of devices for users' work: an oracle is nothing to run on."""
    known = {
        (each.experiment, each.cell.get("device"))
        for each in run.verified
        if each.facts.get("role", REAL) != REAL
    }
    return [each for each in records if (each["experiment"], each.get("device")) not in known]


def _points(card: "Card", records: Sequence[Record], where: Mapping[str, Value]) -> list[Point]:
    """One for each size of the rows that are drawn, in the batch of its size."""
    batches: dict[int, set[int]] = {}
    for row in records:
        if all(str(row.get(name)) == str(value) for name, value in where.items()):
            size, batch = row.get("size_bytes"), row.get("batch")
            if not (isinstance(size, int) and isinstance(batch, int)):
                raise ValueError(f"a row without size and batch; {ELSE}")
            batches.setdefault(size, set()).add(batch)
    if several := [size for size, of_size in batches.items() if len(of_size) > 1]:
        told = ", ".join(map(str, sorted(batches[several[0]])))
        raise ValueError(
            f"{several[0]:,} B were measured in batches of {told}, and a card takes another time "
            f"in each; add --where batch={min(batches[several[0]])}"
        )
    name = LEGEND_PART.join([f"{card.name}, projected", *wrap(card.summary, LEGEND_WIDE)])
    return [
        Point(size, card_ns(card, batch, size), None, None, name, Origin.PROJECTED)
        for size, (batch,) in batches.items()
    ]


def _marked(spec: Spec) -> Spec:
    """With a ring and the size at every place where two lines cross."""
    own: dict[str, list[Place]] = {}
    for value in spec["data"]["values"]:
        own.setdefault(value["series"], []).append((value["x"], value["y"]))
    crossed = {
        place: f"{_name(one)} and {_name(other)}"
        for (one, first), (other, second) in combinations(own.items(), 2)
        for place in meetings(first, second)
    }
    if not crossed:
        return spec
    values = [
        {"x": size, "y": ns, "label": _about(size), "between": between}
        for (size, ns), between in crossed.items()
    ]
    above, below = _told_apart(values)
    labels = ((above, ABOVE_PX), (below, BELOW_PX))
    layers = [
        _layer(spec, values, *RING),
        *(_layer(spec, those, _label_mark(dy), LABEL) for those, dy in labels if those),
    ]
    told = "; ".join(f"{each['between']} cross near {each['label']}" for each in values)
    described = f"{spec['description']} {told}."
    return {**spec, "description": described, "layer": [*spec["layer"], *layers]}


def _told_apart(values: Sequence[Crossing]) -> tuple[list[Crossing], list[Crossing]]:
    """Whose labels stand above the rings, and whose below: each apart from the one before it."""
    above: list[Crossing] = []
    below: list[Crossing] = []
    for value in sorted(values, key=lambda value: float(value["x"])):
        # Where both sides are taken, the label before it is farther off on the one it goes to.
        last_above, last_below = (float(side[-1]["x"]) if side else 0 for side in (above, below))
        is_free = float(value["x"]) >= LABEL_WIDE * last_above
        (above if is_free or last_above < last_below else below).append(value)
    return above, below


def _name(series: str) -> str:
    return series.split(LEGEND_PART)[0]


def _label_mark(dy: int) -> Spec:
    """A label so many pixels below its place."""
    return {"type": "text", "dy": dy, "fontSize": 12, "fontWeight": "bold"}


def _about(size_bytes: float) -> str:
    """A size between measured ones, with two digits: `91 B`, `1.4 KiB`, `190 KiB`."""
    unit, name = next((unit, name) for unit, name in BYTES if size_bytes >= unit or unit == 1)
    return f"{float(f'{size_bytes / unit:.2g}'):,g} {name}"


def _layer(spec: Spec, values: Sequence[Crossing], mark: Spec, more: Spec) -> Spec:
    placed = spec["layer"][-1]["encoding"]
    encoding = {"x": placed["x"], "y": placed["y"], **more}
    return {"data": {"values": list(values)}, "mark": mark, "encoding": encoding}


# Characters of a line; a figure on a phone is hardly wider.
LEGEND_WIDE = 36
HIGH_PX = 380
DRAWN = X, Y, Z = "size_bytes", "ns_per_operation", "device"
REAL = "real"
ELSE = "cards are drawn beside rows that have both, as those of aes-gcm-by-size"
TITLES = {
    X: "bytes of a message",
    Y: "ns a message",
    Z: "lines: measured here; dashes: projected",
}
RING: tuple[Spec, Spec] = (
    {
        "type": "point",
        "size": 160,
        "stroke": "#7d8794",
        "strokeWidth": 2,
        "filled": False,
        "ariaRoleDescription": "crossing",
    },
    {
        "tooltip": [
            {"field": "between", "title": "lines of"},
            {"field": "label", "title": "cross near"},
        ]
    },
)
LABEL: Spec = {"text": {"field": "label"}}
ABOVE_PX, BELOW_PX = -14, 24
# Labels of sizes that differ by less than this many times run into each other.
LABEL_WIDE = 3
BYTES = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
