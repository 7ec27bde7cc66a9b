"""Claims in words: a template for each relation, and names of values and of conditions."""

from collections.abc import Callable, Collection, Mapping

from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis
from sealift_lab.model.results import Claim, Estimate, Ledger, Relation
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_bytes, format_measure, format_number, rate_unit


def sentence(claim: Claim) -> str:
    """The claim in words, without a stop."""
    template = PUBLISHED if claim.published is not None else TEMPLATES[claim.relation]
    figure, span, reach = _figure(claim)
    words = {"figure": figure, "span": span, "range": reach, "relation": relation_words(claim)}
    words["published"] = format_printed(claim.published or 0)
    words["because"] = f": {claim.reason}" if claim.reason else ""
    words["here"] = f"{figure} {claim.unit} {span} here, " if claim.figure else ""
    return " ".join(template.format(**{**vars(claim), **words}).split())


def relation_words(claim: Claim) -> str:
    """The relation alone: `reproduced`, `alike here`, `agrees, not independent`."""
    if claim.published is None:
        return claim.relation.value
    if claim.ledger is Ledger.ARITHMETIC:
        is_so = claim.relation in AGREES
        return "follows from its own figures" if is_so else "its own figures give another value"
    if claim.relation in AGREES and not claim.is_independent:
        return "agrees, no independent evidence"
    words = AMOUNT_WORDS if claim.unit in AMOUNTS else SPEED_WORDS
    return words.get(claim.relation, claim.relation.value)


def name_of(value: Value, names: Mapping[str, str]) -> str:
    """What readers call a value: what the experiment declares, else the value."""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return names.get(str(value), text)


def value_text(axis: str, value: Value, planned: PlannedExperiment) -> str:
    """A value of an axis in words: `128 B messages`, `1 thread`, `batch 1,024`, `one key`."""
    if (name := planned.names.get(str(value))) is not None:
        return name
    if isinstance(value, str):
        return value
    *words, unit = axis.split("_")
    if unit == "bytes":
        many = rate_unit(planned.operation).removesuffix("/s")
        thing = many if words == ["size"] else " ".join(words)
        return f"{format_bytes(value)} {thing}"
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    if words and unit in UNITS:
        return f"{' '.join(words)} {number} {UNITS[unit]}"
    if unit.endswith("s"):
        noun = " ".join([*words, unit.removesuffix("s") if value == 1 else unit])
        return f"{number} {noun}"
    return f"{axis.replace('_', ' ')} {number}"


def tick_text(axis: str, value: Value, names: Mapping[str, str]) -> str:
    """A value where its axis is named already: `16 KiB`, `2`, `one key`."""
    if str(value) in names or isinstance(value, str):
        return name_of(value, names)
    return format_bytes(value) if axis.endswith("bytes") else f"{value:,.6g}"


def conditions(cell: Cell, planned: PlannedExperiment, axes: Collection[str] | None = None) -> str:
    """A cell, or some of its axes, in words: `128 B messages, 1,024 keys, 1 thread`.

    A value whose name is "" is left out.
    """
    shown = {name: cell[name] for name in cell if axes is None or name in axes}
    return ", ".join(filter(None, (value_text(*each, planned) for each in shown.items())))


def varied_axes(planned: PlannedExperiment) -> list[str]:
    """The axes with more than one value, without those that follow another one.

    A batch that is smaller for larger messages says nothing that the size doesn't say. Of two that
    follow each other the compared one is shown, or else the first.
    """
    cells = [cell for group in planned.groups for cell in group]

    def count(*names: str) -> int:
        return len({tuple(cell[name] for name in names) for cell in cells})

    def follows(name: str, other: str) -> bool:
        is_behind = count(name) < count(other) or order.index(other) < order.index(name)
        return is_behind and count(name, other) == count(other)

    varied = [name for name in cells[0] if count(name) > 1] if cells else []
    order = sorted(varied, key=lambda name: name != planned.compare)
    plain = {name for name in order[1:] if any(follows(name, o) for o in order if o != name)}
    return [name for name in varied if name not in plain]


def axis_title(planned: PlannedExperiment, name: str) -> str:
    """What people call an axis."""
    axes = (axis for axis in planned.axes if axis.name == name)
    return next(axes, Axis(name, name.replace("_", " "))).title


def format_printed(value: float) -> str:
    """A published value with the digits of its print; computed ones have four."""
    exact = f"{value:,.10g}"
    if sum(each.isdigit() for each in exact) <= PRINTED_DIGITS or value == int(value):
        return exact
    return format_signed(value)


def format_signed(value: float) -> str:
    """Four significant digits, of what is negative too: errors, differences."""
    return f"{'-' if value < 0 else ''}{format_measure(abs(value))}"


def estimate_text(estimate: Estimate | None, unit: str = "") -> str:
    """A figure with its unit and interval: `30.3 MB/s [29.9–30.8]`; "" for none."""
    if estimate is None:
        return ""
    figure, span, _ = _figure(Claim("", Relation.RATE, figure=estimate, unit=unit))
    return " ".join(filter(None, (figure, unit, span)))


def _figure(claim: Claim) -> tuple[str, str, str]:
    """The figure, its interval, and from where to where it reaches."""
    figure, unit = claim.figure, claim.unit
    if figure is None:
        return "", "", ""
    low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
    form: Callable[[float], str] = format_signed if min(figure.value, low) < 0 else format_number
    if unit == "B":
        form, unit = format_bytes, ""
    elif claim.relation is Relation.WINS_FROM:
        form = "{:,.6g}".format
    value, least, most = map(form, (figure.value, low, high))
    reach = (
        f"from {least} to {most} {unit}" if unit[-1:] == "s" else f"from {unit} {least} to {most}"
    )
    return value, "" if figure.low is None else f"[{least}–{most}]", reach


TEMPLATES = {
    Relation.FASTEST: "{subject}: {figure}× {other} {span}",
    Relation.FASTER: "{subject} is {figure}× as fast as {other} {span}",
    Relation.SLOWER: "{subject} is {figure}× as fast as {other} {span}",
    Relation.SAME: "{subject} and {other} are the same, to 2.5 %",
    Relation.INCONCLUSIVE: "{subject} against {other} is not settled{because}",
    Relation.RATE: "{subject}: {figure} {unit} {span}",
    Relation.WINS_FROM: "{subject}: fastest {range}",
    Relation.ABSENT: "{subject} is absent{because}",
    Relation.WRONG: "{subject} computed something wrong, so its times don't count{because}",
}
PUBLISHED = "{subject}: {published} {unit} published, {here}{relation}{because}"
AGREES = (Relation.REPRODUCED, Relation.IN_SHAPE, Relation.HOLDS, Relation.SAME)
# Of values of other machines, and of what a document says of itself.
SPEED_WORDS = {
    Relation.SAME: "about as fast here",
    Relation.FASTER: "faster here",
    Relation.SLOWER: "slower here",
    Relation.INCONCLUSIVE: "not settled",
}
# Of what is no speed.
AMOUNTS = ("°C", "GHz", "MHz", "mV", "RPM", "%")
AMOUNT_WORDS = SPEED_WORDS | {
    Relation.SAME: "about the same here",
    Relation.FASTER: "higher here",
    Relation.SLOWER: "lower here",
}
UNITS = {"percent": "%", "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "mb": "MB"}
PRINTED_DIGITS = 5
