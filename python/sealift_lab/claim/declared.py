"""What experiments declare beside their plan: published figures, lines, names, charts.

Nobody knows who wrote a run folder, so no file that it names is run: experiments of one's own count
where the caller has loaded them, and else as the run that measured them stored them in its folder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from sealift_lab.claim.replication import Pair, compare_published
from sealift_lab.experiments import registry
from sealift_lab.judge.rows import times
from sealift_lab.model.experiment import Experiment, Line
from sealift_lab.model.published import Missing, Published
from sealift_lab.model.results import Claim, Estimate, Results, Row
from sealift_lab.model.run import PUBLISHED, PlannedExperiment
from sealift_lab.run.read_folder import Run


def published(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()
) -> tuple[list[Pair], list[str]]:
    """The published figures of a run's experiments with their claims; and why some have none."""
    pairs: list[Pair] = []
    problems = []
    for planned in run.plan.experiments:
        found = results[planned.name]
        try:
            if experiment := _find(planned, loaded):
                figures = experiment.published(found)
                pairs += compare_published(figures, found, partial(times, run), planned.name)
            else:
                pairs += _stored(run, planned).pairs
        except Exception as error:
            why = str(error) if str(error) == OTHER_AXES else f"{type(error).__name__}: {error}"
            problems.append(f"{planned.name} can't be compared with what was published: {why}")
    return pairs, problems


def left_out(run: Run) -> list[Pair]:
    """The same of the experiments that a run of all leaves out: figures without one of the run.

    Only a print that its own document contradicts needs none. Other runs leave nothing out.
    """
    here = {planned.name for planned in run.plan.experiments}
    nothing = Results((), ())
    return [
        pair
        for each in registry.all_experiments()
        if run.plan.of_all and each.name not in here
        for pair in compare_published(each.published(nothing), nothing, _no_ratio, each.name)
    ]


def lines(
    run: Run,
    planned: PlannedExperiment,
    results: Mapping[str, Results],
    loaded: Sequence[Experiment] = (),
) -> Sequence[Line]:
    """What is drawn beside what was found; nothing where that can't be had."""
    try:
        experiment = _find(planned, loaded)
        if experiment is None:
            return _stored(run, planned).lines
        others = [registry.find(name) for name in experiment.lines_of]
        every = (experiment, *others)
        return [line for e in every for line in e.lines(results.get(e.name, NOTHING))]
    except Exception:
        return ()


def encode_declared(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment]
) -> bytes:
    """What experiments of one's own publish and draw, as the file `PUBLISHED` of a run's folder."""
    pairs, _ = published(run, results, loaded)
    plain = [(replace(each, here=Missing("stored by its run")), claim) for each, claim in pairs]
    stored = {
        planned.name: {
            "pairs": [pair for pair in plain if pair[1].experiment == planned.name],
            "lines": lines(run, planned, results, loaded),
        }
        for planned in run.plan.experiments
        if planned.file is not None
    }
    return msgspec.json.encode(stored)


def plans(run: Run) -> list[PlannedExperiment]:
    """The experiments of a run, each as `declared`."""
    return [declared(planned) for planned in run.plan.experiments]


def declared(planned: PlannedExperiment) -> PlannedExperiment:
    """A plan with names, charts and the like as its experiment declares them today."""
    try:
        experiment = _find(planned, ())
    except ValueError:
        experiment = None
    if experiment is None:
        return planned
    known = {name: getattr(experiment, name) for name in SHOWN}
    known |= {n: {str(key): text for key, text in known[n].items()} for n in ("names", "advice")}
    # A run on work of one's own names it, and prefers it.
    known |= {"names": {**planned.names, **known["names"]}}
    known |= {"preferred": planned.preferred or known["preferred"]}
    return replace(planned, **{name: value for name, value in known.items() if value})


@dataclass(frozen=True)
class _StoredFigure(Published):
    """A published figure without the expression of the same in the run."""

    here: Missing


@dataclass(frozen=True)
class _Stored:
    pairs: Sequence[tuple[_StoredFigure, Claim]] = ()
    lines: Sequence[Line] = ()


def _stored(run: Run, planned: PlannedExperiment) -> _Stored:
    stored = run.stored(PUBLISHED, dict[str, _Stored]) if planned.file is not None else None
    return (stored or {}).get(planned.name, _Stored())


def _find(planned: PlannedExperiment, loaded: Sequence[Experiment]) -> Experiment | None:
    """The experiment of a plan; None for one of one's own that is not loaded.

    Raises:
        ValueError: If it has other axes than in the plan.
    """
    own = [each for each in loaded if each.name == planned.name]
    known = own if own or planned.file is not None else registry.all_experiments()
    experiment = next((each for each in known if each.name == planned.name), None)
    if experiment and {axis.name for axis in planned.axes} != {a.name for a in experiment.axes}:
        raise ValueError(OTHER_AXES)
    return experiment


def _no_ratio(*_: Row) -> Estimate:
    raise AssertionError("nothing was measured, so that there are no rows to compare")


NOTHING = Results((), ())
SHOWN = ("question", "charts", "preferred", "names", "advice", "columns", "notes")
OTHER_AXES = "it has other axes today"
