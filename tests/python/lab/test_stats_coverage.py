"""How often intervals over restarts hold the truth: simulated, as docs/statistics.md tells."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from made_series import placed
from sealift.lab.stats import Estimate, Verdict, judged, median_interval, of_runs, verdicts
from sealift.lab.stats.bootstrap import Medians

ROUNDS = 1_000
BLOCKS = 30
WITHIN = 0.005
SLOWER_BY = 1.1
PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"
DIFFERENT = (Verdict.FASTER, Verdict.SLOWER)


@dataclass(frozen=True)
class Simulated:
    """Of `ROUNDS` series of one kind, in how many something was so.

    Attributes:
        held_95: The 95 % interval held the truth.
        held_99: The 99 % interval did.
        drawn_99: The 99 % interval of the bootstrap alone did.
        false: Equal arms were called FASTER or SLOWER.
        edge: Arms that differ by exactly 2 % were called so.
        found: 5 % less speed were called SLOWER.
    """

    held_95: int = 0
    held_99: int = 0
    drawn_99: int = 0
    false: int = 0
    edge: int = 0
    found: int = 0


def simulated(restarts: int, between: float) -> Simulated:
    """Paired ratios of arms whose restarts differ, in 30 blocks with noise of 0.5 %."""
    generator = random.Random(f"{restarts} {between}")
    counts = dict.fromkeys(Simulated.__dataclass_fields__, 0)
    for _ in range(ROUNDS):
        hundreds, labels = placed(
            generator, restarts, BLOCKS // restarts, between=between, within=WITHIN
        )
        ratios = [value / 100 for value in hundreds]

        def said(truth: float, ratios: Sequence[float], labels: Sequence[int]) -> Verdict:
            return verdicts([[truth * one for one in ratios]], 0.0, restarts=[labels])[0]

        intervals = {
            f"held_{percent}": median_interval(ratios, confidence=percent / 100, restarts=labels)
            for percent in (95, 99)
        }
        for name, interval in intervals.items():
            counts[name] += interval.low <= 1 <= interval.high
        low, high = Medians(ratios, labels).interval(0.99)
        counts["drawn_99"] += low <= 1 <= high
        counts["false"] += said(1.0, ratios, labels) in DIFFERENT
        counts["edge"] += said(1.02, ratios, labels) in DIFFERENT
        counts["found"] += said(1 / 1.05, ratios, labels) is Verdict.SLOWER
    return Simulated(**counts)


@dataclass(frozen=True)
class Slowed(Estimate):
    """What would be known of the same two runs, had the later one taken 1.1 times as long."""

    @classmethod
    def of(cls, ratio: Estimate) -> "Slowed":
        median = ratio.median / SLOWER_BY
        return cls(median, ratio.blocks, ratio.restarts, ratio.draws, ratio.student)

    def at_most(self, value: float) -> float:
        return super().at_most(SLOWER_BY * value)

    def at_least(self, value: float) -> float:
        return super().at_least(SLOWER_BY * value)


CASES = [(restarts, between) for between in (0.006, 0.03) for restarts in (2, 3, 5)]


@pytest.mark.parametrize(("restarts", "between"), CASES)
def test_intervals_over_restarts_hold_the_truth_as_often_as_they_say(
    restarts: int, between: float
) -> None:
    found = simulated(restarts, between)
    # Three standard errors below nominal.
    assert found.held_95 >= 930
    assert found.held_99 >= 981
    assert found.drawn_99 < 975
    assert found.false <= 10
    assert found.edge <= 15
    line = (
        f"| {100 * between:.1f} % | {restarts} | {found.held_95 / 10:.1f} | "
        f"{found.held_99 / 10:.1f} | {found.drawn_99 / 10:.1f} | {found.false / 10:.1f} | "
        f"{found.edge / 10:.1f} | {found.found / 10:.1f} |"
    )
    assert line in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("between", [0.006, 0.03])
def test_two_runs_of_five_restarts_are_judged_soundly(between: float) -> None:
    generator = random.Random(f"runs {between}")
    rows, rounds = 14, 100
    false_families = held = found = 0

    def run_pair() -> tuple[list[float], list[float], list[int]]:
        before, labels = placed(generator, 5, 6, between=between, within=WITHIN)
        now, _ = placed(generator, 5, 6, between=between, within=WITHIN)
        return before, now, labels

    for _ in range(rounds):
        same: list[tuple[Estimate, float]] = []
        slow: list[tuple[Estimate, float]] = []
        for _ in range(rows):
            before, now, labels = run_pair()
            ratio = of_runs(now, before, now_restarts=labels, before_restarts=labels)
            same.append((ratio, 0.02))
            slow.append((Slowed.of(ratio), 0.02))
            low, high = ratio.interval(0.95)
            held += low <= 1 <= high
        false_families += any(said in DIFFERENT for said in judged(same))
        found += judged(slow).count(Verdict.SLOWER)
    assert held >= 0.94 * rows * rounds
    assert false_families <= 3
    line = (
        f"| {100 * between:.1f} % | {100 * held / rows / rounds:.1f} | {false_families} | "
        f"{100 * found / rows / rounds:.1f} |"
    )
    assert line in PAGE.read_text(encoding="utf-8").splitlines()
