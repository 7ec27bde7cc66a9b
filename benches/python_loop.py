"""What a loop over messages costs in Python, and what its batch replacement costs.

An experiment of one's own: `sealift lab run benches/python_loop.py --budget 100s --out FOLDER`.

- 16,384 messages of 128 bytes sealed under 1,024 keys: loops over pyca's and Sealift's AESGCM
  (objects that are kept, and an object for each message), `seal_batch` over lists and over columns,
  and a batch of the same shape from Rust.
- one message of 128 bytes under a kept AESGCM, a thousand times: pyca's and Sealift's.

Kept objects, sessions and columns are made outside the measured time; an object for each message is
made inside. Every Python arm must give the bytes that Sealift's AESGCM gives before it is timed;
the batch from Rust has keys and texts of its own, which the lab checks.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol

from sealift import AESGCM, Engine, Session
from sealift_lab import Arm, Axis, Cell, Context, Experiment, Scope, Skip, WrongResultError
from sealift_lab.measure.crypto import MANY_KEYS
from sealift_lab.measure.native import gcm
from sealift_lab.measure.timed import timed
from sealift_lab.model.workload import SEAL_ONLY, of_size


class Aead(Protocol):
    """The interface that pyca's AESGCM and Sealift's share."""

    def encrypt(self, nonce: bytes, data: bytes, aad: None, /) -> bytes:
        """Ciphertext and tag."""


@dataclass(frozen=True)
class Messages:
    """The messages, in the forms that the arms take."""

    keys: list[bytes]
    key_of: list[int]
    nonces: list[bytes]
    texts: list[bytes]
    engine: Engine
    sessions: list[Session]
    sealed: list[bytes]


@lru_cache(1)
def messages(seed: int) -> Messages:
    """Seeded bytes; nonces differ, and nothing leaves this process."""
    bytes_of = random.Random(seed).randbytes
    keys = [bytes_of(KEY_BYTES) for _ in range(KEYS)]
    key_of = [message % KEYS for message in range(MESSAGES)]
    nonces = [bytes_of(NONCE_BYTES) for _ in range(MESSAGES)]
    texts = [bytes_of(TEXT_BYTES) for _ in range(MESSAGES)]
    # The usual policy tries other devices now and then, and a sample is to be of one device.
    engine = Engine(policy="failover", threads=1)
    sessions = [engine.session(key) for key in keys]
    kept = [AESGCM(key) for key in keys]
    each = zip(key_of, nonces, texts, strict=True)
    sealed = [kept[key].encrypt(nonce, text, None) for key, nonce, text in each]
    return Messages(keys, key_of, nonces, texts, engine, sessions, sealed)


def loop(of: Messages, aesgcm: Callable[[bytes], Aead], *, is_kept: bool) -> "Seal":
    """A loop over objects that are made beforehand, or one that makes an object a message."""
    objects = [aesgcm(key) for key in of.keys]
    kept, keys = [objects[key] for key in of.key_of], [of.keys[key] for key in of.key_of]
    if is_kept:
        return lambda: [
            each.encrypt(nonce, text, None)
            for each, nonce, text in zip(kept, of.nonces, of.texts, strict=True)
        ]
    return lambda: [
        aesgcm(key).encrypt(nonce, text, None)
        for key, nonce, text in zip(keys, of.nonces, of.texts, strict=True)
    ]


def columns(of: Messages) -> Arm:
    """One call over numpy arrays."""
    try:
        import numpy as np
    except ModuleNotFoundError as error:
        raise Skip("numpy is not installed") from error
    texts = np.frombuffer(b"".join(of.texts), np.uint8).reshape(MESSAGES, TEXT_BYTES)
    nonces = np.frombuffer(b"".join(of.nonces), np.uint8).reshape(MESSAGES, NONCE_BYTES)
    sessions = np.array([of.sessions[key].id for key in of.key_of], np.uint64)
    out, tags = np.empty_like(texts), np.empty((MESSAGES, TAG_BYTES), np.uint8)

    def seal() -> object:
        return of.engine.seal_batch(sessions, nonces, texts, out=out, tags=tags)

    seal()
    check([bytes(row) for row in np.hstack([out, tags])], of.sealed)
    return timed(seal, operations=MESSAGES, payload_bytes=TEXT_BYTES)


def one_message(of: Messages, aesgcm: Callable[[bytes], Aead]) -> Arm:
    """One message at a time under a kept object, a thousand times the same one."""
    encrypt, nonce, text = aesgcm(of.keys[0]).encrypt, of.nonces[0], of.texts[0]
    check([encrypt(nonce, text, None)], of.sealed[:1])

    def calls() -> None:
        for _ in range(CALLS):
            encrypt(nonce, text, None)

    return timed(calls, operations=CALLS, payload_bytes=TEXT_BYTES)


def check(found: list[bytes], right: list[bytes]) -> None:
    """Compares what was sealed.

    Raises:
        WrongResultError: If it differs.
    """
    if found != right:
        raise WrongResultError("it seals to other bytes than Sealift's AESGCM")


def pyca() -> Callable[[bytes], Aead]:
    """The class of pyca.

    Raises:
        Skip: If it isn't installed.
    """
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM as PYCA
    except ModuleNotFoundError as error:
        raise Skip("cryptography is not installed") from error
    return PYCA


def _cells(_: Scope) -> list[Cell]:
    return [{"work": work, "caller": caller} for work, of in CALLERS.items() for caller in of]


def _arm(cell: Cell, context: Context) -> Arm:
    of, caller = messages(context.seed), str(cell["caller"])
    if caller == COLUMNS:
        return columns(of)
    if caller == RUST:
        real = next(device.name for device in of.engine.devices if device.role == "real")
        work = of_size(TEXT_BYTES, MANY_KEYS, SEAL_ONLY, messages=MESSAGES, seed=context.seed)
        return gcm(real, work, threads=1, batch=MESSAGES, context=context)
    aesgcm = pyca() if caller.startswith("pyca") else AESGCM
    if cell["work"] == SINGLE:
        return one_message(of, aesgcm)
    sessions = [of.sessions[key] for key in of.key_of]
    seal = loop(of, aesgcm, is_kept=" kept " in caller)
    if caller == LISTS:
        seal = partial(of.engine.seal_batch, sessions, of.nonces, of.texts)
    check(seal(), of.sealed)
    return timed(seal, operations=MESSAGES, payload_bytes=TEXT_BYTES)


Seal = Callable[[], list[bytes]]
MESSAGES, KEYS, CALLS = 16_384, 1_024, 1_000
KEY_BYTES, NONCE_BYTES, TEXT_BYTES, TAG_BYTES = 16, 12, 128, 16
MANY, SINGLE = "16,384 messages", "one message"
LISTS, COLUMNS, RUST = "seal_batch, lists", "seal_batch, columns", "Engine::run in Rust"
LOOPS = tuple(
    f"{whose} loop, {how} AESGCM" for whose in ("pyca", "sealift") for how in ("kept", "new")
)
CALLERS = {MANY: (*LOOPS, LISTS, COLUMNS, RUST), SINGLE: ("pyca", "sealift")}
EXPERIMENT = Experiment(
    name="python-loop",
    title="A loop over messages in Python, and one call in its place",
    question="How much faster is one call over a batch than a loop over messages?",
    axes=(Axis("work", "work"), Axis("caller", "sealed by")),
    compare="caller",
    cells=_cells,
    arm=_arm,
    operation="message",
    preferred={"work": MANY},
    names={"pyca": "pyca's AESGCM.encrypt", "sealift": "Sealift's AESGCM.encrypt"},
)
