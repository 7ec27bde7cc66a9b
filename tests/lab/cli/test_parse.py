"""Values: what is right is parsed, what is wrong is named with what would be right."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.cli import parse

Parser = Callable[[str], object]


@pytest.mark.parametrize(
    ("parser", "text", "value"),
    [
        (parse.seconds, "1.5m", 90.0),
        (parse.seconds, "500ms", 0.5),
        (parse.pause, "0", 0.0),
        (parse.pause, "500ms", 0.5),
        (parse.latency_ns, "2ms", 2e6),
        (parse.price, "1.5k", 1_500.0),
        (parse.thread_counts, "1,2,2", (1, 2)),
        (parse.key_bits, "192", 192),
        (parse.region, "/dev/dax0.0:0:0x1000", (Path("/dev/dax0.0"), 0, 4096)),
        (parse.region, "a:b:4KiB:1MiB", (Path("a:b"), 4096, 2**20)),
    ],
)
def test_values_are_parsed(parser: Parser, text: str, value: object) -> None:
    assert parser(text) == value


@pytest.mark.parametrize(
    ("parser", "text", "right"),
    [
        (parse.seconds, "soon", "'soon' is no time; write seconds, as in 90"),
        (parse.pause, "inf", "'inf' is no time of up to a day; write seconds, as in 2, or 500ms"),
        (parse.pause, "25h", "is no time of up to a day"),
        (parse.price, "0", "is no price above 0"),
        (parse.thread_counts, "1,x", "'x' is no number of threads; write a whole number from 1"),
        (parse.thread_counts, "2000", "from 1 to 1,024"),
        (parse.region, "nonsense", "right would be PATH:OFFSET:LENGTH"),
        (parse.seed, "-1", "'-1' is no seed"),
        (parse.folder, "", "'' is no folder; name one"),
        (parse.file, "/tmp", "is no file; name one"),
        (parse.file, "/dev/stdout", "is no file but a link of the system's"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(
    parser: Parser, text: str, right: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(right)):
        parser(text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20))
def test_no_text_raises_anything_else_than_a_value_error(text: str) -> None:
    for parser in (parse.rate, parse.thread_counts, parse.key_regimes, parse.region, parse.file):
        with suppress(ValueError):
            parser(text)
