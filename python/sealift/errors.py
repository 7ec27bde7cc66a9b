"""Everything that Sealift raises besides Python's own exceptions.

    Exception
    └── SealiftError
        ├── InvalidTag              messages that did not open; `indices` says which, and
        │                           it is pyca's InvalidTag, too, where that is imported
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

import functools
import sys
from collections.abc import Callable, Iterable

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

    def __reduce__(self) -> tuple[Callable[..., "InvalidTag"], tuple[str, tuple[int, ...]]]:
        """So that a process pool brings it back whole."""
        return invalid_tag, (str(self), self.indices)


def invalid_tag(message: str, indices: Iterable[int]) -> InvalidTag:
    """An `InvalidTag`; where pyca/cryptography is imported, one that is its `InvalidTag`, too."""
    theirs = sys.modules.get("cryptography.exceptions")
    made = InvalidTag if theirs is None else _of_both(theirs.InvalidTag)
    return made(message, indices)


@functools.cache
def _of_both(theirs: type[Exception]) -> type[InvalidTag]:
    return type("InvalidTag", (InvalidTag, theirs), {"__module__": __name__})


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
