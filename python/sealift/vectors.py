"""Vector files: AES-GCM operations with their right results, as NIST, Wycheproof or you write them.

Standard library only, for `sealift check` and for the lab's measuring processes.
"""

import csv
import io
import json
import re
from binascii import unhexlify
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Planned(StrEnum):
    """The operation on a message, and the outcome that it must have."""

    SEAL = "seal"
    OPEN = "open"
    REFUSE = "refuse"
    """An open that must fail."""


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """An operation of a vector file.

    Attributes:
        place: Its line and its number in the file, as `line 14, record 1`.
        input: The plaintext of a seal; else the ciphertext, and behind it the tag.
        expected: The ciphertext with its tag behind it, or the plaintext; None for a refusal.
        tag_len: Bytes of the tag.
    """

    place: str
    planned: Planned
    key: bytes
    nonce: bytes
    aad: bytes
    input: bytes
    expected: bytes | None
    tag_len: int

    @property
    def is_seal(self) -> bool:
        """Whether it is sealed, not opened."""
        return self.planned is Planned.SEAL

    @property
    def text_len(self) -> int:
        """Bytes of the text, or of the ciphertext that must not open."""
        return len(self.input) - (0 if self.is_seal else self.tag_len)


@dataclass(frozen=True)
class VectorFile:
    """The operations of a file.

    Attributes:
        name: The path as it was given.
        size_bytes: Of the file.
        records: In the order of the file.
        left_out: Operations that no device can judge: how many, by the reason.
    """

    name: str
    size_bytes: int
    records: tuple[VectorRecord, ...]
    left_out: Mapping[str, int]


def read_vectors(path: Path) -> VectorFile:
    """Reads a file; its ending says what it is.

    - `.rsp`: NIST's CAVP, as `gcmEncryptExtIV128.rsp` and `gcmDecrypt128.rsp`.
    - `.json`: Wycheproof, as `aes_gcm_test.json`. Valid tests are sealed and opened.
    - `.csv`: a header line with the columns `CSV_COLUMNS`, bytes as hexadecimal digits.

    Raises:
        ValueError: If it can't be read or is not as it should be; names file and line.
    """
    read = READERS.get(path.suffix)
    if read is None:
        raise ValueError(f"{path}: its name ends in none of {', '.join(READERS)}")
    left_out = Counter[str]()
    try:
        content = path.read_bytes()
        records = tuple(read(path.name, _text(content), left_out))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}, {error}") from error
    if not records and not left_out:
        raise ValueError(f"{path}: it has no record")
    return VectorFile(str(path), len(content), records, left_out)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: byte {content[error.start]:#04x} is not UTF-8") from error


def _read_nist(name: str, text: str, _: Counter[str]) -> Iterator[VectorRecord]:
    lines = [*enumerate(text.splitlines(), start=1)]
    heading = [line for _, line in lines if line.startswith("#")]
    kind = re.search(r"GCM\s+(Encrypt|Decrypt)", "\n".join(heading)) or KIND.search(name)
    if kind is None:
        raise ValueError("line 1: neither heading nor name has `GCM Encrypt` or `GCM Decrypt`")
    for number, (lengths, fields) in enumerate(_nist_blocks(lines), start=1):
        yield _nist_record(fields, lengths, number, is_seal=kind[1].casefold() == "encrypt")


Fields = dict[str, tuple[int, str]]
"""The line and the text of each field of a record."""


def _nist_blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[dict[str, int], Fields]]:
    """The fields of each record with the lengths in bits that its section states."""
    lengths: dict[str, int] = {}
    fields: Fields = {}
    for number, whole in lines:
        line = whole.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.rstrip()
        section = SECTION.fullmatch(line)
        # A section's lines are those of the records that follow.
        if fields and (section or name == "Count"):
            yield lengths, fields
            lengths, fields = dict(lengths), {}
        if section:
            lengths[section[1]] = int(section[2])
        elif name in NIST_FIELDS and (equals or name == "FAIL"):
            if name in fields or ("Count" not in fields and name != "Count"):
                raise ValueError(f"line {number}: {name} stands at a wrong place or twice")
            fields[name] = number, value.lstrip()
        else:
            right = f"[Name = bits] or one of {', '.join(NIST_FIELDS)}"
            raise ValueError(
                f"line {number}: {_shown(line)} is not a line of a record; right: {right}"
            )
    if fields:
        yield lengths, fields


def _nist_record(
    fields: Fields, lengths: Mapping[str, int], number: int, *, is_seal: bool
) -> VectorRecord:
    (line, _), fails = fields["Count"], "FAIL" in fields
    if fails == ("PT" in fields) or (fails and is_seal):
        raise ValueError(f"line {line}: a record has PT or, where it is opened, FAIL")
    texts = {name: text for name, (_, text) in fields.items()}
    if lacking := [name for name in ("Key", "IV", "AAD", "CT", "Tag") if name not in texts]:
        raise ValueError(f"line {line}: the record has no {', '.join(lacking)}")
    parts = {name: _hex(text, name, at) for name, (at, text) in fields.items() if name in NIST_BITS}
    for name, section in NIST_BITS.items():
        part, bits = parts.get(name), lengths.get(section)
        if part is not None and bits is not None and 8 * len(part) != bits:
            at = fields[name][0]
            raise ValueError(f"line {at}: {name} of {8 * len(part)} bits, and [{section} = {bits}]")
    planned = Planned.SEAL if is_seal else Planned.REFUSE if fails else Planned.OPEN
    values = (parts.get(name, b"") for name in ("Key", "IV", "AAD", "PT", "CT", "Tag"))
    return _record(line, f"record {number}", planned, *values)


def _read_wycheproof(_: str, text: str, left_out: Counter[str]) -> Iterator[VectorRecord]:
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("line 1: brackets are nested too deeply") from error
    if _member(whole, "algorithm", str, 1) != "AES-GCM":
        raise ValueError(f"line 1: its algorithm is {_shown(whole['algorithm'])}, not 'AES-GCM'")
    found = (re.search(r'"tcId"\s*:\s*(\d+)', line) for line in text.splitlines())
    line_of = {int(match[1]): line for line, match in enumerate(found, start=1) if match}
    for group in _member(whole, "testGroups", list, 1):
        for test in _member(group, "tests", list, 1):
            number = _member(test, "tcId", int, 1)
            line = line_of.get(number, 1)
            texts = {name: _member(test, name, str, line) for name in WYCHEPROOF_FIELDS}
            parts = [_hex(texts[name], name, line) for name in WYCHEPROOF_FIELDS[:-1]]
            if (result := texts["result"]) == "acceptable":
                left_out["may succeed or fail"] += 1
            elif result not in RESULTS:
                right = f"right would be {', '.join(RESULTS)} or acceptable"
                raise ValueError(f"line {line}: result {_shown(result)}; {right}")
            elif len(parts[0]) not in KEY_LENGTHS:
                left_out[f"have a key of {len(parts[0])} bytes"] += 1
            else:
                for planned in RESULTS[result]:
                    yield _record(line, f"tcId {number}", planned, *parts)


def _member(where: Any, name: str, kind: type, line: int) -> Any:
    found = where.get(name) if isinstance(where, dict) else None
    if not isinstance(found, kind):
        raise ValueError(f"line {line}: {name!r} is missing; Wycheproof's files have it")
    return found


def _read_csv(_: str, text: str, __: Counter[str]) -> Iterator[VectorRecord]:
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    header: list[str] = []
    try:
        number = 0
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if not header:
                header = _header(cells, reader.line_num)
                continue
            number += 1
            if len(cells) != len(header):
                texts = f"{len(cells)} cells, and the header has {len(header)}"
                raise ValueError(f"line {reader.line_num}: {texts}")
            of = dict(zip(header, cells, strict=True))
            yield from _csv_records(of, reader.line_num, number)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _header(cells: Sequence[str], line: int) -> list[str]:
    names = [cell.casefold() for cell in cells]
    if lacking := [name for name in CSV_COLUMNS[:5] if name not in names]:
        raise ValueError(f"line {line}: the header has no column {', '.join(lacking)}")
    if len({*names}) != len(names):
        raise ValueError(f"line {line}: the header names a column twice")
    return names


def _csv_records(of: Mapping[str, str], line: int, number: int) -> Iterator[VectorRecord]:
    result, operation = of.get("result") or "valid", of.get("operation") or "both"
    for name, value, right in (
        ("result", result, RESULTS),
        ("operation", operation, ("seal", "open", "both")),
    ):
        if value not in right:
            raise ValueError(
                f"line {line}: {name} {_shown(value)}; right would be {', '.join(right)}"
            )
    if result == "invalid" and (operation == "seal" or of["plaintext"]):
        raise ValueError(f"line {line}: what is invalid is opened, and has no plaintext")
    names = ("key", "nonce", "aad", "plaintext", "ciphertext", "tag")
    parts = [_hex(of.get(name, ""), name, line) for name in names]
    for planned in RESULTS[result]:
        if operation == "both" or result == "invalid" or planned == operation:
            yield _record(line, f"record {number}", planned, *parts)


def _record(line: int, label: str, planned: Planned, *parts: bytes) -> VectorRecord:
    """An operation of its parts: key, nonce, aad, plaintext, ciphertext and tag."""
    key, nonce, aad, plain, cipher, tag = parts
    if len(key) not in KEY_LENGTHS:
        raise ValueError(f"line {line}: a key of {len(key)} bytes; right would be 16, 24 or 32")
    if len(plain) != len(cipher) and planned is not Planned.REFUSE:
        texts = f"a plaintext of {len(plain)} bytes, and a ciphertext of {len(cipher)}"
        raise ValueError(f"line {line}: {texts}")
    sealed, place = cipher + tag, f"line {line}, {label}"
    given, expected = (plain, sealed) if planned is Planned.SEAL else (sealed, plain)
    right = None if planned is Planned.REFUSE else expected
    return VectorRecord(place, planned, key, nonce, aad, given, right, len(tag))


def _hex(text: str, name: str, line: int) -> bytes:
    try:
        # bytes.fromhex passes over blanks and tabs.
        return unhexlify(text)
    except ValueError:
        shown = _shown(text)
        raise ValueError(
            f"line {line}: {name} {shown} is not pairs of hexadecimal digits"
        ) from None


def _shown(text: str) -> str:
    """A text in quotes, the beginning of a long one, without control characters."""
    return repr(f"{text[:SHOWN]}..." if len(text) > SHOWN else text)


CSV_COLUMNS = ("key", "nonce", "plaintext", "ciphertext", "tag", "aad", "operation", "result")
"""Columns of one's own file; the first five are needed, others are passed over."""
KEY_LENGTHS = (16, 24, 32)
SECTION = re.compile(r"\[(\w+) = ([0-9]{1,9})\]")
KIND = re.compile("(encrypt|decrypt)", re.IGNORECASE)
NIST_BITS = {
    "Key": "Keylen",
    "IV": "IVlen",
    "PT": "PTlen",
    "CT": "PTlen",
    "AAD": "AADlen",
    "Tag": "Taglen",
}
NIST_FIELDS = ("Count", *NIST_BITS, "FAIL")
WYCHEPROOF_FIELDS = ("key", "iv", "aad", "msg", "ct", "tag", "result")
RESULTS = {"valid": (Planned.SEAL, Planned.OPEN), "invalid": (Planned.REFUSE,)}
READERS = {".rsp": _read_nist, ".json": _read_wycheproof, ".csv": _read_csv}
SHOWN = 40
