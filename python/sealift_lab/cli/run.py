"""`sealift lab run` and `sealift lab replay`: measure, and print what was found."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer import Argument, Option

from sealift_lab.cli import output, parse
from sealift_lab.cli.output import parsed

if TYPE_CHECKING:
    from sealift_lab.run.outcome import Done

Measure = Callable[[Callable[[Path], None]], "Done"]
"""Measures, and calls what it gets with the folder meanwhile and at the end."""
Out = Annotated[
    str | None, Option("--out", help="A new folder. [default: runs/ and the time]", metavar="DIR")
]
Region = Annotated[
    str | None,
    Option(
        help="A device's memory that copies use, too; nothing there is kept. `sealift lab copy "
        "--help` says what is checked.",
        metavar="PATH:OFFSET:LENGTH",
    ),
]
Owned = Annotated[
    bool, Option("--i-own-this-region", help="Nobody else needs what the region holds.")
]
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
        Argument(
            help="Names (aes-gcm-by-size), ids (003-F5), documents (003), patterns (aes-*), files "
            "of your own (./mine.py), or all. [default: all]",
            metavar="NAME",
        ),
    ] = None,
    quick: Annotated[
        bool,
        Option(
            "--quick",
            help="The page within 90 seconds: fewer cells, and one process an experiment where "
            "others have eight. Two such runs can't be compared with each other.",
        ),
    ] = False,
    budget: Annotated[
        str | None,
        Option(
            help="Time for everything, as in 90 or 3m; the most wanted comes first, and the rest "
            "is left for --resume. [default: 5m; quick: 60; with --resume: as long as it takes]",
            metavar="TIME",
        ),
    ] = None,
    out: Out = None,
    resume: Annotated[
        str | None, Option(help="Measure what is missing in this run's folder.", metavar="DIR")
    ] = None,
    threads: Annotated[
        str | None, Option(help="As in 1,2. [default: those of each experiment]", metavar="LIST")
    ] = None,
    seed: Annotated[
        str | None, Option(help="Same seed, same messages and order. [default: 1]", metavar="N")
    ] = None,
    region: Region = None,
    owned: Owned = False,
    as_json: output.Json = False,
) -> None:
    """Measure experiments into a folder, and write the page of what was found.

    Prints the answer with one figure and on what it stands, and last the path of the page. Ctrl-C
    ends it with a page of what is complete, and says how to measure the rest; so does a budget that
    is used up. Exit codes: 0 done, or as far as the budget reached, 2 wrong usage, 3 nothing could
    be measured, 4 something was computed wrong, 5 not everything could be written, 6 a part crashed
    or raised an error and the others were measured, 130 interrupted.
    """
    with output.in_sentences():
        from sealift_lab.cli import selection
        from sealift_lab.run import start
        from sealift_lab.run.planner import Request

        budget_s = None if budget is None else parsed("--budget", parse.seconds, budget)
        if resume is not None:
            options = {"--out": out, "--threads": threads, "--seed": seed, "--region": region}
            given = [name for name, value in options.items() if value is not None]
            if words := [*(names or ()), *(["--quick"] if quick else []), *given]:
                raise ValueError(
                    f"--resume goes on with the plan in its folder; leave out {', '.join(words)}"
                )
            folder = parsed("--resume", parse.folder, resume)
            _finish(lambda page: start.resume(folder, budget_s=budget_s, after_task=page), as_json)
        counts = () if threads is None else parsed("--threads", parse.thread_counts, threads)
        memory = selection.open_region(region, owned=owned)
        request = Request(
            selection.select(names or [], quick=quick, threads=counts, region=memory),
            command=("sealift", *sys.argv[1:]),
            out=None if out is None else parsed("--out", parse.folder, out),
            budget_s=budget_s,
            seed=1 if seed is None else parsed("--seed", parse.seed, seed),
            quick=quick,
            threads=counts,
        )
        _finish(lambda page: start.run(request, after_task=page), as_json)


def replay(
    source: Annotated[str, Argument(help="A run's folder, or its plan.json.", metavar="RUN")],
    out: Out = None,
    as_json: output.Json = False,
) -> None:
    """Do a run again: the same plan and seed, into a new folder.

    Experiment files of one's own that the plan names are executed as they stand now.
    """
    with output.in_sentences():
        from sealift_lab.run import start

        before = parsed("RUN", parse.folder, source)
        place = None if out is None else parsed("--out", parse.folder, out)
        command = ("sealift", *sys.argv[1:])
        _finish(lambda page: start.replay(before, place, command=command, after_task=page), as_json)


def _finish(measure: Measure, as_json: bool) -> NoReturn:
    """Measures, writes page and summary meanwhile, and prints what was found."""
    from sealift_lab.cli.report import write_report
    from sealift_lab.cli.show import print_answer

    done = measure(write_report)
    if as_json:
        output.show_json(_document(done))
    else:
        print_answer(done.path)
    raise typer.Exit(done.code)


def _document(done: "Done") -> dict[str, object]:
    """The run for programs: how it ended, the answer, every claim, every row."""
    from dataclasses import asdict

    from sealift_lab.claim.answer import answer, claims
    from sealift_lab.judge.judge import results
    from sealift_lab.model.run import PAGE
    from sealift_lab.run.folder import Run
    from sealift_lab.show.export import rows_frame

    run, page = Run(done.path), done.path / PAGE
    found = results(run)
    return {
        "schema": "sealift-lab-run/3",
        "run": str(done.path),
        "page": str(page) if page.exists() else None,
        "ending": asdict(done.ending),
        "code": int(done.code),
        "answer": asdict(answer(run, found)),
        "claims": [asdict(each) for each in claims(run, found)],
        "rows": rows_frame(run.plan, found).to_dicts(),
    }
