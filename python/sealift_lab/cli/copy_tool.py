"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.help import argument, option
from sealift_lab.cli.output import eprint, parsed, parsed_count
from sealift_lab.cli.run import REGION
from sealift_lab.cli.selection import open_region

if TYPE_CHECKING:
    from sealift_lab.experiments.document_004.tool import Tool, ToolResult
    from sealift_lab.experiments.document_004.tool_file import ToolLine


def copy(
    ids: Annotated[list[str] | None, argument("copy", "ID")] = None,
    init: Annotated[str, option("copy", "-i", metavar="[0|1]")] = "0",
    lengths: Annotated[str, option("copy", "-n", metavar="N")] = "9",
    value: Annotated[str, option("copy", "-o", metavar="VALUE")] = "0",
    runs: Annotated[str | None, option("copy", "-r", metavar="RUNS")] = None,
    threads: Annotated[str, option("copy", "-t", metavar="THREADS")] = "0",
    pause: Annotated[str, option("copy", "-z", metavar="TIME")] = "0",
    region: Annotated[str | None, option("copy", "--region", metavar=REGION)] = None,
    owned: Annotated[bool, option("run", "--i-own-this-region")] = False,
    csv: Annotated[str | None, option("copy", "--csv", metavar="FILE")] = None,
    as_published: Annotated[bool, option("copy", "--published-method")] = False,
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
        keeps = parsed_count("-i", 0, 1, "choice", init) == 1
        memory = open_region(region, owned=owned, keeps=keeps)
        tool = Tool(
            ids=_ids(ids or [], memory, keeps=keeps, as_published=as_published),
            lengths=parsed_count("-n", 1, 10, "number of lengths", lengths),
            runs=parsed_count("-r", 1, 1_000_000, "number of samples", runs or RUNS[as_published]),
            threads=parsed_count("-t", 0, parse.THREADS_MAX, "number of threads", threads),
            value=parsed_count("-o", 0, 255, "value of a byte", value),
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
    ids = tuple(parsed_count("ID", 0, last, "experiment", text) for text in dict.fromkeys(texts))
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
