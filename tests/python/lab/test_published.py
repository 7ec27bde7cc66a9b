"""Published tables, and what may be said about a figure of theirs."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

import sealift.lab
from sealift.lab.published import (
    Comparison,
    Kind,
    Match,
    Measured,
    Printed,
    Rounded,
    conditions,
    counted,
    gain_a_thread,
    one_after_other,
    operation_speed,
    operation_time,
    payload_speed,
    quotient,
    table,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin, Row, Verified
from sealift.lab.stats import Interval
from sealift.lab.values import Cell

FOLDER = Path(sealift.lab.__path__[0]) / "data/published"


def interval(median: float, width: float = 0.01) -> Interval:
    return Interval(median, median * (1 - width), median * (1 + width), 0.95, 30)


def row(
    device: str,
    ns: float,
    *,
    wrong: str = "",
    ratio: Interval | None = None,
    threads: int = 1,
    floor: float = 0.01,
    busy: bool = False,
) -> Row:
    return Row(
        experiment="made-up",
        cell={"keys": "one", "batch": 1_024, "threads": threads, "device": device},
        compare="device",
        ns_per_operation=interval(ns),
        payload_bytes=128,
        reference="library",
        ratio=ratio,
        verdict=None,
        winner=True,
        noise_floor=floor,
        clean_share=1.0,
        machine_busy=busy,
        steady=True,
        blocks=30,
        wrong=wrong,
    )


def compared(
    kind: Kind, published: float, here: Interval | None, floor: float = 0.01, *, busy: bool = False
) -> Comparison:
    return Comparison(
        figure="003-T4",
        what="what",
        published=published,
        unit="x",
        source="where",
        kind=kind,
        here=here,
        note="note",
        noise_floor=floor,
        machine_busy=busy,
    )


def match(kind: Kind, published: float, here: Interval | None) -> Match:
    return compared(kind, published, here).match


# Where the authors of document 004 keep their results and plots.
BESIDE_THE_DOCUMENTS = (
    "gaps-closure/",
    "Loremkang/upmem-sdk-light ",
    "UBC-ECE-Sasha/PIM-common ",
    "UBC-ECE-Sasha/PIM-encryption ",
    "arXiv 2105.03814 ",
    "plasgroup/bp-forest-exp ",
)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.csv")), ids=lambda path: path.stem)
def test_every_published_table_says_of_each_row_where_it_stands(path: Path) -> None:
    rows = table(path.stem)
    assert rows
    assert list(rows[0])[-1] == "source"
    for each in rows:
        assert each["source"].startswith((f"document {path.stem[:3]}", *BESIDE_THE_DOCUMENTS))
        assert None not in each, f"a row of {path.name} has more fields than its header"


def test_tables_keep_what_was_printed() -> None:
    values = [row["throughput_mb_s"] for row in table("003-T4-cpu-generations")]
    assert values == ["34.8", "176", "646", "42.3", "493", "2000", "42.4", "480", "1700"]
    assert len(table("003-F14-log")) == 12
    assert len(table("003-V1-vectors")) == 2
    with (FOLDER / "003-X1-claims.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == [dict(row) for row in table("003-X1-claims")]


def test_times_one_after_the_other_add_up_with_the_worst_of_both() -> None:
    found = Found([row("library", 100.0), row("cpu", 50.0, floor=0.2)], ())
    both = one_after_other(*(operation_time(found, device=name) for name in ("library", "cpu")))
    assert isinstance(both, Measured)
    assert both.interval == Interval(150.0, 148.5, 151.5, 0.95 + 0.95 - 1, 30)
    assert (both.noise_floor, both.is_paired) == (0.2, False)
    missing = operation_time(found, device="table")
    assert one_after_other(both, missing) == missing == "not among the cells of this run"


def test_a_row_of_a_table_is_found_by_its_columns() -> None:
    assert table_row("003-X1-claims", claim_id="ipp")["value"] == "450"
    for wanted in ({"claim_id": "none"}, {"kind": "number"}):
        with pytest.raises(LookupError, match="right would be one"):
            table_row("003-X1-claims", **wanted)


@pytest.mark.parametrize(
    ("kind", "published", "here", "expected"),
    [
        (Kind.VALUE, 100, interval(105), Match.ALIKE),
        (Kind.VALUE, 100, interval(94), Match.ALIKE),
        (Kind.VALUE, 100, interval(109, 0.02), Match.UNSETTLED),
        (Kind.VALUE, 100, interval(100, 0.5), Match.UNSETTLED),
        (Kind.VALUE, 100, interval(150, 0.3), Match.UNSETTLED),
        (Kind.VALUE, 100, interval(150, 0.2), Match.FASTER),
        (Kind.VALUE, 100, interval(70), Match.SLOWER),
        (Kind.RATIO, 4.0, interval(4.1), Match.REPRODUCED),
        (Kind.RATIO, 4.0, Interval(4.2, 3.8, 4.6, 0.95, 30), Match.UNSETTLED),
        (Kind.RATIO, 4.0, interval(4.4, 0.02), Match.UNSETTLED),
        (Kind.RATIO, 4.0, interval(12), Match.LARGER),
        (Kind.RATIO, 4.0, interval(1.5), Match.SMALLER),
        (Kind.RATIO, 4.0, interval(5.0, 0.3), Match.UNSETTLED),
        (Kind.RATIO, 4.0, interval(1.0, 0.05), Match.NO_EFFECT),
        (Kind.RATIO, 4.0, interval(1.0, 0.2), Match.UNSETTLED),
        (Kind.RATIO, 1.2, interval(1.0, 0.05), Match.UNSETTLED),
        (Kind.RATIO, 4.0, interval(0.9), Match.CONTRADICTED),
        (Kind.RATIO, 4.0, interval(0.985), Match.NO_EFFECT),
        (Kind.RATIO, 1.05, interval(1.0), Match.REPRODUCED),
        (Kind.RATIO, 1.05, interval(0.9), Match.CONTRADICTED),
        (Kind.RATIO, 1.05, interval(0.945, 0.001), Match.UNSETTLED),
        (Kind.RATIO, 0.5, interval(0.5), Match.REPRODUCED),
        (Kind.RATIO, 0.5, interval(0.8), Match.LARGER),
        (Kind.RATIO, 0.5, interval(0.3), Match.SMALLER),
        (Kind.RATIO, 0.5, interval(1.2), Match.CONTRADICTED),
        (Kind.SLOPE, 0.5, interval(0.5), Match.REPRODUCED),
        (Kind.SLOPE, 0.5, interval(0.98), Match.LARGER),
        (Kind.SLOPE, 0.5, interval(1.2), Match.LARGER),
        (Kind.SLOPE, 0.5, interval(0.2), Match.SMALLER),
        (Kind.SHAPE, 1.0, interval(1.05), Match.HOLDS),
        (Kind.SHAPE, 1.0, interval(0.95), Match.CONTRADICTED),
        (Kind.SHAPE, 1.0, interval(1.025), Match.UNSETTLED),
        (Kind.SHAPE, 1.0, interval(1.0), Match.UNSETTLED),
        (Kind.READING, 1.0, interval(1.05), Match.READING_HOLDS),
        (Kind.READING, 1.0, interval(0.95), Match.READING_FAILS),
        (Kind.SHAPE, 1.0, None, Match.NOT_RUN),
    ],
)
def test_a_figure_gets_the_verdict_its_whole_interval_allows(
    kind: Kind, published: float, here: Interval | None, expected: Match
) -> None:
    assert match(kind, published, here) is expected


@pytest.mark.parametrize("kind", [Kind.VALUE, Kind.RATIO, Kind.SLOPE, Kind.SHAPE, Kind.READING])
def test_what_can_not_be_trusted_settles_nothing_and_says_why(kind: Kind) -> None:
    published = 1.0 if kind in (Kind.SHAPE, Kind.READING) else 2.0
    clear = Interval(5.0, 4.99, 5.01, 0.95, 8)
    assert compared(kind, published, clear).doubt == ""
    assert compared(kind, published, clear).match is not Match.UNSETTLED
    for doubtful, why in (
        (compared(kind, published, replace(clear, blocks=7)), "7 blocks are too few, 8 are needed"),
        (compared(kind, published, clear, 1.5), "the same code differed from itself by 150 %"),
        (compared(kind, published, clear, busy=True), "the machine was busy"),
    ):
        assert doubtful.match is Match.UNSETTLED
        assert doubtful.doubt == why


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("origin", Origin)
def test_every_kind_of_every_origin_gets_a_verdict(kind: Kind, origin: Origin) -> None:
    span = Rounded(4.0, 3.0, 5.0) if kind in {Kind.COUNT, Kind.WITHIN} else None
    made = replace(compared(Kind.VALUE, 2.0, Interval(5.0, 4.99, 5.01, 0.95, 8)), origin=origin)
    each = replace(made, kind=kind, span=span)
    assert each.match in Match
    assert (each.match is Match.UNSETTLED) == bool(each.doubt)


def test_noise_widens_the_margin_around_a_limit() -> None:
    near = interval(1.06, 0.005)
    assert compared(Kind.SHAPE, 1.0, interval(1.31), 0.1).match is Match.HOLDS
    assert compared(Kind.SHAPE, 1.0, interval(1.31), 0.11).match is Match.UNSETTLED
    assert compared(Kind.SHAPE, 1.0, interval(1.36), 0.11).match is Match.HOLDS
    assert compared(Kind.SHAPE, 1.0, near, 0.01).match is Match.HOLDS
    noisy = compared(Kind.SHAPE, 1.0, near, 0.08)
    assert noisy.match is Match.UNSETTLED
    assert noisy.doubt == "the interval comes within 8 % of a limit, or over it"


def test_a_published_ratio_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"what: a ratio of 1 has no side of 1 .* as a slope"):
        compared(Kind.RATIO, 1.0, interval(2.0))


def in_span(kind: Kind, published: float, span: Rounded, here: float | None) -> Comparison:
    found = "not measured" if here is None else counted(here, of=100)
    return Printed("003-F14", "what", published, "B", "where", kind, span=span).beside(found, "n")


def test_a_count_is_judged_by_the_rounding_of_its_print() -> None:
    span = Rounded.printed("87.0 GB").scaled(1e-9)
    for here, expected in ((86.96, Match.REPRODUCED), (87.04, Match.REPRODUCED)):
        assert in_span(Kind.COUNT, 87.0, span, here).match is expected
    for here in (86.9, 87.1):
        assert in_span(Kind.COUNT, 87.0, span, here).match is Match.DIFFERS
    assert in_span(Kind.COUNT, 87.0, span, None).match is Match.NOT_RUN


def test_none_is_contradicted_by_one() -> None:
    none = Rounded(0.0, 0.0, 0.0)
    assert in_span(Kind.COUNT, 0.0, none, 0).match is Match.REPRODUCED
    one = in_span(Kind.COUNT, 0.0, none, 1)
    assert one.match is Match.CONTRADICTED
    assert one.ratio is None


def test_a_figure_against_others_of_its_document_contradicts_it_or_is_refused() -> None:
    others = Rounded(26.7, 26.3, 29.2)
    assert in_span(Kind.WITHIN, 128, others, None).match is Match.AGAINST_ITSELF
    with pytest.raises(ValueError, match="what: the document's other figures give the same"):
        in_span(Kind.WITHIN, 27, others, None)
    with pytest.raises(ValueError, match="a figure of kind count needs a span"):
        compared(Kind.COUNT, 1.0, interval(1.0))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1.1 G", 1.05e9, 1.15e9),
        ("87.0 GB", 86.95e9, 87.05e9),
        ("822.2 M", 822.15e6, 822.25e6),
        ("128 Bytes", 127.5, 128.5),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(
    text: str, low: float, high: float
) -> None:
    read = Rounded.printed(text)
    assert [read.low, read.high] == pytest.approx([low, high])
    assert read.value == pytest.approx((low + high) / 2)


@pytest.mark.parametrize("text", ["", "128", "much G", "1 2 G"])
def test_what_is_no_printed_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no printed number with a unit, such as 87\.0 GB"):
        Rounded.printed(text)


def test_rounded_numbers_carry_the_worst_of_each_other() -> None:
    one, four = Rounded(1, 0.5, 1.5), Rounded(4, 3.5, 4.5)
    assert one + four == Rounded(5, 4, 6)
    assert four.over(one) == Rounded(4, 3.5 / 1.5, 9)
    # A share knows that its own error is in the sum too: 0.5 beside 4.5, not 0.5 of 6.
    assert one.share_beside(four) == Rounded(0.2, 0.1, 0.3)


def test_a_figure_that_was_not_run_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="003-T4, what: not run, and no reason given"):
        Comparison("003-T4", "what", 1.0, "x", "where", Kind.VALUE, None, "")


def test_a_printed_figure_stands_beside_what_was_found_or_beside_the_reason() -> None:
    printed = Printed("003-T4", "what", 2.0, "x", "where", Kind.RATIO, "line", {"threads": 20})
    found = printed.beside(Measured(interval(4.0), 0.04, machine_busy=True), "table code")
    assert (found.here, found.note, found.series) == (interval(4.0), "table code", "line")
    assert (found.noise_floor, found.machine_busy) == (0.04, True)
    assert found.ratio is not None
    assert found.ratio.median == 2.0
    missing = printed.beside("ipp is absent", "ippcp")
    assert (missing.here, missing.note, missing.match) == (
        None,
        "ippcp: ipp is absent",
        Match.NOT_RUN,
    )
    apart = printed.beside(quotient(Measured(interval(4.0)), Measured(interval(2.0))), "threads")
    assert apart.note == "threads; not paired"


FOUND = Found(
    rows=[
        row("library", 100),
        row("cpu", 50, ratio=interval(2.5), floor=0.04, busy=True),
        row("mine", 25, ratio=interval(4.0)),
        row("library", 60, threads=2, floor=0.06),
        row("table", 900, wrong="a tag differs"),
    ],
    verified=[
        Verified("made-up", {"threads": 1, "device": "ipp", "keys": "fresh"}, {}, "not installed")
    ],
)


def test_speeds_come_from_rows_and_what_is_missing_says_why() -> None:
    speed = payload_speed(FOUND, device="library", threads=1)
    assert isinstance(speed, Measured)
    assert speed.interval.median == pytest.approx(1_280)
    assert speed.interval.low < 1_280 < speed.interval.high
    operations = operation_speed(FOUND, device="cpu")
    assert isinstance(operations, Measured)
    assert operations.interval.median == pytest.approx(20_000_000)
    assert payload_speed(FOUND, device="table") == "computed wrong: a tag differs"
    assert payload_speed(FOUND, device="ipp") == "not installed"
    assert payload_speed(FOUND, device="null") == "not among the cells of this run"


def test_figures_carry_the_trust_of_the_rows_they_stand_on() -> None:
    calm, busy = (payload_speed(FOUND, device=name, threads=1) for name in ("library", "cpu"))
    assert isinstance(calm, Measured)
    assert isinstance(busy, Measured)
    assert (calm.noise_floor, calm.machine_busy) == (0.01, False)
    assert (busy.noise_floor, busy.machine_busy) == (0.04, True)
    for both in (quotient(calm, busy), quotient(busy, calm)):
        assert isinstance(both, Measured)
        assert (both.noise_floor, both.machine_busy) == (0.04, True)


def test_a_ratio_with_the_reference_is_the_paired_one_from_either_side() -> None:
    library: Cell = {"device": "library", "threads": 1}
    cpu: Cell = {"device": "cpu"}
    paired = Measured(interval(2.5), 0.04, machine_busy=True)
    assert times_as_fast(FOUND, cpu, library) == paired
    assert times_as_fast(FOUND, library, cpu) == paired.inverse()
    assert times_as_fast(FOUND, {"device": "ipp"}, library) == "not installed"
    assert times_as_fast(FOUND, library, {"device": "table"}) == "computed wrong: a tag differs"


def test_a_ratio_without_a_pair_says_that_it_is_none() -> None:
    apart = times_as_fast(FOUND, {"device": "mine"}, {"device": "cpu"})
    threads = times_as_fast(FOUND, {"device": "library", "threads": 2}, {"device": "cpu"})
    for each in (apart, threads):
        assert isinstance(each, Measured)
        assert not each.is_paired
        assert each.interval.confidence == pytest.approx(0.90)


def test_what_threads_gain_is_told_for_each_of_them() -> None:
    one, two = ({"device": "library", "threads": threads} for threads in (1, 2))
    gain = gain_a_thread(FOUND, one, two)
    assert isinstance(gain, Measured)
    assert gain.interval.median == pytest.approx(100 / 60 / 2)
    assert (gain.noise_floor, gain.is_paired) == (0.06, False)
    assert gain_a_thread(FOUND, one, one) == "no more than one thread was measured"


def test_a_quotient_of_two_rows_has_the_ends_of_the_worst_case_and_its_confidence() -> None:
    wide = quotient(Measured(Interval(10, 9, 11, 0.95, 30)), Measured(Interval(5, 4, 6, 0.95, 20)))
    assert isinstance(wide, Measured)
    assert wide.interval == Interval(2, 9 / 6, 11 / 4, wide.interval.confidence, 20)
    assert wide.interval.confidence == pytest.approx(0.90)
    assert quotient("no row", Measured(interval(1.0))) == "no row"
    assert quotient(Measured(interval(1.0)), "not installed") == "not installed"


def test_conditions_name_keys_batch_and_threads_also_of_what_was_skipped() -> None:
    assert conditions(FOUND, device="cpu") == "one key, batch 1,024, 1 thread"
    assert conditions(FOUND, device="library", threads=2) == "one key, batch 1,024, 2 threads"
    assert conditions(FOUND, device="ipp") == "a fresh key each, 1 thread"
    assert conditions(FOUND, device="none", keys="one") == "one key"


def test_what_was_counted_has_no_width() -> None:
    share = counted(0.5, of=37_800).interval
    assert (share.low, share.median, share.high, share.blocks) == (0.5, 0.5, 0.5, 37_800)
