"""`sealift lab certify`: how often verdicts are wrong, where the truth is known."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import Annotated, Any

from sealift.cli.output import columns, echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, option
from sealift_lab.judge.certify import PAIRS, Plant, agreement, certify_commands, pools, resample
from sealift_lab.judge.certify import certify as measure
from sealift_lab.judge.rows import results
from sealift_lab.judge.trial import WORKS, measure_trial
from sealift_lab.model.results import Estimate
from sealift_lab.model.run import SAMPLES
from sealift_lab.model.units import format_duration, format_estimate
from sealift_lab.run.read_folder import Run

Document = dict[str, Sequence[Any]]
"""The JSON: tables by name, each a sequence of rows."""
COMPARISONS = parse.count(1, 100_000, "number of comparisons")


def certify(
    results: Annotated[Path, argument("certify", "[RESULTS]", parse.folder)] = Path("runs"),
    again: Annotated[Path | None, argument("certify", "[RUN]", parse.folder)] = None,
    live: Annotated[bool, option("certify", "--live")] = False,
    commands: Annotated[list[str] | None, option("certify", "--command", "COMMAND")] = None,
    comparisons: Annotated[int | None, option("certify", "--comparisons", "N", COMPARISONS)] = None,
    as_json: output.Json = False,
) -> None:
    """Count how often verdicts are wrong, on comparisons whose truth is known.

    Draws comparisons from the A/A pairs of stored runs, for several designs and distances between
    processes; with --live or --command it measures them anew. With two runs of one plan it counts
    verdicts that contradict each other. Exit codes: 0 done, 2 wrong usage, 3 nothing to draw from
    or to measure, 4 something was computed wrong, 130 interrupted.
    """
    if commands and (live or len(commands) != 2):
        raise ValueError("--command is given twice, and without --live: the two are compared")
    if again and (live or commands):
        raise ValueError("two runs are compared as they are: leave out --live and --command")
    if live:
        document = _live(comparisons or 24)
    elif commands:
        document = _of_commands(commands, comparisons or 20)
    elif again:
        document = _of_runs(results, again)
    else:
        document = _resampled(results, comparisons or 400)
    if as_json:
        output.show_json(document)
    else:
        tables = [[_texts(row) for row in rows] for rows in document.values() if rows]
        echo("\n\n".join(columns([[*rows[0]], *([*r.values()] for r in rows)]) for rows in tables))


def _texts(row: Any) -> dict[str, str]:
    """A row of a table for people: its cells by their titles."""
    if isinstance(row, Plant):
        times = format_estimate(row.times)
        return {"slower code": row.work, "times as fast: 0.952 is as planted": times}
    if "verdict_again" in row:
        verdicts = {
            f"verdict{of}": f"{row[f'verdict{of}']} "
            + format_estimate(Estimate(*(row[f"{name}{of}"] for name in ("value", "low", "high"))))
            for of in ("", "_again")
        }
        return {"experiment": row["experiment"], "contradicting cell": row["cell"], **verdicts}
    return {HEADS.get(name, name): _text(name, value) for name, value in row.items()}


def _resampled(folder: Path, comparisons: int) -> Document:
    noise = pools(Run(each.parent).samples for each in sorted(folder.rglob(SAMPLES)))
    if not noise:
        fail(
            ExitCode.NOTHING_RAN,
            f"no run in {folder} has a group with {PAIRS} A/A pairs; name a folder with longer "
            "runs, or measure with --live",
        )
    eprint(f"drawn from {sum(map(len, noise)):,} A/A pairs of {len(noise):,} groups")
    return {"rates": resample(noise, comparisons).to_dicts()}


def _live(comparisons: int) -> Document:
    begin, total = time.monotonic(), 2 * comparisons

    def progress(done: int) -> None:
        left = format_duration((time.monotonic() - begin) / done * (total - done))
        eprint(f"{done:,} of {total:,} comparisons of equal code, and of slower code; {left} left")

    rates, plants = measure(measure_trial, [*WORKS], comparisons, progress)
    for plant in plants:
        if not plant.is_right:
            why = "too few comparisons" if plant.is_right is None else "not counted"
            eprint(f"{plant.work}: slower code was not shown to be slower by 5 %: {why}")
    return {"rates": rates.to_dicts(), "plants": plants}


def _of_commands(commands: Sequence[str], comparisons: int) -> Document:
    one, other = (shlex.split(each) for each in commands)
    if not (one and other):
        raise ValueError("--command '' is no command; write one, as in 'sleep 0.1'")
    try:
        return {"rates": certify_commands(one, other, comparisons).to_dicts()}
    except (CalledProcessError, OSError) as error:
        fail(ExitCode.NOTHING_RAN, f"--command: {error}; give commands that end with 0")


def _of_runs(one: Path, other: Path) -> Document:
    found, contradicting = agreement(*(results(output.open_run(each)) for each in (one, other)))
    if found.is_empty():
        fail(ExitCode.NOTHING_RAN, f"{one} and {other} judged no cell in common; take one plan's")
    return {"agreement": found.to_dicts(), "contradictions": contradicting.to_dicts()}


def _text(column: str, value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if column == "blocks" else f"{100 * value:.1f}"
    return "-" if value is None else str(value)


HEADS = {"what": "how", "covered": "holds"}
