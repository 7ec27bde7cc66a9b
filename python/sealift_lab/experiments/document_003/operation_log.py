"""Every operation of document 003's input file, checked and counted (document 003, figure 14).

The file is rebuilt of NIST's CAVP AES-GCM records that have a text: the size that the document
prints is, to the byte, that of these 37,800. They go to each real device in batches, and every byte
of every result is checked. A result that is not as planned ends the device's arm. A quick run has
all of it, a full run more passes. `sealift check --log` writes the log of such files.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import as_file, files
from itertools import product

from sealift.errors import DeviceError, LimitError
from sealift.operations import (
    COUNTS,
    KEY_COUNTS,
    WRONG,
    Done,
    Outcome,
    batches,
    totals,
)
from sealift.vectors import VectorRecord, read_vectors
from sealift_lab._lab import Engine
from sealift_lab.experiments.document_003.messages import NAMES
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.timed import Stopwatch
from sealift_lab.model.arm import Arm, Cell, Context, Sample, Skip, Value, WrongResultError
from sealift_lab.model.experiment import Axis, Chart, Experiment
from sealift_lab.model.published import Figure, Kind, Missing, Number, Published, table, table_row
from sealift_lab.model.results import ArmReport, Results
from sealift_lab.model.workload import KEY_BITS


@cache
def records() -> tuple[VectorRecord, ...]:
    """The records in the order of the files: seals by key size, then opens by key size.

    Raises:
        Skip: If the package with the vectors is not installed.
    """
    try:
        folder = files("cryptography_vectors") / "ciphers" / "AES" / "GCM"
    except ModuleNotFoundError:
        raise Skip("the vectors are not installed; try: pip install cryptography-vectors") from None
    found: list[VectorRecord] = []
    with as_file(folder) as path:
        for kind, bits in product(("EncryptExtIV", "Decrypt"), KEY_BITS):
            found += read_vectors(path / f"gcm{kind}{bits}.rsp").records
    return tuple(record for record in found if record.text_len)


class RecordsArm:
    """All records in batches, and counts of their results."""

    def __init__(self, engine: Engine, records: Sequence[VectorRecord]) -> None:
        """Runs all records once on an engine of one device; WrongResultError as of `sample`."""
        numbered = dict(enumerate(records, start=1))
        self._engine = engine
        self._batches = [*batches(numbered, engine.devices[0].messages_max)]
        self._passes, self._wrong = 0, Counter(dict.fromkeys(WRONG.values(), 0))
        done = (Done(record, record.expected) for record in records)
        self._counts = {n: count for n, count in totals(done).items() if n not in self._wrong}
        self._run()

    def sample(self, seconds: float) -> Sample:
        """Runs all records, again and again, for about `seconds`; WrongResultError ends it."""
        passes = 0
        with Stopwatch() as watch:
            end_s = time.perf_counter() + seconds
            while not passes or time.perf_counter() < end_s:
                self._run()
                passes += 1
        counts = (passes * self._counts[name] for name in ("operations", "text_bytes"))
        return watch.sample(*counts)

    def report(self) -> Mapping[str, Value]:
        """The counts up to now."""
        return {
            "checked_against": source(),
            "role": self._engine.devices[0].role,
            "passes": self._passes,
            **{name: self._passes * count for name, count in self._counts.items()},
            **self._wrong,
            "vectors_of_figure_14": "as printed",
        }

    def _run(self) -> None:
        for batch in self._batches:
            found = batch.run(self._engine)
            if found == batch.expected:
                continue
            done = [Done(*each) for each in zip(batch.records, found, strict=True)]
            outcomes = {at: each.outcome for at, each in enumerate(done)}
            wrong = {at: name for at, name in outcomes.items() if name is not Outcome.AS_PLANNED}
            self._wrong.update(WRONG[outcome] for outcome in wrong.values())
            raise WrongResultError(
                f"{self._engine.devices[0].name}: {len(wrong):,} of {len(found):,} operations were "
                f"not as planned, the first is number {batch.numbers[min(wrong)]:,} of the file"
            )
        self._passes += 1


def source() -> str:
    """The origin of the records, with its version."""
    return f"NIST CAVP, cryptography-vectors {version('cryptography-vectors')}"


def _arm(cell: Cell, _: Context) -> Arm:
    every = records()
    _check_printed_vectors(every)
    try:
        return RecordsArm(Engine([str(cell["device"])]), every)
    except (DeviceError, LimitError) as error:
        raise Skip(str(error)) from error


def _check_printed_vectors(every: Sequence[VectorRecord]) -> None:
    """The two operations that the figure shows must be the first two, byte for byte."""
    for row in table("003-V1-vectors"):
        record = every[int(row["sequence"]) - 1]
        printed = [bytes.fromhex(row[name]) for name in ("iv", "plaintext", "ciphertext")]
        cipher = (record.expected or b"")[: record.text_len]
        # One key of the figure can't be read.
        same_key = row["key"] in ("", record.key.hex().upper())
        if [record.nonce, record.input, cipher] != printed or not same_key:
            raise Skip(f"{source()} has another operation {row['sequence']} than figure 14 shows")


def _published(results: Results) -> Iterator[Published]:
    """All but the stated size agree partly by construction, and are marked so."""
    ran = [each for each in results.reports if each.wrong or "operations" in each.facts]
    counted = next((each.facts for each in ran if not each.skipped and not each.wrong), None)
    reasons = (each.skipped or each.wrong for each in results.reports)
    none = Missing(next(filter(None, reasons), "no device ran it"))

    def here(fact: str, whole: str = "operations") -> Figure:
        return Number(int(counted[fact]) / int(counted[whole])) if counted else none

    _, opens, failures = OPERATIONS
    for field, fact in SHARES.items():
        # The keys' totals are no part of the sum of the three operations.
        others = [other for other in OPERATIONS if other != field]
        share = _derived(_share if field in OPERATIONS else _quotient, field, *others)
        what = f"{field}: {_print(field)}, as a share"
        yield _count(what, share, "of all operations", field, here(fact))
    what = "planned failures for each open that succeeds"
    ratio, figure = _derived(_quotient, failures, opens), here("planned_failures", "opens")
    yield _count(what, ratio, "x", failures, figure)
    sizes = _derived(_quotient, VOLUME, *OPERATIONS)
    as_gb_or_gib = {"GB": sizes, "GiB": sizes.scaled(2**30 / 10**9)}
    for unit, size in as_gb_or_gib.items():
        what = f"volume by operations, if {_print(VOLUME)} are {unit}"
        yield _count(what, size, "B an operation", VOLUME, here("text_bytes"))
    yield _stated_size(*as_gb_or_gib.values())
    # Of all devices: one operation that did not end as planned is one too many.
    what = "operations that did not end as planned, of all devices"
    unplanned = Number(sum(map(_unplanned, ran))) if ran else none
    yield _count(what, Number(0.0, 0.0, 0.0), "operations", failures, unplanned)


def _stated_size(as_gb: Number, as_gib: Number) -> Published:
    """The text's size of a message against the log's: a contradiction inside the document."""
    row = table_row("003-T6-platform", item="Message Size")
    stated, total = _parse(row["value"]).value, _derived(lambda *each: sum(each), *OPERATIONS).value
    what = f"message size as the text states it: {row['value']}"
    here = Number(as_gb.value, as_gb.low, as_gib.high)
    note = (
        f"its own log: {_print(VOLUME)} in {total / 1e9:.4f} G operations, {as_gb.value:.1f} B "
        f"each, or {as_gib.value:.1f} B if GiB; at the size stated they would be "
        f"{stated * total / 1e9:.1f} GB"
    )
    figure = partial(Published, ID, what, stated, "B an operation", row["source"], Kind.ARITHMETIC)
    return figure(here, note, low=here.low, high=here.high)


def _unplanned(report: ArmReport) -> int:
    """At least one where a device computed wrong before it could count."""
    count = sum(int(report.facts.get(name, 0)) for name in WRONG.values())
    return max(count, 1) if report.wrong else count


def _count(what: str, printed: Number, unit: str, field: str, here: Figure) -> Published:
    source = table_row("003-F14-log", field=field)["source"]
    note = "partly by construction: the records were chosen so that their file has the printed size"
    figure = partial(Published, ID, what, printed.value, unit, source, Kind.COUNT, here, note)
    return figure(low=printed.low, high=printed.high, is_fitted=True)


def _derived(formula: Callable[..., float], *fields: str) -> Number:
    """What follows from printed numbers, with the worst of their rounding."""
    numbers = [_parse(_print(field)) for field in fields]
    ends = [formula(*corner) for corner in product(*((each.low, each.high) for each in numbers))]
    return Number(formula(*(each.value for each in numbers)), min(ends), max(ends))


def _share(part: float, *rest: float) -> float:
    return part / (part + sum(rest))


def _quotient(one: float, *wholes: float) -> float:
    return one / sum(wholes)


def _print(field: str) -> str:
    return table_row("003-F14-log", field=field)["value_as_printed"]


def _parse(text: str) -> Number:
    """A number with a unit: `1.6 G` is 1.55e9 to 1.65e9, `128 Bytes` 127.5 to 128.5."""
    digits, unit = text.split()
    number = Decimal(digits)
    half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
    factor = {"M": 10**6, "G": 10**9}.get(unit[0], 1)
    value, low, high = (float(end * factor) for end in (number, number - half, number + half))
    return Number(value, low, high)


ID = "003-F14"
OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
VOLUME = "Total Volume of Messages Processed"
KEYS = [f"Total Number of Operations with {bits}-bit key" for bits in KEY_BITS]
SHARES = dict(zip((*OPERATIONS, *KEYS), (*COUNTS.values(), *KEY_COUNTS), strict=True))

EXPERIMENT = Experiment(
    **texts(__package__, "operation-log"),
    id=ID,
    axes=(Axis("device", "device"),),
    compare="device",
    cells=lambda scope: [{"device": device} for device in scope.devices],
    arm=_arm,
    published=lambda results: [*_published(results)],
    charts=(
        Chart("device", "device", "operations/s", "Operations a second from Python lists, checked"),
    ),
    names=NAMES,
    weight=0.5,
)
