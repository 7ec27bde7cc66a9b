"""What experiments declare beside their plan: published figures, lines, names, charts.

Nobody knows who wrote a run folder, so no file that it names is run: experiments of one's own count
only where the caller has loaded them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sealift_lab.claim.published import Pair, compare_published
from sealift_lab.experiments import registry
from sealift_lab.judge.judge import times
from sealift_lab.model.experiment import Experiment, Line
from sealift_lab.model.results import Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.run.folder import Run

T = TypeVar("T")


def published(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()
) -> list[Pair]:
    """The published figures of a run's experiments, each with its claim.

    Args:
        run: The run folder.
        results: What was found of each experiment.
        loaded: Experiments of one's own.
    """

    def compare(experiment: Experiment) -> list[Pair]:
        found = results[experiment.name]
        figures = experiment.published(found)
        return compare_published(
            figures, found, lambda one, other: times(run, one, other), experiment.name
        )

    return [pair for each in run.plan.experiments for pair in _made(each, loaded, compare)[0]]


def problems(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()
) -> list[str]:
    """Why published figures of experiments can't be compared with this run, in sentences."""
    found = (
        (planned.name, _made(planned, loaded, lambda each: each.published(results[each.name]))[1])
        for planned in run.plan.experiments
    )
    return [
        f"{name} can't be compared with what was published: {why}" for name, why in found if why
    ]


def lines(
    planned: PlannedExperiment, results: Results, loaded: Sequence[Experiment] = ()
) -> Sequence[Line]:
    """What is drawn beside what was found."""
    return _made(planned, loaded, lambda experiment: experiment.lines(results))[0]


def plans(run: Run) -> list[PlannedExperiment]:
    """The experiments of a run, each as `declared`."""
    return [declared(planned) for planned in run.plan.experiments]


def declared(planned: PlannedExperiment) -> PlannedExperiment:
    """A plan with names, charts and the like as its experiment declares them today."""
    experiment = _find(planned, ())
    if experiment is None or not _has_axes_of(planned, experiment):
        return planned
    known = {name: getattr(experiment, name) for name in SHOWN}
    known |= {n: {str(key): text for key, text in known[n].items()} for n in ("names", "advice")}
    # A run on work of one's own names it, and prefers it.
    known |= {"names": {**planned.names, **known["names"]}}
    known |= {"preferred": planned.preferred or known["preferred"]}
    return replace(planned, **{name: value for name, value in known.items() if value})


def _made(
    planned: PlannedExperiment,
    loaded: Sequence[Experiment],
    make: Callable[[Experiment], Sequence[T]],
) -> tuple[Sequence[T], str]:
    """What an experiment declares, or why it can't: nobody knows what a folder holds."""
    experiment = _find(planned, loaded)
    if experiment is None:
        return (), ""
    if not _has_axes_of(planned, experiment):
        return (), "it has other axes today"
    try:
        return make(experiment), ""
    except Exception as error:
        return (), f"{type(error).__name__}: {error}"


def _has_axes_of(planned: PlannedExperiment, experiment: Experiment) -> bool:
    return {axis.name for axis in planned.axes} == {axis.name for axis in experiment.axes}


def _find(planned: PlannedExperiment, loaded: Sequence[Experiment]) -> Experiment | None:
    own = next((each for each in loaded if each.name == planned.name), None)
    if own or planned.file is not None:
        return own
    return next((e for e in registry.all_experiments() if e.name == planned.name), None)


SHOWN = ("question", "charts", "preferred", "names", "advice", "columns", "notes")
