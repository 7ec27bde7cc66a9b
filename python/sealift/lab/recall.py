"""What may be said of a run folder, which others may have made: nothing that it names is run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sealift.lab import registry
from sealift.lab.published import Comparison
from sealift.lab.result import Found, Lead, Listing
from sealift.lab.spec import Brief, Experiment, Line
from sealift.lab.store import PlannedExperiment, Run
from sealift.lab.values import Cell
from sealift.lab.vega import Chart

Made = TypeVar("Made")


@dataclass(frozen=True)
class Published:
    """Published figures beside what one experiment found.

    Attributes:
        comparisons: None of them where there is a doubt.
        doubt: Why they could not be had, or "".
    """

    comparisons: tuple[Comparison, ...]
    doubt: str = ""


def published(run: Run, planned: PlannedExperiment, found: Found) -> Published:
    """What was published beside what an experiment of a run found.

    Those of the lab compare anew. What an experiment of one's own compared was kept in the run's
    folder when it was measured: its file is not run again.

    Args:
        run: The run folder.
        planned: Of the run.
        found: What it found.
    """
    if planned.file is not None:
        return Published(tuple(run.published.get(planned.name, ())))
    try:
        experiment = registry.find(planned.name)
    except ValueError as error:
        return Published((), f"this Sealift can't compare it with what was published: {error}")
    return _compared(experiment.published, found)


def sentence(planned: PlannedExperiment, found: Found) -> str:
    """What a reader can do about what an experiment of the lab found; "" for nothing.

    Args:
        planned: Of the run.
        found: What it found.
    """
    if planned.file is not None or (planned.is_timed and not found.rows):
        return ""
    try:
        return registry.find(planned.name).says(found)
    except Exception:
        # A folder may hold rows that no machine ever measured, of an experiment that is no more.
        return ""


def lead(run: Run, found: Mapping[str, Found]) -> Lead | None:
    """The answer to a question that the run may have been made for; None where it has none.

    Args:
        run: The run folder.
        found: From `together(run, summarise(run))`.
    """
    told = (_lead(planned, found[planned.name]) for planned in run.plan.experiments)
    return next(filter(None, told), None)


def lines(planned: PlannedExperiment, found: Found) -> tuple[Line, ...]:
    """What stands in the figures of an experiment of the lab beside what was found.

    Args:
        planned: Of the run.
        found: What it found.
    """
    if planned.file is not None:
        return ()
    try:
        return tuple(registry.find(planned.name).lines(found))
    except Exception:
        # As with a sentence: nobody knows who wrote the folder.
        return ()


def together(run: Run, found: Mapping[str, Found]) -> dict[str, Found]:
    """What each experiment found, and beside it what the lab's others found in the same run.

    Args:
        run: The run folder.
        found: From `summarise(run)`.
    """
    known = of_the_lab(run, found)
    return {name: replace(each, beside=known) for name, each in found.items()}


def charts(planned: PlannedExperiment, found: Found) -> Sequence[Chart]:
    """Figures of its own of an experiment of the lab.

    Args:
        planned: Of the run.
        found: What it found.
    """
    return _beside(planned, lambda experiment: tuple(experiment.charts(found)))


def listings(planned: PlannedExperiment, found: Found) -> Sequence[Listing]:
    """Tables beside the rows of an experiment of the lab.

    Args:
        planned: Of the run.
        found: What it found.
    """
    return _beside(planned, lambda experiment: tuple(experiment.listings(found)))


def stands_on(planned: PlannedExperiment) -> Sequence[str]:
    """What figures stand on that an experiment of the lab computes.

    Args:
        planned: Of the run.
    """
    return _beside(planned, lambda experiment: experiment.stands_on)


def brief(planned: PlannedExperiment) -> Brief | None:
    """What a narrow table shows of what an experiment of the lab computes; None for all.

    Args:
        planned: Of the run.
    """
    return next(iter(_beside(planned, lambda experiment: (experiment.brief,))), None)


def of_the_lab(run: Run, found: Mapping[str, Found]) -> dict[str, Found]:
    """What the lab's own experiments found, whose axes mean what the lab takes them for.

    Args:
        run: The run folder.
        found: From `summarise(run)`.
    """
    return {
        planned.name: found[planned.name]
        for planned in run.plan.experiments
        if planned.file is None and _is_known(planned)
    }


def _beside(
    planned: PlannedExperiment, make: Callable[[Experiment], Sequence[Made]]
) -> Sequence[Made]:
    if planned.file is not None:
        return ()
    try:
        return make(registry.find(planned.name))
    except Exception:
        # As of a sentence: a folder may hold what nobody ever found.
        return ()


def _lead(planned: PlannedExperiment, found: Found) -> Lead | None:
    if planned.file is not None or not (found.rows or found.verified):
        return None
    try:
        return registry.find(planned.name).leads(found)
    except Exception:
        # As of a sentence: a folder may hold what nobody ever found.
        return None


def _compared(compare: Callable[[Found], Sequence[Comparison]], found: Found) -> Published:
    try:
        comparisons = tuple(compare(found))
        for each in comparisons:
            if not isinstance(each, Comparison):
                raise TypeError(f"{type(each).__name__} is no Comparison")
            # Verdicts are reckoned when they are asked for; the page has no use for one that fails.
            _ = each.match, each.ratio
    except Exception as error:
        # A folder may hold rows that no machine ever measured.
        told = f"it can't be compared with what was published: {type(error).__name__}: {error}"
        return Published((), told)
    return Published(comparisons)


def _is_known(planned: PlannedExperiment) -> bool:
    known = {each.name: each for each in registry.all_experiments()}.get(planned.name)
    if known is None or known.compare != planned.compare:
        return False
    names = {axis.name for axis in known.axes}
    return all(_is_sound(cell, names) for group in planned.groups for cell in group)


def _is_sound(cell: Cell, names: set[str]) -> bool:
    """Whether a cell has these axes, and values that can be reckoned with or shown by name."""
    numbers = [cell[name] for name in NUMBERS if name in cell]
    devices = [cell[name] for name in DEVICES if name in cell]
    return (
        cell.keys() == names
        and all(isinstance(each, int | float) and each > 0 for each in numbers)
        and all(isinstance(each, str) for each in devices)
    )


# Axes of the lab's experiments whose values are reckoned with.
NUMBERS, DEVICES = ("size_bytes", "buffer_bytes", "threads", "batch"), ("device",)
