"""Sources of keyrings for tests: nodes import this file by its name."""

import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ray.util import get_node_ip_address

from ray_nodes import ADDRESSES
from sealift.arrow import Keyring

KEYS_BEFORE_SIGNAL = 30


@dataclass(frozen=True)
class GatedKeys:
    """A keyring by callback that stops a run in the middle.

    On the other node the actor signals when it has sealed under 30 keys and is given rows under
    another, and then waits for ever: that node is to be killed. On the head an actor waits for a
    byte of the gate before it seals anything.
    """

    keys: Path
    """A file that `Keyring.from_file` reads."""
    signal: Path
    gate: Path
    """Both are FIFOs."""

    def __call__(self) -> Keyring:
        """Makes the keyring, on a node."""
        key_of = tomllib.loads(self.keys.read_text(encoding="utf-8"))["keys"]
        seen: list[int] = []

        def key(person: int) -> bytes:
            address = get_node_ip_address()  # type: ignore[no-untyped-call]
            is_head = address == ADDRESSES[0]
            if is_head and not seen:
                _read(self.gate)
            if not is_head and len(seen) == KEYS_BEFORE_SIGNAL:
                self.signal.write_bytes(b"!")
                threading.Event().wait()
            seen.append(person)
            return bytes.fromhex(key_of[str(person)])

        return Keyring(key)


def _read(fifo: Path) -> None:
    with fifo.open("rb", buffering=0) as stream:
        stream.read(1)
