"""What a run lacks that was stopped early, or had too little time for verdicts."""

from collections.abc import Collection

from sealift.lab.fullest import ADVISING
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.store import How, Run
from sealift.lab.store.run import took_s


def shortfall(run: Run) -> str:
    """Why the answer of a run is to be taken with care, in a sentence; "" where it has enough.

    Only the experiments that the answer stands on count. Where time was up, or a part failed, eight
    blocks of each group are enough, because a verdict takes no more.

    Args:
        run: From `store.read`.
    """
    counts = block_counts(run, ADVISING)
    held, planned = (sum(each[at] for each in counts) for at in (0, 1))
    if held >= planned:
        return ""
    least, how = min(counts)[0], run.ending.how if run.ending else None
    if least >= NEEDED and how in (How.TIME_UP, How.FAILED):
        return ""
    blocks = f"{held:,} of {planned:,} blocks{_fewest(least)}."
    if how is How.TIME_UP:
        return f"Too little time: {run.plan.budget_s:,g} s gave {blocks}"
    seconds = f"about {took_s(run.sensors):.0f} of {run.plan.budget_s:,g} s"
    return f"{_how(run)} after {seconds}, with {blocks}"


def block_counts(run: Run, names: Collection[str] = ()) -> list[tuple[int, int]]:
    """Of each group how many blocks there are and were planned; not of those that were given up.

    Nor of experiments that the run did not begin, where it began others.

    Args:
        run: From `store.read`.
        names: Of the experiments; of all when left out.
    """
    every = [each for each in run.plan.experiments if not names or each.name in names]
    begun = [each for each in every if run.has_begun(each.name)]
    return [
        (len(run.blocks(planned.name, group)), planned.blocks)
        for planned in begun or every
        for group in range(len(planned.groups))
        if (planned.name, group) not in run.over
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
