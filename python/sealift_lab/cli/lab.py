"""`sealift lab`: lists, runs, shows and compares experiments."""

import typer

from sealift_lab.cli import certify, compare, copy_tool, export, listing, plot, report, run, show

app = typer.Typer(
    name="lab",
    help="Experiments: run them, look at them, compare them.",
    epilog=run.EXAMPLES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("list", short_help="Show the experiments, and how long they take.")(listing.list_)
app.command(short_help="Measure experiments into a folder with a page.", epilog=run.EXAMPLES)(
    run.run
)
app.command(short_help="Do a run again, by its plan, into a new folder.")(run.replay)
app.command(short_help="Show what a run found on the terminal.")(show.show)
app.command(short_help="Write the page of a run anew.")(report.report)
app.command(short_help="Draw what a run found, any column by any.", epilog=plot.EXAMPLES)(plot.plot)
app.command(short_help="Write samples or rows for other programs.", epilog=export.EXAMPLES)(
    export.export
)
app.command(
    short_help="Compare a run with a later one, or with what was published.",
    epilog=compare.EXAMPLES,
)(compare.compare)
app.command(
    short_help="Copy as the published tool does, measured well.", epilog=copy_tool.EXAMPLES
)(copy_tool.copy)
app.command(
    short_help="Count how often verdicts are wrong, where the truth is known.",
    epilog=certify.EXAMPLES,
)(certify.certify)
