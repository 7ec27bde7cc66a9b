"""`sealift lab run` and `sealift lab replay`: measure, and print what was found."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sealift_lab.cli import output, parse
from sealift_lab.cli.help import argument, option
from sealift_lab.cli.output import parsed

if TYPE_CHECKING:
    from sealift_lab.model.experiment import Experiment
    from sealift_lab.run.outcome import Done

Measure = Callable[[Callable[[Path], None]], "Done"]
"""Measures, and calls what it gets with the folder meanwhile and at the end."""
Out = Annotated[str | None, option("run", "--out", metavar="FOLDER")]
REGION = "PATH:OFFSET:LENGTH"


def run(
    names: Annotated[list[str] | None, argument("run", "NAME")] = None,
    quick: Annotated[bool, option("run", "--quick")] = False,
    budget: Annotated[str | None, option("run", "--budget", metavar="TIME")] = None,
    out: Out = None,
    resume: Annotated[str | None, option("run", "--resume", metavar="FOLDER")] = None,
    threads: Annotated[str | None, option("run", "--threads", metavar="LIST")] = None,
    seed: Annotated[str | None, option("run", "--seed", metavar="N")] = None,
    region: Annotated[str | None, option("run", "--region", metavar=REGION)] = None,
    owned: Annotated[bool, option("run", "--i-own-this-region")] = False,
    as_json: output.Json = False,
) -> None:
    """Measure experiments into a folder, and write the page of what was found.

    Prints the answer, one figure and what it stands on, and the path of the page. Ctrl-C ends it
    with a page of what is complete, and says how to measure the rest; so does a budget that is used
    up. Exit codes: 0 done, or as far as the budget reached, 2 wrong usage, 3 nothing could
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
        chosen = selection.select(names or [], quick=quick, threads=counts, region=memory)
        request = Request(
            chosen,
            command=("sealift", *sys.argv[1:]),
            out=None if out is None else parsed("--out", parse.folder, out),
            budget_s=budget_s,
            seed=1 if seed is None else parsed("--seed", parse.seed, seed),
            quick=quick,
            threads=counts,
        )
        own = [experiment for experiment, _ in chosen if experiment.file]
        _finish(lambda page: start.run(request, after_task=page), as_json, own)


def replay(
    source: Annotated[str, argument("replay", "RUN")],
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


def _finish(measure: Measure, as_json: bool, own: "Sequence[Experiment]" = ()) -> NoReturn:
    """Measures, writes page and summary meanwhile, and prints what was found."""
    from sealift_lab.cli.report import write_report
    from sealift_lab.cli.show import print_answer

    done = measure(lambda folder: write_report(folder, own))
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
