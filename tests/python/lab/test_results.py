"""The runs that this repository keeps."""

from pathlib import Path

import pytest

from sealift.lab import store
from sealift.lab.export import summary_records
from sealift.lab.record import csv_text, summary_columns
from sealift.lab.store import names
from sealift.lab.summary import summarise

RESULTS = Path(__file__).parents[3] / "results"
RUNS = sorted(path.parent for path in RESULTS.rglob(names.PLAN))


def test_there_are_runs() -> None:
    assert RUNS


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_figures_that_are_kept_are_those_that_the_samples_give_today(path: Path) -> None:
    run = store.read(path)
    records = summary_records(run, summarise(run))
    kept = (path / names.SUMMARY).read_text(encoding="utf-8")
    assert kept == csv_text(records, summary_columns(records))
