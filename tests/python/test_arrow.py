"""Columns of Arrow: sealed and opened with pyarrow."""

import pickle
import struct
from pathlib import Path
from typing import Any, Literal

import pyarrow
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import sealift
from sealift import arrow

KEYS = {1: bytes(range(32)), 2: bytes(range(1, 33)), 7: bytes(range(2, 34))}


def test_a_column_opens_to_what_was_sealed() -> None:
    texts = pyarrow.array([b"first", None, b"", b"fourth"] * 1000, pyarrow.binary())
    ids = pyarrow.array([1, None, 2, 7] * 1000, pyarrow.int64())
    keys = arrow.Keyring(KEYS)
    sealed = arrow.seal_column(texts, keys=keys, key_ids=ids)
    assert sealed.type == pyarrow.binary()
    assert sealed.null_count == 1000
    assert arrow.open_column(sealed, keys=keys).equals(texts)


def test_a_row_is_aes_gcm_over_its_documented_parts() -> None:
    keys = arrow.Keyring({1: [KEYS[1], KEYS[2]]})
    row = arrow.seal_column(pyarrow.array([b"text"]), keys=keys, key_ids=1, aad=b"bound")[0].as_py()
    header = struct.pack("<BBHI", 0x11, 4, 1, 1)
    assert row.startswith(header)
    aad = header + struct.pack("<I", 5) + b"bound"
    assert AESGCM(KEYS[2]).decrypt(row[8:20], row[20:], aad) == b"text"


def test_a_keyring_is_not_pickled_and_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="path"):
        pickle.dumps(arrow.Keyring(KEYS))


def test_a_changed_row_does_not_open() -> None:
    keys = arrow.Keyring(KEYS)
    row = arrow.seal_column(pyarrow.array([b"text"]), keys=keys, key_ids=1)[0].as_py()
    changed = pyarrow.array([row, row[:-1] + bytes([row[-1] ^ 1])])
    with pytest.raises(sealift.InvalidTag) as caught:
        arrow.open_column(changed, keys=keys)
    assert caught.value.indices == (1,)
    assert arrow.open_column(changed, keys=keys, on_error="null").to_pylist() == [b"text", None]


TYPES = [
    pyarrow.binary(),
    pyarrow.large_binary(),
    pyarrow.binary(5),
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.binary_view(),
    pyarrow.string_view(),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_is_taken_in_chunks_and_slices_with_nulls(kind: Any) -> None:
    texts = ["first", None, "third", "other"] * 700
    whole = pyarrow.array(texts).cast(pyarrow.binary()).cast(kind)
    column = pyarrow.chunked_array([whole[3:1500], whole[:0], whole[1499:]])
    keys = arrow.Keyring(KEYS)
    ids = pyarrow.chunked_array(
        [pyarrow.array([1, 2] * 700), pyarrow.array([7] * (len(column) - 1400))]
    )
    sealed = arrow.seal_column(column, keys=keys, key_ids=ids)
    assert [len(chunk) for chunk in sealed.chunks] == [1497, 0, len(whole) - 1499]
    opened = arrow.open_column(sealed, keys=keys, to="string")
    assert opened.to_pylist() == (texts[3:1500] + texts[1499:])


@pytest.mark.parametrize("width", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_ids_are_integers_of_any_width(width: str) -> None:
    keys, ids = arrow.Keyring(KEYS), pyarrow.array([1, 2, 7], width)
    texts = pyarrow.array([b"a", b"b", b"c"])
    for given in (ids, ids.dictionary_encode()):
        sealed = arrow.seal_column(texts, keys=keys, key_ids=given)
        assert [row.as_py()[4] for row in sealed] == [1, 2, 7]
        assert arrow.open_column(sealed, keys=keys).equals(texts)


def test_ids_are_strings_and_dictionaries_of_strings() -> None:
    keys = arrow.Keyring({"one": KEYS[1], "": KEYS[2], b"\xff": KEYS[7]})
    texts = pyarrow.array([b"a", b"b", None, b"d"])
    names = pyarrow.array(["one", "", None, "one"])
    for ids in (names, names.dictionary_encode(), names.cast(pyarrow.string_view()), "one"):
        sealed = arrow.seal_column(texts, keys=keys, key_ids=ids)
        assert arrow.open_column(sealed, keys=keys).equals(texts)


def test_a_table_keeps_its_other_columns() -> None:
    table = pyarrow.table({"id": [1, 2, 7], "text": ["a", "b", None], "row": ["x", "y", "z"]})
    keys = arrow.Keyring(KEYS)
    for data in (table, table.to_batches()[0]):
        sealed = arrow.seal_column(
            data, "text", keys=keys, key_ids="id", aad=["row", b"table.text"]
        )
        assert type(sealed) is type(data)
        opened = arrow.open_column(
            sealed, "text", keys=keys, aad=["row", b"table.text"], to="string"
        )
        assert opened.equals(data)
        swapped = sealed.set_column(2, "row", pyarrow.array(["y", "x", "z"]))
        with pytest.raises(sealift.InvalidTag):
            arrow.open_column(swapped, "text", keys=keys, aad=["row", b"table.text"])


def test_rotated_keys_open_old_rows_and_reseal_makes_them_new() -> None:
    keys = arrow.Keyring({1: KEYS[1]})
    texts = pyarrow.chunked_array([[b"a"] * 10, [b"b"] * 10])
    old = arrow.seal_column(texts, keys=keys, key_ids=1)
    assert keys.rotate(1, KEYS[2]) == 1
    new = arrow.reseal_column(old, keys=keys)
    assert {row.as_py()[2] for row in new} == {1}
    assert arrow.open_column(old, keys=keys).equals(texts)
    assert arrow.reseal_column(new, keys=keys).equals(new)
    assert not arrow.reseal_column(new, keys=keys, rows="all").equals(new)
    assert arrow.open_column(new, keys=arrow.Keyring({1: {1: KEYS[2]}})).equals(texts)


def test_other_layouts_are_aes_gcm_without_a_header() -> None:
    keys = arrow.Keyring({1: KEYS[1]})
    texts = pyarrow.array([b"a" * 20, None, b"b"])
    spark = arrow.seal_column(texts, keys=keys, key_ids=1, aad=b"bound", layout="spark")
    row = spark[0].as_py()
    assert AESGCM(KEYS[1]).decrypt(row[:12], row[12:], b"bound") == b"a" * 20
    given: dict[str, Any] = {"keys": keys, "key_ids": 1, "aad": b"bound"}
    assert arrow.open_column(spark, layout="spark", **given).equals(texts)
    parts = arrow.seal_column(texts, layout="columns", **given)
    first = parts[0].as_py()
    sealed = first["ciphertext"] + first["tag"]
    assert AESGCM(KEYS[1]).decrypt(first["nonce"], sealed, b"bound") == b"a" * 20
    assert parts[1].as_py() is None
    assert arrow.open_column(parts, layout="columns", **given).equals(texts)
    assert arrow.open_column(parts[1:], layout="columns", **given).equals(texts[1:])


def test_keys_are_found_by_a_function_once_an_id() -> None:
    asked = []

    def find(key_id: int) -> bytes:
        asked.append(key_id)
        return KEYS[key_id]

    keys = arrow.Keyring(find)
    ids = pyarrow.array([7, 1, 7, None] * 500)
    texts = pyarrow.array([b"a", b"b", b"c", None] * 500)
    sealed = arrow.seal_column(texts, keys=keys, key_ids=ids)
    assert arrow.open_column(sealed, keys=keys).equals(texts)
    assert asked == [1, 7]
    assert arrow.open_column(sealed, keys=arrow.Keyring(find)).equals(texts)


def test_keys_are_read_from_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(f'[keys]\n1 = "{KEYS[1].hex()}"\n')
    path.chmod(0o644)
    with pytest.raises(sealift.InputError, match="chmod 600"):
        arrow.Keyring.from_file(path)
    path.chmod(0o600)
    texts = pyarrow.array([b"a"])
    sealed = arrow.seal_column(texts, keys=arrow.Keyring.from_file(path), key_ids=1)
    assert arrow.open_column(sealed, keys=arrow.Keyring(KEYS)).equals(texts)


@pytest.mark.parametrize("algorithm", ["XAES-256-GCM", "AES-GCM-SIV"])
def test_a_keyring_has_an_algorithm(algorithm: Literal["XAES-256-GCM", "AES-GCM-SIV"]) -> None:
    keys = arrow.Keyring(KEYS, algorithm=algorithm)
    texts = pyarrow.array([b"a"] * 1500)
    sealed = arrow.seal_column(texts, keys=keys, key_ids=1)
    assert arrow.open_column(sealed, keys=keys).equals(texts)
    # AES-GCM-SIV alone gives equal bytes for equal rows.
    assert (len(sealed.unique()) == 1) == (algorithm == "AES-GCM-SIV")
    with pytest.raises(sealift.InputError, match=r"row 0 .*first byte"):
        arrow.open_column(sealed, keys=arrow.Keyring(KEYS))


def test_wrong_input_is_named() -> None:
    keys, texts = arrow.Keyring(KEYS), pyarrow.array([b"a", b"b"])
    table = pyarrow.table({"number": [1, 2], "text": texts})
    with pytest.raises(TypeError, match=r"number is a column of Int64: give binary or string"):
        arrow.seal_column(table, "number", keys=keys, key_ids=1)
    with pytest.raises(TypeError, match=r"key_ids of text is a column of Float64"):
        arrow.seal_column(table, "text", keys=keys, key_ids=pyarrow.array([1.0, 2.0]))
    with pytest.raises(sealift.InputError, match=r"text: row 1 has key id 9"):
        arrow.seal_column(table, "text", keys=keys, key_ids=pyarrow.array([1, 9]))
    with pytest.raises(sealift.InputError, match=r"row 1 has -1 as its key id"):
        arrow.seal_column(texts, keys=keys, key_ids=pyarrow.array([1, -1]))
    with pytest.raises(sealift.InputError, match=r"key_ids has 3 rows"):
        arrow.seal_column(texts, keys=keys, key_ids=pyarrow.array([1, 2, 7]))
    with pytest.raises(sealift.InputError, match=r"row 0 is no sealed row"):
        arrow.open_column(texts, keys=keys)
    with pytest.raises(sealift.InputError, match=r"no column 'texts'"):
        arrow.seal_column(table, "texts", keys=keys, key_ids=1)
    odd = arrow.seal_column(pyarrow.array([b"a", b"\xff"]), keys=keys, key_ids=1)
    with pytest.raises(sealift.InputError, match=r"row 1 is not UTF-8"):
        arrow.open_column(odd, keys=keys, to="string")


def test_no_rows_are_no_rows() -> None:
    keys = arrow.Keyring(KEYS)
    for column in (
        pyarrow.array([], pyarrow.binary()),
        pyarrow.chunked_array([], pyarrow.binary()),
    ):
        sealed = arrow.seal_column(column, keys=keys, key_ids=1)
        assert len(sealed) == 0
        assert arrow.open_column(sealed, keys=keys).equals(column)
