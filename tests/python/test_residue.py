"""Nothing of a key or a text is left in a process whose sessions have ended."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import secret_forms
from memory_scan import Scanner

USER = Path(__file__).with_name("secret_user.py")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux shows it")


class User:
    """A process that works with secrets."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def residues(
        self,
        mode: str,
        device: str | None,
        *,
        algorithm: str = "AES-GCM",
        rows: int = 24,
        text_bytes: int = 128,
        key_bytes: int = 32,
        nonce_bytes: int = 12,
    ) -> list[str]:
        """Has an order done and says what is left of its secrets."""
        nonce_bytes = 24 if algorithm == "XAES-256-GCM" else nonce_bytes
        many_keys = rows if mode == "raw_keys" else 1
        keys = [os.urandom(key_bytes) for _ in range(many_keys)]
        nonces, texts = ([os.urandom(n) for _ in range(rows)] for n in (nonce_bytes, text_bytes))
        order = {
            "mode": mode,
            "device": device,
            "algorithm": algorithm,
            "rows": rows,
            "text_bytes": text_bytes,
            "key_bytes": key_bytes * many_keys,
            "nonce_bytes": nonce_bytes,
        }
        self.give(order, *keys, *nonces, *texts)
        secrets: dict[str, bytes] = {}
        for at in {0, rows // 2, rows - 1}:
            forms = secret_forms.forms(algorithm, keys[at % many_keys], nonces[at], texts[at])
            secrets |= {f"{name} of message {at}": form for name, form in forms.items()}
        return Scanner(secrets).process(self._process.pid)

    def give(self, order: dict[str, object], *secrets: bytes) -> None:
        """Has an order done."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order).encode() + b"\n" + b"".join(secrets))
        self._process.stdin.flush()
        assert self._process.stdout.read(1) == b".", order


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, USER], stdin=pipe, stdout=pipe) as process:
        yield User(process)
