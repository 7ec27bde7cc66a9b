"""What a page shows, gathered from a run folder."""

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from sealift.lab import registry
from sealift.lab.answer import Answer, answer
from sealift.lab.published import Comparison
from sealift.lab.record import Record, record
from sealift.lab.result import Found, Row
from sealift.lab.spec import Axis, Context, Experiment, Skip
from sealift.lab.store import PlannedExperiment, Run
from sealift.lab.summary import summarise
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Shown:
    """One experiment of a run.

    Attributes:
        experiment: What it is.
        found: What it found; empty where it did not run.
        comparisons: Published figures beside what was found.
        doubt: Why its description or its comparisons are not all there, or "".
        is_own: Whether it comes from a file of the user's.
    """

    experiment: Experiment
    found: Found
    comparisons: Sequence[Comparison]
    doubt: str
    is_own: bool

    @property
    def records(self) -> list[Record]:
        """Its rows as columns."""
        return [record(row, self.experiment.id) for row in self.found.rows]

    @property
    def why_not(self) -> str:
        """Why nothing of it was measured, or ""."""
        if self.found.rows:
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
        answer: Where to encrypt.
        shown: Its experiments, in the plan's order.
        clocks_ghz: Of all samples that were timed together with the clock of their core.
    """

    run: Run
    answer: Answer
    shown: Sequence[Shown]
    clocks_ghz: Sequence[float]

    @property
    def rows(self) -> list[Row]:
        """Of all experiments."""
        return [row for shown in self.shown for row in shown.found.rows]

    @property
    def command_folder(self) -> str:
        """The run's folder as commands take it."""
        return shlex.quote(str(self.run.path))


def gather(run: Run) -> Material:
    """What a page shows of a run.

    Args:
        run: From `store.read`; whole, interrupted, or with nothing measured.
    """
    found = summarise(run)
    return Material(
        run=run,
        answer=answer(found),
        shown=[_shown(planned, found[planned.name]) for planned in run.plan.experiments],
        clocks_ghz=list(_clocks_ghz(run)),
    )


def _shown(planned: PlannedExperiment, found: Found) -> Shown:
    is_own = planned.file is not None
    experiment, doubt = _experiment(planned)
    try:
        comparisons = experiment.published(found)
    except Exception as error:
        if not is_own:
            raise
        comparisons, doubt = (), f"its published= failed with {type(error).__name__}: {error}"
    return Shown(experiment, found, comparisons, doubt, is_own)


def _experiment(planned: PlannedExperiment) -> tuple[Experiment, str]:
    """The experiment that was measured, or what the plan says of it where that is gone."""
    file = None if planned.file is None else Path(planned.file)
    try:
        if file is not None and _sha256(file) != planned.file_sha256:
            return _as_planned(planned), f"{file} has changed since the run, so it is not shown"
        return registry.find(planned.name, file), ""
    except (OSError, ValueError) as error:
        return _as_planned(planned), f"it can't be described: {error}"


def _as_planned(planned: PlannedExperiment) -> Experiment:
    return Experiment(
        name=planned.name,
        title=planned.name,
        axes=tuple(Axis(name, name) for name in planned.groups[0][0]),
        compare=planned.compare,
        arm=_not_again,
        id=planned.id,
        cells=lambda _: (cell for group in planned.groups for cell in group),
        operation=planned.operation,
    )


def _not_again(_cell: Cell, _context: Context) -> NoReturn:
    raise Skip("its file is gone")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _clocks_ghz(run: Run) -> Iterable[float]:
    for planned in run.plan.experiments:
        for group in range(len(planned.groups)):
            for _, block in run.blocks(planned.name, group):
                yield from (each.clock_ghz for each in block if each and each.clock_ghz)
