"""A process that works with secrets, ends its sessions, and waits to be searched.

Standard input brings orders: a line of JSON, then the key, the nonces and the texts. When an order
is done, and this process has overwritten what it had of its secrets itself, it writes a dot.
"""

import ctypes
import gc
import json
import os
import struct
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import sealift
import sealift_lab._lab as lab
from sealift import hazmat


@dataclass
class Order:
    """What is worked, in memory that is overwritten afterwards."""

    mode: str
    device: str | None
    algorithm: Any
    key: bytearray
    nonces: memoryview
    texts: memoryview
    rows: int
    text_bytes: int
    aad: bytes
    written: list[bytearray] = field(default_factory=list)

    @property
    def engine(self) -> sealift.Engine:
        """A new one over the device, which the library has or the lab."""
        assert self.device
        driver = self.device.partition(":")[0]
        is_users = driver in {known.name for known in sealift.drivers()}
        return sealift.Engine([self.device]) if is_users else lab.Engine([self.device])

    def column(self, row_bytes: int | None = None) -> memoryview:
        """Memory for a result of each text."""
        self.written.append(bytearray(self.rows * (row_bytes or self.text_bytes)))
        return _rows(self.written[-1], self.rows)

    def seal_and_open(self, engine: sealift.Engine, keys: Any, **how: Any) -> None:
        """Works every text, to memory of its own."""
        sealed, tags = self.column(), self.column(16)
        how |= {"device": self.device, "aad": self.aad}
        engine.seal_batch(keys, self.nonces, self.texts, out=sealed, tags=tags, **how)
        engine.open_batch(keys, self.nonces, sealed, tags=tags, out=self.column(), **how)


def one_session(order: Order) -> None:
    engine = order.engine
    with engine.session(order.key, algorithm=order.algorithm) as session:
        # Of any length.
        order.seal_and_open(engine, session, hazmat_nonces=order.algorithm == "AES-GCM")
    engine.release()


def many_sessions(order: Order) -> None:
    engine = order.engine
    sessions = [engine.session(order.key, algorithm=order.algorithm) for _ in range(order.rows)]
    order.seal_and_open(engine, sessions)
    for session in sessions:
        session.close()
    engine.release()


def raw_keys(order: Order) -> None:
    engine = order.engine
    order.seal_and_open(engine, _rows(order.key, order.rows))
    engine.release()


def in_place(order: Order) -> None:
    engine = order.engine
    tags = order.column(16)
    with engine.session(order.key, algorithm=order.algorithm) as session:
        texts, device = order.texts, order.device
        engine.seal_batch(session, order.nonces, texts, out=texts, tags=tags, device=device)
        engine.open_batch(session, order.nonces, texts, tags=tags, out=texts, device=device)
    engine.release()


def forged(order: Order) -> None:
    engine, device = order.engine, order.device
    sealed, tags, opened = order.column(), order.column(16), order.column()
    with engine.session(order.key, algorithm=order.algorithm) as session:
        engine.seal_batch(session, order.nonces, order.texts, out=sealed, tags=tags, device=device)
        for row in range(order.rows):
            tags[row, 0] ^= 1
        how: Any = {"tags": tags, "out": opened, "on_error": "mask", "device": device}
        assert all(engine.open_batch(session, order.nonces, sealed, **how).status)
    engine.release()


def submitted(order: Order) -> None:
    engine, nonces, device = order.engine, order.nonces, order.device
    with engine.session(order.key, algorithm=order.algorithm) as session:
        sealed = engine.submit_seal(session, nonces, order.texts, device=device).result()
        how: Any = {"tags": sealed.tags, "device": device}
        _overwrite(engine.submit_open(session, nonces, sealed.text, **how).result().text)
    engine.release()


def threads(order: Order) -> None:
    engine, all_work = order.engine, threading.Barrier(THREADS)

    def work(_: int) -> None:
        with engine.session(order.key, algorithm=order.algorithm) as session:
            all_work.wait()
            order.seal_and_open(engine, session)

    pool = ThreadPoolExecutor(THREADS)
    list(pool.map(work, range(THREADS)))
    engine.release()
    LATER.append(pool.shutdown)


def aead_class(order: Order) -> None:
    cipher = CLASSES[order.algorithm](order.key)
    sealed, opened = order.column(order.text_bytes + 16), order.column()
    columns = map(_split, (order.nonces, order.texts, sealed, opened))
    for nonce, text, box, place in zip(*columns, strict=True):
        cipher.encrypt_into(nonce, text, order.aad, box)
        cipher.decrypt_into(nonce, box, order.aad, place)
        box[0] ^= 1
        try:
            cipher.decrypt_into(nonce, box, order.aad, place)
        except sealift.InvalidTag:
            continue
        raise AssertionError("a forged message opened")


def counter_mode(order: Order) -> None:
    for nonce, text in zip(_split(order.nonces), _split(order.texts), strict=True):
        hazmat.aes_ctr(order.key, bytes(nonce) + bytes([0, 0, 0, 1]), text)


def arrow_column(order: Order) -> None:
    import pyarrow as pa  # which the other modes don't want in their memory

    import sealift.arrow

    buffers = [None, pa.py_buffer(order.texts.cast("B"))]
    texts = pa.Array.from_buffers(pa.binary(order.text_bytes), order.rows, buffers)
    keys = sealift.arrow.Keyring({7: order.key}, algorithm=order.algorithm)
    sealed = sealift.arrow.seal_column(texts, keys=keys, key_ids=7)
    sealed = sealift.arrow.reseal_column(sealed, keys=keys, rows="all")
    opened = sealift.arrow.open_column(sealed, keys=keys)
    for buffer in opened.buffers():
        if buffer:
            ctypes.memset(buffer.address, 0, buffer.size)


def planted(order: Order) -> None:
    """Keeps the texts in memory, and the beginning of the key in a register of a thread."""
    kept = bytes(order.texts)
    ends = os.pipe()
    (double,) = struct.unpack("d", order.key[:8])
    # The C library's `read` leaves alone what comes as a fourth argument, in a vector register.
    read = ctypes.CDLL(None).read
    arguments = (ends[0], ctypes.create_string_buffer(1), 1, ctypes.c_double(double))
    threading.Thread(target=read, args=arguments).start()
    LATER.append(lambda: os.write(ends[1], kept[:1]))


def _split(column: memoryview) -> list[memoryview]:
    rows, row_bytes = column.shape or (0, 0)
    flat = column.cast("B")
    return [flat[at * row_bytes : (at + 1) * row_bytes] for at in range(rows)]


def _rows(memory: bytearray, rows: int) -> memoryview:
    return memoryview(memory).cast("B", (rows, len(memory) // rows))


def _read(count: int) -> bytearray:
    """That many bytes of standard input, without a copy elsewhere."""
    memory, at = bytearray(count), 0
    while at < count:
        at += os.readv(0, [memoryview(memory)[at:]])
    return memory


def _overwrite(result: object) -> None:
    """Writes zeros to a result that can only be read."""
    view = (ctypes.c_size_t * 16)()
    api, of_any_shape = ctypes.pythonapi, 0x11C
    api.PyObject_GetBuffer(ctypes.py_object(result), view, of_any_shape)
    address, _, length = view[:3]
    ctypes.memset(address, 0, length)
    api.PyBuffer_Release(view)


def _line() -> bytes:
    line = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return line


def main() -> None:
    """Works orders until there are no more."""
    line = _line()
    while line:
        given = json.loads(line)
        rows, text_bytes, nonce_bytes = given["rows"], given["text_bytes"], given["nonce_bytes"]
        key, nonces, texts = map(_read, (given["key_bytes"], rows * nonce_bytes, rows * text_bytes))
        order = Order(
            given["mode"],
            given["device"],
            given["algorithm"],
            key,
            _rows(nonces, rows),
            _rows(texts, rows),
            rows,
            text_bytes,
            bytes.fromhex(given["aad"]),
        )
        MODES[order.mode](order)
        for memory in (key, texts, *order.written):
            memory[:] = bytes(len(memory))
        del order, key, nonces, texts, memory
        gc.collect()
        os.write(1, b".")
        line = _line()
        while LATER:
            LATER.pop()()


THREADS = 3
CLASSES: dict[str, Callable[[bytearray], Any]] = {
    "AES-GCM": sealift.AESGCM,
    "XAES-256-GCM": sealift.XAES256GCM,
    "AES-GCM-SIV": sealift.AESGCMSIV,
}
# What ends what was kept for the search.
LATER: list[Callable[[], object]] = []
MODES: dict[str, Callable[[Order], None]] = {
    mode.__name__: mode
    for mode in (
        one_session,
        many_sessions,
        raw_keys,
        in_place,
        forged,
        submitted,
        threads,
        aead_class,
        counter_mode,
        arrow_column,
        planted,
    )
}

if __name__ == "__main__":
    main()
