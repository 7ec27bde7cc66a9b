"""What a run found: one row for each arm, and what was verified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sealift.lab.stats import Interval, Trust, Verdict, trust
from sealift.lab.units import NS_PER_S
from sealift.lab.values import Cell, Value


class Origin(StrEnum):
    """Where a number comes from; the kinds are never mixed."""

    MEASURED = "measured"
    SIMULATED = "simulated"
    PROJECTED = "projected"
    PUBLISHED = "published"


@dataclass(frozen=True)
class Row:
    """What one arm did.

    Attributes:
        experiment: Name of the experiment.
        cell: Its axes with their values.
        compare: The axis whose values are compared; the cells of rows that may be compared with
            each other differ in nothing else.
        ns_per_operation: Wall-clock nanoseconds, all threads together; 95 % interval.
        payload_bytes: Mean payload of an operation; 0 where there is none.
        reference: Value of `compare` that this one is compared with.
        ratio: Times as fast as the reference, paired by block, 95 % interval; None for the
            reference itself.
        verdict: On `ratio`, all of the group together at the 99 % level; None for the reference
            itself.
        winner: No other arm of the group was shown to be faster.
        noise_floor: A/A noise floor of the group, as a share.
        clean_share: Share of this arm's samples that were clean; 0..1.
        machine_busy: Under half of the samples were clean, of this arm or of the whole group, or
            the ratio stands on unclean pairs, because under half and fewer than 8 were clean.
        steady: No drift over the warm blocks that were clean, and not this arm alone left its usual
            clock.
        blocks: How many complete blocks were measured.
        wrong: What was computed wrong, or "": the times of such an arm mean nothing.
        origin: Where the numbers come from.
    """

    experiment: str
    cell: Cell
    compare: str
    ns_per_operation: Interval
    payload_bytes: float
    reference: Value
    ratio: Interval | None
    verdict: Verdict | None
    winner: bool
    noise_floor: float
    clean_share: float
    machine_busy: bool
    steady: bool
    blocks: int
    wrong: str = ""
    origin: Origin = Origin.MEASURED

    @property
    def subject(self) -> Value:
        """The value of the compared axis: who did it."""
        return self.cell[self.compare]

    @property
    def work(self) -> tuple[tuple[str, Value], ...]:
        """What tells one piece of work from another: equal for rows that may be compared."""
        rest = sorted((name, value) for name, value in self.cell.items() if name != self.compare)
        return (("experiment", self.experiment), *rest)

    @property
    def operations_per_s(self) -> Interval:
        """Operations a second, all threads together."""
        return self.ns_per_operation.inverse().scaled(NS_PER_S)

    @property
    def payload_mb_per_s(self) -> Interval | None:
        """Payload in 10**6 bytes a second, all threads together; None without payload."""
        if not self.payload_bytes:
            return None
        return self.operations_per_s.scaled(self.payload_bytes / 1_000_000)

    @property
    def trust(self) -> Trust:
        """How far the noise floor lets the comparison be trusted."""
        return trust(self.noise_floor)


@dataclass(frozen=True)
class Verified:
    """What was checked of one arm.

    Attributes:
        experiment: Name of the experiment.
        cell: The arm's cell.
        facts: As the arm told them: `checked_against`, counts.
        skipped: Why the arm was not measured, or "".
        wrong: What was computed wrong, or "".
        left_out: Whether the budget had no room for it, so that it was not planned or not begun.
    """

    experiment: str
    cell: Cell
    facts: Mapping[str, Value]
    skipped: str = ""
    wrong: str = ""
    left_out: bool = False


@dataclass(frozen=True)
class Listing:
    """A table of an experiment's own, beside its rows.

    Attributes:
        title: What it lists.
        columns: Their names.
        rows: Text in each column.
        numbers: The columns that hold numbers.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()


@dataclass(frozen=True)
class Lead:
    """The answer to a question that a whole run may be made for.

    Attributes:
        question: In words.
        origin: Where its figures come from, in words.
        answer: One sentence, with what it holds for.
        figures: What it stands on, in sentences.
    """

    question: str
    origin: str
    answer: str
    figures: str


@dataclass(frozen=True)
class Found:
    """What one experiment found.

    Attributes:
        rows: Of the arms that were measured.
        verified: Of all arms, the skipped ones too.
        beside: What the lab's other experiments of the same run found, by their names.
    """

    rows: Sequence[Row]
    verified: Sequence[Verified]
    beside: Mapping[str, "Found"] = field(default_factory=dict)

    def row(self, **cell: Value) -> Row | None:
        """The one row whose cell has these values, or None.

        Raises:
            LookupError: If several have.
        """
        wanted = cell.items()
        fitting = [row for row in self.rows if wanted <= row.cell.items()]
        if len(fitting) > 1:
            raise LookupError(f"{len(fitting)} rows have {cell}; name more axes")
        return fitting[0] if fitting else None

    def why_not(self, **cell: Value) -> str:
        """Why there is no such row."""
        wanted = cell.items()
        for each in self.verified:
            if wanted <= each.cell.items() and (each.skipped or each.wrong):
                return each.skipped or f"computed wrong: {each.wrong}"
        return "not among the cells of this run"
