"""What a run lacks that was stopped early, or had too little time for verdicts."""

from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.store import How, Run
from sealift.lab.store.run import took_s


def shortfall(run: Run) -> str:
    """Why the figures of a run are to be taken with care, in a sentence; "" where it has enough.

    A run that time was up for has enough when every group of each experiment that was begun has the
    blocks that a verdict takes.

    Args:
        run: From `store.read`.
    """
    missing, planned = run.count_missing()
    if not missing:
        return ""
    time_is_up = run.ending is not None and run.ending.how is How.TIME_UP
    least = min(block_counts(run), default=(0, 0))[0]
    held = f"{planned - missing:,} of {planned:,} blocks"
    if not time_is_up:
        seconds = f"about {took_s(run.sensors):.0f} of {run.plan.budget_s:,g} s"
        return f"{_how(run)} after {seconds}, with {held}{_fewest(least)}."
    if least >= NEEDED:
        return ""
    return f"Too little time: {run.plan.budget_s:,g} s gave {held}{_fewest(least)}."


def block_counts(run: Run) -> list[tuple[int, int]]:
    """Of each group how many blocks there are and were planned; not of those that were given up.

    Nor of experiments that the run had no time to begin, which it tells.

    Args:
        run: From `store.read`.
    """
    return [
        (len(run.blocks(planned.name, group)), planned.blocks)
        for planned in run.plan.experiments
        for group in range(len(planned.groups))
        if (planned.name, group) not in run.over and not run.is_left_out(planned.name)
    ]


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
