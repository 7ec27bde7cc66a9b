"""Seals and opens a column by one implementation, a round for each line of standard input.

Usage: python benches/columns_arms.py ARM FOLDER ROWS

FOLDER has text.arrow (key ids, texts) and keys.bin, as `columns.py` makes them. Each round prints
a line of JSON: nanoseconds of sealing and of opening. What was opened is compared after each round.
Needs pyarrow and, for Spark, pyspark. The arms "memory of sealing" and "memory of opening" print
bytes instead, once, and end.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow


@dataclass(frozen=True)
class Arm:
    """An implementation with its data."""

    seal: Callable[[], Any]
    open: Callable[[Any], Any]
    is_right: Callable[[Any], bool]


def column(texts: Any, ids: Any, keys: list[bytes]) -> Arm:
    """`seal_column` and `open_column`, from array to array."""
    from sealift import arrow

    keyring = arrow.Keyring(dict(enumerate(keys)))

    def seal() -> Any:
        return arrow.seal_column(texts, keys=keyring, key_ids=ids, threads=THREADS)

    def open_(sealed: Any) -> Any:
        return arrow.open_column(sealed, keys=keyring, threads=THREADS)

    return Arm(seal, open_, texts.equals)


def loop(texts: Any, ids: Any, keys: list[bytes]) -> Arm:
    """A loop over pyca's AESGCM, one kept for each key, from a list of bytes to a list of bytes."""
    seal_rows, open_rows = _loops(keys)
    listed, key_of = texts.to_pylist(), ids.to_pylist()
    return Arm(
        lambda: seal_rows(listed, key_of), lambda rows: open_rows(rows, key_of), listed.__eq__
    )


def column_loop(texts: Any, ids: Any, keys: list[bytes]) -> Arm:
    """The same loop from array to array."""
    seal_rows, open_rows = _loops(keys)
    binary = pyarrow.binary()

    def seal() -> Any:
        return pyarrow.array(seal_rows(texts.to_pylist(), ids.to_pylist()), binary)

    def open_(sealed: Any) -> Any:
        return pyarrow.array(open_rows(sealed.to_pylist(), ids.to_pylist()), binary)

    return Arm(seal, open_, texts.equals)


def spark(texts: Any, ids: Any, keys: list[bytes]) -> Arm:
    """Spark's `aes_encrypt` and `aes_decrypt` over cached rows that have their keys beside them."""
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{THREADS}]")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    path = Path(sys.argv[2]) / "spark.parquet"
    table = pyarrow.table({"text": texts, "key": pyarrow.array(keys).take(ids)})
    pyarrow.parquet.write_table(table, path)
    rows = builder.getOrCreate().read.parquet(str(path)).repartition(4 * THREADS).cache()
    sealed = rows.selectExpr("*", f"{ENCRYPT} AS sealed").cache()
    right = sealed.where(f"text = {DECRYPT}").count()

    def work(rows: Any, expression: str) -> None:
        rows.selectExpr(expression).write.format("noop").mode("overwrite").save()

    # Opens the cached rows: those that `seal` makes are not kept.
    arm = Arm(
        lambda: work(rows, ENCRYPT), lambda _: work(sealed, DECRYPT), lambda _: right == len(texts)
    )
    # The compiler of the virtual machine wants some rounds before it is done.
    for _ in range(3):
        arm.open(arm.seal())
    return arm


def _loops(keys: list[bytes]) -> tuple[Callable[..., list[bytes]], Callable[..., list[bytes]]]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    ciphers, urandom = [AESGCM(key) for key in keys], os.urandom

    def seal(texts: list[bytes], ids: list[int]) -> list[bytes]:
        sealed = []
        for key, text in zip(ids, texts, strict=True):
            nonce = urandom(12)
            sealed.append(nonce + ciphers[key].encrypt(nonce, text, None))
        return sealed

    def open_(sealed: list[bytes], ids: list[int]) -> list[bytes]:
        pairs = zip(ids, sealed, strict=True)
        return [ciphers[key].decrypt(row[:12], row[12:], None) for key, row in pairs]

    return seal, open_


def main() -> int:
    """Measures rounds until standard input ends; 1 if what was opened is wrong."""
    arm, folder, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if arm in MEMORY:
        print(json.dumps(peak_bytes(arm, folder, rows)), flush=True)
        return 0
    table = read(folder / TEXTS).slice(0, rows)
    made = ARMS[arm](_array(table, "text"), _array(table, "id"), read_keys(folder))
    for _ in sys.stdin:
        begin = time.perf_counter_ns()
        sealed = made.seal()
        middle = time.perf_counter_ns()
        opened = made.open(sealed)
        end = time.perf_counter_ns()
        if not made.is_right(opened):
            print(f"{arm}: what was opened is not what was sealed", file=sys.stderr)
            return 1
        print(json.dumps({"seal_ns": middle - begin, "open_ns": end - middle}), flush=True)
        del sealed, opened
    return 0


def peak_bytes(arm: str, folder: Path, rows: int) -> dict[str, int]:
    """Bytes of input and output, and the most resident beyond what imports take."""
    from sealift import arrow

    # A first call: its engine, threads and library code are not of the rows.
    few = pyarrow.array([b"text"])
    keys = arrow.Keyring({0: bytes(32)})
    arrow.open_column(arrow.seal_column(few, keys=keys, key_ids=0), keys=keys)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM counts anew
    keys = arrow.Keyring(dict(enumerate(read_keys(folder))))
    if arm == MEMORY[0]:
        table = read(folder / TEXTS)
        texts, ids = _array(table, "text"), _array(table, "id")
        given = texts.nbytes + ids.nbytes
        made = arrow.seal_column(texts, keys=keys, key_ids=ids, threads=THREADS)
    else:
        sealed = _array(read(folder / SEALED), "text")
        given, made = sealed.nbytes, arrow.open_column(sealed, keys=keys, threads=THREADS)
    peak = _status("VmHWM") - before
    assert len(made) == rows
    if arm == MEMORY[0]:
        write(pyarrow.table({"text": made}), folder / SEALED)
    return {"input_bytes": given, "output_bytes": made.nbytes, "peak_bytes": peak}


def write(table: Any, path: Path) -> None:
    """Writes a table as one file of Arrow."""
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as to:
        to.write_table(table)


def read(path: Path) -> Any:
    """Such a table in memory of its own."""
    with pyarrow.OSFile(str(path)) as file, pyarrow.ipc.open_file(file) as reader:
        return reader.read_all()


def read_keys(folder: Path) -> list[bytes]:
    """The key of each id from 0."""
    keys = (folder / KEYS).read_bytes()
    return [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]


def _array(table: Any, name: str) -> Any:
    """The one chunk of a column: nothing is copied."""
    (chunk,) = table[name].chunks
    return chunk


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


THREADS, KEY_BYTES = 2, 32
TEXTS, SEALED, KEYS = "text.arrow", "sealed.arrow", "keys.bin"
OURS, SPARK_ARM = "sealift.arrow", "Spark aes_encrypt, local[2]"
LOOP, COLUMN_LOOP = "pyca loop, lists", "pyca loop, from column to column"
ARMS: Mapping[str, Callable[[Any, Any, list[bytes]], Arm]] = {
    OURS: column,
    LOOP: loop,
    COLUMN_LOOP: column_loop,
    SPARK_ARM: spark,
}
MEMORY = ("memory of sealing", "memory of opening")
ENCRYPT, DECRYPT = "aes_encrypt(text, key, 'GCM')", "aes_decrypt(sealed, key, 'GCM')"
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
}

if __name__ == "__main__":
    sys.exit(main())
