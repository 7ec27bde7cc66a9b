"""What experiments declare beside their plan: published figures, lines, names, charts.

Nobody knows who wrote a run folder, so no file that it names is run: experiments of one's own count
where the caller has loaded them, and else as the run that measured them stored them in its folder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, get_type_hints

import msgspec

from sealift_lab.claim.published import Pair, evaluate, published_claim
from sealift_lab.experiments import registry
from sealift_lab.judge.judge import times
from sealift_lab.model.experiment import Experiment, Line
from sealift_lab.model.published import Missing, Published
from sealift_lab.model.results import Estimate, Results
from sealift_lab.model.run import PUBLISHED, PlannedExperiment
from sealift_lab.run.folder import Run


def published(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment] = ()
) -> tuple[list[Pair], list[str]]:
    """The published figures of a run's experiments with their claims; and why some have none."""
    pairs: list[Pair] = []
    problems = []
    for planned in run.plan.experiments:
        try:
            figures = _figures(run, planned, results[planned.name], loaded)
            pairs += [(each, published_claim(each, here, planned.name)) for each, here in figures]
        except Exception as error:
            why = str(error) if str(error) == OTHER_AXES else f"{type(error).__name__}: {error}"
            problems.append(f"{planned.name} can't be compared with what was published: {why}")
    return pairs, problems


def lines(
    run: Run, planned: PlannedExperiment, results: Results, loaded: Sequence[Experiment] = ()
) -> Sequence[Line]:
    """What is drawn beside what was found; nothing where that can't be had."""
    try:
        experiment = _find(planned, loaded)
        return experiment.lines(results) if experiment else _stored(run, planned).lines
    except Exception:
        return ()


def encode_declared(
    run: Run, results: Mapping[str, Results], loaded: Sequence[Experiment]
) -> bytes:
    """What experiments of one's own publish and draw, as the file `PUBLISHED` of a run's folder."""
    stored = {}
    for planned in run.plan.experiments:
        found = results[planned.name]
        if planned.file is not None:
            beside = lines(run, planned, found, loaded)
            try:
                figures = _figures(run, planned, found, loaded)
            except Exception:
                figures = []
            plain = [({**asdict(each), "here": None}, here) for each, here in figures]
            stored[planned.name] = _Declared(plain, beside)
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
class _Declared:
    """Published figures as plain values, each with the same of the run, or why there is none."""

    figures: Sequence[tuple[Mapping[str, Any], Estimate | str]] = ()
    lines: Sequence[Line] = ()


def _figures(
    run: Run, planned: PlannedExperiment, results: Results, loaded: Sequence[Experiment]
) -> list[tuple[Published, Estimate | str]]:
    """The published figures of an experiment, each with the same of the run."""
    if experiment := _find(planned, loaded):
        ratio = partial(times, run)
        return [(e, evaluate(e.here, results, ratio)) for e in experiment.published(results)]
    kinds = {name: kind for name, kind in get_type_hints(Published).items() if name != "here"}
    return [
        (
            Published(
                **{name: msgspec.convert(plain.get(name), kind) for name, kind in kinds.items()},
                here=Missing("stored by its run"),
            ),
            here,
        )
        for plain, here in _stored(run, planned).figures
    ]


def _stored(run: Run, planned: PlannedExperiment) -> _Declared:
    stored = run.stored(PUBLISHED, dict[str, _Declared]) if planned.file is not None else None
    return (stored or {}).get(planned.name, _Declared())


def _find(planned: PlannedExperiment, loaded: Sequence[Experiment]) -> Experiment | None:
    """The experiment of a plan; None for one of one's own that is not loaded.

    Raises:
        ValueError: If it has other axes than in the plan.
    """
    own = [each for each in loaded if each.name == planned.name]
    known = own if own or planned.file is not None else registry.all_experiments()
    experiment = next((each for each in known if each.name == planned.name), None)
    axes = [{axis.name for axis in each.axes} for each in (planned, experiment or planned)]
    if axes[0] != axes[1]:
        raise ValueError(OTHER_AXES)
    return experiment


SHOWN = ("question", "charts", "preferred", "names", "advice", "columns", "notes")
OTHER_AXES = "it has other axes today"
