"""Which experiments are asked for on the command line, with the cells that they have here."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sealift.cli.said import fail, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.spec import Experiment, Scope
    from sealift.lab.values import Cell


def asked_for(
    names: Sequence[str], *, quick: bool, threads: Sequence[int], has_region: bool
) -> "list[tuple[Experiment, Sequence[Sequence[Cell]]]]":
    """The experiments with the cells that they have here; says which have none.

    Where all are asked for, the most wanted come first: a run that has no time for all leaves the
    last ones out.
    """
    from sealift.lab import registry
    from sealift.lab.copying import REGION
    from sealift.lab.survey import this_scope

    memories = (REGION,) if has_region else ()
    scope = this_scope(quick=quick, threads=threads, memories=memories)
    asked = []
    for experiment in registry.select(names):
        if groups := _groups(experiment, scope):
            if threads and not has_only(groups, threads):
                told(f"--threads changes nothing in {experiment.name}, which has counts of its own")
            asked.append((experiment, groups))
        elif not (quick and _groups(experiment, replace(scope, quick=False))):
            told(f"{experiment.name} has no cells for what is here, so it is left out")
        elif {*names} - {"all"}:
            told(f"{experiment.name} is no part of a quick run; leave out --quick to measure it")
    if not asked:
        fail(ExitCode.NOTHING_RAN, "nothing is left to measure; `sealift lab list --try` says why")
    return asked if {*names} - {"all"} else sorted(asked, key=_want(scope))


def _want(
    scope: "Scope",
) -> "Callable[[tuple[Experiment, Sequence[Sequence[Cell]]]], tuple[bool, float]]":
    """A sorting key: what quick runs have, by weight; then figures of documents, cheap ones first.

    So as many of these as possible are whole.
    """
    from sealift.lab.runner.planning import enough_s

    def key(one: "tuple[Experiment, Sequence[Sequence[Cell]]]") -> tuple[bool, float]:
        experiment, groups = one
        if _groups(experiment, replace(scope, quick=True)):
            return False, -experiment.weight
        return True, enough_s(experiment, groups)

    return key


def with_region(
    asked: "Sequence[tuple[Experiment, Sequence[Sequence[Cell]]]]",
    named: "tuple[Path, int, int] | None",
) -> "list[tuple[Experiment, Sequence[Sequence[Cell]]]]":
    """The same experiments; the legend of those that use the region says which it is."""
    from sealift.lab.copying import REGION

    if named is None:
        return list(asked)
    # Processes may run elsewhere.
    path, offset, length = named
    legend = {REGION: f"{path.resolve()}:{offset}:{length}"}
    return [
        (replace(each, legend={**each.legend, **legend}) if _uses(groups, REGION) else each, groups)
        for each, groups in asked
    ]


def _uses(groups: "Sequence[Sequence[Cell]]", value: str) -> bool:
    return any(value in cell.values() for cells in groups for cell in cells)


def has_only(groups: "Sequence[Sequence[Cell]]", threads: Sequence[int]) -> bool:
    """Whether all cells have these thread counts."""
    return all(cell.get("threads") in threads for cells in groups for cell in cells)


def _groups(experiment: "Experiment", scope: "Scope") -> "Sequence[Sequence[Cell]]":
    try:
        return experiment.groups(scope)
    except Exception as error:
        if experiment.file is None:
            raise
        # Code of the user's own may raise anything.
        raise ValueError(
            f"{experiment.file}: its cells can't be had: {type(error).__name__}: {error}"
        ) from error
