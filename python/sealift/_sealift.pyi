"""The engine, native. Import these names from `sealift`, and what measures from `sealift.lab`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
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
    "Arm",
    "BatchResult",
    "Calibrated",
    "Calibration",
    "Card",
    "Column",
    "Constant",
    "Cost",
    "Counters",
    "DeviceInfo",
    "DpuCounters",
    "DpuFault",
    "DpuKernel",
    "DpuKernelRun",
    "DpuProgram",
    "DpuRun",
    "DpuSystem",
    "DpuTook",
    "DriverInfo",
    "Engine",
    "Explanation",
    "Finished",
    "Fixed",
    "Held",
    "InFlight",
    "NotMeasurableError",
    "Offsets",
    "PlayedBoard",
    "PolicyInfo",
    "Prediction",
    "Quote",
    "Record",
    "Rehearsal",
    "Rehearsed",
    "Session",
    "Submission",
    "WrongResultError",
    "__version__",
    "aes_ctr",
    "answer_frames",
    "cards",
    "check_region",
    "dpu_disassemble",
    "dpu_systems",
    "drivers",
    "effective_clock_ghz",
    "frame_ways",
    "keep_copy_cost",
    "multiprocessors",
    "play_board",
    "policies",
    "primitives",
    "rehearse",
    "run_dpu_kernel",
    "run_dpu_messages",
    "stream_source",
    "write_reads",
]

__version__: str

# An array of numpy's has the buffer protocol, and its stubs say so from Python 3.12 on.
@type_check_only
class _Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Bytes: TypeAlias = Buffer | _Array
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
            nonce: 8 to 128 bytes, 12 are usual. Never use one twice with the same key.
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
    def session(self, key: _Bytes, *, seals_max: int | None = None) -> Session:
        """Installs a key.

        Args:
            key: 16, 24 or 32 bytes.
            seals_max: Messages it may seal, at most 2**32 (SP 800-38D section 8.3), which is also
                what None means.

        Raises:
            TypeError: If `key` is not bytes-like.
            InputError: If `key` has another length or `seals_max` is out of range.
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
                a column of raw keys.
            nonces: A column of 12-byte nonces. Never use one twice with the same key. None lets
                each session count its own, never one twice; such a session takes no others, and raw
                keys take none.
            texts: A column of plaintexts.
            aad: Authenticated and not encrypted: None, one bytes-like object for all, or a column.
            tag_length: Bytes of each tag: 4, 8 or 12 to 16.
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
            tag behind it. Else, or where the sessions count nonces, a `BatchResult`.

        Raises:
            TypeError: If an argument is no column of bytes, or a place is read-only.
            BufferError: If a buffer or its rows are not contiguous.
            InputError: If lengths, counts or ranges don't fit, an output overlaps something else,
                there are more than 2**32 - 1 messages, or `check_nonces` found a nonce twice.
            SessionError: If a session is closed or of another engine, or if some of its nonces are
                given and others counted.
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
            tag_length: Bytes of each tag: 4, 8 or 12 to 16.
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
    algorithm: Final[str]
    """What its key is for: "AES-GCM"."""
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
            SealLimitError: After 2**32 nonces.
            ForkedError: In a forked child, where parent and child would give the same ones.
        """
    def next_nonces(self, count: int) -> Column:
        """So many nonces that this session has not given before.

        They are the next ones of those that `next_nonce` gives.

        Returns:
            A `Column` of `count` rows of 12 bytes, which a batch takes as its nonces.

        Raises:
            InputError: If `count` is negative or over 2**32.
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

    For a list of texts whose nonces the sessions counted: a list of ciphertexts, each with its tag
    behind it.
    """
    nonces: Final[Column | None]
    """The nonces that the sessions counted, 12 bytes each. None where they were given."""
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
    def break_even(
        self, other: Cost, messages: int
    ) -> tuple[Literal["always", "never", "from", "up to"], float | None]:
        """From which message size on a batch is at least as fast here as at another cost.

        Args:
            other: The other device's cost.
            messages: Messages in the batch, all of one size.

        Returns:
            ("always", None), ("never", None), ("from", bytes a message) or ("up to", bytes).
        """

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

def cards() -> list[Card]:
    """The cards that come with Sealift."""

@final
class Card:
    """A device that is not here, described by constants.

    Its times are reckoned from them. As the device `spec` it works batches, with true bytes and
    reckoned times.
    """

    @staticmethod
    def read(path: str | Path) -> Card:
        """Reads a description from a plain TOML file.

        Where it says how often the host copies and not how fast, that is what `sealift lab run
        copy-by-length` left in the user's cache, or else measured, some milliseconds once a
        process.

        Raises:
            InputError: If it can't be read, something in it is missing or wrong, or its path can't
                stand in a device's name.
        """
    name: Final[str]
    """Its name."""
    summary: Final[str]
    """What it is, in a line."""
    source: Final[str]
    """Where constants come from that name no other source."""
    algorithm: Final[str]
    """What its rate was published for: "aes-gcm", or another cipher whose rate is taken."""
    spec: Final[str]
    """The device that it is for `Engine(devices=...)`."""
    constants: Final[list[Constant]]
    """Every number of its description."""
    units: Final[int]
    """Crypto units, each of which works one request at a time."""
    slots: Final[int]
    """Batches that it holds at most, those being worked included."""
    watts: Final[float | None]
    """The power it takes; None where the description doesn't say."""
    price: Final[float | None]
    """What it costs in its currency; None where the description doesn't say."""
    currency: Final[str | None]
    """What its price is in; None where the description doesn't say."""
    def predict(self, messages: int, message_bytes: int) -> Prediction:
        """What a batch of equal messages is reckoned to take.

        Args:
            messages: Messages in the batch, 1 to 2**32 - 1.
            message_bytes: Bytes of each text, aad included, at most 2**36 - 32.

        Raises:
            InputError: If a number is out of range.
        """
    def cost(self) -> Cost:
        """The straight line through the predictions for an idle card.

        It meets batches of 1 to 1,024 messages of 16 bytes to 16 KiB as well as a line can. Take
        `predict` where the size of a batch is known.
        """

@final
class Constant:
    """One number of a card's description."""

    name: Final[str]
    """Its key, as in "card.setup_us"."""
    value: Final[float]
    """Its value, in its unit."""
    unit: Final[str]
    """"us", "Gbit/s" (10**9 bits a second), "W", "the currency"; "" for a count."""
    source: Final[str]
    """Where it comes from."""
    fitted: Final[bool]
    """Whether it was chosen so that the model meets measurements."""
    measured: Final[bool]
    """Whether it was measured on this machine, because the description leaves it out."""

@final
class Prediction:
    """What a card is reckoned to take for a batch of equal messages; the origin is "projected"."""

    batch_ns: Final[float]
    """From handing over to results, on an idle card."""
    host_ns: Final[float]
    """Time of the host's processor for it; where results share interrupts, in a queue."""
    interval_ns: Final[float]
    """Between the ends of such batches when as many are queued as the card holds."""
    bound_by: Final[Literal["host", "link", "card"]]
    """What sets that interval."""

def keep_copy_cost(times: Sequence[tuple[int, float]]) -> Path:
    """Keeps what copies cost on this machine, for cards whose descriptions leave that out.

    In the user's cache, beside what calibration keeps there, and in the place of what was kept of
    copies before.

    Args:
        times: Lengths in bytes, ascending, each with the nanoseconds that such a copy takes from
            memory to memory.

    Returns:
        The file.

    Raises:
        InputError: If no copies take such times.
        OSError: If there is no place for the file, or it can't be written.
    """

def rehearse(
    devices: Sequence[Card | tuple[str, Cost, int]],
    *,
    batches_per_s: float,
    messages: int,
    message_bytes: int,
    batches: int = 20_000,
    policy: str = "earliest-finish",
    seed: int = 0,
) -> Rehearsal:
    """Works an open load on modelled devices in virtual time, with the engine's own scheduler.

    Batches come at random moments (Poisson), however many are still in flight. Messages are true:
    each is sealed on its device and compared, which takes most of the time of this call. It looks
    for Ctrl-C ten times a second.

    Hosts are not shared: each card hands over as if a processor of this machine were there for it
    alone, beside those of the machine's own devices, and each has a bus of its own. So a pool does
    no better than this says, and worse where `host_utilisation` comes near the processors there
    are.

    Args:
        devices: Cards, and this machine's processors as (name, cost of a batch on one worker,
            workers); the cost is one of `Engine.costs()`, the time its work takes is the host's.
        batches_per_s: How many come a second in the mean, from 0.00001 to 10**9.
        messages: Messages of each, 1 to 2**24.
        message_bytes: Bytes of each text.
        batches: How many in all, 1 to 10**7, which may come for 10**6 seconds.
        policy: Who chooses a device for each, as in `Engine`.
        seed: Where moments, keys and texts are drawn from, 0 to 2**64 - 1.

    Raises:
        TypeError: If a device is neither a `Card` nor such a tuple.
        InputError: If a number is out of range, there is no device or no such policy, or as many
            batches as devices hold take more than 2 GiB, or two cards of one name differ.
        DeviceError: If two devices have one name.
    """

@final
class Rehearsal:
    """What became of a load. Nothing of it was measured: the origin of its times is "simulated"."""

    batches: Final[int]
    """Batches that came back."""
    refused: Final[int]
    """Batches that were handed back, once or more often, because every device was full."""
    lost: Final[int]
    """Batches that did not come back, or without results."""
    response_ns_mean: Final[float]
    """From sending to taking back, waiting for a slot included."""
    response_ns_p99: Final[float]
    """What 99 of 100 batches stay within."""
    span_ns: Final[int]
    """From the start to the end of the last batch."""
    host_utilisation: Final[float]
    """Processors of this machine that were busy for all devices, in the mean over the span."""
    devices: Final[list[Rehearsed]]
    """The devices, in their order."""

@final
class Rehearsed:
    """What a device had to do in a rehearsal."""

    name: Final[str]
    """Its name; of a second card of one kind with ",number=2" behind it."""
    batches: Final[int]
    """Batches and parts of batches that it worked."""
    utilisation: Final[float]
    """Share of the time that its workers were busy; of a card, share of the batches that it could
    have worked at its best."""
    host_utilisation: Final[float]
    """Processors of this machine that were busy for it, in the mean over the span."""

def play_board(card: Card, asked: Mapping[str, object]) -> PlayedBoard:
    """Works a load of closed clients on cards that share a host, with the engine's own scheduler.

    Events are played one by one, in virtual time: handing over, copies, bus, memory, interrupts.
    Bytes are true: on cards of 3DES messages of 64 KiB in all, drawn by their nonces, are
    encrypted by one library and compared with what another one gives, and the others pass as they
    are; on other cards each message is sealed and compared. It looks for Ctrl-C ten times a second.

    Args:
        card: Whose host, bus and slots these are.
        asked: The load: clients, messages and bytes of each batch, batches in all, policy (None for
            a card of its own for each client), seed. What is not as in the description: time of
            the host for a request, whose interrupt asks all cards described, and for each that is
            asked; of a card for a message; a rate for each card, that of software beside them, when
            the first card dies. The law of times, "fixed", "host" or "all", and what is shared.

    Raises:
        InputError: If a number is out of range, there is no such law or policy, or messages for
            3DES are no whole blocks of 8 bytes.
    """

@final
class PlayedBoard:
    """What became of a load on a board; the origin of its times is "simulated"."""

    batches: Final[int]
    """Batches that came back."""
    lost: Final[int]
    """Batches that did not come back, or without results."""
    moved: Final[int]
    """Batches that came back from another card than the first that was tried."""
    span_ns: Final[int]
    """From the start to the end of the last batch."""
    response_ns_mean: Final[float]
    """From sending to taking back."""
    response_ns_p99: Final[float]
    """What 99 of 100 batches stay within."""
    by_card: Final[list[int]]
    """Batches of each card."""
    card_ns: Final[list[int]]
    """Time that each card worked."""
    payload_bytes: Final[int]
    """Bytes of the texts that came back."""
    written_bytes: Final[int]
    """Bytes that were written to memory, by the host and by cards."""
    interrupts: Final[int]
    """Interrupts that the host took."""
    host_ns: Final[int]
    """Time of the host's processor."""
    copy_ns: Final[int]
    """Of it, copies and waits for memory."""
    software_ns: Final[int]
    """Of it, encrypting in place of a card."""
    bus_ns: Final[int]
    """Time that the bus carried bytes."""
    idle_ns: Final[int]
    """Time that no card had anything to work."""
    cipher: Final[Literal["3des-cbc", "aes-128-gcm"]]
    """What messages were encrypted by: "3des-cbc" or "aes-128-gcm"."""
    encrypted: Final[int]
    """Messages that were encrypted, and compared where they came back."""

def run_dpu_kernel(asked: Mapping[str, object]) -> DpuKernelRun:
    """Runs a generated kernel on one simulated DPU and compares what it gives, byte by byte.

    It looks for Ctrl-C ten times a second.

    Args:
        asked: A mapping with all of kernel ("document-000", "ecb", "ecb-by-bank", "ecb-fed", "ctr",
            "ghash", "gcm"), key_bits (128, 192, 256), decrypts, tasklets (1 to 24; of "ecb-fed"
            those that work, beside the one that moves data), chunk_bytes (a power of two from 32 to
            2,048), bytes of data in MRAM, hazard (whether registers that meet in a bank cost a
            cycle), counts (what the timer of "document-000" counts: "cycles" or "instructions").

    Raises:
        InputError: If there is no such kernel, or it can't be run so.
        WrongResultError: If it gives something wrong.
    """

def run_dpu_messages(asked: Mapping[str, object]) -> DpuKernelRun:
    """Seals or opens messages with a key each on one simulated DPU and compares what it gives.

    Keys are expanded on the DPU. It looks for Ctrl-C ten times a second.

    Args:
        asked: A mapping with all of key_bits (128, 192, 256), decrypts, tasklets (1 to 24),
            chunk_bytes (a power of two from 32 to 2,048), messages, message_bytes (of each text),
            hazard (whether registers that meet in a bank cost a cycle).

    Raises:
        InputError: If a number can't be, or the messages don't fit into 64 MiB.
        WrongResultError: If a text or a tag is wrong.
    """

@final
class DpuKernelRun:
    """What a simulated DPU did; the origin of its cycles is "simulated"."""

    cycles: Final[int]
    """From the first instruction to the last one."""
    instructions: Final[int]
    """Instructions of all tasklets."""
    mnemonics: Final[list[tuple[str, int]]]
    """Instructions by mnemonic, most frequent first."""
    idle_revolver_cycles: Final[int]
    """Cycles without an instruction because each tasklet had issued one just before."""
    idle_dma_cycles: Final[int]
    """Cycles without an instruction while tasklets waited for transfers."""
    idle_hazard_cycles: Final[int]
    """Cycles lost because registers met in a bank."""
    mram_read_bytes: Final[int]
    """Bytes that went out of MRAM."""
    mram_written_bytes: Final[int]
    """Bytes that went into MRAM."""
    transfers: Final[int]
    """Transfers between MRAM and WRAM, both ways."""
    times: Final[list[int]]
    """What the timer of "document-000" said before and after transfers and blocks, in sixteens."""
    checked_against: Final[str]
    """What the results were compared with."""

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

def effective_clock_ghz() -> float | None:
    """The clock of the core that runs this, in GHz.

    Measured in 10 ms by a chain of multiplications.

    Returns:
        None on processors whose cycles a multiplication aren't known.
    """

def primitives() -> list[str]:
    """The names of the primitives that can be measured."""

def check_region(path: str | Path, offset: int, length: int) -> None:
    """Looks whether a part of a device's memory, or of a file, is there and long enough.

    Nothing of it is read or written.

    Args:
        path: A PCI resource, /dev/dax, /dev/mem, or an ordinary file.
        offset: Where in it the region begins, in bytes; whole pages.
        length: Of the region, in bytes; whole pages.

    Raises:
        NotMeasurableError: If it is not; says why.
    """

def frame_ways() -> list[str]:
    """The ways that frames can go between two processes, by name."""

def answer_frames() -> None:
    """Answers frames over the socket that is standard input, until its other end is closed.

    What the command does that `Arm.frames` starts; it returns when who measures is gone.

    Raises:
        ValueError: If standard input is no such socket, or a frame was wrong; the process that
            measures is told, too.
    """

def multiprocessors(device: str) -> int:
    """How many multiprocessors a GPU has.

    Args:
        device: "cuda" or "opencl", with a number where there are several, as in "opencl:0".

    Raises:
        ValueError: If it is none of these.
        NotMeasurableError: If there is no such device; says what is missing.
    """

class WrongResultError(RuntimeError):
    """Something was computed wrong while it was prepared or measured; its times mean nothing."""

class NotMeasurableError(RuntimeError):
    """What was asked for can't be measured here; says why."""

@final
class Arm:
    """Something that is timed again and again: prepared, checked and warm.

    Only one at a time is prepared or measured in a process: two would measure each other.
    """

    @staticmethod
    def gcm(
        device: str,
        *,
        operation: _Bytes,
        key_len: _Bytes,
        nonce_len: _Bytes,
        aad_len: _Bytes,
        text_len: _Bytes,
        tag_len: _Bytes,
        keys: Literal["one", "sessions", "fresh"],
        sessions: int,
        batch: int,
        threads: int,
        seed: int,
    ) -> Arm:
        """A device on messages, checked on every one of them, and warm.

        It looks for Ctrl-C after each batch.

        Args:
            device: Names a device, the lab's own among them: table, ipp, slowed.
            operation: 0 seal, 1 open, 2 open that must fail; one for each message.
            key_len: Bytes of each key.
            nonce_len: Bytes of each nonce.
            aad_len: Bytes of each aad.
            text_len: Bytes of each text.
            tag_len: Bytes of each tag.
            keys: "one", "sessions" or "fresh".
            sessions: How many keys are installed; looked at for "sessions" only.
            batch: Messages handed to the engine at once.
            threads: Threads that each work all messages.
            seed: Of keys, nonces, aads and texts.

        Raises:
            ValueError: If a column is wrong.
            UnknownDeviceError: If it is no device.
            DeviceError: If the device is absent, or failed.
            LimitError: If it doesn't take the messages.
            NotMeasurableError: If nobody can check it, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def primitive(name: str, message_bytes: int, *, threads: int, seed: int) -> Arm:
        """A hash or a signature scheme on messages, by AWS-LC, checked and warm.

        It looks for Ctrl-C between messages.

        Args:
            name: One of `primitives()`.
            message_bytes: Length of each message.
            threads: Threads, each with messages and a key of its own.
            seed: Of the messages.

        Raises:
            ValueError: If there is no such primitive, or a number is out of range.
            NotMeasurableError: If the library refuses, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def read(buffer_bytes: int, *, threads: int) -> Arm:
        """A loop that sums memory, 64 KiB an operation.

        Args:
            buffer_bytes: What all threads read together, each its own part.
            threads: Threads that read.

        Raises:
            ValueError: If there are less than 64 KiB for each thread.
            NotMeasurableError: If there is no memory, or there can't be so many threads.
        """
    @staticmethod
    def contended(asked: Mapping[str, object]) -> Arm:
        """AES-128 over texts in memory, 1 MiB an operation, beside threads that read memory.

        What memory gives is measured before, by as many threads as encrypt and read together. It
        looks for Ctrl-C after each mebibyte.

        Args:
            asked: A mapping with all of cipher ("gcm", by the device cpu, or "ctr"), threads that
                encrypt, text_bytes of each (1 MiB or more), streamers (threads that read; 0 for
                none), share_percent (1 to 100: of what memory gives, all of them together),
                stream_bytes of each (64 KiB or more), seed of keys and texts.

        Raises:
            ValueError: If there is no such cipher, or a number is out of range.
            DeviceError: If this processor has no device cpu.
            NotMeasurableError: If there is no memory, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def copy(asked: Mapping[str, object]) -> Arm:
        """A function that copies, reads or writes, each in a loop of its own.

        Arms that ask for the same memory share it.

        Args:
            asked: A mapping with all of operation ("copy", "read", "write", "fill"), function
                ("glibc", "words", "sse2", "rep-movsb", "avx2", "avx512", "non-temporal", "ours",
                "pread", "pwrite", "first-touch", "populated"), bytes of a copy, threads, source and
                target ("heap", "pages", "huge-pages", "memfd", "shm", "file", "hugetlb", "region"),
                state ("hot", "cold", or for a file "beyond memory", which takes a control group
                that SEALIFT_MEMORY_GROUP names), buffers ("private", "shared"), offset
                (destination minus source, modulo 4,096), beside ("nothing", "spinner",
                "protector"), content ("seeded", "counting", "found"), seed (of the content, or
                what is added when it counts), folder for files without a name, region (path,
                offset, bytes; or None).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If this machine has no such function or memory.
            WrongResultError: If it copies something wrong, or a region is not as it was found.
        """
    @staticmethod
    def published_copy(
        function: int,
        bytes: int,  # noqa: A002 (its name in Rust)
        *,
        before: Sequence[int],
        runs: int,
        threads: int,
        seed: int,
    ) -> Arm:
        """The published tool's way of measuring: two looks at the clock around some copies.

        Args:
            function: 0 for the C library's copy, 1 for a loop of words as compilers make it, 2 for
                registers of 64 bytes; those before it go first.
            bytes: Length of a copy.
            before: Shorter lengths that are copied before, in order.
            runs: How often each function copies.
            threads: Workers of the pool; 0 for none.
            seed: Of the source.

        Raises:
            ValueError: If a number is out of range.
            NotMeasurableError: If this machine has no such function, or there can't be the threads.
        """
    @staticmethod
    def reads(
        path: str | PathLike[str],
        sums: Sequence[int],
        *,
        reader: str,
        library: str | PathLike[str] | None,
        threads: int,
        cold: bool,
    ) -> Arm:
        """A reader on a file of short reads, 1,000 an operation, held to what was written.

        Args:
            path: A file that `write_reads` made.
            sums: What that gave.
            reader: getc, getc_unlocked, fgets, getline, ifstream, read+memchr, mmap+memchr,
                needletail, seq_io, memory byte by byte or memory by lines.
            library: That of ifstream, built of `stream_source()`.
            threads: Threads that each read the whole file.
            cold: Whether what is read next is taken out of the page cache before the clock starts.

        Raises:
            ValueError: If there is no such reader, or the file doesn't fit the sums.
            NotMeasurableError: If the file can't be read, or there can't be so many threads.
            WrongResultError: If something else is read than was written.
        """
    @staticmethod
    def writes(
        path: str | PathLike[str], *, writer: str, block_bytes: int, fsync: bool, seed: int
    ) -> Arm:
        """A writer of lorem ipsum, 64 KiB an operation, read back after each sample.

        Args:
            path: A file that is there; what it holds is lost.
            writer: putc, fwrite or write.
            block_bytes: Bytes of each call, 1 for putc.
            fsync: Whether it waits after each 1 MiB until that is on the disk.
            seed: Of the text.

        Raises:
            ValueError: If there is no such writer, or a number is out of range.
            NotMeasurableError: If the file can't be written.
            WrongResultError: If the file holds something else than was written.
        """
    @staticmethod
    def frames(
        way: str,
        pattern: str,
        *,
        frame_bytes: int,
        batch: int,
        seed: int,
        far: Sequence[str],
    ) -> Arm:
        """Frames exchanged with another process, each byte of each compared where it arrives.

        The other process is started for it, and ended with it.

        Args:
            way: One of `frame_ways()`.
            pattern: "ping-pong", where each frame is answered by one, or "stream".
            frame_bytes: Length of each frame, 16 bytes to 64 MiB.
            batch: Frames handed over at once.
            seed: Of the frames, and of keys where they are sealed.
            far: The command that starts the other process: one that calls `answer_frames()`.

        Raises:
            ValueError: If there is no such way or pattern, or a number is out of range.
            NotMeasurableError: If the other process doesn't start, or the system refuses the way.
            WrongResultError: If a frame arrives that was not sent.
        """
    @staticmethod
    def offload(asked: Mapping[str, object]) -> Arm:
        """Clients that hand batches over to cores as to cards, each message compared.

        Each device is a worker that keeps to a core of its own; clients run anywhere, keep to a
        device each and have one batch in flight.

        Args:
            asked: A mapping with all of cipher ("3des-cbc", "aes-128-gcm"), way ("calling thread",
                where nothing is handed over, "sleeping", "polling"), threads, devices,
                message_bytes (a multiple of 8), batch and seed.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there are fewer cores than devices.
            WrongResultError: If a message comes back otherwise than another library gives it.
        """
    @staticmethod
    def gpu(asked: Mapping[str, object]) -> Arm:
        """Messages that lie in a GPU's memory and are worked again and again, each one compared.

        Where OpenCL speaks to a processor that is a device, too, with the role "test only".

        Args:
            asked: A mapping with all of device ("cuda" or "opencl", with a number where there are
                several, as in "opencl:0"), code ("as published" or "ours"), mode ("replicated",
                where each thread works all messages, or "partitioned"), data ("resident" or "with
                transfers"), grid (blocks, and threads of each; None for what Sealift's driver
                takes), messages (each with a key of its own), message_bytes and seed.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or it takes no such grid.
            WrongResultError: If a message comes out otherwise than this processor gives it.
        """
    @staticmethod
    def gpu_types(asked: Mapping[str, object]) -> Arm:
        """Products of small matrices of a data type in each thread of a GPU, each one compared.

        Args:
            asked: A mapping with all of device (as above), of ("int", "long", "float", "double" or
                "float with double literal") and grid (blocks, and threads of each).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or it takes no such grid or type.
            WrongResultError: If a product comes out otherwise than this processor gives it.
        """
    def sample(self, seconds: float) -> tuple[int, int, int, int, float, int, float | None]:
        """Runs for about `seconds`, looking for Ctrl-C ten times a second.

        Each thread keeps to a core of its own while there are enough.

        Returns:
            Wall nanoseconds, operations, bytes of payload, involuntary switches, least CPU share of
            a thread, nanoseconds stolen by the hypervisor, and the clock of the calling thread's
            core right beside the sample in GHz, or None where it isn't known.

        Raises:
            WrongResultError: If something was computed wrong.
            DeviceError: If a device failed.
        """
    @property
    def checked_against(self) -> list[str]:
        """What it was checked against before the first sample: other devices, published values.

        Empty for a device that encrypts nothing.
        """
    @property
    def detail(self) -> str:
        """What is measured, for people: an instruction set, a library with its version."""
    @property
    def role(self) -> str | None:
        """What the device that is measured may be used for, as in `DeviceInfo`.

        None when it is no device.
        """
    @property
    def cores(self) -> list[int]:
        """The cores that its threads keep to; empty when they run anywhere."""
    @property
    def counts(self) -> dict[str, int]:
        """What was checked and worked so far, by the name of each count."""
    @property
    def told(self) -> dict[str, str]:
        """What it has to tell beside times and counts, by name, for people."""

@final
class Held:
    """Threads or memory that this process holds until `release`."""

    def __new__(cls, what: str) -> Held:
        """Takes them.

        Args:
            what: nothing, one idle thread, eight idle threads, a poller, a spinner, reserved
                memory, touched memory, locked memory, huge pages, a rank's runtime, our engine, or
                our engine, released.

        Raises:
            ValueError: If there is no such thing.
            NotMeasurableError: If the system refuses it.
        """
    def wake(self) -> None:
        """Lets a poller or a spinner go on; the others have nothing to do."""
    def rest(self) -> None:
        """Sends a poller or a spinner to sleep."""
    def release(self) -> None:
        """Ends the threads and gives the memory back."""

def write_reads(path: str | PathLike[str], *, reads: int, seed: int) -> list[int]:
    """Writes short reads as FASTQ; the same seed gives the same bytes.

    Args:
        path: A file that is there; what it holds is lost.
        reads: How many, a multiple of 1,000.
        seed: Of what is drawn.

    Returns:
        A sum over each 1,000 of them, to hold a reader to.

    Raises:
        ValueError: If the number of reads can't be.
        NotMeasurableError: If the file can't be written.
    """

def stream_source() -> str:
    """The C++ source of the reader `ifstream`: to be compiled to a shared library."""

# Simulated DPUs.

def dpu_systems() -> list[DpuSystem]:
    """The systems of DPUs that are known by name."""

@final
class DpuSystem:
    """A system of DPUs: how many there are, how fast, and how far from the host."""

    @staticmethod
    def named(name: str) -> DpuSystem:
        """One of those that are known by name.

        Raises:
            InputError: If there is none of that name.
        """
    @staticmethod
    def parse(text: str) -> DpuSystem:
        """Reads a description in TOML.

        Raises:
            InputError: If something in it is missing or wrong, with line or key.
        """
    def with_hazard(self, *, on: bool) -> DpuSystem:
        """The same, registers that meet in one bank taking longer or not."""
    def rates(self, dpus: int, bytes_each: int | None = None) -> tuple[float, float]:
        """Bytes a second to so many DPUs at once, and from them.

        Args:
            dpus: How many; with 0 the rates are those of one.
            bytes_each: Bytes of each DPU, 1 or more; None for the rates of long transfers.

        Raises:
            InputError: If there are no bytes.
        """
    name: Final[str]
    """Its name."""
    summary: Final[str]
    """What it is, in a line."""
    source: Final[str]
    """Where its figures come from."""
    dpus: Final[int]
    """How many DPUs it has."""
    ranks: Final[int]
    """How many ranks they are on."""
    clock_hz: Final[float]
    """Cycles of a DPU in a second."""
    hazard: Final[bool]
    """Whether registers that meet in one bank take longer."""

@final
class DpuProgram:
    """A program for a DPU."""

    @staticmethod
    def assemble(source: str, *, names: Sequence[tuple[str, int]] = ...) -> DpuProgram:
        """Assembles a program.

        Args:
            source: Assembly as the vendor's tools spell it.
            names: Numbers that the program may name beside its own.

        Raises:
            InputError: The first thing that is wrong, with line and column.
        """
    @staticmethod
    def read_elf(file: bytes) -> DpuProgram:
        """Reads a program that was assembled, here or by the vendor's tools.

        Raises:
            InputError: The first thing that is wrong, and at which byte.
        """
    def elf(self) -> bytes:
        """The program as an ELF file."""
    def disassemble(self) -> str:
        """Its instructions as text, with numbers, words and labels."""
    instructions: Final[int]
    """How many instructions it has."""
    symbols: Final[list[tuple[str, str, int, int]]]
    """Its symbols: name, memory ("IRAM", "WRAM", "MRAM" or "atomic"), offset and size in bytes."""
    sizes: Final[list[tuple[str, int]]]
    """Bytes that it takes of a memory, by the memory's name."""

def dpu_disassemble(words: bytes) -> str:
    """Instructions that are not in an ELF file, as text: eight bytes each, as in a DPU's IRAM.

    Raises:
        InputError: If none is an instruction, they end within one or have more than its 48 bits, or
            are more than IRAM holds.
    """

@final
class DpuRun:
    """A simulated DPU that runs a program."""

    def __new__(cls, program: DpuProgram, system: DpuSystem) -> DpuRun:
        """Loads a program and starts tasklet 0 at its first instruction; `run` goes on from there.

        Args:
            program: What it runs.
            system: Whose DPU it is, for its timing.
        """
    def write(self, symbol: str, data: bytes) -> None:
        """Writes to what a symbol names, from its first byte on.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
        """
    def number_bytes(self, symbol: str) -> int:
        """Bytes of the number that a symbol names.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it names no number: it has
                not 1, 2, 4 or 8 bytes, or no size of its own and several data before the next
                symbol.
        """
    def read(self, symbol: str, length: int | None = None) -> bytes:
        """Reads what a symbol names.

        Args:
            symbol: Its name.
            length: How many bytes from its first on; None for all.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
        """
    def run(self, cycles_max: int, seconds: float) -> str:
        """Runs for a while, without the interpreter's lock.

        Args:
            cycles_max: The cycle, counted from the start, in which to stop at the latest.
            seconds: How long to run at most, in seconds of this machine.

        Returns:
            "done" when all tasklets have stopped, "fault" when one did what it can't, "limit" when
            the cycles are used up, "running" when only the seconds are.
        """
    def registers(self, tasklet: int) -> list[int]:
        """A tasklet's registers r0 to r23.

        Raises:
            InputError: If there is no such tasklet.
        """
    fault: Final[DpuFault | None]
    """What a tasklet did that it can't; None when none did."""
    counters: Final[DpuCounters]
    """What the DPU did so far."""
    cycles: Final[int]
    """Cycles so far."""
    log: Final[str]
    """What its tasklets printed, with the vendor's `printf` or with `tell`.

    Raises:
        InputError: If what lies in the buffer for that can't be read.
    """
    running: Final[list[tuple[int, int, str]]]
    """Tasklets that have not stopped: number, next instruction, and where that is by its label."""

@final
class DpuCounters:
    """What a DPU did. The times are simulated."""

    cycles: Final[int]
    """All cycles."""
    seconds: Final[float]
    """What they take at the system's clock: simulated."""
    instructions: Final[int]
    """Instructions issued."""
    mnemonics: Final[list[tuple[str, int]]]
    """Instructions by mnemonic, most frequent first."""
    idle_revolver: Final[int]
    """Cycles in which each runnable tasklet had issued an instruction too short a time before."""
    idle_dma: Final[int]
    """Cycles in which tasklets waited for transfers, too."""
    idle_hazard: Final[int]
    """Cycles lost because registers met in one bank."""
    mram_read_bytes: Final[int]
    """Bytes that went out of MRAM."""
    mram_written_bytes: Final[int]
    """Bytes that went into MRAM."""
    transfers: Final[int]
    """Transfers between MRAM and the local memories, both ways."""

@final
class DpuFault:
    """What a tasklet did that a DPU can't."""

    what: Final[str]
    """What it did."""
    pc: Final[int]
    """The number of the instruction."""
    place: Final[str]
    """The label before it and how many instructions behind that, as in "loop+3"; "" without one."""
    instruction: Final[str]
    """The instruction as text; "" where the word is none."""
    tasklet: Final[int]
    """The tasklet, from 0."""
    cycle: Final[int]
    """The cycle in which the instruction was issued."""
    registers: Final[list[int]]
    """The tasklet's registers r0 to r23."""

@final
class DpuKernel:
    """A kernel on many simulated DPUs, each with a text of its own.

    Whoever drops it while DPUs run has them stop, and waits some milliseconds for that.
    """

    def __new__(
        cls,
        cipher: str,
        system: DpuSystem,
        *,
        dpus: int,
        text_bytes: int,
        tasklets: int = 16,
        key_bytes: int = 16,
        message_bytes: int = 128,
    ) -> DpuKernel:
        """Loads the kernel and sends the texts.

        Args:
            cipher: "ecb", "ctr", "gcm" or "many".
            system: Whose DPUs they are.
            dpus: How many of them.
            text_bytes: Bytes of each one's text, a multiple of 32 up to 64 MiB.
            tasklets: Tasklets of each, 1 to 24.
            key_bytes: 16, 24 or 32.
            message_bytes: Bytes of each message of "many", which divide those of the text.

        Raises:
            InputError: If a number is out of range, or there is no such cipher.
        """
    def launch(self) -> None:
        """Starts the DPUs, on threads of this machine.

        Raises:
            RuntimeError: If they run already.
        """
    ended: Final[int]
    """How many DPUs have ended."""
    def finish(self) -> DpuTook:
        """Waits for the DPUs, and compares every byte with what this processor's kernels make.

        Raises:
            WrongResultError: If a DPU faulted, or a byte is wrong.
        """

@final
class DpuTook:
    """What a kernel took on DPUs, simulated, and what simulating it took here, measured."""

    bytes: Final[int]
    """Bytes of all texts, every one compared."""
    cycles: Final[int]
    """Cycles of the DPU that took longest."""
    instructions: Final[int]
    """Instructions of all DPUs."""
    bus_in_seconds: Final[float]
    """Texts to the DPUs on the system's bus, in seconds: simulated."""
    compute_seconds: Final[float]
    """The DPU that took longest, in seconds of the system's clock: simulated."""
    bus_out_seconds: Final[float]
    """Texts back, in seconds: simulated."""
    copy_seconds: Final[float]
    """Copying and interleaving texts on this machine, both ways, in seconds: measured."""
    simulating_seconds: Final[float]
    """Executing the DPUs' instructions on this machine, in seconds: measured."""
