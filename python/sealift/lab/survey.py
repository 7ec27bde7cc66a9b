"""What can be measured here: tries an arm of each kind of every experiment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from sealift.lab import devices, machine
from sealift.lab.gpus.cells import PROCESSOR
from sealift.lab.spec import Context, Experiment, Scope, Skip, WrongResultError
from sealift.lab.values import Cell, Value


class Here(StrEnum):
    """Whether an experiment can be run on this machine."""

    YES = "yes"
    STAND_IN = "on a processor"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True)
class Entry:
    """What of an experiment can be run.

    Attributes:
        here: Whether it can be run.
        reasons: Why what can't be run can't.
    """

    here: Here
    reasons: tuple[str, ...]


def this_scope(*, quick: bool, threads: Sequence[int] = (), memories: Sequence[str] = ()) -> Scope:
    """What a run on this machine is asked for, and what there is.

    Args:
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts asked for; none for those of the experiments.
        memories: Memory that the user named beside what every machine has.
    """
    cores = machine.describe().usable_cores
    return Scope(quick, cores, devices.real_devices(), tuple(threads), tuple(memories))


def survey(experiments: Sequence[Experiment], scope: Scope) -> tuple[Entry, ...]:
    """Looks at each experiment; takes some seconds, because arms are prepared and checked.

    Args:
        experiments: Those to look at. What is no part of a quick run is looked at as a full one
            has it.
        scope: What there is.
    """
    return tuple(
        _entry(each, scope if each.groups(scope) else replace(scope, quick=False))
        for each in experiments
    )


def _entry(experiment: Experiment, scope: Scope) -> Entry:
    cells = _one_of_each(experiment, scope)
    # What is computed needs nothing of a machine.
    reasons = dict(_reasons(experiment, cells)) if experiment.is_timed else {}
    here = Here.YES if not reasons else Here.PARTLY if len(reasons) < len(cells) else Here.NO
    told = tuple(
        f"{', '.join(str(each) for each in reasons if reasons[each] == reason)}: {reason}"
        for reason in dict.fromkeys(reasons.values())
    )
    if here is Here.YES and any(_stands_in(cell) for cell in cells.values()):
        here, told = Here.STAND_IN, (NO_GPU,)
    if not cells:
        here, told = Here.NO, ("it has no cells for what is here",)
    return Entry(here, told)


def _stands_in(cell: Cell) -> bool:
    """Whether this machine's processor works it in a GPU's place."""
    return any(str(value).startswith(PROCESSOR) for value in cell.values())


def _one_of_each(experiment: Experiment, scope: Scope) -> Mapping[Value, Cell]:
    """For each compared value the cell with the least work."""
    chosen: dict[Value, Cell] = {}
    for group in experiment.groups(scope):
        for cell in group:
            subject = cell[experiment.compare]
            known = chosen.setdefault(subject, cell)
            if _size(cell) < _size(known):
                chosen[subject] = cell
    return chosen


def _size(cell: Cell) -> tuple[float, ...]:
    return tuple(value for value in cell.values() if not isinstance(value, str))


def _reasons(experiment: Experiment, cells: Mapping[Value, Cell]) -> Iterator[tuple[Value, str]]:
    with TemporaryDirectory(prefix="sealift-") as folder:
        context = Context(seed=1, folder=Path(folder))
        for subject, cell in cells.items():
            try:
                (experiment.tries or experiment.arm)(cell, context)
            except Skip as skip:
                yield subject, str(skip)
            except WrongResultError as error:
                yield subject, f"computes something wrong: {error}"
            except Exception as error:
                # As in a run: a part that fails is told, and the others go on.
                yield subject, f"failed: {type(error).__name__}: {error}"


NO_GPU = f"a GPU: {PROCESSOR} is in its place, for tests only, and tells of no GPU"
