"""Document 003's input file, rebuilt: NIST's CAVP AES-GCM records that have a text.

The size of the file that the document prints is, to the byte, that of these 37,800 records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from sealift_lab.model.sample import Skip
from sealift_lab.model.workload import KEY_BITS, Operation


@dataclass(frozen=True, slots=True)
class Record:
    """One message with its key and its right result.

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
    def is_seal(self) -> bool:
        """Whether it is sealed, not opened."""
        return self.operation is Operation.SEAL

    @property
    def input(self) -> bytes:
        """The text to seal, or the message to open."""
        return (self.text or b"") if self.is_seal else self.sealed

    @property
    def expected(self) -> bytes | None:
        """The right result; None for failure."""
        return self.sealed if self.is_seal else self.text


@cache
def records() -> tuple[Record, ...]:
    """The records in the order of the files: seals by key size, then opens by key size.

    Raises:
        Skip: If the package with the vectors is not installed.
    """
    seals = [f"gcmEncryptExtIV{bits}.rsp" for bits in KEY_BITS]
    opens = [f"gcmDecrypt{bits}.rsp" for bits in KEY_BITS]
    return tuple(
        record
        for name in (*seals, *opens)
        for fields in _fields(name)
        if (record := _record(fields, is_seal=name in seals)).text_len
    )


def source() -> str:
    """The origin of the records, with its version."""
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
                # Before the first record stands a heading.
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
    opens = Operation.FORGED if must_fail else Operation.OPEN
    return Record(
        operation=Operation.SEAL if is_seal else opens,
        key=key,
        nonce=nonce,
        aad=aad,
        text=None if must_fail else bytes.fromhex(fields["PT"]),
        sealed=cipher + tag,
        tag_len=len(tag),
    )
