"""Facts of computed cells on the page: values with the ends of seeds, or why there is none."""

from collections.abc import Mapping, Sequence

from sealift.lab.facts import ends_in, stands_for, why_none
from sealift.lab.report.markup import join, tag
from sealift.lab.report.words import unique
from sealift.lab.result import Verified
from sealift.lab.units import format_measure
from sealift.lab.values import Value


def fact_names(computed: Sequence[Verified]) -> list[str]:
    """The facts that have a column: ends and reasons stand in that of their value."""
    return unique(stands_for(name) for each in computed for name in each.facts)


def fact_text(facts: Mapping[str, Value], name: str) -> str:
    """A fact with the ends that seeds gave it, or why there is none."""
    if name not in facts:
        return tag("span", str(facts.get(why_none(name), "")), class_="muted")
    value = _value(facts[name])
    ends = ends_in({*facts}, name)
    if ends is None or not all(isinstance(facts.get(each), int | float) for each in ends):
        return value
    low, high = (_value(facts[each]) for each in ends)
    return value if low == high else join([value, " ", _small(f"[{low}..{high}]")])


def _small(text: str) -> str:
    return tag("span", text, class_="interval")


def _value(value: Value) -> str:
    if isinstance(value, str):
        # A column of sentences would else be as narrow as their longest word.
        return tag("span", value, class_="said") if len(value) > SAID_CHARS else value
    return f"{'-' if value < 0 else ''}{format_measure(abs(value))}"


SAID_CHARS = 60
