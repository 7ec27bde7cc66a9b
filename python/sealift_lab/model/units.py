"""Numbers as people read them: fixed units, few significant digits, never NaN or 0.000."""

import math
from decimal import Decimal

from sealift_lab.model.results import Estimate


def format_number(value: float) -> str:
    """Three significant digits, for sentences and charts: `2.55`, `42.4`, `1,270`."""
    rounded = float(f"{_checked(value):.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:#.3g}".rstrip(".")


def format_measure(value: float) -> str:
    """Four significant digits, for tables: `0.0004123`, `1,235,000`.

    A ValueError for NaN, what is infinite or below 0: no measurement gives that.
    """
    rounded = Decimal(f"{Decimal(_checked(value)):.3e}")
    return f"{rounded:,f}" if rounded else "0"


def format_range(estimate: Estimate) -> str:
    """The ends of an interval, `[2.36–2.46]`; "" where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{format_number(estimate.low)}–{format_number(estimate.high)}]"


def format_estimate(estimate: Estimate) -> str:
    """A figure with its interval: `2.41 [2.36–2.46]`, or the figure alone."""
    return f"{format_number(estimate.value)} {format_range(estimate)}".rstrip()


def scale_of(value: float) -> tuple[float, str]:
    """Step and prefix in which a large rate reads best: (1e6, "M "), (1e3, "k "), (1, "")."""
    return _step(value, ((1e9, "G "), (1e6, "M "), (1e3, "k "), (1, "")))


def format_ns(ns: float) -> str:
    """A time: `12.3 ns`, `4.56 µs`, `789 ms`."""
    step, unit = _step(ns, ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")))
    return f"{format_number(ns / step)} {unit}"


def format_bytes(count: float) -> str:
    """A size: `16 B`, `16 KiB`, `1 MiB`; a mean size keeps its fraction: `28.3 B`."""
    step, unit = _step(count, ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")))
    in_steps = _checked(count) / step
    whole = in_steps == int(in_steps)
    return f"{int(in_steps):,} {unit}" if whole else f"{format_number(in_steps)} {unit}"


def format_percent(share: float) -> str:
    """A share as per cent with one decimal: `98.7 %`; over ten times, `over 1,000 %`."""
    return f"{100 * share:.1f} %" if abs(share) <= 10 else "over 1,000 %"


def format_duration(seconds: float) -> str:
    """How long something takes: `40 s`, `4 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def rate_unit(operation: str) -> str:
    """How operations a second are written: `messages/s`, `MiB/s`; long names as `operations/s`."""
    return "operations/s" if " " in operation else f"{_plural(operation)}/s"


def counted(number: int, noun: str) -> str:
    """A number of things: `1 row`, `1,024 keys`, `3 processes`."""
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith("iB"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def _step(value: float, steps: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next((each for each in steps if value >= each[0]), steps[-1])


def _checked(value: float) -> float:
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{value} is no measured figure: it must be finite and not negative")
    return value
