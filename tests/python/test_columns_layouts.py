"""The layouts of sealed columns byte by byte: rows, three columns, and Spark's."""

import json
import os
import struct
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pyarrow.compute
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV

from column_cases import IDS, KEYS, NAMED_KEYS, as_bytes, keyring, texts_of
from conftest import skip
from run_report import ran
from sealift import arrow

SPARK = json.loads((Path(__file__).parent / "data/spark-aes.json").read_text(encoding="utf-8"))
ROWS = [{name: bytes.fromhex(text) for name, text in row.items()} for row in SPARK["rows"]]


@pytest.mark.parametrize("algorithm", ["AES-GCM", "AES-GCM-SIV"])
@pytest.mark.parametrize("key_id", [7, 2**40, "tenant", b"", b"i" * 255])
def test_a_row_is_header_nonce_ciphertext_and_tag(key_id: Any, algorithm: Any) -> None:
    keys = arrow.Keyring({key_id: {0x0102: KEYS[1]}}, algorithm=algorithm)
    sealed = arrow.seal_column(pyarrow.array([b"text"]), keys=keys, key_ids=key_id, aad=["a", b""])
    row = sealed[0].as_py()
    id_, is_string = key_id.encode() if isinstance(key_id, str) else key_id, 8
    if isinstance(id_, int):
        id_, is_string = struct.pack("<Q" if id_ >> 32 else "<I", id_), 0
    header = struct.pack("<BBH", NUMBERS[algorithm] | is_string, len(id_), 0x0102) + id_
    assert row.startswith(header)
    nonce, text = row[len(header) : len(header) + 12], row[len(header) + 12 :]
    cipher: Any = AESGCM if algorithm == "AES-GCM" else AESGCMSIV
    bound = header + struct.pack("<I", 1) + b"a" + struct.pack("<I", 0)
    assert cipher(KEYS[1]).decrypt(nonce, text, bound) == b"text"
    assert (nonce == bytes(12)) == (algorithm == "AES-GCM-SIV")


def test_three_columns_are_nonce_ciphertext_and_tag() -> None:
    texts = texts_of("binary")
    sealed = arrow.seal_column(texts, keys=keyring(), key_ids=pyarrow.array(IDS), layout="columns")
    assert sealed.null_count == texts.null_count
    for row, (text, key) in enumerate(zip(texts.to_pylist(), IDS, strict=True)):
        parts = sealed[row].as_py()
        if text is None:
            assert parts is None
            continue
        assert [*parts] == ["nonce", "ciphertext", "tag"]
        cipher = AESGCM(KEYS[key])
        assert cipher.decrypt(parts["nonce"], parts["ciphertext"] + parts["tag"], None) == text


def test_three_columns_stay_together_in_tables_of_polars_and_pyarrow() -> None:
    table = pyarrow.table(
        {"tenant": [f"tenant {each}" for each in IDS], "text": texts_of("string")}
    )
    keys = arrow.Keyring(NAMED_KEYS)
    options: dict[str, Any] = {"keys": keys, "key_ids": "tenant", "layout": "columns"}
    for given in (table, polars.DataFrame(polars.from_arrow(table))):
        sealed = arrow.seal_column(given, "text", **options)
        opened = arrow.open_column(sealed, "text", to="string", **options)
        assert type(opened) is type(given)
        assert as_bytes(opened["text"]) == as_bytes(table["text"])


def test_rows_that_spark_sealed_open() -> None:
    assert SPARK["version"].startswith("4.")
    assert {len(row["key"]) for row in ROWS} == {16, 24, 32}
    opened = arrow.open_column(_spark("sealed"), **_spark_options())
    assert opened.to_pylist() == [row["text"] for row in ROWS]


def test_rows_in_the_layout_of_spark_are_nonce_ciphertext_and_tag_over_its_data() -> None:
    sealed = arrow.seal_column(_spark("text"), **_spark_options())
    for row, ours in zip(ROWS, sealed.to_pylist(), strict=True):
        assert len(ours) == len(row["sealed"])
        assert AESGCM(row["key"]).decrypt(ours[:12], ours[12:], row["aad"]) == row["text"]


def test_a_sealed_chunk_beyond_2_gib_is_large_binary_and_so_are_all_chunks() -> None:
    if "SEALIFT_HUGE" not in os.environ:
        skip("huge", "takes 5 GB of memory and a minute: `make huge`")
    ran("huge")
    size = 2**20
    long = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(size), 2**11, [None, pyarrow.py_buffer(bytes(2**31))]
    )
    keys, texts = keyring(), pyarrow.chunked_array([long[:4], long])
    sealed = arrow.seal_column(texts, keys=keys, key_ids=1)
    assert sealed.type == pyarrow.large_binary()
    assert [*map(len, sealed.chunks)] == [4, 2**11]
    opened = arrow.open_column(sealed, keys=keys)
    assert opened.type == pyarrow.large_binary()
    assert opened.chunk(0).cast(pyarrow.binary(size)).equals(long[:4])
    assert pyarrow.compute.binary_length(opened.chunk(1)).unique().to_pylist() == [size]
    assert opened.chunk(1).buffers()[2].equals(long.buffers()[1])


def _spark(column: str) -> Any:
    return pyarrow.array([row[column] for row in ROWS], pyarrow.binary())


def _spark_options() -> dict[str, Any]:
    keys = arrow.Keyring({f"row {at}": row["key"] for at, row in enumerate(ROWS)})
    ids = pyarrow.array([f"row {at}" for at in range(len(ROWS))])
    return {"keys": keys, "key_ids": ids, "aad": _spark("aad"), "layout": "spark"}


NUMBERS = {"AES-GCM": 0x11, "AES-GCM-SIV": 0x13}
