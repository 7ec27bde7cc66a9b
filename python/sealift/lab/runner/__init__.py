"""A run: planned, measured in processes of its own, kept in a folder.

The processes that measure are started one after the other (`worker`). This one shows how it goes,
reads the sensors and sums up. Whatever ends a run, its folder can be read, and resumed.
"""

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sealift import _sealift
from sealift.lab import devices, machine, store
from sealift.lab.machine import Fact
from sealift.lab.runner.outcome import Done
from sealift.lab.runner.planning import Ask, changed_files, make_plan, with_hashes
from sealift.lab.runner.session import go
from sealift.lab.sensors import Sensors

__all__ = ["Ask", "Done", "make_plan", "replay", "resume", "run"]

AfterTask = Callable[[Path], None]
"""Shows what a folder holds up to now; called while a run goes on, and at its end."""


def run(ask: Ask, *, after_task: AfterTask = lambda _: None) -> Done:
    """Plans and measures.

    Args:
        ask: What is asked for.
        after_task: Called with the run's folder, at most every ten seconds after an experiment was
            measured, and when the run has ended. What it raises is told, and ends nothing.

    Returns:
        Where everything is, how the run ended, and the exit code.

    Raises:
        ValueError: If such a run can't be; before anything is measured or written.
        store.StoreError: If the folder can't be that of a new run.
    """
    plan = make_plan(ask)
    path = ask.out or store.default_path(datetime.now(UTC))
    return _new(path, plan, (), after_task, is_kept=ask.is_kept)


def resume(
    path: Path, *, budget_s: float | None = None, after_task: AfterTask = lambda _: None
) -> Done:
    """Measures what is missing in a run folder; nothing in a whole one.

    Args:
        path: Of the folder.
        budget_s: Seconds of wall clock for that; None for as long as all of it takes.
        after_task: As for `run`.

    Raises:
        store.StoreError: If it is no run folder, is damaged, or another run writes into it; or if
            `sealift-gpu` made it.
    """
    begin_s = time.monotonic()
    _check_is_the_labs(store.read(path).plan, path)
    with store.hold(path) as lock:
        store.mend(path)
        before = store.read(path)
        notes = _changes(before)
        return go(
            path, lock, budget_s=budget_s, notes=notes, after_task=after_task, begin_s=begin_s
        )


def replay(
    source: Path,
    out: Path | None,
    *,
    command: tuple[str, ...],
    after_task: AfterTask = lambda _: None,
) -> Done:
    """Does a run again, by its plan, into a new folder.

    Args:
        source: A run folder, or its plan.json.
        out: The new folder; None for one named after the time.
        command: The command line that asks for it.
        after_task: As for `run`.

    Raises:
        store.StoreError: If there is no plan, or `sealift-gpu` made it, or the folder can't be that
            of a new run.
    """
    is_plan = source.name == store.names.PLAN and not source.is_dir()
    if source.is_file() and not is_plan:
        raise store.StoreError(
            f"{source} is neither the folder of a run nor its {store.names.PLAN}; "
            f"{store.instead(source)}"
        )
    old = store.read_plan(source.parent if is_plan else source)
    _check_is_the_labs(old, source)
    now = datetime.now(UTC)
    plan = replace(
        old,
        version=_sealift.__version__,
        created=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        command=command,
        experiments=with_hashes(old.experiments),
    )
    notes = [f"{file} was changed since the run that is replayed" for file in changed_files(old)]
    return _new(out or store.default_path(now), plan, notes, after_task)


def _check_is_the_labs(plan: store.Plan, source: Path) -> None:
    """What another program measured the lab can show, and not measure.

    Raises:
        store.StoreError: If it did; says what measures it, and what shows it.
    """
    if plan.is_by_program:
        folder = shlex.quote(str(source.parent if source.name == store.names.PLAN else source))
        again = shlex.join(_without_out(plan.command))
        raise store.StoreError(
            f"{source} was measured by {plan.command[0]}, which the lab does not start; on a "
            f"machine with that device: {again}; `sealift lab report {folder}` shows what it found"
        )


def _without_out(command: Sequence[str]) -> Sequence[str]:
    """A command line without its folder, which has to be a new one each time."""
    at = command.index("--out") if "--out" in command else len(command)
    return [*command[:at], *command[at + 2 :]]


def _new(
    path: Path, plan: store.Plan, notes: Sequence[str], after: AfterTask, *, is_kept: bool = True
) -> Done:
    begin_s = time.monotonic()
    with store.hold_new(path) as lock:
        store.create(path, plan, _surroundings())
        return go(
            path,
            lock,
            budget_s=plan.budget_s,
            notes=notes,
            after_task=after,
            begin_s=begin_s,
            is_kept=is_kept,
        )


def _changes(before: store.Run) -> list[str]:
    """What is not as it was when the run began."""
    notes = []
    if before.plan.version != _sealift.__version__:
        notes.append(
            f"resumed with Sealift {_sealift.__version__}; "
            f"what stood there was measured with {before.plan.version}"
        )
    notes += [f"{file} was changed since the run began" for file in changed_files(before.plan)]
    was, now = before.machine.facts.get("cpu_model"), machine.describe().cpu_model
    if was is not None and was != now:
        notes.append(f"resumed on another processor: {now}; before it was {was}")
    return notes


def _surroundings() -> store.Surroundings:
    clock_ghz = _sealift.effective_clock_ghz()
    clock = Fact(clock_ghz, None) if clock_ghz else Fact(None, NO_CLOCK)
    described = machine.describe()
    facts = {name: getattr(described, name) for name in described.as_dict()}
    return store.Surroundings(
        facts=facts | {"core_clock_ghz": clock},
        devices=devices.look(),
        sensors=Sensors().look(),
    )


NO_CLOCK = "cycles of a multiplication are known on x86-64 only"
