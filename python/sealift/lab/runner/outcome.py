"""How a run ended: from what went wrong and what is missing, as an ending, in words, as a code."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sealift.exit_code import ExitCode
from sealift.lab import store
from sealift.lab.progress import MINUTES_FROM_S
from sealift.lab.store import Ending, How


@dataclass(frozen=True)
class Done:
    """A run that has ended.

    Attributes:
        path: Of its folder.
        ending: How.
        code: 0 or an `ExitCode`.
    """

    path: Path
    ending: Ending
    code: int


@dataclass
class Trouble:
    """What went wrong while a run went on.

    Attributes:
        failed: What processes and arms did that they should not, in words.
        raised: Groups with arms that raised something, and what is told of that.
        absent: Groups with arms that may be there another time.
        not_written: What could not be written, and why; or "".
    """

    failed: list[str] = field(default_factory=list)
    raised: dict[tuple[str, int], str] = field(default_factory=dict)
    absent: set[tuple[str, int]] = field(default_factory=set)
    not_written: str = ""

    def ending(self, run: store.Run, signal: str, budget_s: float) -> Ending:
        """How a run ended.

        Args:
            run: As its folder has it now.
            signal: The name of the signal that ended it, or "".
            budget_s: Seconds that it had.
        """
        if self.not_written:
            return Ending(How.NOT_WRITTEN, self.not_written)
        if signal:
            return Ending(How.INTERRUPTED, f"{signal} came")
        lacking = self._lacking(run)
        if not lacking:
            return Ending(How.COMPLETE)
        raised = [text for group, text in self.raised.items() if group in lacking]
        if failed := [*self.failed, *raised]:
            return Ending(How.FAILED, "; ".join(dict.fromkeys(failed)))
        return Ending(How.TIME_UP, _too_short(run, budget_s))

    def _lacking(self, run: store.Run) -> set[tuple[str, int]]:
        """The groups that lack blocks, and not only because nothing of them is here now."""
        return {
            (planned.name, group)
            for planned in run.plan.experiments
            for group in range(len(planned.groups))
            if run.missing(planned.name, group)
            and (run.blocks(planned.name, group) or (planned.name, group) not in self.absent)
        }


def _too_short(run: store.Run, budget_s: float) -> str:
    """What there was no time for: experiments, or only blocks of them."""
    there = [each.name for each in run.plan.experiments if each.groups]
    begun = [name for name in there if run.has_begun(name)]
    if 0 < len(begun) < len(there):
        left_out = len(there) - len(begun)
        return f"{budget_s:g} s were too short for {left_out} of {len(there)} experiments"
    missing, planned = run.count_missing()
    return f"{budget_s:g} s were too short for {missing:,} of {planned:,} blocks"


def say_ending(
    run: store.Run,
    ending: Ending,
    say: Callable[[str], None],
    *,
    is_kept: bool,
    left_s: float,
) -> None:
    """Says how a run ended, and what to do next.

    Args:
        run: As it is kept.
        ending: How it ended.
        say: Is given each sentence.
        is_kept: Whether its folder stays, so that a resume may be spoken of.
        left_s: About how many seconds a resume takes; 0 where that is not known.
    """
    if ending.how is How.COMPLETE:
        if not run.has_results:
            say("nothing could be measured, for the reasons above")
        if not run.is_whole and is_kept:
            again = store.resume_command(run.path)
            say(f"to try again what could not be measured now: {again}")
        return
    # What failed was told when it did.
    is_told = ending.how in (How.INTERRUPTED, How.FAILED)
    said = ending.how.value if is_told else ending.reason
    if not is_kept:
        say(said)
        return
    rest = f"the rest takes {about_text(left_s)}" if left_s else "to measure the rest"
    say(f"{said}; {rest}: {store.resume_command(run.path)}")


def about_text(seconds: float) -> str:
    """A time that is not known exactly: `about 20 s`, `about 35 min`."""
    if seconds < MINUTES_FROM_S:
        return f"about {max(1, math.ceil(seconds))} s"
    return f"about {math.ceil(seconds / 60)} min"


def exit_code(run: store.Run, ending: Ending, *, whole: bool) -> int:
    """0 or an `ExitCode`.

    Args:
        run: As it is kept.
        ending: How it ended.
        whole: Whether everything was written.
    """
    if ending.how is How.NOT_WRITTEN or not whole:
        return ExitCode.NOT_WRITTEN
    if ending.how is How.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if any(each.wrong for each in run.verified):
        return ExitCode.WRONG_RESULT
    if ending.how is How.FAILED:
        return ExitCode.PART_FAILED
    return 0 if run.has_results else ExitCode.NOTHING_RAN
