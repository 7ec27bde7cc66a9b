"""Exchanges sealed rows with Spark: Sealift opens Spark's, and Spark opens Sealift's.

Usage: python tests/python/spark_exchange.py [--rows N] [--write FILE]

Rows are sealed by `aes_encrypt(text, key, 'GCM', 'DEFAULT', iv, aad)` and by `seal_column` with the
layout "spark", under keys of 16, 24 and 32 bytes, with and without associated data; a third of
Spark's have a nonce that is given. All are opened by the other, once as they are and once with a
changed bit. With --write the first 24 of Spark's rows are written as the data of a test.
"""

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import pyarrow

from sealift import arrow

EXPRESSION = "aes_encrypt(text, key, 'GCM', 'DEFAULT', nonce, aad)"
OPENED = "try_aes_decrypt(sealed, key, 'GCM', 'DEFAULT', aad)"


def main() -> int:
    """Exchanges the rows; 1 if some differ."""
    arguments = _arguments()
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    rows = made_rows(arguments.rows)
    spark.createDataFrame(rows, SCHEMA).createOrReplaceTempView("given")
    theirs = [
        row.asDict() for row in spark.sql(f"SELECT *, {EXPRESSION} AS sealed FROM given").collect()
    ]
    wrong = sum(
        each["text"] != opened for each, opened in zip(theirs, open_rows(theirs), strict=True)
    )
    wrong += sum(opened is not None for opened in open_rows([flipped(each) for each in theirs]))
    ours = [{**row, "sealed": sealed} for row, sealed in zip(rows, seal_rows(rows), strict=True)]
    for sent in (ours, [flipped(each) for each in ours]):
        spark.createDataFrame(sent, f"{SCHEMA}, sealed binary").createOrReplaceTempView("ours")
        found = spark.sql(f"SELECT text, {OPENED} AS opened FROM ours").collect()
        wrong += sum((row.text == row.opened) != (sent is ours) for row in found)
    print(f"Spark {spark.version}: {len(rows):,} rows each way, {wrong:,} wrong")
    if arguments.write:
        hexed = [{name: bytes(value).hex() for name, value in row.items()} for row in theirs[:24]]
        document = {"version": spark.version, "expression": EXPRESSION, "rows": hexed}
        arguments.write.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return int(wrong > 0)


def made_rows(count: int) -> list[dict[str, bytes]]:
    """Texts of 0 to 140 bytes; an empty nonce has Spark draw one."""
    drawn = random.Random(1)
    return [
        {
            "key": drawn.randbytes((16, 24, 32)[row % 3]),
            "text": drawn.randbytes(drawn.randrange(141) if row else 0),
            "nonce": drawn.randbytes(12) if row % 9 < 3 else b"",
            "aad": drawn.randbytes(drawn.randrange(20)) if row % 2 else b"",
        }
        for row in range(count)
    ]


def flipped(row: dict[str, bytes]) -> dict[str, bytes]:
    """A sealed row with one bit changed."""
    sealed = bytearray(row["sealed"])
    sealed[len(row["text"]) % len(sealed)] ^= 1
    return {**row, "sealed": bytes(sealed)}


def seal_rows(rows: list[dict[str, bytes]]) -> list[bytes]:
    """Rows sealed by Sealift, each under its own key."""
    texts = pyarrow.array([row["text"] for row in rows], pyarrow.binary())
    sealed: list[bytes] = arrow.seal_column(texts, **_options(rows)).to_pylist()
    return sealed


def open_rows(rows: list[dict[str, Any]]) -> list[bytes | None]:
    """Rows opened by Sealift; None for those that don't open."""
    sealed = pyarrow.array([row["sealed"] for row in rows], pyarrow.binary())
    opened: list[bytes | None] = arrow.open_column(
        sealed, on_error="null", **_options(rows)
    ).to_pylist()
    return opened


def _options(rows: list[dict[str, Any]]) -> dict[str, Any]:
    keys = arrow.Keyring({row: bytes(each["key"]) for row, each in enumerate(rows)})
    aad = pyarrow.array([each["aad"] for each in rows], pyarrow.binary())
    ids = pyarrow.array(range(len(rows)), pyarrow.int64())
    return {"keys": keys, "key_ids": ids, "aad": aad, "layout": "spark"}


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000, help="rows each way (1,000)")
    parser.add_argument("--write", type=Path, help="write rows that Spark made into this file")
    return parser.parse_args()


SCHEMA = "key binary, text binary, nonce binary, aad binary"

if __name__ == "__main__":
    sys.exit(main())
