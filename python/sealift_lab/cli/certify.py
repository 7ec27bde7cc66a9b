"""`sealift lab certify`: how often verdicts are wrong, where the truth is known."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import Annotated, Any

import polars as pl

from sealift.cli.output import columns, echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, option
from sealift_lab.judge.certify import PAIRS, Plant, agreement, certify_commands, pools, replay
from sealift_lab.judge.certify import certify as measure
from sealift_lab.judge.judge import results
from sealift_lab.judge.trial import WORKS, measure_trial
from sealift_lab.model.results import Estimate
from sealift_lab.model.run import SAMPLES
from sealift_lab.model.units import format_duration, format_estimate
from sealift_lab.run.folder import Run

COUNT = parse.count(1, 100_000, "number of comparisons")


def certify(
    results: Annotated[Path, argument("certify", "[RESULTS]", parse.folder)] = Path("runs"),
    again: Annotated[Path | None, argument("certify", "[RUN]", parse.folder)] = None,
    live: Annotated[bool, option("certify", "--live")] = False,
    commands: Annotated[list[str] | None, option("certify", "--command", "COMMAND")] = None,
    comparisons: Annotated[int | None, option("certify", "--comparisons", "N", COUNT)] = None,
    as_json: output.Json = False,
) -> None:
    """Count how often verdicts are wrong, on comparisons whose truth is known.

    Draws comparisons from the A/A pairs of stored runs, for several designs and distances between
    processes; with --live or --command it measures them anew. With two runs of one plan it counts
    verdicts that contradict each other. Exit codes: 0 done, 2 wrong usage, 3 nothing to draw from
    or to measure, 4 something was computed wrong, 130 interrupted.
    """
    plants: Sequence[Plant] = ()
    contradicting: Sequence[dict[str, Any]] = ()
    with output.in_sentences():
        if commands and (live or len(commands) != 2):
            raise ValueError("--command is given twice, and without --live: the two are compared")
        if again and (live or commands):
            raise ValueError("two runs are compared as they are: leave out --live and --command")
        if live:
            rates, plants = _live(comparisons or 24)
        elif commands:
            rates = _of_commands(commands, comparisons or 20)
        elif again:
            rates, contradicting = _of_runs(results, again)
        else:
            rates = _replayed(results, comparisons or 400)
    if as_json:
        document = (
            {"plants": plants} if live else {"contradictions": contradicting} if again else {}
        )
        output.show_json({"agreement" if again else "rates": rates.to_dicts(), **document})
    else:
        rows = [[_text(name, value) for name, value in row.items()] for row in rates.to_dicts()]
        echo("\n".join(columns([[HEADS.get(name, name) for name in rates.columns], *rows])))
        _show_plants(plants)
        _show_contradictions(contradicting)


def _replayed(folder: Path, comparisons: int) -> pl.DataFrame:
    noise = pools(Run(each.parent).samples for each in sorted(folder.rglob(SAMPLES)))
    if not noise:
        fail(
            ExitCode.NOTHING_RAN,
            f"no run in {folder} has a group with {PAIRS} A/A pairs; name a folder with longer "
            "runs, or measure with --live",
        )
    eprint(f"drawn from {sum(map(len, noise)):,} A/A pairs of {len(noise):,} groups")
    return replay(noise, comparisons)


def _live(comparisons: int) -> tuple[pl.DataFrame, Sequence[Plant]]:
    begin_s = time.monotonic()

    def progress(done: int) -> None:
        left_s = (time.monotonic() - begin_s) * (2 * comparisons / done - 1)
        of = f"{done:,} of {2 * comparisons:,} comparisons of equal code, and of slower code"
        eprint(f"{of}; about {format_duration(left_s)} left" if left_s else of)

    rates, plants = measure(measure_trial, [*WORKS], comparisons, progress)
    for plant in plants:
        if plant.is_right is None:
            eprint(f"{plant.work}: too few comparisons to show that slower code is slower by 5 %")
        elif not plant.is_right:
            eprint(f"{plant.work}: slower code was not slower by 5 %, so it is not counted")
    return rates, plants


def _of_commands(commands: Sequence[str], comparisons: int) -> pl.DataFrame:
    one, other = (shlex.split(each) for each in commands)
    if not (one and other):
        raise ValueError("--command '' is no command; write one, as in 'sleep 0.1'")
    try:
        return certify_commands(one, other, comparisons)
    except (CalledProcessError, OSError) as error:
        fail(ExitCode.NOTHING_RAN, f"--command: {error}; give commands that end with 0")


def _of_runs(one: Path, other: Path) -> tuple[pl.DataFrame, Sequence[dict[str, Any]]]:
    found, contradicting = agreement(*(results(output.open_run(each)) for each in (one, other)))
    if found.is_empty():
        fail(ExitCode.NOTHING_RAN, f"{one} and {other} judged no cell in common; take one plan's")
    return found, contradicting.to_dicts()


def _show_contradictions(pairs: Sequence[dict[str, Any]]) -> None:
    for pair in pairs:
        told = [
            f"{pair[f'verdict{of}']} "
            + format_estimate(Estimate(*(pair[f"{name}{of}"] for name in ("value", "low", "high"))))
            for of in ("", "_again")
        ]
        echo(f"\n{pair['experiment']}, {pair['cell']}: {', then '.join(told)}")


def _show_plants(plants: Sequence[Plant]) -> None:
    if plants:
        rows = [(each.work, format_estimate(each.times)) for each in plants]
        echo("\nslower code, times as fast: 0.952 is as planted")
        echo("\n".join(columns([("work", "times"), *rows])))


def _text(column: str, value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if column == "blocks" else f"{100 * value:.1f}"
    return "-" if value is None else str(value)


HEADS = {"what": "how", "covered": "holds"}
