"""What can be measured here: tries an arm of each kind of every experiment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
    """An experiment, and what of it can be run.

    Attributes:
        name: Of the experiment.
        id: The document's name for it, or "".
        title: What it measures.
        here: Whether it can be run.
        reasons: Why what can't be run can't.
        seconds: About how long it takes in a full run of everything, in seconds.
        quick_seconds: The same in a quick one; 0 where it is no part of that.
    """

    name: str
    id: str
    title: str
    here: Here
    reasons: tuple[str, ...]
    seconds: float
    quick_seconds: float

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def this_scope(*, quick: bool, threads: Sequence[int] = (), memories: Sequence[str] = ()) -> Scope:
    """What a run on this machine is asked for, and what there is.

    Args:
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts asked for; none for those of the experiments.
        memories: Memory that the user named beside what every machine has.
    """
    cores = machine.describe().usable_cores
    return Scope(quick, cores, devices.real_devices(), tuple(threads), tuple(memories))


def survey(
    experiments: Sequence[Experiment], scope: Scope, *, budget_s: float, quick_budget_s: float
) -> tuple[Entry, ...]:
    """Looks at each experiment; takes some seconds, because arms are prepared and checked.

    Args:
        experiments: Those that a run of everything would have.
        scope: What there is.
        budget_s: Seconds of a full run.
        quick_budget_s: Seconds of a quick one.
    """
    is_quick = [bool(experiment.groups(scope)) for experiment in experiments]
    quick = [each for each, has in zip(experiments, is_quick, strict=True) if has]
    return tuple(
        _entry(
            experiment,
            # What is no part of a quick run is looked at as a full one has it.
            scope if has else replace(scope, quick=False),
            _share_s(experiment, experiments, budget_s),
            _share_s(experiment, quick, quick_budget_s) if has else 0.0,
        )
        for experiment, has in zip(experiments, is_quick, strict=True)
    )


def _share_s(experiment: Experiment, among: Sequence[Experiment], budget_s: float) -> float:
    """What one of several gets: what is computed takes its time, the others share the rest."""
    if experiment.takes_s is not None:
        return experiment.takes_s
    left_s = max(0.0, budget_s - sum(each.takes_s or 0.0 for each in among))
    weights = sum(each.weight for each in among if each.takes_s is None)
    return left_s * experiment.weight / weights


def _entry(experiment: Experiment, scope: Scope, seconds: float, quick_seconds: float) -> Entry:
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
    return Entry(
        experiment.name, experiment.id, experiment.title, here, told, seconds, quick_seconds
    )


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
