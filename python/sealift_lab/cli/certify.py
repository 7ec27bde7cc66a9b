"""`sealift lab certify`: how often verdicts are wrong, where the truth is known."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sealift.cli.output import columns, echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, option

if TYPE_CHECKING:
    from sealift_lab.judge.certify import Agreement, Certificate, ErrorRates

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
    certificate, agreements = None, None
    rates: Sequence[ErrorRates] = ()
    with output.in_sentences():
        if commands and (live or len(commands) != 2):
            raise ValueError("--command is given twice, and without --live: the two are compared")
        if again and (live or commands):
            raise ValueError("two runs are compared as they are: leave out --live and --command")
        if live:
            certificate = _live(comparisons or 24)
            rates = certificate.rates
        elif commands:
            rates = _of_commands(commands, comparisons or 20)
        elif again:
            agreements = _of_runs(results, again)
        else:
            rates = _replayed(results, comparisons or 400)
    if as_json:
        output.show_json(certificate or {"agreement" if again else "rates": agreements or rates})
    elif agreements:
        _show_agreements(agreements)
    else:
        shares = [[getattr(each, name) for name in SHARES] for each in rates]
        rows = [
            (each.what, str(each.comparisons), *map(_percent, of), f"{each.blocks:.0f}")
            for each, of in zip(rates, shares, strict=True)
        ]
        echo("\n".join(columns([HEAD, *rows])))
        if certificate:
            _show_plants(certificate)


def _replayed(folder: Path, comparisons: int) -> "Sequence[ErrorRates]":
    from sealift_lab.judge.certify import PAIRS, pools, replay
    from sealift_lab.model.run import SAMPLES
    from sealift_lab.run.folder import Run

    noise = pools(Run(each.parent).samples for each in sorted(folder.rglob(SAMPLES)))
    if not noise:
        fail(
            ExitCode.NOTHING_RAN,
            f"no run in {folder} has a group with {PAIRS} A/A pairs; name a folder with longer "
            "runs, or measure with --live",
        )
    eprint(f"drawn from {sum(map(len, noise)):,} A/A pairs of {len(noise):,} groups")
    return list(replay(noise, comparisons))


def _live(comparisons: int) -> "Certificate":
    from sealift_lab.judge.certify import certify as measure
    from sealift_lab.judge.trial import WORKS, measure_trial
    from sealift_lab.model.units import format_duration

    begin_s = time.monotonic()

    def progress(done: int) -> None:
        left_s = (time.monotonic() - begin_s) * (2 * comparisons / done - 1)
        of = f"{done:,} of {2 * comparisons:,} comparisons of equal code, and of slower code"
        eprint(f"{of}; about {format_duration(left_s)} left" if left_s else of)

    certificate = measure(measure_trial, [*WORKS], comparisons, progress)
    for plant in certificate.plants:
        if plant.is_right is None:
            eprint(f"{plant.work}: too few comparisons to show that slower code is slower by 5 %")
        elif not plant.is_right:
            eprint(f"{plant.work}: slower code was not slower by 5 %, so it is not counted")
    return certificate


def _of_commands(commands: Sequence[str], comparisons: int) -> "Sequence[ErrorRates]":
    from subprocess import CalledProcessError

    from sealift_lab.judge.certify import certify_commands

    one, other = (shlex.split(each) for each in commands)
    if not (one and other):
        raise ValueError("--command '' is no command; write one, as in 'sleep 0.1'")
    try:
        return certify_commands(one, other, comparisons)
    except (CalledProcessError, OSError) as error:
        fail(ExitCode.NOTHING_RAN, f"--command: {error}; give commands that end with 0")


def _of_runs(one: Path, other: Path) -> "Sequence[Agreement]":
    from sealift_lab.judge.certify import agreement
    from sealift_lab.judge.judge import results

    found = list(agreement(*(results(output.open_run(each)) for each in (one, other))))
    if not found:
        fail(ExitCode.NOTHING_RAN, f"{one} and {other} judged no cell in common; take one plan's")
    return found


def _show_agreements(agreements: "Sequence[Agreement]") -> None:
    from sealift_lab.model.units import format_estimate

    rows = [
        (
            each.experiment,
            str(each.rows),
            *map(_percent, (each.same, each.open)),
            str(len(each.contradictions)),
            *map(_percent, (each.covered, each.overlapping)),
        )
        for each in agreements
    ]
    echo("\n".join(columns([AGREEMENT_HEAD, *rows])))
    for one, other in (pair for each in agreements for pair in each.contradictions):
        cell = ", ".join(f"{name}={value}" for name, value in one.cell.items())
        told = (f"{row.verdict} {format_estimate(row.ratio)}" for row in (one, other) if row.ratio)
        echo(f"\n{one.experiment}, {cell}: {', then '.join(told)}")


def _show_plants(certificate: "Certificate") -> None:
    from sealift_lab.model.units import format_estimate

    plants = [(each.work, format_estimate(each.times)) for each in certificate.plants]
    echo("\nslower code, times as fast: 0.952 is as planted")
    echo("\n".join(columns([("work", "times"), *plants])))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


HEAD = ("how", "comparisons", "false", "same", "holds", "found", "missed", "blocks")
SHARES = ("false", "same", "covered", "found", "missed")
AGREEMENT_HEAD = ("experiment", "rows", "same", "open", "contradict", "holds", "overlap")
