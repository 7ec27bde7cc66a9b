"""Published tables, and what may be said about a figure of theirs."""

import csv
from pathlib import Path

import pytest

import sealift.lab
from sealift.lab.published import (
    Comparison,
    Kind,
    Match,
    Printed,
    counted,
    operation_speed,
    payload_speed,
    quotient,
    table,
    table_row,
    times_reference,
)
from sealift.lab.result import Found, Row, Verified
from sealift.lab.stats import Interval

FOLDER = Path(sealift.lab.__path__[0]) / "data/published"


def interval(median: float, width: float = 0.01) -> Interval:
    return Interval(median, median * (1 - width), median * (1 + width), 0.95, 30)


def row(device: str, ns: float, *, wrong: str = "", ratio: Interval | None = None) -> Row:
    return Row(
        experiment="made-up",
        cell={"threads": 1, "device": device},
        compare="device",
        ns_per_operation=interval(ns),
        payload_bytes=128,
        reference="library",
        ratio=ratio,
        verdict=None,
        winner=True,
        noise_floor=0.01,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=30,
        wrong=wrong,
    )


def match(kind: Kind, published: float, here: Interval | None) -> Match:
    return Comparison("003-T4", "what", published, "x", "where", kind, here, "note").match


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.csv")), ids=lambda path: path.stem)
def test_every_published_table_says_of_each_row_where_it_stands(path: Path) -> None:
    rows = table(path.stem)
    assert rows
    assert list(rows[0])[-1] == "source"
    for each in rows:
        assert each["source"].startswith(f"document {path.stem[:3]}")
        assert None not in each, f"a row of {path.name} has more fields than its header"


def test_tables_keep_what_was_printed() -> None:
    values = [row["throughput_mb_s"] for row in table("003-T4-cpu-generations")]
    assert values == ["34.8", "176", "646", "42.3", "493", "2000", "42.4", "480", "1700"]
    assert len(table("003-F14-log")) == 12
    assert len(table("003-V1-vectors")) == 2
    with (FOLDER / "003-X1-claims.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == [dict(row) for row in table("003-X1-claims")]


def test_a_row_of_a_table_is_found_by_its_columns() -> None:
    assert table_row("003-X1-claims", claim_id="ipp")["value"] == "450"
    for wanted in ({"claim_id": "none"}, {"kind": "number"}):
        with pytest.raises(LookupError, match="right would be one"):
            table_row("003-X1-claims", **wanted)


@pytest.mark.parametrize(
    ("kind", "published", "here", "expected"),
    [
        (Kind.VALUE, 100, interval(109, 0.02), Match.REPRODUCED),
        (Kind.VALUE, 100, interval(92, 0.02), Match.REPRODUCED),
        (Kind.VALUE, 100, interval(100, 0.5), Match.UNSETTLED),
        (Kind.VALUE, 100, interval(150, 0.3), Match.UNSETTLED),
        (Kind.VALUE, 100, interval(150, 0.2), Match.FASTER),
        (Kind.VALUE, 100, interval(130), Match.FASTER),
        (Kind.VALUE, 100, interval(70), Match.SLOWER),
        (Kind.RATIO, 4.0, interval(4.2), Match.REPRODUCED),
        (Kind.RATIO, 4.0, interval(12), Match.SAME_DIRECTION),
        (Kind.RATIO, 4.0, interval(5.0, 0.3), Match.SAME_DIRECTION),
        (Kind.RATIO, 4.0, interval(4.0, 0.8), Match.UNSETTLED),
        (Kind.RATIO, 1.0, interval(1.3, 0.2), Match.UNSETTLED),
        (Kind.RATIO, 4.0, interval(0.9), Match.CONTRADICTED),
        (Kind.RATIO, 4.0, interval(1.0, 0.05), Match.UNSETTLED),
        (Kind.RATIO, 0.5, interval(0.8), Match.SAME_DIRECTION),
        (Kind.RATIO, 0.5, interval(1.2), Match.CONTRADICTED),
        (Kind.RATIO, 1.0, interval(1.97), Match.CONTRADICTED),
        (Kind.RATIO, 1.0, interval(0.6), Match.CONTRADICTED),
        (Kind.RATIO, 1.0, interval(1.05), Match.REPRODUCED),
        (Kind.SHAPE, 1.0, interval(1.05), Match.SAME_DIRECTION),
        (Kind.SHAPE, 1.0, interval(0.95), Match.CONTRADICTED),
        (Kind.SHAPE, 1.0, interval(1.0), Match.UNSETTLED),
        (Kind.SHAPE, 1.0, None, Match.NOT_RUN),
    ],
)
def test_a_figure_gets_the_verdict_its_interval_allows(
    kind: Kind, published: float, here: Interval | None, expected: Match
) -> None:
    assert match(kind, published, here) is expected


def test_a_figure_that_was_not_run_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="003-T4, what: not run, and no reason given"):
        Comparison("003-T4", "what", 1.0, "x", "where", Kind.VALUE, None, "")


def test_a_printed_figure_stands_beside_what_was_found_or_beside_the_reason() -> None:
    printed = Printed("003-T4", "what", 2.0, "x", "where", Kind.RATIO, "line", {"threads": 20})
    found = printed.beside(interval(4.0), "table code")
    assert (found.here, found.note, found.series) == (interval(4.0), "table code", "line")
    assert found.ratio is not None
    assert found.ratio.median == 2.0
    missing = printed.beside("ipp is absent", "ippcp")
    assert (missing.here, missing.note, missing.match) == (
        None,
        "ippcp: ipp is absent",
        Match.NOT_RUN,
    )


def test_speeds_come_from_rows_and_what_is_missing_says_why() -> None:
    found = Found(
        rows=[
            row("library", 100),
            row("cpu", 50, ratio=interval(2.0)),
            row("table", 900, wrong="a tag differs"),
        ],
        verified=[Verified("made-up", {"threads": 1, "device": "ipp"}, {}, "not installed")],
    )
    speed = payload_speed(found, device="library")
    assert isinstance(speed, Interval)
    assert speed.median == pytest.approx(1_280)
    assert speed.low < 1_280 < speed.high
    operations = operation_speed(found, device="cpu")
    assert isinstance(operations, Interval)
    assert operations.median == pytest.approx(20_000_000)
    assert times_reference(found, device="cpu") == interval(2.0)
    assert payload_speed(found, device="table") == "computed wrong: a tag differs"
    assert payload_speed(found, device="ipp") == "not installed"
    assert payload_speed(found, device="null") == "not among the cells of this run"
    assert (
        times_reference(found, device="library") == "library is what the others are compared with"
    )


def test_a_quotient_of_two_rows_has_the_ends_of_the_worst_case() -> None:
    wide = quotient(Interval(10, 9, 11, 0.95, 30), Interval(5, 4, 6, 0.95, 20))
    assert wide == Interval(2, 9 / 6, 11 / 4, 0.95, 20)
    assert quotient("no row", interval(1.0)) == "no row"
    assert quotient(interval(1.0), "not installed") == "not installed"


def test_what_was_counted_has_no_width() -> None:
    share = counted(0.5, of=37_800)
    assert (share.low, share.median, share.high, share.blocks) == (0.5, 0.5, 0.5, 37_800)
    assert match(Kind.RATIO, 0.4916, share) is Match.REPRODUCED
