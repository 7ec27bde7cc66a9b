"""How much of a run stands on its page, so that mail and browsers still take it."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """What a page holds; None for all.

    Attributes:
        is_packed: Whether the CSV behind the button is compressed.
        has_table: Whether the table of all rows and columns is there.
        has_csv: Whether the CSV is there.
        rows: How many of the rows each experiment shows that stand in the CSV.
        listed: How many rows each published figure shows, and each table beside those.
        figures: How many figures each experiment shows.
        points: How many points each figure has.
    """

    is_packed: bool = False
    has_table: bool = True
    has_csv: bool = True
    rows: int | None = None
    listed: int | None = None
    figures: int | None = None
    points: int | None = None

    @property
    def told(self) -> str:
        """What was left out, in a sentence; "" where nothing was."""
        parts = list(self._parts())
        if not parts:
            return ""
        return f"So that this page stays below 1.5 MB it leaves out {'; '.join(parts)}."

    def _parts(self) -> Iterator[str]:
        if not self.has_csv:
            yield "all data, which summary.csv in the run's folder holds"
        elif not self.has_table:
            yield "the table of all rows, which stand in the CSV below"
        if self.rows is not None:
            yield f"rows beyond the first {self.rows} of a table, which stand in the CSV"
        if self.listed is not None:
            yield (
                f"rows beyond the first {self.listed} of what was published and of what was "
                "counted, which verify.jsonl in the run's folder holds"
            )
        if self.figures is not None:
            yield f"figures beyond the first {self.figures} of an experiment"
        if self.points is not None:
            yield f"points of a figure beyond about {self.points}, evenly"


MOST_BYTES = 1_480_000
EXTENTS = (
    Extent(),
    Extent(is_packed=True, has_table=False),
    Extent(is_packed=True, has_table=False, rows=400),
    Extent(is_packed=True, has_table=False, rows=200),
    Extent(is_packed=True, has_table=False, rows=100),
    Extent(is_packed=True, has_table=False, rows=100, figures=24, points=400),
    Extent(is_packed=True, has_table=False, rows=60, listed=400, figures=24, points=400),
    Extent(is_packed=True, has_table=False, rows=40, listed=100, figures=24, points=400),
    Extent(is_packed=True, has_table=False, rows=10, listed=40, figures=6, points=100),
    Extent(is_packed=True, has_table=False, has_csv=False, rows=5, listed=5, figures=2, points=24),
    Extent(is_packed=True, has_table=False, has_csv=False, rows=5, listed=5, figures=1, points=12),
)
"""From all to little: a page takes the first of them with which it is small enough."""
