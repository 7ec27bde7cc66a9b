"""What can be measured on this machine: tries an arm of each kind of every experiment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from sealift_lab.machine.devices import real_devices
from sealift_lab.machine.facts import describe, usable_cores
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.sample import Context, Skip, WrongResultError
from sealift_lab.model.values import Cell, Value


class Here(StrEnum):
    """Whether an experiment can be run on this machine."""

    YES = "yes"
    SUBSTITUTE = "substitute"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True)
class Entry:
    """What of an experiment can be run.

    Attributes:
        here: Whether it can be run.
        reasons: Why not, or what runs in the place of another device.
    """

    here: Here
    reasons: tuple[str, ...]


def this_scope(*, quick: bool, threads: Sequence[int] = (), memories: Sequence[str] = ()) -> Scope:
    """The scope of a run on this machine.

    Args:
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts asked for; none for those of the experiments.
        memories: Memory that the user named beside what every machine has.
    """
    cores = usable_cores(describe())
    return Scope(quick, cores, real_devices(), tuple(threads), tuple(memories))


def survey(experiments: Sequence[Experiment], scope: Scope) -> tuple[Entry, ...]:
    """Tries each experiment; takes some seconds, because arms are prepared and checked.

    Args:
        experiments: An experiment without cells in a quick run is tried with those of a full one.
        scope: Of this machine.
    """
    return tuple(
        _entry(each, scope if each.groups(scope) else replace(scope, quick=False))
        for each in experiments
    )


def _entry(experiment: Experiment, scope: Scope) -> Entry:
    cells = _smallest(experiment, scope)
    if not cells:
        return Entry(Here.NO, ("it has no cells for what is here",))
    # What is computed needs nothing of a machine.
    if not experiment.is_timed:
        return Entry(Here.YES, ())
    failures, substitutes = _try(experiment, cells)
    if failures:
        here = Here.PARTLY if len(failures) < len(cells) else Here.NO
        return Entry(here, tuple(_by_reason(failures)))
    if substitutes:
        return Entry(Here.SUBSTITUTE, tuple(dict.fromkeys(substitutes.values())))
    return Entry(Here.YES, ())


def _smallest(experiment: Experiment, scope: Scope) -> Mapping[Value, Cell]:
    """For each compared value the cell with the least work."""
    chosen: dict[Value, Cell] = {}
    for group in experiment.groups(scope):
        for cell in group:
            subject = cell[experiment.compare]
            chosen[subject] = min(chosen.setdefault(subject, cell), cell, key=_size)
    return chosen


def _size(cell: Cell) -> tuple[float, ...]:
    return tuple(value for value in cell.values() if not isinstance(value, str))


def _try(
    experiment: Experiment, cells: Mapping[Value, Cell]
) -> tuple[Mapping[Value, str], Mapping[Value, str]]:
    """By subject why it can't be measured, and what `check_available` returned as text."""
    failures, substitutes = {}, {}
    with TemporaryDirectory(prefix="sealift-") as folder:
        context = Context(seed=1, folder=Path(folder), legend=experiment.legend)
        for subject, cell in cells.items():
            try:
                made = (experiment.check_available or experiment.arm)(cell, context)
                if isinstance(made, str) and made:
                    substitutes[subject] = made
            except Skip as skip:
                failures[subject] = str(skip)
            except WrongResultError as error:
                failures[subject] = f"computes something wrong: {error}"
            except Exception as error:
                # As in a run: a part that fails is reported, and the others go on.
                failures[subject] = f"failed: {type(error).__name__}: {error}"
    return failures, substitutes


def _by_reason(failures: Mapping[Value, str]) -> Iterator[str]:
    for reason in dict.fromkeys(failures.values()):
        subjects = ", ".join(str(each) for each in failures if failures[each] == reason)
        yield f"{subjects}: {reason}"
