"""`sealift dpu`: assembles, disassembles, runs and times programs for simulated DPUs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sealift.cli import options
from sealift.cli.dpu_run import EXAMPLES as RUN_EXAMPLES
from sealift.cli.dpu_run import run
from sealift.cli.dpu_time import EXAMPLES as TIME_EXAMPLES
from sealift.cli.dpu_time import time_kernel
from sealift.cli.said import fail, in_sentences, read
from sealift.exit_code import ExitCode

# \b keeps the lines as they are.
EXAMPLES = """\b
Examples:
  sealift dpu asm examples/dpu/sum.S --tasklets 11 -o sum.elf
  sealift dpu disasm sum.elf
  sealift dpu run sum.elf --write count=1024 --read total
  sealift dpu time --kernel ctr --dpus 640 --bytes 64KiB
  sealift dpu time --kernel many --dpus 640 --bytes 16KiB --message-bytes 128
"""

app = typer.Typer(
    name="dpu",
    help="It takes assembly and ELF, not C: programs for UPMEM DPUs, which are processors inside "
    "memory, are assembled, disassembled, run and timed. The DPUs are simulated, instruction by "
    "instruction; no SDK is needed. docs/dpu.md tells the syntax, and how far the times can be "
    "trusted.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)


def asm(
    file: Annotated[str, typer.Argument(help="Assembly, as the vendor's tools spell it.")],
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            help="The ELF file to write, in the place of one that is there. [default: FILE with "
            "the ending .elf]",
            metavar="OUT",
        ),
    ] = None,
    tasklets: Annotated[
        int | None,
        typer.Option(
            help="What NR_TASKLETS stands for in it.",
            parser=options.given("--tasklets", options.tasklets),
            metavar="N",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--define", help="What a name stands for in it. May be repeated.", metavar="NAME=NUMBER"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a line.")] = False,
) -> None:
    """Assemble a program into an ELF file for a DPU.

    It takes assembly, not C. What is wrong is told with line and column, and nothing is written
    then. How much of a DPU's memories the program takes goes to standard output.
    """
    from sealift.cli.dpu_files import content, defined, is_elf, program
    from sealift.lab.store import write_file

    with in_sentences():
        text = content(file)
        if is_elf(text):
            fail(ExitCode.USAGE, f"{file} is assembled already; `sealift dpu run` runs it")
        made = program(file, text, defined(names or [], tasklets))
        if out == "-":
            fail(ExitCode.USAGE, "-o -: an ELF file is no text for standard output; name a file")
        place = read("-o", options.file, out or str(Path(file).with_suffix(".elf")))
        if place.exists() and place.samefile(file):
            fail(ExitCode.USAGE, f"-o {place} is the assembly itself; name another file")
        write_file(place, made.elf())
    if as_json:
        typer.echo(
            json.dumps({"schema": "sealift-dpu-asm/1", "elf": str(place), **dict(made.sizes)})
        )
    else:
        taken = [f"{size:,} B of {memory}" for memory, size in made.sizes[1:] if size]
        count = f"{made.instructions:,} of {INSTRUCTIONS_MAX:,} instructions"
        typer.echo(", ".join((f"{place}: {count}", *taken)))


def disasm(
    file: Annotated[
        str, typer.Argument(help="An ELF file for a DPU, or words of IRAM, eight bytes each.")
    ],
) -> None:
    """Show a program's instructions: number, word and text, with its labels.

    A file that does not begin as an ELF file is taken for words of IRAM.
    """
    from sealift._sealift import DpuProgram, dpu_disassemble
    from sealift.cli.dpu_files import content, is_elf, is_text, of_file

    with in_sentences():
        words = content(file)
        if is_text(words):
            fail(
                ExitCode.USAGE,
                f"{file} is text and no machine code; `sealift dpu asm` makes that of assembly",
            )
        with of_file(file):
            shown = (
                DpuProgram.read_elf(words).disassemble()
                if is_elf(words)
                else dpu_disassemble(words)
            )
        if not shown:
            fail(ExitCode.USAGE, f"{file}: there is no instruction in it")
    typer.echo(shown, nl=False)


# Instructions that IRAM holds.
INSTRUCTIONS_MAX = 4_096

app.command(short_help="Assemble a program into an ELF file.")(asm)
app.command(short_help="Show the instructions of a program.")(disasm)
app.command(short_help="Run a program and say what it took.", epilog=RUN_EXAMPLES)(run)
app.command("time", short_help="Time a cipher on many DPUs.", epilog=TIME_EXAMPLES)(time_kernel)
