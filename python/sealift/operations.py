"""Operations of vector files on a device: batches, what came of each operation, counts, and a log.

Standard library only, as `sealift.vectors`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sealift.vectors import KEY_LENGTHS, Planned, VectorRecord

if TYPE_CHECKING:
    from sealift import DeviceInfo, Engine


class Outcome(StrEnum):
    """How an operation ended."""

    AS_PLANNED = "as planned"
    """The bytes are the published ones, or what must be refused was."""
    UNPLANNED = "unplanned failure"
    """Other bytes, or a message that must open and was refused."""
    OPENED = "planned failure that opened"


@dataclass(frozen=True, slots=True)
class Done:
    """An operation that was worked; `calculated` is None where the device refused the message."""

    record: VectorRecord
    calculated: bytes | None

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        if self.calculated == self.record.expected:
            return Outcome.AS_PLANNED
        return Outcome.OPENED if self.record.expected is None else Outcome.UNPLANNED

    @property
    def fault(self) -> str:
        """The fault, with its place in the file; "" where it ended as planned."""
        if self.outcome is Outcome.AS_PLANNED:
            return ""
        place, right, made = self.record.place, self.record.expected, self.calculated
        if right is None:
            return f"{place}: it must be refused, and it opened to {_shown(made or b'')}"
        name = "ciphertext and tag" if self.record.is_seal else "plaintext"
        if made is None:
            return f"{place}: {name} {_shown(right)} expected, and it was refused"
        same = (one == other for one, other in zip(right, made, strict=False))
        first = next(
            (at for at, is_same in enumerate(same) if not is_same), min(map(len, (right, made)))
        )
        expected, found = _shown(right, first), _shown(made, first)
        return f"{place}: byte {first} of {name} differs: {expected} expected, {found} found"


class Batch:
    """Seals or opens with tags of one length, in columns for one call."""

    def __init__(self, numbered: Mapping[int, VectorRecord]) -> None:
        """Takes operations of one kind by their numbers."""
        self.numbers, self.records = tuple(numbered), tuple(numbered.values())
        self.expected = [record.expected for record in self.records]
        columns = ((each.key, each.nonce, each.input, each.aad) for each in self.records)
        self._columns = [*map(list, zip(*columns, strict=True))]

    def run(self, engine: "Engine") -> Sequence[bytes | None]:
        """The results on an engine of one device; None where an operation was refused.

        Raises:
            LimitError: If the device does not take them; `why_not` tells before.
            DeviceError: If the device failed.
        """
        device, tag_len = engine.devices[0], self.records[0].tag_len
        name, is_seal = device.name, self.records[0].is_seal
        if not device.runs_on_calling_thread:
            if is_seal:
                return engine.submit_seal(
                    *self._columns, tag_length=tag_len, hazmat_nonces=True, device=name
                ).result()
            return engine.submit_open(
                *self._columns,
                tag_length=tag_len,
                hazmat_nonces=True,
                on_error="mask",
                device=name,
            ).result()
        if is_seal:
            return engine.seal_batch(
                *self._columns, tag_length=tag_len, hazmat_nonces=True, device=name
            )
        return engine.open_batch(
            *self._columns, tag_length=tag_len, hazmat_nonces=True, on_error="mask", device=name
        )


def batches(records: Mapping[int, VectorRecord], messages_max: int) -> Iterator[Batch]:
    """Operations by their numbers in batches of one kind and length of tags, as long as may be."""
    kinds: dict[tuple[bool, int], dict[int, VectorRecord]] = {}
    for number, record in records.items():
        kind = record.is_seal, record.tag_len
        same = kinds.setdefault(kind, {})
        same[number] = record
        if len(same) == messages_max:
            yield Batch(kinds.pop(kind))
    yield from map(Batch, kinds.values())


def why_not(device: "DeviceInfo", record: VectorRecord) -> str:
    """Why a device does not take an operation, as `have a nonce of 0 bytes`; or ""."""
    for what, length, allowed in (
        ("nonce", len(record.nonce), device.nonce_lengths),
        ("tag", record.tag_len, device.tag_lengths),
        ("text", record.text_len, range(device.text_bytes_max + 1)),
        ("aad", len(record.aad), range(device.aad_bytes_max + 1)),
    ):
        if length not in allowed:
            return f"have a {what} of {length:,} bytes"
    return ""


def run_all(
    engine: "Engine", records: Sequence[VectorRecord], tell: Callable[[int], None]
) -> list[Done]:
    """Works operations that a device takes, and returns them in their order.

    Args:
        engine: Of one device.
        records: Operations that `why_not` has nothing against.
        tell: Called before and after each batch with the number of operations that are done.

    Raises:
        DeviceError: If the device failed.
    """
    found: dict[int, Done] = {}
    at_once = min(BATCH, engine.devices[0].messages_max)
    tell(0)
    for batch in batches(dict(enumerate(records)), at_once):
        results = batch.run(engine)
        for number, record, result in zip(batch.numbers, batch.records, results, strict=True):
            found[number] = Done(record, result)
        tell(len(found))
    return [found[number] for number in range(len(records))]


def totals(done: Iterable[Done]) -> dict[str, int]:
    """Counts of operations: all, by kind, by outcome and by key size; and the bytes of texts."""
    counts = Counter(dict.fromkeys((*COUNTS.values(), *WRONG.values(), *KEY_COUNTS), 0))
    for each in done:
        counts["operations"] += 1
        counts[COUNTS[each.record.planned]] += 1
        counts[f"operations_aes_{8 * len(each.record.key)}"] += 1
        counts["text_bytes"] += each.record.text_len
        if name := WRONG.get(each.outcome):
            counts[name] += 1
    return dict(counts)


def log_lines(head: Mapping[str, str], done: Iterable[tuple[str, Done]]) -> Iterator[str]:
    """The lines of a log: `Name = value` of a head, then of each operation, an empty line between.

    Args:
        head: The head's names and values.
        done: Operations with the name of their file.
    """
    yield from (f"{name} = {value}" for name, value in head.items())
    for number, (file, each) in enumerate(done, start=1):
        record = each.record
        operation, text = ("encryption", "Plaintext") if record.is_seal else DECRYPTION
        planned = " that must fail" if record.planned is Planned.REFUSE else ""
        yield ""
        yield f"Operation = {number}, {operation}{planned}"
        yield f"Record = {file}, {record.place}"
        yield f"Key = {record.key.hex()}"
        yield f"Nonce = {record.nonce.hex()}"
        yield f"AAD = {record.aad.hex()}"
        yield f"{text} = {_hex(record.input, 0 if record.is_seal else record.tag_len)}"
        tag_len = record.tag_len if record.is_seal else 0
        yield f"Reference = {_hex(record.expected, tag_len)}"
        yield f"Calculated = {_hex(each.calculated, tag_len)}"
        yield f"Outcome = {each.outcome}"


def head_of(counts: Mapping[str, int]) -> dict[str, str]:
    """The totals of a log's head, from `totals`."""
    return {text: f"{counts.get(name, 0):,}" for name, text in HEAD.items()}


def _hex(value: bytes | None, tag_len: int) -> str:
    """Bytes with a blank before the tag; what was refused as in NIST's files."""
    if value is None:
        return "FAIL"
    end = len(value) - tag_len
    return f"{value[:end].hex()} {value[end:].hex()}".strip()


def _shown(value: bytes, first: int = 0) -> str:
    """The bytes, or a part of many with the one that is meant."""
    if len(value) <= SHOWN_BYTES:
        return value.hex() or "no bytes"
    start = max(0, min(first - SHOWN_BYTES // 2, len(value) - SHOWN_BYTES))
    begin, part = "..." if start else "", value[start : start + SHOWN_BYTES].hex()
    return f"{begin}{part}{'...' if start + SHOWN_BYTES < len(value) else ''}"


COUNTS = {Planned.SEAL: "seals", Planned.OPEN: "opens", Planned.REFUSE: "planned_failures"}
WRONG = {
    Outcome.OPENED: "planned_failures_that_opened",
    Outcome.UNPLANNED: "unplanned_failures",
}
KEY_COUNTS = tuple(f"operations_aes_{8 * length}" for length in KEY_LENGTHS)
HEAD = {
    "operations": "Operations",
    "seals": "Encryptions",
    "opens": "Decryptions that must succeed",
    "planned_failures": "Decryptions with planned failed authentication",
    "planned_failures_that_opened": "Planned failures that opened",
    "unplanned_failures": "Unplanned failures",
    **{name: f"Operations with {name.rpartition('_')[2]}-bit keys" for name in KEY_COUNTS},
    "text_bytes": "Volume of messages, bytes",
}
DECRYPTION = "decryption", "Ciphertext and tag"
BATCH = 1_024
SHOWN_BYTES = 64
