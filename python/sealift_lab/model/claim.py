"""What may be said, as data: terminal, page, docs and JSON are made of claims and nothing else."""

from dataclasses import dataclass, field
from enum import StrEnum

from sealift_lab.model.published import Ledger
from sealift_lab.model.results import Estimate
from sealift_lab.model.values import Cell


class Relation(StrEnum):
    """What a claim says of its subject; each has one template."""

    FASTEST = "fastest"
    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    RATE = "rate"
    WINS_FROM = "wins from"
    BREAKS_EVEN = "breaks even"
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
    """One thing that may be said.

    Attributes:
        subject: Who or what: a device, a published figure.
        relation: What is said of it.
        other: What it is compared with, or "".
        figure: The figure with its interval; None where there is none.
        unit: Of the figure: `x`, `M messages/s`, `B`.
        ledger: Where it is counted.
        conditions: Axes with values under which it holds.
        reason: Why it is inconclusive, absent, untested; "" where nothing is to be said.
        experiment: Name of the experiment, or "".
        published: What was published, in `unit`; None where nothing was.
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
