"""Everything that Sealift raises besides Python's own exceptions.

    Exception
    └── SealiftError
        ├── InvalidTag              messages that did not open; `indices` says which
        ├── InputError              (ValueError) lengths, counts, ranges, overlaps, repeated nonces
        │   └── LimitError          no device takes such a batch
        ├── SessionError            (ValueError) a session that is closed or of another engine
        │   └── SealLimitError      the key has sealed as much as SP 800-38D allows
        ├── UnknownDeviceError      (ValueError) no device, driver or setting of this name
        ├── DeviceError             (RuntimeError) a device that is absent or failed
        └── ForkedError             (RuntimeError) an engine made before the process forked

An object of the wrong kind (str where bytes belong, a read-only place for results) is a TypeError,
memory that is not contiguous a BufferError, and memory that can't be had a MemoryError, as
everywhere in Python.
"""

from collections.abc import Iterable
from typing import Self

__all__ = [
    "DeviceError",
    "ForkedError",
    "InputError",
    "InvalidTag",
    "LimitError",
    "SealLimitError",
    "SealiftError",
    "SessionError",
    "UnknownDeviceError",
]


class SealiftError(Exception):
    """What all errors of this package have in common."""


class InvalidTag(SealiftError):  # noqa: N818 (the name that pyca/cryptography gave it)
    """Messages whose tags do not belong to key, nonce, aad and ciphertext.

    Attributes:
        indices: Which messages of the batch did not open, ascending; (0,) for a single message.
    """

    indices: tuple[int, ...]

    def __init__(self, message: str = "", indices: Iterable[int] = ()) -> None:
        """Keeps which messages did not open."""
        super().__init__(message)
        self.indices = tuple(indices)

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[int, ...]]]:
        """So that a process pool brings it back whole."""
        return type(self), (str(self), self.indices)


class InputError(SealiftError, ValueError):
    """Arguments that don't fit each other or the standard; found before any work is done."""


class LimitError(InputError):
    """A batch beyond what any device takes, or the one that was named."""


class SessionError(SealiftError, ValueError):
    """A session that is closed, or that this engine does not have."""


class SealLimitError(SessionError):
    """A session that would seal more messages than its limit (SP 800-38D section 8.3)."""


class UnknownDeviceError(SealiftError, ValueError):
    """A name that is no device or driver, or a setting that a driver does not take."""


class DeviceError(SealiftError, RuntimeError):
    """A device that is absent or failed, or an engine without one."""


class ForkedError(SealiftError, RuntimeError):
    """An engine or session that was made before the process forked: make new ones in the child."""
