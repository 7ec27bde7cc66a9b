"""Columns of Arrow: sealed and opened with pyarrow."""

import pickle
import struct

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import sealift
from sealift import arrow

pyarrow = pytest.importorskip("pyarrow")

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
