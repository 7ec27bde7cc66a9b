"""The root command: its help, its version, the commands below it; and `sealift devices`."""

import json
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import sealift
from sealift.cli import check, explain, lab
from sealift.cli.devices import GPU_DEVICES, states
from sealift.cli.output import Help, columns, echo, in_sentences
from sealift.gpu_names import names_gpu

HELP = Help("sealift.cli")


class Commands(TyperGroup):
    """The library's commands, and the lab's, which are loaded when they are called."""

    def invoke(self, ctx: Any) -> Any:
        """As every group does; errors end the program in one sentence."""
        with in_sentences():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As every group does; a GPU's name has an error of its own, for "gpu" is near "dpu"."""
        if args and (args[0].casefold() in ("cuda", "opencl") or names_gpu(args[0])):
            ctx.fail(
                f"No such command {args[0]!r}. {GPU_DEVICES}; "
                "`sealift lab run 'gpu-*'` measures them."
            )
        name, command, rest = super().resolve_command(ctx, args)
        return name, lab.load_command(name) if name in lab.COMMANDS else command, rest


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sealift {sealift.__version__}")
        raise typer.Exit


VERSION = typer.Option("--version", help="Print the version.", callback=_print_version)


def _root(version: Annotated[bool, VERSION] = False) -> None:
    del version


def devices(
    as_json: Annotated[bool, HELP.option("sealift", "--json")] = False,
) -> None:
    """Show every device: what is here, and why the others are not.

    The first column is what --devices of `sealift explain` and `sealift advise` and Engine([...])
    in Python take. A device's role says what it is for: "real" for users' work, "oracle" to check
    others by, "test only" where nothing should rely on it, "simulated" with modelled times, "null"
    to price the framework around a device. Simulated and null ones, and those that take another
    device or a description behind their name, come with the package sealift-lab.
    """
    found = list(states(lab.extension()))
    if as_json:
        echo(json.dumps(found, indent=2))
        return
    rows, incomplete = [], []
    for each in found:
        why_not = str(each["detail"] or each["reason"])
        if each["state"] == "incomplete":
            incomplete.append((str(each["spec"]), why_not))
        else:
            cells = (each[name] for name in ("spec", "state", "role", "workers"))
            rows.append((*("" if cell is None else str(cell) for cell in cells), why_not))
    echo(columns([("device", "state", "role", "workers", "what, or why not"), *rows]))
    if incomplete:
        echo("\n" + columns([("no device alone", "what it takes"), *incomplete]))


LAB = HELP.texts["sealift"]["with_lab" if lab.is_installed() else "without_lab"]

app = typer.Typer(
    name="sealift",
    cls=Commands,
    help="Bulk AES-GCM on whichever processor of this machine wins: see which there are, and which "
    "should do it.",
    epilog=HELP.lines("sealift").format(lab=LAB.rstrip()),
    add_completion=False,
    pretty_exceptions_enable=False,
    **lab.GROUP,
)
app.callback()(_root)
app.command(short_help="Show every device, and why one is absent.")(devices)
app.command(
    short_help="Check that devices give the right bytes, and refuse what was spoiled.",
    epilog=HELP.lines("check"),
)(check.check)
app.command(short_help="Show which device would get a batch, and why.", epilog=explain.EXAMPLES)(
    explain.explain
)
for _name, _summary in lab.COMMANDS.items():
    app.command(_name, short_help=_summary, hidden=not lab.is_installed())(lab.not_loaded)
