"""From which message size on one of two devices is the faster one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_load import card
from sealift import Engine
from sealift.lab.costs import Line
from sealift.lab.pairs import Pair, Within, in_words, pairs

PART = st.floats(0, 1e6)
RANGE = (16, 4_096)
EVERY = Within(0, 1 << 24, 0.0)


def of_two(one: Line, other: Line, messages: int = 10) -> tuple[str, float | None]:
    (pair,) = pairs({"one": one, "other": other}, messages, EVERY)
    return pair.is_faster, pair.message_bytes


@pytest.mark.parametrize(
    ("one", "other", "is_faster", "size"),
    [
        (Line(10, 1, 0.1), Line(10, 1, 0.1), "always", None),
        (Line(10, 1, 0.1), Line(20, 1, 0.1), "always", None),
        (Line(20, 1, 0.1), Line(10, 1, 0.1), "never", None),
        (Line(100, 1, 0.1), Line(10, 1, 0.2), "from", 90.0),
        (Line(10, 1, 0.2), Line(100, 1, 0.1), "up to", 90.0),
        (Line(0, 1, 5e-324), Line(1e9, 1, 0), "always", None),
        (Line(1e9, 1, 0), Line(0, 1, 5e-324), "never", None),
        (Line(0, 2e-92, 1), Line(0, 0, 1), "from", 0.0),
    ],
)
def test_two_lines_are_compared_from_which_size_on(
    one: Line, other: Line, is_faster: str, size: float | None
) -> None:
    found = of_two(one, other)
    assert found[0] == is_faster
    assert found[1] == (None if size is None else pytest.approx(size))


@given(PART, PART, PART, PART, PART, PART, st.integers(1, 10_000), st.integers(0, 1 << 24))
def test_what_is_said_of_two_lines_holds_at_every_size(
    a: float, b: float, c: float, d: float, e: float, f: float, messages: int, size: int
) -> None:
    one, other = Line(a, b, c), Line(d, e, f)
    is_faster, edge = of_two(one, other, messages)
    mine, theirs = one.batch_ns(messages, size), other.batch_ns(messages, size)
    if mine == pytest.approx(theirs):
        return
    limit = -1.0 if edge is None else edge
    holds = {
        "always": True,
        "never": False,
        "from": size >= limit,
        "up to": size <= limit,
    }
    assert holds[is_faster] == (mine < theirs)


def test_a_longer_batch_spreads_the_set_up_over_more_messages() -> None:
    slow, quick = Line(50_000, 1, 0.05), Line(100, 30, 0.25)
    for messages, size in ((1, (49_900 - 29) / 0.2), (1_000, (49.9 - 29) / 0.2)):
        is_faster, edge = of_two(slow, quick, messages)
        assert is_faster == "from"
        assert edge == pytest.approx(size)


def test_a_card_is_compared_as_it_is_reckoned(tmp_path: Path) -> None:
    made = card(tmp_path, name="card", setup_ns=60, host_ns=10, latency_ns=5_000)
    line = Line(600, 40, 0.5)
    for messages in (1, 64, 1_024):
        (pair,) = pairs({"cpu": line, "card": made}, messages, EVERY)
        assert pair.is_faster == "up to"
        assert pair.message_bytes is not None
        edge = int(pair.message_bytes)
        assert line.batch_ns(messages, edge) > made.predict(messages, edge).batch_ns
        assert line.batch_ns(messages, edge - 1) <= made.predict(messages, edge - 1).batch_ns


def test_a_card_that_is_first_in_between_only_is_said_so(tmp_path: Path) -> None:
    """Handing over takes long for small messages, and its rate is low for large ones."""
    made = card(tmp_path, name="card", setup_ns=0, host_ns=100, rate_gbit_per_s=8, latency_ns=160)
    cpu = Line(600, 40, 0.9)
    for found in (
        pairs({"cpu": cpu, "card": made}, 64, EVERY),
        pairs({"card": made, "cpu": cpu}, 64, EVERY),
    ):
        (pair,) = found
        assert (pair.device, pair.other, pair.is_faster) == ("card", "cpu", "between")
        low, high = int(pair.message_bytes or 0), int(pair.message_bytes_most or 0)
        for size, is_card in ((low - 1, False), (low, True), (high - 1, True), (high, False)):
            assert (made.predict(64, size).batch_ns < cpu.batch_ns(64, size)) == is_card, size


def test_cards_that_never_meet_are_compared_for_all_sizes(tmp_path: Path) -> None:
    made = card(tmp_path, name="card", latency_ns=1e9)
    (pair,) = pairs({"card": made, "cpu": Line(600, 40, 0.01)}, 1, EVERY)
    assert (pair.is_faster, pair.message_bytes) == ("never", None)


def test_break_even_is_said_in_words_with_the_sizes_that_were_measured() -> None:
    def said(is_faster: str, *sizes: float) -> str:
        (line,) = in_words([Pair("cpu", "card", is_faster, *RANGE, "projected", *sizes)], ["card"])
        return line

    card = "card (projected)"
    assert said("always") == f"cpu is at least as fast as {card} from 16 to 4,096 bytes"
    assert said("never") == f"{card} is at least as fast as cpu from 16 to 4,096 bytes"
    below = "from 16 to about 2,500 bytes a message"
    then = "from there to 4,096"
    assert said("from", 2_467.0) == f"{below} {card} is faster than cpu, {then} cpu"
    assert said("up to", 2_467.0) == f"{below} cpu is faster than {card}, {then} {card}"
    assert said("between", 20, 2_467) == (
        f"between about 20 and 2,500 bytes a message cpu is faster than {card}"
    )
    assert said("untold") == f"from 16 to 4,096 bytes a message cpu and {card} are not told apart"


def test_a_device_that_is_always_faster_is_said_once_of_all_others() -> None:
    found = [
        Pair("cpu", "library", "always", *RANGE, "fitted"),
        Pair("cpu", "card", "from", *RANGE, "projected", 100.0),
        Pair("other", "cpu", "never", *RANGE, "fitted"),
        Pair("library", "card", "never", *RANGE, "projected"),
    ]
    assert list(in_words(found)) == [
        "cpu is at least as fast as library and other from 16 to 4,096 bytes",
        "card is at least as fast as library from 16 to 4,096 bytes",
        "from 16 to about 100 bytes a message card is faster than cpu, from there to 4,096 cpu",
    ]


def test_what_follows_from_who_is_faster_than_whom_is_not_said() -> None:
    def always(*both: str) -> list[Pair]:
        return [Pair(pair[0], pair[2], "always", *RANGE, "fitted") for pair in both]

    sizes = "from 16 to 4,096 bytes"
    four = always("a>b", "a>c", "a>d", "b>c", "b>d", "c>d")
    assert list(in_words(four)) == [f"a is at least as fast as b, b as c, c as d {sizes}"]
    assert list(in_words(always("a>b", "a>c", "a>d", "b>d", "c>d"))) == [
        f"a is at least as fast as b and c {sizes}",
        f"b is at least as fast as d {sizes}",
        f"c is at least as fast as d {sizes}",
    ]
    assert list(in_words(always("a>c", "b>c", "c>d", "a>d", "b>d"))) == [
        f"a is at least as fast as c, c as d {sizes}",
        f"b is at least as fast as c, c as d {sizes}",
    ]


def test_no_crossing_is_told_beyond_the_sizes_that_were_measured() -> None:
    """These two cross at 9,000 bytes."""
    costs = {"one": Line(1_000, 1, 0.1), "other": Line(100, 1, 0.2)}
    for most, is_faster in ((4_096, "never"), (10_000, "from")):
        (pair,) = pairs(costs, 1, Within(16, most, 0.0))
        assert (pair.is_faster, pair.least_bytes, pair.most_bytes) == (is_faster, 16, most)
        assert (pair.message_bytes is None) == (is_faster == "never")
        assert pair.origin == "fitted"


def test_lines_that_differ_by_less_than_they_are_off_are_not_told_apart(tmp_path: Path) -> None:
    """They cross at 1,000 bytes, and differ by 10 % at 16 and by 9 % at 4,096."""
    one, other = Line(1_000, 0, 0.9), Line(1_100, 0, 0.8)
    rough = Line(1_000, 0, 0.9, worst_share=0.11)
    for cost, noise, is_faster in (
        (one, 0.02, "up to"),
        (one, 0.095, "up to"),
        (one, 0.11, "untold"),
        (rough, 0.02, "untold"),
    ):
        (pair,) = pairs({"one": cost, "other": other}, 1, Within(16, 4_096, noise))
        assert pair.is_faster == is_faster, (cost, noise)
    made = card(tmp_path, name="card", setup_ns=600, host_ns=0, latency_ns=0)
    like = Line(*(made.predict(1, 0).batch_ns, 0, 0.08))
    (pair,) = pairs({"one": like, "card": made}, 1, Within(16, 4_096, 0.5))
    assert (pair.is_faster, pair.origin) == ("untold", "projected")


def test_every_two_devices_are_compared_once_and_as_the_engine_does() -> None:
    engine = Engine(["library", "reference", "null"])
    costs = {name: found.cost for name, found in engine.calibrate().devices.items()}
    found = pairs(costs, 64, EVERY)
    assert [(pair.device, pair.other) for pair in found] == [
        ("library", "reference"),
        ("library", "null"),
        ("reference", "null"),
    ]
    for pair in found:
        is_faster, size = costs[pair.device].break_even(costs[pair.other], 64)
        assert pair.is_faster == is_faster
        assert pair.message_bytes == (None if size is None else pytest.approx(size))
