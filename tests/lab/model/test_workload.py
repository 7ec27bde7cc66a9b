"""Workloads: proportions, order, and what is refused."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.model.workload import (
    FRESH_KEYS,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    KeyRegime,
    Keys,
    Mix,
    Operation,
    Shape,
    Workload,
    combine,
    of_size,
)

THIRDS = ((128, 1), (192, 1), (256, 1))
MIXED = Workload(
    "mixed", combine(Mix(2, 1, 1), ((16, 1), (51, 3)), key_bits=THIRDS), FRESH_KEYS, 1_200, 3
)


def test_messages_have_the_proportions_of_their_shapes() -> None:
    columns = MIXED.columns()
    assert Counter(columns["operation"]) == {0: 600, 1: 300, 2: 300}
    assert Counter(columns["key_len"]) == {16: 400, 24: 400, 32: 400}
    assert Counter(columns["text_len"]) == {16: 300, 51: 900}
    assert Counter(zip(columns["operation"], columns["text_len"], strict=True))[0, 16] == 150
    assert (set(columns["nonce_len"]), set(columns["tag_len"]), set(columns["aad_len"])) == (
        {12},
        {16},
        {0},
    )
    assert MIXED.text_len_mean == 42.25


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=20), st.integers(1, 3_000))
def test_a_part_of_a_workload_keeps_its_proportions(weights: list[int], messages: int) -> None:
    shapes = tuple(Shape(Operation.SEAL, 128, 12, 0, at, 16, w) for at, w in enumerate(weights))
    counts = Counter(Workload("w", shapes, ONE_KEY, messages, 1).columns()["text_len"])
    assert sum(counts.values()) == messages
    for at, weight in enumerate(weights):
        assert abs(counts[at] - messages * weight / sum(weights)) <= 1


def test_a_single_message_is_of_the_commonest_kind() -> None:
    workload = of_size(16, ONE_KEY, Mix(1, 2, 1), messages=1)
    assert list(workload.columns()["operation"]) == [Operation.OPEN]


def test_the_seed_decides_the_order_and_nothing_else() -> None:
    one, same, other = (replace(MIXED, seed=seed).columns() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert Counter(one["text_len"]) == Counter(other["text_len"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"text_len": -1}, "text_len of -1"),
        ({"text_len": 2**36}, "text_len of 68719476736; right would be 0..68,719,476,704 bytes"),
        ({"nonce_len": 0}, "nonce_len of 0; right would be 1..128 bytes"),
        ({"nonce_len": 129}, "nonce_len of 129"),
        ({"tag_len": 5}, "tag_len of 5; right would be one of 4, 8, 12, 13, 14, 15, 16"),
        ({"key_bits": 512}, "key_bits of 512; right would be one of 128, 192, 256"),
        ({"weight": 0}, "a shape of weight 0"),
    ],
)
def test_a_shape_that_aes_gcm_does_not_have_is_refused(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        replace(MIXED.shapes[0], **change)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "workload '': it needs a name"),
        ({"shapes": ()}, "at least one shape"),
        ({"messages": 0}, "messages of 0; right would be a whole number 1.."),
        ({"messages": 1.5}, "messages of 1.5"),
        ({"seed": -1}, "seed of -1"),
        (
            {"regime": KeyRegime(Keys.SESSIONS, 1_201)},
            "1,201 sessions for 1,200 messages: some would never be used; right would be 1,201",
        ),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_right(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        replace(MIXED, **change)


@pytest.mark.parametrize(
    ("text", "regime"),
    [
        ("one", ONE_KEY),
        ("fresh", FRESH_KEYS),
        ("sessions:1,024", KeyRegime(Keys.SESSIONS, 1_024)),
        ("sessions:5k", KeyRegime(Keys.SESSIONS, 5_000)),
    ],
)
def test_key_regimes_are_parsed_and_written(text: str, regime: KeyRegime) -> None:
    assert KeyRegime.parse(text) == regime
    assert KeyRegime.parse(str(regime)) == regime


@pytest.mark.parametrize("text", ["", "many", "sessions", "sessions:", "sessions:-1", "one:2"])
def test_an_unknown_key_regime_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"keys {text!r}; write one, fresh or sess")):
        KeyRegime.parse(text)


def test_a_number_of_sessions_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="0 keys; right would be 1 to 4,294"):
        KeyRegime.parse("sessions:0")
    with pytest.raises(ValueError, match=r"2 keys; right would be 1$"):
        KeyRegime(Keys.ONE, 2)


def test_mixes_are_parsed_and_written() -> None:
    assert Mix.parse("50/25/25") == Mix(50, 25, 25)
    assert (Mix.parse("seal"), Mix.parse("open")) == (SEAL_ONLY, OPEN_ONLY)
    assert str(Mix(2, 1, 1)) == Mix(2, 1, 1).exact == "50/25/25"
    assert (str(Mix(1, 2, 4)), Mix(1, 2, 4).exact) == ("14.29/28.57/57.14", "1/2/4")
    for text in ("50/50", "a/b/c", "", "-1/1/1"):
        with pytest.raises(ValueError, match=re.escape(f"mix {text!r}")):
            Mix.parse(text)
    with pytest.raises(ValueError, match="0/0/0 does nothing"):
        Mix(0, 0, 0)
