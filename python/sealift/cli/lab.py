"""`sealift lab`: lists, runs and shows experiments."""

import typer

from sealift.cli import compare, copying
from sealift.cli.listing import list_
from sealift.cli.run import EXAMPLES, replay, run
from sealift.cli.show import EXPORTS, PLOTS, export, plot, report

app = typer.Typer(
    name="lab",
    help="Experiments: run them, look at them, compare them.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command("list", short_help="Show the experiments, and how long they take.")(list_)
app.command(short_help="Measure experiments into a folder with a page.", epilog=EXAMPLES)(run)
app.command(short_help="Write the page of a run anew.")(report)
app.command(short_help="Draw what a run found, any column by any.", epilog=PLOTS)(plot)
app.command(
    short_help="Set a run beside a later one, or beside what was published.",
    epilog=compare.EXAMPLES,
)(compare.compare)
app.command(short_help="Do a run again, by its plan, into a new folder.")(replay)
app.command(short_help="Copy as the published tool does, measured well.", epilog=copying.EXAMPLES)(
    copying.copy
)
app.command(short_help="Write samples or rows for other programs.", epilog=EXPORTS)(export)
