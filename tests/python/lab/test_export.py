"""Samples and summaries for other programs."""

import csv
import importlib.util
import io
import json

import polars
import pytest

from sealift.cli.forms import Written
from sealift.lab import export, registry, store
from sealift.lab.export import (
    FORMS,
    WRITERS,
    as_bytes,
    column_names,
    sample_records,
    summary_records,
)
from sealift.lab.record import Record
from sealift.lab.report import bottom
from sealift.lab.report.material import gather
from sealift.lab.summary import summarise
from synthetic_run import BLOCKS, made, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> store.Run:
    folder = tmp_path_factory.mktemp("exported") / "run"
    chosen = [registry.find(name) for name in ("aes-gcm-by-size", "memory-read")]
    return store.read(write_run(folder, made(), chosen))


def test_every_sample_of_every_block_is_there_with_its_cell(run: store.Run) -> None:
    records = list(sample_records(run))
    by_size = [each for each in records if each["experiment"] == "aes-gcm-by-size"]
    assert len(by_size) == 7 * BLOCKS * 3
    lines = (run.path / "samples.jsonl").read_text().splitlines()
    assert len(records) == len(lines)
    taken = [json.loads(line)["ns"] for line in lines]
    assert sorted(taken) == sorted(int(each["ns"] or 0) for each in records)
    doubled = [each for each in by_size if each["again"] == "yes"]
    assert {each["device"] for each in doubled} == {"library", "cpu"}
    assert len(doubled) == 7 * BLOCKS


def test_the_summary_has_the_rows_of_summary_csv(run: store.Run) -> None:
    records = summary_records(run, summarise(run))
    assert len(records) == sum(len(found.rows) for found in summarise(run).values())
    names = column_names(records)
    assert names[:2] == ["experiment", "id"]
    assert names.index("size_bytes") < names.index("compare")
    assert names.index("buffer_bytes") < names.index("compare")


def test_summary_csv_the_export_and_the_page_write_the_same_text(run: store.Run) -> None:
    records = summary_records(run, summarise(run))
    store.write_summary(run.path, records)
    written = (run.path / "summary.csv").read_text(encoding="utf-8")
    assert as_bytes(records, "csv").decode() == written
    assert bottom.csv_text(gather(run)) == written


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-05, "0.00001"), (1_235_000.0, "1235000"), (0.9876543210987, "0.9876543210987"), (3, "3")],
)
def test_numbers_in_csv_have_no_exponent_and_lose_nothing(value: float, text: str) -> None:
    assert as_bytes([{"a": value}, {"a": None}], "csv").decode() == f'a\n{text}\n""\n'


def test_all_three_forms_hold_the_same(run: store.Run) -> None:
    records = list(sample_records(run))
    lines = [json.loads(line) for line in as_bytes(records, "jsonl").splitlines()]
    rows = list(csv.DictReader(io.StringIO(as_bytes(records, "csv").decode())))
    table = polars.read_parquet(io.BytesIO(as_bytes(records, "parquet")))
    assert len(lines) == len(rows) == table.height == len(records)
    assert list(lines[0]) == list(rows[0]) == table.columns
    for line, row, parquet in zip(lines, rows, table.iter_rows(named=True), strict=True):
        assert line["ns"] == int(row["ns"]) == parquet["ns"]
        assert str(line["device"] or "") == row["device"] == (parquet["device"] or "")
        assert line["clock_ghz"] == pytest.approx(float(row["clock_ghz"]))
        assert parquet["clock_ghz"] == pytest.approx(line["clock_ghz"])


def test_a_column_of_text_and_numbers_becomes_text_in_parquet() -> None:
    records: list[Record] = [{"a": "x", "b": 1, "c": None}, {"a": 2, "b": 1.5, "c": None}]
    table = polars.read_parquet(io.BytesIO(as_bytes(records, "parquet")))
    assert table.rows() == [("x", 1.0, None), ("2", 1.5, None)]
    assert table.schema["c"] == polars.String


def test_without_polars_a_sentence_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match="python -m pip install polars; or take --format csv"):
        as_bytes([{"a": 1}], "parquet")


def test_nothing_is_a_file_without_rows() -> None:
    assert export.as_bytes([], "jsonl") == b""
    assert export.as_bytes([], "csv") == b"\n"


def test_the_command_and_the_lab_know_the_same_forms_of_file() -> None:
    assert tuple(Written) == tuple(WRITERS)
    assert set(FORMS) < set(WRITERS), "no file's name ends in memcpy_test"
    with pytest.raises(ValueError, match="'xml' is no form of file; there are csv, jsonl, parquet"):
        as_bytes([], "xml")


@pytest.mark.parametrize("form", FORMS)
def test_half_of_a_surrogate_pair_becomes_a_question_mark(form: str) -> None:
    assert b"a?b" in as_bytes([{"name": "a\ud800b"}], form)
