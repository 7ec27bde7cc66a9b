"""`sealift lab`: lists, runs and shows experiments."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sealift.cli import compare, copying, options
from sealift.cli.ended import summary
from sealift.cli.listing import list_
from sealift.cli.said import fail, in_sentences, read, told
from sealift.cli.show import EXPORTS, PLOTS, export, plot, report
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab import runner
    from sealift.lab.spec import Experiment, Scope
    from sealift.lab.values import Cell

Page = Callable[[Path], None]
"""Writes the page of a run's folder."""

# \b keeps the lines as they are.
EXAMPLES = """\b
A run is a folder: of samples, a summary and a page. An id as 003-F5 is what an
experiment repeats, a figure (F), a table (T) or the premise (P) of document 003:
"NVIDIA CUDA on CPU (+- Intel oneAPI) & GP-GPU" (Ebadollahyvahed, 2024).

\b
Examples:
  sealift lab list
  sealift lab run --quick
  sealift lab run aes-gcm-by-size 003-T4 --budget 3m
  sealift lab run "003-*" --threads 1,2 --out runs/tuesday
  sealift lab run ./mine.py
  sealift lab run --resume runs/tuesday
  sealift lab compare runs/monday runs/tuesday --fail-on slower
"""

app = typer.Typer(
    name="lab",
    help="Experiments: run them, look at them, compare them.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)


app.command("list", short_help="Show the experiments, and how long they take.")(list_)


@app.command(short_help="Measure experiments into a folder with a page.", epilog=EXAMPLES)
def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names (aes-gcm-by-size), ids (003-F5), documents (003), patterns (aes-*), files "
            "of your own (./mine.py), or all. [default: all]",
            metavar="NAME",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="The page within 90 seconds: fewer cells, and one process an experiment where "
            "others have five. Two such runs can't be compared with each other.",
        ),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Time for everything, preparing included, as in 90 or 3m; `sealift lab list` says "
            "how it is shared out, and a thin one is told. [default: 5m; quick: 60]",
            metavar="TIME",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="A new folder. [default: runs/ and the time]", metavar="FOLDER"),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            help="Measure what is missing in this run's folder, however long that takes.",
            metavar="FOLDER",
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            help="Thread counts, as in 1,2. [default: those of each experiment]", metavar="LIST"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of messages and order: same seed, same bytes. [default: 1]",
            min=0,
            max=2**64 - 1,
            metavar="N",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            help="A device's memory that copies may use too, offset and length in bytes.",
            metavar="PATH:OFFSET:LENGTH",
        ),
    ] = None,
    owned: Annotated[
        bool,
        typer.Option(
            "--i-own-this-region", help="Nobody else needs what the region holds: overwrite it."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON instead of the short summary.")
    ] = False,
) -> None:
    """Measure experiments into a folder, and write the page of what was found.

    Prints the answer, a line for each experiment, and last the path of the page. Ctrl-C ends it
    with a page of what is complete, and says how to measure the rest. Exit codes: 0 done, 2 wrong
    usage, 3 nothing could be measured, 4 something was computed wrong, 5 not everything could be
    written, 6 a part crashed or raised an error and the others were measured, 130 interrupted.
    """
    given = {
        "--budget": budget,
        "--out": out,
        "--threads": threads,
        "--seed": seed,
        "--region": region,
    }
    if resume is not None:
        _refuse_beside_resume(names, quick=quick, given=given)
        folder = read("--resume", options.folder, resume)
        _finish(partial(_resume, folder), as_json=as_json)
    counts = () if threads is None else read("--threads", options.thread_counts, threads)
    seconds = None if budget is None else read("--budget", options.seconds, budget)
    place = None if out is None else read("--out", options.folder, out)
    named = copying.read_region(region, owned=owned)
    with in_sentences():
        asked = _asked(names or [], quick=quick, threads=counts, has_region=named is not None)
        asked = _with_region(asked, named)

    def measure(page: Page) -> "runner.Done":
        from sealift.cli.times import thin
        from sealift.lab import runner

        ask = runner.Ask(
            experiments=asked,
            command=("sealift", *sys.argv[1:]),
            out=place,
            budget_s=seconds,
            seed=1 if seed is None else seed,
            quick=quick,
            threads=counts if any(_has_only(groups, counts) for _, groups in asked) else (),
        )
        told(*thin(ask))
        return runner.run(ask, after_task=page)

    _finish(measure, as_json=as_json)


app.command(short_help="Write the page of a run anew.")(report)
app.command(short_help="Draw what a run found, any column by any.", epilog=PLOTS)(plot)
app.command(
    short_help="Set a run beside a later one, or beside what was published.",
    epilog=compare.EXAMPLES,
)(compare.compare)


@app.command(short_help="Do a run again, by its plan, into a new folder.")
def replay(
    source: Annotated[str, typer.Argument(help="A run's folder, or its plan.json.", metavar="RUN")],
    out: Annotated[
        str | None,
        typer.Option(help="A new folder. [default: runs/ and the time]", metavar="FOLDER"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON instead of the short summary.")
    ] = False,
) -> None:
    """Do a run again: the same plan and seed, into a new folder.

    Experiment files of one's own that the plan names are executed as they stand now.
    """
    before = read("RUN", options.folder, source)
    place = None if out is None else read("--out", options.folder, out)

    def measure(page: Page) -> "runner.Done":
        from sealift.lab import runner

        command = ("sealift", *sys.argv[1:])
        return runner.replay(before, place, command=command, after_task=page)

    _finish(measure, as_json=as_json)


app.command(short_help="Copy as the published tool does, measured well.", epilog=copying.EXAMPLES)(
    copying.copy
)
app.command(short_help="Write samples or rows for other programs.", epilog=EXPORTS)(export)


def _resume(folder: Path, page: Page) -> "runner.Done":
    from sealift.lab import runner

    return runner.resume(folder, after_task=page)


def _refuse_beside_resume(
    names: Sequence[str] | None, *, quick: bool, given: Mapping[str, object]
) -> None:
    told_beside = [*(names or ()), *(["--quick"] if quick else [])]
    told_beside += [option for option, value in given.items() if value is not None]
    if told_beside:
        fail(
            ExitCode.USAGE,
            f"--resume goes on with the plan in its folder; leave out {', '.join(told_beside)}",
        )


def _asked(
    names: Sequence[str], *, quick: bool, threads: Sequence[int], has_region: bool
) -> "list[tuple[Experiment, Sequence[Sequence[Cell]]]]":
    """The experiments with the cells that they have here; says which have none."""
    from sealift.lab import registry
    from sealift.lab.copying import REGION
    from sealift.lab.survey import this_scope

    memories = (REGION,) if has_region else ()
    scope = this_scope(quick=quick, threads=threads, memories=memories)
    asked = []
    for experiment in registry.select(names):
        if groups := _groups(experiment, scope):
            if threads and not _has_only(groups, threads):
                told(f"--threads changes nothing in {experiment.name}, which has counts of its own")
            asked.append((experiment, groups))
        elif not (quick and _groups(experiment, replace(scope, quick=False))):
            told(f"{experiment.name} has no cells for what is here, so it is left out")
        elif names:
            told(f"{experiment.name} is no part of a quick run; leave out --quick to measure it")
    if not asked:
        fail(ExitCode.NOTHING_RAN, "nothing is left to measure; `sealift lab list` says why")
    return asked


def _with_region(
    asked: "Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]",
    named: "tuple[Path, int, int] | None",
) -> "list[tuple[Experiment, Sequence[Sequence[Cell]]]]":
    """The same experiments; the legend of those that use the region says which it is."""
    from sealift.lab.copying import REGION

    if named is None:
        return list(asked)
    # Processes may run elsewhere.
    path, offset, length = named
    legend = {REGION: f"{path.resolve()}:{offset}:{length}"}
    return [
        (replace(each, legend={**each.legend, **legend}) if _uses(groups, REGION) else each, groups)
        for each, groups in asked
    ]


def _uses(groups: "Sequence[Sequence[Cell]]", value: str) -> bool:
    return any(value in cell.values() for cells in groups for cell in cells)


def _has_only(groups: "Sequence[Sequence[Cell]]", threads: Sequence[int]) -> bool:
    """Whether all cells have these thread counts."""
    return all(cell.get("threads") in threads for cells in groups for cell in cells)


def _groups(experiment: "Experiment", scope: "Scope") -> "Sequence[Sequence[Cell]]":
    try:
        return experiment.groups(scope)
    except Exception as error:
        if experiment.file is None:
            raise
        # Code of the user's own may raise anything.
        raise ValueError(
            f"{experiment.file}: its cells can't be had: {type(error).__name__}: {error}"
        ) from error


def _finish(measure: "Callable[[Page], runner.Done]", *, as_json: bool) -> NoReturn:
    """Measures, and prints what was found."""
    with in_sentences():
        done = measure(_page_writer())
        text = summary(done, as_json=as_json)
        sys.stdout.write(text)
        sys.stdout.flush()
    raise typer.Exit(done.code)


def _page_writer() -> Page:
    if find_spec("vl_convert") is None:
        told(NO_PAGE)
        return lambda _: None

    def write(folder: Path) -> None:
        from sealift.lab import report, store

        report.write(store.read(folder))

    return write


NO_PAGE = (
    "no page is made, because vl-convert-python isn't installed: "
    "python -m pip install vl-convert-python"
)
