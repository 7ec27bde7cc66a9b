"""Why a piece of work has no winner, within what it is alike, and how noisy all of it was."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift.lab.finding import Finding, Kind
from sealift.lab.result import Row
from sealift.lab.stats import (
    VERDICT_CONFIDENCE,
    Interval,
    Trust,
    Verdict,
    blocks_needed,
    median,
    smallest_difference,
)
from sealift.lab.stats.verdicts import LOUD_FLOOR
from sealift.lab.units import format_estimate, format_noise


def why_open(finding: Finding) -> str:
    """Why nobody won a piece of work, in the fewest words; "" where somebody did."""
    if finding.kind is Kind.WINNER:
        return ""
    if finding.kind is Kind.ALONE:
        return "nothing to compare with"
    if finding.kind is Kind.SAME:
        return alike_within([finding])
    reasons = dict.fromkeys(why for row in finding.rows if (why := why_unsure(row)))
    # Two that beat the reference are not told apart by it.
    return ", ".join(reasons) or f"judged by {finding.rows[0].reference} only"


def why_unsure(row: Row) -> str:
    """Why a verdict is UNSURE, in the fewest words; "" for every other one, and for a reference."""
    if row.verdict is not Verdict.UNSURE:
        return ""
    needed = blocks_needed(VERDICT_CONFIDENCE)
    if row.blocks < needed:
        return f"fewer than {needed} blocks"
    if row.trust is Trust.LOUD:
        return f"noise floor over {LOUD_FLOOR * 100:.0f} %"
    if row.machine_busy:
        return "machine busy"
    return f"{VERDICT_CONFIDENCE * 100:.0f} % interval crosses the noise"


def said_text(row: Row) -> str:
    """A verdict in its word; SAME with how much it may hide where the noise is no small one."""
    if row.verdict is None:
        return ""
    if row.verdict is Verdict.SAME and row.trust is not Trust.GOOD:
        return f"{row.verdict} within {format_noise(smallest_difference(row.noise_floor))}"
    return row.verdict.value


def alike_within(found: Sequence[Finding]) -> str:
    """`alike`, with how much that may hide where the noise is no small one.

    Args:
        found: Of kind SAME, at least one.
    """
    noisy = [each.smallest_difference for each in found if each.rows[0].trust is not Trust.GOOD]
    return f"alike within {format_noise(max(noisy))}" if noisy else "alike"


def ratios_text(found: Sequence[Finding]) -> str:
    """How many times as fast as the reference each device was, one ratio or the least and the most.

    Args:
        found: Of the same devices or of others; of any kind.
    """
    by_reference: dict[str, dict[str, list[Interval]]] = {}
    for row in (row for finding in found for row in finding.rows):
        if row.ratio:
            devices = by_reference.setdefault(str(row.reference), {})
            devices.setdefault(str(row.subject), []).append(row.ratio)
    return "; ".join(
        f"{', '.join(f'{name} {least_and_most(own)}' for name, own in devices.items())} "
        f"times as fast as {reference}"
        for reference, devices in by_reference.items()
    )


def least_and_most(ratios: Sequence[Interval]) -> str:
    """One ratio with its interval, or of several the least and the most."""
    ends = (min(ratios, key=_median), max(ratios, key=_median))
    return " to ".join(
        dict.fromkeys(format_estimate(each.median, each.low, each.high) for each in ends)
    )


@dataclass(frozen=True)
class Noise:
    """How far the same code differed from itself, over all pieces of work.

    Attributes:
        usual: The median of the noise floors, as a share.
        worst: The largest of them, as a share.
        pairs: How many there are: one a piece of work.
    """

    usual: float
    worst: float
    pairs: int

    @property
    def usual_text(self) -> str:
        """The usual one: `±1.2 %`, or `over 1,000 %`."""
        told = format_noise(self.usual)
        return told if told.startswith("over") else f"±{told}"

    @property
    def text(self) -> str:
        """Both in a sentence, with what the usual one means."""
        pairs = f"{self.pairs:,} {'pair' if self.pairs == 1 else 'pairs'} of the same code"
        worst = format_noise(self.worst)
        return f"Noise {self.usual_text}: half of {pairs} differ by less, the worst by {worst}."


def noise(rows: Iterable[Row]) -> Noise | None:
    """The noise of these rows; None where there are none.

    Args:
        rows: Those of one piece of work share its floor.
    """
    floors = list({row.work: row.noise_floor for row in rows}.values())
    return Noise(median(floors), max(floors), len(floors)) if floors else None


def _median(ratio: Interval) -> float:
    return ratio.median
