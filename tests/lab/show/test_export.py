"""Exports hold every row and sample, and read back as what they were."""

import io
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sealift_lab.judge.judge import results
from sealift_lab.run.folder import Run
from sealift_lab.show.export import encode, form_of, rows_frame, samples_frame

Make = Callable[..., Run]
READERS: dict[str, Callable[[io.BytesIO], pl.DataFrame]] = {
    "csv": pl.read_csv,
    "json": pl.read_json,
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
}


@pytest.mark.parametrize("form", READERS)
def test_rows_and_samples_read_back_with_their_axes(a_run: Make, form: str) -> None:
    run = a_run({16: (100.0, 40.0), 1024: (100.0, 50.0)})
    rows = rows_frame(run.plan, results(run))
    back = READERS[form](io.BytesIO(encode(rows, form)))
    assert back.columns[:6] == ["experiment", "id", "group", "arm", "size_bytes", "device"]
    assert back["device"].to_list() == ["library", "cpu"] * 2
    assert back["times"].to_list()[1] == pytest.approx(2.5, rel=0.01)
    samples = samples_frame(run.plan, run.samples)
    again = READERS[form](io.BytesIO(encode(samples, form)))
    assert again.height == run.samples.height
    assert again["size_bytes"].unique().sort().to_list() == [16, 1024]
    assert again["ns"].to_list() == run.samples["ns"].to_list()


def test_the_name_of_a_file_says_its_form() -> None:
    assert [form_of(each) for each in (None, Path("a"), Path("a.PARQUET"))] == [
        "csv",
        "csv",
        "parquet",
    ]
    with pytest.raises(ValueError, match=r"right would be one of \.csv"):
        form_of(Path("a.xlsx"))
