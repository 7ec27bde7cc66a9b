"""Document 003's input file, rebuilt: NIST's CAVP AES-GCM records that have a text.

The size of the file that the document prints is, to the byte, that of these 37,800 records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version

from sealift.lab.spec import Skip
from sealift.lab.workload import KEY_BITS, Operation


@dataclass(frozen=True, slots=True)
class Record:
    """One message with its key and what must become of it.

    Attributes:
        operation: Seal, open, or open that must fail.
        key: 16, 24 or 32 bytes.
        nonce: 1, 12 or 128 bytes.
        aad: Additional data.
        text: The plaintext; None where the message must not open.
        sealed: The ciphertext with its tag behind it.
        tag_len: Bytes of the tag.
    """

    operation: Operation
    key: bytes
    nonce: bytes
    aad: bytes
    text: bytes | None
    sealed: bytes
    tag_len: int

    @property
    def text_len(self) -> int:
        """Bytes of the text, or of the ciphertext that must not open."""
        return len(self.sealed) - self.tag_len

    @property
    def given(self) -> bytes:
        """What a device is given: the text to seal, or what is to be opened."""
        return self.sealed if self.operation is not Operation.SEAL else self.text or b""

    @property
    def expected(self) -> bytes | None:
        """What a right device gives."""
        return self.sealed if self.operation is Operation.SEAL else self.text


@lru_cache(maxsize=1)
def records() -> tuple[Record, ...]:
    """The records in the order of the files: seals by key size, then opens by key size.

    Raises:
        Skip: If the package with the vectors is not installed.
    """
    seals = [f"gcmEncryptExtIV{bits}.rsp" for bits in KEY_BITS]
    opens = [f"gcmDecrypt{bits}.rsp" for bits in KEY_BITS]
    return tuple(
        record
        for names, is_seal in ((seals, True), (opens, False))
        for name in names
        for fields in _fields(name)
        if (record := _record(fields, is_seal=is_seal)).text_len
    )


def source() -> str:
    """What the records come from, with its version."""
    return f"NIST CAVP, cryptography-vectors {version('cryptography-vectors')}"


def _fields(name: str) -> Iterator[dict[str, str]]:
    """The records of a response file, each as its `Name = value` lines."""
    try:
        from cryptography_vectors import open_vector_file
    except ModuleNotFoundError:
        raise Skip("the vectors are not installed; try: pip install cryptography-vectors") from None
    fields: dict[str, str] = {}
    with open_vector_file(f"ciphers/AES/GCM/{name}", "r") as lines:
        for line in lines:
            key, _, value = line.strip().partition("=")
            if key.startswith("Count"):
                # What stands before the first record is a heading.
                if "Key" in fields:
                    yield fields
                fields = {}
            fields[key.strip()] = value.strip()
    yield fields


def _record(fields: dict[str, str], *, is_seal: bool) -> Record:
    key, nonce, aad, cipher, tag = (
        bytes.fromhex(fields[name]) for name in ("Key", "IV", "AAD", "CT", "Tag")
    )
    must_fail = "FAIL" in fields
    return Record(
        operation=Operation.SEAL if is_seal else Operation.BAD if must_fail else Operation.OPEN,
        key=key,
        nonce=nonce,
        aad=aad,
        text=None if must_fail else bytes.fromhex(fields["PT"]),
        sealed=cipher + tag,
        tag_len=len(tag),
    )
