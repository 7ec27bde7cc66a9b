"""Arms of one measuring process: made, measured, and their reports written."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sealift_lab.measure.guarded import Guarded, ReportError, check_room, format_error
from sealift_lab.measure.job import Again, GroupJob, Job
from sealift_lab.measure.journal import Journal, NotWrittenError
from sealift_lab.measure.loop import Block, Ending, GroupTask, Task, measure
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import ReportLine
from sealift_lab.model.sample import Context, Sample, Skip, WrongResultError
from sealift_lab.model.values import Cell, Value

Tell = Callable[[Mapping[str, Any]], None]
"""Passes an event to the parent."""


class Bench:
    """Prepares and measures the groups of a job; listens to the block loop."""

    def __init__(
        self,
        job: Job,
        experiment: Experiment,
        groups: Sequence[Sequence[Cell]],
        context: Context,
        journals: tuple[Journal, Journal],
        tell: Tell,
    ) -> None:
        """Prepares nothing yet.

        Args:
            job: What is to be done.
            experiment: The one that the job names.
            groups: Its planned cells.
            context: For the arms.
            journals: Of samples and of reports.
            tell: Called with each event.
        """
        self._job = job
        self._experiment = experiment
        self._groups = groups
        self._context = context
        self._samples, self._reports = journals
        self._tell = tell
        self._file = None if experiment.file is None else str(experiment.file)
        # By group the arms that could be made, by their places.
        self._arms: dict[int, dict[int, Guarded]] = {}
        self._tried = 0
        # For each group in the loop: its number, and the places of its arms there.
        self._places: list[tuple[int, list[int]]] = []

    def prepare(self) -> None:
        """Makes the arms; of groups that are timed, as many as there is time to measure.

        Computed arms are results, so their reports are written at once.
        """
        begin_s = time.monotonic()
        for each in self._job.groups:
            if self._tried and not self._has_time(each, begin_s):
                self._leave_out(each.group, each.arms)
            else:
                self._prepare(each)

    def measure(self) -> Ending:
        """Takes the blocks; none of what is computed."""
        if not self._experiment.is_timed:
            return Ending.COMPLETE
        jobs = list(self._measurable())
        self._tell({"event": "measuring", "blocks": sum(each.blocks for each in jobs)})
        now_s = time.monotonic()
        task = Task(
            groups=[
                GroupTask(
                    arms=[self._arms[number][place] for place in places],
                    first_block=each.first_block,
                    blocks=each.blocks,
                    blocks_least=each.blocks_least,
                )
                for each, (number, places) in zip(jobs, self._places, strict=True)
            ],
            seconds=max(0.0, self._job.until_s - now_s),
            seconds_max=self._job.latest_s - now_s,
            seed=f"{self._context.seed}/{self._experiment.name}/{self._job.process}",
            warm_up_blocks=self._job.warm_up_blocks,
        )
        return measure(task, self)

    def block(self, group: int, number: int, block: Block) -> None:
        """Stores a block; called by the loop."""
        stored, places = self._places[group]
        samples = {p: s for p, s in zip(places, block.samples, strict=True) if s is not None}
        lines = [(place, sample, False) for place, sample in sorted(samples.items())]
        lines.append((places[block.aa_arm], block.aa_sample, True))
        head = {"experiment": self._experiment.name, "group": stored}
        tail = {"restart": self._job.process, "block": number}
        self._samples.add(
            {**head, "arm": place, "again": again, **tail, **_timing(sample)}
            for place, sample, again in lines
        )
        times = {place: sample.ns_per_operation for place, sample in samples.items()}
        self._tell({"event": "block", "group": stored, "ns_per_operation": times})

    def wrong(self, group: int, arm: int, reason: str) -> None:
        """Stores that an arm ended; called by the loop."""
        stored, places = self._places[group]
        guarded = self._arms[stored].pop(places[arm])
        facts = self._facts(guarded, stored, places[arm])
        if guarded.failure:
            text = f"failed while it was measured: {reason}"
            self._report(stored, places[arm], facts, skipped=text, again=Again.FAILED)
        else:
            self._report(stored, places[arm], facts, wrong=reason or NO_REASON)

    def write_reports(self) -> None:
        """Writes the reports of the arms that are left; called once, however measuring ended."""
        for group, arms in self._arms.items():
            for place, guarded in arms.items():
                self._report(group, place, self._facts(guarded, group, place))
        self._arms = {}

    def _has_time(self, job: GroupJob, begin_s: float) -> bool:
        """Whether one more group can be prepared, and measured beside those that are."""
        now_s, latest_s = time.monotonic(), self._job.latest_s
        if not self._experiment.is_timed or math.isinf(latest_s):
            return now_s < latest_s
        arms_s = (now_s - begin_s) / self._tried * len(job.arms)
        samples = sum(
            (len(each.arms) + 1) * (max(1, each.blocks_least) + self._job.warm_up_blocks)
            for each in self._job.groups
            if each.group in self._arms or each is job
        )
        return now_s + arms_s + samples * SAMPLE_S <= latest_s

    def _prepare(self, job: GroupJob) -> None:
        made = self._arms.setdefault(job.group, {})
        for number, place in enumerate(job.arms):
            if self._experiment.is_timed and time.monotonic() > self._job.latest_s:
                self._leave_out(job.group, [*self._arms.pop(job.group), *job.arms[number:]])
                return
            cell = self._groups[job.group][place]
            event = {"event": "preparing", "group": job.group, "arm": place}
            self._tell(event | {"cell": dict(cell)})
            guarded = self._make(job.group, place, cell)
            if guarded and self._experiment.is_timed:
                made[place] = guarded
            elif guarded:
                self._report(job.group, place, self._facts(guarded, job.group, place))
        if not made:
            del self._arms[job.group]

    def _make(self, group: int, place: int, cell: Cell) -> Guarded | None:
        self._tried += 1
        try:
            arm = self._experiment.arm(cell, self._context)
            return Guarded(arm, self._file, is_timed=self._experiment.is_timed)
        except Skip as skip:
            again = Again.TRANSIENT if skip.is_transient else Again.NEVER
            self._report(group, place, {}, skipped=str(skip) or NO_REASON, again=again)
        except WrongResultError as error:
            self._report(group, place, {}, wrong=str(error) or NO_REASON)
        except NotWrittenError:
            raise
        except Exception as error:
            check_room(error)
            reason = f"failed: {format_error(error, self._file)}"
            self._report(group, place, {}, skipped=reason, again=Again.FAILED)
        return None

    def _measurable(self) -> Iterator[GroupJob]:
        """The groups whose reference could be made; notes where it could not."""
        for each in self._job.groups:
            places = sorted(self._arms.get(each.group, ()))
            if not places:
                continue
            reference = places[0] if each.reference is None else each.reference
            if reference in places:
                self._places.append((each.group, [reference, *sorted({*places} - {reference})]))
                yield each
            else:
                self._note(
                    f"{self._named(each.group, reference)} could not be measured in process "
                    f"{self._job.process}, so what is compared with it was not measured either"
                )

    def _leave_out(self, group: int, places: Sequence[int]) -> None:
        for place in places:
            self._report(group, place, {}, skipped=NO_TIME, again=Again.NO_TIME)

    def _facts(self, guarded: Guarded, group: int, place: int) -> Mapping[str, Value]:
        try:
            return guarded.report()
        except ReportError as error:
            self._note(f"{self._named(group, place)} gave no report: {error}")
            return {}

    def _report(
        self,
        group: int,
        place: int,
        facts: Mapping[str, Value],
        *,
        skipped: str = "",
        wrong: str = "",
        again: Again = Again.NEVER,
    ) -> None:
        may_pass = again is not Again.NEVER
        name, process = self._experiment.name, self._job.process
        line = ReportLine(name, group, place, process, facts, skipped, wrong, may_pass)
        self._reports.add([asdict(line)])
        event = {"group": group, "arm": place, "text": skipped or wrong}
        if skipped:
            self._tell({"event": "skipped", **event, "again": again})
        elif wrong:
            self._tell({"event": "wrong", **event})

    def _note(self, text: str) -> None:
        self._tell({"event": "note", "text": text})

    def _named(self, group: int, place: int) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._groups[group][place].items())


def _timing(sample: Sample) -> dict[str, Any]:
    """The fields of `Sample`; a class of an experiment's own may have more."""
    return {each.name: getattr(sample, each.name) for each in fields(Sample)}


NO_TIME, NO_REASON = "no time was left to prepare it", "no reason was given"
# The shortest sample with its lead-in and what is between: only what can be measured is prepared.
SAMPLE_S = 0.0085
