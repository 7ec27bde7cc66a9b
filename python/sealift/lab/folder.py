"""The results folder: what a run was, what it found, and the command that does it again."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

from sealift.lab.machine import Fact, Machine
from sealift.lab.native import Prepared
from sealift.lab.plan import Plan
from sealift.lab.result import Result, Row
from sealift.lab.table import csv_text, json_text

ROWS_JSON, ROWS_CSV = "rows.json", "rows.csv"


def document(
    result: Result,
    plan: Plan,
    prepared: Prepared,
    *,
    answer: str,
    machine: Machine,
    clock_ghz: float | None,
    command: str,
) -> str:
    """A run as JSON of the schema `sealift-bench/1`.

    Args:
        result: What was found.
        plan: What was to be run.
        prepared: Who did what, and who was checked by whom.
        answer: Where to run.
        machine: Where it was measured.
        clock_ghz: The core's clock from `effective_clock_ghz`.
        command: The command line that does it again.
    """
    clock = Fact(clock_ghz, None) if clock_ghz else Fact(None, NO_CLOCK)
    facts: Mapping[str, object] = machine.as_dict() | {
        "core_clock_ghz": {"value": clock.value, "reason": clock.reason}
    }
    whole = json.loads(json_text(result, facts))
    for row, record in zip(result.rows, whole["rows"], strict=True):
        record["cycles_per_byte"] = clock_ghz and _cycles_per_byte(row, clock_ghz)
    whole |= {
        "answer": answer,
        "command": command,
        "plan": {
            "blocks": plan.blocks,
            "sample_s": plan.sample_s,
            "budget_s": plan.budget_s,
            "cells": len(plan.cells),
        },
        "checked_against": prepared.checked_against,
        "refused": [str(refusal) for refusal in prepared.refusals],
        "wrong": list(prepared.wrong),
    }
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def check_free(folder: Path) -> None:
    """Makes the folder and writes into it, before anything is measured for it.

    Raises:
        ValueError: If it holds results already, can't be made, or takes no files.
    """
    check_writable(folder)
    held = [name for name in (ROWS_JSON, ROWS_CSV) if (folder / name).exists()]
    if held:
        raise ValueError(f"{folder} holds {' and '.join(held)} already; name another folder")


def check_writable(folder: Path) -> None:
    """Makes the folder and writes into it.

    Raises:
        ValueError: If it can't be made, or takes no files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
    except OSError as error:
        raise ValueError(
            f"{folder} takes no files: {error.strerror}; name a folder that can be written"
        ) from error


def write(folder: Path, result: Result, json_document: str) -> None:
    """Writes rows.csv and rows.json.

    Args:
        folder: From `check_free`.
        result: Its rows go to rows.csv.
        json_document: From `document`.

    Raises:
        OSError: If the disk is full, or the folder was taken away meanwhile.
    """
    (folder / ROWS_CSV).write_text(csv_text(result.rows), encoding="utf-8")
    (folder / ROWS_JSON).write_text(json_document, encoding="utf-8")


def _cycles_per_byte(row: Row, clock_ghz: float) -> float:
    """Of each core, a thread on each; text bytes only."""
    return row.ns_per_message.median * clock_ghz * row.threads / row.size_bytes


NO_CLOCK = "cycles of a multiplication are known on x86-64 only"
