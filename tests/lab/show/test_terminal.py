"""The answer fits a terminal, whatever a run holds; exports read back as what they were."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console, RenderableType

from sealift_lab.claim.answer import Answer, Bar, Remark, answer
from sealift_lab.claim.replication import published_claim
from sealift_lab.judge.rows import results
from sealift_lab.model.published import Kind, Missing, Published
from sealift_lab.model.results import Claim, Estimate, Origin, Relation
from sealift_lab.run.read_folder import Run
from sealift_lab.show.export import encode, form_of, rows_frame, samples_frame
from sealift_lab.show.tables import Table, rows_table
from sealift_lab.show.terminal import TableText, answer_text, published_text

Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}


def text_of(part: RenderableType, width: int = 80) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(part)
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_answer_fits_15_lines_and_80_words(a_run: Make, width: int) -> None:
    run = a_run(THREE)
    text = text_of(answer_text(answer(run, results(run)), width), width)
    lines = text.splitlines()
    assert len(lines) <= 15
    assert len(text.split()) < 80
    assert max(map(len, lines)) <= width
    assert lines[0] == "Where should my bulk encryption run?"
    assert "On the processor: 2.00× AWS-LC [" in text
    assert "not in this machine" in text


def test_that_bars_have_another_ratio_than_the_headline_stands_below_them(a_run: Make) -> None:
    run = a_run(THREE)
    first = answer(run, results(run))
    assert "medians" not in text_of(answer_text(first))
    winner, other = (bar for bar in first.bars if bar.rate)
    assert other.rate is not None
    apart = replace(first, bars=[winner, replace(other, rate=other.rate.scaled(0.9))])
    assert "\n  The bars are medians and give 2.2" in text_of(answer_text(apart))


def test_bars_are_as_long_as_arms_are_fast(a_run: Make) -> None:
    run = a_run({1024: (100.0, 50.0, 200.0)})
    lines = text_of(answer_text(answer(run, results(run)))).splitlines()
    lengths = {line.split()[0]: line.count("█") for line in lines if "█" in line}
    assert lengths["Kernels"] == 2 * lengths["AWS-LC"] == 4 * lengths["table"]


def test_every_row_has_a_line_with_its_verdict(a_run: Make) -> None:
    run = a_run(THREE)
    table = rows_table(run.plan.experiments[0], results(run)["made-up"])
    text = text_of(TableText(table), 120)
    assert len(text.splitlines()) == 1 + 6
    assert text.count("faster") == 2
    assert text.count("same") == 1


@pytest.mark.parametrize("width", [60, 66, 70, 71, 80, 200])
def test_a_table_in_a_narrow_terminal_leaves_out_whole_columns_and_cuts_no_word(
    width: int,
) -> None:
    columns = ("message size", "device", "time", "times the-reference", "verdict", "AES", "note")
    row = ("16,384 B", "quad-hifn-7751", "1.23 µs", "2.55 [2.50–2.60]", "inconclusive", "61 %")
    table = Table(columns, [(*row, "broken wholly rarely")], spare=(6, 5, 2))
    text = text_of(TableText(table), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    left_out = lines[-1].removeprefix("No room for ").removesuffix(".").split(", ")
    assert ("No room for" in text) == (width < 71)
    for title, cell in zip(columns, table.rows[0], strict=True):
        is_left_out = "No room for" in text and title in left_out
        words = cell.split()
        assert [word in text for word in words] == [not is_left_out] * len(words), title
    assert "…" not in text


def test_in_a_terminal_that_has_room_for_no_word_words_are_broken() -> None:
    text = text_of(TableText(Table(("name", "device"), [("x", "quad-hifn-7751")])), 12)
    assert "".join(text.split()) == "namedevicexquad-hifn-7751"
    assert max(map(len, text.splitlines())) <= 12


def test_a_number_is_not_broken_where_other_words_are() -> None:
    row = ("quad-hifn-7751", "2,800,000,000", "[0.691–0.799]")
    text = text_of(TableText(Table(("device", "a second", "times"), [row], numbers=(1, 2))), 36)
    assert all(number in text for number in row[1:])
    assert max(map(len, text.splitlines())) <= 36


def test_names_of_bars_are_never_cut(a_run: Make) -> None:
    run = a_run({1024: (100.0, 50.0)})
    first = answer(run, results(run))
    name = "intel-qat-gen4 beside a-second-name (projected)"
    bar = replace(first.bars[0], claim=replace(first.bars[0].claim, subject=name))
    text = text_of(answer_text(replace(first, bars=[bar, *first.bars[1:]]), 60), 60)
    assert max(map(len, text.splitlines())) <= 60
    assert "…" not in text
    assert all(word in text for word in (*name.split(), bar.text))


def test_published_figures_are_counted_by_document_in_80_columns() -> None:
    run = Estimate(10, 9.9, 10.1)
    figures = [
        Published(figure, "speed-up", value, "x", "a table", kind, Missing("-"), origin=origin)
        for figure, value, kind, origin in (
            ("003-T4", 10, Kind.RATIO, Origin.MEASURED),
            ("003-T5", 20, Kind.RATIO, Origin.MEASURED),
            ("003-T5", 0.1, Kind.RATIO, Origin.MEASURED),
            ("003-F5", 10, Kind.VALUE, Origin.MEASURED),
            ("002-T1", 10, Kind.NUMBER, Origin.SIMULATED),
        )
    ]
    absent = (figures[0], published_claim(figures[0], "no GPU"))
    pairs = [*((each, published_claim(each, run)) for each in figures), absent]
    text = text_of(published_text(pairs))
    lines = [line.split() for line in text.splitlines()]
    assert max(map(len, text.splitlines())) <= 80
    assert ["002,", "modelled", "1", *"––––––"] in lines
    assert ["003,", "measured", *"1–11–11"] in lines
    assert "contradicted: 003-T5 (`" in " ".join(text.split())
    assert text_of(published_text([])).strip() == ""


def test_of_many_arms_and_remarks_the_first_stay() -> None:
    bars = [
        Bar(
            Claim(
                f"arm number {each}", Relation.RATE, figure=Estimate(9.0 - each), unit="k jobs/s"
            ),
            Estimate(9e3 - each),
        )
        for each in range(8)
    ]
    remarks = [Remark(f"remark {each} has a number of words in it") for each in range(5)]
    long = Answer("Which arm is best?", "The first", basis="1 thread", bars=bars, remarks=remarks)
    text = text_of(answer_text(long))
    assert len(text.splitlines()) <= 15
    assert len(text.split()) < 80
    assert "arm number 0" in text
    assert "Remark 0 has" in text
    assert "more" in text


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
