"""How figures and lists read on the page."""

from collections.abc import Iterable, Sequence

from sealift.lab.report.markup import Html, join, tag
from sealift.lab.stats import Interval
from sealift.lab.units import format_measure, format_range


def with_interval(value: Interval | None, unit: str = "") -> Html:
    """A median with its interval in smaller print; a dash where there is none."""
    if value is None:
        return tag("span", "-", class_="muted")
    median = tag("span", f"{format_measure(value.median)} {unit}".rstrip(), class_="median")
    # What was counted, not sampled, has no interval.
    if value.low == value.high:
        return median
    return join([median, " ", tag("span", format_range(value.low, value.high), class_="interval")])


def few(names: Sequence[str]) -> list[str]:
    """Those that fit in a sentence, and how many more there are."""
    more = len(names) - NAMES_MOST
    return [*names[:NAMES_MOST], *([f"{more:,} more"] if more > 0 else [])]


def counted(count: int, one: str, several: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count:,} {one if count == 1 else several}"


def worded(name: str) -> tuple[str, str]:
    """A name with its unit last, as words and the unit: `package_power_w` is package power in W."""
    rest, _, last = name.rpartition("_")
    if rest and last in UNITS:
        return rest.replace("_", " "), UNITS[last]
    return name.replace("_", " "), ""


def unique(words: Iterable[str]) -> list[str]:
    """Each once, in the order of their first time."""
    return list(dict.fromkeys(words))


def duration(seconds: float) -> str:
    """`58 s`, `5 min 2 s`, `1 h 3 min`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


NAMES_MOST = 20
UNITS = {
    "c": "°C",
    "ghz": "GHz",
    "mhz": "MHz",
    "ms": "ms",
    "percent": "per cent",
    "rpm": "turns a minute",
    "s": "s",
    "w": "W",
    "1min": "mean of a minute",
}
