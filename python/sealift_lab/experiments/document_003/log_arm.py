"""The arm of the operation log: all records in batches, every byte of every result checked."""

import csv
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sealift_lab._lab import Engine
from sealift_lab.experiments.document_003.cavp import Record, source
from sealift_lab.measure.journal import NotWrittenError
from sealift_lab.measure.timed import Stopwatch
from sealift_lab.model.sample import Sample, WrongResultError
from sealift_lab.model.values import Value
from sealift_lab.model.workload import KEY_BITS, Operation


class LogArm:
    """All records in batches, and counts of their results; implements `Arm`."""

    def __init__(self, engine: Engine, records: Sequence[Record], log: Path) -> None:
        """Runs all records once, and writes the result of each.

        Args:
            engine: Has one device.
            records: In the order of the file.
            log: The file that gets a line an operation.

        Raises:
            WrongResultError: If a result is not as planned; the file is there nevertheless.
            NotWrittenError: If the file can't be written.
        """
        self._engine = engine
        self._batches = list(_batches(records))
        self._counts: Counter[str] = Counter(dict.fromkeys(FACTS, 0))
        results = [(batch, batch.run(engine)) for batch in self._batches]
        _write_log(log, results)
        for batch, result in results:
            self._check(batch, result)
        self._counts["passes"] += 1

    def sample(self, seconds: float) -> Sample:
        """Runs all records, again and again, for about `seconds`.

        Raises:
            WrongResultError: If a result is not as planned.
        """
        before = self._counts.copy()
        with Stopwatch() as watch:
            end_s = time.perf_counter() + seconds
            self._pass()
            while time.perf_counter() < end_s:
                self._pass()
        done = {name: self._counts[name] - before[name] for name in ("operations", "text_bytes")}
        return watch.sample(*done.values())

    def report(self) -> Mapping[str, Value]:
        """The counts up to now."""
        return {
            "checked_against": source(),
            "role": self._engine.devices[0].role,
            **self._counts,
            "vectors_of_figure_14": "as printed",
        }

    def _pass(self) -> None:
        for batch in self._batches:
            self._check(batch, batch.run(self._engine))
        self._counts["passes"] += 1

    def _check(self, batch: "Batch", results: Sequence[bytes | None]) -> None:
        self._counts.update(batch.counts)
        if results == batch.expected:
            return
        wrong = [place for place, planned in enumerate(batch.as_planned(results)) if not planned]
        for place in wrong:
            is_failure = batch.records[place].operation is Operation.FORGED
            self._counts[OPENED if is_failure else UNPLANNED] += 1
        raise WrongResultError(
            f"{self._engine.devices[0].name}: {len(wrong):,} of {len(results):,} operations were "
            f"not as planned, the first is number {batch.sequence[wrong[0]]:,} of the log"
        )


class Batch:
    """Seals or opens with tags of one length, in columns for one call.

    Attributes:
        sequence: Their numbers in the log.
        records: The operations.
        expected: The right result of each; None where it must fail.
        counts: By fact of the report.
    """

    def __init__(self, sequence: Sequence[int], records: Sequence[Record]) -> None:
        """Takes records of one kind, with their numbers in the log."""
        self.sequence = sequence
        self.records = records
        self.expected = [record.expected for record in records]
        self.counts: Counter[str] = Counter(COUNTS[record.operation] for record in records)
        self.counts.update(f"operations_aes_{8 * len(record.key)}" for record in records)
        self.counts["operations"] = len(records)
        self.counts["text_bytes"] = sum(record.text_len for record in records)
        self._columns = (
            [record.key for record in records],
            [record.nonce for record in records],
            [record.input for record in records],
            [record.aad for record in records],
        )

    def run(self, engine: Engine) -> Sequence[bytes | None]:
        """The results; None where an operation failed."""
        tag_len = self.records[0].tag_len
        if self.records[0].is_seal:
            return engine.seal_batch(*self._columns, tag_length=tag_len, hazmat_nonces=True)
        return engine.open_batch(
            *self._columns, tag_length=tag_len, hazmat_nonces=True, on_error="mask"
        )

    def as_planned(self, results: Sequence[bytes | None]) -> Iterator[bool]:
        """Of each result whether it is right."""
        return (result == right for result, right in zip(results, self.expected, strict=True))


def _batches(records: Sequence[Record]) -> Iterator[Batch]:
    """Seals and opens apart, each by the length of the tag; planned failures among the opens."""
    kinds: dict[tuple[bool, int], dict[int, Record]] = {}
    for sequence, record in enumerate(records, start=1):
        kinds.setdefault((record.is_seal, record.tag_len), {})[sequence] = record
    return (Batch(tuple(kind), tuple(kind.values())) for kind in kinds.values())


def _write_log(path: Path, results: Sequence[tuple[Batch, Sequence[bytes | None]]]) -> None:
    """Writes the file as a whole: readers never see half of one."""
    lines = sorted(
        (sequence, *_line(record, result, planned))
        for batch, some in results
        for sequence, record, result, planned in zip(
            batch.sequence, batch.records, some, batch.as_planned(some), strict=True
        )
    )
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([LOG_COLUMNS, *lines])
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise NotWrittenError.from_os(path, error) from error


def _line(record: Record, result: bytes | None, planned: bool) -> tuple[Value, ...]:  # noqa: FBT001
    done = "refused" if result is None else "sealed" if record.is_seal else "opened"
    return (
        "encryption" if record.is_seal else "decryption",
        8 * len(record.key),
        len(record.nonce),
        len(record.aad),
        record.text_len,
        record.tag_len,
        done,
        "yes" if planned else "no",
    )


COUNTS = {Operation.SEAL: "seals", Operation.OPEN: "opens", Operation.FORGED: "planned_failures"}
OPENED, UNPLANNED = "planned_failures_that_opened", "unplanned_failures"
KEY_COUNTS = tuple(f"operations_aes_{bits}" for bits in KEY_BITS)
FACTS = ("passes", "operations", *COUNTS.values(), OPENED, UNPLANNED, *KEY_COUNTS, "text_bytes")
LOG_COLUMNS = (
    "sequence", "operation", "key_bits", "iv_bytes", "aad_bytes", "text_bytes", "tag_bytes",
    "result", "as_planned",
)  # fmt: skip
