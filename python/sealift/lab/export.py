"""Writes what a run measured for other programs: CSV, JSON Lines or Parquet."""

import importlib.util
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sealift.lab import memcpy_test
from sealift.lab.record import (
    FIGURES,
    FIXED,
    SAMPLE_COLUMNS,
    Record,
    csv_text,
    records_of,
)
from sealift.lab.result import Found
from sealift.lab.store import Run
from sealift.lab.values import Value


def summary_records(run: Run, found: Mapping[str, Found]) -> list[Record]:
    """The rows of all experiments of a run as columns, and the cells of those that are computed.

    Args:
        run: Its plan names the experiments.
        found: From `summarise(run)`.
    """
    return [
        each
        for planned in run.plan.experiments
        for each in records_of(
            found[planned.name], planned.id, compare=planned.compare, origin=planned.origin
        )
    ]


def sample_records(run: Run) -> Iterator[Record]:
    """Every sample of the complete blocks of a run, with the axes of its cell.

    `again` is "yes" for the second sample of the doubled arm.

    Raises:
        ValueError: If all its experiments are computed, which takes no sample.
    """
    if run.plan.experiments and not any(each.is_timed for each in run.plan.experiments):
        raise ValueError(
            "nothing of this run was sampled, because all its experiments are computed; right "
            "would be --what summary"
        )
    for planned in run.plan.experiments:
        for number, cells in enumerate(planned.groups):
            for block, (restart, samples) in enumerate(run.blocks(planned.name, number)):
                singles = [(place, each, "no") for place, each in enumerate(samples.samples)]
                for place, sample, again in (*singles, (samples.doubled, samples.again, "yes")):
                    if sample is not None:
                        yield {
                            "experiment": planned.name,
                            "id": planned.id,
                            **cells[place],
                            "compare": planned.compare,
                            "restart": restart,
                            "block": block,
                            "again": again,
                            "ns": sample.ns,
                            "operations": sample.operations,
                            "bytes": sample.bytes,
                            "involuntary_switches": sample.involuntary_switches,
                            "cpu_share": sample.cpu_share,
                            "steal_ns": sample.steal_ns,
                            "clock_ghz": sample.clock_ghz,
                        }


def form_of(path: Path | None) -> str:
    """The form that a file's name asks for: CSV where it asks for none.

    Args:
        path: Of the file; None for standard output.

    Raises:
        ValueError: If it ends in that of another form; with those there are.
    """
    if path is None or path.suffix in SAYS_NOTHING:
        return "csv"
    form = path.suffix.removeprefix(".").casefold()
    if form not in FORMS:
        ends = ", ".join(f".{each}" for each in FORMS)
        raise ValueError(
            f"{path.name!r} names no form that there is; end it in {ends}, or say --format"
        )
    return form


def as_bytes(records: Iterable[Record], form: str) -> bytes:
    """The records as a file; all have all columns.

    Args:
        records: In the order of the file.
        form: What kind of file, of `FORMS`.

    Raises:
        ValueError: If the form is none, or Parquet is asked for and polars isn't installed.
    """
    if form not in WRITERS:
        raise ValueError(f"{form!r} is no form of file; there are {', '.join(WRITERS)}")
    rows = list(records)
    columns = column_names(rows)
    return WRITERS[form](
        [{name: _sound(row.get(name)) for name in columns} for row in rows], columns
    )


def column_names(records: Sequence[Record]) -> list[str]:
    """Experiment and id, then the axes of all experiments, then the figures."""
    names = dict.fromkeys(name for row in records for name in row)
    axes = [name for name in names if name not in BESIDE_AXES]
    first = [name for name in ("experiment", "id") if name in names]
    return [*first, *axes, *(name for name in names if name in BESIDE_AXES and name not in first)]


def _csv(rows: Sequence[Record], columns: Sequence[str]) -> bytes:
    return csv_text(rows, columns).encode()


def _jsonl(rows: Sequence[Record], _: Sequence[str]) -> bytes:
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows).encode()


def _memcpy_test(rows: Sequence[Record], _: Sequence[str]) -> bytes:
    return memcpy_test.text_of(memcpy_test.lines_of(rows)).encode()


def _sound(value: Value | None) -> Value | None:
    """A folder's JSON may hold half of a surrogate pair, which UTF-8 doesn't have."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _parquet(rows: Sequence[Record], columns: Sequence[str]) -> bytes:
    if importlib.util.find_spec("polars") is None:
        raise ValueError(
            "Parquet is written by polars, which isn't installed: python -m pip install polars; "
            "or take --format csv or jsonl"
        )
    import polars

    table: dict[str, list[Any]] = {name: _column([row[name] for row in rows]) for name in columns}
    # A column without any value would have no type that other readers know.
    empty = {name: polars.String for name in columns if all(v is None for v in table[name])}
    out = io.BytesIO()
    polars.DataFrame(table, schema_overrides=empty).write_parquet(out)
    return out.getvalue()


def _column(values: Sequence[Value | None]) -> list[Value | None]:
    """A column has one type: text where there is some, fractions where there are some."""
    there = [value for value in values if value is not None]
    kind = next((kind for kind in (str, float) if any(type(v) is kind for v in there)), None)
    return [value if value is None or kind is None else kind(value) for value in values]


BESIDE_AXES = {*FIXED, *FIGURES, *SAMPLE_COLUMNS}
WRITERS: Mapping[str, Callable[[Sequence[Record], Sequence[str]], bytes]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "memcpy_test": _memcpy_test,
}
# What a file's name may end in.
FORMS = tuple(form for form in WRITERS if form != "memcpy_test")
SAYS_NOTHING = ("", ".txt")
