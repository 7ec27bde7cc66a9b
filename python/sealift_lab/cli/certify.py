"""`sealift lab certify`: how often verdicts are wrong, where the truth is known."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.help import argument, option
from sealift_lab.cli.output import eprint, fail, parsed

if TYPE_CHECKING:
    from sealift_lab.judge.certify import Certificate, ErrorRates


def certify(
    results: Annotated[str, argument("certify", "[RESULTS]")] = "runs",
    live: Annotated[bool, option("certify", "--live")] = False,
    commands: Annotated[list[str] | None, option("certify", "--command", metavar="COMMAND")] = None,
    comparisons: Annotated[str | None, option("certify", "--comparisons", metavar="N")] = None,
    as_json: output.Json = False,
) -> None:
    """Count how often verdicts are wrong, on comparisons whose truth is known.

    Draws comparisons from the A/A pairs of stored runs, for several designs and distances between
    processes; with --live or --command it measures them anew. Exit codes: 0 done, 2 wrong usage, 3
    nothing to draw from or to measure, 4 something was computed wrong, 130 interrupted.
    """
    with output.in_sentences():
        if commands and (live or len(commands) != 2):
            raise ValueError("--command is given twice, and without --live: the two are compared")
        many = parsed("--comparisons", COUNT, comparisons) if comparisons else None
        certificate = _live(many or 24) if live else None
        if certificate:
            rates = certificate.rates
        elif commands:
            rates = _of_commands(commands, many or 20)
        else:
            rates = _replayed(results, many or 400)
    if as_json:
        document: dict[str, object] = asdict(certificate) if certificate else {}
        output.show_json(document | {"rates": [*map(_record, rates)]})
    else:
        typer.echo("\n".join(output.columns([HEAD, *map(_row, rates)])))
        if certificate:
            _show_plants(certificate)


def _replayed(results: str, comparisons: int) -> "Sequence[ErrorRates]":
    from sealift_lab.judge.certify import PAIRS, pools, replay
    from sealift_lab.model.run import SAMPLES
    from sealift_lab.run.folder import Run

    folder = parsed("RESULTS", parse.folder, results)
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

    # Each kind of work needs a comparison at least.
    certificate = measure(measure_trial, [*WORKS][:comparisons], comparisons)
    for work in certificate.wrong_plants:
        eprint(f"{work}: slower code was not slower by 5 %, so nothing is counted of it")
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


def _record(rates: "ErrorRates") -> dict[str, object]:
    """For programs; null for a share of nothing."""
    fields: dict[str, object] = asdict(rates)
    return {name: None if value != value else value for name, value in fields.items()}


def _row(rates: "ErrorRates") -> Sequence[str]:
    shares = (getattr(rates, column) for column in SHARES)
    percent = ("-" if math.isnan(share) else f"{100 * share:.1f}" for share in shares)
    return (rates.what, str(rates.comparisons), *percent, f"{rates.blocks:.0f}")


def _show_plants(certificate: "Certificate") -> None:
    from sealift_lab.model.units import format_estimate

    typer.echo("\nslower code, times as fast: 0.952 is as planted")
    plants = [(work, format_estimate(each)) for work, each in certificate.plants.items()]
    typer.echo("\n".join(output.columns([("work", "times"), *plants])))


HEAD = ("how", "comparisons", "false", "same", "holds", "found", "missed", "blocks")
SHARES = ("false", "same", "covered", "found", "missed")
COUNT = parse.count(1, 100_000, "number of comparisons")
