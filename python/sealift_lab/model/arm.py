"""Cells, the arms that are made of them, and samples. Standard library only, for what measures."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Value = str | int | float
Cell = Mapping[str, Value]
"""One point of an experiment: a value for each of its axes, as they come back from JSON."""


@dataclass(frozen=True)
class Sample:
    """One timing of an arm.

    Attributes:
        ns: Wall clock from the first thread's start to the last one's end.
        operations: By all threads together.
        bytes: Payload of these operations; 0 where there is none.
        cpu_share: Thread CPU time over wall time, the least of the threads.
        steal_ns: Time the hypervisor took meanwhile.
        clock_ghz: Clock of the core beside the sample, by a timed chain; None where unknown.
    """

    ns: int
    operations: int
    bytes: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int
    clock_ghz: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for what can't have been measured."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= INTEGER_MAX:
                right = f"an int from {least}"
                raise ValueError(f"a sample with {name}={value!r}; right would be {right}")
        share, clock = self.cpu_share, self.clock_ghz
        if not (type(share) in (int, float) and 0 <= share <= 1):
            raise ValueError(f"a sample with cpu_share={share!r}; right would be 0 to 1")
        if clock is not None and not (type(clock) in (int, float) and 0 < clock < 1e3):
            raise ValueError(f"a sample with clock_ghz={clock!r}; right would be above 0, or None")

    @property
    def ns_per_operation(self) -> float:
        """Wall-clock nanoseconds an operation."""
        return self.ns / self.operations


class Arm(Protocol):
    """One cell, prepared and checked, ready to be timed."""

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`, a millisecond at least; a `WrongResultError` is its last."""

    def report(self) -> Mapping[str, Value]:
        """What was checked (`checked_against`, counts so far) and what it ran on (`detail`)."""


@dataclass(frozen=True)
class Computed:
    """An arm that is not timed: its facts are its result, as `"latency, cycles": 24.0`.

    Text and floats; integers of several processes are added up.
    """

    facts: Mapping[str, Value]

    @classmethod
    def rounded(cls, facts: Mapping[str, Value]) -> "Computed":
        """Facts with six significant digits; whole numbers have all of theirs."""
        numbers = {name: each for name, each in facts.items() if isinstance(each, float)}
        return cls(
            {**facts, **{n: float(f"{each:.6g}") for n, each in numbers.items() if each % 1}}
        )

    def sample(self, seconds: float) -> Sample:
        """Raises TypeError, because there is nothing to time."""
        raise TypeError(f"a sample of {seconds:g} s of what is computed, not timed")

    def report(self) -> Mapping[str, Value]:
        """What was computed."""
        return self.facts


class Skip(Exception):  # noqa: N818 (a result, not an error)
    """An arm that can't be measured here: why, and what to do about it.

    A transient one, as when memory is short, is tried again by the next process or a resume.
    """

    def __init__(self, reason: str = "", *, is_transient: bool = False) -> None:
        """Stores the reason."""
        super().__init__(reason)
        self.is_transient = is_transient


class WrongResultError(RuntimeError):
    """Something was computed wrong while an arm was prepared or measured."""


@dataclass(frozen=True)
class Context:
    """What an arm may know beside its cell.

    Files of an experiment's own go to the run `folder`; their names begin with its id.
    """

    seed: int
    folder: Path
    legend: Mapping[str, str] = field(default_factory=dict)


def fits(cell: Cell, where: Cell) -> bool:
    """Whether a cell has these values on these axes."""
    return where.items() <= cell.items()


def why_not_stored(value: object) -> str:
    """Why a value can't be stored in a run folder and read by other programs, or ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"is of type {type(value).__name__}; right would be text or a number"
    if isinstance(value, str):
        return "" if is_text(value) else "has half of a surrogate pair; right would be whole text"
    if isinstance(value, int):
        in_range = -INTEGER_MAX - 1 <= value <= INTEGER_MAX
        return "" if in_range else "is beyond 64 bits; right would be a smaller number, or text"
    return "" if math.isfinite(value) else "is no finite number"


def is_text(value: object) -> bool:
    """Whether a value is text that UTF-8 has."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


LEAST = {"ns": 1, "operations": 1, "bytes": 0, "involuntary_switches": 0, "steal_ns": 0}
INTEGER_MAX = 2**63 - 1
