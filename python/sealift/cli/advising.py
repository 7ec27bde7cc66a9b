"""Measures what `sealift advise` is asked for, or reads it, and shows the advice."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sealift.cli.forms import Shown
from sealift.cli.said import fail, in_sentences, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.advise import Advice, Wish


def advise_from(folder: Path, form: Shown) -> None:
    """Shows what a run that was measured before allows to advise; without rows the program ends."""
    from sealift.lab import store
    from sealift.lab.advise import Advice
    from sealift.lab.summary import summarise

    with in_sentences():
        run = store.read(folder)
        advice = Advice.of(run, summarise(run))
    if not advice.rows:
        fail(ExitCode.NOTHING_RAN, f"{folder} holds no complete block of any device")
    _show(advice, form)


def measure(
    wish: "Wish", form: Shown, out: Path | None, *, budget_s: float, quick: bool, seed: int
) -> int:
    """Measures, shows the advice, and says how that ended.

    Args:
        wish: What is to be measured.
        form: In which the rows are shown.
        out: The folder that keeps the run; None for one that goes again.
        budget_s: Seconds for everything.
        quick: Whether an answer should be there within a minute.
        seed: Of messages and order.

    Returns:
        0 or an `ExitCode`.
    """
    from sealift.cli.times import thin
    from sealift.lab import runner, store
    from sealift.lab.advise import Advice
    from sealift.lab.summary import summarise
    from sealift.lab.survey import this_scope

    with in_sentences(), _folder(out) as folder:
        ask = runner.Ask(
            experiments=(wish.measurement(this_scope(quick=quick)),),
            command=("sealift", *sys.argv[1:]),
            out=folder,
            budget_s=budget_s,
            restarts=1,
            seed=seed,
            quick=quick,
            threads=tuple(wish.threads),
            is_kept=out is not None,
        )
        told(*thin(ask))
        done = runner.run(ask)
        run = store.read(done.path)
        advice = Advice.of(run, summarise(run))
        if not advice.rows:
            told("nothing was measured")
            return done.code or ExitCode.NOTHING_RAN
        _show(advice, form)
    if out is not None:
        told(f"the run is kept in {out}; `sealift lab report {out}` makes a page of it")
    return done.code


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder of the run: one that goes again when none is named."""
    from tempfile import TemporaryDirectory

    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="sealift-") as folder:
        yield Path(folder) / "run"


def _show(advice: "Advice", form: Shown) -> None:
    from sealift.lab.table import Ink

    ink = Ink.COLOUR if sys.stdout.isatty() and "NO_COLOR" not in os.environ else Ink.PLAIN
    shown = {
        Shown.TABLE: lambda: advice.text(ink),
        Shown.CSV: advice.csv,
        Shown.JSON: advice.json,
    }
    sys.stdout.write(shown[form]())
    sys.stdout.flush()
