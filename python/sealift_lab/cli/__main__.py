"""The commands without the library's: `python -m sealift_lab.cli`."""

import typer

from sealift_lab.cli.dpu import app as dpu
from sealift_lab.cli.lab import app as lab

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(lab, short_help="Experiments: run them, look at them, compare them.")
app.add_typer(dpu, short_help="Assemble, run and time DPU programs, simulated.")

if __name__ == "__main__":
    app(prog_name="sealift")
