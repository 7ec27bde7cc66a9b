"""`sealift lab run` and `sealift lab replay`: measure, and print what was found."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sealift.cli import copying, options
from sealift.cli.ended import summary
from sealift.cli.experiments import asked_for, has_only, with_region
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab import runner

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
            help="Time for everything, preparing included, as in 90 or 3m: the most wanted "
            "experiments come first, and the rest is left for --resume. "
            "[default: 5m; quick: 60; with --resume: as long as it takes]",
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
            help="Measure what is missing in this run's folder; it says how long that takes.",
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
            parser=options.given("--seed", options.seed),
            metavar="N",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            help="A device's memory that copies may use too, offset and length in bytes; "
            "`sealift lab copy --help` says what is checked.",
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

    Prints where to encrypt, or, for experiments that don't compare devices for that, a line for
    each, and last the path of the page. Ctrl-C ends it with a page of what is complete, and says
    how to measure the rest; so does a budget that is used up. Exit codes: 0 done, or as far as the
    budget reached, 2 wrong usage, 3 nothing could be measured, 4 something was computed wrong, 5
    not everything could be written, 6 a part crashed or raised an error and the others were
    measured, 130 interrupted.
    """
    seconds = None if budget is None else read("--budget", options.seconds, budget)
    given = {
        "--out": out,
        "--threads": threads,
        "--seed": seed,
        "--region": region,
    }
    if resume is not None:
        _refuse_beside_resume(names, quick=quick, given=given)
        folder = read("--resume", options.folder, resume)
        _finish(partial(_resume, folder, seconds), as_json=as_json)
    counts = () if threads is None else read("--threads", options.thread_counts, threads)
    place = None if out is None else read("--out", options.folder, out)
    named = copying.read_region(region, owned=owned)
    with in_sentences():
        asked = asked_for(names or [], quick=quick, threads=counts, has_region=named is not None)
        asked = with_region(asked, named)

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
            threads=counts if any(has_only(groups, counts) for _, groups in asked) else (),
        )
        told(*thin(ask))
        return runner.run(ask, after_task=page)

    _finish(measure, as_json=as_json)


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


def _resume(folder: Path, budget_s: float | None, page: Page) -> "runner.Done":
    from sealift.lab import runner

    return runner.resume(folder, budget_s=budget_s, after_task=page)


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


def _finish(measure: "Callable[[Page], runner.Done]", *, as_json: bool) -> NoReturn:
    """Measures, and prints what was found."""
    with in_sentences():
        done = measure(_page_writer())
        told(*_unkept())
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


def _unkept() -> Iterator[str]:
    """What this user's cache folder would not keep."""
    from sealift.lab.embedding import why_not_kept

    if why := why_not_kept():
        yield why


NO_PAGE = (
    "no page is made, because vl-convert-python isn't installed: "
    "python -m pip install vl-convert-python"
)
