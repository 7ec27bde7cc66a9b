"""Rows as plain columns: what stands in summary.csv, and what plots and exports read."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from sealift.lab.result import Found, Origin, Row
from sealift.lab.stats import VERDICT_CONFIDENCE, Interval, Trust, Verdict, blocks_needed
from sealift.lab.units import plain_measure
from sealift.lab.values import Value

Record = Mapping[str, Value | None]
"""Columns with plain values; None where there is none. Measured numbers keep four significant
digits, sizes all of theirs."""


def record(row: Row, experiment_id: str) -> dict[str, Value | None]:
    """A row as columns: the experiment, its axes, and then `FIGURES` in their order.

    Args:
        row: What one arm did.
        experiment_id: The document's name for the experiment, or "".

    Raises:
        ValueError: If an axis has the name of a fixed column.
    """
    if taken := (FIXED | FIGURES.keys()) & row.cell.keys():
        raise ValueError(f"{row.experiment}: the axis {min(taken)} has the name of a fixed column")
    figures = {name: show(row) for name, show in FIGURES.items()}
    return {"experiment": row.experiment, "id": experiment_id, **row.cell, **figures}


def records_of(found: Found, experiment_id: str, *, compare: str, origin: Origin) -> list[Record]:
    """Its rows as columns; of what was computed its cells, each with axes, facts and origin.

    Args:
        found: What an experiment found.
        experiment_id: The document's name for it, or "".
        compare: The axis whose values are compared.
        origin: Of its numbers.
    """
    if origin is Origin.MEASURED:
        return [record(row, experiment_id) for row in found.rows]
    return [
        {
            "experiment": each.experiment,
            "id": experiment_id,
            **each.cell,
            **{name: fact for name, fact in each.facts.items() if name not in {*FIXED, *each.cell}},
            "compare": compare,
            "origin": origin.value,
        }
        for each in found.verified
        if each.facts
    ]


def interval_columns(name: str, interval: Interval | None) -> dict[str, Value | None]:
    """A median and the ends of its 95 % interval as columns; None in all where there is none."""
    return {column: _end(interval, end) for column, end in _ends(name).items()}


def range_columns(name: str, found: Interval | None) -> dict[str, Value | None]:
    """The least and the most of what several seeds gave as columns; None where there is none."""
    return {f"{name}_{end}": _end(found, of) for end, of in (("least", "low"), ("most", "high"))}


def csv_text(records: Sequence[Record], columns: Sequence[str]) -> str:
    """Records as CSV: no thousands marks, no exponents; empty where there is no value."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_text(value) for name, value in each.items()} for each in records)
    return out.getvalue()


def as_text(value: Value | None) -> str:
    """A value as CSV has it: `0.00001`, never `1e-05`, and `1235000` for 1235000.0."""
    if value is None:
        return ""
    return f"{Decimal(repr(value)).normalize():f}" if isinstance(value, float) else str(value)


def summary_columns(records: Sequence[Record]) -> list[str]:
    """Those of summary.csv: experiment and id, then the axes of all experiments, then figures."""
    there = dict.fromkeys(name for each in records for name in each)
    axes = (name for name in there if name not in FIXED | FIGURES.keys())
    # What is computed has none of the figures of what is measured.
    figures = (name for name in FIGURES if name in there or not there)
    return ["experiment", "id", *axes, *figures]


def _won(row: Row) -> str:
    """Whether no other arm was shown to be faster; unknown where nothing could be shown."""
    if not row.winner:
        return "no"
    # Whether the others were told from a reference, its own row doesn't say.
    untold = row.trust is Trust.LOUD and row.verdict is None
    silent = untold or row.blocks < blocks_needed(VERDICT_CONFIDENCE)
    return "unknown" if silent or row.verdict is Verdict.UNSURE else "yes"


def _number(value: float) -> float:
    return float(plain_measure(value))


def _ends(name: str) -> dict[str, str]:
    return {name: "median", f"{name}_low95": "low", f"{name}_high95": "high"}


def _end(interval: Interval | None, end: str) -> float | None:
    return None if interval is None else _number(getattr(interval, end))


def _three(
    name: str, pick: Callable[[Row], Interval | None]
) -> dict[str, Callable[[Row], Value | None]]:
    def show(end: str) -> Callable[[Row], Value | None]:
        return lambda row: _end(pick(row), end)

    return {column: show(end) for column, end in _ends(name).items()}


FIXED = {"experiment", "id"}
SAMPLE_COLUMNS = (
    "compare",
    "restart",
    "block",
    "again",
    "ns",
    "operations",
    "bytes",
    "involuntary_switches",
    "cpu_share",
    "steal_ns",
    "clock_ghz",
)
"""Beside the axes, what exported samples have instead of `FIGURES`."""
FIGURES: dict[str, Callable[[Row], Value | None]] = {
    "compare": lambda row: row.compare,
    **_three("ns_per_operation", lambda row: row.ns_per_operation),
    **_three("operations_per_s", lambda row: row.operations_per_s),
    "payload_bytes": lambda row: round(row.payload_bytes, 2),
    **_three("payload_MB_per_s", lambda row: row.payload_mb_per_s),
    "reference": lambda row: row.reference,
    **_three("times_reference", lambda row: row.ratio),
    "verdict": lambda row: row.verdict.value if row.verdict else None,
    "winner": _won,
    "noise_floor_share": lambda row: _number(row.noise_floor),
    "clean_share": lambda row: _number(row.clean_share),
    "machine_busy": lambda row: "yes" if row.machine_busy else "no",
    "steady": lambda row: "yes" if row.steady else "no",
    "blocks": lambda row: row.blocks,
    "wrong": lambda row: row.wrong or None,
    "origin": lambda row: row.origin.value,
}
