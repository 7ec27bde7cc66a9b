"""Tables, files and the closing sentence, word for word."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from sealift.lab.answer import answer
from sealift.lab.plan import Cell
from sealift.lab.result import Ending, Result, Row
from sealift.lab.stats import Interval, Verdict
from sealift.lab.table import Ink, csv_text, json_text, table_text
from sealift.lab.workload import as_logged


def pair(
    ratio: float,
    verdict: Verdict,
    *,
    size_bytes: int = 128,
    keys: str = "one",
    workload: str = "AES-128",
    noise_floor: float = 0.01,
    machine_busy: bool = False,
    clean_share: float = 1.0,
) -> list[Row]:
    """Two rows: library at 100 ns, and cpu that is `ratio` times as fast."""
    winners = {
        Verdict.FASTER: ("cpu",),
        Verdict.SLOWER: ("library",),
    }.get(verdict, ("cpu", "library"))

    def row(device: str, ns: float) -> Row:
        return Row(
            workload=workload,
            device=device,
            size_bytes=size_bytes,
            keys=keys,
            mix="100/0/0",
            threads=1,
            batch=1_024,
            ns_per_message=Interval(ns, ns * 0.99, ns * 1.02, 0.95, 30),
            reference="library",
            ratio=None
            if device == "library"
            else Interval(ratio, ratio * 0.98, ratio * 1.02, 0.95, 30),
            verdict=None if device == "library" else verdict,
            winner=device in winners,
            noise_floor=noise_floor,
            clean_share=clean_share,
            machine_busy=machine_busy,
            blocks=30,
        )

    return [row("library", 100.0), row("cpu", 100.0 / ratio)]


MIXED = [
    *pair(2.5, Verdict.FASTER, size_bytes=16),
    *pair(2.0, Verdict.FASTER, size_bytes=64),
    *pair(1.5, Verdict.FASTER, size_bytes=1_024),
    *pair(1.001, Verdict.SAME, size_bytes=16_384),
]


def result_of(rows: list[Row]) -> Result:
    return Result(
        rows=tuple(rows),
        ending=Ending.INTERRUPTED,
        blocks_done=30,
        blocks_planned=60,
        unmeasured=(Cell(as_logged(), 1, 8, ("library", "cpu")),),
        sample_s=0.02,
        seed=1,
    )


def test_the_table_says_once_what_all_rows_share() -> None:
    assert table_text(MIXED[:2] + MIXED[6:]) == GOLDEN_TABLE


def test_a_plain_table_has_no_colour_no_boxes_and_no_wrapped_lines() -> None:
    text = table_text(MIXED)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == 2 + len(MIXED)
    assert all(line == line.rstrip() for line in text.splitlines())


def test_colour_changes_nothing_but_the_colour() -> None:
    coloured = table_text(MIXED, ink=Ink.COLOUR)
    assert "\x1b[32m" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == table_text(MIXED).splitlines()


def test_a_noisy_comparison_shows_ranges_and_no_verdict() -> None:
    text = table_text(pair(1.5, Verdict.UNSURE, noise_floor=0.2))
    assert "too noisy" in text
    assert "1.500 (1.470..1.530)" in text
    assert "UNSURE" not in text


def test_a_table_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no rows to show"):
        table_text([])
    with pytest.raises(ValueError, match="no rows, so no answer"):
        answer([])


def test_csv_has_fixed_columns_with_units_and_plain_numbers() -> None:
    assert csv_text(pair(2.0, Verdict.FASTER, size_bytes=1_024)) == (
        "workload,device,size_B,keys,mix_seal_open_bad_percent,threads,batch_messages,"
        "ns_per_message,ns_per_message_low95,ns_per_message_high95,messages_per_s,"
        "payload_GB_per_s,reference,times_reference,times_reference_low95,"
        "times_reference_high95,verdict,winner,noise_floor_share,clean_share,machine_busy,"
        "blocks,origin\n"
        "AES-128,library,1024,one,100/0/0,1,1024,100.0,99.00,102.0,10000000,10.24,library,"
        ",,,,no,0.01000,1.000,no,30,measured\n"
        "AES-128,cpu,1024,one,100/0/0,1,1024,50.00,49.50,51.00,20000000,20.48,library,"
        "2.000,1.960,2.040,FASTER,yes,0.01000,1.000,no,30,measured\n"
    )


def test_csv_of_nothing_still_has_its_header() -> None:
    assert len(list(csv.reader(io.StringIO(csv_text([]))))) == 1


def test_json_carries_schema_machine_rows_and_what_is_missing() -> None:
    result = result_of(MIXED)
    document = json.loads(json_text(result, {"cpu_model": {"value": "x", "reason": None}}))
    assert document["schema"] == "sealift-bench/1"
    assert document["machine"]["cpu_model"]["value"] == "x"
    assert (document["ending"], document["blocks_done"]) == ("interrupted", 30)
    assert document["unmeasured"][0]["workload"] == "003 as logged"
    assert document["answer"] == answer(MIXED)
    assert [row["device"] for row in document["rows"]] == ["library", "cpu"] * 4
    cpu = document["rows"][1]
    assert cpu["ratio"] == {
        "median": 2.5,
        "low": 2.45,
        "high": 2.55,
        "confidence": 0.95,
        "blocks": 30,
    }
    assert (cpu["verdict"], cpu["origin"], cpu["trust"]) == ("FASTER", "measured", "good")
    assert cpu["messages_per_s"] == pytest.approx(25_000_000)


def test_the_answer_names_device_sizes_factor_and_interval() -> None:
    assert answer(pair(2.41, Verdict.FASTER)) == (
        "Run it on cpu for 128 B: 2.410 [2.362..2.458] times as fast as library (95 % interval)."
    )


def test_the_answer_goes_to_the_reference_when_that_wins() -> None:
    assert answer(pair(0.5, Verdict.SLOWER)) == (
        "Run it on library for 128 B: 2.000 [1.961..2.041] times as fast as cpu (95 % interval)."
    )


def test_sizes_in_a_row_become_a_range_and_a_draw_is_told() -> None:
    assert answer(MIXED) == (
        "Run it on cpu for 3 of 4 pieces of work, 1.500 [1.470..1.530] to 2.500 [2.450..2.550] "
        "times as fast as library; either will do for 1.\n"
        "- Run it on cpu for 16 to 1,024 B: 1.500 [1.470..1.530] to 2.500 [2.450..2.550] times "
        "as fast as library (95 % intervals).\n"
        "- For 16,384 B, library and cpu are within noise (noise floor 1.0 %): either will do."
    )


def test_what_differs_between_pieces_of_work_is_named() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, keys="one"),
        *pair(3.0, Verdict.FASTER, keys="fresh"),
        *pair(1.5, Verdict.FASTER, size_bytes=28, keys="fresh", workload="003 as logged"),
    ]
    assert answer(rows) == (
        "Run it on cpu for 3 of 3 pieces of work, 1.500 [1.470..1.530] to 3.000 [2.940..3.060] "
        "times as fast as library.\n"
        "- Run it on cpu for 128 B (AES-128, keys one); 128 B (AES-128, keys fresh); "
        "28 B (003 as logged): 1.500 [1.470..1.530] to 3.000 [2.940..3.060] times as fast as "
        "library (95 % intervals)."
    )


def test_each_winner_is_named_in_the_first_line_and_no_winner_is_no_advice() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(3.0, Verdict.FASTER, size_bytes=64),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert answer(rows).splitlines()[0] == (
        "Run it on cpu for 2 of 3 pieces of work, 2.000 [1.960..2.040] to 3.000 [2.940..3.060] "
        "times as fast as library; on library for 1 of 3 pieces of work, 2.000 [1.961..2.041] "
        "times as fast as cpu."
    )


def two(ratio: float, verdict: Verdict, *, noise_floor: float = 0.01) -> list[Row]:
    """Two pieces of work that end alike."""
    return [
        row
        for size in (16, 64)
        for row in pair(ratio, verdict, size_bytes=size, noise_floor=noise_floor)
    ]


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        (
            two(1.0, Verdict.SAME),
            "Run it anywhere: all that was measured here is equally fast, within noise.",
        ),
        (
            two(1.02, Verdict.UNSURE),
            "Not settled here: of 2 pieces of work, longer samples are needed for 2.",
        ),
        (
            two(2.0, Verdict.UNSURE, noise_floor=0.2),
            "Not settled here: of 2 pieces of work, there was too much noise for 2.",
        ),
        (
            [row for row in two(2.0, Verdict.FASTER) if row.device == "library"],
            "Only library was measured, so there is nothing to choose from.",
        ),
        (
            [*two(1.0, Verdict.SAME)[:2], *two(1.02, Verdict.UNSURE)[2:]],
            "Not settled here: of 2 pieces of work, either will do for 1 and "
            "longer samples are needed for 1.",
        ),
    ],
)
def test_without_a_winner_the_first_line_says_why(rows: list[Row], headline: str) -> None:
    assert answer(rows).splitlines()[0] == headline


def test_two_equal_devices_above_a_slower_one_are_not_anywhere() -> None:
    rows = []
    for library, cpu in (two(1.0, Verdict.SAME)[:2], two(1.0, Verdict.SAME)[2:]):
        slow = replace(cpu, device="cuda", verdict=Verdict.SLOWER, winner=False)
        rows += [library, cpu, slow]
    assert answer(rows).splitlines() == [
        "No single winner: of 2 pieces of work, either will do for 2.",
        "- For 16 and 64 B, library and cpu are within noise (noise floor 1.0 %): either will do.",
    ]


def test_what_nobody_won_is_counted_by_its_reason_beside_a_winner() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(1.0, Verdict.SAME, size_bytes=64),
        *pair(1.02, Verdict.UNSURE, size_bytes=128),
        *pair(1.5, Verdict.UNSURE, size_bytes=256, noise_floor=0.3),
        pair(1.5, Verdict.FASTER, size_bytes=512)[0],
    ]
    assert answer(rows).splitlines()[0] == (
        "Run it on cpu for 1 of 5 pieces of work, 2.000 [1.960..2.040] times as fast as library; "
        "either will do for 1, longer samples are needed for 1, "
        "there was too much noise for 1 and there was one device only for 1."
    )


def test_what_is_unsettled_is_said_to_be() -> None:
    assert answer(pair(1.02, Verdict.UNSURE)) == (
        "For 128 B, these samples don't settle it between library and cpu: measure longer."
    )


def test_a_noisy_machine_gets_no_recommendation() -> None:
    assert answer(pair(3.0, Verdict.UNSURE, noise_floor=0.25)) == (
        "For 128 B there is no verdict: the same code differed from itself by up to 25.0 %.\n"
        "- The machine was busy during 1 of 1 piece of work: measure again when it is quiet."
    )


def test_a_busy_or_uneasy_machine_is_mentioned_after_the_answer() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16, machine_busy=True, clean_share=0.3),
        *pair(2.0, Verdict.FASTER, size_bytes=64, noise_floor=0.04),
    ]
    assert answer(rows).endswith(
        "\n- The machine was busy during 1 of 2 pieces of work: measure again when it is quiet."
        "\n- Take 1 of 2 pieces of work with care: noise floor up to 4.0 %."
    )


def test_one_device_alone_is_no_choice() -> None:
    assert answer(pair(2.0, Verdict.FASTER)[:1]) == (
        "For 128 B only library was measured, so there is nothing to choose from."
    )


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.SLOWER])
def test_a_winner_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    text = answer([library, replace(cpu, verdict=verdict)])
    assert "Run it on" not in text
    assert "don't settle it" in text


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.FASTER])
def test_a_winning_reference_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(0.5, Verdict.SLOWER)
    text = answer([library, replace(cpu, verdict=verdict)])
    assert "Run it on" not in text
    assert "don't settle it" in text


def test_a_third_device_does_not_turn_a_lead_over_the_reference_into_a_win() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    third = replace(cpu, device="cuda", ratio=Interval(2.01, 1.97, 2.05, 0.95, 30))
    text = answer([library, cpu, third])
    assert text == (
        "For 128 B, these samples don't settle it between cpu and cuda: measure longer."
    )


GOLDEN_TABLE = """\
workload AES-128; keys one; mix 100/0/0; threads 1; batch 1,024; origin measured
size B  device   ns/message  95 % interval  messages/s    GB/s  \
        times library  verdict  noise    clean  blocks
    16  library       100.0   99.00..102.0  10,000,000  0.1600  \
            reference           1.0 %  100.0 %      30
    16  cpu           40.00   39.60..40.80  25,000,000  0.4000  \
 2.500 (2.450..2.550)  FASTER   1.0 %  100.0 %      30
16,384  library       100.0   99.00..102.0  10,000,000   163.8  \
            reference           1.0 %  100.0 %      30
16,384  cpu           99.90   98.90..101.9  10,010,000   164.0  \
1.001 (0.9810..1.021)  SAME     1.0 %  100.0 %      30
"""
