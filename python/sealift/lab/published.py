"""What was published, and what may be said about it here.

The tables of the five documents stand in `data/published/`, transcribed with the place each value
stands in. A comparison never mixes origins: what was published keeps its printed value, and what
was measured here keeps its interval.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files

from sealift.lab.stats import Interval
from sealift.lab.values import Cell


class Kind(StrEnum):
    """What a published figure is."""

    VALUE = "value"
    """An absolute value, of another machine: nobody expects the same one here."""
    RATIO = "ratio"
    """A ratio of two values of one machine: the shape of a result, which should hold here too."""


class Match(StrEnum):
    """What may be said about a published figure."""

    REPRODUCED = "reproduced"
    FASTER = "faster here"
    SLOWER = "slower here"
    SAME_DIRECTION = "same direction"
    CONTRADICTED = "contradicted"
    NOT_RUN = "not run here"


@dataclass(frozen=True)
class Comparison:
    """A published figure beside what was found here.

    Attributes:
        figure: The document's name for it: `003-T4`.
        what: Which value it is, in words.
        published: As printed, in `unit`.
        unit: Of both.
        source: Where it stands.
        kind: Whether it is a value or a ratio.
        here: What was found, in the same unit; None when it was not run.
        note: With what it was compared, or why it was not run.
        series: Whose line it belongs to where the figure is redrawn, as `i7-12700H`; empty for a
            figure that is not drawn.
        at: Where it stands there: axes with values, as `{"threads": 20}`. Without the axis that the
            figure has below, it is drawn as a line across.
    """

    figure: str
    what: str
    published: float
    unit: str
    source: str
    kind: Kind
    here: Interval | None
    note: str
    series: str = ""
    at: Cell = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses a figure that was not run for no reason."""
        if self.here is None and not self.note:
            raise ValueError(f"{self.figure}, {self.what}: not run, and no reason given")

    @property
    def ratio(self) -> Interval | None:
        """Here over published."""
        return None if self.here is None else self.here.scaled(1 / self.published)

    @property
    def match(self) -> Match:
        """The verdict.

        REPRODUCED when the interval here comes within a tenth of the published value. Else a value
        is FASTER or SLOWER here; a ratio holds in SAME_DIRECTION when it lies on the same side of
        1 as the published one with its whole interval, and is CONTRADICTED when it doesn't.
        """
        ratio = self.ratio
        if ratio is None or self.here is None:
            return Match.NOT_RUN
        if ratio.low <= 1 + NEAR and ratio.high >= 1 / (1 + NEAR):
            return Match.REPRODUCED
        if self.kind is Kind.VALUE:
            return Match.FASTER if ratio.low > 1 else Match.SLOWER
        alike = self.here.low > 1 if self.published > 1 else self.here.high < 1
        return Match.SAME_DIRECTION if alike else Match.CONTRADICTED


@lru_cache(maxsize=32)
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a published table, as `003-T4-cpu-generations`.

    Raises:
        FileNotFoundError: If there is no such table.
    """
    place = files("sealift.lab") / "data" / "published" / f"{name}.csv"
    return tuple(csv.DictReader(place.read_text(encoding="utf-8").splitlines()))


NEAR = 0.10
