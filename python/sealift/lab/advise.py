"""`sealift advise`: which work is measured for an answer, and how the answer is shown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sealift.lab import registry
from sealift.lab.answer import Answer, answer
from sealift.lab.export import summary_records
from sealift.lab.fullest import ADVISING, BY_SIZE
from sealift.lab.grid import (
    MANY_KEYS,
    REGIMES,
    SIZES,
    Work,
    crypto_cells,
    logged,
    sized,
    stated,
)
from sealift.lab.recall import of_the_lab
from sealift.lab.record import csv_text, summary_columns
from sealift.lab.result import Found, Row
from sealift.lab.shortfall import shortfall
from sealift.lab.spec import Experiment, Scope
from sealift.lab.store import Run
from sealift.lab.values import Cell
from sealift.lab.workload import Mix, Regime


@dataclass(frozen=True)
class Wish:
    """What is to be measured.

    Attributes:
        works: The pieces of work.
        devices: Who does it; the first is what the others are compared with.
        threads: Thread counts to try.
        batch: Messages handed over at once; None for as many as suit their size.
    """

    works: Sequence[Work]
    devices: Sequence[str]
    threads: Sequence[int]
    batch: int | None

    def measurement(self, scope: Scope) -> tuple[Experiment, tuple[tuple[Cell, ...], ...]]:
        """The experiment by size with these cells."""
        cells = tuple(
            crypto_cells(self.works, devices=self.devices, threads=self.threads, batch=self.batch)
        )
        experiment = replace(registry.find(BY_SIZE), cells=lambda _: cells)
        return experiment, experiment.groups(scope)


def quick_works() -> tuple[Work, ...]:
    """What answers the question within a minute.

    Document 003's messages as stated under all three key regimes and as logged, because that is
    the work people have; and each size once, sealed under 1,024 sessions, because size moves the
    answer most and many cached keys are what a gateway or an archive holds.
    """
    return (*stated_works(REGIMES), logged(), *sized_works(SIZES, (MANY_KEYS,)))


def stated_works(regimes: Sequence[Regime]) -> tuple[Work, ...]:
    """Document 003's messages as its text states them, under each key regime."""
    return tuple(stated(regime) for regime in regimes)


def sized_works(
    sizes: Sequence[int],
    regimes: Sequence[Regime],
    mix: Mix | None = None,
    key_bits: int = 128,
) -> tuple[Work, ...]:
    """Every size under every key regime; sealed unless a mix is given."""
    chosen = {} if mix is None else {"mix": mix}
    return tuple(
        sized(size, regime, key_bits=key_bits, **chosen) for regime in regimes for size in sizes
    )


@dataclass(frozen=True)
class Advice:
    """A run, seen as an answer to where bulk encryption should run.

    Attributes:
        run: Where the figures come from.
        found: What it found.
        answer: The answer.
    """

    run: Run
    found: Mapping[str, Found]
    answer: Answer

    @classmethod
    def of(cls, run: Run, found: Mapping[str, Found]) -> "Advice":
        """What a run that compared devices allows to say.

        Raises:
            ValueError: If it compared none; says which experiments do.
        """
        known = of_the_lab(run, found)
        comparing = {name: known[name] for name in ADVISING if name in known}
        if not comparing:
            raise ValueError(
                f"{run.path} compared no devices on AES-GCM messages: {' and '.join(ADVISING)} do"
            )
        return cls(run, comparing, answer(comparing, run.machine, lacking=shortfall(run)))

    @property
    def rows(self) -> list[Row]:
        """Of all experiments that compare devices."""
        return [row for found in self.found.values() for row in found.rows]

    def csv(self) -> str:
        """The rows, with the columns of summary.csv and what the run lacks."""
        lacking = shortfall(self.run)
        records = self._records()
        columns = [*summary_columns(records), "shortfall"]
        return csv_text([each | {"shortfall": lacking} for each in records], columns)

    def json(self) -> str:
        """The rows, the answer and the machine."""
        facts = self.run.machine.facts
        document: dict[str, Any] = {
            "schema": "sealift-advice/2",
            "run": str(self.run.path),
            "command": list(self.run.plan.command),
            "ending": None if self.run.ending is None else asdict(self.run.ending),
            "shortfall": shortfall(self.run) or None,
            "machine": {name: asdict(fact) for name, fact in facts.items()},
            "answer": asdict(self.answer),
            "rows": self._records(),
            "verified": [asdict(each) for found in self.found.values() for each in found.verified],
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    def _records(self) -> list[Any]:
        every = summary_records(self.run, {**_nothing(self.run), **self.found})
        return [record for record in every if record["experiment"] in self.found]


def _nothing(run: Run) -> dict[str, Found]:
    return {planned.name: Found((), ()) for planned in run.plan.experiments}
