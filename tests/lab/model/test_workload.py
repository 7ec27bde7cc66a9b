"""Workloads and lengths: proportions, order, text forms, files, and what is refused."""

import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.model.workload import (
    FORM,
    FRESH_KEYS,
    LENGTHS_MAX,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    TEXT_LEN_MAX,
    KeyRegime,
    Keys,
    Lengths,
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
    others = {name: set(columns[name]) for name in ("nonce_len", "tag_len", "aad_len")}
    assert others == {"nonce_len": {12}, "tag_len": {16}, "aad_len": {0}}
    assert MIXED.text_len_mean == 42.25
    single = of_size(16, ONE_KEY, Mix(1, 2, 1), messages=1)
    assert list(single.columns()["operation"]) == [Operation.OPEN]
    # The seed decides the order and nothing else.
    one, same, other = (replace(MIXED, seed=seed).columns() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert Counter(one["text_len"]) == Counter(other["text_len"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=20), st.integers(1, 3_000))
def test_a_part_of_a_workload_keeps_its_proportions(weights: list[int], messages: int) -> None:
    shapes = tuple(Shape(Operation.SEAL, 128, 12, 0, at, 16, w) for at, w in enumerate(weights))
    counts = Counter(Workload("w", shapes, ONE_KEY, messages, 1).columns()["text_len"])
    assert sum(counts.values()) == messages
    for at, weight in enumerate(weights):
        assert abs(counts[at] - messages * weight / sum(weights)) <= 1


def test_key_regimes_are_parsed_and_written() -> None:
    many = (KeyRegime(Keys.SESSIONS, count) for count in (1_024, 5_000))
    regimes = (ONE_KEY, FRESH_KEYS, *many)
    texts = ("one", "fresh", "sessions:1,024", "sessions:5k")
    assert tuple(map(KeyRegime.parse, texts)) == regimes
    assert tuple(KeyRegime.parse(str(regime)) for regime in regimes) == regimes
    for text in ("", "many", "sessions", "sessions:", "sessions:-1", "one:2"):
        with pytest.raises(ValueError, match=re.escape(f"keys {text!r}; write one, fresh or sess")):
            KeyRegime.parse(text)
    with pytest.raises(ValueError, match="0 keys; right would be 1 to 4,294"):
        KeyRegime.parse("sessions:0")
    with pytest.raises(ValueError, match=r"2 keys; right would be 1$"):
        KeyRegime(Keys.ONE, 2)


def test_mixes_are_parsed_and_written() -> None:
    assert Mix.parse("50/25/25") == Mix(50, 25, 25)
    assert (Mix.parse("seal"), Mix.parse("open")) == (SEAL_ONLY, OPEN_ONLY)
    assert Mix.parse("50/25/0/25") == Mix(50, 25, 0, 25)
    assert str(Mix(50, 25, 0, 25)) == Mix(2, 1, 0, 1).exact == "50/25/0/25"
    assert str(Mix(2, 1, 1)) == Mix(2, 1, 1).exact == "50/25/25"
    assert (str(Mix(1, 2, 4)), Mix(1, 2, 4).exact) == ("14.29/28.57/57.14", "1/2/4")
    for text in ("50/50", "a/b/c", "", "-1/1/1"):
        with pytest.raises(ValueError, match=re.escape(f"mix {text!r}")):
            Mix.parse(text)
    with pytest.raises(ValueError, match="0/0/0 does nothing"):
        Mix(0, 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "bytes,count\n40,3\n1500,2\n",
        "when,Count,BYTES\n1,3,40\n2,2,1500\n",
        "\n40\n\n1500\n40\n1500\n40",
        "\ufeffbytes,count\r\n40,3\r\n1500,2\r\n1500,0\r\n",
        ' bytes , "count"\n 40 , "1"\n40,2\n1500,2\n',
    ],
)
def test_a_header_with_counts_and_a_number_a_line_mean_the_same(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "lengths.csv").write_text(text)
    lengths = Lengths.load(path)
    assert lengths.counts == ((40, 3), (1_500, 2))
    assert (lengths.messages, lengths.mean_bytes) == (5, 624.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bytes,count\n", "no messages; write at least one length"),
        ("0\n0\n", "all messages have 0 bytes"),
        ("length,count\n40,1\n", "no column 'bytes' in its first line, 'length,count'"),
        ("bytes,count\n40,1\n1500\n", "line 3 has 1 columns, and the first one 2"),
        ("40\n1,500\n", "line 2 has 2 columns, and the first one 1"),
        ("bytes\n40\n-1\n", "line 3: length '-1' is no whole number from 0 to 68,719,476,704"),
        (f"40\n{TEXT_LEN_MAX + 1}\n", f"line 2: length '{TEXT_LEN_MAX + 1}' is no whole number"),
        ("bytes,count\n40,\n", "line 2: count '' is no whole number"),
        ("bytes\n40\n\u0664\n", "line 3: length '\u0664' is no whole number"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_line_with_what_would_be_right(
    text: str, why: str, tmp_path: Path
) -> None:
    (path := tmp_path / "lengths.csv").write_text(text)
    with pytest.raises(ValueError, match=re.escape(why)) as raised:
        Lengths.load(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert str(raised.value).endswith(FORM)


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file or directory"):
        Lengths.load(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match=f"is a folder; .* --run {tmp_path} for a run that"):
        Lengths.load(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"binary: it is no UTF-8 text; right would be a header"):
        Lengths.load(tmp_path / "binary")


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 10_000), st.integers(1, 2**50), min_size=1, max_size=300))
def test_lengths_have_a_text_form_and_a_name_that_others_have_not(counts: dict[int, int]) -> None:
    counts |= {} if any(counts) else {1: 1}
    lengths = Lengths.from_counts(counts)
    assert Lengths.parse(str(lengths)) == lengths
    assert re.fullmatch(r"\d+ lengths \([0-9a-f]{6}\)", lengths.name)
    assert lengths.name != Lengths.from_counts(counts | {10_001: 1}).name
    for text in ("", "40", "40x", "40x1,50x2", "40x-1", "68719476705x1", f"1x{'9' * 17}", "0x5"):
        with pytest.raises(ValueError, match=r"right would be 40x58 576x33|messages have 0 bytes"):
            Lengths.parse(text)


def test_very_many_lengths_are_thinned_to_the_middles_of_even_steps() -> None:
    few = Lengths.from_counts({40: 600, 1_500: 900})
    assert few.thinned() is few
    draw = random.Random(3)
    every = Lengths.from_counts(Counter(int(draw.lognormvariate(12, 1.2)) for _ in range(100_000)))
    assert len(every.counts) > 3 * LENGTHS_MAX
    thin = every.thinned()
    assert len(thin.counts) <= LENGTHS_MAX == thin.messages
    assert {size for size, _ in thin.counts} <= {size for size, _ in every.counts}
    assert thin.mean_bytes == pytest.approx(every.mean_bytes, rel=0.01)
    even = Lengths.from_counts(dict.fromkeys(range(1, 3 * LENGTHS_MAX + 1), 1))
    assert even.thinned().counts[:3] == ((2, 1), (5, 1), (8, 1))
