"""`sealift lab run --fleet`: every node of a Ray cluster, and one page of them."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import typer

from sealift.cli.output import columns, echo, eprint
from sealift.exit_code import ExitCode
from sealift_lab.claim.answer import answer
from sealift_lab.cli.show import write_runs_report
from sealift_lab.experiments import registry
from sealift_lab.judge.rows import results
from sealift_lab.measure.write_folder import hold_new
from sealift_lab.model.run import PAGE
from sealift_lab.run import fleet
from sealift_lab.run.read_folder import Run
from sealift_lab.run.session import default_path


def run_fleet(
    address: str, names: Sequence[str], options: Sequence[str], out: Path | None
) -> NoReturn:
    """Measures each node, prints a line for it and the path of the page, and ends the program."""
    if own := [f"{each.file}" for each in registry.select(names) if each.file]:
        raise ValueError(f"--fleet: {own[0]} is not on the nodes; name experiments of the lab")
    path = out or default_path(datetime.now(UTC))
    with hold_new(path):
        with fleet.connect(address) as cluster:
            found = fleet.measure_nodes(cluster, [*names, *options], path, eprint)
        folders = [each.folder for each in found.values() if each.folder]
        absent = {name: each.reason for name, each in found.items() if not each.folder}
        if folders:
            write_runs_report(folders, absent, path / PAGE)
    echo(columns([[name, _text(each)] for name, each in found.items()]))
    if folders:
        echo(f"\n  Page  {path / PAGE}")
    raise typer.Exit(_code({each.code for each in found.values()}))


def _text(result: fleet.NodeResult) -> str:
    if result.folder is None:
        return result.reason
    run = Run(result.folder)
    found = answer(run, results(run))
    return ": ".join(filter(None, (found.advice, found.lead)))


def _code(codes: Collection[int]) -> int:
    """The code that all nodes share, else the gravest, else that a part failed."""
    if len(codes) == 1:
        return next(iter(codes))
    grave = (ExitCode.INTERRUPTED, ExitCode.WRONG_RESULT, ExitCode.NOT_WRITTEN)
    return next((code for code in grave if code in codes), ExitCode.PART_FAILED)
