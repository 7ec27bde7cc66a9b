"""Figures as document 003 prints them, in tables and claims."""

from collections.abc import Mapping
from functools import partial

from sealift_lab.model.arm import Cell
from sealift_lab.model.published import Figure, Kind, Published, table, table_row

Row = Mapping[str, str]
CPUS, GPUS = table("003-T4-cpu-generations"), table("003-T5-gpu-generations")
GRIDS = table("003-T3-gpu-blocks-threads")
cpu_row, gpu_row, claim_row = (
    partial(table_row, name)
    for name in ("003-T4-cpu-generations", "003-T5-gpu-generations", "003-X1-claims")
)
"""The row of a CPU or a GPU with a `test`, and of a claim by its `claim_id`."""


def mb_per_s(row: Row) -> float:
    """MB/s of a row of the tables of speeds."""
    return float(row["throughput_mb_s"])


def speed(
    figure: str,
    what: str,
    row: Row,
    here: Figure,
    note: str,
    series: str = "",
    at: Cell | None = None,
) -> Published:
    """The speed of a row of a table, beside the same from a run; arguments as of `Published`."""
    value, source = mb_per_s(row), row["source"]
    return Published(figure, what, value, "MB/s", source, Kind.VALUE, here, note, series, at or {})


def claim_value(claim_id: str) -> float:
    """The number of a claim, or 1."""
    return float(claim_row(claim_id=claim_id)["value"] or 1)
