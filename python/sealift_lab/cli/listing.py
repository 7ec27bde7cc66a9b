"""`sealift lab list`: the experiments, how long they take, and which can be run here."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sealift_lab.cli import output
from sealift_lab.cli.help import option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealift_lab.experiments.survey import Entry
    from sealift_lab.model.experiment import Experiment, Scope


def list_(
    tries: Annotated[bool, option("list", "--try")] = False,
    as_json: output.Json = False,
) -> None:
    """Show the experiments: what each measures, and how long it takes.

    Times are for samples that are enough for most verdicts, with --quick and without; `-` is no
    part of a quick run. With --try it also shows what can be run here, and why the rest can't.
    Experiments on GPUs run on a `substitute` where there is none: on a processor, by OpenCL, which
    tells nothing about GPUs.
    """
    with output.in_sentences():
        from sealift_lab.experiments.registry import all_experiments
        from sealift_lab.experiments.survey import survey, this_scope

        experiments = all_experiments()
        quick = this_scope(quick=True)
        entries = survey(experiments, quick) if tries else ()
        lines = [_line(each, quick) for each in experiments]
    if as_json:
        here = [{"here": e.here.value, "reasons": list(e.reasons)} for e in entries]
        found = here or [{}] * len(lines)
        output.show_json([line | more for line, more in zip(lines, found, strict=True)])
    else:
        typer.echo("\n".join(_text(experiments, lines, entries)))


def _line(experiment: "Experiment", quick: "Scope") -> dict[str, object]:
    return {
        "name": experiment.name,
        "id": experiment.id,
        "title": experiment.title,
        "quick_seconds": _seconds(experiment, quick, 1),
        "seconds": _seconds(experiment, replace(quick, quick=False)),
    }


def _seconds(experiment: "Experiment", scope: "Scope", processes: int | None = None) -> float:
    """About how long it takes; 0 where it has no cells."""
    from sealift_lab.run.pace import estimate_s
    from sealift_lab.run.planner import PROCESSES

    return estimate_s(experiment, experiment.groups(scope), processes=processes or PROCESSES)


def _text(
    experiments: "tuple[Experiment, ...]",
    lines: "list[dict[str, object]]",
    entries: "tuple[Entry, ...]",
) -> "Iterator[str]":
    from sealift_lab.run.planner import BUDGET_S, QUICK_BUDGET_S

    here = [[entry.here.value] for entry in entries] or [[] for _ in lines]
    rows = [
        [e.name, e.id, *found, _time(line["quick_seconds"]), _time(line["seconds"]), e.title]
        for e, found, line in zip(experiments, here, lines, strict=True)
    ]
    head = ["experiment", "id", *(["here"] if entries else []), "quick", "full", "measures"]
    yield from output.columns([head, *rows])
    for reason in dict.fromkeys(reason for entry in entries for reason in entry.reasons):
        pairs = zip(experiments, entries, strict=True)
        yield f"  {', '.join(e.name for e, entry in pairs if reason in entry.reasons)}: {reason}"
    yield (
        f"`sealift lab run` takes {BUDGET_S:.0f} s, {QUICK_BUDGET_S:.0f} s with --quick, or what "
        "--budget says: the most wanted\nexperiments first; `--resume` measures the rest."
    )
    if not entries:
        yield "`sealift lab list --try` finds out which of them can be run here."


def _time(seconds: object) -> str:
    from sealift_lab.model.units import format_duration

    if not isinstance(seconds, int | float) or not seconds:
        return "-"
    return "under 1 s" if seconds < 1 else format_duration(seconds)
