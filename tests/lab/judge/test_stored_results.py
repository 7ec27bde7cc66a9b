"""All stored runs of Sealift 0.1.0 judged anew, beside what it made of the same samples."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sealift_lab.judge.rows import results
from sealift_lab.model.results import Row
from sealift_lab.model.run import PLAN, SUMMARY
from sealift_lab.run.read_folder import Run


def plain(value: object) -> str:
    """Numbers alike, whatever wrote them."""
    try:
        return f"{float(str(value)):.6g}"
    except ValueError:
        return str(value)


def pairs(folder: Path) -> Iterator[tuple[Row, Mapping[str, str]]]:
    """Each row with a ratio beside the stored one of the same cell."""
    with (folder / SUMMARY).open(newline="") as file:
        stored = [row for row in csv.DictReader(file) if row.get("ns_per_operation")]
    for name, found in results(Run(folder)).items():
        axes = list(found.rows[0].cell) if found.rows else []
        of = [row for row in stored if row["experiment"] == name]
        by_cell = {tuple(plain(row[axis]) for axis in axes): row for row in of}
        for row in found.rows:
            was = by_cell[tuple(plain(row.cell[axis]) for axis in axes)]
            if row.ratio and was["verdict"]:
                yield row, was


def test_ratios_and_verdicts_are_no_others_than_those_of_the_earlier_lab() -> None:
    outside, beside = 0, [pair for folder in FOLDERS for pair in pairs(folder)]
    for row, was in beside:
        assert row.ratio is not None
        assert {str(row.verdict).upper(), was["verdict"]} != {"FASTER", "SLOWER"}
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


FOLDERS = sorted(
    path.parent
    for path in (Path(__file__).parents[3] / "results").glob("*/*/lab*/samples.jsonl")
    if (path.parent / SUMMARY).exists() and b"sealift-run/1" in (path.parent / PLAN).read_bytes()
)
if not FOLDERS:
    pytest.skip(reason="no run folder of the earlier lab is stored", allow_module_level=True)
