"""`sealift lab run` and `sealift lab replay`: measure, and print what was found."""

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import RenderableType
from rich.text import Text

from sealift.cli.output import eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.claim.answer import answer, claims
from sealift_lab.claim.declared import left_out, published
from sealift_lab.cli import output, parse
from sealift_lab.cli.fleet import run_fleet
from sealift_lab.cli.parse import argument, option
from sealift_lab.cli.show import write_report
from sealift_lab.experiments import registry
from sealift_lab.experiments.survey import this_scope
from sealift_lab.judge.rows import results
from sealift_lab.measure.plan import make_plan
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.run import PAGE
from sealift_lab.run import session
from sealift_lab.run.progress import show_progress
from sealift_lab.run.read_folder import Run
from sealift_lab.run.schedule import estimate_s
from sealift_lab.show.export import rows_frame
from sealift_lab.show.live import show_live
from sealift_lab.show.terminal import published_text

Groups = Sequence[Sequence[Cell]]

Measure = Callable[[Callable[[Path], None]], session.Done]
"""Measures, and calls what it gets with the folder meanwhile and at the end."""
Out = Annotated[Path | None, option("run", "--out", "FOLDER", parse.folder)]
REGION = "PATH:OFFSET:LENGTH"


def run(
    names: Annotated[list[str] | None, argument("run", "NAME")] = None,
    quick: Annotated[bool, option("run", "--quick")] = False,
    budget_s: Annotated[float | None, option("run", "--budget", "TIME", parse.seconds)] = None,
    out: Out = None,
    resume: Annotated[Path | None, option("run", "--resume", "FOLDER", parse.folder)] = None,
    threads: Annotated[Any, option("run", "--threads", "LIST", parse.thread_counts)] = (),
    seed: Annotated[int, option("run", "--seed", "N", parse.seed)] = 1,
    region: Annotated[parse.Region | None, option("run", "--region", REGION, parse.region)] = None,
    owned: Annotated[bool, option("run", "--i-own-this-region")] = False,
    fleet: Annotated[str | None, option("run", "--fleet", "ADDRESS", parse.address)] = None,
    is_live: Annotated[bool, option("run", "--live")] = False,
    as_json: output.Json = False,
) -> None:
    """Measure experiments into a folder, and write the page of what was found.

    Prints the answer, one figure and what it stands on, and the path of the page. Ctrl-C ends it
    with a page of what is complete, and says how to measure the rest; so does a budget that is used
    up. With --fleet every node of a Ray cluster measures, and one page has a column for each. Exit
    codes: 0 done, or as far as the budget reached, 2 wrong usage, 3 nothing could
    be measured, or only devices that are for tests, 4 something was computed wrong, 5 not
    everything could be written, 6 a part crashed or raised an error and the others were measured,
    130 interrupted.
    """
    if fleet is not None:
        other = {"--resume": resume, "--region": region, "--live": is_live, "--json": as_json}
        if given := [name for name, value in other.items() if value]:
            raise ValueError(f"--fleet measures on other machines; leave out {', '.join(given)}")
        words = [*(["--quick"] if quick else []), "--seed", f"{seed}"]
        words += ["--threads", ",".join(map(str, threads))] if threads else []
        words += ["--budget", f"{budget_s:g}"] if budget_s else []
        run_fleet(fleet, names or [], words, out)
    progress = show_live if is_live else show_progress
    if resume is not None:
        options = {"--quick": quick, "--out": out, "--threads": threads, "--region": region}
        options["--seed"] = seed != 1
        if given := [*(names or ()), *(name for name, value in options.items() if value)]:
            what = ", ".join(given)
            raise ValueError(f"--resume goes on with the plan in its folder; leave out {what}")
        output.open_run(resume)
        how = partial(session.resume, resume, budget_s=budget_s, progress=progress)
        _finish(lambda page: how(after_task=page), as_json)
    parse.check_region(region, owned=owned)
    chosen = _select(names or [], quick=quick, threads=threads, region=region)
    plan = make_plan(
        chosen,
        command=("sealift", *sys.argv[1:]),
        budget_s=budget_s,
        seed=seed,
        quick=quick,
        threads=threads,
        of_all=_is_all(names or []),
    )
    _finish(lambda page: session.run(plan, out, after_task=page, progress=progress), as_json)


def replay(
    source: Annotated[Path, argument("replay", "RUN", parse.folder)],
    out: Out = None,
    as_json: output.Json = False,
) -> None:
    """Do a run again: the same plan and seed, into a new folder.

    Experiment files of one's own that the plan names are executed as they stand now.
    """
    command = ("sealift", *sys.argv[1:])
    _finish(lambda page: session.replay(source, out, command=command, after_task=page), as_json)


def _finish(measure: Measure, as_json: bool) -> NoReturn:
    """Measures, writes page and summary meanwhile, prints what was found, and ends the program."""

    @cache
    def own(file: str) -> Experiment | None:
        # One that can't be loaded now was not measured either, and its page can do without.
        with suppress(ValueError):
            return registry.load(Path(file))
        return None

    def write(folder: Path) -> None:
        files = [each.file for each in Run(folder).plan.experiments if each.file]
        write_report(folder, [*filter(None, map(own, files))])

    done = measure(write)
    run, page = Run(done.path), done.path / PAGE
    found = results(run)
    if as_json:
        output.show_json(
            {
                "schema": "sealift-lab-run/3",
                "run": str(done.path),
                "page": str(page) if page.exists() else None,
                "ending": done.ending,
                "code": int(done.code),
                "answer": answer(run, found),
                "claims": claims(run, found),
                "rows": rows_frame(run.plan, found).to_dicts(),
            }
        )
    else:
        where = ("Page", str(page)) if page.exists() else ("Run", str(done.path))
        links = [where, ("All rows", f"sealift lab show {shlex.quote(str(done.path))} --rows")]
        parts: list[RenderableType] = []
        if run.plan.of_all:
            pairs, _ = published(run, found)
            parts = [Text(), published_text([*pairs, *left_out(run)])]
        output.show_answer(answer(run, found), links, *parts)
    raise typer.Exit(done.code)


def _select(
    names: Sequence[str], *, quick: bool, threads: Sequence[int], region: parse.Region | None
) -> list[tuple[Experiment, Groups]]:
    """The named experiments with their cells; prints which have none.

    A run that has no time for all leaves the last ones out, so what is computed, which takes
    seconds, comes first. Where all are named the most wanted come before it: of the parts of a
    quick run those of the highest weight; behind it the rest by weight, and then the cheapest.
    """
    scope = this_scope(quick=quick, threads=threads, memories=(MEMORY,) if region else ())
    is_all = _is_all(names)
    chosen, why = [], "`sealift lab list --try` says why"
    for experiment in registry.select(names):
        if groups := _groups(experiment, scope):
            if threads and not all(cell.get("threads") in threads for g in groups for cell in g):
                eprint(f"--threads changes nothing in {experiment.name}: it has its own counts")
            if region and any(MEMORY in cell.values() for cells in groups for cell in cells):
                # Measuring processes may run elsewhere.
                name = f"{region.path.resolve()}:{region.offset}:{region.length}"
                experiment = replace(experiment, legend={**experiment.legend, MEMORY: name})
            chosen.append((experiment, groups))
        elif is_all:
            continue
        elif quick and _groups(experiment, replace(scope, quick=False)):
            why = "leave out --quick"
            eprint(f"{experiment.name} is no part of a quick run; {why} to measure it")
        else:
            eprint(f"{experiment.name} has no cells for this machine, so it is left out")
    if not chosen:
        fail(ExitCode.NOTHING_RAN, f"nothing is left to measure; {why}")

    top = max(experiment.weight for experiment, _ in chosen)

    def order(one: tuple[Experiment, Groups]) -> tuple[int, float]:
        experiment, groups = one
        place = 2 if experiment.origin is Origin.MEASURED else 1
        if not is_all:
            return place, 0
        if not _groups(experiment, replace(scope, quick=True)):
            return 3, estimate_s(experiment, groups)
        return 0 if experiment.weight == top else place, -experiment.weight

    return sorted(chosen, key=order)


def _is_all(names: Sequence[str]) -> bool:
    return not {*names} - {"all"}


def _groups(experiment: Experiment, scope: Scope) -> Groups:
    try:
        return experiment.groups(scope)
    except Exception as error:
        if experiment.file is None:
            raise
        # Code of the user's own may raise anything.
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{experiment.file}: its cells can't be had: {why}") from error


# As `Scope.memories` has it.
MEMORY = "region"
