"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sealift.cli.output import echo, eprint
from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, count, option
from sealift_lab.cli.run import REGION
from sealift_lab.experiments.document_004.tool import (
    NAMES,
    READ_REGION,
    REGION_IDS,
    Tool,
    ToolLine,
    check_file,
    format_file,
    run_tool,
)
from sealift_lab.measure.storage import write_file
from sealift_lab.model.units import format_measure


def _csv_file(text: str) -> Path:
    """A file to write: a new one, or one of the tool's, which is replaced as the tool does."""
    path = parse.file(text)
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder; make it first")
    if path.exists():
        try:
            check_file(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} is there and is no file of the tool's: {error}") from error
    return path


def _pause_s(text: str) -> float:
    return 0.0 if text == "0" else parse.seconds(text)


EXPERIMENT = count(0, 5, "experiment")
CHOICE, BYTE = count(0, 1, "choice"), count(0, 255, "value of a byte")
LENGTHS, SAMPLES = count(1, 10, "number of lengths"), count(1, 1_000_000, "number of samples")
THREADS = count(0, parse.THREADS_MAX, "number of threads")


def copy(
    ids: Annotated[list[int] | None, argument("copy", "ID", EXPERIMENT)] = None,
    init: Annotated[int, option("copy", "-i", "[0|1]", CHOICE)] = 0,
    lengths: Annotated[int, option("copy", "-n", "N", LENGTHS)] = 9,
    value: Annotated[int, option("copy", "-o", "VALUE", BYTE)] = 0,
    runs: Annotated[int | None, option("copy", "-r", "RUNS", SAMPLES)] = None,
    threads: Annotated[int, option("copy", "-t", "THREADS", THREADS)] = 0,
    pause_s: Annotated[float | None, option("copy", "-z", "TIME", _pause_s)] = None,
    region: Annotated[parse.Region | None, option("copy", "--region", REGION, parse.region)] = None,
    owned: Annotated[bool, option("run", "--i-own-this-region")] = False,
    csv: Annotated[Path | None, option("copy", "--csv", "FILE", _csv_file)] = None,
    as_published: Annotated[bool, option("copy", "--published-method")] = False,
) -> None:
    """Copy as the published tool memcpy_test does, and say how sure the figures are.

    Every figure is the median of calibrated samples in interleaved order, with its 95 % interval,
    and what was copied is compared with its source. Exit codes: 0 done, 2 wrong usage, 3 nothing
    could be measured, 4 something was copied wrong, 5 the file could not be written, 130
    interrupted.
    """
    lines: list[ToolLine] = []
    with output.in_sentences():
        for option, given in (("-i", init), ("-o", value), ("--region", region)):
            if as_published and given:
                raise ValueError(
                    f"{option}: --published-method copies seeded bytes within the heap; "
                    "leave one of the two away"
                )
        parse.check_region(region, owned=owned, is_read=init == 1)
        tool = Tool(
            ids=_ids(ids or [], region, is_read=init == 1, as_published=as_published),
            lengths=lengths,
            runs=runs or (5 if as_published else 9),
            threads=threads,
            value=value,
            keeps_region=init == 1,
            region=region,
            as_published=as_published,
        )
        try:
            lines.extend(_measure(tool, pause_s or 0.0))
        finally:
            # What was measured until an interruption or a wrong result, too.
            if csv is not None and lines:
                _write(csv, lines)
    if not lines:
        raise typer.Exit(ExitCode.NOTHING_RAN)


def _ids(
    named: Sequence[int], region: parse.Region | None, *, is_read: bool, as_published: bool
) -> tuple[int, ...]:
    """The named experiments, without names all that can be done, if all options suit them."""
    every = range(2 if as_published else len(NAMES))
    ids = tuple(dict.fromkeys(named)) or tuple(i for i in every if region or i not in REGION_IDS)
    if as_published and max(ids) > 1:
        raise ValueError(f"experiment {max(ids)}: --published-method is for the heap, 0 and 1")
    if is_read and ids != (READ_REGION,):
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


def _measure(tool: Tool, wait_s: float) -> Iterator[ToolLine]:
    """Prints each figure when it is there."""
    for number in tool.ids:
        time.sleep(wait_s)
        echo(f"{number}) {NAMES[number]}")
        for line in run_tool(tool, number):
            echo(_text(line))
            if not line.skipped:
                yield line


def _text(line: ToolLine) -> str:
    speed = line.gb_per_s
    begin = f"{line.size_bytes:9,} bytes using {line.function}"
    if speed is None:
        return f"{begin}: not measured: {line.skipped}"
    ends = [format_measure(end) for end in (speed.low, speed.high) if end is not None]
    span = f" [{'..'.join(ends)}]" if ends else ""
    delta_s = line.size_bytes / speed.value / 1e9
    return (
        f"{begin} = {format_measure(speed.value)}{span} GB/s ({line.runs:,} runs, {line.threads} "
        f"threads: ave delta = {delta_s:.9f} secs)"
    )


def _write(path: Path, lines: Sequence[ToolLine]) -> None:
    write_file(path, format_file(lines))
    eprint(f"written: {path}")
