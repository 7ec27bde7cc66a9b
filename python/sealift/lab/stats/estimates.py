"""What blocks say about a median or a ratio: how sure they are that it lies beyond a value."""

from collections.abc import Sequence
from dataclasses import dataclass

from sealift.lab.stats.bootstrap import Medians, Quotients
from sealift.lab.stats.series import by_restart, check_restarts, check_times, median
from sealift.lab.stats.student import Student


@dataclass(frozen=True)
class Estimate:
    """The more careful of two views: a bootstrap over blocks, and Student's t over restarts.

    Attributes:
        median: Of the series itself.
        blocks: How many values the series had; of two runs the shorter.
        restarts: How many restarts they are of; of two runs the fewer.
    """

    median: float
    blocks: int
    restarts: int
    draws: Medians | Quotients
    student: Student | None

    def at_most(self, value: float) -> float:
        """The least one-sided level at which the truth may be at most `value`."""
        return max(each.at_most(value) for each in self._views())

    def at_least(self, value: float) -> float:
        """The least one-sided level at which the truth may be at least `value`."""
        return max(each.at_least(value) for each in self._views())

    def interval(self, confidence: float) -> tuple[float, float]:
        """From the lowest end of any view to the highest."""
        ends = [each.interval(confidence) for each in self._views()]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return min(low, self.median), max(high, self.median)

    def _views(self) -> "list[Medians | Quotients | Student]":
        return [self.draws] if self.student is None else [self.draws, self.student]


def of_series(values: Sequence[float], restarts: Sequence[int] | None = None) -> Estimate:
    """Of one series; `restarts` names the one each block is of.

    Raises:
        ValueError: If there are no values, one is not finite, `restarts` has another length, or the
            median of one of several restarts is not above 0.
    """
    middle = median(values, restarts)
    medians = _medians(values, restarts)
    student = Student.of(medians) if len(medians) > 1 else None
    return Estimate(middle, len(values), len(medians), Medians(values, restarts), student)


def of_runs(
    now_ns: Sequence[float],
    before_ns: Sequence[float],
    *,
    now_restarts: Sequence[int] | None = None,
    before_restarts: Sequence[int] | None = None,
) -> Estimate:
    """Of the times before over those now, in two runs whose blocks don't pair.

    Student's t needs two restarts or more in both runs.

    Raises:
        ValueError: As `of_series`, and if a time is not above 0.
    """
    for times, restarts in ((now_ns, now_restarts), (before_ns, before_restarts)):
        check_times(times)
        check_restarts(times, restarts)
    now, before = of_series(now_ns, now_restarts), of_series(before_ns, before_restarts)
    student = before.student.over(now.student) if before.student and now.student else None
    return Estimate(
        before.median / now.median,
        min(before.blocks, now.blocks),
        min(before.restarts, now.restarts),
        Quotients(
            Medians(before_ns, before_restarts),
            Medians(now_ns, now_restarts),
        ),
        student,
    )


def restart_range(values: Sequence[float], restarts: Sequence[int]) -> float:
    """How far apart the medians of restarts are at most, as a share; 0 of one restart.

    Raises:
        ValueError: If there are no values, or one is no time.
    """
    check_times(values)
    medians = _medians(values, restarts)
    return max(medians) / min(medians) - 1


def _medians(values: Sequence[float], restarts: Sequence[int] | None) -> list[float]:
    labels = [0] * len(values) if restarts is None else restarts
    return [median(part) for part in by_restart(values, labels)]
