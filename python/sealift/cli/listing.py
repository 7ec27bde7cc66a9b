"""`sealift lab list`: the experiments, how long they take, and what of them can be run here."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli.said import in_sentences

if TYPE_CHECKING:
    from sealift.lab.survey import Entry


def list_(
    tried: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Prepare an arm of each kind, which takes some seconds, to find out what can be "
            "run here.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Show the experiments: what each measures, and how long it takes.

    Times are for samples that are enough for most verdicts, with --quick and without; `-` is no
    part of a quick run. With --try it also shows what can be run here, and why the rest can't.
    Experiments on GPUs run `on a processor` where there is none, by OpenCL, and say nothing of
    GPUs.
    """
    from sealift.cli.times import needed_s, seconds_text
    from sealift.lab import registry
    from sealift.lab.runner.planning import BUDGET_S, QUICK_BUDGET_S
    from sealift.lab.survey import survey, this_scope
    from sealift.lab.table import aligned

    experiments = registry.all_experiments()
    with in_sentences():
        quick = this_scope(quick=True)
        full = replace(quick, quick=False)
        times = [(needed_s(each, quick), needed_s(each, full)) for each in experiments]
        entries = survey(experiments, quick) if tried else ()
    if as_json:
        document = [
            {
                "name": each.name,
                "id": each.id,
                "title": each.title,
                "quick_seconds": quick_s,
                "seconds": seconds,
            }
            | (_found(entries[number]) if entries else {})
            for number, (each, (quick_s, seconds)) in enumerate(
                zip(experiments, times, strict=True)
            )
        ]
        typer.echo(json.dumps(document, indent=2))
        return
    here = [[entry.here.value] for entry in entries] or [[] for _ in experiments]
    rows = [
        (each.name, each.id, *found, ", ".join(map(seconds_text, takes)), each.title)
        for each, found, takes in zip(experiments, here, times, strict=True)
    ]
    tried_head = ["here"] if entries else []
    typer.echo(
        aligned([("experiment", "id", *tried_head, "takes: quick, full", "measures"), *rows])
    )
    for reason in dict.fromkeys(reason for entry in entries for reason in entry.reasons):
        names = [
            each.name
            for each, entry in zip(experiments, entries, strict=True)
            if reason in entry.reasons
        ]
        typer.echo(f"  {', '.join(names)} without {reason}")
    typer.echo(
        f"`sealift lab run` takes {BUDGET_S:.0f} s, {QUICK_BUDGET_S:.0f} s with --quick, or what "
        "--budget says: the most wanted\nexperiments first, as many as fit; `--resume` measures "
        "the rest."
    )
    if not entries:
        typer.echo("`sealift lab list --try` finds out what of them can be run here.")


def _found(entry: "Entry") -> dict[str, object]:
    return {"here": entry.here.value, "reasons": list(entry.reasons)}
