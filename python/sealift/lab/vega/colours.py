"""Which colour a line has."""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from sealift.lab.result import Origin
from sealift.lab.vega.figure import Point, series_of


def palette(series: Sequence[str]) -> dict[str, str]:
    """A colour for each of some series that were measured, told apart by colour-blind people."""
    return dict(zip(series, islice(cycle(COLOURS), len(series)), strict=True))


def shades(colour: str, count: int) -> list[str]:
    """Shades of a colour, from one that still shows on white to the colour itself."""
    steps = [FAINTEST * (count - 1 - place) / max(1, count - 1) for place in range(count)]
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return [
        "#" + "".join(f"{round(part + (255 - part) * step):02x}" for part in parts)
        for step in steps
    ]


def inks_of(points: Sequence[Point], colours: Mapping[str, str]) -> dict[str, str]:
    """The colour of each series that is drawn, published ones last."""
    printed = dict.fromkeys(each.series for each in points if each.origin is Origin.PUBLISHED)
    others = _in_order([name for name in series_of(points) if name not in printed])
    greys = dict(zip(printed, cycle(GREYS), strict=False))
    return {name: colours[name] for name in others} | greys


def _in_order(names: Sequence[str]) -> list[str]:
    """Numbers by size, which thread counts and batches are; others as they come."""
    try:
        return sorted(names, key=lambda name: float(name.replace(",", "")))
    except ValueError:
        return list(names)


# Okabe and Ito's, without the yellow and the black, which vanish on a light and on a dark page.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d")
# Of the way to white.
FAINTEST = 0.65
GREYS = ("#7d8794", "#a2abb6", "#626c79", "#bcc3cb")
