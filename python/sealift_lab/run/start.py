"""Starts runs: new ones, what is missing of old ones, and old ones again."""

import shlex
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sealift_lab import _lab
from sealift_lab.machine.facts import describe
from sealift_lab.machine.surroundings import surroundings
from sealift_lab.model.run import PLAN, Plan
from sealift_lab.run.errors import FolderError, name_instead
from sealift_lab.run.folder import Run
from sealift_lab.run.outcome import Done
from sealift_lab.run.planner import Request, again, changed_files, make_plan
from sealift_lab.run.session import AfterTask, carry_out
from sealift_lab.run.writing import create, default_path, hold, hold_new, mend


def run(request: Request, *, after_task: AfterTask = lambda _: None) -> Done:
    """Plans and measures.

    Args:
        request: What is asked for.
        after_task: See `AfterTask`.

    Raises:
        ValueError: If such a run can't be, before anything is written: a `FolderError` where the
            folder is not new, a `NotWrittenError` where it takes no files.
    """
    plan = make_plan(request)
    path = request.out or default_path(datetime.now(UTC))
    return _new(path, plan, (), after_task, is_kept=request.is_kept)


def resume(
    path: Path, *, budget_s: float | None = None, after_task: AfterTask = lambda _: None
) -> Done:
    """Measures what is missing in a run folder; nothing in a whole one.

    Args:
        path: Of the folder.
        budget_s: Seconds of wall clock for that; None for as long as all of it takes.
        after_task: See `AfterTask`.

    Raises:
        FolderError: If it is no run folder, is damaged, or another run writes into it; or if
            `sealift-gpu` made it.
    """
    begin_s = time.monotonic()
    _check_is_of_lab(Run(path), path)
    with hold(path) as lock:
        mend(path)
        notes = list(_changes(Run(path)))
        return carry_out(
            path,
            lock,
            budget_s=budget_s or 0.0,
            notes=notes,
            after_task=after_task,
            begin_s=begin_s,
        )


def replay(
    source: Path,
    out: Path | None,
    *,
    command: Sequence[str],
    after_task: AfterTask = lambda _: None,
) -> Done:
    """Does a run again, by its plan, into a new folder.

    Args:
        source: A run folder, or its plan.json.
        out: The new folder; None for one named after the time.
        command: The command line that asks for it.
        after_task: See `AfterTask`.

    Raises:
        FolderError: If there is no plan, `sealift-gpu` made it, or the new folder is not new.
    """
    is_plan = source.name == PLAN and not source.is_dir()
    if source.is_file() and not is_plan:
        raise FolderError(
            f"{source} is neither the folder of a run nor its {PLAN}; {name_instead(source)}"
        )
    old = Run(source.parent if is_plan else source)
    _check_is_of_lab(old, source)
    files = changed_files(old.plan)
    notes = [f"{file} was changed since the run that is replayed" for file in files]
    path = out or default_path(datetime.now(UTC))
    return _new(path, again(old.plan, command), notes, after_task)


def _new(
    path: Path, plan: Plan, notes: Sequence[str], after: AfterTask, *, is_kept: bool = True
) -> Done:
    begin_s = time.monotonic()
    with hold_new(path) as lock:
        create(path, plan, surroundings())
        return carry_out(
            path,
            lock,
            budget_s=plan.budget_s,
            notes=notes,
            after_task=after,
            begin_s=begin_s,
            is_kept=is_kept,
        )


def _check_is_of_lab(old: Run, source: Path) -> None:
    """Refuses what another program measured, which the lab can only show."""
    if not old.is_of_program:
        return
    program, *words = old.plan.command
    at = words.index("--out") if "--out" in words else len(words)
    command = shlex.join([program, *words[:at], *words[at + 2 :]])
    folder = shlex.quote(str(old.path))
    raise FolderError(
        f"{source} was measured by {program}, which the lab does not start; on a machine with that "
        f"device: {command}; `sealift lab report {folder}` shows what it found"
    )


def _changes(before: Run) -> Iterator[str]:
    """What is not as it was when the run began."""
    if before.plan.version != _lab.__version__:
        yield (
            f"resumed with Sealift {_lab.__version__}; what stood there was measured with "
            f"{before.plan.version}"
        )
    for file in changed_files(before.plan):
        yield f"{file} was changed since the run began"
    was, now = before.machine.facts.get("cpu_model"), describe().get("cpu_model")
    if was and now and was.value != now.value:
        yield f"resumed on another processor: {now.value}; before it was {was.value}"
