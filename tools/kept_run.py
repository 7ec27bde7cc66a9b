"""Run folders that are kept below results/, as the generated parts of Markdown files read them."""

import csv
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markdown import interval, table_line

Row = Mapping[str, str]
Document = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """A run folder.

    Attributes:
        root: The tree.
        folder: results/<date>/<machine>/<name>.
    """

    root: Path
    folder: Path

    @classmethod
    def newest(cls, root: Path, name: str) -> "Kept | None":
        """The folder of a name with the latest date in its path; None without any."""
        found = sorted(path.parent for path in root.glob(f"results/*/*/{name}/summary.csv"))
        return cls(root, found[-1]) if found else None

    def rows(self, experiment: str, **wanted: str) -> list[Row]:
        """The rows of an experiment whose columns have these values."""
        chosen = {"experiment": experiment, **wanted}
        return [row for row in self._summary if chosen.items() <= row.items()]

    def row(self, experiment: str, **wanted: str) -> Row | None:
        """The one of them; None without it.

        Raises:
            ValueError: If there are several.
        """
        rows = self.rows(experiment, **wanted)
        if len(rows) > 1:
            raise ValueError(f"{len(rows)} rows of {experiment} in {self.folder} have {wanted}")
        return rows[0] if rows else None

    def values(self, experiment: str, column: str) -> list[str]:
        """What stands in a column, each once, in the order of the rows."""
        return list(dict.fromkeys(row[column] for row in self.rows(experiment)))

    def beside(self, name: str) -> Document | None:
        """A document of the same machine and day; None without it."""
        file = self.folder.parent / name
        return _document(file) if file.exists() else None

    @property
    def caption(self) -> str:
        """Where and how it was measured, or that it was computed."""
        plan = _document(self.folder / "plan.json")
        command = re.sub(r" --out \S+", "", shlex.join(plan["command"]))
        place = self.folder.relative_to(self.root).as_posix()
        return f"{self._origin}: `{command}`, [all rows](../{place})."

    @property
    def _origin(self) -> str:
        origins = {row.get("origin", "") for row in self._summary}
        if origins and origins.isdisjoint(("", MEASURED)):
            return "Computed, and not measured, so the same version says the same on any machine"
        facts = _document(self.folder / "machine.json")["facts"]
        cpu = facts["cpu_model"]["value"] or "a processor that doesn't name itself"
        return (
            f"Measured {self.folder.parents[1].name}, {cpu}, {facts['cores_affinity']['value']} "
            "cores; medians with 95 % intervals"
        )

    @cached_property
    def _summary(self) -> list[dict[str, str]]:
        text = (self.folder / "summary.csv").read_text(encoding="utf-8")
        return list(csv.DictReader(text.splitlines()))


def estimate(row: Row, column: str, factor: float = 1.0) -> dict[str, float]:
    """A median with the ends of its interval, in another unit.

    Raises:
        ValueError: If the row has no number there.
    """
    ends = {"median": column, "low": f"{column}_low95", "high": f"{column}_high95"}
    return {end: float(row[name]) * factor for end, name in ends.items()}


def inverse(each: Mapping[str, float]) -> dict[str, float]:
    """The same ratio seen from the other side."""
    return {"median": 1 / each["median"], "low": 1 / each["high"], "high": 1 / each["low"]}


def speed(row: Row | None) -> str:
    """GB/s of payload."""
    return "not run" if row is None else interval(estimate(row, "payload_MB_per_s", 1e-3))


def judged(row: Row | None, *, as_time: bool) -> str:
    """How many times as fast as its reference, or how many times as long, and what that tells.

    Raises:
        ValueError: If the row has times and no verdict on them.
    """
    if row is None:
        return "not run"
    if not row["times_reference"]:
        return "1"
    verdict = row["verdict"]
    if verdict not in SAID:
        raise ValueError(
            f"a row of {row['experiment']} is {row['times_reference']} times its reference, and "
            f"its verdict is {verdict!r}; right would be one of {', '.join(SAID)}"
        )
    times = estimate(row, "times_reference")
    return f"{interval(inverse(times) if as_time else times)}{SAID[verdict]}"


def _document(file: Path) -> Document:
    document: Document = json.loads(file.read_text(encoding="utf-8"))
    return document


def table(head: Sequence[str], lines: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """A table whose first columns are text, and the others figures."""
    ruler = [*["---"] * texts, *["---:"] * (len(head) - texts)]
    return "\n".join(table_line(list(cells)) for cells in (head, ruler, *lines))


SAID = {
    "FASTER": ", faster",
    "SLOWER": ", slower",
    "SAME": ", the same",
    "UNSURE": ", not settled",
}
MEASURED = "measured"
