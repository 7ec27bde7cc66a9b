"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sealift.cli.output import echo, eprint, parsed
from sealift.exit_code import ExitCode
from sealift_lab.cli import copy_published, parse
from sealift_lab.cli.run import MEMORY, REGION
from sealift_lab.cli.show import write_report
from sealift_lab.experiments.document_004 import copies, tool
from sealift_lab.judge.rows import results
from sealift_lab.measure.plan import make_plan
from sealift_lab.measure.write_folder import write_file
from sealift_lab.model.experiment import Scope
from sealift_lab.model.results import Results
from sealift_lab.model.run import PAGE
from sealift_lab.model.units import format_measure
from sealift_lab.run import session
from sealift_lab.run.read_folder import Run


def _csv_file(text: str) -> Path:
    """A file to write: a new one, or one of the tool's, which is replaced as the tool does."""
    path = parse.file(text)
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder; make it first")
    if path.exists():
        try:
            tool.parse_file(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} is there and is no file of the tool's: {error}") from error
    return path


def _lengths(text: str) -> tuple[int, ...]:
    """Lengths of copies up to the tool's longest, sorted: it stops at one that doesn't fit."""
    sizes = tuple(sorted(parse.sizes(text)))
    if sizes[-1] > tool.LENGTHS[-1]:
        raise ValueError(f"{sizes[-1]:,} bytes; right would be {tool.LENGTHS[-1]:,} at most")
    return sizes


_option = partial(parse.option, "copy")
RUNS = parse.count(1, 1_000_000, "number of samples")
THREADS = parse.count(0, parse.THREADS_MAX, "number of threads")


def copy(
    ids: Annotated[list[int] | None, parse.argument("copy", "ID", min=0, max=5)] = None,
    init: Annotated[int, _option("-i", "[0|1]", min=0, max=1)] = 0,
    count: Annotated[
        int | None, _option("-n", "N", parse.count(1, 10, "number of lengths"))
    ] = None,
    lengths: Annotated[Any, _option("--lengths", "LIST", _lengths)] = (),
    value: Annotated[int, _option("-o", "VALUE", min=0, max=255)] = 0,
    runs: Annotated[int | None, _option("-r", "RUNS", RUNS)] = None,
    threads: Annotated[int, _option("-t", "THREADS", THREADS)] = 0,
    pause_s: Annotated[float, _option("-z", "TIME", parse.pause)] = 0.0,
    region: Annotated[parse.Region | None, _option("--region", REGION, parse.region)] = None,
    owned: Annotated[bool, parse.option("run", "--i-own-this-region")] = False,
    csv: Annotated[Path | None, _option("--csv", "FILE", _csv_file)] = None,
    out: Annotated[Path | None, parse.option("run", "--out", "FOLDER", parse.folder)] = None,
    as_published: Annotated[bool, _option("--published-method")] = False,
) -> None:
    """Copy as the published tool memcpy_test does, and say how sure the figures are.

    Every figure is the median of calibrated samples in interleaved order, with its 95 % interval,
    and what was copied is compared with its source; a run folder with a page is left. With
    --published-method it copies, prints and writes results.csv as the tool does. Exit codes: 0
    done, 2 wrong usage, 3 nothing could be measured, 4 something was copied wrong, 5 the file could
    not be written, 130 interrupted.
    """
    parse.check_region(region, owned=owned)
    if as_published and out is not None:
        raise ValueError("--published-method leaves a file and no folder: leave out --out")
    numbers = _ids(ids or [], region, is_found=init == 1 and not as_published)
    # The tool leaves out the tenth unless it is asked for.
    sizes = (lengths or tool.LENGTHS)[: count or (len(lengths) or len(copies.SIZES))]
    if as_published:
        work = copy_published.Work(numbers, sizes, runs or 5, threads, value, init, pause_s, region)
        copy_published.run(work, csv or parsed("--csv", _csv_file, "results.csv"))
        return
    time.sleep(pause_s)
    content = tool.source_content(value, is_found=init == 1)
    memories = [tool.MEMORIES[number] for number in numbers]
    cells = [*tool.tool_cells(memories, sizes, max(1, threads), content)]
    experiment = replace(tool.EXPERIMENT, cells=lambda _: cells)
    if region is not None:
        place = f"{region.path.resolve()}:{region.offset}:{region.length}"
        experiment = replace(experiment, legend={MEMORY: place})
    plan = make_plan(
        [(experiment, experiment.groups(Scope(quick=False, cores=1, devices=())))],
        command=("sealift", *sys.argv[1:]),
        budget_s=0,
        processes=1,
        blocks=runs or RUNS_USUAL,
    )
    done = session.run(plan, out, after_task=_write_page)
    found = results(Run(done.path))[experiment.name]
    echo("\n".join(_texts(found, numbers, region)))
    if csv is not None and found.rows:
        # What was measured until an interruption or a wrong result, too.
        write_file(csv, tool.format_file(tool.lines_of(found.rows)))
        eprint(f"written: {csv}")
    eprint(f"run: {done.path}", f"page: {done.path / PAGE}")
    raise typer.Exit(done.code if found.rows or done.code else ExitCode.NOTHING_RAN)


def _write_page(folder: Path) -> None:
    write_report(folder)


def _ids(named: Sequence[int], region: parse.Region | None, *, is_found: bool) -> tuple[int, ...]:
    """The named experiments, without names all that can be done, if all options suit them."""
    every = [i for i in range(len(tool.NAMES)) if region or i not in REGION_IDS]
    ids = tuple(dict.fromkeys(named)) or tuple(every)
    if is_found and ids != (READ_REGION,):
        raise ValueError(
            f"-i 1 checks what another process wrote, which experiment {READ_REGION} alone does: "
            f"name it and no other, as in `sealift lab copy {READ_REGION} -i 1`, or take "
            "--published-method, which checks no pattern"
        )
    if bool(region) != any(each in REGION_IDS for each in ids):
        raise ValueError(
            f"experiments {' and '.join(map(str, REGION_IDS))}, and no others, copy to or from a "
            "device's memory; name it with --region PATH:OFFSET:LENGTH and --i-own-this-region"
        )
    return ids


def _texts(found: Results, numbers: Sequence[int], region: parse.Region | None) -> Iterator[str]:
    """The tool's lines, with intervals, experiment by experiment."""
    for number in numbers:
        memory = tool.MEMORIES[number]
        place = copies.MEMORIES[memory]
        if region is not None and number in REGION_IDS:
            place = f"{place}: {region.path}:{region.offset}:{region.length}"
        yield f"{number}) {tool.NAMES[number]}: {place}"
        if rows := [*found.select(memory=memory)]:
            yield from map(_text, tool.lines_of(rows))
        for report in found.reports:
            if report.cell["memory"] == memory and (why := report.skipped or report.wrong):
                name = tool.tool_name(str(report.cell["function"]))
                yield f"{report.cell['size_bytes']:9,} bytes using {name}: not measured: {why}"


def _text(line: tool.ToolLine) -> str:
    begin, speed = f"{line.size_bytes:9,} bytes using {line.function}", line.gb_per_s
    if speed is None:
        return f"{begin}: not measured"
    ends = [format_measure(end) for end in (speed.low, speed.high) if end is not None]
    # Where others had the processor, too few samples may be left for an interval.
    span = "..".join(ends) or "no interval"
    how, delta_s = (
        f"{line.runs:,} runs, {line.threads} threads",
        line.size_bytes / speed.value / 1e9,
    )
    rate = f"{format_measure(speed.value)} [{span}] GB/s"
    return f"{begin} = {rate} ({how}: ave delta = {delta_s:.9f} secs)"


REGION_IDS, READ_REGION = (4, 5), 5
RUNS_USUAL = 9
