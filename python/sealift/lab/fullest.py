"""One's own messages in a run that `sealift advise` kept: which they are, and in full batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab.recall import of_the_lab
from sealift.lab.result import Found, Row
from sealift.lab.store import Run
from sealift.lab.values import Cell, Value


@dataclass(frozen=True)
class Fullest:
    """One's own messages in the fullest batches that were measured, and other sizes beside them.

    Attributes:
        work: The cell of one's own messages, in such batches.
        found: What was found of these and of the other sizes, each in its fullest batches.
    """

    work: Cell
    found: Found


def fullest(run: Run, found: Mapping[str, Found]) -> Fullest | None:
    """What a page or a headline about one's own messages stands on.

    Args:
        run: A run folder.
        found: From `summarise(run)`.

    Returns:
        None for a run on other work, and where nothing was measured of one's own messages.
    """
    own = own_cell(run, found)
    if own is None:
        return None
    every = found[BY_SIZE].rows
    batches: dict[Value, int] = {}
    for row in every:
        size, batch = row.cell["size_bytes"], int(row.cell["batch"])
        batches[size] = max(batch, batches.get(size, 0))
    rows = [row for row in every if row.cell["batch"] == batches[row.cell["size_bytes"]]]
    work = {**own, "batch": batches.get(own["size_bytes"], 0)}
    if not any(alike(row.cell, work, tuple(work)) for row in rows):
        return None
    return Fullest(work, replace(found[BY_SIZE], rows=_own_first(rows, own)))


def own_cell(run: Run, found: Mapping[str, Found]) -> dict[str, Value] | None:
    """The messages that the plan begins with, if it has them one by one and in batches, too.

    Args:
        run: A run folder.
        found: From `summarise(run)`.
    """
    # A folder may hold an experiment of this name with other axes.
    if BY_SIZE not in of_the_lab(run, found):
        return None
    cells = [cell for group in run.plan.experiment(BY_SIZE).groups for cell in group]
    if not cells:
        return None
    own = {name: cells[0][name] for name in WORK}
    counts = {cell["batch"] for cell in cells if alike(cell, own, WORK)}
    return own if 1 in counts and len(counts) > 1 else None


def alike(cell: Cell, other: Cell, names: Sequence[str]) -> bool:
    """Whether two cells have the same values there."""
    return all(cell[name] == other[name] for name in names)


def _own_first(rows: Sequence[Row], own: Cell) -> list[Row]:
    return sorted(rows, key=lambda row: not alike(row.cell, own, WORK))


BY_SIZE = "aes-gcm-by-size"
ADVISING = (BY_SIZE, "aes-gcm-by-threads")
WORK = ("workload", "size_bytes", "keys", "mix", "threads")
