"""The command line: `sealift devices`, `advise`, `explain`, `lab` and `dpu`.

Results go to standard output, talk to standard error. Exit codes: 0 done, 1 slower than asked for,
2 wrong usage, 3 nothing could run or be judged, 4 something was computed wrong, 5 results could not
be written, 6 a part of a run failed, 7 a DPU program faulted, 130 interrupted.
"""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sealift.cli import advise, asked, devices, dpu, explain, lab
from sealift.exit_code import ExitCode
from sealift.gpu_names import names_gpu

# \b keeps the lines as they are.
BEGIN = """\b
Begin with
  sealift devices           what this machine has
  sealift advise --quick    where to encrypt, measured in a minute
  sealift advise --size 128 --rate 40k
                            what your own load takes, in half a minute
  sealift explain --messages 1024 --bytes 128
                            which device would get such a batch, and why
  sealift lab run --quick   the same and more, with a page, in a minute
  sealift dpu run FILE      a program of your own on a simulated UPMEM DPU

\b
Exit codes:
  0    done
  1    slower than `lab compare --fail-on` allows
  2    wrong usage, or a folder that can't be read
  3    nothing could be measured, compared or judged
  4    something was computed wrong
  5    a result could not be written
  6    a part of a run failed; the others were measured
  7    a DPU program faulted, or did not end in the cycles that it had
  130  interrupted; what was complete is kept
"""


class Commands(TyperGroup):
    """The commands; who calls one by a GPU's name is told how GPUs are had."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As every group does, which finds that "gpu" looks like "dpu"."""
        if args and (args[0].casefold() in asked.GPU_DRIVERS or names_gpu(args[0])):
            ctx.fail(
                f"No such command {args[0]!r}. {asked.GPU_DEVICES}; "
                "`sealift lab run 'gpu-*'` measures them."
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="sealift",
    cls=Commands,
    help="Bulk AES-GCM on whichever processor of this machine wins: see which there are, and "
    "measure which should do it.",
    epilog=BEGIN,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command(short_help="Show every device, and why one is absent.")(devices.devices)
app.command(short_help="Measure where to encrypt.", epilog=advise.EXAMPLES)(advise.advise)
app.command(short_help="Show which device would get a batch, and why.", epilog=explain.EXAMPLES)(
    explain.explain
)
app.add_typer(lab.app, short_help="Experiments: run them, look at them, compare them.")
app.add_typer(dpu.app, short_help="Assemble, run and time DPU programs, simulated.")


def main() -> None:
    """Runs the command line."""
    try:
        app(prog_name="sealift")
    except OSError as error:
        # What else can fail is told where it happens; standard output is what all commands share.
        typer.echo(f"sealift: {error.strerror or error}; give standard output room", err=True)
        sys.exit(ExitCode.NOT_WRITTEN)
    finally:
        _leave_quietly()


def _leave_quietly() -> None:
    """What standard output did not take was told; Python would try again at exit, and say so."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        from sealift._sealift import __version__

        typer.echo(f"sealift {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    del version
