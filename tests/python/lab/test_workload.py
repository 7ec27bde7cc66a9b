"""Workloads: the published ones, and what is refused."""

import importlib.util
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import make_as_logged
from conftest import skip
from sealift.lab.workload import (
    FRESH_KEYS,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    Keys,
    Mix,
    Operation,
    Regime,
    Workload,
    as_logged,
    as_stated,
    of_size,
)

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "python/sealift/lab/data/003-as-logged.csv"


def test_as_logged_has_the_published_counts() -> None:
    workload = as_logged()
    columns = workload.columns()
    assert workload.messages == 37_800
    assert Counter(columns.operation) == {
        Operation.SEAL: 18_900,
        Operation.OPEN: 9_391,
        Operation.BAD: 9_509,
    }
    assert Counter(columns.key_len) == {16: 12_600, 24: 12_600, 32: 12_600}
    assert Counter(columns.text_len) == dict.fromkeys((13, 16, 32, 51), 9_450)
    assert Counter(columns.nonce_len) == dict.fromkeys((1, 12, 128), 12_600)
    assert Counter(columns.aad_len) == dict.fromkeys((0, 16, 20, 48, 90), 7_560)
    assert Counter(columns.tag_len) == dict.fromkeys((4, 8, 12, 13, 14, 15, 16), 5_400)
    assert workload.text_len_mean == 28
    assert workload.regime == FRESH_KEYS
    assert str(workload.mix) == "50/24.84/25.16"


def test_the_as_logged_table_is_what_the_tool_makes_of_the_vectors() -> None:
    if importlib.util.find_spec("cryptography_vectors") is None:
        reason = "the PyPI package cryptography-vectors is not installed"
        skip("vectors", reason)
    assert TABLE.read_text(encoding="utf-8") == make_as_logged.table()


def test_as_stated_is_what_the_document_says() -> None:
    workload = as_stated(messages=12_000)
    columns = workload.columns()
    assert Counter(columns.operation) == {0: 6_000, 1: 3_000, 2: 3_000}
    assert Counter(columns.key_len) == {16: 4_000, 24: 4_000, 32: 4_000}
    assert (set(columns.text_len), set(columns.nonce_len)) == ({128}, {12})
    assert (set(columns.aad_len), set(columns.tag_len)) == ({0}, {16})
    assert str(workload.regime) == "sessions:1024"
    assert as_stated(FRESH_KEYS).regime == FRESH_KEYS


@settings(max_examples=25)
@given(st.integers(1, 5_000))
def test_a_part_of_a_workload_keeps_its_proportions(messages: int) -> None:
    operations = Counter(as_logged(messages=messages).columns().operation)
    assert sum(operations.values()) == messages
    assert abs(operations[Operation.SEAL] - messages / 2) <= 1
    assert abs(operations[Operation.BAD] - messages * 9_509 / 37_800) <= 1


def test_a_single_message_is_of_the_commonest_kind() -> None:
    workload = of_size(16, ONE_KEY, Mix(1, 2, 1), messages=1)
    assert list(workload.columns().operation) == [Operation.OPEN]


def test_the_seed_decides_the_order_and_nothing_else() -> None:
    one, same, other = (as_logged(seed=seed).columns() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert Counter(one.text_len) == Counter(other.text_len)


def test_a_size_is_one_shape_for_each_operation() -> None:
    workload = of_size(1_024, ONE_KEY, Mix(1, 1, 0), messages=10, key_bits=256)
    assert {(shape.operation, shape.text_len, shape.key_bits) for shape in workload.shapes()} == {
        (Operation.SEAL, 1_024, 256),
        (Operation.OPEN, 1_024, 256),
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "without a name"),
        ({"text_len": ()}, "text_len is empty"),
        ({"text_len": ((-1, 1),)}, "text_len of -1"),
        (
            {"text_len": ((2**36, 1),)},
            "text_len of 68,719,476,736; right would be 0..68,719,476,704",
        ),
        ({"nonce_len": ((0, 1),)}, "nonce_len of 0; right would be 1..128 bytes"),
        ({"nonce_len": ((129, 1),)}, "nonce_len of 129"),
        ({"tag_len": ((5, 1),)}, "tag_len of 5; right would be one of 4, 8, 12, 13, 14, 15, 16"),
        ({"key_bits": ((512, 1),)}, "key_bits of 512; right would be one of 128, 192, 256"),
        ({"aad_len": ((0, 0),)}, "aad_len has no weight above 0"),
        ({"aad_len": ((0, -3),)}, "weight of aad_len 0 of -3"),
        ({"aad_len": ((0, 1), (0, 2))}, "aad_len names a value twice"),
        ({"messages": 0}, "messages of 0; right would be a whole number 1.."),
        ({"messages": 1.5}, "messages of 1.5"),
        ({"seed": -1}, "seed of -1"),
        (
            {"messages": 1_023},
            "1,024 sessions for 1,023 messages: some would never be used; right would be 1,024",
        ),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_right(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        replace(as_stated(), **change)


def test_joint_shapes_that_contradict_the_fields_are_refused() -> None:
    workload: Workload = as_logged()
    with pytest.raises(ValueError, match=r"tag_len is .* but the joint shapes add up to"):
        replace(workload, tag_len=((16, 37_800),))
    with pytest.raises(ValueError, match="mix is 100/0/0, but"):
        replace(workload, mix=SEAL_ONLY)


@pytest.mark.parametrize(
    ("text", "regime"),
    [
        ("one", ONE_KEY),
        ("fresh", FRESH_KEYS),
        ("sessions:1,024", Regime(Keys.SESSIONS, 1_024)),
        ("sessions:1000000", Regime(Keys.SESSIONS, 1_000_000)),
    ],
)
def test_key_regimes_are_read_and_written(text: str, regime: Regime) -> None:
    assert Regime.parse(text) == regime
    assert Regime.parse(str(regime)) == regime


@pytest.mark.parametrize("text", ["", "many", "sessions", "sessions:", "sessions:-1", "one:2"])
def test_an_unknown_key_regime_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"keys {text!r}; write one, fresh or sess")):
        Regime.parse(text)


def test_a_number_of_sessions_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="0 keys; right would be 1 to 4,294"):
        Regime.parse("sessions:0")
    with pytest.raises(ValueError, match=r"2 keys; right would be 1$"):
        Regime(Keys.ONE, 2)


def test_mixes_are_read_and_written() -> None:
    assert Mix.parse("50/25/25") == Mix(50, 25, 25)
    assert (Mix.parse("seal"), Mix.parse("open")) == (SEAL_ONLY, OPEN_ONLY)
    assert str(Mix(2, 1, 1)) == "50/25/25"
    for text in ("50/50", "a/b/c", "", "-1/1/1"):
        with pytest.raises(ValueError, match=re.escape(f"mix {text!r}")):
            Mix.parse(text)
    with pytest.raises(ValueError, match="0/0/0 does nothing"):
        Mix(0, 0, 0)
