"""Numbers as people read them."""

import contextlib
import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealift.lab.units import (
    axis_text,
    format_measure,
    format_noise,
    format_share,
    format_size,
    keys_text,
    parse_sizes,
    plain_measure,
)

FIGURES = st.floats(min_value=1e-12, max_value=1.7e308, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.000412345, "0.0004123"),
        (0.99999, "1.000"),
        (9.9996, "10.00"),
        (12.344, "12.34"),
        (999.96, "1,000"),
        (1_234_567, "1,235,000"),
        (1e30, "1,000,000,000,000,000,000,000,000,000,000"),
        (0, "0"),
    ],
)
def test_a_figure_has_four_significant_digits(value: float, text: str) -> None:
    assert format_measure(value) == text
    assert plain_measure(value) == text.replace(",", "")


@given(FIGURES)
def test_no_figure_above_zero_is_printed_as_zero_or_far_from_itself(value: float) -> None:
    printed = float(plain_measure(value))
    assert printed > 0
    assert abs(printed - value) <= value * 0.000_501


@given(FIGURES)
def test_every_figure_shows_exactly_four_digits_and_no_exponent(value: float) -> None:
    text = plain_measure(value)
    assert re.fullmatch(r"\d+(\.\d+)?", text)
    digits = Decimal(text).as_tuple().digits
    assert len(digits) == 4 or (len(digits) > 4 and not any(digits[4:]))


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_no_figure_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"finite and not negative"):
        format_measure(value)


def test_sizes_are_grouped_and_shares_are_per_cent() -> None:
    assert [format_size(size) for size in (16, 1_024, 28.25)] == ["16", "1,024", "28.25"]
    assert format_share(0.9876) == "98.8 %"
    with pytest.raises(ValueError, match=r"1\.2"):
        format_share(1.2)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.111, "11.1 %"),
        (1.4, "140 %"),
        (10, "1,000 %"),
        (10.1, "over 1,000 %"),
        (4e9, "over 1,000 %"),
    ],
)
def test_noise_beyond_all_measure_is_told_as_that(share: float, text: str) -> None:
    assert format_noise(share) == text


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("16,64,128", (16, 64, 128)),
        ("16:1024:*2", (16, 32, 64, 128, 256, 512, 1024)),
        ("16:100:*2", (16, 32, 64)),
        ("16:64:+16, 1_024", (16, 32, 48, 64, 1024)),
        ("64,16:64:*2", (64, 16, 32)),
    ],
)
def test_a_list_of_sizes_is_read_in_order_and_each_once(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty part"),
        ("16,,64", "empty part"),
        ("16,abc", "'abc'"),
        ("16,-4", "'-4'"),
        ("16,1.5", "'1.5'"),
        ("0", "'0' is no size in bytes"),
        ("1,024", "'024' begins with a zero"),
        ("68719476736", "'68719476736' is no size in bytes"),
        ("16:64", "'16:64' is not a range"),
        ("16:64:2", "'16:64:2' is not a range"),
        ("64:16:*2", "ends at 16, below its first size 64"),
        ("16:64:*1", "multiplies by 1"),
        ("1:100000000:+1", "over 1,000 sizes"),
        ("٣", "'٣'"),
    ],
)
def test_a_bad_part_of_a_list_is_named(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        parse_sizes(text)


@given(st.text(alphabet="0123456789_:*+, x", max_size=20))
def test_any_text_gives_sizes_or_a_clear_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        sizes = parse_sizes(text)
        assert sizes
        assert all(size >= 1 for size in sizes)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("one", "one key"),
        ("fresh", "a fresh key each"),
        ("sessions:1024", "1,024 keys"),
        ("sessions:x", "sessions:x"),
        ("sessions:", "sessions:"),
        ("other", "other"),
        (7, "7"),
    ],
)
def test_a_key_regime_has_one_wording_and_what_is_none_stays(keys: object, text: str) -> None:
    assert keys_text(keys) == text


def test_an_axis_is_told_by_name_but_for_key_regimes_that_name_themselves() -> None:
    assert axis_text("keys", "sessions:1024") == "1,024 keys"
    assert axis_text("keys", "mine") == "keys mine"
    assert axis_text("mix", "100/0/0") == "mix 100/0/0"
    assert axis_text("way", "one") == "way one"
