"""Compares columns with a loop over pyca and with Spark: ten million rows under 20,000 keys.

Usage: python benches/columns.py --out FOLDER [--rows N] [--rounds N] [--spark PYTHON] [--seed N]

Rows of 100 to 140 random bytes are sealed and opened end to end, each under one of 20,000 keys of
32 bytes that is drawn for it: by Sealift on two threads, from array to array; by a loop over pyca's
AESGCM, one kept for each key, on 200,000 rows; by Spark's `aes_encrypt` and `aes_decrypt`, local
mode with two threads, on a million rows. Each has a process of its own, and they take turns. DuckDB
has no function that encrypts a value, so it has no part. Then a fresh process seals and another
opens all rows, and the most memory of each is measured.

Writes samples.csv (a line for each round) and memory.csv into the folder; `tools/docs.py` makes
tables of them.

--out FOLDER    made if it is not there
--rows N        10,000,000 by default
--rounds N      measured rounds, after one that is not; 8 by default, as an interval of 99 % needs
--spark PYTHON  an interpreter with pyspark and pyarrow; Java on PATH. Without it there is no Spark
--seed N        of texts and ids; 1 by default
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow

import columns_arms as arms
from sealift.exit_code import ExitCode


def main() -> int:
    """Measures, prints a line for each round, and writes both files."""
    arguments = _arguments()
    if arguments.rows < 1 or arguments.rounds < 1:
        print("columns: --rows and --rounds must be 1 or more", file=sys.stderr)
        return ExitCode.USAGE
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="columns-") as name:
        folder = Path(name)
        make_rows(folder, arguments.rows, arguments.seed)
        try:
            _write(arguments.out / "memory.csv", _memory(folder, arguments.rows))
            _write(arguments.out / "samples.csv", _samples(folder, arguments))
        except subprocess.CalledProcessError as error:
            print(f"columns: {' '.join(error.cmd)} ended with {error.returncode}", file=sys.stderr)
            return ExitCode.PART_FAILED
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
    return 0


def make_rows(folder: Path, rows: int, seed: int) -> None:
    """Writes texts, their key ids, and keys."""
    random = np.random.default_rng(seed)
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(random.integers(100, 140, rows, endpoint=True), out=offsets[1:])
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(random.bytes(int(offsets[-1])))]
    texts = pyarrow.BinaryArray.from_buffers(pyarrow.binary(), rows, buffers)
    ids = pyarrow.array(random.integers(0, KEYS, rows))
    arms.write(pyarrow.table({"id": ids, "text": texts}), folder / arms.TEXTS)
    (folder / arms.KEYS).write_bytes(random.bytes(KEYS * arms.KEY_BYTES))


def _memory(folder: Path, rows: int) -> Iterator[Mapping[str, object]]:
    for arm in arms.MEMORY:
        with _process(sys.executable, arm, folder, rows) as process:
            found = _line(process)
        print(f"{arm}: {found['peak_bytes'] / 2**20:,.0f} MiB at most", flush=True)
        yield {"what": arm, "rows": rows, **found}


def _samples(folder: Path, arguments: argparse.Namespace) -> Iterator[Mapping[str, object]]:
    """A line for each arm and round; the first round of each is not kept."""
    most = {arms.OURS: arguments.rows, arms.LOOP: 200_000, arms.COLUMN_LOOP: 200_000}
    pythons = dict.fromkeys(most, sys.executable)
    if arguments.spark:
        most[arms.SPARK_ARM], pythons[arms.SPARK_ARM] = 1_000_000, arguments.spark
    rows = {arm: min(count, arguments.rows) for arm, count in most.items()}
    with ExitStack() as stack:
        processes = {
            arm: stack.enter_context(_process(pythons[arm], arm, folder, rows[arm])) for arm in rows
        }
        for at in range(arguments.rounds + 1):
            for arm, process in processes.items():
                print(file=process.stdin, flush=True)
                found = _line(process)
                ns = (found["seal_ns"] + found["open_ns"]) / rows[arm]
                print(f"round {at}: {arm}: {ns:,.1f} ns a row, sealed and opened", flush=True)
                if at:
                    yield {"arm": arm, "rows": rows[arm], "round": at, **found}


@contextmanager
def _process(python: str, arm: str, folder: Path, rows: int) -> Iterator[subprocess.Popen[str]]:
    """A process of one arm; it ends when its standard input does.

    Raises:
        CalledProcessError: If it does not end well.
    """
    command = [python, arms.__file__, arm, str(folder), str(rows)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        yield process
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def _line(process: subprocess.Popen[str]) -> dict[str, int]:
    """The next line of a process, as numbers; an empty one where it ended."""
    assert process.stdout is not None
    text = process.stdout.readline()
    if not text:
        raise subprocess.CalledProcessError(process.wait(), process.args)
    line: dict[str, int] = json.loads(text)
    return line


def _write(path: Path, lines: Iterator[Mapping[str, object]]) -> None:
    """Writes lines as they come, and names the file when all are there."""
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as file:
        first = next(lines)
        writer = csv.DictWriter(file, [*first], lineterminator="\n")
        writer.writeheader()
        writer.writerow(first)
        for line in lines:
            writer.writerow(line)
            file.flush()
    new.rename(path)


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("--out", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, default=10_000_000, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=8, help=argparse.SUPPRESS)
    parser.add_argument("--spark", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


KEYS, PIPE = 20_000, subprocess.PIPE

if __name__ == "__main__":
    sys.exit(main())
