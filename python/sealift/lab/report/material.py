"""What a page shows, gathered from a run folder."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sealift import Card, cards
from sealift.lab import recall
from sealift.lab.answer import Answer, answer_of
from sealift.lab.digest import digest, headline
from sealift.lab.fullest import Fullest, fullest
from sealift.lab.published import Comparison
from sealift.lab.record import Record, record, records_of
from sealift.lab.report.extent import Extent
from sealift.lab.result import Found, Lead, Listing, Row, Verified
from sealift.lab.spec import Brief, Line, Plot
from sealift.lab.store import PlannedExperiment, Run
from sealift.lab.summary import summarise
from sealift.lab.vega import Chart


@dataclass(frozen=True)
class Shown:
    """One experiment of a run.

    Attributes:
        experiment: What it is, as it was planned.
        found: What it found; empty where it did not run.
        comparisons: Published figures beside what was found.
        doubt: Why there are no comparisons, or "".
        is_of_the_lab: Whether it is one of the lab's own, so that its axes are known.
        sentence: What a reader can do about it, or "".
        takeaway: What it found, in a few words.
        lines: What stands in its figures beside what it found.
        charts: Figures of its own.
        listings: Tables beside its rows.
        stands_on: What its figures stand on, where they are computed.
        brief: What a narrow table shows of what was computed; None for all.
    """

    experiment: PlannedExperiment
    found: Found
    comparisons: Sequence[Comparison]
    doubt: str
    is_of_the_lab: bool
    sentence: str = ""
    takeaway: str = ""
    lines: Sequence[Line] = ()
    charts: Sequence[Chart] = ()
    listings: Sequence[Listing] = ()
    stands_on: Sequence[str] = ()
    brief: Brief | None = None

    @property
    def is_own(self) -> bool:
        """Whether it comes from a file of the user's."""
        return self.experiment.file is not None

    @cached_property
    def records(self) -> list[Record]:
        """Its rows as columns."""
        return [record(row, self.experiment.id) for row in self.found.rows]

    @property
    def kept(self) -> list[Record]:
        """What summary.csv has of it: its rows, or the cells that were computed."""
        made = self.experiment
        return records_of(self.found, made.id, compare=made.compare, origin=made.origin)

    def drawn(self, plot: Plot) -> list[Record]:
        """What a figure of it is drawn from: rows, or what was computed."""
        if self.experiment.is_timed:
            return self.records
        named = {"experiment": self.experiment.name, "id": self.experiment.id}
        origin = {"origin": self.experiment.origin.value}
        return [
            {**named, **each.cell, plot.y: each.facts.get(plot.y), **origin}
            for each in self.computed
        ]

    @property
    def computed(self) -> list[Verified]:
        """What was computed of it, which is none of what is measured."""
        if self.experiment.is_timed:
            return []
        return [each for each in self.found.verified if each.facts]

    @property
    def why_not(self) -> str:
        """Why nothing of it was measured, or computed, or ""."""
        if self.found.rows or self.computed:
            return ""
        reasons = dict.fromkeys(
            each.skipped or each.wrong for each in self.found.verified if each.skipped or each.wrong
        )
        return "; ".join(reasons) or "no block of it was completed"


@dataclass(frozen=True)
class Material:
    """Everything on a page.

    Attributes:
        run: The run folder, as it was read.
        answer: Where to encrypt; None where nothing was to be measured that tells.
        headline: What the first experiment found, in a sentence.
        lead: The answer to a question that the run may have been made for.
        shown: Its experiments, in the plan's order.
        own: The messages of one's own that the page is about; None for other runs.
        cards: Descriptions of devices that are not here, which are projected beside what is.
        extent: How much of it the page holds.
    """

    run: Run
    answer: Answer | None
    headline: str
    shown: Sequence[Shown]
    lead: Lead | None = None
    own: Fullest | None = None
    cards: Sequence[Card] = ()
    extent: Extent = Extent()  # noqa: RUF009 (frozen)

    @property
    def rows(self) -> list[Row]:
        """Of all experiments."""
        return [row for shown in self.shown for row in shown.found.rows]

    @property
    def lab_rows(self) -> list[Row]:
        """Of the lab's own experiments, whose axes mean what the lab takes them for."""
        return [row for shown in self.shown if shown.is_of_the_lab for row in shown.found.rows]

    @property
    def is_computed(self) -> bool:
        """Whether none of its experiments times anything."""
        planned = self.run.plan.experiments
        return bool(planned) and not any(each.is_timed for each in planned)

    @property
    def command_folder(self) -> str:
        """The run's folder as commands take it."""
        return shlex.quote(str(self.run.path))

    @property
    def again(self) -> str:
        """The command that measures it once more."""
        if self.run.plan.is_by_program:
            return shlex.join(self.run.plan.command)
        return f"sealift lab replay {self.command_folder}"


def gather(run: Run) -> Material:
    """What a page shows of a run.

    Args:
        run: From `store.read`; whole, interrupted, or with nothing measured.
    """
    found = summarise(run)
    known = recall.of_the_lab(run, found)
    every = recall.together(run, found)
    told = {each.name: each.said.partition("; ")[0] for each in digest(run, every)}
    return Material(
        run=run,
        answer=answer_of(run, found),
        own=fullest(run, found),
        headline=headline(run, every),
        lead=recall.lead(run, every),
        shown=[
            replace(
                _shown(run, planned, every[planned.name], is_of_the_lab=planned.name in known),
                takeaway=told[planned.name],
            )
            for planned in run.plan.experiments
        ],
        cards=cards(),
    )


def _shown(run: Run, planned: PlannedExperiment, found: Found, *, is_of_the_lab: bool) -> Shown:
    published = recall.published(run, planned, found)
    return Shown(
        experiment=planned,
        found=found,
        comparisons=published.comparisons,
        doubt=published.doubt,
        is_of_the_lab=is_of_the_lab,
        sentence=recall.sentence(planned, found),
        lines=recall.lines(planned, found),
        charts=recall.charts(planned, found),
        listings=recall.listings(planned, found),
        stands_on=recall.stands_on(planned),
        brief=recall.brief(planned),
    )
