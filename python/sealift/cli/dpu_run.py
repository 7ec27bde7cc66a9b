"""`sealift dpu run`: runs a program on one simulated DPU."""

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import options
from sealift.cli.dpu_progress import Waiting
from sealift.cli.said import fail, in_sentences, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift._sealift import DpuRun

# \b keeps the lines as they are.
EXAMPLES = """\b
In memory a number has its lowest byte first: count=1024 and count=hex:00040000 are the same.

\b
Examples:
  sealift dpu run examples/dpu/sum.S --tasklets 11 --write count=1024 --read total
  sealift dpu run sum.elf --preset upmem-2560-350 --hazard --registers all
  sealift dpu run mine.S --tasklets 16 --write text=@message.bin --read text:64 --json
"""


def run(
    file: Annotated[str, typer.Argument(help="Assembly, or an ELF file for a DPU.")],
    tasklets: Annotated[
        int | None,
        typer.Option(
            help="What NR_TASKLETS stands for in assembly: programs boot their tasklets "
            "themselves.",
            parser=options.given("--tasklets", options.tasklets),
            metavar="N",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--define",
            help="What a name stands for in assembly. May be repeated.",
            metavar="NAME=NUMBER",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Whose DPU it is: upmem-640-266, upmem-640-267 or upmem-2560-350. [default: "
            "upmem-640-266]",
            metavar="NAME",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(help="The same for a system that a TOML file describes.", metavar="FILE"),
    ] = None,
    hazard: Annotated[
        bool,
        typer.Option(
            "--hazard",
            help="Registers that meet in one bank take longer: published figures disagree whether "
            "they do.",
        ),
    ] = False,
    write: Annotated[
        list[str] | None,
        typer.Option(
            help="What to write to a symbol before the start: a number (count=1024, count=0x400), "
            "bytes (count=hex:00040000), or those of a file (count=@FILE). May be repeated.",
            metavar="SYMBOL=VALUE",
        ),
    ] = None,
    reads: Annotated[
        list[str] | None,
        typer.Option(
            "--read",
            help="Show a symbol's bytes at the end, or its first N. May be repeated.",
            metavar="SYMBOL[:N]",
        ),
    ] = None,
    registers: Annotated[
        str | None,
        typer.Option(
            help="Show registers of these tasklets at the end: 0, 0-3,7 or all. Those of one that "
            "faults are always shown.",
            metavar="LIST",
        ),
    ] = None,
    max_cycles: Annotated[
        int,
        typer.Option(
            help="When to stop a program that does not end, as in 1M or 10G.",
            parser=options.given("--max-cycles", options.count(1, 2**53, "number of cycles")),
            metavar="N",
        ),
    ] = 10_000_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Run a program on a simulated DPU and say what it took.

    It takes assembly and ELF, not C. Cycles, and seconds at the system's clock, are simulated;
    docs/dpu.md says what they were held against. Exit codes: 0 all tasklets stopped, 2 wrong usage
    or no program, 7 a tasklet faulted or the cycles were used up, 130 interrupted.
    """
    with in_sentences():
        from sealift._sealift import DpuRun
        from sealift.cli import dpu_files, dpu_memory
        from sealift.cli.dpu_shown import document, faulted, table

        found = dpu_files.content(file)
        program = dpu_files.program(file, found, dpu_files.defined(names or [], tasklets))
        whose = dpu_files.system(preset, system, hazard=hazard)
        shown = _tasklets(registers)
        dpu = DpuRun(program, whose)
        dpu_memory.write(dpu, write or ())
        wanted = [dpu_memory.wanted(text) for text in reads or []]
        for symbol, length in wanted:
            # What can't be read is told before the run.
            dpu_memory.read(dpu, symbol, length)
        ended = _run(dpu, max_cycles)
        memory = [(symbol, dpu_memory.read(dpu, symbol, length)) for symbol, length in wanted]
        kept = {tasklet: dpu.registers(tasklet) for tasklet in shown}
        if as_json:
            plain = document(file, ended, dpu, whose, memory, kept)
            _say(typer.echo, json.dumps(plain, indent=2, allow_nan=False))
        else:
            _say(typer.echo, table(ended, dpu, whose, memory, kept))
    if dpu.fault is not None:
        _say(told, f"{file}: {faulted(dpu.fault)}; its registers are shown")
    elif ended == "limit":
        _say(
            told,
            f"{file}: tasklets were still running after {dpu.cycles:,} cycles, where is shown; "
            "--max-cycles gives more",
        )
    if ended != "done":
        raise typer.Exit(ExitCode.DPU_FAULT)


def _say(say: Callable[[str], None], text: str) -> None:
    """Says it; where nobody listens any more, the exit code still tells how the program ended."""
    with suppress(BrokenPipeError):
        say(text)


def _run(dpu: "DpuRun", max_cycles: int) -> str:
    started = time.monotonic()
    with Waiting() as waiting:
        while (ended := dpu.run(max_cycles, SLICE_S)) == "running":
            seconds = time.monotonic() - started
            cycles = dpu.cycles
            waiting.say(
                f"{cycles:,} cycles simulated in {seconds:.0f} s, "
                f"{cycles / seconds / 1e6:,.0f} million a second"
            )
    return ended


def _tasklets(text: str | None) -> Sequence[int]:
    """Reads `0`, `0-3,7` or `all`."""
    if text is None:
        return ()
    if text == "all":
        return range(TASKLETS)
    found: dict[int, None] = {}
    for part in text.split(","):
        ends = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if not first <= last < TASKLETS:
            fail(
                ExitCode.USAGE,
                f"--registers {text}: {part!r} names no tasklets; write 0, 0-3,7 or all, from 0 to "
                f"{TASKLETS - 1}",
            )
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


# So long Ctrl-C may have to wait.
SLICE_S = 0.1
TASKLETS = 24
