"""One run, from pieces of work to what is printed: prepare, plan, measure, sum up, show."""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from sealift.errors import SealiftError
from sealift.exit_code import ExitCode
from sealift.lab import folder, machine
from sealift.lab.answer import answer
from sealift.lab.bench import Run, measure, summarise
from sealift.lab.devices import role
from sealift.lab.native import Prepared, WrongResultError, effective_clock_ghz, prepare
from sealift.lab.plan import Cell, Plan, make_plan
from sealift.lab.progress import telling
from sealift.lab.result import Ending, Result
from sealift.lab.table import Ink, csv_text, table_text


class Form(StrEnum):
    """What goes to standard output."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


@dataclass(frozen=True)
class Ask:
    """What is asked for.

    Attributes:
        cells: The pieces of work.
        budget_s: Seconds of measuring.
        seed: Of messages, order and bootstrap.
        form: What goes to standard output.
        out: A new folder for rows.csv and rows.json, or None.
        command: The command line that asks for it.
    """

    cells: tuple[Cell, ...]
    budget_s: float
    seed: int
    form: Form
    out: Path | None
    command: tuple[str, ...]


def run(ask: Ask) -> int:
    """Does it, prints it, and returns the exit code."""
    try:
        make_plan(ask.cells, budget_s=ask.budget_s, seed=ask.seed)
        if ask.out is not None:
            folder.check_free(ask.out)
    except ValueError as error:
        return _told(ExitCode.USAGE, str(error))
    try:
        return _measured(ask)
    except KeyboardInterrupt:
        return _told(ExitCode.INTERRUPTED, "interrupted before anything was measured")
    except WrongResultError as error:
        return _told(ExitCode.WRONG_RESULT, f"{error}; nothing of this run is shown")
    except (MemoryError, RuntimeError, SealiftError) as error:
        return _told(ExitCode.NOTHING_RAN, str(error))


def _measured(ask: Ask) -> int:
    with telling() as teller:
        prepared = prepare(ask.cells, seed=ask.seed, started=teller.building)
        if not prepared.cells:
            code = ExitCode.WRONG_RESULT if prepared.wrong else ExitCode.NOTHING_RAN
            return _told(code, *_left_out(prepared), "nothing is left to measure")
        plan = make_plan(prepared.cells, budget_s=ask.budget_s, seed=ask.seed)
        clock_ghz = effective_clock_ghz()
        done = measure(plan, prepared.sampler, progress=teller.measured)
    try:
        return _shown(ask, plan, prepared, done, clock_ghz)
    except KeyboardInterrupt:
        said = "interrupted while the samples were summed up and written; what is missing is lost"
        return _told(ExitCode.INTERRUPTED, said)


def _shown(ask: Ask, plan: Plan, prepared: Prepared, done: Run, clock_ghz: float | None) -> int:
    interrupted = done.ending is Ending.INTERRUPTED
    try:
        result = summarise(done)
    except ValueError as error:
        code = ExitCode.INTERRUPTED if interrupted else ExitCode.NOTHING_RAN
        return _told(code, str(error))
    said = _answer(done)
    json_document = folder.document(
        result,
        plan,
        prepared,
        answer=said,
        machine=machine.describe(),
        clock_ghz=clock_ghz,
        command=shlex.join(ask.command),
    )
    _told(0, *_left_out(prepared), *([result.note] if result.note else []))
    shown = {
        Form.TABLE: lambda: _table(result, prepared, clock_ghz, said),
        Form.CSV: lambda: csv_text(result.rows),
        Form.JSON: lambda: json_document,
    }
    # Each is tried: what the one place doesn't take may be all that is left in the other.
    failed = [_tried("standard output", lambda: _print(shown[ask.form]()))]
    if ask.out is not None:
        failed.append(_tried(str(ask.out), partial(_write, ask.out, result, json_document)))
    if any(failed):
        return ExitCode.NOT_WRITTEN
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.WRONG_RESULT if prepared.wrong else 0


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _write(out: Path, result: Result, json_document: str) -> None:
    folder.write(out, result, json_document)
    _told(0, f"wrote {out / folder.ROWS_CSV} and {out / folder.ROWS_JSON}")


def _tried(where: str, write: Callable[[], None]) -> bool:
    """Writes somewhere; true when that failed, which is told."""
    try:
        write()
    except OSError as error:
        _told(ExitCode.NOT_WRITTEN, f"{where} took not everything: {error.strerror}")
        return True
    return False


def _answer(done: Run) -> str:
    """Where to run, among the devices that are for it: an oracle or a null device is no advice."""
    roles = {name: role(name) for cell in done.plan.cells for name in cell.devices}
    cells, blocks = [], []
    for cell, taken in zip(done.plan.cells, done.blocks, strict=True):
        places = [place for place, name in enumerate(cell.devices) if roles[name] == "real"]
        # Without the first device there is no A/A pair, and so no noise floor to judge by.
        if 0 in places and taken:
            cells.append(replace(cell, devices=tuple(cell.devices[place] for place in places)))
            blocks.append(tuple(tuple(block[p] for p in (*places, -1)) for block in taken))
    if not cells:
        return "No answer: the first device is not for real work, and the others are judged by it."
    real = replace(done, plan=replace(done.plan, cells=tuple(cells)), blocks=tuple(blocks))
    return answer(summarise(real).rows)


def _table(result: Result, prepared: Prepared, clock_ghz: float | None, said: str) -> str:
    ink = Ink.COLOUR if sys.stdout.isatty() and "NO_COLOR" not in os.environ else Ink.PLAIN
    lines = [table_text(result.rows, ink=ink), *_foot(prepared, clock_ghz), "", said]
    return "\n".join(lines) + "\n"


def _foot(prepared: Prepared, clock_ghz: float | None) -> list[str]:
    checked = [
        f"{device} against {' and '.join(others)}"
        if others
        else f"{device} not at all: it encrypts nothing"
        for device, others in prepared.checked_against.items()
    ]
    clock = (
        [f"Core clock, by a timed chain of multiplications: {clock_ghz:.2f} GHz."]
        if clock_ghz
        else []
    )
    return [f"Results checked byte for byte: {'; '.join(checked)}.", *clock]


def _left_out(prepared: Prepared) -> list[str]:
    return [*prepared.wrong, *map(str, prepared.refusals)]


def _told(code: int, *lines: str) -> int:
    for line in lines:
        print(f"sealift: {line}", file=sys.stderr)
    return code
