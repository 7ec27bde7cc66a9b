"""Every operation of document 003's input file, logged (document 003, figure 14).

The 37,800 records go to each real device in batches, and every byte of every result is checked:
that seals give the published ciphertext and tag, that opens give the text, and that those opens
fail which must. The first pass writes `003-F14-log-DEVICE.csv` into the run's folder, one line an
operation; all passes are counted. A result that is not as planned ends the device's arm.

Times are those of lists of Python bytes with the checks on top, as a script would have it; the
speed of the devices alone is in the other experiments.

Quick runs all of it, a full run more passes.
"""

import csv
import io
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sealift import Engine
from sealift.errors import DeviceError, LimitError
from sealift.lab import store
from sealift.lab.cavp import Record, records, source
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Printed,
    Rounded,
    counted,
    table,
    table_row,
)
from sealift.lab.result import Found, Verified
from sealift.lab.spec import (
    Arm,
    Axis,
    Context,
    Experiment,
    Plot,
    Sample,
    Scope,
    Skip,
    WrongResultError,
)
from sealift.lab.timed import Stopwatch
from sealift.lab.values import Cell, Value
from sealift.lab.workload import KEY_BITS, Operation


def _cells(scope: Scope) -> Iterator[Cell]:
    return ({"device": device} for device in scope.devices)


def _arm(cell: Cell, context: Context) -> Arm:
    device = str(cell["device"])
    all_records = records()
    _check_printed_vectors(all_records)
    try:
        engine = Engine([device])
        return _Log(engine, all_records, context.folder / log_name(device))
    except (DeviceError, LimitError) as error:
        raise Skip(str(error)) from error


def log_name(device: str) -> str:
    """The file in a run's folder with every operation of a device."""
    return f"{ID}-log-{re.sub('[^A-Za-z0-9]+', '-', device).strip('-')}.csv"


class _Log:
    """All records in batches, and the tally of what became of them."""

    def __init__(self, engine: Engine, all_records: Sequence[Record], log: Path) -> None:
        self._engine = engine
        self._batches = list(_batches(all_records))
        self._tally = _Tally()
        results = [(batch, batch.run(engine)) for batch in self._batches]
        _write_log(log, results)
        for batch, result in results:
            self._check(batch, result)
        self._tally.passes += 1

    def sample(self, seconds: float) -> Sample:
        operations, text_bytes = self._tally.operations, self._tally.text_bytes
        with Stopwatch() as watch:
            end_s = time.perf_counter() + seconds
            self._pass()
            while time.perf_counter() < end_s:
                self._pass()
        tally = self._tally
        return watch.sample(tally.operations - operations, tally.text_bytes - text_bytes)

    def verified(self) -> Mapping[str, Value]:
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

    def _check(self, batch: "_Batch", results: Sequence[bytes | None]) -> None:
        self._tally.count(batch)
        if results == batch.expected:
            return
        wrong = [place for place, planned in enumerate(batch.as_planned(results)) if not planned]
        self._tally.not_as_planned.update(batch.records[place].operation for place in wrong)
        raise WrongResultError(
            f"{self._engine.devices[0].name}: {len(wrong):,} of {len(results):,} operations were "
            f"not as planned, the first is number {batch.sequence[wrong[0]]:,} of the log"
        )


class _Batch:
    """Seals or opens with tags of one length, in columns for one call."""

    def __init__(self, sequence: Sequence[int], some: Sequence[Record]) -> None:
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
        columns = (self._keys, self._nonces, self._given, self._aads)
        if self._is_seal:
            return engine.seal_batch(*columns, tag_length=self._tag_len, hazmat_nonces=True)
        return engine.open_batch(
            *columns, tag_length=self._tag_len, hazmat_nonces=True, on_error="mask"
        )

    def as_planned(self, results: Sequence[bytes | None]) -> Iterator[bool]:
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

    def count(self, batch: _Batch) -> None:
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


def _batches(all_records: Sequence[Record]) -> Iterator[_Batch]:
    """Seals and opens apart, each by the length of the tag; planned failures among the opens."""
    kinds: dict[tuple[bool, int], dict[int, Record]] = {}
    for sequence, record in enumerate(all_records, start=1):
        kind = (record.operation is Operation.SEAL, record.tag_len)
        kinds.setdefault(kind, {})[sequence] = record
    return (_Batch(tuple(some), tuple(some.values())) for some in kinds.values())


def _write_log(path: Path, results: Sequence[tuple[_Batch, Sequence[bytes | None]]]) -> None:
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


def _check_printed_vectors(all_records: Sequence[Record]) -> None:
    """The two operations that the figure shows must be the first two here, byte for byte."""
    for row in table("003-V1-vectors"):
        record = all_records[int(row["sequence"]) - 1]
        printed = [bytes.fromhex(row[name]) for name in ("iv", "plaintext", "ciphertext")]
        cipher = record.sealed[: record.text_len]
        # One key of the figure can't be read.
        same_key = row["key"] in ("", record.key.hex().upper())
        if [record.nonce, record.text, cipher] != printed or not same_key:
            raise Skip(f"{source()} has another operation {row['sequence']} than figure 14 shows")


def _published(found: Found) -> Sequence[Comparison]:
    here = _totals(found)
    return [
        *(_share(name, fact, here) for name, fact in SHARES),
        _failures_an_open(here),
        *_bytes_an_operation(here),
        _stated_size(),
        _not_as_planned(found),
    ]


def _totals(found: Found) -> Mapping[str, int] | str:
    """The counts of the first device that was checked, or why there are none."""
    for each in found.verified:
        if not each.skipped and not each.wrong and "operations" in each.facts:
            return {name: int(value) for name, value in each.facts.items() if name in COUNTED}
    return _why_not(found)


def _why_not(found: Found) -> str:
    reasons = (each.skipped or each.wrong for each in found.verified)
    return next(filter(None, reasons), "no device ran it")


def _share(name: str, fact: str, here: Mapping[str, int] | str) -> Comparison:
    row = table_row(TABLE, field=name)
    total, rest = _printed_total(name), [other for other in OPERATIONS if other != name]
    # The keys' totals are no part of the sum of the three operations, but rounded apart from it.
    is_part = name in OPERATIONS
    share = total.share_beside(_sum(rest)) if is_part else total.over(_sum(OPERATIONS))
    note = f"{_counted_note(here, fact)}; {BY_CONSTRUCTION}"
    return Printed(
        figure=ID,
        what=f"{name}: {row['value_as_printed']}, as a share",
        value=share.value,
        unit="of all operations",
        source=row["source"],
        kind=Kind.COUNT,
        span=share,
    ).beside(_quotient(here, fact, "operations"), f"{note}{_half() if fact == 'seals' else ''}")


def _half() -> str:
    """Why a log of a file of which half are encryptions shows less than half of them."""
    seals, opens = _printed_total(OPERATIONS[0]), _sum(OPERATIONS[1:])
    digits = table_row(TABLE, field=OPERATIONS[0])["value_as_printed"]
    return (
        f"; the encryptions printed, {digits}, are {seals.high / 1e9:.4g} G at most, the "
        f"decryptions {opens.low / 1e9:.5g} G at least, though half of the file is encryptions: "
        f"were the last digit cut off, not rounded, half would fit"
    )


def _failures_an_open(here: Mapping[str, int] | str) -> Comparison:
    failures, opens = OPERATIONS[2], OPERATIONS[1]
    times = _printed_total(failures).over(_printed_total(opens))
    return Printed(
        figure=ID,
        what="planned failures for each open that succeeds",
        value=times.value,
        unit="x",
        source=table_row(TABLE, field=failures)["source"],
        kind=Kind.COUNT,
        span=times,
    ).beside(
        _quotient(here, "planned_failures", "opens"),
        f"{_counted_note(here, 'planned_failures')}; {BY_CONSTRUCTION}",
    )


def _bytes_an_operation(here: Mapping[str, int] | str) -> Iterator[Comparison]:
    """Both readings of the unit of the volume."""
    row = table_row(TABLE, field=VOLUME)
    for size, unit in zip(_logged_sizes(), ("GB", "GiB"), strict=True):
        yield Printed(
            figure=ID,
            what=f"volume by operations, if {row['value_as_printed']} are {unit}",
            value=size.value,
            unit="B an operation",
            source=row["source"],
            kind=Kind.COUNT,
            span=size,
        ).beside(
            _quotient(here, "text_bytes", "operations"),
            f"{_counted_note(here, 'text_bytes')}; printed for {_sum(OPERATIONS).value / 1e9:.4f} G"
            " operations",
        )


def _stated_size() -> Comparison:
    """The text's size of a message against the log's: a contradiction inside the document."""
    row = table_row("003-T6-platform", item="Message Size")
    stated, total = Rounded.printed(row["value"]), _sum(OPERATIONS)
    as_gb, as_gib = _logged_sizes()
    volume = table_row(TABLE, field=VOLUME)["value_as_printed"]
    return Printed(
        figure=ID,
        what=f"message size as the text states it: {row['value']}",
        value=stated.value,
        unit="B an operation",
        source=row["source"],
        kind=Kind.WITHIN,
        span=Rounded(as_gb.value, as_gb.low, as_gib.high),
    ).beside(
        "nothing to measure",
        f"its own log: {volume} in {total.value / 1e9:.4f} G operations, {as_gb.value:.1f} B each, "
        f"or {as_gib.value:.1f} B if GiB; at the size stated they would be "
        f"{stated.value * total.value / 1e9:.1f} GB",
    )


def _not_as_planned(found: Found) -> Comparison:
    """Of all devices: one operation that did not end as planned is one too many."""
    ran = [each for each in found.verified if each.wrong or "operations" in each.facts]
    here: Here = counted(sum(map(_unplanned, ran)), of=sum(map(_done, ran)))
    told = ", ".join(
        f"{each.cell['device']} {_unplanned(each):,} of {_done(each):,}" for each in ran
    )
    return Printed(
        figure=ID,
        what="operations that did not end as planned, of all devices",
        value=0.0,
        unit="operations",
        source=table_row(TABLE, field=OPERATIONS[2])["source"],
        kind=Kind.COUNT,
        span=Rounded(0.0, 0.0, 0.0),
    ).beside(
        here if ran else _why_not(found),
        f"{told or 'not counted'}; the log prints no line for any, so none",
    )


def _unplanned(device: Verified) -> int:
    """At least one where a device computed wrong before it could count."""
    names = ("unplanned_failures", "planned_failures_that_opened")
    told = sum(int(device.facts.get(name, 0)) for name in names)
    return max(told, 1) if device.wrong else told


def _done(device: Verified) -> int:
    return int(device.facts.get("operations", 0))


def _quotient(here: Mapping[str, int] | str, fact: str, of: str) -> Here:
    return here if isinstance(here, str) else counted(here[fact] / here[of], of=here[of])


def _counted_note(here: Mapping[str, int] | str, fact: str) -> str:
    if isinstance(here, str):
        return "not counted"
    return f"counted here: {here[fact]:,} in {here['operations']:,} operations"


def _logged_sizes() -> tuple[Rounded, Rounded]:
    """Bytes an operation of the log, its volume read as GB and as GiB."""
    volume = _printed_total(VOLUME).over(_sum(OPERATIONS))
    return volume, volume.scaled(2**30 / 10**9)


def _sum(names: Sequence[str]) -> Rounded:
    first, *rest = map(_printed_total, names)
    return sum(rest, first)


def _printed_total(name: str) -> Rounded:
    return Rounded.printed(table_row(TABLE, field=name)["value_as_printed"])


ID = "003-F14"
TABLE = "003-F14-log"
OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
VOLUME = "Total Volume of Messages Processed"
BY_CONSTRUCTION = (
    "partly by construction: the records were chosen so that their file has the printed size"
)
COUNTS = {Operation.SEAL: "seals", Operation.OPEN: "opens", Operation.BAD: "planned_failures"}
SHARES = (
    *zip(OPERATIONS, COUNTS.values(), strict=True),
    *(
        (f"Total Number of Operations with {bits}-bit key", f"operations_aes_{bits}")
        for bits in KEY_BITS
    ),
)
COUNTED = {"operations", "text_bytes", *(fact for _, fact in SHARES)}
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

EXPERIMENT = Experiment(
    name="operation-log",
    id=ID,
    title="Every operation of the input file, checked and logged",
    why="Does every device give every result as published, and fail where it must? The totals are "
    "those of the document's log.",
    axes=(Axis("device", "device"),),
    compare="device",
    cells=_cells,
    arm=_arm,
    operation="message",
    published=_published,
    plots=(
        Plot(
            x="device",
            y="operations_per_s",
            z="device",
            title="Operations of the log a second, from Python lists, checked",
        ),
    ),
    weight=0.5,
)
