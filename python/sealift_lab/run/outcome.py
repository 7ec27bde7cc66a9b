"""How a run ended: from what went wrong and what lacks, as an ending, in words, as a code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sealift.exit_code import ExitCode
from sealift_lab.model.run import Ending, Plan
from sealift_lab.model.units import format_duration
from sealift_lab.run.state import State
from sealift_lab.run.writing import resume_command


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
        failed: Failures of processes, in sentences.
        raised: Arms that raised something and were not measured since, and what.
        absent: Groups with arms that may be there another time.
        not_written: What could not be written, and why; or "".
    """

    failed: list[str] = field(default_factory=list)
    raised: dict[tuple[str, int, int], str] = field(default_factory=dict)
    absent: set[tuple[str, int]] = field(default_factory=set)
    not_written: str = ""

    def ending(self, plan: Plan, state: State, signal: str, budget_s: float) -> Ending:
        """How a run ended: with the name of a signal, or ""; and of how many seconds."""
        if self.not_written:
            return Ending("not written", self.not_written)
        if signal:
            return Ending("interrupted", f"{signal} came")
        # Not what lacks blocks only because nothing of it is here now.
        lacking = {
            (name, each.group)
            for name, groups in state.groups.items()
            for each in groups
            if each.lacking and (each.blocks or (name, each.group) not in self.absent)
        }
        # Other arms of a group may have their blocks: one that only raised has failed all the same.
        failed = [*(self.failed if lacking else ()), *self.raised.values()]
        if failed:
            return Ending("failed", "; ".join(dict.fromkeys(failed)))
        if not lacking:
            return Ending("complete")
        return Ending("time was up", _too_short(plan, state, budget_s))


def exit_code(state: State, ending: Ending, *, is_written: bool) -> int:
    """0 or an `ExitCode`; `is_written` where every file was."""
    if ending.ending == "not written" or not is_written:
        return ExitCode.NOT_WRITTEN
    if ending.ending == "interrupted":
        return ExitCode.INTERRUPTED
    if state.is_wrong:
        return ExitCode.WRONG_RESULT
    if ending.ending == "failed":
        return ExitCode.PART_FAILED
    return 0 if state.results else ExitCode.NOTHING_RAN


def say_ending(
    path: Path, state: State, ending: Ending, say: Callable[[str], None], rest_s: float
) -> None:
    """Says how a run ended, and how to do the rest in `rest_s`; 0 where the folder doesn't stay."""
    resume = resume_command(path)
    if ending.ending == "complete":
        if not state.results:
            say("nothing could be measured, for the reasons above")
        if not state.is_whole and rest_s:
            say(f"to try again what could not be measured now: {resume}")
        return
    # What failed was reported when it did.
    is_known = ending.ending in ("interrupted", "failed")
    text = ending.ending if is_known else ending.reason
    say(f"{text}; the rest takes about {format_duration(rest_s)}: {resume}" if rest_s else text)


def _too_short(plan: Plan, state: State, budget_s: float) -> str:
    """What there was no time for: experiments, or only blocks of them."""
    there = [groups for groups in state.groups.values() if groups]
    left_out = sum(all(each.lacking and not each.blocks for each in groups) for groups in there)
    if 0 < left_out < len(there):
        return f"{budget_s:g} s were too short for {left_out} of {len(there)} experiments"
    missing = sum(each.lacking for groups in there for each in groups)
    planned = sum(
        len(each.groups) * (each.blocks * plan.processes if each.is_timed else 1)
        for each in plan.experiments
    )
    return f"{budget_s:g} s were too short for {missing:,} of {planned:,} blocks"
