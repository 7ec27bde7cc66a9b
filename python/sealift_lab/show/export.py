"""Rows and samples as files: CSV, JSON, JSON lines, Parquet."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from sealift_lab.model.arm import Value
from sealift_lab.model.results import ArmReport, Estimate, Results, Row
from sealift_lab.model.run import Plan, PlannedExperiment

Record = Mapping[str, Value | bool | None]


def rows_frame(plan: Plan, results: Mapping[str, Results]) -> pl.DataFrame:
    """A line for each judged row and for each computed cell: its axes, then its figures.

    Measured numbers keep four significant digits.
    """
    records: list[Record] = []
    for planned in plan.experiments:
        found = results[planned.name]
        if planned.is_timed:
            records += [_row(planned, row) for row in found.rows]
        else:
            records += [_computed(planned, each) for each in found.reports if each.facts]
    return _frame(records, plan)


def samples_frame(plan: Plan, samples: pl.DataFrame) -> pl.DataFrame:
    """A line for each sample of a complete block, with the axes of its arm."""
    arms: list[Record] = [
        {"experiment": each.name, "group": group, "arm": arm, "compare": each.compare, **cell}
        for each in plan.experiments
        for group, cells in enumerate(each.groups)
        for arm, cell in enumerate(cells)
    ]
    at = ["experiment", "group", "arm"]
    cells = _frame(arms, plan)
    return cells.join(samples, on=at, how="inner", maintain_order="right") if arms else samples


def encode(frame: pl.DataFrame, form: str) -> bytes:
    """A frame as a file of one of `FORMS`."""
    out = io.BytesIO()
    WRITERS[form](frame, out)
    return out.getvalue()


def form_of(path: Path | None) -> str:
    """The form that the name of a file asks for; CSV where it asks for none."""
    if path is None or path.suffix in ("", ".txt"):
        return "csv"
    form = path.suffix.removeprefix(".").casefold()
    if form not in FORMS:
        right = f"right would be one of {', '.join(f'.{each}' for each in FORMS)}, or --format"
        raise ValueError(f"{path.name!r} ends in no form; {right}")
    return form


def _frame(records: Sequence[Record], plan: Plan) -> pl.DataFrame:
    """All records with all columns: names first, then axes, then the rest; one type a column."""
    names = dict.fromkeys(name for record in records for name in record)
    axes = (axis.name for each in plan.experiments for axis in each.axes)
    order = dict.fromkeys(name for name in (*FIRST, *axes, *names) if name in names)
    return pl.DataFrame({name: _column([each.get(name) for each in records]) for name in order})


def _column(values: Sequence[Value | None]) -> pl.Series:
    """Text where there is some, fractions where there are some, else whole numbers."""
    kinds = {type(value) for value in values if value is not None}
    if str in kinds or not kinds:
        texts = [None if value is None else str(value) for value in values]
        return pl.Series(texts, dtype=pl.String)
    return pl.Series(values, dtype=pl.Float64 if float in kinds else None, strict=False)


def _row(planned: PlannedExperiment, row: Row) -> Record:
    return {
        "experiment": row.experiment,
        "id": planned.id,
        "group": row.group,
        "arm": row.arm,
        **row.cell,
        "origin": row.origin.value,
        "compare": row.compare,
        "subject": str(row.subject),
        "reference": str(row.reference),
        **ends("ns", row.time),
        **ends("operations_per_s", row.operations_per_s),
        "payload_bytes": round(row.payload_bytes, 2),
        **ends("payload_mb_per_s", row.payload_mb_per_s),
        **ends("times", row.ratio),
        "verdict": row.verdict and row.verdict.value,
        "reason": row.reason or None,
        "winner": row.is_winner,
        "blocks": row.blocks,
        "processes": row.processes,
        "noise": row.noise and rounded(row.noise),
        "clean_share": rounded(row.clean_share),
        "wrong": row.wrong or None,
    }


def _computed(planned: PlannedExperiment, report: ArmReport) -> Record:
    facts = {name: value for name, value in report.facts.items() if name not in report.cell}
    origin = {"origin": planned.origin.value, "compare": planned.compare}
    return {"experiment": planned.name, "id": planned.id, **report.cell, **origin, **facts}


def ends(name: str, estimate: Estimate | None) -> Record:
    """A figure with its interval as three columns."""
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    names = (name, f"{name}_low", f"{name}_high")
    return {n: None if end is None else rounded(end) for n, end in zip(names, ends, strict=True)}


def rounded(value: float) -> float:
    """With four significant digits."""
    return float(f"{value:.{DIGITS}g}")


FIRST = ("experiment", "id", "group", "arm")
WRITERS: Mapping[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
    "csv": lambda frame, out: frame.write_csv(out, float_scientific=False),
    "json": lambda frame, out: frame.write_json(out),
    "jsonl": lambda frame, out: frame.write_ndjson(out),
    "parquet": lambda frame, out: frame.write_parquet(out),
}
FORMS = tuple(WRITERS)
DIGITS = 4
