"""All kept runs judged anew, beside what the lab before this one made of the same samples."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec
import polars as pl
import pytest

from sealift_lab.judge.judge import results
from sealift_lab.model.results import Origin, Row, Verdict
from sealift_lab.model.run import (
    PLAN,
    REPORTS,
    SAMPLES,
    SUMMARY,
    Plan,
    PlannedExperiment,
    ReportLine,
    SampleLine,
)


@dataclass(frozen=True)
class KeptRun:
    plan: Plan
    samples: pl.DataFrame
    reports: list[ReportLine]


def read(folder: Path) -> KeptRun:
    kept = json.loads((folder / PLAN).read_text())
    experiments = [
        PlannedExperiment(
            name=each["name"],
            compare=each["compare"],
            groups=each["groups"],
            blocks=each["blocks"],
            origin=Origin(each["origin"]),
        )
        for each in kept["experiments"]
    ]
    plan = Plan(
        schema=kept["schema"],
        version=kept["version"],
        created=kept["created"],
        command=kept["command"],
        seed=kept["seed"],
        budget_s=kept["budget_s"],
        processes=kept["restarts"],
        experiments=experiments,
    )
    lines = msgspec.json.Decoder(SampleLine).decode_lines((folder / SAMPLES).read_bytes())
    schema = {each.name: KINDS.get(each.type, pl.Float64()) for each in fields(SampleLine)}
    columns = {name: [getattr(line, name) for line in lines] for name in schema}
    samples = pl.DataFrame(columns, schema=schema)
    whole = samples.filter(pl.col("again").any().over("experiment", "group", "block"))
    reports = msgspec.json.Decoder(ReportLine).decode_lines((folder / REPORTS).read_bytes())
    return KeptRun(plan, whole, reports)


def plain(value: object) -> str:
    """Numbers alike, whatever wrote them."""
    try:
        return f"{float(str(value)):.6g}"
    except ValueError:
        return str(value)


def pairs(folder: Path) -> Iterator[tuple[Row, Mapping[str, str]]]:
    """Each row beside the kept one of the same cell."""
    with (folder / SUMMARY).open(newline="") as file:
        kept = [row for row in csv.DictReader(file) if row.get("ns_per_operation")]
    run = read(folder)
    for name, found in results(run).items():
        axes = list(found.rows[0].cell) if found.rows else []
        by_cell = {
            tuple(plain(row[axis]) for axis in axes): row
            for row in kept
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
def beside() -> list[tuple[Row, Mapping[str, str]]]:
    found = [pair for folder in FOLDERS for pair in pairs(folder)]
    return [(row, was) for row, was in found if row.ratio and was["verdict"]]


def test_ratios_lie_in_the_intervals_of_the_earlier_lab(
    beside: list[tuple[Row, Mapping[str, str]]],
) -> None:
    outside = []
    for row, was in beside:
        assert row.ratio is not None
        low, high = (float(was[f"times_reference_{end}95"]) for end in ("low", "high"))
        if not low <= row.ratio.value <= high:
            outside.append((dict(row.cell), row.ratio, was["times_reference"]))
            # Its blocks scatter by tens of per cent to one side, which moves a median less.
            assert row.ratio.low is not None
            assert row.ratio.high is not None
            assert row.ratio.low <= high
            assert row.ratio.high >= low
            assert row.ratio.high / row.ratio.low > 1.2
    print(f"{len(outside)} of {len(beside)} outside: {outside}")
    assert len(outside) <= len(beside) // 200


def test_verdicts_that_changed_have_a_cause(beside: list[tuple[Row, Mapping[str, str]]]) -> None:
    changed: Counter[str] = Counter()
    for row, was in beside:
        before, now = was["verdict"], str(row.verdict).upper()
        if before != now.replace("INCONCLUSIVE", "UNSURE"):
            why = cause(row, was)
            assert why, (row, was)
            assert {before, now} != {"FASTER", "SLOWER"}
            changed[f"{before} -> {now}: {why}"] += 1
    print(*(f"{count:4} {what}" for what, count in changed.most_common()), sep="\n")
    print(Counter(str(row.verdict) for row, _ in beside))


FOLDERS = sorted(
    path.parent
    for path in (Path(__file__).parents[3] / "results").glob("*/*/lab*/samples.jsonl")
    if (path.parent / SUMMARY).exists() and b"sealift-run/1" in (path.parent / PLAN).read_bytes()
)
KINDS: Mapping[object, pl.DataType] = {
    str: pl.String(),
    int: pl.Int64(),
    bool: pl.Boolean(),
    float: pl.Float64(),
}
if not FOLDERS:
    pytest.skip(reason="no run folder of the earlier lab is kept", allow_module_level=True)
