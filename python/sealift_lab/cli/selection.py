"""The experiments that a command line names, with the cells that they have here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sealift.exit_code import ExitCode
from sealift_lab.cli import parse
from sealift_lab.cli.output import eprint, fail, parsed

if TYPE_CHECKING:
    from sealift_lab.model.experiment import Experiment, Scope
    from sealift_lab.model.values import Cell

    Groups = Sequence[Sequence[Cell]]


def select(
    names: Sequence[str],
    *,
    quick: bool,
    threads: Sequence[int] = (),
    region: parse.Region | None = None,
) -> "list[tuple[Experiment, Groups]]":
    """The named experiments with their cells; prints which have none.

    Where all are named the most wanted come first: parts of a quick run by weight, then the
    cheapest. A run that has no time for all leaves the last ones out.

    Args:
        names: As `registry.select` takes them; none for all.
        quick: Whether the page should be there within 90 seconds.
        threads: Thread counts; none for those of the experiments.
        region: A device's memory that copies may use.
    """
    from sealift_lab.experiments import registry
    from sealift_lab.experiments.survey import this_scope
    from sealift_lab.run.pace import estimate_s

    scope = this_scope(quick=quick, threads=threads, memories=(REGION,) if region else ())
    is_all = not {*names} - {"all"}
    chosen = []
    for experiment in registry.select(names):
        if groups := _groups(experiment, scope):
            if threads and not all(cell.get("threads") in threads for g in groups for cell in g):
                eprint(f"--threads changes nothing in {experiment.name}: it has its own counts")
            chosen.append((_with_region(experiment, groups, region), groups))
        elif not (quick and _groups(experiment, replace(scope, quick=False))):
            eprint(f"{experiment.name} has no cells for this machine, so it is left out")
        elif not is_all:
            eprint(f"{experiment.name} is no part of a quick run; leave out --quick to measure it")
    if not chosen:
        fail(ExitCode.NOTHING_RAN, "nothing is left to measure; `sealift lab list --try` says why")

    def order(one: "tuple[Experiment, Groups]") -> tuple[bool, float]:
        if _groups(one[0], replace(scope, quick=True)):
            return False, -one[0].weight
        return True, estimate_s(*one)

    return sorted(chosen, key=order) if is_all else chosen


def open_region(text: str | None, *, owned: bool, keeps: bool = False) -> parse.Region | None:
    """Parses PATH:OFFSET:LENGTH and checks that the region is there; touches nothing of it.

    Args:
        text: The option; None where it was not given.
        owned: Whether the confirming flag was given.
        keeps: Whether a region that is read from stays as it is.

    Raises:
        ValueError: If one of the two is missing.
    """
    from sealift_lab.measure.native import check_region

    if text is None:
        if owned:
            raise ValueError("--i-own-this-region confirms a --region; name one")
        return None
    region = parsed("--region", parse.region, text)
    if not owned:
        lost = "copies to it overwrite what it holds" if keeps else "what it holds is overwritten"
        raise ValueError(
            f"--region {text}: {lost}; if nobody else needs that, add --i-own-this-region"
        )
    parsed("--region", lambda each: check_region(*each), region)
    return region


def _groups(experiment: "Experiment", scope: "Scope") -> "Groups":
    try:
        return experiment.groups(scope)
    except Exception as error:
        if experiment.file is None:
            raise
        # Code of the user's own may raise anything.
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{experiment.file}: its cells can't be had: {why}") from error


def _with_region(
    experiment: "Experiment", groups: "Groups", region: parse.Region | None
) -> "Experiment":
    """The experiment; where it uses the region its legend says which that is."""
    if region is None or not any(REGION in cell.values() for cells in groups for cell in cells):
        return experiment
    # Measuring processes may run elsewhere.
    path, offset, length = region
    legend = {REGION: f"{path.resolve()}:{offset}:{length}"}
    return replace(experiment, legend={**experiment.legend, **legend})


# As `Scope.memories` has it.
REGION = "region"
