"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sealift.cli.output import echo, eprint
from sealift.exit_code import ExitCode
from sealift_lab.cli import parse
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
from sealift_lab.measure.write_folder import write_file
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


_option = partial(parse.option, "copy")
RUNS = parse.count(1, 1_000_000, "number of samples")
THREADS = parse.count(0, parse.THREADS_MAX, "number of threads")


def copy(
    ids: Annotated[list[int] | None, parse.argument("copy", "ID", min=0, max=5)] = None,
    init: Annotated[int, _option("-i", "[0|1]", min=0, max=1)] = 0,
    lengths: Annotated[int, _option("-n", "N", parse.count(1, 10, "number of lengths"))] = 9,
    value: Annotated[int, _option("-o", "VALUE", min=0, max=255)] = 0,
    runs: Annotated[int | None, _option("-r", "RUNS", RUNS)] = None,
    threads: Annotated[int, _option("-t", "THREADS", THREADS)] = 0,
    pause_s: Annotated[float, _option("-z", "TIME", parse.pause)] = 0.0,
    region: Annotated[parse.Region | None, _option("--region", REGION, parse.region)] = None,
    owned: Annotated[bool, parse.option("run", "--i-own-this-region")] = False,
    csv: Annotated[Path | None, _option("--csv", "FILE", _csv_file)] = None,
    as_published: Annotated[bool, _option("--published-method")] = False,
) -> None:
    """Copy as the published tool memcpy_test does, and say how sure the figures are.

    Every figure is the median of calibrated samples in interleaved order, with its 95 % interval,
    and what was copied is compared with its source. Exit codes: 0 done, 2 wrong usage, 3 nothing
    could be measured, 4 something was copied wrong, 5 the file could not be written, 130
    interrupted.
    """
    if as_published and (init or value or region):
        raise ValueError(
            "--published-method copies seeded bytes within the heap: leave out -i, -o and --region"
        )
    parse.check_region(region, owned=owned)
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
    lines: list[ToolLine] = []
    try:
        for number in tool.ids:
            time.sleep(pause_s)
            echo(f"{number}) {NAMES[number]}")
            for line in run_tool(tool, number):
                echo(_text(line))
                if not line.skipped:
                    lines.append(line)
    finally:
        # What was measured until an interruption or a wrong result, too.
        if csv is not None and lines:
            write_file(csv, format_file(lines))
            eprint(f"written: {csv}")
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
    if bool(region) != any(each in REGION_IDS for each in ids):
        raise ValueError(
            f"experiments {' and '.join(map(str, REGION_IDS))}, and no others, copy to or from a "
            "device's memory; name it with --region PATH:OFFSET:LENGTH and --i-own-this-region"
        )
    return ids


def _text(line: ToolLine) -> str:
    speed = line.gb_per_s
    begin = f"{line.size_bytes:9,} bytes using {line.function}"
    if speed is None:
        return f"{begin}: not measured: {line.skipped}"
    ends = [format_measure(end) for end in (speed.low, speed.high) if end is not None]
    span = f" [{'..'.join(ends)}]" if ends else ""
    how, delta_s = (
        f"{line.runs:,} runs, {line.threads} threads",
        line.size_bytes / speed.value / 1e9,
    )
    rate = f"{format_measure(speed.value)}{span} GB/s"
    return f"{begin} = {rate} ({how}: ave delta = {delta_s:.9f} secs)"
