"""Nothing of a key or a text is left in a process whose sessions have ended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sealift
import sealift_lab._lab as lab
import secret_forms
from conftest import skip
from memory_scan import Scanner
from run_report import ran

TESTS = Path(__file__).parent
CARD = TESTS.parents[1] / "crates/sealift-drivers/tests/conformance/fast-card.toml"
# Devices, what has to be required for them to be here, and algorithms besides AES-GCM.
DEVICES = {
    "cpu:isa=model": ("model", ["XAES-256-GCM"]),
    "cpu:isa=aesni": ("aesni", ["XAES-256-GCM"]),
    "cpu:isa=vaes256": ("vaes256", ["XAES-256-GCM"]),
    "cpu:isa=vaes512": ("vaes512", ["XAES-256-GCM"]),
    "library": ("library", ["XAES-256-GCM", "AES-GCM-SIV"]),
    "reference": ("reference", ["XAES-256-GCM", "AES-GCM-SIV"]),
    "opencl:0": ("opencl", []),
    "pim:dpus=4": ("pim", []),
    f"cards:{CARD}": ("cards", []),
}
# Places that are shown where something is left.
SHOWN = 40
# Longer than a block.
AAD = bytes(range(20))
ALGORITHMS = ["AES-GCM", "XAES-256-GCM", "AES-GCM-SIV"]


class User:
    """A process that works with secrets."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def residues(
        self,
        mode: str,
        device: str | None = None,
        *,
        algorithm: str = "AES-GCM",
        rows: int = 24,
        text_bytes: int = 128,
        key_bytes: int = 32,
        nonce_bytes: int = 12,
        aad: bytes = b"",
    ) -> list[str]:
        """Has an order done and says what is left of its secrets."""
        nonce_bytes = 24 if algorithm == "XAES-256-GCM" else nonce_bytes
        many_keys = rows if mode == "raw_keys" else 1
        keys = [os.urandom(key_bytes) for _ in range(many_keys)]
        nonces, texts = ([os.urandom(n) for _ in range(rows)] for n in (nonce_bytes, text_bytes))
        order: dict[str, object] = {"mode": mode, "device": device, "algorithm": algorithm}
        order |= {"rows": rows, "text_bytes": text_bytes, "nonce_bytes": nonce_bytes}
        order["aad"] = aad.hex()
        self.give(order | {"key_bytes": key_bytes * many_keys}, *keys, *nonces, *texts)
        secrets: dict[str, bytes] = {}
        for at in {0, rows // 2, rows - 1}:
            key = keys[at % many_keys]
            forms = secret_forms.forms(algorithm, key, nonces[at], texts[at], aad)
            secrets |= {f"{name} of message {at}": form for name, form in forms.items()}
        what = f"{mode}, {algorithm} of {8 * key_bytes} bits, {rows} texts of {text_bytes} bytes"
        return [f"{what}: {found}" for found in self.found(secrets)]

    def found(self, secrets: Mapping[str, bytes]) -> list[str]:
        """What is there of secrets now."""
        return Scanner(secrets).process(self._process.pid)

    def give(self, order: Mapping[str, object], *secrets: bytes) -> None:
        """Has an order done."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order).encode() + b"\n" + b"".join(secrets))
        self._process.stdin.flush()
        assert self._process.stdout.read(1) == b".", order


@pytest.fixture
def user() -> Iterator[User]:
    pipe = subprocess.PIPE
    command = [sys.executable, str(TESTS / "secret_user.py")]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        yield User(process)


def test_secrets_that_a_process_keeps_are_found_in_memory_and_in_registers(user: User) -> None:
    key, nonce, text = os.urandom(32), os.urandom(12), os.urandom(64)
    forms = secret_forms.forms("AES-GCM", key, nonce, text)
    kept = forms["hash key^3, folded"] + forms["round keys of key"][-16:] + text[:32]
    order = {"mode": "planted", "device": None, "algorithm": "AES-GCM", "rows": 1}
    lengths = {"text_bytes": 64, "nonce_bytes": 12, "key_bytes": 32, "aad": ""}
    user.give({**order, **lengths}, key, nonce, kept)
    found = user.found(forms)
    deadline = time.monotonic() + 60
    # A thread has to be where it waits with the register.
    while not any("registers" in place for place in found) and time.monotonic() < deadline:
        found = user.found(forms)
    names = {place.partition(" at ")[0] for place in found if "registers" not in place}
    assert names >= {
        *(f"hash key^3, folded, byte {at}" for at in (0, 8)),
        *(f"round keys of key, byte {at}" for at in (224, 232)),
        *(f"text, byte {at}" for at in (0, 8, 16, 24)),
    }
    assert any("key, byte 0 at registers of thread" in place for place in found), found
    assert all("+0x" in place for place in found)


def test_key_streams_that_are_searched_for_are_those_of_sealed_texts() -> None:
    key, text = os.urandom(32), os.urandom(144)
    cases: list[tuple[Any, int]] = [("AES-GCM", 12), ("AES-GCM", 60), ("AES-GCM-SIV", 12)]
    for algorithm, nonce_bytes in cases:
        nonce, engine = os.urandom(nonce_bytes), sealift.Engine(["library"])
        with engine.session(key, algorithm=algorithm) as session:
            how: Any = {"aad": AAD, "hazmat_nonces": nonce_bytes != 12}
            (sealed,) = engine.seal_batch(session, [nonce], [text], **how)
        stream = secret_forms.forms(algorithm, key, nonce, text, AAD)["key stream"]
        # Of GCM the first block hides the tag.
        at = 16 if algorithm == "AES-GCM" else 0
        pairs = zip(sealed[: 144 - at], text[: 144 - at], strict=True)
        assert bytes(a ^ b for a, b in pairs) == stream[at:], algorithm


@pytest.mark.parametrize("device", DEVICES)
def test_sessions_of_a_device_leave_nothing(device: str, user: User) -> None:
    name, algorithms = DEVICES[device]
    try:
        lab.Engine([device])
    except sealift.DeviceError as error:
        skip(name, str(error))
    ran(name)
    found = [
        *user.residues("one_session", device, rows=1),
        *user.residues("one_session", device, rows=1, text_bytes=100_000),
        *user.residues("one_session", device, text_bytes=1_000, key_bytes=24),
        *user.residues("one_session", device, nonce_bytes=16),
        *user.residues("many_sessions", device, text_bytes=240),
        *user.residues("many_sessions", device, text_bytes=100, aad=AAD),
        *user.residues("many_sessions", device, text_bytes=1_420, key_bytes=24, aad=AAD),
        *user.residues("raw_keys", device, text_bytes=100, aad=AAD),
        *user.residues("raw_keys", device, text_bytes=1_420, key_bytes=24),
    ]
    for mode in ("many_sessions", "raw_keys", "in_place", "forged", "submitted", "threads"):
        found += user.residues(mode, device, key_bytes=16)
    found += user.residues("submitted", device, text_bytes=1_000)
    for algorithm in algorithms:
        for mode in ("one_session", "many_sessions", "forged"):
            found += user.residues(mode, device, algorithm=algorithm)
    if name == "opencl":
        # A driver on this processor works on threads and in memory of its own: see SECURITY.md.
        ours = ("[stack]", "[heap]", "the main thread")
        found = [place for place in found if any(part in place for part in ours)]
    assert not found, "\n".join(found[:SHOWN])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_class_of_one_key_and_a_keyring_leave_nothing(algorithm: str, user: User) -> None:
    found = user.residues("aead_class", algorithm=algorithm, aad=AAD)
    found += user.residues("arrow_column", algorithm=algorithm)
    assert not found, "\n".join(found[:SHOWN])


def test_counter_mode_leaves_nothing(user: User) -> None:
    cases: list[Any] = [(5, 16), (128, 24), (1_000, 32)]
    for text_bytes, key_bytes in cases:
        found = user.residues("counter_mode", text_bytes=text_bytes, key_bytes=key_bytes)
        assert not found, "\n".join(found[:SHOWN])
