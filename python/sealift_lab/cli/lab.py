"""`sealift lab`: lists, runs, shows and compares experiments."""

import typer

from sealift_lab.cli import certify, compare, copy_tool, export, listing, plot, report, run, show
from sealift_lab.cli.help import examples

app = typer.Typer(
    name="lab",
    help="Experiments: run them, look at them, compare them.",
    epilog=examples("run"),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
COMMANDS = (
    ("list", listing.list_, "Show the experiments, and how long they take."),
    ("run", run.run, "Measure experiments into a folder with a page."),
    ("replay", run.replay, "Do a run again, by its plan, into a new folder."),
    ("show", show.show, "Show what a run found on the terminal."),
    ("report", report.report, "Write the page of a run anew."),
    ("plot", plot.plot, "Draw what a run found, any column by any."),
    ("export", export.export, "Write samples or rows for other programs."),
    ("compare", compare.compare, "Compare a run with a later one, or with what was published."),
    ("copy", copy_tool.copy, "Copy as the published tool does, measured well."),
    ("certify", certify.certify, "Count how often verdicts are wrong, where the truth is known."),
)
for name, function, text in COMMANDS:
    app.command(name, short_help=text, epilog=examples(name))(function)
