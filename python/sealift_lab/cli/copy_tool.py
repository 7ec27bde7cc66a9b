"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.output import eprint, parsed
from sealift_lab.cli.run import Owned
from sealift_lab.cli.selection import open_region

if TYPE_CHECKING:
    from sealift_lab.experiments.document_004.tool import Tool, ToolResult
    from sealift_lab.experiments.document_004.tool_file import ToolLine

# \b keeps the lines as they are.
EXAMPLES = """\b
IDs are the published tool's:
  0  write to the heap              1  read from the heap
  2  write to host shared memory    3  read from host shared memory
  4  write to the region            5  read from the region
Its copy functions are glibc_memcpy and naive_memcpy, the loop of words as compilers make it;
its third one is not ported, and registers of 64 bytes stand in its place.

\b
Examples:
  sealift lab copy 0 1 -r 20 -n 2
  sealift lab copy -t 2 --csv results.csv
  sealift lab copy 0 --published-method
  sealift lab copy 4 --region /dev/dax0.0:0:0x10000000 --i-own-this-region
  sealift lab copy 5 -i 1 --region /dev/dax0.0:0:0x10000000 --i-own-this-region
"""


def copy(
    ids: Annotated[
        list[str] | None, Argument(help="0 to 5. [default: all that can be done]", metavar="ID")
    ] = None,
    init: Annotated[
        str,
        Option(
            "-i",
            help="1 leaves a region that is read as another process wrote it, and checks that it "
            "holds the pattern.",
            metavar="[0|1]",
        ),
    ] = "0",
    lengths: Annotated[
        str, Option("-n", help="How many of the ten lengths, 16 B to 256 MiB.", metavar="N")
    ] = "9",
    value: Annotated[
        str, Option("-o", help="Added to the source's bytes, 0 to 255.", metavar="VALUE")
    ] = "0",
    runs: Annotated[
        str | None,
        Option(
            "-r",
            help="Samples of each figure, thousands of copies each; copies with "
            "--published-method. An interval of 95 % takes 6 samples. [default: 9; 5 copies]",
            metavar="RUNS",
        ),
    ] = None,
    threads: Annotated[
        str,
        Option(
            "-t",
            help="Threads, each with buffers of its own, but all with one region; with "
            "--published-method the workers of the tool's pool, which hands out every copy. "
            "0 for none.",
            metavar="THREADS",
        ),
    ] = "0",
    pause: Annotated[
        str, Option("-z", help="Wait before each experiment, as in 2 or 500ms.", metavar="TIME")
    ] = "0",
    region: Annotated[
        str | None,
        Option(
            help="A device's memory, or a file that stands for it: offset and length in bytes, "
            "whole pages of the device, as in /dev/dax0.0:0:0x200000. Files and devices that tell "
            "their size are held to it. Some, as /dev/mem, tell none: naming more than there is "
            "ends the program.",
            metavar="PATH:OFFSET:LENGTH",
        ),
    ] = None,
    owned: Owned = False,
    csv: Annotated[
        str | None, Option("--csv", help="Write the tool's file of six columns.", metavar="FILE")
    ] = None,
    as_published: Annotated[
        bool,
        Option(
            "--published-method",
            help="Measure as the published tool does: few copies, no warm-up, its pool; heap only, "
            "where 0 and 1 are the same copies, of seeded bytes: without -i, -o and --region.",
        ),
    ] = False,
) -> None:
    """Copy as the published tool memcpy_test does, and say how sure the figures are.

    Every figure is the median of calibrated samples in interleaved order, with its 95 % interval,
    and what was copied is compared with its source. Exit codes: 0 done, 2 wrong usage, 3 nothing
    could be measured, 4 something was copied wrong, 5 the file could not be written, 130
    interrupted.
    """
    with output.in_sentences():
        from sealift_lab.experiments.document_004.tool import Tool

        for option, given in (("-i", init), ("-o", value), ("--region", region)):
            if as_published and given not in (None, "0"):
                raise ValueError(
                    f"{option} {given}: --published-method copies seeded bytes within the heap; "
                    "leave one of the two away"
                )
        keeps = _count("-i", 0, 1, "choice", init) == 1
        memory = open_region(region, owned=owned, keeps=keeps)
        tool = Tool(
            ids=_ids(ids or [], memory, keeps=keeps, as_published=as_published),
            lengths=_count("-n", 1, 10, "number of lengths", lengths),
            runs=_count("-r", 1, 1_000_000, "number of samples", runs or RUNS[as_published]),
            threads=_count("-t", 0, parse.THREADS_MAX, "number of threads", threads),
            value=_count("-o", 0, 255, "value of a byte", value),
            keeps_region=keeps,
            region=memory,
            as_published=as_published,
        )
        wait_s = 0.0 if pause == "0" else parsed("-z", parse.seconds, pause)
        place = None if csv is None else parsed("--csv", _csv_file, csv)
        lines: list[ToolLine] = []
        try:
            lines.extend(_measure(tool, wait_s))
        finally:
            # What was measured until an interruption or a wrong result, too.
            if place is not None and lines:
                _write(place, lines)
    if not lines:
        raise typer.Exit(ExitCode.NOTHING_RAN)


def _count(option: str, least: int, most: int, noun: str, text: str) -> int:
    return parsed(option, parse.count(least, most, noun), text)


def _ids(
    texts: Sequence[str], region: parse.Region | None, *, keeps: bool, as_published: bool
) -> tuple[int, ...]:
    """The named experiments; without names all that can be done.

    Raises:
        ValueError: If an experiment and an option don't go together.
    """
    from sealift_lab.experiments.document_004.tool import NAMES, READ_REGION, REGION_IDS

    last = len(NAMES) - 1
    every = [i for i in range(2 if as_published else last + 1) if region or i not in REGION_IDS]
    ids = tuple(_count("ID", 0, last, "experiment", text) for text in dict.fromkeys(texts))
    ids = ids or tuple(every)
    if as_published and max(ids) > 1:
        raise ValueError(f"experiment {max(ids)}: --published-method is for the heap, 0 and 1")
    if keeps and ids != (READ_REGION,):
        raise ValueError(
            f"-i 1 checks what another process wrote, which experiment {READ_REGION} alone does: "
            f"name it and no other, as in `sealift lab copy {READ_REGION} -i 1`"
        )
    needing = [each for each in ids if each in REGION_IDS]
    if region and not needing:
        raise ValueError(
            f"--region: only experiments {' and '.join(map(str, REGION_IDS))} copy to or from one; "
            "name one of them, or leave it away"
        )
    if needing and not region:
        raise ValueError(
            f"experiment {needing[0]} copies to or from a device's memory; name it with --region "
            "PATH:OFFSET:LENGTH and --i-own-this-region"
        )
    return ids


def _measure(tool: "Tool", wait_s: float) -> "Iterator[ToolLine]":
    """Prints each figure when it is there."""
    from sealift_lab.experiments.document_004.tool import NAMES, run_tool

    for number in tool.ids:
        time.sleep(wait_s)
        typer.echo(f"{number}) {NAMES[number]}")
        for result in run_tool(tool, number):
            typer.echo(_text(result))
            if not result.skipped:
                yield result.line


def _text(result: "ToolResult") -> str:
    from sealift_lab.model.units import format_measure

    line, speed = result.line, result.gb_per_s
    begin = f"{line.size_bytes:9,} bytes using {line.function}"
    if speed is None:
        return f"{begin}: not measured: {result.skipped}"
    ends = [format_measure(end) for end in (speed.low, speed.high) if end is not None]
    span = f" [{'..'.join(ends)}]" if ends else ""
    delta_s = line.size_bytes / speed.value / 1e9
    return (
        f"{begin} = {format_measure(speed.value)}{span} GB/s ({line.runs:,} runs, {line.threads} "
        f"threads: ave delta = {delta_s:.9f} secs)"
    )


def _csv_file(text: str) -> Path:
    """A file to write: a new one, or one of the tool's, which is replaced as the tool does."""
    from sealift_lab.experiments.document_004.tool_file import parse_file

    path = parse.file(text)
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder; make it first")
    if path.exists():
        try:
            parse_file(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} is there and is no file of the tool's: {error}") from error
    return path


def _write(path: Path, lines: "Sequence[ToolLine]") -> None:
    from sealift_lab.experiments.document_004.tool_file import format_file
    from sealift_lab.run.writing import write_file

    write_file(path, format_file(lines))
    eprint(f"written: {path}")


# By whether it is the published method.
RUNS = {False: "9", True: "5"}
