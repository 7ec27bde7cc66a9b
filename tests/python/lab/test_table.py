"""Tables, word for word."""

import re
from dataclasses import replace

import pytest

from made_rows import pair
from sealift.lab.stats import Verdict
from sealift.lab.table import Ink, aligned, fitted, table_text

MIXED = [
    *pair(2.5, Verdict.FASTER, size_bytes=16),
    *pair(2.0, Verdict.FASTER, size_bytes=64),
    *pair(1.5, Verdict.FASTER, size_bytes=1_024),
    *pair(1.001, Verdict.SAME, size_bytes=16_384),
]


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
    assert "UNSURE: noise floor over 10 %" in text
    assert "1.500 [1.470..1.530]" in text


def test_a_comparison_without_a_winner_says_why() -> None:
    text = table_text(pair(1.5, Verdict.UNSURE, machine_busy=True))
    assert "  UNSURE: machine busy  " in text
    assert "UNSURE" not in table_text(pair(1.5, Verdict.FASTER, machine_busy=True))


@pytest.mark.parametrize(
    ("noise_floor", "said"), [(0.03, "  SAME    "), (0.0506, "  SAME within 5.1 %  ")]
)
def test_the_same_says_within_what_where_the_noise_is_no_small_one(
    noise_floor: float, said: str
) -> None:
    assert said in table_text(pair(1.0, Verdict.SAME, noise_floor=noise_floor))
    faster = table_text(pair(1.5, Verdict.FASTER, noise_floor=noise_floor))
    assert "within" not in faster


def test_a_noise_floor_over_one_is_told_as_it_is() -> None:
    assert "  140 %  " in table_text(pair(1.5, Verdict.UNSURE, noise_floor=1.4))


def test_a_wrong_result_stands_in_the_place_of_the_verdict() -> None:
    library, cpu = pair(1.5, Verdict.FASTER)
    text = table_text([library, replace(cpu, wrong="a tag differs")])
    assert "WRONG RESULT" in text
    assert "FASTER" not in text


def test_operations_without_payload_have_no_speed_in_bytes() -> None:
    signed = [replace(row, payload_bytes=0.0) for row in pair(2.0, Verdict.FASTER)]
    head = table_text(signed, operation="signature").splitlines()[1]
    assert "ns/signature" in head
    assert "signatures/s" in head
    assert "MB/s" not in head


def test_a_table_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no rows to show"):
        table_text([])


def test_columns_stand_under_each_other() -> None:
    assert aligned([("a", "long"), ("bbb", "")]) == "a    long\nbbb"


ROWS = [
    ("figure", "here", "what", "with what"),
    ("T4", "1.0", "a speed", "a long sentence of many words"),
    ("F5", "200.0", "", "few words"),
    ("F6", "", "", ""),
]


def test_a_table_that_has_room_stays_as_it_is() -> None:
    longest = max(map(len, aligned(ROWS).splitlines()))
    assert fitted(ROWS, None) == aligned(ROWS) == fitted(ROWS, longest)
    assert fitted(ROWS, longest - 1) != aligned(ROWS)


def test_what_has_no_room_beside_stands_below_and_no_line_is_longer() -> None:
    assert fitted(ROWS, 50) == (
        "figure  here   what\n    with what\n"
        "T4      1.0    a speed\n    a long sentence of many words\n"
        "F5      200.0\n    few words\n"
        "F6"
    )
    narrow = fitted([("name", "what"), ("x" * 30, "one two three four five six seven")], 40)
    assert narrow.splitlines()[2:] == ["x" * 30, "    one two three four five six seven"]
    words = [("name", "what"), ("x" * 30, "word " * 100)]
    assert max(map(len, fitted(words, 20).splitlines())) <= 40
    assert fitted(words, 40).count("word") == 100


GOLDEN_TABLE = """\
workload AES-128; keys one; mix 100/0/0; threads 1; batch 1,024; origin measured
size B  device   ns/message   95 % interval  messages/s     MB/s  \
        times library  verdict  noise    clean  sampled
    16  library       100.0  [99.00..102.0]  10,000,000    160.0  \
            reference           1.0 %  100.0 %       30
    16  cpu           40.00  [39.60..40.80]  25,000,000    400.0  \
 2.500 [2.450..2.550]  FASTER   1.0 %  100.0 %       30
16,384  library       100.0  [99.00..102.0]  10,000,000  163,800  \
            reference           1.0 %  100.0 %       30
16,384  cpu           99.90  [98.90..101.9]  10,010,000  164,000  \
1.001 [0.9810..1.021]  SAME     1.0 %  100.0 %       30
"""
