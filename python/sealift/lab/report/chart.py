"""A line chart that needs no script: straight lines in logarithms, labels of a fixed size."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sealift.lab.report.markup import Html, tag
from sealift.lab.units import format_short
from sealift.lab.vega import format_bytes


@dataclass(frozen=True)
class Series:
    """One line.

    Attributes:
        name: What stands at its end.
        points: Size in bytes, nanoseconds, and the ends of their interval; ascending.
        is_first: Whether it has the colour of the recommendation.
    """

    name: str
    points: Sequence[tuple[float, float, float, float]]
    is_first: bool


def line_chart(lines: Sequence[Series], described: str) -> Html:
    """Nanoseconds by size in bytes, both in logarithms.

    Args:
        lines: At least one, with two sizes or more.
        described: The same in words.
    """
    sizes = sorted({point[0] for line in lines for point in line.points})
    times = [ns for line in lines for point in line.points for ns in point[1:]]
    across = _Scale(sizes[0], sizes[-1])
    down = _Scale(max(times) * MARGIN, min(times) / MARGIN)
    ticks = list(_ticks(min(times) / MARGIN, max(times) * MARGIN))
    plot = tag(
        "svg",
        *(_grid(down.at(tick)) for tick in ticks),
        *(part for line in reversed(lines) for part in _line(line, across, down)),
        viewBox=f"0 0 {UNITS} {UNITS}",
        preserveAspectRatio="none",
        role="img",
        aria_label=described,
    )
    return tag(
        "div",
        tag("div", *(_mark(time_text(each), top=down.at(each)) for each in ticks), class_="ticks"),
        tag("div", plot, class_="lines"),
        tag("div", *_ends(lines, down), class_="ends"),
        tag("div", *_sizes(sizes, across), class_="sizes"),
        class_="chart",
    )


def time_text(ns: float) -> str:
    """`10 ns`, `1 µs`, `2 ms`."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            return f"{ns / unit:,g} {name}"
    return f"{ns:g} ns"


@dataclass(frozen=True)
class _Scale:
    """Where a value stands between two others, in logarithms."""

    first: float
    last: float

    def at(self, value: float) -> float:
        return UNITS * math.log(value / self.first) / math.log(self.last / self.first)


def _ticks(low: float, high: float) -> Iterator[float]:
    """Powers of ten; where they are few, with multiples of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        found = [step * 10.0**each for each in decades for step in steps]
        inside = [each for each in found if low <= each <= high]
        if len(inside) >= TICKS_LEAST or steps == (1, 2, 5):
            yield from inside
            return


def _grid(y: float) -> Html:
    return tag("path", d=f"M0 {y:.1f}H{UNITS}", class_="grid")


def _line(line: Series, across: _Scale, down: _Scale) -> Iterator[Html]:
    class_ = "first" if line.is_first else "other"
    high = [(across.at(size), down.at(most)) for size, _, _, most in line.points]
    low = [(across.at(size), down.at(least)) for size, _, least, _ in line.points]
    band = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*high, *reversed(low)))
    yield tag("polygon", points=band, class_=f"band {class_}")
    places = [(across.at(size), down.at(ns)) for size, ns, _, _ in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    yield tag("path", d=f"M{path}", class_=f"line {class_}")
    # Stretched with the drawing a circle would be none; the cap of a line stays round.
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    titles = "; ".join(f"{format_bytes(p[0])} {format_short(p[1])} ns" for p in line.points)
    yield tag("path", tag("title", f"{line.name}: {titles}"), d=dots, class_=f"dots {class_}")


def _ends(lines: Sequence[Series], down: _Scale) -> Iterator[Html]:
    """The names, each at the end of its line, moved apart where they would overlap."""
    ordered = sorted(lines, key=lambda line: down.at(line.points[-1][1]))
    wanted = [down.at(line.points[-1][1]) for line in ordered]
    places = [max(wanted[0], 0.0)] if wanted else []
    for place in wanted[1:]:
        places.append(max(place, places[-1] + LABEL_HIGH))
    # What was pushed out below goes up again, and pushes in turn.
    over = max(0.0, places[-1] - UNITS) if places else 0.0
    places = [place - over for place in places]
    for line, place in zip(ordered, places, strict=True):
        yield _mark(line.name, top=place, class_="first" if line.is_first else "other")


def _sizes(sizes: Sequence[float], across: _Scale) -> Iterator[Html]:
    """Sizes below the drawing; those too near to others are left out, on narrow pages more."""
    kept = [sizes[0]]
    for size in sizes[1:-1]:
        if min(across.at(size) - across.at(kept[-1]), UNITS - across.at(size)) >= SIZE_WIDE:
            kept.append(size)
    kept.append(sizes[-1])
    wide = {sizes[0], sizes[-1]}
    for before, size in pairwise(kept[:-1]):
        shown = [each for each in kept if each in wide and each <= before]
        near = across.at(size) - across.at(shown[-1])
        if min(near, UNITS - across.at(size)) >= SIZE_NARROW:
            wide.add(size)
    for size in kept:
        place = f"left:{across.at(size) / UNITS:.1%}"
        yield tag(
            "span", format_bytes(size), style=place, class_=False if size in wide else "tight"
        )


def _mark(text: str, *, top: float, class_: str = "") -> Html:
    return tag("span", text, style=f"top:{top / UNITS:.1%}", class_=class_ or False)


UNITS = 1000
MARGIN = 1.25
TICKS_LEAST = 3
# In thousandths of the drawing's height and width.
LABEL_HIGH, SIZE_WIDE, SIZE_NARROW = 85, 75, 170
