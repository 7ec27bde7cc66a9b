"""Sources of keyrings for tests, and an actor: nodes import this file by its name."""

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from ray.util import get_node_ip_address

from ray_nodes import ADDRESSES
from sealift.arrow import Keyring
from sealift.ray import ColumnActor

BLOCKS_BEFORE_SIGNAL = 3


@dataclass(frozen=True)
class GatedKeys:
    """A keyring by callback, and what a `GatedActor` needs."""

    keys: Path
    """A file that `Keyring.from_file` reads."""
    attempts: Path
    """A folder that gets a file of each block that is sealed."""
    signal: Path
    gate: Path
    """Both are FIFOs."""

    def __call__(self) -> Keyring:
        """Makes the keyring, on a node."""
        GatedActor.paths = self
        return Keyring.from_file(self.keys)


class GatedActor(ColumnActor):
    """Stops a run in the middle, and keeps what each attempt sealed.

    On the other node the actor signals when it has sealed three blocks, and waits for ever before
    it returns the last of them: that node is to be killed, and this block to be sealed again. On
    the head an actor waits for a byte of the gate before it seals anything.
    """

    paths: ClassVar[GatedKeys]
    _sealed_blocks = 0

    def __call__(self, table: pa.Table) -> pa.Table:
        """Seals the column of one block."""
        is_head = get_node_ip_address() == ADDRESSES[0]  # type: ignore[no-untyped-call]
        if is_head and not self._sealed_blocks:
            _read(self.paths.gate)
        sealed = super().__call__(table)
        pq.write_table(sealed, self.paths.attempts / secrets.token_hex(8))
        self._sealed_blocks += 1
        if not is_head and self._sealed_blocks == BLOCKS_BEFORE_SIGNAL:
            self.paths.signal.write_bytes(b"!")
            threading.Event().wait()
        return sealed


def _read(fifo: Path) -> None:
    with fifo.open("rb", buffering=0) as stream:
        stream.read(1)
