"""Numbers with units, as every command takes them."""

import pytest

from command import invoke
from sealift.quantities import list_parts, parse_count, parse_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("16", 16),
        ("1_024", 1_024),
        ("1,024", 1_024),
        ("1k", 1_000),
        ("1K", 1_000),
        ("1kB", 1_000),
        ("1KB", 1_000),
        ("1KiB", 1_024),
        ("1Ki", 1_024),
        ("64 KiB", 65_536),
        ("0.1k", 100),
        ("1.5M", 1_500_000),
        ("2MiB", 2 << 20),
        ("1GB", 10**9),
        ("1GiB", 1 << 30),
        ("128B", 128),
        ("1e6", 10**6),
    ],
)
def test_counts_have_decimal_and_binary_units(text: str, number: int) -> None:
    assert parse_count(text, 0, 2**40, "number of bytes") == number


@pytest.mark.parametrize(
    "text", ["", "x", "1kib", "1m", "-1", "1.5", "nan", "1 2", "0x10", "1e999", "k", "\u0663"]
)
def test_what_is_no_count_is_named_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no number of bytes; .* from 1 to 9,000, as in 4k \("):
        parse_count(text, 1, 9_000, "number of bytes")


def test_a_comma_between_thousands_is_refused_in_every_list() -> None:
    with pytest.raises(ValueError, match="begins with a zero; commas separate the parts of a list"):
        list_parts("1,024")
    assert list_parts("1_024, 0") == ["1_024", "0"]


def test_a_comma_for_a_point_is_told() -> None:
    with pytest.raises(ValueError, match="a comma that is not between thousands"):
        parse_count("1,5k", 1, 9_000, "number of bytes")


def test_times_have_the_unit_of_their_option_where_they_have_none() -> None:
    assert parse_number("2ms", "s") == parse_number("2ms", "us") == parse_number("2000", "us")
    assert parse_number("1.5h", "s") == 5_400 * 10**9
    for text in ("2k", "1y", "-1"):
        assert parse_number(text, "s") is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explain", "--messages", "1q", "--bytes", "1k"), "--messages: '1q' is no number of mess"),
        (("explain", "--messages", "1k", "--bytes", "-3"), "--bytes: '-3' is no number of bytes"),
    ],
)
def test_a_command_says_what_is_wrong_with_a_number(words: tuple[str, ...], said: str) -> None:
    ran = invoke(*words)
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert "Invalid value" not in ran.stderr


def test_explain_takes_units() -> None:
    short, plain = (
        invoke("explain", "--messages", messages, "--bytes", size, "--json")
        for messages, size in (("1k", "1KiB"), ("1000", "1024"))
    )
    assert short.exit_code == plain.exit_code == 0
    begin = [ran.stdout.splitlines()[:4] for ran in (short, plain)]
    assert begin[0] == begin[1]


@pytest.mark.parametrize("command", ["", "devices", "explain"])
def test_h_is_help(command: str) -> None:
    short, long = (invoke(*command.split(), option) for option in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.stdout == long.stdout
    assert "Usage: " in short.stdout
