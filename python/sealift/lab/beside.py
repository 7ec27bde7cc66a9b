"""Sets a run beside what was published."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealift.lab import recall
from sealift.lab.published import IN_WORDS, Comparison, claimed, rules
from sealift.lab.record import Record, interval_columns, range_columns
from sealift.lab.result import Found, Origin
from sealift.lab.stats import Interval
from sealift.lab.store import Run
from sealift.lab.table import fitted, times_text
from sealift.lab.units import as_printed, format_measure


@dataclass(frozen=True)
class Beside:
    """A run beside what was published.

    Attributes:
        comparisons: Of all its experiments.
        notes: What could not be compared, and why.
    """

    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]


def against_published(run: Run, found: Mapping[str, Found]) -> Beside:
    """What was published beside what the run found.

    Args:
        run: Whose experiments are looked up; files of one's own are not run.
        found: From `summarise(run)`.
    """
    every = {
        planned.name: recall.published(run, planned, found[planned.name])
        for planned in run.plan.experiments
    }
    return Beside(
        comparisons=tuple(each for one in every.values() for each in one.comparisons),
        notes=tuple(f"{name}: {one.doubt}" for name, one in every.items() if one.doubt),
    )


def published_record(comparison: Comparison) -> Record:
    """A published figure beside what was found, as columns.

    Ends of an interval stand in `here_low95` and `here_high95`, those of several seeds, which are
    no interval, in `here_least` and `here_most`.
    """
    here, ratio = comparison.here, comparison.ratio
    return {
        "figure": comparison.figure,
        "what": comparison.what,
        "kind": comparison.kind.value,
        "published": None if comparison.unit == IN_WORDS else comparison.published,
        **_columns("here", here),
        "unit": comparison.unit,
        **_columns("times_published", ratio),
        "match": comparison.match.value,
        "origin": None if here is None else comparison.origin.value,
        "note": comparison.noted,
        "source": comparison.source,
    }


def published_text(comparisons: Sequence[Comparison], *, width: int | None = None) -> str:
    """Published figures beside what was found, as a table; below it how models are judged.

    Args:
        comparisons: At least one.
        width: Of the terminal, in characters; None for lines of any length.
    """
    head = ["figure", "published", "unit", "here", "here / published", "match", "what", "with what"]
    rows = [
        [
            each.figure,
            claimed(each, as_printed),
            each.unit,
            _shown(each.here),
            _shown(each.ratio),
            each.match.value,
            each.what,
            each.noted,
        ]
        for each in comparisons
    ]
    computed = [each for each in comparisons if each.origin is not Origin.MEASURED]
    told = [line for each in rules(computed) for line in _wrapped(each, width)]
    return "\n".join([fitted([head, *rows], width), *([""] if told else []), *told])


def _columns(name: str, found: Interval | None) -> Record:
    is_range = found is not None and found.is_range
    estimate, of_seeds = (None, found) if is_range else (found, None)
    ends = {**interval_columns(name, estimate), **range_columns(name, of_seeds)}
    return {**ends, name: interval_columns(name, found)[name]}


def _shown(found: Interval | None) -> str:
    if found is None:
        return ""
    # What was counted has no ends.
    return format_measure(found.median) if found.low == found.high else times_text(found)


def _wrapped(text: str, width: int | None) -> Sequence[str]:
    return textwrap.wrap(text, width or TEXT_WIDTH)


# Of sentences where a table may be as wide as it is.
TEXT_WIDTH = 100
