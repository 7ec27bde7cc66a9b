"""The arm: all records in batches, every byte of every result checked, the first pass logged."""

import csv
import io
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sealift import Engine
from sealift.lab import store
from sealift.lab.cavp import Record, source
from sealift.lab.spec import Sample, WrongResultError
from sealift.lab.timed import Stopwatch
from sealift.lab.values import Value
from sealift.lab.workload import KEY_BITS, Operation


class Log:
    """All records in batches, and the tally of what became of them; implements `spec.Arm`."""

    def __init__(self, engine: Engine, all_records: Sequence[Record], log: Path) -> None:
        """Works all records once, and writes what became of each.

        Args:
            engine: Has one device.
            all_records: In the order of the file.
            log: The file that gets a line an operation.

        Raises:
            WrongResultError: If a result is not as planned; the file is there nevertheless.
        """
        self._engine = engine
        self._batches = list(_batches(all_records))
        self._tally = _Tally()
        results = [(batch, batch.run(engine)) for batch in self._batches]
        _write_log(log, results)
        for batch, result in results:
            self._check(batch, result)
        self._tally.passes += 1

    def sample(self, seconds: float) -> Sample:
        """Works all records, again and again, for about `seconds`.

        Raises:
            WrongResultError: If a result is not as planned.
        """
        operations, text_bytes = self._tally.operations, self._tally.text_bytes
        with Stopwatch() as watch:
            end_s = time.perf_counter() + seconds
            self._pass()
            while time.perf_counter() < end_s:
                self._pass()
        tally = self._tally
        return watch.sample(tally.operations - operations, tally.text_bytes - text_bytes)

    def verified(self) -> Mapping[str, Value]:
        """What was counted up to now."""
        return {
            "checked_against": source(),
            "role": self._engine.devices[0].role,
            **self._tally.facts(),
            "vectors_of_figure_14": "as printed",
        }

    def _pass(self) -> None:
        for batch in self._batches:
            self._check(batch, batch.run(self._engine))
        self._tally.passes += 1

    def _check(self, batch: "Batch", results: Sequence[bytes | None]) -> None:
        self._tally.count(batch)
        if results == batch.expected:
            return
        wrong = [place for place, planned in enumerate(batch.as_planned(results)) if not planned]
        self._tally.not_as_planned.update(batch.records[place].operation for place in wrong)
        raise WrongResultError(
            f"{self._engine.devices[0].name}: {len(wrong):,} of {len(results):,} operations were "
            f"not as planned, the first is number {batch.sequence[wrong[0]]:,} of the log"
        )


class Batch:
    """Seals or opens with tags of one length, in columns for one call.

    Attributes:
        sequence: Their numbers in the log.
        records: What is done.
        expected: What each must give; None where it must fail.
        operations: How many of each kind there are.
        key_bits: How many keys of each length there are.
        text_bytes: Of all of them.
    """

    def __init__(self, sequence: Sequence[int], some: Sequence[Record]) -> None:
        """Takes records of one kind, with their numbers in the log."""
        self.sequence = sequence
        self.records = some
        self.expected = [record.expected for record in some]
        self.operations = Counter(record.operation for record in some)
        self.key_bits = Counter(8 * len(record.key) for record in some)
        self.text_bytes = sum(record.text_len for record in some)
        self._is_seal = some[0].operation is Operation.SEAL
        self._tag_len = some[0].tag_len
        self._keys = [record.key for record in some]
        self._nonces = [record.nonce for record in some]
        self._given = [record.given for record in some]
        self._aads = [record.aad for record in some]

    def run(self, engine: Engine) -> Sequence[bytes | None]:
        """What each gave; None where it failed."""
        columns = (self._keys, self._nonces, self._given, self._aads)
        if self._is_seal:
            return engine.seal_batch(*columns, tag_length=self._tag_len, hazmat_nonces=True)
        return engine.open_batch(
            *columns, tag_length=self._tag_len, hazmat_nonces=True, on_error="mask"
        )

    def as_planned(self, results: Sequence[bytes | None]) -> Iterator[bool]:
        """Of each result whether it is what must be."""
        return (got == right for got, right in zip(results, self.expected, strict=True))


@dataclass
class _Tally:
    """What was done so far, over all passes."""

    passes: int = 0
    operations: int = 0
    text_bytes: int = 0
    by_operation: Counter[Operation] = field(default_factory=Counter)
    by_key_bits: Counter[int] = field(default_factory=Counter)
    not_as_planned: Counter[Operation] = field(default_factory=Counter)

    def count(self, batch: Batch) -> None:
        self.operations += len(batch.records)
        self.text_bytes += batch.text_bytes
        self.by_operation.update(batch.operations)
        self.by_key_bits.update(batch.key_bits)

    def facts(self) -> Mapping[str, Value]:
        unplanned = self.not_as_planned[Operation.SEAL] + self.not_as_planned[Operation.OPEN]
        return {
            "passes": self.passes,
            "operations": self.operations,
            **{name: self.by_operation[operation] for operation, name in COUNTS.items()},
            "planned_failures_that_opened": self.not_as_planned[Operation.BAD],
            "unplanned_failures": unplanned,
            **{f"operations_aes_{bits}": self.by_key_bits[bits] for bits in KEY_BITS},
            "text_bytes": self.text_bytes,
        }


def _batches(all_records: Sequence[Record]) -> Iterator[Batch]:
    """Seals and opens apart, each by the length of the tag; planned failures among the opens."""
    kinds: dict[tuple[bool, int], dict[int, Record]] = {}
    for sequence, record in enumerate(all_records, start=1):
        kind = (record.operation is Operation.SEAL, record.tag_len)
        kinds.setdefault(kind, {})[sequence] = record
    return (Batch(tuple(some), tuple(some.values())) for some in kinds.values())


def _write_log(path: Path, results: Sequence[tuple[Batch, Sequence[bytes | None]]]) -> None:
    """Writes the file whole or not at all; raises `store.NotWrittenError` where it has no room."""
    lines = sorted(
        (sequence, *_logged(record, result is not None, planned))
        for batch, some in results
        for sequence, record, result, planned in zip(
            batch.sequence, batch.records, some, batch.as_planned(some), strict=True
        )
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(LOG_COLUMNS)
    writer.writerows(lines)
    store.write_file(path, text.getvalue())


def _logged(record: Record, worked: bool, planned: bool) -> tuple[Value, ...]:  # noqa: FBT001
    is_seal = record.operation is Operation.SEAL
    done = ("sealed" if is_seal else "opened") if worked else "refused"
    return (
        "encryption" if is_seal else "decryption",
        8 * len(record.key),
        len(record.nonce),
        len(record.aad),
        record.text_len,
        record.tag_len,
        done,
        "yes" if planned else "no",
    )


COUNTS = {Operation.SEAL: "seals", Operation.OPEN: "opens", Operation.BAD: "planned_failures"}
LOG_COLUMNS = (
    "sequence",
    "operation",
    "key_bits",
    "iv_bytes",
    "aad_bytes",
    "text_bytes",
    "tag_bytes",
    "result",
    "as_planned",
)
