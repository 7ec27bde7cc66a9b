"""What a run found of each arm once it is judged, and what may be said of it: rows and claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sealift_lab.model.arm import Cell, Value, fits


class Origin(StrEnum):
    """Where a figure comes from; the kinds are never mixed."""

    MEASURED = "measured"
    SIMULATED = "simulated"
    PROJECTED = "projected"
    PUBLISHED = "published"


class Ledger(StrEnum):
    """Where a claim is counted; the three are never added up."""

    MEASURED = "measured here"
    MODELLED = "modelled"
    ARITHMETIC = "arithmetic on what is printed"


class Verdict(StrEnum):
    """An arm against its reference."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, or with the reason why it has none or settles nothing."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` above 0."""
        low, high = (end and end * factor for end in (self.low, self.high))
        return replace(self, value=self.value * factor, low=low, high=high)

    def inverse(self) -> "Estimate":
        """One over it, of a figure above 0: without an interval where that would have no end."""
        low, high = (1 / self.high, 1 / self.low) if self.low and self.high else (None, None)
        return replace(self, value=1 / self.value, low=low, high=high)


@dataclass(frozen=True)
class Row:
    """What one arm did, judged.

    Attributes:
        compare: The axis whose values are compared; nothing else differs within a group.
        time: Nanoseconds an operation, all threads together: the median.
        payload_bytes: Mean payload of an operation; 0 where there is none.
        ratio: Times as fast as the reference; None for the reference itself, as the verdict.
        reason: Why the verdict is inconclusive, or "".
        is_winner: Whether no other arm of the group was shown to be faster.
        noise: The scatter of A/A pairs in the group, a share: 1.48 times the median deviation.
        clean_share: Share of the arm's samples that nothing disturbed, 0..1.
        wrong: What was computed wrong, or "": the times of such an arm mean nothing.
    """

    experiment: str
    group: int
    arm: int
    cell: Cell
    compare: str
    time: Estimate
    payload_bytes: float
    reference: Value
    ratio: Estimate | None
    verdict: Verdict | None
    reason: str
    is_winner: bool
    blocks: int
    processes: int
    noise: float | None
    clean_share: float
    wrong: str = ""
    origin: Origin = Origin.MEASURED

    @property
    def subject(self) -> Value:
        """The value of the compared axis."""
        return self.cell[self.compare]

    @property
    def work(self) -> Cell:
        """The other axes: equal for rows of one group."""
        return {name: value for name, value in self.cell.items() if name != self.compare}

    @property
    def operations_per_s(self) -> Estimate:
        """Operations a second, all threads together."""
        return self.time.inverse().scaled(1e9)

    @property
    def payload_mb_per_s(self) -> Estimate | None:
        """Payload in 10**6 bytes a second, all threads together; None without payload."""
        each_mb = self.payload_bytes / 1e6
        return self.operations_per_s.scaled(each_mb) if each_mb else None


@dataclass(frozen=True)
class ArmReport:
    """What one planned arm checked, counted or computed, or why it was not measured."""

    experiment: str
    cell: Cell
    facts: Mapping[str, Value]
    skipped: str = ""
    wrong: str = ""
    is_left_out: bool = False


@dataclass(frozen=True)
class Results:
    """What a run found of one experiment: rows of timed arms, and reports of every planned one."""

    rows: Sequence[Row]
    reports: Sequence[ArmReport]

    def select(self, **where: Value) -> Iterator[Row]:
        """The rows with these values on these axes."""
        return (row for row in self.rows if fits(row.cell, where))

    def facts(self, **where: Value) -> Iterator[ArmReport]:
        """The reports with facts and these values on these axes."""
        return (each for each in self.reports if each.facts and fits(each.cell, where))

    def why_missing(self, **where: Value) -> str:
        """Why no row has these values."""
        for each in self.reports:
            if fits(each.cell, where) and (each.skipped or each.wrong):
                return each.skipped or f"computed wrong: {each.wrong}"
        return "not among the cells of this run"


class Relation(StrEnum):
    """What a claim says of its subject; each has one template."""

    FASTEST = "fastest"
    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    RATE = "rate"
    WINS_FROM = "wins from"
    ABSENT = "absent"
    WRONG = "wrong"
    REPRODUCED = "reproduced"
    IN_SHAPE = "reproduced in shape"
    HOLDS = "holds here"
    CONTRADICTED = "contradicted"
    DIFFERS = "differs here"
    UNTESTED = "not tested"


@dataclass(frozen=True)
class Claim:
    """One thing that may be said: terminal, page, docs and JSON are made of claims.

    Attributes:
        subject: A device, or a published figure, compared with the other one.
        unit: Of the figure: `x`, `M messages/s`, `B`.
        conditions: Axes with values under which it holds.
        reason: Why it is inconclusive, absent or untested, or "".
        published: What was published, in `unit`.
        is_independent: Whether agreement with what was published is evidence: not where a model was
            fitted to it, or it was an input.
    """

    subject: str
    relation: Relation
    other: str = ""
    figure: Estimate | None = None
    unit: str = ""
    ledger: Ledger = Ledger.MEASURED
    conditions: Cell = field(default_factory=dict)
    reason: str = ""
    experiment: str = ""
    published: float | None = None
    is_independent: bool = True
