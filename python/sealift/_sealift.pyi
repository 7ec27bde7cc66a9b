"""The engine, native. Import these names from `sealift`."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import (
    Any,
    Final,
    Literal,
    NoReturn,
    Protocol,
    Self,
    TypeAlias,
    final,
    overload,
    type_check_only,
)

from typing_extensions import Buffer

from sealift.futures import Future

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "XAES256GCM",
    "ArrowColumn",
    "BatchResult",
    "Calibrated",
    "Calibration",
    "CheckResult",
    "Column",
    "Cost",
    "Counters",
    "DeviceCheck",
    "DeviceInfo",
    "DriverInfo",
    "Engine",
    "Explanation",
    "Finished",
    "Fixed",
    "InFlight",
    "Keyring",
    "Offsets",
    "PolicyInfo",
    "Quote",
    "Record",
    "Session",
    "Submission",
    "__version__",
    "aes_ctr",
    "drivers",
    "open_array",
    "policies",
    "reseal_array",
    "seal_array",
]

__version__: str

# An array of numpy's has the buffer protocol, and its stubs say so from Python 3.12 on.
@type_check_only
class _Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Bytes: TypeAlias = Buffer | _Array
_Algorithm: TypeAlias = Literal["AES-GCM", "XAES-256-GCM", "AES-GCM-SIV"]
# A column: the byte strings of all messages of a batch.
_Packed: TypeAlias = _Bytes | Fixed | Offsets | Column
_Column: TypeAlias = Sequence[_Bytes] | _Packed
_Keys: TypeAlias = Session | Sequence[Session] | Sequence[int] | _Column
_Aad: TypeAlias = _Column | None
_Place: TypeAlias = _Bytes | Fixed | Offsets

@final
class AESGCM:
    """AES-GCM for one message at a time, with the interface of pyca/cryptography.

    It differs from `cryptography.hazmat.primitives.ciphers.aead.AESGCM` in this:

    - `InvalidTag` is `sealift.InvalidTag`, and pyca's, too, where that is imported; messages of
      errors are worded differently.
    - A failed `decrypt_into` leaves zeros in `buf` instead of plaintext that nobody vouches for.
    - `data` may overlap `buf` in any way, not only exactly; it is copied first then.
    - Text and associated data may be longer than 2**31 - 1 bytes; text up to 2**36 - 32.
    - A key seals at most 2**32 messages in a process (SP 800-38D section 8.3), then it raises
      `SealLimitError`.

    An instance may be used by several threads, and in a child after `os.fork`.

    Nonces have 8 to 128 bytes, 12 are usual. Never use one twice with the same key.

    Args:
        key: 16, 24 or 32 bytes.

    Raises:
        TypeError: If `key` is not bytes-like.
        ValueError: If it has another length.
    """

    def __new__(cls, key: _Bytes) -> Self: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key.

        Args:
            bit_length: 128, 192 or 256.

        Returns:
            `bit_length / 8` bytes from the system.

        Raises:
            ValueError: If it is another number.
        """
    def encrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Encrypts and authenticates.

        Args:
            nonce: Of the length that the class says.
            data: The plaintext.
            associated_data: Authenticated and not encrypted; None is the same as no bytes.

        Returns:
            The ciphertext and behind it the tag of 16 bytes.

        Raises:
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def decrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Checks the tag and decrypts.

        Args:
            nonce: The one it was encrypted with.
            data: The ciphertext and behind it the tag of 16 bytes.
            associated_data: What it was encrypted with.

        Returns:
            The plaintext.

        Raises:
            InvalidTag: If the tag does not belong to key, nonce, data and associated data, or
                `data` is shorter than a tag.
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def encrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Encrypts into a buffer.

        As `encrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) + 16`
        bytes in which `data` may lie.

        Returns:
            The number of bytes written.

        Raises:
            TypeError: If `buf` is read-only, and as `encrypt`.
            ValueError: If `buf` has another length, and as `encrypt`.
        """
    def decrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Checks the tag and decrypts into a buffer.

        As `decrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) - 16`
        bytes in which `data` may lie. It holds zeros if the tag is wrong.

        Returns:
            The number of bytes written.

        Raises:
            InvalidTag: As `decrypt`.
            TypeError: If `buf` is read-only, and as `decrypt`.
            ValueError: If `buf` has another length, and as `decrypt`.
        """

@final
class AESGCMSIV:
    """AES-GCM-SIV (RFC 8452) for one message at a time, with the interface of pyca/cryptography.

    Nonces have 12 bytes. One that is used twice with the same key shows whether the two messages
    are equal, and nothing else. It differs from pyca's class as `AESGCM` does.

    Args:
        key: 16 or 32 bytes.

    Raises:
        TypeError: If `key` is not bytes-like.
        ValueError: If it has another length.
    """

    def __new__(cls, key: _Bytes) -> Self: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key.

        Args:
            bit_length: 128 or 256.

        Returns:
            `bit_length / 8` bytes from the system.

        Raises:
            ValueError: If it is another number.
        """
    def encrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Encrypts and authenticates.

        Args:
            nonce: Of the length that the class says.
            data: The plaintext.
            associated_data: Authenticated and not encrypted; None is the same as no bytes.

        Returns:
            The ciphertext and behind it the tag of 16 bytes.

        Raises:
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def decrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Checks the tag and decrypts.

        Args:
            nonce: The one it was encrypted with.
            data: The ciphertext and behind it the tag of 16 bytes.
            associated_data: What it was encrypted with.

        Returns:
            The plaintext.

        Raises:
            InvalidTag: If the tag does not belong to key, nonce, data and associated data, or
                `data` is shorter than a tag.
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def encrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Encrypts into a buffer.

        As `encrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) + 16`
        bytes in which `data` may lie.

        Returns:
            The number of bytes written.

        Raises:
            TypeError: If `buf` is read-only, and as `encrypt`.
            ValueError: If `buf` has another length, and as `encrypt`.
        """
    def decrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Checks the tag and decrypts into a buffer.

        As `decrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) - 16`
        bytes in which `data` may lie. It holds zeros if the tag is wrong.

        Returns:
            The number of bytes written.

        Raises:
            InvalidTag: As `decrypt`.
            TypeError: If `buf` is read-only, and as `decrypt`.
            ValueError: If `buf` has another length, and as `decrypt`.
        """

@final
class XAES256GCM:
    """XAES-256-GCM (C2SP) for one message at a time, with the interface of pyca's AEAD classes.

    Nonces have 24 bytes, which may be drawn at random (`os.urandom(24)`) for 2**80 messages a
    key. A key of AES-256-GCM is derived for each message. In buffers and errors it is as `AESGCM`.

    Args:
        key: 32 bytes.

    Raises:
        TypeError: If `key` is not bytes-like.
        ValueError: If it has another length.
    """

    def __new__(cls, key: _Bytes) -> Self: ...
    @staticmethod
    def generate_key() -> bytes:
        """A random key.

        Returns:
            32 bytes from the system.
        """
    def encrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Encrypts and authenticates.

        Args:
            nonce: Of the length that the class says.
            data: The plaintext.
            associated_data: Authenticated and not encrypted; None is the same as no bytes.

        Returns:
            The ciphertext and behind it the tag of 16 bytes.

        Raises:
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def decrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None) -> bytes:
        """Checks the tag and decrypts.

        Args:
            nonce: The one it was encrypted with.
            data: The ciphertext and behind it the tag of 16 bytes.
            associated_data: What it was encrypted with.

        Returns:
            The plaintext.

        Raises:
            InvalidTag: If the tag does not belong to key, nonce, data and associated data, or
                `data` is shorter than a tag.
            TypeError: If an argument is not bytes-like.
            BufferError: If a buffer is not contiguous.
            ValueError: If `nonce` has another length.
        """
    def encrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Encrypts into a buffer.

        As `encrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) + 16`
        bytes in which `data` may lie.

        Returns:
            The number of bytes written.

        Raises:
            TypeError: If `buf` is read-only, and as `encrypt`.
            ValueError: If `buf` has another length, and as `encrypt`.
        """
    def decrypt_into(
        self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes | None, buf: _Bytes
    ) -> int:
        """Checks the tag and decrypts into a buffer.

        As `decrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) - 16`
        bytes in which `data` may lie. It holds zeros if the tag is wrong.

        Returns:
            The number of bytes written.

        Raises:
            InvalidTag: As `decrypt`.
            TypeError: If `buf` is read-only, and as `decrypt`.
            ValueError: If `buf` has another length, and as `decrypt`.
        """

def aes_ctr(key: _Bytes, counter: _Bytes, data: _Bytes) -> bytes:
    """Encrypts or decrypts with AES in counter mode (SP 800-38A, section 6.5).

    It authenticates nothing: whoever can change a ciphertext can flip any bit of the plaintext, and
    nobody notices. Use `sealift.AESGCM` unless a protocol asks for counter mode.

    Args:
        key: 16, 24 or 32 bytes.
        counter: The first counter block, 16 bytes: a big-endian number. Each 16 bytes of data take
            the next one, and behind the last comes 0. Never let counters of two texts meet under
            the same key.
        data: A plaintext or a ciphertext of any length.

    Returns:
        The other one, as long as `data`.

    Raises:
        TypeError: If an argument is not bytes-like.
        BufferError: If a buffer is not contiguous.
        ValueError: If `key` or `counter` has another length.
    """

@final
class Engine:
    """Sessions, batches and this machine's devices behind one handle.

    Several threads may use it at once. In a child after `os.fork` it raises `ForkedError`: make a
    new one there.

    `seal_batch` and `open_batch` work on the thread that calls them, and long batches on other
    cores, too; `submit_seal` and `submit_open` on threads of the devices. What batches cost is read
    from the cache that `calibrate` fills, and learnt from what they take.

    Args:
        devices: The devices to open, for example `["cpu:isa=aesni", "library"]`; None opens every
            one that is present. Policies that go by order take this one. `sealift devices` shows on
            the command line what there is.
        policy: How it chooses among the real devices for a batch that names none: a name of
            `policies()`, with settings as in "size-split:bytes=4096". A device that was not tried
            for long gets a batch now and then under the usual one; "failover" keeps to the first.
            "split" cuts batches that are submitted.
        audit: The share of all sealed messages, above 0 and at most 1, that another device opens
            again before anyone sees them; None checks none. A device whose results do not open is
            quarantined, and its batch is done elsewhere unless it named the device. What was sealed
            in place is not audited, and nobody may write to the texts meanwhile.
        threads: How many threads, the calling one among them, one call may use; None takes the
            environment variable SEALIFT_THREADS, else as many as this process may run at a time. A
            batch is cut only where that pays. Give 1 in a program with a thread for each core.

    Raises:
        TypeError: If `devices` is not a sequence of str.
        InputError: If there is no such policy, or it doesn't take a setting; if `audit` is out of
            range, or there is no second device to check with.
        UnknownDeviceError: If one is no device, or has a setting that its driver does not take.
        DeviceError: If one is absent, or the list is empty.
    """

    def __new__(
        cls,
        devices: Sequence[str] | None = None,
        *,
        policy: str = "earliest-finish",
        audit: float | None = None,
        threads: int | None = None,
    ) -> Self: ...
    @staticmethod
    def detect() -> Engine:
        """An engine over every device that is present: `Engine()` by another name.

        A batch goes to the real device that is predicted to finish it first, and now and then to
        one that was not tried for long; the others work when they are named.

        Raises:
            DeviceError: If nothing could be opened.
        """
    devices: Final[tuple[DeviceInfo, ...]]
    """The open devices, in the order in which they were named."""
    @property
    def policy(self) -> str:
        """The name of its policy.

        Raises:
            ForkedError: In a forked child.
        """
    def session(
        self, key: _Bytes, *, algorithm: _Algorithm = "AES-GCM", seals_max: int | None = None
    ) -> Session:
        """Installs a key.

        Args:
            key: For AES-GCM 16, 24 or 32 bytes, for XAES-256-GCM 32, for AES-GCM-SIV 16 or 32.
            algorithm: What it is for: "AES-GCM"; "XAES-256-GCM", whose nonces of 24 bytes may be
                drawn at random for 2**80 messages; or "AES-GCM-SIV", whose nonces may repeat.
            seals_max: Messages it may seal, at most 2**32 (SP 800-38D section 8.3), which is also
                what None means; a key for XAES-256-GCM may seal any number.

        Raises:
            TypeError: If `key` is not bytes-like.
            InputError: If `key` has another length, there is no such algorithm, or `seals_max` is
                out of range.
            ForkedError: In a forked child.
        """
    def explain(self, messages: int, message_bytes: int) -> Explanation:
        """Says which device would get a batch that names none, and why.

        Nothing is worked, and no policy's turn is used up.

        Args:
            messages: Messages in the batch, 1 to 2**32 - 1.
            message_bytes: Bytes of each text, aad included.

        Raises:
            InputError: If a number is out of range.
            LimitError: If no device takes such a batch.
            DeviceError: If none of the devices is for unnamed batches, or all have given wrong
                results.
            ForkedError: In a forked child.
        """
    def costs(self) -> dict[str, Cost]:
        """What batches cost on each device, as far as is known now.

        Returns:
            A `Cost` for each device, by its name.

        Raises:
            ForkedError: In a forked child.
        """
    def calibrate(self, *, anew: bool = False) -> Calibration:
        """Finds out what batches cost on each device.

        From the cache where that was measured before, else by measuring, up to 0.03 s a device, and
        keeping it in the cache: `sealift/costs-<version>.txt` in `$XDG_CACHE_HOME` or `~/.cache`,
        with entries by processor, number of cores and device. An engine reads it when it is made
        and measures nothing by itself. Batches that this works are counted and recorded like
        others.

        Args:
            anew: Whether to measure also what the cache has.

        Raises:
            ForkedError: In a forked child.
        """
    def state(self, device: str) -> Literal["up", "down", "quarantined"]:
        """Whether a device gets batches.

        "up", "down" for a while because it failed, or "quarantined" because it gave wrong results.

        Args:
            device: Its name, as in `devices`.

        Raises:
            UnknownDeviceError: If there is no such device.
            ForkedError: In a forked child.
        """
    def reinstate(self, device: str) -> None:
        """Uses a device again that was down or in quarantine.

        Args:
            device: Its name, as in `devices`.

        Raises:
            UnknownDeviceError: If there is no such device.
            ForkedError: In a forked child.
        """
    def release(self) -> None:
        """Lets devices give back what they hold while idle: threads, device memory.

        They take it again with the next batch.

        Raises:
            ForkedError: In a forked child.
        """
    def records(self) -> list[Record]:
        """The last 1,024 attempts at batches that are over, oldest first.

        Each says who worked it, why, what it was predicted to take and how long it then took.
        `AESGCM` has an engine of its own, whose records are not among them.

        Raises:
            ForkedError: In a forked child.
        """
    def counters(self, device: str) -> Counters:
        """What a device has done so far.

        Args:
            device: Its name, as in `devices`.

        Raises:
            UnknownDeviceError: If there is no such device.
            ForkedError: In a forked child.
        """
    @overload
    def seal_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        texts: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        out: None = None,
        tags: None = None,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> list[bytes]:
        """Seals many messages in one call, each under its own key and nonce.

        A column is a list or tuple of bytes-like objects, a 2-D buffer of bytes with a row for each
        message (rows contiguous, any distance between them), `Fixed` or `Offsets`. The last three
        are read and written where they are. Buffers are held and the GIL is left meanwhile.

        Args:
            keys: A `Session`, a sequence of sessions, session ids in a list or buffer (uint64), or
                a column of raw keys for AES-GCM. All sessions have one algorithm.
            nonces: A column of 12-byte nonces, under XAES-256-GCM of 24 bytes. Never use one twice
                with the same key. None lets each session count its own, never one twice; such a
                session takes no others, and raw keys take none. Under XAES-256-GCM None draws
                random ones, beside which a session takes others; AES-GCM-SIV wants them given.
            texts: A column of plaintexts.
            aad: Authenticated and not encrypted: None, one bytes-like object for all, or a column.
            tag_length: Bytes of each tag: 4, 8 or 12 to 16; of other algorithms than AES-GCM 16.
            out: Where ciphertexts go: a writable 2-D buffer, `Fixed` or `Offsets`. Exactly the
                memory of `texts` works in place.
            tags: Where tags go, likewise.
            device: The name of a device, or of its driver where one such is open; None lets the
                engine choose.
            check_nonces: Whether to look for a nonce that seals twice under one session in this
                batch. Raw keys, and two sessions with one key, are not checked.
            hazmat_nonces: Whether to take nonces of 1 to 128 bytes. Lengths other than 12 are
                hashed, which lowers the number of messages a key may safely seal (SP 800-38D
                section 8.3).
            threads: How many threads this call may use; None for as many as the engine may.

        Returns:
            If `texts` is a list and `out` is not given: a list of bytes, each a ciphertext with its
            tag behind it. Else, or where nonces were None, a `BatchResult`.

        Raises:
            TypeError: If an argument is no column of bytes, or a place is read-only.
            BufferError: If a buffer or its rows are not contiguous.
            InputError: If lengths, counts or ranges don't fit, an output overlaps something else,
                there are more than 2**32 - 1 messages, or `check_nonces` found a nonce twice.
            SessionError: If a session is closed or of another engine, its algorithm is not that of
                the first one, or if some of its nonces are given and others counted.
            SealLimitError: If a session would pass its limit. Nothing was sealed.
            LimitError: If no device takes the batch.
            UnknownDeviceError: If there is no such device.
            DeviceError: If the device failed. Outputs apart from the texts are zeros then; of texts
                in place some are ciphertexts already, so never seal that memory again.
            ForkedError: In a forked child.
            MemoryError: If there is no memory for the results.
            KeyboardInterrupt: If Ctrl-C came; the main thread looks every 0.05 s. Its `status` has
                2 for messages that were not begun: their place in `out` is untouched.
                3 for long ones that it stopped half-way: their place is zeros, in place too.
        """
    @overload
    def seal_batch(
        self,
        keys: _Keys,
        nonces: None,
        texts: Sequence[_Bytes] | _Packed,
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        out: _Place | None = None,
        tags: _Place | None = None,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> BatchResult: ...
    @overload
    def seal_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        texts: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        out: _Place,
        tags: _Place | None = None,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> BatchResult: ...
    @overload
    def seal_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        texts: _Packed,
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        out: _Place | None = None,
        tags: _Place | None = None,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> BatchResult: ...
    @overload
    def open_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        on_error: Literal["raise"] = "raise",
        tag_length: int = 16,
        tags: _Column | None = None,
        out: None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> list[bytes]:
        """Opens many messages in one call. Columns are as in `seal_batch`.

        Args:
            keys: As in `seal_batch`.
            nonces: A column of the nonces they were sealed with.
            sealed: A column of ciphertexts, with the tag behind each unless `tags` is given.
            aad: What they were sealed with.
            on_error: "raise" raises `InvalidTag` with the `indices` of all messages that did not
                open, after all were worked. "mask" makes them None in a list, and zeros with
                status 1 in a `BatchResult`.
            tag_length: Bytes of each tag: 4, 8 or 12 to 16; of other algorithms than AES-GCM 16.
            tags: A column of tags, when they are not behind the ciphertexts.
            out: Where plaintexts go: a writable 2-D buffer, `Fixed` or `Offsets`. Exactly the
                memory of `sealed` works in place. Messages that do not open leave zeros there,
                also when it raises.
            device: The name of a device, or of its driver where one such is open; None lets the
                engine choose.
            hazmat_nonces: Whether to take nonces of 1 to 128 bytes.
            threads: How many threads this call may use; None for as many as the engine may.

        Returns:
            If `sealed` is a list and `out` is not given: a list of bytes (or None). Else a
            `BatchResult`.

        Raises:
            InvalidTag: If messages did not open and `on_error` is "raise". All else is raised as
                `seal_batch` does.
        """
    @overload
    def open_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        on_error: Literal["mask"],
        tag_length: int = 16,
        tags: _Column | None = None,
        out: None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def open_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        on_error: Literal["raise", "mask"] = "raise",
        tag_length: int = 16,
        tags: _Column | None = None,
        out: _Place,
        device: str | None = None,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> BatchResult: ...
    @overload
    def open_batch(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: _Packed,
        aad: _Aad = None,
        *,
        on_error: Literal["raise", "mask"] = "raise",
        tag_length: int = 16,
        tags: _Column | None = None,
        out: _Place | None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
        threads: int | None = None,
    ) -> BatchResult: ...
    @overload
    def submit_seal(
        self,
        keys: _Keys,
        nonces: _Column,
        texts: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
    ) -> Future[list[bytes]]:
        """Seals a batch on a device's workers and returns at once.

        Arguments are those of `seal_batch`. Their buffers are held, and nobody may write to them,
        until the future is done, even if nobody waits for it. Bad input raises here.

        Returns:
            A `Future` of what `seal_batch` returns: `result(timeout)`, `done()`,
            `add_done_callback`, or `await` it. An engine that is full takes the batch later.
        """
    @overload
    def submit_seal(
        self,
        keys: _Keys,
        nonces: None,
        texts: Sequence[_Bytes] | _Packed,
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
    ) -> Future[BatchResult]: ...
    @overload
    def submit_seal(
        self,
        keys: _Keys,
        nonces: _Column,
        texts: _Packed,
        aad: _Aad = None,
        *,
        tag_length: int = 16,
        device: str | None = None,
        check_nonces: bool = False,
        hazmat_nonces: bool = False,
    ) -> Future[BatchResult]: ...
    @overload
    def submit_open(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        on_error: Literal["raise"] = "raise",
        tag_length: int = 16,
        tags: _Column | None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
    ) -> Future[list[bytes]]:
        """Opens a batch on a device's workers and returns at once.

        Arguments are those of `open_batch`, buffers are held as by `submit_seal`.

        Returns:
            A `Future` of what `open_batch` returns; where that raises `InvalidTag`, `result` does.
        """
    @overload
    def submit_open(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: Sequence[_Bytes],
        aad: _Aad = None,
        *,
        on_error: Literal["mask"],
        tag_length: int = 16,
        tags: _Column | None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
    ) -> Future[list[bytes | None]]: ...
    @overload
    def submit_open(
        self,
        keys: _Keys,
        nonces: _Column,
        sealed: _Packed,
        aad: _Aad = None,
        *,
        on_error: Literal["raise", "mask"] = "raise",
        tag_length: int = 16,
        tags: _Column | None = None,
        device: str | None = None,
        hazmat_nonces: bool = False,
    ) -> Future[BatchResult]: ...

@final
class InFlight:
    """Gives batches to an engine and takes them back, for `sealift.futures`."""

    def submit(self, submission: Submission) -> int | None:
        """Gives a batch to the engine: its ticket, or None when the engine is full."""
    def take(self, timeout_s: float) -> list[tuple[int, Finished]]:
        """Takes all batches that are finished, by ticket; waits so many seconds for one."""
    def descriptor(self) -> int:
        """A descriptor that is readable when `take` may have something."""
    def result(self, submission: Submission, finished: Finished) -> object:
        """What a submission asked for. Lets go of the batch's objects."""

@final
class Submission:
    """A batch that may be given to an engine, and what is to become of its results."""

@final
class Finished:
    """A batch that an engine gave back."""

@final
class Session:
    """An installed key. Made by `Engine.session(key)`.

    The key lives until `close()`, the end of a `with` block, or until nothing refers to the
    session; then it is wiped, as soon as no batch in flight needs it.
    """

    id: Final[int]
    """The number that stands for it in a column of keys (uint64)."""
    algorithm: Final[_Algorithm]
    """What its key is for: "AES-GCM", "XAES-256-GCM" or "AES-GCM-SIV"."""
    @property
    def sealed(self) -> int:
        """Messages sealed under it so far.

        Raises:
            SessionError: If it is closed.
            ForkedError: In a forked child.
        """
    def next_nonce(self) -> bytes:
        """A nonce of 12 bytes that this session has not given before.

        The first is random and each later one is the next number (SP 800-38D section 8.2.2).

        Raises:
            SessionError: If it is closed.
            InputError: If its key is not for AES-GCM, whose nonces alone are counted.
            SealLimitError: After 2**32 nonces.
            ForkedError: In a forked child, where parent and child would give the same ones.
        """
    def next_nonces(self, count: int) -> Column:
        """So many nonces that this session has not given before.

        They are the next ones of those that `next_nonce` gives.

        Returns:
            A `Column` of `count` rows of 12 bytes, which a batch takes as its nonces.

        Raises:
            InputError: If `count` is negative or over 2**32, or its key is not for AES-GCM.
            SessionError: If it is closed.
            SealLimitError: If fewer are left of 2**32; then none is used up.
            ForkedError: In a forked child.
        """
    def close(self) -> None:
        """Retires the key. Closing twice is allowed."""
    def __reduce__(self) -> NoReturn: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _exc_type: type[BaseException] | None,
        _exc_value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class Fixed:
    """Messages of one length in one buffer, at a fixed distance from each other.

    Message `i` is the `length` bytes from `start + i * stride`. `len()` says how many there are.

    Args:
        buffer: Contiguous bytes of any shape. Held only while a batch works on them; writable when
            results go there.
        length: Bytes of each message.
        stride: Bytes from the start of one message to the start of the next; `length` if not given.
        start: Bytes before the first message.

    Raises:
        TypeError: If `buffer` has no bytes.
        BufferError: If `buffer` is not contiguous.
        InputError: If a number is negative, `start` lies outside, or the buffer ends within a
            message.
    """

    def __new__(
        cls, buffer: _Bytes, length: int, *, stride: int | None = None, start: int = 0
    ) -> Self: ...
    def __len__(self) -> int: ...

@final
class Offsets:
    """Messages of any lengths in one buffer: message `i` is bytes `offsets[i]` to `offsets[i + 1]`.

    One more offset than messages, as in Arrow. `len()` says how many messages there are.

    Args:
        buffer: Contiguous bytes. Held only while a batch works on them; writable when results go
            there.
        offsets: A buffer of int32, uint32, int64 or uint64, or a sequence of int. Copied.

    Raises:
        TypeError: If `buffer` has no bytes, or `offsets` no integers in this machine's byte order.
        BufferError: If `buffer` is not contiguous.
        InputError: If there is no offset, one falls, or one lies outside the buffer.
        MemoryError: If there is no memory for the offsets.
    """

    def __new__(cls, buffer: _Bytes, offsets: _Bytes | Sequence[int]) -> Self: ...
    def __len__(self) -> int: ...

@final
class Column:
    """Byte strings in one piece of memory: what a batch made when it was given no place for it.

    It has the buffer protocol, read-only and without copies: `numpy.asarray(column)` has shape
    `(messages, bytes)` when all have one length, else shape `(bytes,)` with `offsets` beside it.
    `len(column)` counts messages, `column[i]` copies one. A batch takes it as a column again.
    """

    offsets: Final[memoryview[int] | None]
    """Where messages lie, as uint64: message `i` is bytes `offsets[i]` to `offsets[i + 1]`.

    None when all have one length.
    """
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bytes: ...
    def __iter__(self) -> Iterator[bytes]: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class BatchResult:
    """What a batch over columns gave."""

    text: Final[Any]
    """Ciphertexts or plaintexts: the `out` that was given, or a `Column`.

    For a list of texts whose nonces were counted or drawn: a list of ciphertexts, each with its tag
    behind it.
    """
    nonces: Final[Column | None]
    """The nonces that were counted or drawn, in rows. None where they were given."""
    tags: Final[Any]
    """Tags of seals: the `tags` that was given, or a `Column`. None where there are none apart."""
    status: Final[bytes]
    """One byte a message: 0 worked, 1 did not open and its text is zeros."""
    device: Final[str]
    """The name of the device that worked it."""
    seconds: Final[float]
    """How long the device took, in seconds."""
    def __len__(self) -> int: ...

def drivers() -> list[DriverInfo]:
    """Looks for every device that Sealift knows, without opening any.

    Returns:
        One `DriverInfo` for each driver, absent ones too.
    """

@final
class DriverInfo:
    """What a driver found on this machine."""

    name: Final[str]
    """The name that opens it."""
    summary: Final[str]
    """What it is, and the settings it takes."""
    state: Final[Literal["present", "absent"]]
    """Whether it is here: "present" or "absent"."""
    role: Final[str | None]
    """What it is for: real, oracle, test only, simulated or null. None when absent."""
    detail: Final[str | None]
    """The instruction set or model. None when absent."""
    reason: Final[str | None]
    """Why it is absent. None when present."""

@final
class DeviceInfo:
    """What an open device is and what it takes."""

    name: Final[str]
    """The spec that opens it again, and its name in `device=`."""
    driver: Final[str]
    """Its driver."""
    role: Final[str]
    """Its use: real (only such are chosen unasked), oracle, test only, simulated or null."""
    origin: Final[Literal["measured", "simulated", "projected"]]
    """Whose seconds its timings are: "measured", "simulated", or "projected" from a description of
    a device that is not here.
    """
    detail: Final[str]
    """The instruction set or model."""
    algorithms: Final[list[str]]
    """What it computes."""
    workers: Final[int]
    """Threads or queues that work submitted batches at the same time."""
    slots: Final[int]
    """Submitted batches that it holds at most."""
    messages_max: Final[int]
    """Most messages a batch."""
    text_bytes_max: Final[int]
    """Longest text in bytes."""
    aad_bytes_max: Final[int]
    """Longest aad in bytes."""
    nonce_lengths: Final[list[int]]
    """Nonce lengths that it takes, in bytes, ascending."""
    tag_lengths: Final[list[int]]
    """Tag lengths that it takes, in bytes."""
    in_place: Final[bool]
    """Whether results may overwrite their texts."""
    runs_on_calling_thread: Final[bool]
    """Whether it works `seal_batch` and `open_batch`."""

@final
class DeviceCheck:
    """A device that was opened to be checked: by the suite that every device has to pass.

    `sealift check` runs it. Results are compared with published vectors, and with another device.

    Args:
        device: Its name, as `Engine` takes it.
        seed: Of what is drawn; the same seed draws the same messages.

    Raises:
        UnknownDeviceError: If it is no device, or has a setting that its driver does not take.
        DeviceError: If it is absent.
    """

    def __new__(cls, device: str, *, seed: int) -> Self: ...
    device: Final[DeviceInfo]
    """What the device is."""
    compared_with: Final[str]
    """The name of the device that it is compared with."""
    checks: Final[list[str]]
    """The names of all checks: each a sentence that is true of a right device."""
    def run(self, check: str) -> CheckResult:
        """Runs one of `checks`, which takes up to some seconds.

        Raises:
            InputError: If there is no check of that name.
        """

@final
class CheckResult:
    """What came of a check."""

    passed: Final[bool]
    """Whether the device passed."""
    text: Final[str]
    """What was done, or the first fault, with the seed."""
    messages: Final[int]
    """Messages that the device worked, every byte of which was compared."""
    refused: Final[int]
    """Those of them that did not open: they were spoiled on purpose."""

@final
class Record:
    """One attempt at a batch that is over. Times are nanoseconds on the engine's clock."""

    device: Final[str]
    """The device that worked it."""
    end: Final[Literal["done", "failed", "abandoned", "wrong"]]
    """What came of it: "done", "failed", "abandoned" (no answer in time) or "wrong" (its results
    did not open elsewhere).
    """
    attempt: Final[int]
    """Which attempt at the batch, from 0: a batch that a device fails goes to another one."""
    messages: Final[int]
    """Messages in it."""
    text_bytes: Final[int]
    """Bytes of its texts."""
    auth_failed: Final[int]
    """Messages that did not open."""
    because: Final[str]
    """Why this device."""
    predicted_ns: Final[float]
    """What it was predicted to take, in nanoseconds."""
    quotes: Final[list[tuple[str, float]]]
    """Who was asked, and what each was predicted to take; the first 8 of a larger number."""
    arrived_ns: Final[int]
    """When it came to the engine."""
    start_ns: Final[int]
    """When the device began."""
    end_ns: Final[int]
    """When the results were there."""
    copy_in_ns: Final[int]
    """Moving inputs to the device; 0 where it reads the caller's memory."""
    compute_ns: Final[int]
    """Computing."""
    copy_out_ns: Final[int]
    """Moving results back."""
    origin: Final[Literal["measured", "simulated", "projected"]]
    """Whose nanoseconds these are: "measured", "simulated" or "projected"."""
    measured_copy_ns: Final[int]
    """Copying to and from a simulated device on this machine: measured; 0 where all of it is."""

@final
class Counters:
    """What a device has done so far."""

    batches: Final[int]
    """Batches finished."""
    messages: Final[int]
    """Messages in them."""
    text_bytes: Final[int]
    """Bytes of their texts."""
    auth_failed: Final[int]
    """Messages that did not open."""
    failed: Final[int]
    """Batches that the device failed."""
    abandoned: Final[int]
    """Batches that were given up because it did not answer in time."""
    wrong: Final[int]
    """Batches whose results did not open elsewhere."""
    late: Final[int]
    """Abandoned batches that it gave results for after all; they were wiped."""
    busy_ns: Final[int]
    """Nanoseconds between start and end of all finished batches."""

def policies() -> list[PolicyInfo]:
    """The ways in which an engine chooses a device for a batch; the first is the usual one."""

@final
class PolicyInfo:
    """A way in which an engine chooses a device for a batch."""

    name: Final[str]
    """What `Engine(policy=...)` takes."""
    summary: Final[str]
    """What it does, and the settings it takes, as in "size-split:bytes=4096"."""

@final
class Cost:
    """What a batch costs on a device: a set-up, so much a message and so much a byte."""

    setup_ns: Final[float]
    """What every batch costs, however small, in nanoseconds."""
    per_message_ns: Final[float]
    """What each message adds, in nanoseconds."""
    per_byte_ns: Final[float]
    """What each byte of text and aad adds, in nanoseconds."""

@final
class Quote:
    """What a device was predicted to take for a batch."""

    device: Final[str]
    """The device that was asked."""
    predicted_ns: Final[float]
    """Until the results are there, in nanoseconds."""
    host_ns: Final[float]
    """Time of this machine's processors that it takes, in nanoseconds."""

@final
class Explanation:
    """Which device would get a batch, and why."""

    device: Final[str]
    """The device that would get it."""
    because: Final[str]
    """Why."""
    predicted_ns: Final[float]
    """What it is predicted to take, in nanoseconds."""
    quotes: Final[list[Quote]]
    """Who was asked, in the engine's order."""

@final
class Calibration:
    """What an engine knows of its devices' costs, and where from."""

    devices: Final[dict[str, Calibrated]]
    """One for each device, by its name."""
    file: Final[Path | None]
    """The file that keeps costs; None where there is no place for one."""
    remarks: Final[list[str]]
    """What kept costs from being read or kept there. Nothing else comes of it."""

@final
class Calibrated:
    """What a device's batches cost, and where that is known from."""

    cost: Final[Cost]
    """What the engine goes by, until it has learnt more."""
    source: Final[Literal["measured", "cache", "known"]]
    """How that is known: "measured" just now, from the "cache", or "known" from what the device
    says of itself and what was learnt from its batches.
    """
    measured_at_s: Final[float | None]
    """When it was measured that is from the cache, in seconds since 1970; else None."""
    reason: Final[str | None]
    """Why it was not measured; None where it was."""

# Simulated DPUs.

@final
class ArrowColumn:
    """A column that was worked, for what speaks the Arrow PyCapsule interface: pyarrow, polars."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The chunks as a stream.

        The type is the column's whatever is requested, as the interface allows.
        """

    def __len__(self) -> int: ...

# Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
_ArrowColumn: TypeAlias = Any
# One value for all rows, or a column.
_KeyIds: TypeAlias = int | str | bytes | _ArrowColumn
_KeyVersions: TypeAlias = Buffer | Sequence[Buffer] | Mapping[int, Buffer]

@final
class Keyring:
    """Keys by id, each in one or more versions: the newest seals, all of them open.

    Ids are integers from 0 to 2**64 - 1, or strings (bytes) of at most 255 bytes; all ids of a
    keyring are of one kind. Keys are wiped when it goes, and it can't be pickled: give workers a
    path or a function that makes it.

    Args:
        keys: A mapping from id to key, to a list of keys from the oldest version (0) to the newest,
            or to a mapping from version to key. Or a function that gives such a value for an id, or
            None where there is no key: it is called for each id that a column has and the keyring
            doesn't, or not in the version that a sealed row names, before any row is worked.
        algorithm: What the keys are for: "AES-GCM" (16, 24 or 32 bytes), "XAES-256-GCM" (32) or
            "AES-GCM-SIV" (16 or 32).

    Raises:
        TypeError: If `keys` is neither, or an id or a key is of a wrong type.
        InputError: If a key has a wrong length, ids are of two kinds or too long, or versions don't
            ascend.
    """

    def __new__(
        cls,
        keys: Mapping[Any, _KeyVersions] | Callable[[Any], _KeyVersions | None],
        *,
        algorithm: Literal["AES-GCM", "XAES-256-GCM", "AES-GCM-SIV"] = "AES-GCM",
    ) -> Self: ...
    @staticmethod
    def from_file(path: str | PathLike[str]) -> Keyring:
        """Reads a keyring from a file of TOML that only its owner may read.

        It has `algorithm` (as above), `ids`, "integer" or "string", and a table `keys` from id to
        key in hexadecimal, to a list of keys from the oldest version to the newest, or to a table
        from version to key.

        Args:
            path: Where it is.

        Raises:
            InputError: If it can't be read, if others may read it, or what is wrong in it, with its
                line.
        """

    def rotate(self, key_id: int | str | bytes, key: Buffer) -> int:
        """Adds the next version of an id's key, which seals from now on.

        Calls that are running don't see it.

        Args:
            key_id: The id, known or new.
            key: The key.

        Returns:
            The number of the version: 0 for the first of an id.

        Raises:
            TypeError: If `key_id` is neither int, str nor bytes, or `key` is not bytes-like.
            InputError: If `key` has a wrong length, or the id doesn't fit the others.
        """

    def __contains__(self, key_id: int | str | bytes, /) -> bool: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

def seal_array(
    engine: Engine,
    keys: Keyring,
    column: _ArrowColumn,
    key_ids: _KeyIds,
    aad: Sequence[bytes | _ArrowColumn],
    *,
    name: str,
    layout: str,
    threads: int | None,
) -> ArrowColumn:
    """Seals a column of Arrow; `sealift.arrow.seal_column` says how.

    Args:
        engine: Works the rows.
        keys: The keyring.
        column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
        key_ids: An int, a str, bytes, or a column of them.
        aad: Parts of associated data, each str, bytes or a column of them.
        name: The column's name in errors.
        layout: "row", "columns" or "spark".
        threads: How many threads the call may use; None for those of the engine.

    Returns:
        The sealed column, an object with `__arrow_c_stream__`.
    """

def open_array(
    engine: Engine,
    keys: Keyring,
    column: _ArrowColumn,
    key_ids: _KeyIds | None,
    aad: Sequence[bytes | _ArrowColumn],
    *,
    name: str,
    layout: str,
    on_error: str,
    to: str,
    threads: int | None,
) -> ArrowColumn:
    """Opens a column of Arrow; `sealift.arrow.open_column` says how.

    Args:
        engine: Works the rows.
        keys: The keyring.
        column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
        key_ids: As for `seal_array`, where rows don't have them.
        aad: As for `seal_array`.
        name: The column's name in errors.
        layout: "row", "columns" or "spark".
        on_error: "raise" or "null".
        to: "binary" or "string".
        threads: How many threads the call may use; None for those of the engine.

    Returns:
        The opened column, an object with `__arrow_c_stream__`.
    """

def reseal_array(
    engine: Engine,
    keys: Keyring,
    column: _ArrowColumn,
    aad: Sequence[bytes | _ArrowColumn],
    *,
    name: str,
    is_all: bool,
    threads: int | None,
) -> ArrowColumn:
    """Seals a sealed column again; `sealift.arrow.reseal_column` says how.

    Args:
        engine: Works the rows.
        keys: The keyring.
        column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
        aad: As for `seal_array`.
        name: The column's name in errors.
        is_all: Whether rows are sealed again that the newest key has sealed.
        threads: How many threads the call may use; None for those of the engine.

    Returns:
        The sealed column, an object with `__arrow_c_stream__`.
    """
