"""All stored runs of Sealift 0.1.0 judged anew, beside what it made of the same samples."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sealift_lab.judge.judge import results
from sealift_lab.model.results import Row, Verdict
from sealift_lab.model.run import PLAN, SUMMARY
from sealift_lab.run.folder import Run

Pair = tuple[Row, Mapping[str, str]]


def plain(value: object) -> str:
    """Numbers alike, whatever wrote them."""
    try:
        return f"{float(str(value)):.6g}"
    except ValueError:
        return str(value)


def pairs(folder: Path) -> Iterator[Pair]:
    """Each row beside the stored one of the same cell."""
    with (folder / SUMMARY).open(newline="") as file:
        stored = [row for row in csv.DictReader(file) if row.get("ns_per_operation")]
    for name, found in results(Run(folder)).items():
        axes = list(found.rows[0].cell) if found.rows else []
        by_cell = {
            tuple(plain(row[axis]) for axis in axes): row
            for row in stored
            if row["experiment"] == name
        }
        for row in found.rows:
            yield row, by_cell[tuple(plain(row.cell[axis]) for axis in axes)]


def cause(row: Row, was: Mapping[str, str]) -> str:
    """Why a verdict is another one than the earlier lab's; "" where none is known."""
    noise = float(was["noise_floor_share"])
    if was["verdict"] == "UNSURE":
        if noise > 0.10:
            return "over 10 % noise nothing was settled but what is far apart"
        if was["machine_busy"] == "yes":
            return "nothing was settled while the machine was busy"
        return "noise had widened the margin, and all arms of a group were judged together"
    if row.verdict is Verdict.INCONCLUSIVE:
        if was["verdict"] == "SAME" and noise > 0.025:
            return "noise had widened the margin, and so had bought a SAME"
        return "the interval over blocks or processes is wider" if row.reason else ""
    return ""


@pytest.fixture(scope="module")
def beside() -> list[Pair]:
    found = [pair for folder in FOLDERS for pair in pairs(folder)]
    return [(row, was) for row, was in found if row.ratio and was["verdict"]]


def test_ratios_lie_in_the_intervals_of_the_earlier_lab(beside: list[Pair]) -> None:
    outside = 0
    for row, was in beside:
        assert row.ratio is not None
        low, high = (float(was[f"times_reference_{end}95"]) for end in ("low", "high"))
        if not low <= row.ratio.value <= high:
            outside += 1
            # Its blocks scatter by tens of per cent to one side, which moves a median less.
            assert row.ratio.low is not None
            assert row.ratio.high is not None
            assert row.ratio.low <= high
            assert row.ratio.high >= low
            assert row.ratio.high / row.ratio.low > 1.2
    assert outside <= len(beside) // 200


def test_verdicts_that_changed_have_a_cause(beside: list[Pair]) -> None:
    changed: Counter[str] = Counter()
    for row, was in beside:
        before, now = was["verdict"], str(row.verdict).upper()
        if before != now.replace("INCONCLUSIVE", "UNSURE"):
            why = cause(row, was)
            assert why, (row, was)
            assert {before, now} != {"FASTER", "SLOWER"}
            changed[f"{before} -> {now}: {why}"] += 1
    print(*(f"{count:4} {what}" for what, count in changed.most_common()), sep="\n")


FOLDERS = sorted(
    path.parent
    for path in (Path(__file__).parents[3] / "results").glob("*/*/lab*/samples.jsonl")
    if (path.parent / SUMMARY).exists() and b"sealift-run/1" in (path.parent / PLAN).read_bytes()
)
if not FOLDERS:
    pytest.skip(reason="no run folder of the earlier lab is kept", allow_module_level=True)
