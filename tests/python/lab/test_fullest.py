"""A page and a headline about one's own messages are about these, in the fullest batches."""

import re
from pathlib import Path

import pytest

from made_load import own, run_of
from sealift.lab import registry, report
from sealift.lab.answer import answer_of
from sealift.lab.fullest import fullest
from sealift.lab.store import Run, read
from sealift.lab.summary import summarise
from synthetic_run import made, write_run


def run_on(path: Path, lengths: dict[int, int], **changes: object) -> Run:
    return read(run_of(path, own(lengths), **changes))


def test_the_headline_is_for_the_messages_asked_for_though_another_size_is_nearer_to_128(
    tmp_path: Path,
) -> None:
    run = run_on(tmp_path / "run", {500: 1})
    said = answer_of(run, summarise(run))
    assert said
    assert said.basis == "500-byte messages, sealed, 5,000 keys, one core, batches of 1,024"
    assert said.headline == "On your CPU, with Sealift's kernels"


def test_messages_of_many_lengths_are_told_by_their_mean(tmp_path: Path) -> None:
    run = run_on(tmp_path / "run", {400: 1, 600: 1})
    said = answer_of(run, summarise(run))
    assert said
    assert said.basis.startswith("messages of 500 bytes on average, sealed, 5,000 keys")


def test_the_headline_stays_with_the_messages_asked_for_where_they_are_not_settled(
    tmp_path: Path,
) -> None:
    run = run_on(tmp_path / "run", {500: 1}, blocks=3)
    said = answer_of(run, summarise(run))
    assert said
    assert said.basis.startswith("500-byte messages")
    assert said.headline.startswith("Not settled: ")


def test_without_one_block_of_the_messages_asked_for_there_is_no_answer_on_them(
    tmp_path: Path,
) -> None:
    run = run_on(tmp_path / "run", {500: 1}, skipped={"library": "gone", "cpu": "gone"})
    assert fullest(run, summarise(run)) is None


def test_every_size_stands_in_its_own_fullest_batches(tmp_path: Path) -> None:
    run = run_on(tmp_path / "run", {4_096: 1})
    seen = fullest(run, summarise(run))
    assert seen
    there = {(row.cell["size_bytes"], row.cell["batch"]) for row in seen.found.rows}
    assert there == {(4_096, 1_024), (512, 1_024), (65_536, 256)}


def test_a_run_over_a_grid_has_no_messages_of_ones_own(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")])
    run = read(path)
    assert fullest(run, summarise(run)) is None


@pytest.mark.parametrize("lengths", [{500: 1}, {400: 1, 600: 1}])
def test_the_chart_by_size_draws_them_in_full_batches(
    tmp_path: Path, lengths: dict[int, int]
) -> None:
    page = report.page(run_on(tmp_path / "run", lengths))
    told = re.search(r"<title>CPU kernels: 62 B [\d.]+ ns; 500 B ([\d.]+) ns; 8,000 B ", page)
    assert told
    assert float(told[1]) == pytest.approx(600 / 1_024 + 30 + 0.05 * 500, rel=0.02)
