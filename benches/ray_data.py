"""Seals a column on two Ray nodes of this machine, and in one process, in turn.

Usage: python benches/ray_data.py [--out FOLDER] [--rows N] [--rounds N]

Parquet files are read, a column of 128 random bytes is sealed under 20,000 keys, and Parquet files
are written; each way also without sealing. Prints a line for each round; with --out also writes
ray.json into the folder. The first round, which starts Ray's workers, is left out.
"""

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from ray.data import DataContext, Dataset

import sealift.ray
from key_file import write_keys
from ray_nodes import ray_nodes
from sealift.arrow import Keyring, seal_column
from sealift_lab.machine.facts import describe
from sealift_lab.measure.write_folder import write_json

TEXT_BYTES, KEYS, FILES = 128, 20_000, 16
OBJECT_STORE_BYTES = 1_000_000_000


def main() -> int:
    """Measures, prints, and writes what is to be written."""
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp())
    try:
        with ray_nodes(OBJECT_STORE_BYTES) as nodes:
            ray.init(address=nodes.address, _node_ip_address="127.0.0.2", log_to_driver=False)
            DataContext.get_current().enable_progress_bars = False
            sizes = (arguments.rows // 100, arguments.rows)
            for rows in sizes:
                _write_input(folder / str(rows), rows)
            rounds = [
                {rows: _round(folder / str(rows)) for rows in sizes}
                for _ in range(arguments.rounds + 1)
            ][1:]
    finally:
        shutil.rmtree(folder)
    if arguments.out is not None:
        counts = {"text_bytes": TEXT_BYTES, "keys": KEYS}
        machine = {name: asdict(fact) for name, fact in describe().items()}
        write_json(arguments.out / "ray.json", {**counts, "machine": machine, "rounds": rounds})
    return 0


def _round(folder: Path) -> Mapping[str, float]:
    """Seconds by way, once each."""
    keys, source, out = folder / "keys.toml", folder / "in", folder / "out"
    ways: Mapping[str, Callable[[], None]] = {
        "one process": partial(_in_one_process, source, out, keys),
        "one process, without sealing": partial(_in_one_process, source, out, None),
        "two Ray nodes": partial(_on_two_nodes, source, out, keys),
        "two Ray nodes, without sealing": partial(_on_two_nodes, source, out, None),
    }
    seconds = {}
    for way, work in ways.items():
        shutil.rmtree(out, ignore_errors=True)
        begin_s = time.monotonic()
        work()
        seconds[way] = round(time.monotonic() - begin_s, 3)
    times = ", ".join(f"{way} {value:.2f} s" for way, value in seconds.items())
    print(f"{folder.name} rows: {times}", flush=True)
    return seconds


def _in_one_process(source: Path, out: Path, keys: Path | None) -> None:
    """File by file, with pyarrow's threads and all cores for sealing."""
    out.mkdir()
    keyring = None if keys is None else Keyring.from_file(keys)
    for path in sorted(source.iterdir()):
        table = pq.read_table(path)
        if keyring is not None:
            table = seal_column(table, "text", keys=keyring, key_ids="person")
        pq.write_table(table, out / path.name)


def _on_two_nodes(source: Path, out: Path, keys: Path | None) -> None:
    ds: Dataset = ray.data.read_parquet(str(source))
    if keys is not None:
        ds = sealift.ray.seal_dataset(ds, "text", keys, key_ids="person")
    ds.write_parquet(str(out))


def _write_input(folder: Path, rows: int) -> None:
    (folder / "in").mkdir(parents=True)
    write_keys(folder / "keys.toml", {number: secrets.token_bytes(32) for number in range(KEYS)})
    for file in range(FILES):
        many = rows // FILES
        data = pa.py_buffer(secrets.token_bytes(many * TEXT_BYTES))
        fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(TEXT_BYTES), many, [None, data])
        person = pa.array([(file + FILES * row) % KEYS for row in range(many)], pa.uint32())
        table = pa.table({"person": person, "text": fixed.cast(pa.binary())})
        pq.write_table(table, folder / f"in/{file}.parquet")


def _arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--out", type=Path, help="a folder for ray.json")
    parser.add_argument("--rows", type=int, default=4_000_000, help="in all (4,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="that count (5)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
