"""`sealift lab`: lists, runs, shows and compares experiments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from sealift.cli.lab import GROUP, command_of, not_loaded
from sealift.cli.output import columns, echo
from sealift_lab.cli import output
from sealift_lab.cli.parse import examples, option

if TYPE_CHECKING:
    from sealift_lab.experiments.survey import Entry


def list_(
    tries: Annotated[bool, option("list", "--try")] = False,
    as_json: output.Json = False,
) -> None:
    """Show the experiments and the five documents: what each measures, and how long it takes.

    Times are for samples that are enough for most verdicts, with --quick and without; `-` is no
    part of a quick run. With --try it also shows what can be run here, and why the rest can't.
    Experiments on GPUs run on a `substitute` where there is none: on a processor, by OpenCL, which
    tells nothing about GPUs.
    """
    from sealift_lab.experiments.registry import all_experiments
    from sealift_lab.experiments.survey import survey, this_scope
    from sealift_lab.run.schedule import estimate_s

    experiments, quick = all_experiments(), this_scope(quick=True)
    entries = survey(experiments, quick) if tries else ()
    lines: list[dict[str, Any]] = [
        {
            "name": each.name,
            "id": each.id,
            "title": each.title,
            "quick_seconds": estimate_s(each, each.groups(quick), processes=1),
            "seconds": estimate_s(each, each.groups(replace(quick, quick=False))),
        }
        for each in experiments
    ]
    for line, entry in zip(lines, entries, strict=False):
        line |= {"here": entry.here.value, "reasons": list(entry.reasons)}
    if as_json:
        output.show_json(lines)
    else:
        echo("\n".join(_text(lines, entries)))


def _text(lines: Sequence[Mapping[str, Any]], entries: "Sequence[Entry]") -> Iterator[str]:
    from sealift_lab.measure.plan import BUDGET_S, QUICK_BUDGET_S
    from sealift_lab.model.published import DOCUMENTS
    from sealift_lab.model.units import format_duration

    def time(seconds: float) -> str:
        return format_duration(seconds) if seconds >= 1 else "under 1 s" if seconds else "-"

    names = ["name", "id", *(["here"] if entries else [])]
    rows = (
        [*(e[n] for n in names), time(e["quick_seconds"]), time(e["seconds"]), e["title"]]
        for e in lines
    )
    yield columns([["experiment", *names[1:], "quick", "full", "measures"], *rows])
    for reason in dict.fromkeys(reason for entry in entries for reason in entry.reasons):
        yield f"  {', '.join(e['name'] for e in lines if reason in e['reasons'])}: {reason}"
    yield "Ids begin with the number of a document; `sealift lab run 003` runs all of one:"
    yield from (f"  {number}  {title}" for number, title in DOCUMENTS.items())
    yield (
        f"`sealift lab run` takes {BUDGET_S:.0f} s, {QUICK_BUDGET_S:.0f} s with --quick, or what "
        "--budget says: the most wanted\nexperiments first; `--resume` measures the rest."
    )
    if not entries:
        yield "`sealift lab list --try` finds out which of them can be run here."


class Commands(TyperGroup):
    """Commands that are loaded when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As every group does; with the command of the module."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            module = import_module(f"sealift_lab.cli.{COMMANDS[name][0]}")
            command = command_of(module, name, examples(name))
        return name, command, rest


COMMANDS = {
    "run": ("run", "Measure experiments into a folder with a page."),
    "replay": ("run", "Do a run again, by its plan, into a new folder."),
    "watch": ("watch", "Watch a run that goes on, and this machine."),
    "show": ("show", "Show what a run found on the terminal."),
    "report": ("show", "Write the page of a run anew."),
    "plot": ("plot", "Draw what a run found, any column by any."),
    "export": ("show", "Write samples or rows for other programs."),
    "compare": ("compare", "Compare a run with a later one, or with what was published."),
    "copy": ("copy_tool", "Copy as the published tool does, measured well."),
    "certify": ("certify", "Count how often verdicts are wrong, where the truth is known."),
}
app = typer.Typer(
    name="lab",
    cls=Commands,
    help="Experiments: run them, look at them, compare them.",
    epilog=examples("run"),
    **GROUP,
)
app.command("list", short_help="Show the experiments, and how long they take.")(list_)
for name, (_, text) in COMMANDS.items():
    app.command(name, short_help=text)(not_loaded)
