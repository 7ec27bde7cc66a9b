"""Shows rows: a table for people, CSV and JSON for programs. Shows only, never measures."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum

from rich.console import Console
from rich.table import Table

from sealift.lab.answer import answer
from sealift.lab.result import Result, Row
from sealift.lab.stats import Interval, Trust, Verdict
from sealift.lab.units import format_measure, format_share, format_size, plain_measure


class Ink(StrEnum):
    """Whether a table may use colour; it says the same without."""

    PLAIN = "plain"
    COLOUR = "colour"


def table_text(rows: Sequence[Row], *, ink: Ink = Ink.PLAIN) -> str:
    """The table as text, one line a row, never wrapped.

    What is the same in all rows (threads, key regime and so on) stands once, above the table.

    Args:
        rows: In the order to show.
        ink: Plain for pipes and files, colour for a terminal that has it.

    Raises:
        ValueError: If there are no rows.
    """
    if not rows:
        raise ValueError("no rows to show; measure something first")
    common = [name for name, show in AXES.items() if len({show(row) for row in rows}) == 1]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns = {name: show for name, show in AXES.items() if name not in common} | _figures(rows)
    for name in columns:
        table.add_column(name, justify="left" if name in LEFT else "right", no_wrap=True)
    for row in rows:
        cells = [show(row) for show in columns.values()]
        table.add_row(*cells, style=COLOURS.get(row.verdict) if row.verdict else None)
    heading = "; ".join(f"{name} {AXES[name](rows[0])}" for name in common)
    return f"{heading}\n{_drawn(table, ink)}" if heading else _drawn(table, ink)


def csv_text(rows: Sequence[Row]) -> str:
    """The rows as CSV: always the same columns, units in their names, no thousands marks."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([show(row) for show in CSV_COLUMNS.values()] for row in rows)
    return out.getvalue()


def json_text(result: Result, machine: Mapping[str, object]) -> str:
    """A result as JSON of the schema `sealift-bench/1`.

    Args:
        result: From `bench.summarise`.
        machine: What the figures were measured on, as from `machine.describe().as_dict()`.
    """
    document = {
        "schema": "sealift-bench/1",
        "machine": machine,
        "ending": result.ending,
        "note": result.note,
        "blocks_done": result.blocks_done,
        "blocks_planned": result.blocks_planned,
        "unmeasured": [
            {
                "workload": cell.workload.name,
                "size_bytes": cell.workload.text_len_mean,
                "keys": str(cell.workload.regime),
                "mix": str(cell.workload.mix),
                "threads": cell.threads,
                "batch": cell.batch,
                "devices": cell.devices,
            }
            for cell in result.unmeasured
        ],
        "sample_s": result.sample_s,
        "seed": result.seed,
        "answer": answer(result.rows),
        "rows": [_record(row) for row in result.rows],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _record(row: Row) -> dict[str, object]:
    return asdict(row) | {
        "messages_per_s": row.messages_per_s,
        "payload_gb_per_s": row.payload_gb_per_s,
        "trust": row.trust,
    }


def _figures(rows: Sequence[Row]) -> dict[str, Callable[[Row], str]]:
    figures: dict[str, Callable[[Row], str]] = {
        "device": lambda row: row.device,
        "ns/message": lambda row: format_measure(row.ns_per_message.median),
        "95 % interval": lambda row: _range(row.ns_per_message),
        "messages/s": lambda row: format_measure(row.messages_per_s),
        "GB/s": lambda row: format_measure(row.payload_gb_per_s),
    }
    if any(row.ratio for row in rows):
        references = sorted({row.reference for row in rows})
        against = references[0] if len(references) == 1 else "the reference"
        figures[f"times {against}"] = _times
        figures["verdict"] = _said
        figures["noise"] = lambda row: format_share(min(1.0, row.noise_floor))
    figures["clean"] = lambda row: format_share(row.clean_share)
    figures["blocks"] = lambda row: f"{row.blocks:,}"
    return figures


def _times(row: Row) -> str:
    if row.ratio is None:
        return "reference"
    return f"{format_measure(row.ratio.median)} ({_range(row.ratio)})"


def _said(row: Row) -> str:
    if row.trust is Trust.RANGES_ONLY:
        return "too noisy"
    return row.verdict.value if row.verdict else ""


def _range(interval: Interval) -> str:
    return f"{format_measure(interval.low)}..{format_measure(interval.high)}"


def _drawn(table: Table, ink: Ink) -> str:
    out = io.StringIO()
    Console(
        file=out,
        width=NO_WRAP_WIDTH,
        color_system="standard" if ink is Ink.COLOUR else None,
        force_terminal=ink is Ink.COLOUR,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    ).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _optional(pick: Callable[[Interval], float]) -> Callable[[Row], str]:
    return lambda row: "" if row.ratio is None else plain_measure(pick(row.ratio))


NO_WRAP_WIDTH = 1_000
LEFT = ("workload", "device", "keys", "mix", "verdict")
COLOURS = {Verdict.FASTER: "green", Verdict.SLOWER: "yellow"}
AXES: dict[str, Callable[[Row], str]] = {
    "workload": lambda row: row.workload,
    "size B": lambda row: format_size(row.size_bytes),
    "keys": lambda row: row.keys,
    "mix": lambda row: row.mix,
    "threads": lambda row: f"{row.threads:,}",
    "batch": lambda row: f"{row.batch:,}",
    "origin": lambda row: row.origin.value,
}
CSV_COLUMNS: dict[str, Callable[[Row], str]] = {
    "workload": lambda row: row.workload,
    "device": lambda row: row.device,
    "size_B": lambda row: f"{row.size_bytes:.12g}",
    "keys": lambda row: row.keys,
    "mix_seal_open_bad_percent": lambda row: row.mix,
    "threads": lambda row: str(row.threads),
    "batch_messages": lambda row: str(row.batch),
    "ns_per_message": lambda row: plain_measure(row.ns_per_message.median),
    "ns_per_message_low95": lambda row: plain_measure(row.ns_per_message.low),
    "ns_per_message_high95": lambda row: plain_measure(row.ns_per_message.high),
    "messages_per_s": lambda row: plain_measure(row.messages_per_s),
    "payload_GB_per_s": lambda row: plain_measure(row.payload_gb_per_s),
    "reference": lambda row: row.reference,
    "times_reference": _optional(lambda ratio: ratio.median),
    "times_reference_low95": _optional(lambda ratio: ratio.low),
    "times_reference_high95": _optional(lambda ratio: ratio.high),
    "verdict": lambda row: row.verdict.value if row.verdict else "",
    "winner": lambda row: "yes" if row.winner else "no",
    "noise_floor_share": lambda row: plain_measure(row.noise_floor),
    "clean_share": lambda row: plain_measure(row.clean_share),
    "machine_busy": lambda row: "yes" if row.machine_busy else "no",
    "blocks": lambda row: str(row.blocks),
    "origin": lambda row: row.origin.value,
}
