"""What a run lacks that was stopped early, or had too little time for verdicts."""

from collections.abc import Sequence
from itertools import pairwise

from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.store import How, Reading, Run


def shortfall(run: Run) -> str:
    """Why the figures of a run are to be taken with care, in a sentence; "" where it has enough.

    A run that time was up for has enough when every group has the blocks that a verdict takes.

    Args:
        run: From `store.read`.
    """
    missing, planned = run.count_missing()
    least = min(block_counts(run), default=(0, 0))[0]
    if not missing:
        return ""
    held = f"{planned - missing:,} of {planned:,} blocks"
    if run.ending is None or run.ending.how is not How.TIME_UP:
        seconds = f"about {took_s(run.sensors):.0f} of {run.plan.budget_s:,g} s"
        return f"{_how(run)} after {seconds}, with {held}{_fewest(least)}."
    if least >= NEEDED:
        return ""
    return f"Too little time: {run.plan.budget_s:,g} s gave {held}{_fewest(least)}."


def block_counts(run: Run) -> list[tuple[int, int]]:
    """Of each group how many blocks there are and were planned; not of those that were given up.

    Args:
        run: From `store.read`.
    """
    return [
        (len(run.blocks(planned.name, group)), planned.blocks)
        for planned in run.plan.experiments
        for group in range(len(planned.groups))
        if (planned.name, group) not in run.over
    ]


def took_s(readings: Sequence[Reading]) -> float:
    """Seconds of measuring: a run that was resumed later was not measured in between.

    Args:
        readings: Of its sensors, about one a second.
    """
    times_s = [0.0, *(reading.at_s for reading in readings)]
    gaps_s = (after - before for before, after in pairwise(times_s))
    return sum(gap_s for gap_s in gaps_s if gap_s <= PAUSE_S)


def _how(run: Run) -> str:
    """The first word of the sentence."""
    if run.ending is None:
        return "Killed, or not yet at its end,"
    return "Interrupted" if run.ending.how is How.INTERRUPTED else f"Ended early ({run.ending.how})"


def _fewest(least: int) -> str:
    """That some work has too few blocks; "" where every group has enough."""
    if least >= NEEDED:
        return ""
    return f", as few as {least} for some work (verdicts need {NEEDED})"


NEEDED = blocks_needed(VERDICT_CONFIDENCE)
# Sensors are read once a second; a busy machine may be late.
PAUSE_S = 10
