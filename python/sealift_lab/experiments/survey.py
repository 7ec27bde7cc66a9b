"""What can be measured on this machine: tries an arm of each kind of every experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from sealift_lab.machine.facts import describe, usable_cores
from sealift_lab.machine.sensors import real_devices
from sealift_lab.model.arm import Cell, Context, Skip, Value, WrongResultError
from sealift_lab.model.experiment import Experiment, Scope


class Here(StrEnum):
    """Whether an experiment can be run on this machine."""

    YES = "yes"
    SUBSTITUTE = "substitute"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True)
class Entry:
    """What of an experiment can be run; why not, or what runs in the place of another device."""

    here: Here
    reasons: tuple[str, ...] = ()


def this_scope(*, quick: bool, threads: Sequence[int] = (), memories: Sequence[str] = ()) -> Scope:
    """The scope of a run on this machine; arguments as in `Scope`."""
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
    # For each compared value the cell with the least work.
    smallest: dict[Value, Cell] = {}
    for cell in chain(*experiment.groups(scope)):
        subject = cell[experiment.compare]
        smallest[subject] = min(smallest.get(subject, cell), cell, key=_size)
    if not smallest:
        return Entry(Here.NO, ("it has no cells for what is here",))
    # What is computed needs nothing of a machine.
    if not experiment.is_timed:
        return Entry(Here.YES)
    failures, substitutes = dict[str, list[Value]](), dict[str, None]()
    with TemporaryDirectory(prefix="sealift-") as folder:
        context = Context(seed=1, folder=Path(folder), legend=experiment.legend)
        for subject, cell in smallest.items():
            try:
                made = (experiment.check_available or experiment.arm)(cell, context)
            # As in a run: a part that fails is reported, and the others go on.
            except Exception as error:
                failures.setdefault(_reason(error), []).append(subject)
            else:
                if isinstance(made, str) and made:
                    substitutes[made] = None
    if failures:
        is_partly = sum(map(len, failures.values())) < len(smallest)
        reasons = (f"{', '.join(map(str, each))}: {why}" for why, each in failures.items())
        return Entry(Here.PARTLY if is_partly else Here.NO, tuple(reasons))
    return Entry(Here.SUBSTITUTE, tuple(substitutes)) if substitutes else Entry(Here.YES)


def _size(cell: Cell) -> tuple[float, ...]:
    return tuple(value for value in cell.values() if not isinstance(value, str))


def _reason(error: Exception) -> str:
    if isinstance(error, Skip):
        return str(error)
    is_wrong, kind = isinstance(error, WrongResultError), type(error).__name__
    return f"computes something wrong: {error}" if is_wrong else f"failed: {kind}: {error}"
