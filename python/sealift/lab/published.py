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

from sealift.lab.result import Found, Row
from sealift.lab.stats import Interval
from sealift.lab.values import Cell, Value


class Kind(StrEnum):
    """What a published figure is."""

    VALUE = "value"
    """An absolute value, of another machine: nobody expects the same one here."""
    RATIO = "ratio"
    """A ratio of two values of one machine: the shape of a result, which should hold here too."""
    SHAPE = "shape"
    """A claim without a number: that a ratio lies above 1. Its published value is that 1."""


class Match(StrEnum):
    """What may be said about a published figure."""

    REPRODUCED = "reproduced"
    FASTER = "faster here"
    SLOWER = "slower here"
    SAME_DIRECTION = "same direction"
    CONTRADICTED = "contradicted"
    UNSETTLED = "not settled here"
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

        REPRODUCED when the interval here comes within a tenth of the published figure and is no
        wider than that range: noise reproduces nothing. A wider one that comes so near leaves a
        value UNSETTLED; one that stays away shows it to be FASTER or SLOWER here. A ratio holds in
        SAME_DIRECTION when the whole interval lies on the published one's side of 1, and is
        CONTRADICTED when it lies on the other. A shape holds when the whole interval lies above 1.
        """
        ratio = self.ratio
        if ratio is None or self.here is None:
            return Match.NOT_RUN
        if self.kind is Kind.SHAPE:
            return self._direction(self.here)
        near = ratio.low <= 1 + NEAR and ratio.high >= 1 / (1 + NEAR)
        if near and ratio.high <= ratio.low * (1 + NEAR) ** 2:
            return Match.REPRODUCED
        if self.kind is Kind.RATIO:
            told = self._direction(self.here)
            return Match.UNSETTLED if near and told is Match.CONTRADICTED else told
        if near:
            return Match.UNSETTLED
        return Match.FASTER if ratio.low > 1 else Match.SLOWER

    def _direction(self, here: Interval) -> Match:
        if here.low <= 1 <= here.high:
            return Match.UNSETTLED
        claims_above = self.kind is Kind.SHAPE or self.published > 1
        alike = here.low > 1 if claims_above else here.high < 1 and self.published < 1
        return Match.SAME_DIRECTION if alike else Match.CONTRADICTED


@dataclass(frozen=True)
class Printed:
    """A figure as a document prints it, before anything stands beside it.

    Attributes:
        figure: The document's name for it: `003-T4`.
        what: Which value it is, in words.
        value: As printed, in `unit`.
        unit: `MB/s`, `x`.
        source: Where it stands.
        kind: What kind of figure it is.
        series: Whose line it belongs to where the figure is redrawn, or "".
        at: Where it stands there.
    """

    figure: str
    what: str
    value: float
    unit: str
    source: str
    kind: Kind
    series: str = ""
    at: Cell = field(default_factory=dict)

    def beside(self, here: "Here", note: str) -> Comparison:
        """The figure beside what was found here.

        Args:
            here: In the figure's unit, or why there is nothing.
            note: With what it is compared.
        """
        found, told = (None, f"{note}: {here}") if isinstance(here, str) else (here, note)
        return Comparison(
            self.figure,
            self.what,
            self.value,
            self.unit,
            self.source,
            self.kind,
            found,
            told,
            self.series,
            self.at,
        )


Here = Interval | str
"""What was found, or a sentence that says why nothing was."""


def payload_speed(found: Found, **cell: Value) -> Here:
    """Payload MB/s of the row whose cell has these values, or why there is no such row."""
    row = _row(found, **cell)
    if isinstance(row, str):
        return row
    return row.payload_mb_per_s or "its operations have no payload"


def operation_speed(found: Found, **cell: Value) -> Here:
    """Operations a second of the row whose cell has these values, or why there is no such row."""
    row = _row(found, **cell)
    return row if isinstance(row, str) else row.operations_per_s


def quotient(speed: Here, of: Here) -> Here:
    """How many times as fast one is as another that was not measured in the same blocks.

    The ends are those of the worst case, lowest over highest and highest over lowest, so the
    interval is wider than one at the confidence of the two would be.

    Args:
        speed: In any unit of speed, or why there is none.
        of: In the same unit.
    """
    if isinstance(speed, str):
        return speed
    if isinstance(of, str):
        return of
    return Interval(
        speed.median / of.median,
        speed.low / of.high,
        speed.high / of.low,
        min(speed.confidence, of.confidence),
        min(speed.blocks, of.blocks),
    )


def times_reference(found: Found, **cell: Value) -> Here:
    """How many times as fast a row is as its group's reference, paired by block, or why not."""
    row = _row(found, **cell)
    if isinstance(row, str):
        return row
    return row.ratio or f"{row.reference} is what the others are compared with"


def counted(value: float, *, of: int) -> Interval:
    """What was counted, not sampled: an interval without width.

    Args:
        value: A count or a share.
        of: Among how many.
    """
    return Interval(value, value, value, 1.0, of)


def table_row(name: str, **wanted: str) -> Mapping[str, str]:
    """The one row of a published table whose columns have these values.

    Raises:
        LookupError: If there is none, or several.
    """
    fitting = [row for row in table(name) if wanted.items() <= row.items()]
    if len(fitting) != 1:
        raise LookupError(f"{len(fitting)} rows of {name} have {wanted}; right would be one")
    return fitting[0]


@lru_cache(maxsize=32)
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a published table, as `003-T4-cpu-generations`.

    Raises:
        FileNotFoundError: If there is no such table.
    """
    place = files("sealift.lab") / "data" / "published" / f"{name}.csv"
    return tuple(csv.DictReader(place.read_text(encoding="utf-8").splitlines()))


def _row(found: Found, **cell: Value) -> Row | str:
    row = found.row(**cell)
    if row is None:
        return found.why_not(**cell)
    return f"computed wrong: {row.wrong}" if row.wrong else row


NEAR = 0.10
