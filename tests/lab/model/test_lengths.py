"""Lengths of messages from a file, and their name in a cell."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift_lab.model.workload import LENGTHS_MAX, TEXT_LEN_MAX, Lengths

FORM = (
    "right would be a header with a column bytes and, if lengths repeat, one count, or one number "
    "a line"
)


def written(folder: Path, text: str) -> Path:
    path = folder / "lengths.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "bytes,count\n40,3\n1500,2\n",
        "when,Count,BYTES\n1,3,40\n2,2,1500\n",
        "bytes\n40\n1500\n40\n1500\n40\n",
        "40\n40\n40\n1500\n1500\n",
        "\n40\n\n1500\n40\n1500\n40",
        "\ufeffbytes,count\r\n40,3\r\n1500,2\r\n1500,0\r\n",
        ' bytes , "count"\n 40 , "1"\n40,2\n1500,2\n',
    ],
)
def test_a_header_with_counts_and_a_number_a_line_mean_the_same(text: str, tmp_path: Path) -> None:
    lengths = Lengths.load(written(tmp_path, text))
    assert lengths.counts == ((40, 3), (1_500, 2))
    assert (lengths.messages, lengths.mean_bytes) == (5, 624.0)
    assert (lengths.bytes_min, lengths.bytes_max) == (40, 1_500)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no messages; write at least one length"),
        ("bytes,count\n", "no messages"),
        ("bytes,count\n40,0\n", "no messages"),
        ("0\n0\n", "all messages have 0 bytes"),
        ("length,count\n40,1\n", "no column 'bytes' in its first line, 'length,count'"),
        ("bytes;count\n40;1\n", "no column 'bytes' in its first line, 'bytes;count'"),
        ("40,1\n", "no column 'bytes' in its first line, '40,1'"),
        ("bytes,count\n40,1\n1500\n", "line 3 has 1 columns, and the first one 2"),
        ("40\n1,500\n", "line 2 has 2 columns, and the first one 1"),
        ("bytes\n40\n-1\n", "line 3: length '-1' is no whole number from 0 to 68,719,476,704"),
        ("bytes\n40\n1.5\n", "line 3: length '1.5' is no whole number"),
        (f"40\n{TEXT_LEN_MAX + 1}\n", f"line 2: length '{TEXT_LEN_MAX + 1}' is no whole number"),
        ("40\n" + "9" * 5_000, "line 2: length '999"),
        ("bytes,count\n40,many\n", "line 2: count 'many' is no whole number"),
        ("bytes,count\n40,\n", "line 2: count '' is no whole number"),
        ("bytes\n40\n\u0664\n", "line 3: length '\u0664' is no whole number"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_line_with_what_would_be_right(
    text: str, why: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 (what it says is looked at)
        Lengths.load(path)
    assert why in str(raised.value)
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


def test_the_text_form_is_read_back() -> None:
    lengths = Lengths.from_counts({1_500: 9, 40: 58, 576: 33})
    assert str(lengths) == "40x58 576x33 1500x9"
    assert Lengths.parse(str(lengths)) == lengths
    wrong = ("", "40", "40x", "40x1,50x2", "40x-1", "68719476705x1", f"1x{'9' * 17}", "0x5 1x0")
    for text in wrong:
        with pytest.raises(ValueError, match=r"right would be 40x58 576x33|messages have 0 bytes"):
            Lengths.parse(text)


def test_lengths_have_a_name_that_others_have_not() -> None:
    lengths = Lengths.from_counts({40: 2, 1_500: 3})
    assert re.fullmatch(r"2 lengths \([0-9a-f]{6}\)", lengths.name)
    assert lengths.name == Lengths.from_counts({1_500: 3, 40: 2}).name
    assert lengths.name != Lengths.from_counts({40: 3, 1_500: 2}).name


def test_few_lengths_are_all_kept() -> None:
    lengths = Lengths.from_counts({40: 600, 1_500: 900})
    assert lengths.thinned() is lengths


def test_very_many_lengths_are_thinned_to_some_of_them_with_about_their_mean() -> None:
    draw = random.Random(3)
    lengths = Lengths.from_counts(
        Counter(int(draw.lognormvariate(12, 1.2)) for _ in range(100_000))
    )
    assert len(lengths.counts) > 3 * LENGTHS_MAX
    kept = lengths.thinned()
    assert len(kept.counts) <= LENGTHS_MAX == kept.messages
    assert {size for size, _ in kept.counts} <= {size for size, _ in lengths.counts}
    assert kept.mean_bytes == pytest.approx(lengths.mean_bytes, rel=0.01)


def test_thinned_lengths_are_those_in_the_middle_of_each_step() -> None:
    lengths = Lengths.from_counts(dict.fromkeys(range(1, 3 * LENGTHS_MAX + 1), 1))
    assert lengths.thinned().counts[:3] == ((2, 1), (5, 1), (8, 1))
    assert lengths.thinned().mean_bytes == lengths.mean_bytes


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 10_000), st.integers(1, 2**50), min_size=1, max_size=300))
def test_lengths_of_any_counts_are_named_and_read_back(counts: dict[int, int]) -> None:
    counts |= {} if any(counts) else {1: 1}
    lengths = Lengths.from_counts(counts)
    assert Lengths.parse(str(lengths)) == lengths
    assert lengths.bytes_min <= lengths.mean_bytes <= lengths.bytes_max
