"""A published figure as data: its print, and which figure of a run stands beside it."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from sealift_lab.model.arm import Cell
from sealift_lab.model.results import Estimate, Ledger, Origin


@dataclass(frozen=True)
class Rate:
    """Payload (`"MB"`, 10**6 bytes) or `"operations"` a second of the one row that fits."""

    where: Cell
    of: Literal["MB", "operations"] = "MB"


@dataclass(frozen=True)
class Time:
    """Nanoseconds an operation of the one row that fits."""

    where: Cell


@dataclass(frozen=True)
class Times:
    """How many times as many operations a second the row of `where` does as that of `other`.

    Paired by block where both stand in one group; else by process.
    """

    where: Cell
    other: Cell


@dataclass(frozen=True)
class Fact:
    """What the one arm that fits computed or counted.

    `NAME, least` and `NAME, most` beside it are the ends of its range over seeds.
    """

    where: Cell
    name: str


@dataclass(frozen=True)
class Scaled:
    """Another figure in another unit."""

    figure: "Figure"
    factor: float


@dataclass(frozen=True)
class Sum:
    """Figures one after another that were measured apart."""

    figures: tuple["Figure", ...]


@dataclass(frozen=True)
class Missing:
    """No figure, and why."""

    reason: str


Number = Estimate
"""A figure of print or of a model, between the ends of what rounding or seeds leave open."""
Figure = Rate | Time | Times | Fact | Number | Scaled | Sum | Missing
"""How a figure is had from a run: a small expression, evaluated by `claim`."""


class Kind(StrEnum):
    """What a published figure is, which decides what it is judged by."""

    VALUE = "value"
    """An absolute value of another machine: nobody expects the same one here."""
    RATIO = "ratio"
    """A ratio of two values of one machine, not 1: it should hold here, too."""
    SLOPE = "slope"
    """What each of several adds, as the speed-up a thread: a ratio without a side of 1."""
    SHAPE = "shape"
    """A claim that a ratio lies above 1."""
    READING = "reading"
    """The same, where only our reading of a sentence claims it."""
    COUNT = "count"
    """Exact but for the rounding of its print."""
    NUMBER = "number"
    """A number that a model gives for the document's own machine: the same one is expected."""
    POINT = "point"
    """The same of a point of a table whose neighbours lie above and below it as in the document."""
    LIMIT = "limit"
    """A projected limit of a device: agreement reproduces nothing."""
    GIVEN = "given"
    """An input of a model, so no result of it."""
    BEYOND = "beyond"
    """What a model leaves out, so that it can't give it."""
    ARITHMETIC = "arithmetic"
    """A figure that other figures of its own document contradict: nothing is measured."""


@dataclass(frozen=True)
class Published:
    """A published figure, and how the same is had from a run.

    Attributes:
        figure: The document's name for it: `003-T4`.
        value: As printed, in `unit`: `MB/s`, `x`.
        here: The same from a run, in `unit`, of kind `origin`.
        note: With what it is compared: condition, substitute.
        series: Its line where the figure is redrawn, as `i7-12700H`, or "".
        at: Its place there: axes with values. Without the axis on the x, a line across.
        low: For counts and arithmetic: the least that rounds to `value` or follows from print, as
            `high` is the most.
        is_fitted: Whether its agreement is no independent evidence: the model's constants were
            fitted to the table that it stands in, or it follows from other compared figures.
    """

    figure: str
    what: str
    value: float
    unit: str
    source: str
    kind: Kind
    here: Figure
    note: str = ""
    series: str = ""
    at: Cell = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    origin: Origin = Origin.MEASURED
    is_fitted: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for what can't be judged."""
        named = f"{self.figure}, {self.what}"
        if self.kind is Kind.RATIO and self.value == 1:
            raise ValueError(f"{named}: a ratio of 1 has no side of 1; make it a slope or a shape")
        if self.kind in (Kind.COUNT, Kind.ARITHMETIC) and (self.low is None or self.high is None):
            raise ValueError(f"{named}: a {self.kind} needs low and high to be judged by")
        if isinstance(self.here, Missing) and not self.here.reason:
            raise ValueError(f"{named}: missing, and no reason given")

    @property
    def ledger(self) -> Ledger:
        """Where it is counted."""
        if self.kind is Kind.ARITHMETIC:
            return Ledger.ARITHMETIC
        return Ledger.MEASURED if self.origin is Origin.MEASURED else Ledger.MODELLED


def printed_claim(
    figure: str,
    what: str,
    claim_id: str,
    kind: Kind,
    here: Figure,
    note: str = "",
    *,
    value: float | None = None,
    unit: str = "x",
    **more: Any,
) -> Published:
    """A claim of the text of a figure's document, quoted in the note.

    Arguments are attributes of `Published`. Its value is the number that the claim prints, or 1,
    unless `value` is given.
    """
    row = table_row(f"{figure[:3]}-X1-claims", claim_id=claim_id)
    number = float(row.get("value") or 1) if value is None else value
    quoted = "; ".join(filter(None, (note, f"printed: {row['as_printed']}")))
    return Published(figure, what, number, unit, row["source"], kind, here, quoted, **more)


DOCUMENTS: Mapping[str, str] = {
    "000": "PIM bulk encryption initial results (UBC, 2020)",
    "001": "Side effects of Allocating UPMEM Processing Units",
    "002": "The Design of the OpenBSD Cryptographic Framework (2003)",
    "003": "NVIDIA CUDA on CPU (+- Intel oneAPI) & GP-GPU (2024)",
    "004": "ESCAPE Benchmarking (GAPS CLOSURE)",
}
"""The titles of the documents by number."""


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a published table, as `003-T4-cpu-generations`."""
    path = files("sealift_lab") / "data" / "published" / f"{name}.csv"
    return tuple(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def table_row(name: str, **where: str) -> Mapping[str, str]:
    """The one row of a published table whose columns have these values; else a LookupError."""
    found = [row for row in table(name) if where.items() <= row.items()]
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows of {name} have {where}; right would be one")
    return found[0]
