"""Measures what `sealift advise` is asked for, or reads it, and shows the advice."""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sealift.cli.forms import Shown
from sealift.cli.said import fail, in_sentences, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.result import Found
    from sealift.lab.spec import Experiment, Scope
    from sealift.lab.store import Run
    from sealift.lab.values import Cell

Forms = Mapping[Shown, Callable[[], str]]
"""The advice in each form; empty where nothing was measured that it could stand on."""
View = Callable[["Run", "Mapping[str, Found]", "Path | None"], Forms]
"""Sees a run, with what it found and the folder that keeps it, as advice."""
Measuring = Callable[["Scope"], "tuple[Experiment, tuple[tuple[Cell, ...], ...]]"]
"""Gives the experiment and its cells for what there is."""


@dataclass(frozen=True)
class Job:
    """What is to be measured, and how.

    Attributes:
        measurement: The experiment and its cells.
        threads: Thread counts, for the record.
        out: The folder that keeps the run; None for one that goes again.
        budget_s: Seconds for everything.
        quick: Whether an answer should be there within a minute.
        seed: Of messages and order.
    """

    measurement: Measuring
    threads: tuple[int, ...]
    out: Path | None
    budget_s: float
    quick: bool
    seed: int


def advise_from(folder: Path, form: Shown, view: View) -> None:
    """Shows what a run that was measured before allows to advise; without rows the program ends."""
    from sealift.lab import store
    from sealift.lab.summary import summarise

    with in_sentences():
        run = store.read(folder)
        forms = view(run, summarise(run), folder)
    if not forms:
        fail(ExitCode.NOTHING_RAN, f"{folder} holds no complete block of any device")
    _show(forms, form)


def measure(job: Job, form: Shown, view: View) -> int:
    """Measures, shows the advice, and says how that ended.

    Args:
        job: What is to be measured.
        form: In which the advice is shown.
        view: Makes it.

    Returns:
        0 or an `ExitCode`.
    """
    from sealift.cli.times import thin
    from sealift.lab import runner, store
    from sealift.lab.summary import summarise
    from sealift.lab.survey import this_scope

    with in_sentences(), _folder(job.out) as folder:
        ask = runner.Ask(
            experiments=(job.measurement(this_scope(quick=job.quick)),),
            command=("sealift", *sys.argv[1:]),
            out=folder,
            budget_s=job.budget_s,
            restarts=1,
            seed=job.seed,
            quick=job.quick,
            threads=job.threads,
            is_kept=job.out is not None,
        )
        told(*thin(ask))
        done = runner.run(ask)
        run = store.read(done.path)
        forms = view(run, summarise(run), job.out)
        if not forms:
            told(
                "nothing was measured; allow more time, as in --budget 5m, or name fewer sizes, "
                "keys, threads or devices"
            )
            return done.code or ExitCode.NOTHING_RAN
        _show(forms, form)
    return done.code


def of_a_grid(run: "Run", found: "Mapping[str, Found]", out: "Path | None") -> Forms:
    """The advice of a run over sizes and keys."""
    from sealift.cli.ended import YOUR_LOAD
    from sealift.lab.advise import Advice

    advice = Advice.of(run, found)
    if not advice.rows:
        return {}
    return {
        Shown.TABLE: lambda: advice.answer.text(links(out)[0], ("Your load", YOUR_LOAD)),
        Shown.CSV: advice.csv,
        Shown.JSON: advice.json,
    }


def links(out: "Path | None", *, is_asked: bool = False) -> tuple[tuple[str, str], ...]:
    """How to come by the page of a run, and what to ask next where nothing else was asked."""
    if out is None:
        return (("No page", "add --out FOLDER for one"),)
    folder = shlex.quote(str(out))
    page = ("Page", f"sealift lab report {folder}")
    return (page,) if is_asked else (page, ("Load", f"sealift advise --run {folder} --rate 1M"))


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder of the run: one that goes again when none is named."""
    from tempfile import TemporaryDirectory

    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="sealift-") as folder:
        yield Path(folder) / "run"


def _show(forms: Forms, form: Shown) -> None:
    sys.stdout.write(forms[form]())
    sys.stdout.flush()
