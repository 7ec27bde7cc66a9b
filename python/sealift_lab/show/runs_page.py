"""Several runs as one page: a column for each run, with its ratio to the first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sealift_lab.claim.answer import answer, machine_text
from sealift_lab.claim.declared import plans
from sealift_lab.claim.words import axis_title, estimate_text, tick_text, varied_axes
from sealift_lab.judge.rows import Change, cell_key, changes, results
from sealift_lab.model.results import Row
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_measure, rate_unit
from sealift_lab.run.read_folder import Run
from sealift_lab.show.page import ENVIRONMENT, fact_text
from sealift_lab.show.tables import Table

Key = tuple[str, object]
"""An experiment and a cell of it, as `cell_key`."""


def runs_page(runs: Mapping[str, Run], absent: Mapping[str, str]) -> str:
    """The page of runs, as HTML; verdicts are those of the judge against the first run.

    What is computed is the same on every machine, and is left out.

    Args:
        runs: At least one, by the titles of their columns.
        absent: Titles of columns without a run, and why there is none.
    """
    rows = {name: _rows(run) for name, run in runs.items()}
    first, *others = runs
    beside = {name: {_key(e): e for e in changes(runs[first], runs[name])} for name in others}
    names = [*runs, *absent]
    experiments = [
        (planned.title or planned.name, _experiment_table(planned, names, rows, beside))
        for planned in _merged(chain.from_iterable(map(plans, runs.values())))
        if any(name == planned.name for of in rows.values() for name, _ in of)
    ]
    return ENVIRONMENT.get_template(TEMPLATE).render(
        names=names,
        summary=_by_run({name: _summary(run) for name, run in runs.items()}, absent),
        machines=_by_run({name: _facts(run) for name, run in runs.items()}, absent),
        experiments=experiments,
    )


def _rows(run: Run) -> dict[Key, Row]:
    return {
        (row.experiment, cell_key(row.cell)): row
        for found in results(run).values()
        for row in found.rows
    }


def _key(change: Change) -> Key:
    return change.experiment, cell_key(change.cell)


def _merged(planned: Iterable[PlannedExperiment]) -> list[PlannedExperiment]:
    """Each experiment once, with the groups of all runs: machines have other devices and cores."""
    every: dict[str, PlannedExperiment] = {}
    for each in planned:
        before = every.get(each.name, replace(each, groups=()))
        every[each.name] = replace(before, groups=[*before.groups, *each.groups])
    return [*every.values()]


def _experiment_table(
    planned: PlannedExperiment,
    names: Sequence[str],
    rows: Mapping[str, Mapping[Key, Row]],
    beside: Mapping[str, Mapping[Key, Change]],
) -> Table:
    """A line for each cell that a run measured: rates, and times as fast as the first run."""
    axes = varied_axes(planned) or [planned.compare]
    cells = {(planned.name, cell_key(c)): c for group in planned.groups for c in group}
    shown = {key: cell for key, cell in cells.items() if any(key in of for of in rows.values())}
    has_payload = any(
        row.payload_bytes for of in rows.values() for row in map(of.get, shown) if row
    )
    unit = "MB/s" if has_payload else rate_unit(planned.operation)
    first = next(iter(rows))
    columns = [axis_title(planned, axis) for axis in axes]
    for name in names:
        columns += [f"{name}, {unit}", *([f"times {first}"] if name in beside else [])]
    lines = []
    for key, cell in shown.items():
        line = [tick_text(axis, cell[axis], planned.names) for axis in axes]
        for name in names:
            line.append(_rate_text(rows.get(name, {}).get(key)))
            line += [_ratio_text(beside[name].get(key))] if name in beside else []
        lines.append(line)
    return Table(columns, lines, range(len(axes), len(columns)))


def _rate_text(row: Row | None) -> str:
    if row is None:
        return "–"
    if row.wrong:
        return "wrong result"
    return format_measure((row.payload_mb_per_s or row.operations_per_s).value)


def _ratio_text(change: Change | None) -> str:
    if change is None:
        return "–"
    return f"{estimate_text(change.comparison.ratio)}, {change.comparison.verdict}"


def _summary(run: Run) -> Mapping[str, str]:
    found = answer(run, results(run))
    ending = run.ending.ending if run.ending else "has no ending: killed, or still running"
    return {
        "answer": ": ".join(filter(None, (found.advice, found.lead))),
        "machine": machine_text(run.machine),
        "measured": f"{run.plan.created}, Sealift {run.plan.version}",
        "ending": ending,
    }


def _facts(run: Run) -> Mapping[str, str]:
    return {name: fact_text(fact) for name, fact in run.machine.facts.items()}


def _by_run(values: Mapping[str, Mapping[str, str]], absent: Mapping[str, str]) -> Table:
    """A line for each name that a run has a value of; why there is no run in the first line."""
    names = dict.fromkeys(name for of in values.values() for name in of)
    missing = [[f"no run: {why}", *[""] * (len(names) - 1)] for why in absent.values()]
    columns = [[of.get(name, "–") for name in names] for of in values.values()]
    return Table(
        ["", *values, *absent],
        [list(line) for line in zip(names, *columns, *missing, strict=True)],
    )


TEMPLATE = "runs.html.j2"
