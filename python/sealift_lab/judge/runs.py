"""The same cells measured twice: in two runs, or in two experiments of one run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from sealift_lab.judge.intervals import Difference, Pool
from sealift_lab.judge.judge import RunFiles, compare_rows, groups_of_run
from sealift_lab.judge.reports import by_place, first_wrong
from sealift_lab.judge.verdicts import Comparison, compare, estimate
from sealift_lab.model.results import Estimate, Results, Row, Verdict
from sealift_lab.model.values import Cell, Value

Key = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Change:
    """One cell in two runs.

    Attributes:
        experiment: Name of the experiment.
        cell: The axes with their values, the same in both.
        before: Nanoseconds an operation in the earlier run.
        now: The same in the later one.
        comparison: Of the later run with the earlier one; above 1 it became faster. Two processes
            of each run are the least that has an interval.
    """

    experiment: str
    cell: Cell
    before: Estimate
    now: Estimate
    comparison: Comparison


def changes(before: RunFiles, now: RunFiles) -> tuple[Change, ...]:
    """Compares cells that both runs measured, in the order of the later one.

    Two runs differ in more than the code: neighbours on the machine, its clock, places in memory.
    """
    earlier, later = _times(before), _times(now)
    return tuple(
        Change(
            experiment=key[0],
            cell=cell,
            before=estimate(earlier[key][1]),
            now=estimate(pool),
            comparison=compare(Difference(pool, earlier[key][1], is_paired=False)),
        )
        for key, (cell, pool) in later.items()
        if key in earlier
    )


def disagreements(
    run: RunFiles, results: Mapping[str, Results]
) -> Iterator[tuple[Row, Row, Comparison]]:
    """Rows of equal cells in two experiments that differ: something changed in between.

    Experiments of one's own may give the same axes another meaning, and are left out.
    """
    planned = [each for each in run.plan.experiments if each.file is None]
    for one, other in combinations(planned, 2):
        if one.operation == other.operation:
            rows = {_key(row.cell): row for row in results[other.name].rows if not row.wrong}
            for row in results[one.name].rows:
                beside = None if row.wrong else rows.get(_key(row.cell))
                if beside and (found := compare_rows(run, row, beside)).verdict in DIFFERENT:
                    yield row, beside, found


def _times(run: RunFiles) -> dict[tuple[str, Key], tuple[Cell, Pool]]:
    """The time of every arm that computed nothing wrong, with its cell."""
    planned = {each.name: each for each in run.plan.experiments}
    wrong = {place for place, lines in by_place(run.reports).items() if first_wrong(lines)}
    return {
        (name, _key(cell)): (cell, group.times(arm))
        for (name, number), group in groups_of_run(run).items()
        for arm in group.arms
        for cell in [planned[name].groups[number][arm]]
        if (name, number, arm) not in wrong
    }


def _key(cell: Cell) -> Key:
    # The load follows from threads and cores, and not every experiment has it.
    return tuple(sorted(item for item in cell.items() if item[0] != "load"))


DIFFERENT = (Verdict.FASTER, Verdict.SLOWER)
