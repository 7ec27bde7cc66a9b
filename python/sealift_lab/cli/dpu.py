"""`sealift dpu`: assembles, disassembles, runs and times programs for simulated DPUs."""

from pathlib import Path
from typing import Annotated

import typer

from sealift_lab.cli import dpu_program, dpu_run, dpu_time, output, parse
from sealift_lab.cli.help import argument, examples, option
from sealift_lab.cli.output import parsed

app = typer.Typer(
    name="dpu",
    help="It takes assembly and ELF, not C: programs for UPMEM DPUs, which are processors inside "
    "memory, are assembled, disassembled, run and timed. The DPUs are simulated, instruction by "
    "instruction; no SDK is needed. docs/dpu.md tells the syntax, and how far the times can be "
    "trusted.",
    epilog=examples("dpu"),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


def asm(
    file: Annotated[str, argument("dpu asm", "FILE")],
    out: Annotated[str | None, option("dpu asm", "-o", "--out", metavar="OUT")] = None,
    tasklets: dpu_program.Tasklets = None,
    names: dpu_program.Names = None,
    as_json: output.Json = False,
) -> None:
    """Assemble a program into an ELF file for a DPU.

    It takes assembly, not C. An error is reported with line and column, and nothing is written
    then. How much of a DPU's memories the program takes goes to standard output.
    """
    with output.in_sentences():
        from sealift_lab.run.writing import write_file

        text = dpu_program.read_file(file)
        if dpu_program.is_elf(text):
            raise ValueError(f"{file} is assembled already; `sealift dpu run` runs it")
        program = dpu_program.load(file, text, dpu_program.parse_names(names or [], tasklets))
        if out == "-":
            raise ValueError("-o -: an ELF file is no text for standard output; name a file")
        place = parsed("-o", parse.file, out or str(Path(file).with_suffix(".elf")))
        if place.exists() and place.samefile(file):
            raise ValueError(f"-o {place} is the assembly itself; name another file")
        write_file(place, program.elf())
    if as_json:
        output.show_json(
            {"schema": "sealift-dpu-asm/1", "elf": str(place), **dict(program.sizes)}, indent=None
        )
    else:
        taken = [f"{size:,} B of {memory}" for memory, size in program.sizes[1:] if size]
        count = f"{program.instructions:,} of {INSTRUCTIONS_MAX:,} instructions"
        typer.echo(", ".join((f"{place}: {count}", *taken)))


def disasm(
    file: Annotated[str, argument("dpu disasm", "FILE")],
) -> None:
    """Show a program's instructions: number, word and text, with its labels.

    A file that does not begin as an ELF file is taken for words of IRAM.
    """
    with output.in_sentences():
        from sealift_lab._lab import DpuProgram, dpu_disassemble

        words = dpu_program.read_file(file)
        plain = words[:1_000]
        if plain and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in plain):
            raise ValueError(
                f"{file} is text and no machine code; `sealift dpu asm` makes that of assembly"
            )
        with dpu_program.named(file):
            is_elf = dpu_program.is_elf(words)
            text = DpuProgram.read_elf(words).disassemble() if is_elf else dpu_disassemble(words)
            if not text:
                raise ValueError("there is no instruction in it")
    typer.echo(text, nl=False)


# Instructions that IRAM holds.
INSTRUCTIONS_MAX = 4_096

app.command(short_help="Assemble a program into an ELF file.")(asm)
app.command(short_help="Show the instructions of a program.")(disasm)
app.command(short_help="Run a program and say what it took.", epilog=examples("dpu run"))(
    dpu_run.run
)
app.command("time", short_help="Time a cipher on many DPUs.", epilog=examples("dpu time"))(
    dpu_time.time_kernel
)
