"""A line for each experiment."""

import re
from pathlib import Path

import pytest

from made_rows import found, pair
from sealift.lab import registry, store
from sealift.lab.digest import digest
from sealift.lab.stats import Verdict
from sealift.lab.summary import summarise
from synthetic_run import Made, made, write_run


def lines(folder: Path, how: Made, *names: str) -> dict[str, str]:
    chosen = [registry.find(name) for name in names] or None
    run = store.read(write_run(folder, how, chosen))
    return {each.name: str(each) for each in digest(run, summarise(run))}


def test_each_experiment_says_who_is_fastest_and_what_of_the_published_holds(
    tmp_path: Path,
) -> None:
    said = lines(tmp_path / "run", made())
    everything = {each.name for each in registry.all_experiments()}
    assert {"aes-gcm-by-size", "premise", "operation-log"} <= set(said) <= everything
    assert said["aes-gcm-by-size"].startswith(
        "aes-gcm-by-size: cpu is the fastest device in 7 of 7 comparisons, "
    )
    assert "times as fast as library" in said["aes-gcm-by-size"]
    assert said["aes-gcm-by-threads"].startswith("aes-gcm-by-threads (003-F5): cpu is the fastest")
    assert "published figures: " in said["aes-gcm-by-threads"]
    assert "; not measured: ipp; published figures:" in said["vendor-library"]


def test_what_is_compared_by_numbers_has_its_figures_told_and_no_winner(tmp_path: Path) -> None:
    said = lines(tmp_path / "run", made(), "memory-read")["memory-read"]
    figures = re.fullmatch(
        r"memory-read: threads 1: ([\d,]+) \[([\d,]+)\.\.([\d,]+)\] MB/s, "
        r"threads 2: ([\d,]+) \[([\d,]+)\.\.([\d,]+)\] MB/s",
        said,
    )
    assert figures, said
    one, low, high, two, *_ = (float(each.replace(",", "")) for each in figures.groups())
    assert low <= one <= high
    assert one == pytest.approx(23_100, rel=0.01)
    assert two == pytest.approx(31_700, rel=0.01)


def test_a_wrong_result_comes_first(tmp_path: Path) -> None:
    how = made(wrong={"cpu": "a tag differs"})
    said = lines(tmp_path / "run", how, "aes-gcm-by-size")["aes-gcm-by-size"]
    assert said.startswith("aes-gcm-by-size: WRONG RESULT of cpu: a tag differs")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (made(blocks=0), "no block of it was completed"),
        (made(skipped={"library": "gone", "cpu": "gone"}), "gone"),
    ],
)
def test_what_was_not_measured_says_why(how: Made, why: str, tmp_path: Path) -> None:
    said = lines(tmp_path / "run", how, "aes-gcm-by-size")["aes-gcm-by-size"]
    assert said == f"aes-gcm-by-size: not measured: {why}"


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (made(ns=lambda _: 100.0), "alike"),
        (made(noise=0.25), "noise floor over 10 %"),
        (made(switches=0.9), "machine busy"),
        (made(blocks=5), "fewer than 8 blocks"),
    ],
    ids=["alike", "noisy", "busy", "short"],
)
def test_what_nobody_won_is_counted_with_the_reason_and_the_ratios(
    how: Made, why: str, tmp_path: Path
) -> None:
    said = lines(tmp_path / "run", how, "aes-gcm-by-size")["aes-gcm-by-size"]
    number, brackets = r"[\d.]+", r"\[[\d.]+\.\.[\d.]+\]"
    assert re.search(
        rf"no winner in \d of 7 comparisons: .*\b{why} in \d \(cpu {number} {brackets}"
        rf"( to {number} {brackets})? times as fast as library\)",
        said,
    ), said


def test_what_is_alike_under_noise_says_once_within_what(tmp_path: Path) -> None:
    run = store.read(write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")]))
    rows = [
        row
        for size, floor in ((16, 0.01), (64, 0.04), (128, 0.0506))
        for row in pair(1.0, Verdict.SAME, size_bytes=size, noise_floor=floor)
    ]
    (line,) = digest(run, found(rows))
    assert "no winner in 3 of 3 comparisons: alike within 5.1 % in 3 (cpu " in line.said
