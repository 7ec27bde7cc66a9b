"""`sealift lab list`: the experiments, what of them can be run here, and how long they take."""

import json
from typing import Annotated

import typer

from sealift.cli.said import in_sentences


def list_(
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Show the experiments: what each measures, whether it can be run here, how long it takes.

    One arm of each kind is prepared and checked to find out, which takes some seconds;
    where not all of them can be, the reasons stand below. Experiments on GPUs run `on a processor`
    where there is none, by OpenCL, and tell of no GPU. Times are what an experiment gets of a
    run of all of them, and about what it takes when it is named alone; with --quick and without.
    What is computed, not measured, takes its time whatever the budget.
    """
    from sealift.cli.times import alone_s, seconds_text
    from sealift.lab import registry
    from sealift.lab.runner.planning import BUDGET_S, QUICK_BUDGET_S
    from sealift.lab.survey import survey, this_scope
    from sealift.lab.table import aligned

    experiments = registry.all_experiments()
    with in_sentences():
        alone = [
            {
                "quick_alone_seconds": alone_s(each, quick=True),
                "alone_seconds": alone_s(each, quick=False),
            }
            for each in experiments
        ]
        entries = survey(
            experiments,
            this_scope(quick=True),
            budget_s=BUDGET_S,
            quick_budget_s=QUICK_BUDGET_S,
        )
    if as_json:
        both = [entry.as_dict() | times for entry, times in zip(entries, alone, strict=True)]
        typer.echo(json.dumps(both, indent=2))
        return
    rows = [
        (
            entry.name,
            entry.id,
            entry.here,
            ", ".join(map(seconds_text, (entry.quick_seconds, entry.seconds))),
            ", ".join(map(seconds_text, times.values())),
            entry.title,
        )
        for entry, times in zip(entries, alone, strict=True)
    ]
    head = ("experiment", "id", "here", "of all: quick, full", "alone: quick, full", "measures")
    typer.echo(aligned([head, *rows]))
    for reason in dict.fromkeys(reason for entry in entries for reason in entry.reasons):
        names = [entry.name for entry in entries if reason in entry.reasons]
        typer.echo(f"  {', '.join(names)} without {reason}")
    typer.echo(
        f"A run of all takes {QUICK_BUDGET_S:.0f} s with --quick and {BUDGET_S:.0f} s without, "
        "shared out as under `of all`; what has `-` is no part of a quick one.\nOne that is named "
        "alone gets all of that and takes what stands under `alone`; --budget gives more or less."
    )
