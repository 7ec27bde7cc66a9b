"""Bulk AES-GCM on whichever processor of this machine wins.

One message, with the interface of pyca/cryptography:

    key = sealift.AESGCM.generate_key(bit_length=256)
    sealed = sealift.AESGCM(key).encrypt(nonce, b"text", b"header")

Many messages in one call, each under its own key:

    engine = sealift.Engine.detect()
    sessions = [engine.session(key) for key in keys]
    nonces = [session.next_nonce() for session in sessions]
    sealed = engine.seal_batch(sessions, nonces, texts)
    texts = engine.open_batch(sessions, nonces, sealed)

Without copies, over columns of one buffer (`numpy` here, but anything with the buffer protocol
works):

    records = numpy.zeros((8192, 12 + 128 + 16), numpy.uint8)
    engine.seal_batch(
        sessions, records[:, :12], records[:, 12:140], out=records[:, 12:140], tags=records[:, 140:]
    )

What is raised is drawn in `sealift.errors`.
"""

from sealift._sealift import (
    AESGCM,
    AESGCMSIV,
    XAES256GCM,
    BatchResult,
    Calibrated,
    Calibration,
    Column,
    Cost,
    Counters,
    DeviceInfo,
    DriverInfo,
    Engine,
    Explanation,
    Fixed,
    Offsets,
    PolicyInfo,
    Quote,
    Record,
    Session,
    __version__,
    drivers,
    policies,
)
from sealift.errors import (
    DeviceError,
    ForkedError,
    InputError,
    InvalidTag,
    LimitError,
    SealiftError,
    SealLimitError,
    SessionError,
    UnknownDeviceError,
)

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "XAES256GCM",
    "BatchResult",
    "Calibrated",
    "Calibration",
    "Column",
    "Cost",
    "Counters",
    "DeviceError",
    "DeviceInfo",
    "DriverInfo",
    "Engine",
    "Explanation",
    "Fixed",
    "ForkedError",
    "InputError",
    "InvalidTag",
    "LimitError",
    "Offsets",
    "PolicyInfo",
    "Quote",
    "Record",
    "SealLimitError",
    "SealiftError",
    "Session",
    "SessionError",
    "UnknownDeviceError",
    "__version__",
    "drivers",
    "policies",
]
